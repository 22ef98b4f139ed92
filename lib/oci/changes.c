/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/changes.h"

#include <string.h>

void nri_oci_changes_init(struct nri_oci_changes *changes, struct nri_oci_edit *edit, size_t most)
{
    struct nri_alloc alloc;
    nri_arena_allocator(edit->source.arena, &alloc);
    *changes = (struct nri_oci_changes){.edit = edit};
    nri_map_init(&changes->map, &alloc, edit->settings->limits.seed);
    changes->list = nri_oci_alloc(edit, most, sizeof *changes->list);
}

struct nri_oci_change *nri_oci_changes_find(const struct nri_oci_changes *changes, const char *key,
                                            size_t length)
{
    return nri_map_get(&changes->map, key, length);
}

void nri_oci_changes_add(struct nri_oci_changes *changes, const char *key, size_t length,
                         size_t index, bool removed)
{
    struct nri_oci_edit *edit = changes->edit;
    if (edit->failure != 0)
        return;
    struct nri_oci_change *change = nri_oci_changes_find(changes, key, length);
    if (change == NULL) {
        change = &changes->list[changes->count];
        *change = (struct nri_oci_change){.key = key, .length = length};
        if (nri_map_set(&changes->map, key, length, change, NULL) != 0) {
            nri_oci_no_memory(edit);
            return;
        }
        changes->count++;
    }
    if (removed)
        return;
    change->index = index;
    changes->sets += !change->set;
    change->set = true;
}

void nri_oci_changes_add_marked(struct nri_oci_changes *changes, const struct nri_oci_where *where,
                                const char *text)
{
    if (!nri_oci_is_key(changes->edit, where, text))
        return;
    const bool removed = text[0] == '-';
    const size_t length = nri_text_length(text) - removed;
    if (length == 0)
        nri_oci_fail(changes->edit, NRI_E_INVALID, where, "must not be \"-\"");
    nri_oci_changes_add(changes, text + removed, length, where->index, removed);
}

/* ---- lists ---- */

bool nri_oci_element_text(struct nri_oci_edit *edit, const struct nri_json_place *place,
                          const struct nri_json *element, const char *name, const char **text,
                          size_t *length)
{
    const struct nri_json_place part = {.parent = place, .name = name};
    if (!nri_oci_expect(edit, place, element, NRI_JSON_OBJECT))
        return false;
    const struct nri_json *value = nri_json_get(element, name);
    if (nri_json_type(value) == NRI_JSON_NULL)
        return false;
    if (!nri_oci_expect(edit, &part, value, NRI_JSON_STRING))
        return false;
    *text = nri_json_string(value, length);
    return true;
}

static struct nri_oci_change *change_of(const struct nri_oci_changes *changes,
                                        const struct nri_oci_list *list, size_t index,
                                        const struct nri_json *element)
{
    const struct nri_json_place place = {.parent = list->place, .index = index};
    const char *key;
    size_t length;
    const bool has =
        list->key != NULL
            ? nri_oci_element_text(changes->edit, &place, element, list->key, &key, &length)
            : list->key_of(changes->edit, &place, element, &key, &length);
    return has && changes->edit->failure == 0 ? nri_oci_changes_find(changes, key, length) : NULL;
}

/* The change of an element, or NULL. Of elements with the same key Go's generator sees the first.
 */
static struct nri_oci_change *change_for(const struct nri_oci_changes *changes,
                                         const struct nri_oci_list *list, size_t index,
                                         const struct nri_json *element)
{
    struct nri_oci_change *change = change_of(changes, list, index, element);
    if (change == NULL || (change->met && nri_oci_go(changes->edit)))
        return NULL;
    change->met = true;
    return change;
}

/* What is in the document: stays, is replaced in its place, or goes. */
static void change_elements(const struct nri_oci_changes *changes, const struct nri_oci_list *list,
                            struct nri_json *array)
{
    struct nri_oci_edit *edit = changes->edit;
    const size_t count = nri_json_count(array);
    size_t kept = 0;
    for (size_t i = 0; i < count && edit->failure == 0; i++) {
        struct nri_json *element = nri_json_at(array, i);
        struct nri_oci_change *change = change_for(changes, list, i, element);
        if (change != NULL && list->gone != NULL)
            list->gone(edit, list->state, element);
        if (change != NULL && (!change->set || change->placed || list->at_end))
            continue;
        if (change != NULL) {
            element = list->make(edit, list->context, change->index, element);
            change->placed = true;
        }
        (void)nri_json_put(array, kept++, element);
    }
    nri_json_truncate(array, kept);
}

void nri_oci_changes_apply(struct nri_oci_changes *changes, const struct nri_oci_list *list)
{
    struct nri_oci_edit *edit = changes->edit;
    if (edit->failure != 0 || changes->count == 0)
        return;
    struct nri_json *array = changes->sets > 0 ? nri_oci_make(edit, list->place, NRI_JSON_ARRAY)
                                               : nri_oci_find(edit, list->place, NRI_JSON_ARRAY);
    if (array == NULL)
        return;
    change_elements(changes, list, array);
    for (size_t i = 0; i < changes->count && edit->failure == 0; i++) {
        struct nri_oci_change *change = &changes->list[i];
        if (change->set && !change->placed)
            nri_oci_append(edit, array, list->make(edit, list->context, change->index, NULL));
    }
}

/* ---- objects ---- */

static bool stays(const char *key, size_t length, void *user)
{
    const struct nri_oci_change *change = nri_oci_changes_find(user, key, length);
    return change == NULL || change->set;
}

void nri_oci_changes_apply_members(struct nri_oci_changes *changes,
                                   const struct nri_json_place *place,
                                   struct nri_json *(*make)(struct nri_oci_edit *edit,
                                                            const void *context, size_t index),
                                   const void *context)
{
    struct nri_oci_edit *edit = changes->edit;
    if (edit->failure != 0 || changes->count == 0)
        return;
    struct nri_json *object = changes->sets > 0 ? nri_oci_make(edit, place, NRI_JSON_OBJECT)
                                                : nri_oci_find(edit, place, NRI_JSON_OBJECT);
    if (object == NULL)
        return;
    if (changes->sets < changes->count)
        nri_json_keep_members(object, stays, changes);
    for (size_t i = 0; i < changes->count && edit->failure == 0; i++) {
        const struct nri_oci_change *change = &changes->list[i];
        if (change->set)
            nri_oci_set(edit, object, change->key, make(edit, context, change->index));
    }
}
