/* SPDX-License-Identifier: Apache-2.0 */
/* Which annotation of a pod is for which container. */
#include <nri/annotation.h>

#include <string.h>

#include "model/model.h"

#define FORMS_MOST 3 /* forms of one syntax */

/* What may stand behind the key. */
enum form {
    FORM_NONE,           /* no such form */
    FORM_CONTAINER_NAME, /* "/container.NAME" */
    FORM_NAME,           /* "/NAME" */
    FORM_POD,            /* "/pod" */
    FORM_BARE            /* nothing */
};

/* In the order of precedence. */
static const unsigned char forms[][FORMS_MOST] = {
    [NRI_ANNOTATION_SCOPED] = {FORM_CONTAINER_NAME, FORM_POD, FORM_BARE},
    [NRI_ANNOTATION_NAME] = {FORM_NAME, FORM_BARE},
    [NRI_ANNOTATION_CONTAINER] = {FORM_CONTAINER_NAME},
};

#define SYNTAXES (sizeof forms / sizeof forms[0])

/* What is looked for. */
struct search {
    const char *key, *name;
    size_t key_length, name_length;
};

/* Whether the end of a key is `before` and a name. */
static bool is_tail(const char *tail, size_t length, const char *before, const char *name,
                    size_t name_length)
{
    size_t before_length = strlen(before);
    return length == before_length + name_length && memcmp(tail, before, before_length) == 0 &&
           memcmp(tail + before_length, name, name_length) == 0;
}

static bool has_form(const char *tail, size_t length, const struct search *search, unsigned form)
{
    switch (form) {
    case FORM_CONTAINER_NAME:
        return search->name_length > 0 &&
               is_tail(tail, length, "/container.", search->name, search->name_length);
    case FORM_NAME:
        return search->name_length > 0 &&
               is_tail(tail, length, "/", search->name, search->name_length);
    case FORM_POD:
        return is_tail(tail, length, "/pod", "", 0);
    case FORM_BARE:
        return length == 0;
    default:
        return false;
    }
}

/* How much an annotation's key is wanted: 0 most, FORMS_MOST not at all. */
static size_t rank_of(const char *found, const struct search *search, const unsigned char *order)
{
    size_t rank = 0, length = nri_text_length(found);
    if (length < search->key_length || memcmp(found, search->key, search->key_length) != 0)
        return FORMS_MOST;
    while (rank < FORMS_MOST &&
           !has_form(found + search->key_length, length - search->key_length, search, order[rank]))
        rank++;
    return rank;
}

/* The best annotation by now. */
struct best {
    size_t rank;
    const char *key, *value;
};

static void look_for(const nri_pod *pod, const struct search *search, const unsigned char *order,
                     struct best *best)
{
    const char *key, *value;
    for (size_t i = 0; nri_pod_annotation_at(pod, i, &key, &value); i++) {
        size_t rank = rank_of(key, search, order);
        if (rank < best->rank)
            *best = (struct best){rank, key, value};
    }
}

bool nri_annotation_find_any(const nri_pod *pod, const char *container_name,
                             const char *const *keys, size_t key_count,
                             enum nri_annotation_syntax syntax, const char **value,
                             const char **found)
{
    const char *name = container_name != NULL ? container_name : "";
    const size_t number = (size_t)syntax; /* an enum may hold anything */
    struct best best = {FORMS_MOST, "", ""};
    for (size_t i = 0; keys != NULL && number < SYNTAXES && i < key_count; i++) {
        if (keys[i] == NULL || keys[i][0] == '\0')
            continue;
        const struct search search = {keys[i], name, strlen(keys[i]), strlen(name)};
        look_for(pod, &search, forms[number], &best);
    }
    if (value != NULL)
        *value = best.value;
    if (found != NULL)
        *found = best.key;
    return best.rank < FORMS_MOST;
}

bool nri_annotation_find(const nri_pod *pod, const char *container_name, const char *key,
                         enum nri_annotation_syntax syntax, const char **value, const char **found)
{
    return nri_annotation_find_any(pod, container_name, &key, 1, syntax, value, found);
}
