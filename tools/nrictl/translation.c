/* SPDX-License-Identifier: Apache-2.0 */
#include "translation.h"

#include <string.h>

#include "memory.h"
#include "wire/field.h"
#include "wire/message.h"

#define MOST_MEMORY ((size_t)1 << 30)

static bool is_list(const ProtobufCFieldDescriptor *field)
{
    return field->type == PROTOBUF_C_TYPE_MESSAGE && nri_field_repeated(field) &&
           (strcmp(field->name, "update") == 0 || strcmp(field->name, "evict") == 0);
}

static char **id_of(ProtobufCMessage *entry)
{
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(entry->descriptor, "container_id");
    return field != NULL ? nri_field_member(entry, field) : NULL;
}

/* Entries of containers that are not there now are left out: a runtime would refuse all for one. */
static int translate_list(struct translation *translation, const ProtobufCFieldDescriptor *field,
                          const struct roster *recorded, const struct roster *live)
{
    size_t *count = nri_field_count(translation->message, field), kept = 0;
    ProtobufCMessage **list = *(ProtobufCMessage ***)nri_field_member(translation->message, field);
    for (size_t i = 0; i < *count; i++) {
        char **id = id_of(list[i]);
        const char *now = id != NULL ? roster_counterpart(recorded, live, *id) : NULL;
        if (now == NULL) {
            if (translation->lost++ == 0)
                translation->missing = id != NULL ? *id : "";
            continue;
        }
        *id = nri_arena_text(&translation->arena, now, strlen(now));
        if (*id == NULL)
            return NRI_E_NOMEM;
        list[kept++] = list[i];
    }
    *count = kept;
    return 0;
}

int translation_make(struct translation *translation, const struct tape_message *said,
                     const struct roster *recorded, const struct roster *live,
                     struct nri_error *error)
{
    static const uint64_t seed[2] = {0x7472616e73, 1};
    bool named = false;
    *translation = (struct translation){.message = NULL};
    memory_arena(&translation->arena, MOST_MEMORY);
    if (said->type == NULL)
        return 0;
    int code = nri_message_decode(said->type, said->payload, said->size, &translation->arena, seed,
                                  &translation->message, error);
    for (unsigned i = 0; i < said->type->n_fields && code == 0; i++) {
        const ProtobufCFieldDescriptor *field = &said->type->fields[i];
        if (!is_list(field) || *nri_field_count(translation->message, field) == 0)
            continue;
        named = true;
        code = translate_list(translation, field, recorded, live);
    }
    if (!named)
        translation->message = NULL;
    return code;
}

void translation_fini(struct translation *translation)
{
    nri_arena_fini(&translation->arena);
}
