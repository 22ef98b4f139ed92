/* SPDX-License-Identifier: Apache-2.0 */
#include "model/builder.h"

#include <protobuf-c/protobuf-c.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/quote.h"

/* Room for `WITHIN "KEY": NAME[INDEX]`: a quote, a second one that NAME may hold, words of ours and
 * a number. */
#define FIELD_SIZE 288

void nri_builder_init(struct nri_builder *builder, struct nri_arena *arena, const uint64_t seed[2],
                      int blocked, const char *blocked_text)
{
    builder->arena = arena;
    builder->seed[0] = seed[0];
    builder->seed[1] = seed[1];
    builder->blocked = blocked;
    builder->blocked_text = blocked_text;
    builder->sealed = false;
    builder->changes = 0;
    builder->error.owned = false;
    nri_error_clear(&builder->error);
}

int nri_builder_enter(struct nri_builder *builder)
{
    if (builder == NULL)
        return NRI_E_INVALID;
    if (builder->blocked != 0)
        return nri_builder_fail(builder, builder->blocked, builder->blocked_text);
    if (builder->sealed)
        return nri_builder_fail(builder, NRI_E_STATE,
                                "the request is already answered: nothing can be changed");
    builder->changes++;
    return 0;
}

int nri_builder_fail(struct nri_builder *builder, int code, const char *text)
{
    if (builder->error.code == 0)
        nri_error_set(&builder->error, code, "%s", text != NULL ? text : nri_strerror(code));
    return code;
}

static void write_field(char out[FIELD_SIZE], const struct nri_where *field)
{
    struct nri_quote key;
    int length = 0;
    if (field->within != NULL)
        length = snprintf(out, FIELD_SIZE, "%s %s: ", field->within, nri_quote(&key, field->key));
    if (field->indexed)
        snprintf(out + length, FIELD_SIZE - (size_t)length, "%s[%zu]", field->name, field->index);
    else
        snprintf(out + length, FIELD_SIZE - (size_t)length, "%s", field->name);
}

int nri_builder_refuse(struct nri_builder *builder, int code, const struct nri_where *field,
                       const char *value, const char *rule)
{
    struct nri_quote quote;
    return nri_builder_refuse_number(builder, code, field, nri_quote(&quote, value), rule);
}

int nri_builder_refuse_number(struct nri_builder *builder, int code, const struct nri_where *field,
                              const char *number, const char *rule)
{
    char name[FIELD_SIZE];
    if (builder->error.code != 0)
        return code;
    write_field(name, field);
    return nri_error_set(&builder->error, code, "%s %s: %s", name, number, rule);
}

int nri_builder_refuse_memory(struct nri_builder *builder, const struct nri_where *field)
{
    char name[FIELD_SIZE];
    int code = builder->arena->failure;
    if (builder->error.code != 0)
        return code;
    write_field(name, field);
    if (code == NRI_E_LIMIT)
        return nri_error_set(&builder->error, code,
                             "%s: does not fit into the memory limit of %zu bytes", name,
                             builder->arena->limit);
    return nri_error_set(&builder->error, code, "%s: %s", name, nri_strerror(code));
}

int nri_builder_check_text(struct nri_builder *builder, const struct nri_where *field,
                           const char *text)
{
    char rule[64];
    size_t bad;
    if (text == NULL)
        return nri_builder_refuse(builder, NRI_E_INVALID, field, NULL, "must be a text");
    if (nri_utf8_valid(text, strlen(text), &bad))
        return 0;
    snprintf(rule, sizeof rule, "must be UTF-8; the byte at offset %zu is not", bad);
    return nri_builder_refuse(builder, NRI_E_UTF8, field, text, rule);
}

int nri_builder_check_filled(struct nri_builder *builder, const struct nri_where *field,
                             const char *text)
{
    int code = nri_builder_check_text(builder, field, text);
    if (code == 0 && text[0] == '\0')
        code = nri_builder_refuse(builder, NRI_E_INVALID, field, text, "must not be empty");
    return code;
}

int nri_builder_check_key(struct nri_builder *builder, const struct nri_where *field,
                          const char *key, const char *remover)
{
    char rule[128];
    int code = nri_builder_check_filled(builder, field, key);
    if (code != 0 || key[0] != '-')
        return code;
    snprintf(rule, sizeof rule,
             "must not start with \"-\"; to remove one, call %s() with the bare key", remover);
    return nri_builder_refuse(builder, NRI_E_INVALID, field, key, rule);
}

char *nri_builder_text(struct nri_builder *builder, const char *text)
{
    if (text == NULL || text[0] == '\0')
        return (char *)protobuf_c_empty_string;
    return nri_arena_text(builder->arena, text, strlen(text));
}

char *nri_builder_marker(struct nri_builder *builder, const char *key)
{
    return nri_arena_text2(builder->arena, "-", 1, key, strlen(key));
}
