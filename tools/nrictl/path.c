/* SPDX-License-Identifier: Apache-2.0 */
#include "path.h"

#include <stdlib.h>
#include <string.h>

/* Longer pieces than this name nothing. */
#define MOST_PIECE 4096

/* ---- one step down ---- */

static bool position_of(const char *piece, size_t *position)
{
    const size_t length = strlen(piece);
    if (length == 0 || length > 9 || strspn(piece, "0123456789") != length)
        return false;
    *position = (size_t)strtoul(piece, NULL, 10);
    return true;
}

/* Of NAME=TEXT the text, when the name is the one. */
static const struct nri_json *variable(struct nri_arena *arena, const struct nri_json *element,
                                       const char *name)
{
    size_t length;
    const size_t name_length = strlen(name);
    const char *text = nri_json_string(element, &length);
    if (length < name_length || strncmp(text, name, name_length) != 0)
        return NULL;
    if (text[name_length] == '=')
        return nri_json_new_string(arena, text + name_length + 1, length - name_length - 1);
    return length == name_length ? element : NULL;
}

static bool is_pair(const struct nri_json *element)
{
    const struct nri_json *value = nri_json_get(element, "value");
    return nri_json_get(element, "key") != NULL &&
           nri_json_count(element) == (value != NULL ? 2u : 1u);
}

static const struct nri_json *known_by(struct nri_arena *arena, const struct nri_json *element,
                                       const char *name)
{
    static const char *const identities[] = {"key",  "destination", "path",      "type",
                                             "name", "host_name",   "page_size", "container_id"};
    if (nri_json_type(element) == NRI_JSON_STRING)
        return variable(arena, element, name);
    for (size_t i = 0; i < sizeof identities / sizeof *identities; i++) {
        const struct nri_json *identity = nri_json_get(element, identities[i]);
        if (nri_json_type(identity) != NRI_JSON_STRING ||
            strcmp(nri_json_string(identity, NULL), name) != 0)
            continue;
        if (!is_pair(element))
            return element;
        const struct nri_json *value = nri_json_get(element, "value");
        return value != NULL ? value : nri_json_new_string(arena, "", 0);
    }
    return NULL;
}

static const struct nri_json *by_name(struct nri_arena *arena, const struct nri_json *list,
                                      const char *name)
{
    for (size_t i = 0; i < nri_json_count(list); i++) {
        const struct nri_json *found = known_by(arena, nri_json_at(list, i), name);
        if (found != NULL)
            return found;
    }
    return NULL;
}

static const struct nri_json *down(struct nri_arena *arena, const struct nri_json *value,
                                   const char *piece, bool pointer)
{
    size_t position;
    if (nri_json_type(value) == NRI_JSON_OBJECT)
        return nri_json_get(value, piece);
    if (nri_json_type(value) != NRI_JSON_ARRAY)
        return NULL;
    if (position_of(piece, &position))
        return nri_json_at(value, position);
    return pointer ? NULL : by_name(arena, value, piece);
}

/* ---- pieces ---- */

/* The next piece of a pointer, with its escapes undone; *at stands at the slash before it. */
static bool pointer_piece(const char **at, char piece[MOST_PIECE])
{
    size_t length = 0;
    const char *from = *at + 1;
    for (; *from != '\0' && *from != '/'; from++) {
        char byte = *from;
        if (byte == '~') {
            from++;
            if (*from != '0' && *from != '1')
                return false;
            byte = *from == '0' ? '~' : '/';
        }
        if (length + 1 == MOST_PIECE)
            return false;
        piece[length++] = byte;
    }
    piece[length] = '\0';
    *at = from;
    return true;
}

/* The next piece of a path: a name up to a dot or bracket, or what stands in brackets. */
static bool path_piece(const char **at, bool first, char piece[MOST_PIECE])
{
    const bool bracket = **at == '[';
    const char *from = *at + (bracket || (!first && **at == '.') ? 1 : 0);
    const size_t length = strcspn(from, bracket ? "]" : ".[");
    if (length == 0 || length >= MOST_PIECE || (bracket && from[length] != ']') ||
        (!first && !bracket && **at != '.'))
        return false;
    memcpy(piece, from, length);
    piece[length] = '\0';
    *at = from + length + (bracket ? 1 : 0);
    return true;
}

static bool next_piece(const char *path, const char **at, char piece[MOST_PIECE])
{
    return *path == '/' ? pointer_piece(at, piece) : path_piece(at, *at == path, piece);
}

const struct nri_json *path_find(struct nri_arena *arena, const struct nri_json *document,
                                 const char *path)
{
    char piece[MOST_PIECE];
    const struct nri_json *value = document;
    for (const char *at = path; *at != '\0' && value != NULL;) {
        if (!next_piece(path, &at, piece))
            return NULL;
        value = down(arena, value, piece, *path == '/');
    }
    return value;
}

const char *path_fault(const char *path)
{
    char piece[MOST_PIECE];
    for (const char *at = path; *at != '\0';) {
        if (!next_piece(path, &at, piece))
            return *path == '/' ? "no JSON pointer: after ~ stands 0 or 1"
                                : "no path: names are separated by dots, and what stands in "
                                  "brackets is not empty";
    }
    return NULL;
}
