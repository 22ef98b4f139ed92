/* SPDX-License-Identifier: Apache-2.0 */
/* What the files make_NOUN.c share. */
#include "model/make.h"

#include <inttypes.h>
#include <stdio.h>

#include "wire/message.h"

#define NUMBER_SIZE 24 /* any number of 64 bits, in brackets or not */

void *nri_make_empty(struct nri_builder *builder, const ProtobufCMessageDescriptor *type)
{
    void *message = nri_arena_alloc(builder->arena, type->sizeof_message);
    if (message != NULL)
        protobuf_c_message_init(type, message);
    return message;
}

int nri_check_absolute(struct nri_builder *builder, const struct nri_where *field, const char *path)
{
    int code = nri_builder_check_filled(builder, field, path);
    if (code != 0 || path[0] == '/')
        return code;
    return nri_builder_refuse(builder, NRI_E_INVALID, field, path, "must be an absolute path");
}

int nri_check_texts(struct nri_builder *builder, const struct nri_where *field,
                    const char *const *texts, size_t count, bool filled)
{
    struct nri_where one = *field;
    int code = 0;
    if (texts == NULL && count > 0)
        return nri_builder_refuse(builder, NRI_E_INVALID, field, NULL,
                                  "must be as many texts as the count says");
    one.indexed = true;
    for (one.index = 0; code == 0 && one.index < count; one.index++) {
        const char *text = texts[one.index];
        code = filled ? nri_builder_check_filled(builder, &one, text)
                      : nri_builder_check_text(builder, &one, text);
    }
    return code;
}

bool nri_copy_texts(struct nri_builder *builder, const char *const *texts, size_t count,
                    char ***copies)
{
    char **made = NULL;
    if (count > 0) {
        made = nri_arena_array(builder->arena, nri_message_room(count), sizeof *made);
        if (made == NULL)
            return false;
    }
    for (size_t i = 0; i < count; i++) {
        made[i] = nri_builder_text(builder, texts[i]);
        if (made[i] == NULL)
            return false;
    }
    *copies = made;
    return true;
}

int nri_make_texts(struct nri_builder *builder, const struct nri_where *field,
                   const char *const *texts, size_t count, bool filled, char ***copies)
{
    int code = nri_check_texts(builder, field, texts, count, filled);
    if (code == 0 && !nri_copy_texts(builder, texts, count, copies))
        code = nri_builder_refuse_memory(builder, field);
    return code;
}

int nri_check_numbers(struct nri_builder *builder, const struct nri_where *field,
                      const int *numbers, size_t count, int most)
{
    struct nri_where one = *field;
    char rule[NUMBER_SIZE + 16];
    uint32_t seen = 0;
    int code = 0;
    if (numbers == NULL && count > 0)
        return nri_builder_refuse(builder, NRI_E_INVALID, field, NULL,
                                  "must be as many numbers as the count says");
    snprintf(rule, sizeof rule, "must be 0 to %d", most);
    one.indexed = true;
    for (one.index = 0; code == 0 && one.index < count; one.index++) {
        int number = numbers[one.index];
        code = nri_check_signed(builder, &one, number, number >= 0 && number <= most, rule);
        if (code == 0 && (seen >> number & 1u) != 0) {
            char text[NUMBER_SIZE];
            snprintf(text, sizeof text, "%d", number);
            code = nri_builder_refuse_number(builder, NRI_E_INVALID, &one, text,
                                             "must be there only once");
        }
        if (code == 0)
            seen |= UINT32_C(1) << number;
    }
    return code;
}

int nri_check_signed(struct nri_builder *builder, const struct nri_where *field, int64_t value,
                     bool fits, const char *rule)
{
    char number[NUMBER_SIZE];
    if (fits)
        return 0;
    snprintf(number, sizeof number, "%" PRId64, value);
    return nri_builder_refuse_number(builder, NRI_E_RANGE, field, number, rule);
}

int nri_check_unsigned(struct nri_builder *builder, const struct nri_where *field, uint64_t value,
                       bool fits, const char *rule)
{
    char number[NUMBER_SIZE];
    if (fits)
        return 0;
    snprintf(number, sizeof number, "%" PRIu64, value);
    return nri_builder_refuse_number(builder, NRI_E_RANGE, field, number, rule);
}
