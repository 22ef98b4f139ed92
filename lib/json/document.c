/* SPDX-License-Identifier: Apache-2.0 */
/* Reading, making and changing a document. */
#include "json/document.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"

/* ---- reading ---- */

enum nri_json_type nri_json_type(const struct nri_json *value)
{
    return value == NULL ? NRI_JSON_NULL : value->type;
}

const char *nri_json_type_name(enum nri_json_type type)
{
    static const char *const names[] = {"null", "boolean", "number", "string", "array", "object"};
    return (unsigned)type < sizeof names / sizeof names[0] ? names[type] : "?";
}

size_t nri_json_line(const struct nri_json *value)
{
    return value == NULL ? 0 : value->line;
}

size_t nri_json_column(const struct nri_json *value)
{
    return value == NULL ? 0 : value->column;
}

size_t nri_json_key_line(const struct nri_json *value)
{
    return value != NULL && value->key_line != 0 ? value->key_line : nri_json_line(value);
}

size_t nri_json_key_column(const struct nri_json *value)
{
    return value != NULL && value->key_line != 0 ? value->key_column : nri_json_column(value);
}

bool nri_json_bool(const struct nri_json *value)
{
    return nri_json_type(value) == NRI_JSON_BOOL && value->boolean;
}

const char *nri_json_string(const struct nri_json *value, size_t *length)
{
    bool is_string = nri_json_type(value) == NRI_JSON_STRING;
    if (length != NULL)
        *length = is_string ? nri_text_stored_length(value->u.text) : 0;
    return is_string ? value->u.text : "";
}

const char *nri_json_number_text(const struct nri_json *value)
{
    return nri_json_type(value) == NRI_JSON_NUMBER ? value->u.text : "";
}

/* The list of an array or object; NULL for an empty one and for every other type. */
static struct nri_json_list *list_of(const struct nri_json *value)
{
    enum nri_json_type type = nri_json_type(value);
    return type == NRI_JSON_ARRAY || type == NRI_JSON_OBJECT ? value->u.list : NULL;
}

size_t nri_json_count(const struct nri_json *value)
{
    const struct nri_json_list *list = list_of(value);
    return list == NULL ? 0 : list->count;
}

struct nri_json *nri_json_at(const struct nri_json *array, size_t index)
{
    const struct nri_json_list *list = list_of(array);
    return list == NULL || list->keys != NULL || index >= list->count ? NULL : list->values[index];
}

struct nri_json *nri_json_member_at(const struct nri_json *object, size_t index, const char **key,
                                    size_t *key_length)
{
    const struct nri_json_list *list = list_of(object);
    if (list == NULL || list->keys == NULL || index >= list->count)
        return NULL;
    if (key != NULL)
        *key = list->keys[index];
    if (key_length != NULL)
        *key_length = nri_text_stored_length(list->keys[index]);
    return list->values[index];
}

/* ---- finding ---- */

static bool key_is(const char *key, const char *other, size_t length)
{
    return nri_text_stored_length(key) == length && memcmp(key, other, length) == 0;
}

/* The slot of a key, or the free slot where it belongs: there is one, because at most half of them
 * are taken. */
static uint32_t *slot_of(const struct nri_json_list *list, const char *key, size_t length)
{
    size_t mask = list->slot_count - 1;
    size_t at = (size_t)nri_hash(list->seed, key, length) & mask;
    while (list->slots[at] != 0 && !key_is(list->keys[list->slots[at] - 1], key, length))
        at = (at + 1) & mask;
    return &list->slots[at];
}

static size_t find_among(const struct nri_json_list *list, size_t count, const char *key,
                         size_t length)
{
    for (size_t i = 0; i < count; i++) {
        if (key_is(list->keys[i], key, length))
            return i;
    }
    return NRI_JSON_NO_MEMBER;
}

static size_t find(const struct nri_json_list *list, const char *key, size_t length)
{
    if (list->slots == NULL)
        return find_among(list, list->count, key, length);
    uint32_t slot = *slot_of(list, key, length);
    return slot == 0 ? NRI_JSON_NO_MEMBER : slot - 1;
}

static struct nri_json_list *members_of(const struct nri_json *object)
{
    return nri_json_type(object) == NRI_JSON_OBJECT ? object->u.list : NULL;
}

struct nri_json *nri_json_get(const struct nri_json *object, const char *key)
{
    const struct nri_json_list *list = members_of(object);
    size_t at = list == NULL ? NRI_JSON_NO_MEMBER : find(list, key, strlen(key));
    return at == NRI_JSON_NO_MEMBER ? NULL : list->values[at];
}

/* Enters all keys into the slots, which are all free. */
static size_t enter_all(struct nri_json_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        uint32_t *slot = slot_of(list, list->keys[i], nri_text_stored_length(list->keys[i]));
        if (*slot != 0)
            return i;
        *slot = (uint32_t)i + 1;
    }
    return NRI_JSON_NO_MEMBER;
}

/* Slots for `capacity` keys, all free. */
static bool make_slots(struct nri_arena *arena, struct nri_json_list *list, size_t capacity)
{
    size_t count = 2 * NRI_JSON_FEW;
    while (count < 2 * capacity)
        count *= 2;
    uint32_t *slots = nri_arena_array(arena, count, sizeof *slots);
    if (slots == NULL)
        return false;
    memset(slots, 0, count * sizeof *slots);
    list->slots = slots;
    list->slot_count = count;
    return true;
}

bool nri_json_index(struct nri_arena *arena, struct nri_json_list *list, size_t *duplicate)
{
    *duplicate = NRI_JSON_NO_MEMBER;
    if (list->count > NRI_JSON_FEW) {
        if (!make_slots(arena, list, list->capacity))
            return false;
        *duplicate = enter_all(list);
        return true;
    }
    for (size_t i = 1; i < list->count; i++) {
        if (find_among(list, i, list->keys[i], nri_text_stored_length(list->keys[i])) !=
            NRI_JSON_NO_MEMBER) {
            *duplicate = i;
            break;
        }
    }
    return true;
}

/* ---- making ---- */

struct nri_json *nri_json_blank(struct nri_arena *arena, enum nri_json_type type)
{
    struct nri_json *value = nri_arena_zero(arena, sizeof *value);
    if (value != NULL)
        value->type = type;
    return value;
}

static struct nri_json *new_text(struct nri_arena *arena, enum nri_json_type type, const char *text,
                                 size_t length)
{
    struct nri_json *value = nri_json_blank(arena, type);
    if (value == NULL)
        return NULL;
    value->u.text = nri_arena_text(arena, text, length);
    return value->u.text == NULL ? NULL : value;
}

struct nri_json *nri_json_new(struct nri_arena *arena, enum nri_json_type type)
{
    if (type == NRI_JSON_NUMBER)
        return new_text(arena, type, "0", 1);
    if (type == NRI_JSON_STRING)
        return new_text(arena, type, "", 0);
    return nri_json_blank(arena, type);
}

struct nri_json *nri_json_new_bool(struct nri_arena *arena, bool boolean)
{
    struct nri_json *value = nri_json_blank(arena, NRI_JSON_BOOL);
    if (value != NULL)
        value->boolean = boolean;
    return value;
}

struct nri_json *nri_json_new_string(struct nri_arena *arena, const char *text, size_t length)
{
    if (!nri_utf8_valid(text, length, NULL) || (length != 0 && memchr(text, '\0', length) != NULL))
        return NULL;
    return new_text(arena, NRI_JSON_STRING, text, length);
}

struct nri_json *nri_json_new_int64(struct nri_arena *arena, int64_t number)
{
    char text[24];
    int length = snprintf(text, sizeof text, "%" PRId64, number);
    return new_text(arena, NRI_JSON_NUMBER, text, (size_t)length);
}

struct nri_json *nri_json_new_uint64(struct nri_arena *arena, uint64_t number)
{
    char text[24];
    int length = snprintf(text, sizeof text, "%" PRIu64, number);
    return new_text(arena, NRI_JSON_NUMBER, text, (size_t)length);
}

/* ---- changing ---- */

/* Why a value or its container is NULL, or the container is none: callers may nest the functions
 * that make values. */
static int misuse(const struct nri_arena *arena, const struct nri_json *container,
                  const struct nri_json *value)
{
    bool missing = value == NULL || container == NULL;
    return missing && arena->failure != 0 ? arena->failure : NRI_E_INVALID;
}

/*
 * The seed of an object that was not parsed. Its members may come from a peer all the same, and an
 * address is something that a peer does not know.
 */
static void seed_by_address(struct nri_json_list *list)
{
    list->seed[0] = (uint64_t)(uintptr_t)list;
    list->seed[1] = (uint64_t)(uintptr_t)&list;
}

static int make_list(struct nri_arena *arena, struct nri_json *value)
{
    if (value->u.list != NULL)
        return 0;
    struct nri_json_list *list = nri_arena_zero(arena, sizeof *list);
    if (list == NULL)
        return arena->failure;
    seed_by_address(list);
    value->u.list = list;
    return 0;
}

/* Room for one more. The list is as it was when there is none. */
static int make_room(struct nri_arena *arena, struct nri_json_list *list, bool with_keys)
{
    if (list->count < list->capacity)
        return 0;
    size_t capacity = list->capacity < 4 ? 4 : list->capacity * 2;
    if (capacity > UINT32_MAX / 2) /* positions are kept in 32 bits */
        return NRI_E_LIMIT;
    struct nri_json **values = nri_arena_array(arena, capacity, sizeof *values);
    char **keys =
        with_keys && values != NULL ? nri_arena_array(arena, capacity, sizeof *keys) : NULL;
    if (values == NULL || (with_keys && keys == NULL))
        return arena->failure;
    if (with_keys && capacity > NRI_JSON_FEW && !make_slots(arena, list, capacity))
        return arena->failure;
    if (list->count != 0)
        memcpy(values, list->values, list->count * sizeof *values);
    if (with_keys && list->count != 0)
        memcpy(keys, list->keys, list->count * sizeof *keys);
    list->values = values;
    list->keys = keys;
    list->capacity = capacity;
    if (list->slots != NULL)
        (void)enter_all(list);
    return 0;
}

int nri_json_append(struct nri_arena *arena, struct nri_json *array, struct nri_json *value)
{
    if (value == NULL || nri_json_type(array) != NRI_JSON_ARRAY)
        return misuse(arena, array, value);
    int rc = make_list(arena, array);
    if (rc == 0)
        rc = make_room(arena, array->u.list, false);
    if (rc == 0)
        array->u.list->values[array->u.list->count++] = value;
    return rc;
}

static int add_member(struct nri_arena *arena, struct nri_json_list *list, const char *key,
                      size_t length, struct nri_json *value)
{
    char *copy = nri_arena_text(arena, key, length);
    if (copy == NULL)
        return arena->failure;
    int rc = make_room(arena, list, true);
    if (rc != 0)
        return rc;
    if (list->slots != NULL)
        *slot_of(list, copy, length) = (uint32_t)list->count + 1;
    list->keys[list->count] = copy;
    list->values[list->count++] = value;
    return 0;
}

int nri_json_set(struct nri_arena *arena, struct nri_json *object, const char *key,
                 struct nri_json *value)
{
    if (value == NULL || nri_json_type(object) != NRI_JSON_OBJECT)
        return misuse(arena, object, value);
    size_t length = strlen(key);
    if (!nri_utf8_valid(key, length, NULL))
        return NRI_E_UTF8;
    int rc = make_list(arena, object);
    if (rc != 0)
        return rc;
    struct nri_json_list *list = object->u.list;
    size_t at = find(list, key, length);
    if (at == NRI_JSON_NO_MEMBER)
        return add_member(arena, list, key, length, value);
    list->values[at] = value;
    return 0;
}

bool nri_json_remove(struct nri_json *object, const char *key)
{
    struct nri_json_list *list = members_of(object);
    size_t at = list == NULL ? NRI_JSON_NO_MEMBER : find(list, key, strlen(key));
    if (at == NRI_JSON_NO_MEMBER)
        return false;
    size_t behind = --list->count - at;
    memmove(list->values + at, list->values + at + 1, behind * sizeof *list->values);
    memmove(list->keys + at, list->keys + at + 1, behind * sizeof *list->keys);
    if (list->slots != NULL) {
        memset(list->slots, 0, list->slot_count * sizeof *list->slots);
        (void)enter_all(list);
    }
    return true;
}

bool nri_json_put(struct nri_json *array, size_t index, struct nri_json *value)
{
    if (value == NULL || nri_json_at(array, index) == NULL)
        return false;
    array->u.list->values[index] = value;
    return true;
}

void nri_json_truncate(struct nri_json *array, size_t count)
{
    if (nri_json_type(array) == NRI_JSON_ARRAY && nri_json_count(array) > count)
        array->u.list->count = count;
}

void nri_json_keep_members(struct nri_json *object,
                           bool (*keep)(const char *key, size_t length, void *user), void *user)
{
    struct nri_json_list *list = members_of(object);
    size_t kept = 0;
    if (list == NULL)
        return;
    for (size_t i = 0; i < list->count; i++) {
        if (!keep(list->keys[i], nri_text_stored_length(list->keys[i]), user))
            continue;
        list->keys[kept] = list->keys[i];
        list->values[kept++] = list->values[i];
    }
    if (kept == list->count)
        return;
    list->count = kept;
    if (list->slots != NULL) {
        memset(list->slots, 0, list->slot_count * sizeof *list->slots);
        (void)enter_all(list);
    }
}
