/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.env. A variable that is set takes the place of the first one of its name, and others of
 * its name go, because some programs see the last. What has no "=" is a name too.
 *
 * Go's generator, instead, writes the list anew: without what has no "=", and with the last text of
 * a name that the document has twice, even where the first was replaced by an adjustment.
 */
#include <string.h>

#include "base/text.h"
#include "oci/changes.h"
#include "oci/nouns.h"

NRI_OCI_PLACE(env, process, "env");

static bool key_of(struct nri_oci_edit *edit, const struct nri_json_place *place,
                   const struct nri_json *element, const char **key, size_t *length)
{
    if (!nri_oci_expect(edit, place, element, NRI_JSON_STRING))
        return false;
    *key = nri_json_string(element, length);
    const char *equals = memchr(*key, '=', *length);
    if (equals != NULL)
        *length = (size_t)(equals - *key);
    return true;
}

static struct nri_json *make(struct nri_oci_edit *edit, const void *context, size_t index,
                             struct nri_json *old)
{
    const nri_oci_adjustment *adjustment = context;
    const struct nri_oci_where where = {"env", index, "value"};
    const char *key = adjustment->env[index]->key, *value = adjustment->env[index]->value;
    const size_t length = nri_text_length(key), value_length = nri_text_length(value);
    char *text = nri_oci_alloc(edit, length + 1 + value_length, 1);
    (void)old;
    if (text == NULL)
        return NULL;
    memcpy(text, key, length);
    text[length] = '=';
    if (value_length > 0)
        memcpy(text + length + 1, value, value_length);
    return nri_oci_bytes(edit, &where, text, length + 1 + value_length);
}

/* ---- as Go does it ---- */

struct go_list {
    struct nri_oci_edit *edit;
    struct nri_json *array; /* the new one */
    struct nri_map places;  /* of a name its position + 1 */
};

static void go_add(struct go_list *list, struct nri_json *text)
{
    size_t length;
    const char *bytes = nri_json_string(text, &length);
    const char *equals = list->edit->failure == 0 ? memchr(bytes, '=', length) : NULL;
    if (equals == NULL || equals == bytes)
        return;
    length = (size_t)(equals - bytes);
    const size_t place = (size_t)(uintptr_t)nri_map_get(&list->places, bytes, length);
    if (place != 0) {
        (void)nri_json_put(list->array, place - 1, text);
        return;
    }
    nri_oci_append(list->edit, list->array, text);
    if (nri_map_set(&list->places, bytes, length, (void *)(uintptr_t)nri_json_count(list->array),
                    NULL) != 0)
        nri_oci_no_memory(list->edit);
}

static void go_rewrite(struct go_list *list, const struct nri_oci_changes *changes,
                       const nri_oci_adjustment *adjustment, const struct nri_json *old)
{
    struct nri_oci_edit *edit = list->edit;
    for (size_t i = 0; i < nri_json_count(old) && edit->failure == 0; i++) {
        const struct nri_json_place place = {.parent = &env_place, .index = i};
        struct nri_json *element = nri_json_at(old, i);
        const char *key;
        size_t length;
        if (!key_of(edit, &place, element, &key, &length) || key[length] != '=')
            continue;
        struct nri_oci_change *change = nri_oci_changes_find(changes, key, length);
        if (change == NULL || change->placed)
            go_add(list, element);
        else if (change->set)
            go_add(list, make(edit, adjustment, change->index, NULL));
        if (change != NULL)
            change->placed = true;
    }
    for (size_t i = 0; i < changes->count && edit->failure == 0; i++) {
        const struct nri_oci_change *change = &changes->list[i];
        if (change->set && !change->placed)
            go_add(list, make(edit, adjustment, change->index, NULL));
    }
}

static void go_apply(struct nri_oci_edit *edit, const struct nri_oci_changes *changes,
                     const nri_oci_adjustment *adjustment)
{
    struct go_list list = {.edit = edit, .array = nri_oci_new(edit, NRI_JSON_ARRAY)};
    const struct nri_json *old = nri_oci_find(edit, &env_place, NRI_JSON_ARRAY);
    nri_map_init(&list.places, &changes->map.alloc, edit->settings->limits.seed);
    if (edit->failure == 0)
        go_rewrite(&list, changes, adjustment, old);
    if (old != NULL || nri_json_count(list.array) > 0)
        nri_oci_put(edit, &env_place, list.array);
}

/* ---- either ---- */

static void add(struct nri_oci_changes *changes, const nri_oci_adjustment *adjustment, size_t index)
{
    const struct nri_oci_where where = {"env", index, "key"};
    const char *key = adjustment->env[index]->key;
    if (nri_text_length(key) == 0 && nri_oci_go(changes->edit))
        return;
    if (nri_oci_is_key(changes->edit, &where, key) && strchr(key, '=') != NULL)
        nri_oci_fail(changes->edit, NRI_E_INVALID, &where, "must not contain \"=\"");
    nri_oci_changes_add_marked(changes, &where, key);
}

void nri_oci_apply_env(struct nri_oci_edit *edit, const nri_oci_adjustment *adjustment)
{
    struct nri_oci_changes changes;
    const struct nri_oci_list list = {
        .place = &env_place, .key_of = key_of, .make = make, .context = adjustment};
    if (adjustment->n_env == 0)
        return;
    nri_oci_changes_init(&changes, edit, adjustment->n_env);
    for (size_t i = 0; i < adjustment->n_env && edit->failure == 0; i++)
        add(&changes, adjustment, i);
    if (nri_oci_go(edit))
        go_apply(edit, &changes, adjustment);
    else
        nri_oci_changes_apply(&changes, &list);
}
