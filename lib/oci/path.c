/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/path.h"

#include <string.h>

#include "base/text.h"

struct cleaning {
    char *out;
    size_t length;
    size_t fixed; /* this much cannot be gone back from: the root, or leading ".." */
};

static void push(struct cleaning *path, const char *part, size_t length)
{
    if (path->length > 0 && path->out[path->length - 1] != '/')
        path->out[path->length++] = '/';
    memcpy(path->out + path->length, part, length);
    path->length += length;
}

static void go_back(struct cleaning *path, bool rooted)
{
    if (path->length > path->fixed) {
        while (path->length > path->fixed && path->out[path->length - 1] != '/')
            path->length--;
        /* The separator goes too, unless it is the root. */
        if (path->length > path->fixed)
            path->length--;
    } else if (!rooted) {
        push(path, "..", 2);
        path->fixed = path->length;
    }
}

char *nri_oci_path_clean(struct nri_arena *arena, const char *path, size_t length)
{
    /* Never longer than the path, but for "." of an empty one. */
    char *out = nri_arena_alloc(arena, length + 2);
    const bool rooted = length > 0 && path[0] == '/';
    struct cleaning clean = {.out = out};
    if (out == NULL)
        return NULL;
    if (rooted)
        out[clean.length++] = '/';
    clean.fixed = clean.length;
    for (size_t at = 0; at < length;) {
        const char *slash = memchr(path + at, '/', length - at);
        const size_t part = (slash != NULL ? (size_t)(slash - path) : length) - at;
        if (part == 2 && memcmp(path + at, "..", 2) == 0)
            go_back(&clean, rooted);
        else if (part > 0 && !(part == 1 && path[at] == '.'))
            push(&clean, path + at, part);
        at += part + 1;
    }
    if (clean.length == 0)
        out[clean.length++] = '.';
    return nri_arena_text(arena, out, clean.length);
}

size_t nri_oci_path_depth(const char *clean, size_t length)
{
    size_t depth = 0;
    for (size_t i = 0; i < length; i++)
        depth += clean[i] == '/';
    return depth;
}
