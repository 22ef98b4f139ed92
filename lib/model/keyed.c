/* SPDX-License-Identifier: Apache-2.0 */
#include "model/keyed.h"

#include <string.h>

#define FIRST_CAPACITY 8

struct nri_keyed_item *nri_keyed_find(const struct nri_keyed *list, const char *key, size_t length)
{
    if (list->map != NULL)
        return nri_map_get(list->map, key, length);
    for (size_t i = 0; i < list->count; i++) {
        struct nri_keyed_item *item = list->items[i];
        if (item->length == length && memcmp(item->key, key, length) == 0)
            return item;
    }
    return NULL;
}

/* Memory of the arena is never given back, so growing by doubling wastes as much again at most. */
static int grow(struct nri_keyed *list, struct nri_arena *arena)
{
    size_t capacity = list->capacity == 0 ? FIRST_CAPACITY : list->capacity * 2;
    struct nri_keyed_item **items = nri_arena_array(arena, capacity, sizeof(void *));
    ProtobufCMessage **messages = nri_arena_array(arena, capacity, 2 * sizeof(void *));
    if (items == NULL || messages == NULL)
        return arena->failure;
    if (list->count > 0)
        memcpy(items, list->items, list->count * sizeof(void *));
    list->items = items;
    list->messages = messages;
    list->capacity = capacity;
    return 0;
}

static int make_map(struct nri_keyed *list, struct nri_builder *builder)
{
    struct nri_alloc alloc;
    int code = 0;
    struct nri_map *map = nri_arena_alloc(builder->arena, sizeof *map);
    if (map == NULL)
        return builder->arena->failure;
    nri_arena_allocator(builder->arena, &alloc);
    nri_map_init(map, &alloc, builder->seed);
    for (size_t i = 0; code == 0 && i < list->count; i++) {
        struct nri_keyed_item *item = list->items[i];
        code = nri_map_set(map, item->key, item->length, item, NULL);
    }
    if (code == 0)
        list->map = map;
    return code;
}

/* Makes a new item part of the list, or leaves the list as it was. */
static int append(struct nri_keyed *list, struct nri_builder *builder, struct nri_keyed_item *item)
{
    int code = 0;
    if (list->count == list->capacity)
        code = grow(list, builder->arena);
    if (code == 0 && list->map == NULL && list->count == NRI_KEYED_LINEAR)
        code = make_map(list, builder);
    if (code == 0 && list->map != NULL)
        code = nri_map_set(list->map, item->key, item->length, item, NULL);
    if (code == 0)
        list->items[list->count++] = item;
    return code;
}

int nri_keyed_set(struct nri_keyed *list, struct nri_builder *builder, const char *key,
                  ProtobufCMessage *removal, ProtobufCMessage *entry)
{
    size_t length = strlen(key);
    struct nri_keyed_item *item = nri_keyed_find(list, key, length);
    if (item == NULL) {
        item = nri_arena_alloc(builder->arena, sizeof *item);
        if (item == NULL)
            return builder->arena->failure;
        *item = (struct nri_keyed_item){key, length, removal, entry};
        return append(list, builder, item);
    }
    if (removal != NULL)
        item->removal = removal;
    item->entry = entry;
    return 0;
}

size_t nri_keyed_messages(const struct nri_keyed *list, ProtobufCMessage ***messages)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct nri_keyed_item *item = list->items[i];
        if (item->removal != NULL)
            list->messages[count++] = item->removal;
        if (item->entry != NULL)
            list->messages[count++] = item->entry;
    }
    *messages = list->messages;
    return count;
}
