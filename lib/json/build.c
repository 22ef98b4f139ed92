/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the document. Values wait among the pending ones until their container is closed; only
 * then is it known how many there are, so that the arena gets each list once and in its right size.
 */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "json/parser.h"

static bool fail_here(struct nri_json_parser *parser, int code, const char *what)
{
    nri_json_fail(parser, parser->offset, code, "%s", what);
    return false;
}

static bool no_room(struct nri_json_parser *parser)
{
    if (parser->arena->failure == NRI_E_LIMIT)
        nri_json_fail(parser, parser->offset, NRI_E_LIMIT,
                      "the document needs more memory than its limit of %zu bytes",
                      parser->arena->limit);
    else
        fail_here(parser, NRI_E_NOMEM, "out of memory");
    return false;
}

/* Goes to the start of the token that is being reported. */
static bool begin_token(struct nri_json_parser *parser)
{
    if (!nri_json_skip(parser, true))
        return false;
    /* Everything below relies on it. */
    if (parser->offset >= parser->token_end || parser->token_end > parser->length)
        return fail_here(parser, NRI_E_INTERNAL, "the parser is out of step with yajl");
    return true;
}

static bool end_token(struct nri_json_parser *parser)
{
    parser->offset = parser->token_end;
    return true;
}

/* ---- growing lists of the parser itself ---- */

static bool grow(struct nri_json_parser *parser, void **array, size_t *capacity, size_t count,
                 size_t size)
{
    if (count < *capacity)
        return true;
    size_t larger = *capacity == 0 ? 32 : *capacity * 2;
    void *copy = larger > SIZE_MAX / size
                     ? NULL
                     : nri_alloc_resize(&parser->arena->alloc, *array, larger * size);
    if (copy == NULL)
        return fail_here(parser, NRI_E_NOMEM, "out of memory");
    *array = copy;
    *capacity = larger;
    return true;
}

/* A value that starts here, put where it belongs. NULL: failed. */
static struct nri_json *add_value(struct nri_json_parser *parser, enum nri_json_type type)
{
    if (parser->values == parser->limits.max_values) {
        nri_json_fail(parser, parser->offset, NRI_E_LIMIT, "more values than the limit of %zu",
                      parser->limits.max_values);
        return NULL;
    }
    void *pending = parser->pending;
    bool grown = grow(parser, &pending, &parser->pending_capacity, parser->pending_count,
                      sizeof *parser->pending);
    parser->pending = pending;
    if (!grown)
        return NULL;
    struct nri_json *value = nri_json_blank(parser->arena, type);
    if (value == NULL) {
        no_room(parser);
        return NULL;
    }
    value->line = parser->line;
    value->column = parser->offset - parser->line_start + 1;
    if (parser->key != NULL) {
        value->key_line = parser->key_line;
        value->key_column = parser->key_column;
    }
    parser->values++;
    if (parser->depth == 0)
        parser->document = value;
    else
        parser->pending[parser->pending_count++] =
            (struct nri_json_pending){value, parser->key, parser->key_offset};
    parser->key = NULL;
    return value;
}

/* ---- strings ---- */

static unsigned read_hex(const char *digits)
{
    unsigned code = 0;
    for (int i = 0; i < 4; i++) {
        unsigned char c = (unsigned char)digits[i];
        code = code * 16 + (unsigned)(isdigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return code;
}

static bool is_escape_of_low_surrogate(const char *text, const char *end)
{
    return end - text >= 6 && text[0] == '\\' && text[1] == 'u' &&
           (read_hex(text + 2) & 0xFC00) == 0xDC00;
}

/*
 * yajl turns \u0000 into a NUL and half a surrogate pair into '?'. Both must be seen in the raw
 * text, which starts here and whose escapes yajl found to be well-formed.
 */
static bool check_escapes(struct nri_json_parser *parser)
{
    const char *end = parser->text + parser->token_end - 1;
    const char *at = parser->text + parser->offset + 1;
    while ((at = memchr(at, '\\', (size_t)(end - at))) != NULL) {
        size_t length = 2;
        if (at[1] == 'u') {
            unsigned code = read_hex(at + 2);
            bool pair = (code & 0xFC00) == 0xD800 && is_escape_of_low_surrogate(at + 6, end);
            length = pair ? 12 : 6;
            if (code == 0 || ((code & 0xF800) == 0xD800 && !pair)) {
                nri_json_fail(parser, (size_t)(at - parser->text), NRI_E_UTF8,
                              code == 0 ? "%.6s: a text may not hold a NUL"
                                        : "%.6s is half of a surrogate pair",
                              at);
                return false;
            }
        }
        at += length;
    }
    return true;
}

/* The text of the string token that starts here. NULL: failed. */
static char *take_string(struct nri_json_parser *parser, const char *text, size_t length)
{
    size_t raw = parser->token_end - parser->offset;
    if (raw < 2 || parser->text[parser->offset] != '"' ||
        parser->text[parser->token_end - 1] != '"') {
        fail_here(parser, NRI_E_INTERNAL, "the parser is out of step with yajl");
        return NULL;
    }
    /* Every escape is longer than what it stands for. */
    if (raw - 2 != length && !check_escapes(parser))
        return NULL;
    char *copy = nri_arena_text(parser->arena, text, length);
    if (copy == NULL)
        no_room(parser);
    return copy;
}

/* ---- events ---- */

bool nri_json_on_null(struct nri_json_parser *parser)
{
    return begin_token(parser) && add_value(parser, NRI_JSON_NULL) != NULL && end_token(parser);
}

bool nri_json_on_bool(struct nri_json_parser *parser, bool boolean)
{
    struct nri_json *value = begin_token(parser) ? add_value(parser, NRI_JSON_BOOL) : NULL;
    if (value == NULL)
        return false;
    value->boolean = boolean;
    return end_token(parser);
}

bool nri_json_on_number(struct nri_json_parser *parser, const char *text, size_t length)
{
    struct nri_json *value = begin_token(parser) ? add_value(parser, NRI_JSON_NUMBER) : NULL;
    if (value == NULL)
        return false;
    value->u.text = nri_arena_text(parser->arena, text, length);
    if (value->u.text == NULL)
        return no_room(parser);
    return end_token(parser);
}

bool nri_json_on_string(struct nri_json_parser *parser, const char *text, size_t length)
{
    struct nri_json *value = begin_token(parser) ? add_value(parser, NRI_JSON_STRING) : NULL;
    if (value == NULL)
        return false;
    value->u.text = take_string(parser, text, length);
    return value->u.text != NULL && end_token(parser);
}

bool nri_json_on_key(struct nri_json_parser *parser, const char *text, size_t length)
{
    if (!begin_token(parser))
        return false;
    parser->key_offset = parser->offset;
    parser->key_line = parser->line;
    parser->key_column = parser->offset - parser->line_start + 1;
    parser->key = take_string(parser, text, length);
    return parser->key != NULL && end_token(parser);
}

bool nri_json_on_begin(struct nri_json_parser *parser, enum nri_json_type type)
{
    if (!begin_token(parser))
        return false;
    if (parser->depth == parser->limits.max_depth) {
        nri_json_fail(parser, parser->offset, NRI_E_LIMIT, "nested deeper than the limit of %zu",
                      parser->limits.max_depth);
        return false;
    }
    void *open = parser->open;
    bool grown = grow(parser, &open, &parser->open_capacity, parser->depth, sizeof *parser->open);
    parser->open = open;
    struct nri_json *value = grown ? add_value(parser, type) : NULL;
    if (value == NULL)
        return false;
    parser->open[parser->depth++] = (struct nri_json_open){value, parser->pending_count};
    return end_token(parser);
}

static bool refuse_duplicate(struct nri_json_parser *parser, const struct nri_json_pending *member)
{
    size_t length = nri_text_stored_length(member->key);
    int shown = (int)nri_utf8_cut(member->key, length > 100 ? 100 : length);
    nri_json_fail(parser, member->key_offset, NRI_E_SYNTAX,
                  "the key \"%.*s\" is in this object already", shown, member->key);
    return false;
}

/* Moves the values of the innermost container, one at least, from the pending ones to where they
 * stay. */
static bool close_list(struct nri_json_parser *parser, struct nri_json *container, size_t first)
{
    const struct nri_json_pending *pending = parser->pending + first;
    size_t count = parser->pending_count - first, duplicate;
    bool object = container->type == NRI_JSON_OBJECT;
    struct nri_json_list *list = nri_arena_zero(parser->arena, sizeof *list);
    if (list == NULL)
        return no_room(parser);
    list->count = list->capacity = count;
    list->seed[0] = parser->limits.seed[0];
    list->seed[1] = parser->limits.seed[1];
    list->values = nri_arena_array(parser->arena, count, sizeof *list->values);
    list->keys = object ? nri_arena_array(parser->arena, count, sizeof *list->keys) : NULL;
    if (list->values == NULL || (object && list->keys == NULL))
        return no_room(parser);
    for (size_t i = 0; i < count; i++) {
        list->values[i] = pending[i].value;
        if (object)
            list->keys[i] = pending[i].key;
    }
    container->u.list = list;
    if (!object)
        return true;
    if (!nri_json_index(parser->arena, list, &duplicate))
        return no_room(parser);
    return duplicate == NRI_JSON_NO_MEMBER || refuse_duplicate(parser, &pending[duplicate]);
}

bool nri_json_on_end(struct nri_json_parser *parser)
{
    if (!begin_token(parser))
        return false;
    const struct nri_json_open *open = &parser->open[--parser->depth];
    if (parser->pending_count != open->first && !close_list(parser, open->container, open->first))
        return false;
    parser->pending_count = open->first;
    return end_token(parser);
}
