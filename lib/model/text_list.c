/* SPDX-License-Identifier: Apache-2.0 */
#include "model/text_list.h"

#include <string.h>

#include <nri/text.h>

#include "model/keyed.h"
#include "model/unique.h"

#define NOT_FOUND SIZE_MAX

static size_t key_length(const char *text, char delimiter)
{
    size_t length = nri_text_length(text);
    const char *end = delimiter != '\0' ? memchr(text, delimiter, length) : NULL;
    return end != NULL ? (size_t)(end - text) : length;
}

/* The map's values are positions, from 1 because NULL is none. */
static void *to_value(size_t position)
{
    return (void *)(uintptr_t)(position + 1);
}

static size_t find(const struct nri_text_list *list, size_t count, char *const *array,
                   char delimiter, const char *key, size_t length)
{
    if (list->map != NULL)
        return (uintptr_t)nri_map_get(list->map, key, length) - 1;
    for (size_t i = count; i-- > 0;) {
        if (key_length(array[i], delimiter) == length && memcmp(array[i], key, length) == 0)
            return i;
    }
    return NOT_FOUND;
}

static int make_map(struct nri_text_list *list, struct nri_builder *builder, size_t count,
                    char *const *array, char delimiter)
{
    struct nri_alloc alloc;
    int code = 0;
    struct nri_map *map = nri_arena_alloc(builder->arena, sizeof *map);
    if (map == NULL)
        return builder->arena->failure;
    nri_arena_allocator(builder->arena, &alloc);
    nri_map_init(map, &alloc, builder->seed);
    for (size_t i = 0; code == 0 && i < count; i++)
        code = nri_map_set(map, array[i], key_length(array[i], delimiter), to_value(i), NULL);
    if (code == 0)
        list->map = map;
    return code == 0 ? 0 : builder->arena->failure;
}

int nri_text_list_set(struct nri_text_list *list, struct nri_builder *builder, size_t *count,
                      char ***array, char delimiter, char *text)
{
    size_t length = key_length(text, delimiter);
    int code = 0;
    if (list->map == NULL && *count >= NRI_KEYED_LINEAR)
        code = make_map(list, builder, *count, *array, delimiter);
    if (code != 0)
        return code;
    size_t position = find(list, *count, *array, delimiter, text, length);
    if (position != NOT_FOUND) {
        (*array)[position] = text;
        return 0;
    }
    code = nri_list_append(builder, count, array, text);
    if (code != 0 || list->map == NULL)
        return code;
    code = nri_map_set(list->map, text, length, to_value(*count - 1), NULL);
    if (code == 0)
        return 0;
    (*count)--;
    return builder->arena->failure;
}
