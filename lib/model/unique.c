/* SPDX-License-Identifier: Apache-2.0 */
#include "model/unique.h"

#include <string.h>

#include "model/keyed.h"
#include "wire/message.h"

/* An array may be of pointers to any message: it is read and written byte by byte, so that no
 * pointer is used through another's type. */
static void *item_at(const void *items, size_t index)
{
    void *item;
    memcpy(&item, (const char *)items + index * sizeof item, sizeof item);
    return item;
}

static void put_item(void *items, size_t index, void *item)
{
    memcpy((char *)items + index * sizeof item, &item, sizeof item);
}

static void *items_of(const void *array)
{
    void *items;
    memcpy(&items, array, sizeof items);
    return items;
}

/* Room for one more; what grew stays, and is unused, when the caller fails later. */
static int reserve(struct nri_builder *builder, size_t count, void *array)
{
    if (count > 0 && nri_message_room(count) > count)
        return 0;
    size_t room = count > 0 ? nri_message_room(count + 1) : 1;
    void *items = nri_arena_array(builder->arena, room, sizeof(void *));
    if (items == NULL)
        return builder->arena->failure;
    if (count > 0)
        memcpy(items, items_of(array), count * sizeof(void *));
    memcpy(array, &items, sizeof items);
    return 0;
}

int nri_list_append(struct nri_builder *builder, size_t *count, void *array, void *item)
{
    int code = reserve(builder, *count, array);
    if (code == 0)
        put_item(items_of(array), (*count)++, item);
    return code;
}

int nri_list_append_again(struct nri_builder *builder, size_t *count, size_t *most, void *array,
                          void *item)
{
    int code = *count < *most ? 0 : reserve(builder, *count, array);
    if (code != 0)
        return code;
    put_item(items_of(array), (*count)++, item);
    if (*count > *most)
        *most = *count;
    return 0;
}

static const char *key_of(const void *message)
{
    const char *key;
    memcpy(&key, (const char *)message + sizeof(ProtobufCMessage), sizeof key);
    return key;
}

/* The map's values are positions, and one more, because no value may be NULL. */
static void *to_value(size_t position)
{
    return (void *)(uintptr_t)(position + 1);
}

static size_t find(const struct nri_unique *unique, size_t count, const void *items,
                   const char *key, size_t length)
{
    if (unique->map != NULL) /* SIZE_MAX for NULL */
        return (size_t)(uintptr_t)nri_map_get(unique->map, key, length) - 1;
    for (size_t i = count; i-- > 0;) {
        const char *has = key_of(item_at(items, i));
        if (nri_message_text_length(has) == length && memcmp(has, key, length) == 0)
            return i;
    }
    return SIZE_MAX;
}

/* Of entries with the same key, which a peer may have sent, the last counts, as it does for
 * readers. */
static int make_map(struct nri_unique *unique, struct nri_builder *builder, size_t count,
                    const void *items)
{
    struct nri_alloc alloc;
    int code = 0;
    struct nri_map *map = nri_arena_alloc(builder->arena, sizeof *map);
    if (map == NULL)
        return builder->arena->failure;
    nri_arena_allocator(builder->arena, &alloc);
    nri_map_init(map, &alloc, builder->seed);
    for (size_t i = 0; code == 0 && i < count; i++) {
        const char *key = key_of(item_at(items, i));
        code = nri_map_set(map, key, nri_message_text_length(key), to_value(i), NULL);
    }
    if (code == 0)
        unique->map = map;
    return code;
}

/* The entries of a list do not move: their places are the map's values. */
static int append(struct nri_unique *unique, struct nri_builder *builder, size_t *count,
                  void *array, ProtobufCMessage *entry)
{
    const char *key = key_of(entry);
    int code = reserve(builder, *count, array);
    if (code == 0 && unique->map != NULL)
        code = nri_map_set(unique->map, key, nri_message_text_length(key), to_value(*count), NULL);
    if (code == 0)
        put_item(items_of(array), (*count)++, entry);
    return code;
}

int nri_unique_set(struct nri_unique *unique, struct nri_builder *builder, size_t *count,
                   void *array, ProtobufCMessage *entry)
{
    const char *key = key_of(entry);
    int code = 0;
    if (unique->map == NULL && *count >= NRI_KEYED_LINEAR)
        code = make_map(unique, builder, *count, items_of(array));
    if (code != 0)
        return code;
    size_t position = find(unique, *count, items_of(array), key, nri_message_text_length(key));
    if (position == SIZE_MAX)
        return append(unique, builder, count, array, entry);
    put_item(items_of(array), position, entry);
    return 0;
}

size_t nri_unique_find(const struct nri_unique *unique, size_t count, void *array, const char *key)
{
    return find(unique, count, items_of(array), key, strlen(key));
}
