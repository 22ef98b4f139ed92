/* SPDX-License-Identifier: Apache-2.0 */
#include "difference.h"

#include <string.h>

/* A comparison under way. */
struct comparing {
    struct nri_arena *arena;
    const uint64_t *seed;
    struct difference_list *list;
    int failure; /* the first one */
};

static void compare(struct comparing *comparing, const struct difference_place *place,
                    const struct nri_json *before, const struct nri_json *after);

static void fail(struct comparing *comparing, int code)
{
    if (comparing->failure == 0)
        comparing->failure = code;
}

static const struct difference_place *inside(struct comparing *comparing,
                                             struct difference_place place)
{
    struct difference_place *made = nri_arena_alloc(comparing->arena, sizeof *made);
    if (made == NULL)
        fail(comparing, comparing->arena->failure);
    else
        *made = place;
    return made;
}

/* ---- the same? ---- */

static bool same_number(const struct nri_json *a, const struct nri_json *b)
{
    int64_t small_a, small_b;
    uint64_t large_a, large_b;
    if (nri_json_int64(a, &small_a) == 0 && nri_json_int64(b, &small_b) == 0)
        return small_a == small_b;
    if (nri_json_uint64(a, &large_a) == 0 && nri_json_uint64(b, &large_b) == 0)
        return large_a == large_b;
    return strcmp(nri_json_number_text(a), nri_json_number_text(b)) == 0;
}

static bool same_members(const struct nri_json *a, const struct nri_json *b)
{
    for (size_t i = 0; i < nri_json_count(a); i++) {
        const char *key;
        const struct nri_json *mine = nri_json_member_at(a, i, &key, NULL);
        const struct nri_json *theirs = nri_json_get(b, key);
        if (theirs == NULL || !difference_none(mine, theirs))
            return false;
    }
    return true;
}

static bool same_elements(const struct nri_json *a, const struct nri_json *b)
{
    for (size_t i = 0; i < nri_json_count(a); i++) {
        if (!difference_none(nri_json_at(a, i), nri_json_at(b, i)))
            return false;
    }
    return true;
}

bool difference_none(const struct nri_json *a, const struct nri_json *b)
{
    size_t length_a, length_b;
    const enum nri_json_type type = nri_json_type(a);
    if ((a == NULL) != (b == NULL) || type != nri_json_type(b))
        return false;
    switch (type) {
    case NRI_JSON_BOOL:
        return nri_json_bool(a) == nri_json_bool(b);
    case NRI_JSON_NUMBER:
        return same_number(a, b);
    case NRI_JSON_STRING: {
        const char *text_a = nri_json_string(a, &length_a), *text_b = nri_json_string(b, &length_b);
        return length_a == length_b && memcmp(text_a, text_b, length_a) == 0;
    }
    case NRI_JSON_ARRAY:
        return nri_json_count(a) == nri_json_count(b) && same_elements(a, b);
    case NRI_JSON_OBJECT:
        return nri_json_count(a) == nri_json_count(b) && same_members(a, b);
    case NRI_JSON_NULL:
        break;
    }
    return true;
}

/* ---- what differs ---- */

static void note(struct comparing *comparing, const struct difference_place *place,
                 const struct nri_json *before, const struct nri_json *after)
{
    struct difference_list *list = comparing->list;
    if (comparing->failure != 0)
        return;
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity == 0 ? 32 : 2 * list->capacity;
        struct difference *items = nri_arena_array(comparing->arena, capacity, sizeof *items);
        if (items == NULL) {
            fail(comparing, comparing->arena->failure);
            return;
        }
        if (list->count > 0)
            memcpy(items, list->items, list->count * sizeof *items);
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = (struct difference){place, before, after};
}

/* What only one side has: of an object its members, unless it is an element of a list, which is a
 * thing of its own. */
static void note_alone(struct comparing *comparing, const struct difference_place *place,
                       const struct nri_json *before, const struct nri_json *after)
{
    const struct nri_json *value = before != NULL ? before : after;
    const bool whole = place != NULL && place->element;
    if (nri_json_type(value) != NRI_JSON_OBJECT || nri_json_count(value) == 0 || whole) {
        note(comparing, place, before, after);
        return;
    }
    for (size_t i = 0; comparing->failure == 0 && i < nri_json_count(value); i++) {
        struct difference_place member = {.parent = place};
        const struct nri_json *part = nri_json_member_at(value, i, &member.name, &member.length);
        compare(comparing, inside(comparing, member), before != NULL ? part : NULL,
                before != NULL ? NULL : part);
    }
}

static void compare_objects(struct comparing *comparing, const struct difference_place *place,
                            const struct nri_json *before, const struct nri_json *after)
{
    struct difference_place member = {.parent = place};
    for (size_t i = 0; comparing->failure == 0 && i < nri_json_count(before); i++) {
        const struct nri_json *part = nri_json_member_at(before, i, &member.name, &member.length);
        const struct nri_json *other = nri_json_get(after, member.name);
        if (other == NULL || !difference_none(part, other))
            compare(comparing, inside(comparing, member), part, other);
    }
    for (size_t i = 0; comparing->failure == 0 && i < nri_json_count(after); i++) {
        const struct nri_json *part = nri_json_member_at(after, i, &member.name, &member.length);
        if (nri_json_get(before, member.name) == NULL)
            compare(comparing, inside(comparing, member), NULL, part);
    }
}

/* Elements that have no key are compared by place, among one another. */
struct sides {
    const struct element_form *form;
    const struct nri_json *before, *after;
    bool *taken;  /* of `after` */
    size_t loose; /* of `after`: where the next one without a key may be */
};

static struct difference_place element_place(const struct difference_place *parent,
                                             const struct element_form *form,
                                             const struct nri_json *element, size_t at)
{
    struct difference_place place = {.parent = parent, .index = at, .element = true};
    if (form != NULL)
        (void)element_key(form, element, &place.name, &place.length);
    return place;
}

static size_t take_loose(struct sides *sides)
{
    const char *key;
    size_t length;
    while (sides->loose < nri_json_count(sides->after)) {
        const size_t at = sides->loose++;
        if (!element_key(sides->form, nri_json_at(sides->after, at), &key, &length))
            return at;
    }
    return SIZE_MAX;
}

static void compare_keyed(struct comparing *comparing, const struct difference_place *place,
                          struct sides *sides)
{
    struct element_index index;
    const char *key;
    size_t length;
    const size_t count = nri_json_count(sides->after);
    const int code =
        element_index_make(&index, comparing->arena, comparing->seed, sides->form, sides->after);
    sides->taken = nri_arena_zero(comparing->arena, count + 1);
    if (code != 0 || sides->taken == NULL) {
        fail(comparing, code != 0 ? code : comparing->arena->failure);
        return;
    }
    for (size_t i = 0; comparing->failure == 0 && i < nri_json_count(sides->before); i++) {
        const struct nri_json *mine = nri_json_at(sides->before, i);
        const size_t at = element_key(sides->form, mine, &key, &length)
                              ? element_index_take(&index, key, length)
                              : take_loose(sides);
        const struct nri_json *theirs = at != SIZE_MAX ? nri_json_at(sides->after, at) : NULL;
        if (theirs != NULL)
            sides->taken[at] = true;
        if (!difference_none(mine, theirs))
            compare(comparing, inside(comparing, element_place(place, sides->form, mine, i)), mine,
                    theirs);
    }
    for (size_t i = 0; comparing->failure == 0 && i < count; i++) {
        const struct nri_json *theirs = nri_json_at(sides->after, i);
        if (!sides->taken[i])
            compare(comparing, inside(comparing, element_place(place, sides->form, theirs, i)),
                    NULL, theirs);
    }
}

static bool all_objects(const struct nri_json *list)
{
    for (size_t i = 0; i < nri_json_count(list); i++) {
        if (nri_json_type(nri_json_at(list, i)) != NRI_JSON_OBJECT)
            return false;
    }
    return true;
}

static void compare_by_place(struct comparing *comparing, const struct difference_place *place,
                             const struct nri_json *before, const struct nri_json *after)
{
    const size_t count_before = nri_json_count(before), count_after = nri_json_count(after);
    const size_t most = count_before > count_after ? count_before : count_after;
    for (size_t i = 0; comparing->failure == 0 && i < most; i++) {
        const struct nri_json *mine = nri_json_at(before, i), *theirs = nri_json_at(after, i);
        if (!difference_none(mine, theirs))
            compare(comparing, inside(comparing, element_place(place, NULL, NULL, i)), mine,
                    theirs);
    }
}

/* Two values that are not the same; `place` is NULL for the document, and when memory failed. */
static void compare(struct comparing *comparing, const struct difference_place *place,
                    const struct nri_json *before, const struct nri_json *after)
{
    const enum nri_json_type type = nri_json_type(before != NULL ? before : after);
    const bool list = type == NRI_JSON_ARRAY && place != NULL && place->name != NULL;
    const struct element_form *form = list ? element_form(place->name, place->length) : NULL;
    if (comparing->failure != 0)
        return;
    if (before != NULL && after != NULL && type != nri_json_type(after)) {
        note(comparing, place, before, after);
    } else if (form != NULL) {
        struct sides sides = {.form = form, .before = before, .after = after};
        compare_keyed(comparing, place, &sides);
    } else if (type == NRI_JSON_ARRAY && all_objects(before) && all_objects(after)) {
        compare_by_place(comparing, place, before, after);
    } else if (before == NULL || after == NULL) {
        note_alone(comparing, place, before, after);
    } else if (type == NRI_JSON_OBJECT) {
        compare_objects(comparing, place, before, after);
    } else {
        note(comparing, place, before, after);
    }
}

int difference_make(struct nri_arena *arena, const uint64_t seed[2], const struct nri_json *before,
                    const struct nri_json *after, struct difference_list *list)
{
    struct comparing comparing = {.arena = arena, .seed = seed, .list = list};
    *list = (struct difference_list){NULL, 0, 0};
    if (!difference_none(before, after))
        compare(&comparing, NULL, before, after);
    return comparing.failure;
}
