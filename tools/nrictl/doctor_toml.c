/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor_toml.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "json/document.h"

#define MOST_DEPTH                                                                                 \
    28 /* of values and of keys; a list of tables counts once and is two: JSON has 64 */

/* What is known of a table or an array beyond what is in it. Without a mark: a table that only the
 * headers of its members named. */
enum mark {
    MARK_HEADER = 1, /* it had a header: no second one, and no dotted keys into it */
    MARK_DOTTED,     /* dotted keys made it: no header */
    MARK_CLOSED,     /* a value in one piece */
    MARK_LIST        /* an array whose elements have headers [[...]] */
};

void *toml_fail(struct toml *toml, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    if (toml->code == 0)
        toml->code = nri_error_set(toml->error, NRI_E_SYNTAX, "not understood at line %zu: %s",
                                   toml->line, text == NULL ? "no memory" : text);
    free(text);
    return NULL;
}

void *toml_no_memory(struct toml *toml)
{
    if (toml->code == 0)
        toml->code = nri_error_set(toml->error, NRI_E_NOMEM, "no memory for it");
    return NULL;
}

bool toml_enter(struct toml *toml)
{
    if (toml->depth++ < MOST_DEPTH)
        return true;
    return toml_fail(toml, "it is deeper than %d levels", MOST_DEPTH) != NULL;
}

void toml_leave(struct toml *toml)
{
    toml->depth--;
}

/* ---- marks ---- */

static bool set_mark(struct toml *toml, struct nri_json *of, enum mark mark)
{
    static const unsigned char marks[] = {MARK_HEADER, MARK_DOTTED, MARK_CLOSED, MARK_LIST};
    struct nri_json **key = nri_arena_alloc(toml->arena, sizeof(void *));
    if (key == NULL)
        return toml_no_memory(toml) != NULL;
    *key = of;
    if (nri_map_set(&toml->marks, key, sizeof *key, (void *)&marks[mark - 1], NULL) != 0)
        return toml_no_memory(toml) != NULL;
    return true;
}

static int mark_of(const struct toml *toml, const struct nri_json *of)
{
    const unsigned char *mark = nri_map_get(&toml->marks, &of, sizeof(void *));
    return mark == NULL ? 0 : *mark;
}

bool toml_close(struct toml *toml, struct nri_json *table)
{
    return set_mark(toml, table, MARK_CLOSED);
}

struct nri_json *toml_table(struct toml *toml)
{
    struct nri_json *made = nri_json_new(toml->arena, NRI_JSON_OBJECT);
    if (made == NULL)
        return toml_no_memory(toml);
    made->line = toml->line;
    return made;
}

/* ---- what is between ---- */

bool toml_take(struct toml *toml, const char *text)
{
    const size_t length = strlen(text);
    if ((size_t)(toml->end - toml->at) < length || memcmp(toml->at, text, length) != 0)
        return false;
    toml->at += length;
    return true;
}

void toml_blanks(struct toml *toml)
{
    while (toml_peek(toml) == ' ' || toml_peek(toml) == '\t')
        toml->at++;
}

/* At a break of two bytes. The text has no NUL behind it. */
static bool at_break(const struct toml *toml)
{
    return toml->end - toml->at >= 2 && memcmp(toml->at, "\r\n", 2) == 0;
}

static void skip_comment(struct toml *toml)
{
    if (toml_peek(toml) != '#')
        return;
    while (toml->at < toml->end && *toml->at != '\n' && !at_break(toml)) {
        const unsigned char byte = (unsigned char)*toml->at++;
        if ((byte < 0x20 && byte != '\t') || byte == 0x7f)
            (void)toml_fail(toml, "a comment has a control character");
    }
}

/* A line break, if there is one. */
static bool take_break(struct toml *toml)
{
    if (!toml_take(toml, "\r\n") && !toml_take(toml, "\n"))
        return false;
    toml->line++;
    return true;
}

void toml_lines(struct toml *toml)
{
    do {
        toml_blanks(toml);
        skip_comment(toml);
    } while (take_break(toml));
}

/* ---- keys ---- */

static bool is_bare(int byte)
{
    return isalnum(byte) || byte == '-' || byte == '_';
}

/* One part of a key; NULL after an error. */
static const char *take_part(struct toml *toml)
{
    const char *from = toml->at;
    if (toml_peek(toml) == '"' || toml_peek(toml) == '\'') {
        const struct nri_json *text = toml_string(toml);
        if (text != NULL && toml->at - from >= 6 && from[0] == from[1] && from[1] == from[2])
            return toml_fail(toml, "a key has three quotes");
        return text == NULL ? NULL : nri_json_string(text, NULL);
    }
    while (toml->at < toml->end && is_bare((unsigned char)*toml->at))
        toml->at++;
    if (toml->at == from)
        return toml_fail(toml, "a key is missing");
    const char *part = nri_arena_text(toml->arena, from, (size_t)(toml->at - from));
    return part != NULL ? part : toml_no_memory(toml);
}

static struct nri_json *add_table(struct toml *toml, struct nri_json *table, const char *key)
{
    struct nri_json *made = toml_table(toml);
    if (made != NULL && nri_json_set(toml->arena, table, key, made) != 0)
        return toml_no_memory(toml);
    return made;
}

/* The table that a part of a dotted key leads to, made when there is none. */
static struct nri_json *into_dotted(struct toml *toml, struct nri_json *table, const char *part)
{
    struct nri_json *next = nri_json_get(table, part);
    if (next == NULL)
        next = add_table(toml, table, part);
    else if (nri_json_type(next) != NRI_JSON_OBJECT || mark_of(toml, next) == MARK_HEADER ||
             mark_of(toml, next) == MARK_CLOSED)
        return toml_fail(toml, "'%s' is there already, and cannot be added to", part);
    return next != NULL && set_mark(toml, next, MARK_DOTTED) ? next : NULL;
}

/* Takes a dot with the blanks around it. */
static bool take_dot(struct toml *toml)
{
    toml_blanks(toml);
    if (!toml_take(toml, "."))
        return false;
    toml_blanks(toml);
    return true;
}

bool toml_pair(struct toml *toml, struct nri_json *table)
{
    const size_t line = toml->line;
    const char *part = take_part(toml);
    unsigned parts = 0;
    while (part != NULL && take_dot(toml)) {
        if (++parts + toml->depth > MOST_DEPTH)
            return toml_fail(toml, "it is deeper than %d levels", MOST_DEPTH) != NULL;
        table = into_dotted(toml, table, part);
        part = table == NULL ? NULL : take_part(toml);
    }
    if (part == NULL)
        return false;
    if (!toml_take(toml, "="))
        return toml_fail(toml, "'=' is missing behind the key '%s'", part) != NULL;
    toml_blanks(toml);
    if (nri_json_get(table, part) != NULL)
        return toml_fail(toml, "'%s' is there already", part) != NULL;
    toml->depth += parts;
    struct nri_json *value = toml_value(toml);
    toml->depth -= parts;
    if (value == NULL)
        return false;
    value->key_line = line;
    value->key_column = 1;
    return nri_json_set(toml->arena, table, part, value) == 0 || toml_no_memory(toml) != NULL;
}

/* ---- headers ---- */

/* The table that a part of a header, not the last one, leads to. */
static struct nri_json *into(struct toml *toml, struct nri_json *table, const char *part)
{
    struct nri_json *next = nri_json_get(table, part);
    if (next == NULL)
        return add_table(toml, table, part);
    if (mark_of(toml, next) == MARK_LIST)
        return nri_json_at(next, nri_json_count(next) - 1);
    if (nri_json_type(next) != NRI_JSON_OBJECT || mark_of(toml, next) == MARK_CLOSED)
        return toml_fail(toml, "'%s' is there already, and cannot be added to", part);
    return next;
}

static struct nri_json *last_of_table(struct toml *toml, struct nri_json *table, const char *part)
{
    struct nri_json *last = nri_json_get(table, part);
    if (last == NULL)
        last = add_table(toml, table, part);
    else if (nri_json_type(last) != NRI_JSON_OBJECT || mark_of(toml, last) != 0)
        return toml_fail(toml, "the table '%s' is there already", part);
    return last != NULL && set_mark(toml, last, MARK_HEADER) ? last : NULL;
}

static struct nri_json *last_of_list(struct toml *toml, struct nri_json *table, const char *part)
{
    struct nri_json *list = nri_json_get(table, part), *made;
    if (list == NULL) {
        list = nri_json_new(toml->arena, NRI_JSON_ARRAY);
        if (list == NULL || nri_json_set(toml->arena, table, part, list) != 0)
            return toml_no_memory(toml);
        list->line = toml->line;
        if (!set_mark(toml, list, MARK_LIST))
            return NULL;
    } else if (mark_of(toml, list) != MARK_LIST) {
        return toml_fail(toml, "'%s' is there already, and is no list of tables", part);
    }
    made = toml_table(toml);
    if (made == NULL || nri_json_append(toml->arena, list, made) != 0)
        return toml_no_memory(toml);
    return set_mark(toml, made, MARK_HEADER) ? made : NULL;
}

/* [a.b] or [[a.b]]; the table whose pairs follow. */
static struct nri_json *header(struct toml *toml, struct nri_json *root)
{
    struct nri_json *table = root;
    unsigned parts = 0;
    const bool list = toml_take(toml, "[[");
    if (!list)
        toml->at++;
    toml_blanks(toml);
    const char *part = take_part(toml);
    while (part != NULL && take_dot(toml)) {
        if (++parts > MOST_DEPTH)
            return toml_fail(toml, "it is deeper than %d levels", MOST_DEPTH);
        table = into(toml, table, part);
        part = table == NULL ? NULL : take_part(toml);
    }
    if (part == NULL)
        return NULL;
    if (!toml_take(toml, list ? "]]" : "]"))
        return toml_fail(toml, "a header has no end");
    toml->depth = parts + 1 + list;
    return list ? last_of_list(toml, table, part) : last_of_table(toml, table, part);
}

/* ---- the file ---- */

static bool parse_lines(struct toml *toml, struct nri_json *root)
{
    struct nri_json *table = root;
    for (toml_lines(toml); toml->code == 0 && toml->at < toml->end; toml_lines(toml)) {
        if (toml_peek(toml) == '[') {
            table = header(toml, root);
            if (table == NULL)
                return false;
        } else if (!toml_pair(toml, table)) {
            return false;
        }
        toml_blanks(toml);
        skip_comment(toml);
        if (toml->at < toml->end && !take_break(toml))
            return toml_fail(toml, "something follows on the same line") != NULL;
    }
    return toml->code == 0;
}

int doctor_toml_parse(struct nri_arena *arena, const char *text, size_t length,
                      struct nri_json **document, struct nri_error *error)
{
    static const uint64_t seed[2] = {0x6e726963746c, 0x646f63746f72};
    struct toml toml = {
        .arena = arena, .at = text, .end = text + length, .line = 1, .error = error};
    struct nri_alloc alloc;
    size_t bad = 0;
    if (!nri_utf8_valid(text, length, &bad)) {
        for (size_t i = 0; i < bad; i++)
            toml.line += text[i] == '\n';
        return nri_error_set(error, NRI_E_UTF8, "not understood at line %zu: it is not UTF-8",
                             toml.line);
    }
    nri_arena_allocator(arena, &alloc);
    nri_map_init(&toml.marks, &alloc, seed);
    *document = toml_table(&toml);
    if (*document != NULL)
        (void)parse_lines(&toml, *document);
    nri_map_fini(&toml.marks);
    return toml.code;
}
