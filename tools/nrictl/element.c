/* SPDX-License-Identifier: Apache-2.0 */
#include "element.h"

#include <string.h>

enum how {
    BY_NAME,  /* what is in front of the "=" of a text */
    BY_TEXT,  /* the text itself */
    BY_MEMBER /* the text of a member */
};

struct element_form {
    const char *list;
    enum how how;
    const char *member;
};

static const struct element_form forms[] = {
    {"env", BY_NAME, NULL},
    {"mounts", BY_MEMBER, "destination"},
    {"devices", BY_MEMBER, "path"}, /* those of linux.resources have none, and an order */
    {"rlimits", BY_MEMBER, "type"},
    {"namespaces", BY_MEMBER, "type"},
    {"hugepageLimits", BY_MEMBER, "pageSize"},
    {"CDI_devices", BY_TEXT, NULL},
};

/* Where the elements with one key are. */
struct place {
    size_t first, last; /* first: that was not taken, SIZE_MAX for none */
};

const struct element_form *element_form(const char *list, size_t length)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strlen(forms[i].list) == length && memcmp(forms[i].list, list, length) == 0)
            return &forms[i];
    }
    return NULL;
}

bool element_key(const struct element_form *form, const struct nri_json *element, const char **key,
                 size_t *length)
{
    const struct nri_json *text =
        form->how == BY_MEMBER ? nri_json_get(element, form->member) : element;
    if (form->how == BY_MEMBER && nri_json_type(element) != NRI_JSON_OBJECT)
        return false;
    if (nri_json_type(text) != NRI_JSON_STRING)
        return false;
    *key = nri_json_string(text, length);
    const char *sign = form->how == BY_NAME ? memchr(*key, '=', *length) : NULL;
    if (sign != NULL)
        *length = (size_t)(sign - *key);
    return *length > 0;
}

static int add(struct element_index *index, struct nri_arena *arena, const char *key, size_t length,
               size_t at)
{
    struct place *place = nri_map_get(&index->map, key, length);
    if (place != NULL) {
        index->next[place->last] = at;
        place->last = at;
        return 0;
    }
    place = nri_arena_alloc(arena, sizeof *place);
    if (place == NULL)
        return arena->failure;
    *place = (struct place){at, at};
    const int code = nri_map_set(&index->map, key, length, place, NULL);
    return code != 0 && arena->failure != 0 ? arena->failure : code;
}

int element_index_make(struct element_index *index, struct nri_arena *arena, const uint64_t seed[2],
                       const struct element_form *form, const struct nri_json *list)
{
    const size_t count = nri_json_count(list);
    struct nri_alloc alloc;
    nri_arena_allocator(arena, &alloc);
    nri_map_init(&index->map, &alloc, seed);
    index->list = list;
    index->next = nri_arena_array(arena, count + 1, sizeof *index->next);
    if (index->next == NULL)
        return arena->failure;
    for (size_t i = 0; i < count; i++) {
        const char *key;
        size_t length;
        index->next[i] = SIZE_MAX;
        if (!element_key(form, nri_json_at(list, i), &key, &length))
            continue;
        const int code = add(index, arena, key, length, i);
        if (code != 0)
            return code;
    }
    return 0;
}

size_t element_index_take(struct element_index *index, const char *key, size_t length)
{
    struct place *place = nri_map_get(&index->map, key, length);
    if (place == NULL || place->first == SIZE_MAX)
        return SIZE_MAX;
    const size_t at = place->first;
    place->first = index->next[at];
    return at;
}

const struct nri_json *element_index_last(const struct element_index *index, const char *key,
                                          size_t length)
{
    const struct place *place = nri_map_get(&index->map, key, length);
    return place != NULL ? nri_json_at(index->list, place->last) : NULL;
}
