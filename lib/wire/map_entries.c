/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/map_entries.h"

#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "wire/field.h"

/* Up to here comparing each key with each is cheaper than hashing. */
#define FEW_ENTRIES 8

struct key {
    const void *bytes;
    size_t length;
};

static inline struct key key_of(const ProtobufCMessage *entry)
{
    const ProtobufCFieldDescriptor *field = &entry->descriptor->fields[0];
    const void *member = nri_field_member(entry, field);
    if (field->type != PROTOBUF_C_TYPE_STRING) {
        return (struct key){member, nri_field_size(field)};
    }
    const char *text = *(char *const *)member;
    return (struct key){text, text == protobuf_c_empty_string ? 0 : nri_text_stored_length(text)};
}

static inline bool same_key(struct key a, struct key b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.bytes, b.bytes, a.length) == 0);
}

static size_t settle_few(ProtobufCMessage **entries, size_t count)
{
    struct key keys[FEW_ENTRIES]; /* of the entries kept */
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct key key = key_of(entries[i]);
        size_t j = 0;
        while (j < kept && !same_key(keys[j], key)) {
            j++;
        }
        keys[j] = key;
        entries[j] = entries[i];
        kept += j == kept;
    }
    return kept;
}

/* An open-addressed table of positions plus one, at most half full. SIZE_MAX: no memory. */
static size_t settle_many(ProtobufCMessage **entries, size_t count, struct nri_arena *arena,
                          const uint64_t seed[2])
{
    size_t slots = 2 * FEW_ENTRIES;
    while (slots < 2 * count) {
        slots *= 2;
    }
    size_t *table = nri_arena_array(arena, slots, sizeof *table);
    if (table == NULL) {
        return SIZE_MAX;
    }
    memset(table, 0, slots * sizeof *table);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct key key = key_of(entries[i]);
        size_t slot = (size_t)nri_hash(seed, key.bytes, key.length) & (slots - 1);
        while (table[slot] != 0 && !same_key(key_of(entries[table[slot] - 1]), key)) {
            slot = (slot + 1) & (slots - 1);
        }
        if (table[slot] == 0) {
            table[slot] = ++kept;
        }
        entries[table[slot] - 1] = entries[i];
    }
    return kept;
}

static bool fill_values(ProtobufCMessage **entries, size_t count, struct nri_arena *arena)
{
    const ProtobufCFieldDescriptor *value = &entries[0]->descriptor->fields[1];
    if (value->type != PROTOBUF_C_TYPE_MESSAGE) {
        return true;
    }
    const ProtobufCMessageDescriptor *type = value->descriptor;
    for (size_t i = 0; i < count; i++) {
        ProtobufCMessage **member = nri_field_member(entries[i], value);
        if (*member == NULL) {
            *member = nri_arena_alloc(arena, type->sizeof_message);
            if (*member == NULL) {
                return false;
            }
            type->message_init(*member);
        }
    }
    return true;
}

int nri_map_entries_settle(const struct nri_map_field *map, struct nri_arena *arena,
                           const uint64_t seed[2])
{
    size_t *count = nri_field_count(map->message, map->field);
    ProtobufCMessage **entries = *(ProtobufCMessage ***)nri_field_member(map->message, map->field);
    const size_t kept = *count <= FEW_ENTRIES ? settle_few(entries, *count)
                                              : settle_many(entries, *count, arena, seed);
    if (kept == SIZE_MAX) {
        return arena->failure;
    }
    *count = kept;
    return fill_values(entries, kept, arena) ? 0 : arena->failure;
}
