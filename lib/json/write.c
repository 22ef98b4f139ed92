/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a document. A parsed one is as deep as its limit allows and one made by hand as deep as
 * its maker likes, so the way back up is kept on the heap and not on the stack.
 */
#include <string.h>

#include "base/text.h"
#include "json/document.h"

struct level {
    const struct nri_json *container;
    size_t next; /* the position of the next element or member */
};

struct walk {
    struct nri_buf *out;
    unsigned indent;
    struct level *levels;
    size_t depth, capacity;
};

static int put(struct nri_buf *out, const char *text)
{
    return nri_buf_append(out, text, strlen(text));
}

static int descend(struct walk *walk, const struct nri_json *container)
{
    if (walk->depth == walk->capacity) {
        size_t capacity = walk->capacity == 0 ? 32 : walk->capacity * 2;
        if (capacity > SIZE_MAX / sizeof *walk->levels)
            return NRI_E_LIMIT;
        struct level *levels =
            nri_alloc_resize(&walk->out->alloc, walk->levels, capacity * sizeof *levels);
        if (levels == NULL)
            return NRI_E_NOMEM;
        walk->levels = levels;
        walk->capacity = capacity;
    }
    walk->levels[walk->depth++] = (struct level){container, 0};
    return put(walk->out, container->type == NRI_JSON_ARRAY ? "[" : "{");
}

/* Writes a value, or the beginning of one that holds others. */
static int put_value(struct walk *walk, const struct nri_json *value)
{
    switch (nri_json_type(value)) {
    case NRI_JSON_BOOL:
        return put(walk->out, value->boolean ? "true" : "false");
    case NRI_JSON_NUMBER:
        return nri_buf_append(walk->out, value->u.text, nri_text_stored_length(value->u.text));
    case NRI_JSON_STRING:
        return nri_json_quote(walk->out, value->u.text, nri_text_stored_length(value->u.text));
    case NRI_JSON_ARRAY:
    case NRI_JSON_OBJECT:
        if (nri_json_count(value) != 0)
            return descend(walk, value);
        return put(walk->out, value->type == NRI_JSON_ARRAY ? "[]" : "{}");
    case NRI_JSON_NULL:
        break;
    }
    return put(walk->out, "null");
}

static int ascend(struct walk *walk)
{
    const struct nri_json *container = walk->levels[--walk->depth].container;
    int rc = nri_json_break_line(walk->out, walk->indent, walk->depth);
    return rc == 0 ? put(walk->out, container->type == NRI_JSON_ARRAY ? "]" : "}") : rc;
}

/* The next element or member of the innermost container. */
static int put_next(struct walk *walk)
{
    struct level *level = &walk->levels[walk->depth - 1];
    const struct nri_json_list *list = level->container->u.list;
    if (level->next == list->count)
        return ascend(walk);
    size_t at = level->next++;
    int rc = at == 0 ? 0 : put(walk->out, ",");
    if (rc == 0)
        rc = nri_json_break_line(walk->out, walk->indent, walk->depth);
    if (rc == 0 && list->keys != NULL) {
        rc = nri_json_quote(walk->out, list->keys[at], nri_text_stored_length(list->keys[at]));
        if (rc == 0)
            rc = put(walk->out, walk->indent == 0 ? ":" : ": ");
    }
    return rc == 0 ? put_value(walk, list->values[at]) : rc;
}

int nri_json_write(const struct nri_json *value, unsigned indent, struct nri_buf *out)
{
    struct walk walk = {.out = out, .indent = indent};
    size_t before = nri_buf_size(out);
    int rc = put_value(&walk, value);
    while (rc == 0 && walk.depth != 0)
        rc = put_next(&walk);
    if (rc != 0)
        out->end = out->start + before; /* half a text is of no use to anybody */
    nri_alloc_release(&out->alloc, walk.levels);
    return rc;
}
