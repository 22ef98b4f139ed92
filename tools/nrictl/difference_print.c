/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences for people, a line each, and as JSON.
 */
#include <string.h>

#include "base/text.h"
#include "difference.h"
#include "document.h"
#include "memory.h"

/* Of one piece of a path. Keys may be as long as a document: were they repeated whole, its
 * differences would not be bounded by its size. */
#define MOST_PIECE 200u
/* Deeper than any document. */
#define MOST_PIECES 80u

static int put(struct nri_buf *buf, const char *text)
{
    return nri_buf_append(buf, text, strlen(text));
}

static int put_cut(struct nri_buf *buf, const char *text, size_t length)
{
    if (length <= MOST_PIECE)
        return nri_buf_append(buf, text, length);
    const int code = nri_buf_append(buf, text, nri_utf8_cut(text, MOST_PIECE));
    return code != 0 ? code : put(buf, "...");
}

static int put_element(struct nri_buf *buf, const struct difference_place *place)
{
    char number[32];
    int code = put(buf, "[");
    (void)snprintf(number, sizeof number, "%zu", place->index);
    if (code == 0)
        code = place->name != NULL ? put_cut(buf, place->name, place->length) : put(buf, number);
    return code != 0 ? code : put(buf, "]");
}

/* A key with dots in it, as annotations have, goes into brackets. */
static int put_member(struct nri_buf *buf, const struct difference_place *place, bool first)
{
    if (place->length == 0 || memchr(place->name, '.', place->length) != NULL)
        return put_element(buf, place);
    const int code = first ? 0 : put(buf, ".");
    return code != 0 ? code : put_cut(buf, place->name, place->length);
}

int difference_path(const struct difference_place *place, struct nri_buf *path)
{
    const struct difference_place *pieces[MOST_PIECES];
    size_t count = 0;
    int code = 0;
    for (; place != NULL && count < MOST_PIECES; place = place->parent)
        pieces[count++] = place;
    for (size_t i = count; code == 0 && i > 0; i--)
        code = pieces[i - 1]->element ? put_element(path, pieces[i - 1])
                                      : put_member(path, pieces[i - 1], i == count);
    return code;
}

/* ---- for people ---- */

static int print_line(struct nrictl *ctl, char sign, const struct nri_buf *path,
                      const struct nri_json *value)
{
    struct nri_buf text;
    memory_buf(&text, SIZE_MAX);
    const int code = nri_json_write(value, 0, &text);
    if (code == 0) {
        (void)fprintf(ctl->out, "%s%c ", print_colour(ctl, sign == '+' ? PRINT_GREEN : PRINT_RED),
                      sign);
        print_text(ctl->out, memory_text(path), nri_buf_size(path));
        (void)fputs(nri_buf_size(path) > 0 ? ": " : "", ctl->out);
        print_text(ctl->out, memory_text(&text), nri_buf_size(&text));
        (void)fprintf(ctl->out, "%s\n", print_colour(ctl, PRINT_PLAIN));
    }
    nri_buf_fini(&text);
    return code;
}

static int print_one(struct nrictl *ctl, const struct difference *difference)
{
    struct nri_buf path;
    memory_buf(&path, SIZE_MAX);
    int code = difference_path(difference->place, &path);
    if (code == 0 && difference->before != NULL)
        code = print_line(ctl, '-', &path, difference->before);
    if (code == 0 && difference->after != NULL)
        code = print_line(ctl, '+', &path, difference->after);
    nri_buf_fini(&path);
    return code;
}

static void print_title(struct nrictl *ctl, const char *sign, const char *title)
{
    (void)fprintf(ctl->out, "%s%s ", print_colour(ctl, PRINT_BOLD), sign);
    print_text(ctl->out, title, strlen(title));
    (void)fprintf(ctl->out, "%s\n", print_colour(ctl, PRINT_PLAIN));
}

int difference_print(struct nrictl *ctl, const struct difference_list *list, const char *before,
                     const char *after)
{
    int code = 0;
    if (list->count == 0)
        return NRICTL_OK;
    print_title(ctl, "---", before);
    print_title(ctl, "+++", after);
    for (size_t i = 0; code == 0 && i < list->count; i++)
        code = print_one(ctl, &list->items[i]);
    return code == 0 ? NRICTL_OK : nrictl_fail(ctl, NRICTL_ENVIRONMENT, "%s", nri_strerror(code));
}

/* ---- as JSON ---- */

static struct nri_json *one_document(struct nri_arena *arena, const struct difference *difference,
                                     const char *plugin)
{
    struct nri_buf path;
    struct nri_json *object = nri_json_new(arena, NRI_JSON_OBJECT);
    memory_buf(&path, SIZE_MAX);
    struct nri_json *text = difference_path(difference->place, &path) == 0
                                ? document_bytes(arena, memory_text(&path), nri_buf_size(&path))
                                : NULL;
    nri_buf_fini(&path);
    bool whole = document_set(arena, object, "path", text);
    if (difference->before != NULL)
        whole = whole && document_set(arena, object, "before", difference->before);
    if (difference->after != NULL)
        whole = whole && document_set(arena, object, "after", difference->after);
    if (plugin != NULL)
        whole = whole && document_set_text(arena, object, "plugin", plugin);
    return whole ? object : NULL;
}

struct nri_json *difference_document(struct nri_arena *arena, const struct difference_list *list,
                                     const char *plugin)
{
    struct nri_json *array = nri_json_new(arena, NRI_JSON_ARRAY);
    for (size_t i = 0; array != NULL && i < list->count; i++) {
        struct nri_json *object = one_document(arena, &list->items[i], plugin);
        if (object == NULL || nri_json_append(arena, array, object) != 0)
            return NULL;
    }
    return array;
}
