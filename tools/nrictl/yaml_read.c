/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libyaml finds the events, and a document of lib/json is built of them. It counts characters; the
 * places of a document are lines and bytes, so the text is walked along with the events.
 */
#include "yaml_read.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "yaml_scalar.h"
#include "json/document.h"

#define MOST_DEPTH    64
#define MOST_BYTES    ((size_t)16 << 20)
#define MOST_VALUES   1000000
#define NUMBER_LENGTH 400

/* A place that events move along the text: bytes, found from characters. */
struct cursor {
    size_t offset, index;    /* the same place in bytes and in characters */
    size_t line, line_start; /* of the last place asked for; where its line begins */
};

/* A list or object that is not closed yet. */
struct level {
    struct nri_json *value;
    char *key; /* of an object: whose value is due; NULL: a key is due */
    size_t key_line, key_column;
};

struct reader {
    yaml_parser_t parser;
    struct nri_arena *arena;
    const char *text, *name;
    size_t length;
    struct nri_json_limits limits;
    struct nri_error *error;
    struct cursor cursor;
    struct level levels[MOST_DEPTH];
    size_t depth, values;
    struct nri_json *document;
    bool ended;
};

/* ---- places ---- */

static size_t width(unsigned char byte)
{
    return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

/* Lines and columns from 1. Marks come in the order of the text, but for the one of an error. */
static void find_place(struct reader *reader, const yaml_mark_t *mark, size_t *line, size_t *column)
{
    struct cursor *cursor = &reader->cursor;
    if (mark->index < cursor->index)
        *cursor = (struct cursor){.line = SIZE_MAX};
    while (cursor->index < mark->index && cursor->offset < reader->length) {
        cursor->offset += width((unsigned char)reader->text[cursor->offset]);
        cursor->index++;
    }
    if (cursor->offset > reader->length)
        cursor->offset = reader->length;
    if (mark->line != cursor->line) {
        size_t start = cursor->offset;
        for (size_t back = mark->column; back > 0 && start > 0; back--) {
            do {
                start--;
            } while (start > 0 && ((unsigned char)reader->text[start] & 0xc0) == 0x80);
        }
        cursor->line = mark->line;
        cursor->line_start = start;
    }
    *line = mark->line + 1;
    *column = cursor->offset - cursor->line_start + 1;
}

static int refuse(struct reader *reader, const yaml_mark_t *mark, int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static int refuse(struct reader *reader, const yaml_mark_t *mark, int code, const char *format, ...)
{
    char text[NRI_ERROR_TEXT_SIZE];
    size_t line, column;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    find_place(reader, mark, &line, &column);
    return nri_error_set_at(reader->error, code, reader->name, line, column, "%s", text);
}

static int refuse_memory(struct reader *reader, const yaml_mark_t *mark)
{
    return refuse(reader, mark, reader->arena->failure == NRI_E_LIMIT ? NRI_E_LIMIT : NRI_E_NOMEM,
                  "the document needs more memory than there is");
}

/* What libyaml found wrong. */
static int refuse_syntax(struct reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    const char *problem = parser->problem != NULL ? parser->problem : "no YAML";
    if (parser->error == YAML_MEMORY_ERROR)
        return nri_error_set(reader->error, NRI_E_NOMEM, "%s: out of memory", reader->name);
    if (parser->error == YAML_READER_ERROR)
        return nri_error_set(reader->error, NRI_E_UTF8, "%s: byte %zu: %s", reader->name,
                             parser->problem_offset + 1, problem);
    if (parser->context != NULL)
        return refuse(reader, &parser->problem_mark, NRI_E_SYNTAX, "%s, %s (line %zu)", problem,
                      parser->context, parser->context_mark.line + 1);
    return refuse(reader, &parser->problem_mark, NRI_E_SYNTAX, "%s", problem);
}

/* ---- values ---- */

/* Puts a value where it belongs: into the list or object that is open. */
static int add(struct reader *reader, const yaml_mark_t *mark, struct nri_json *value)
{
    struct level *level = reader->depth > 0 ? &reader->levels[reader->depth - 1] : NULL;
    if (value == NULL)
        return refuse_memory(reader, mark);
    if (++reader->values > reader->limits.max_values)
        return refuse(reader, mark, NRI_E_LIMIT, "more values than the limit of %zu",
                      reader->limits.max_values);
    find_place(reader, mark, &value->line, &value->column);
    if (level == NULL) {
        reader->document = value;
        return 0;
    }
    if (nri_json_type(level->value) == NRI_JSON_ARRAY)
        return nri_json_append(reader->arena, level->value, value) == 0
                   ? 0
                   : refuse_memory(reader, mark);
    value->key_line = level->key_line;
    value->key_column = level->key_column;
    const int rc = nri_json_set(reader->arena, level->value, level->key, value);
    level->key = NULL;
    return rc == 0 ? 0 : refuse_memory(reader, mark);
}

static bool key_is_due(const struct reader *reader)
{
    const struct level *level = reader->depth > 0 ? &reader->levels[reader->depth - 1] : NULL;
    return level != NULL && nri_json_type(level->value) == NRI_JSON_OBJECT && level->key == NULL;
}

static int take_key(struct reader *reader, const yaml_event_t *event)
{
    struct level *level = &reader->levels[reader->depth - 1];
    const char *text = (const char *)event->data.scalar.value;
    const size_t length = event->data.scalar.length;
    if (memchr(text, '\0', length) != NULL)
        return refuse(reader, &event->start_mark, NRI_E_UTF8, "a key may not hold a NUL");
    if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && strcmp(text, "<<") == 0)
        return refuse(reader, &event->start_mark, NRI_E_SYNTAX,
                      "merge keys are not read: each object has to say all of its own");
    level->key = nri_arena_text(reader->arena, text, length);
    if (level->key == NULL)
        return refuse_memory(reader, &event->start_mark);
    find_place(reader, &event->start_mark, &level->key_line, &level->key_column);
    const struct nri_json *before = nri_json_get(level->value, level->key);
    if (before != NULL)
        return refuse(reader, &event->start_mark, NRI_E_SYNTAX,
                      "the key \"%.100s\" is there already, in line %zu", level->key,
                      nri_json_key_line(before));
    return 0;
}

/* Whether it is one that a value may have: none, "!", or !!str of a scalar. *text: it is a text. */
static bool tag_is_fine(const char *tag, bool of_scalar, bool *text)
{
    *text = tag != NULL;
    return tag == NULL || strcmp(tag, "!") == 0 || (of_scalar && strcmp(tag, YAML_STR_TAG) == 0);
}

static int check_marks(struct reader *reader, const yaml_event_t *event, const char *anchor,
                       const char *tag, bool of_scalar, bool *text)
{
    if (anchor != NULL)
        return refuse(reader, &event->start_mark, NRI_E_SYNTAX,
                      "anchors (&%.60s) and aliases are not read: write the value where it is used",
                      anchor);
    if (!tag_is_fine(tag, of_scalar, text))
        return refuse(reader, &event->start_mark, NRI_E_SYNTAX,
                      "the tag %.100s is not read; a text may have quotes instead", tag);
    return 0;
}

static struct nri_json *make_number(struct nri_arena *arena, const char *text)
{
    struct nri_json *value = nri_json_blank(arena, NRI_JSON_NUMBER);
    if (value == NULL || (value->u.text = nri_arena_text(arena, text, strlen(text))) == NULL)
        return NULL;
    return value;
}

static int take_scalar(struct reader *reader, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value, *why = "";
    const size_t length = event->data.scalar.length;
    enum nri_json_type type = NRI_JSON_STRING;
    char number[NUMBER_LENGTH];
    bool boolean = false, is_text = false;
    struct nri_json *value;
    int rc = check_marks(reader, event, (const char *)event->data.scalar.anchor,
                         (const char *)event->data.scalar.tag, true, &is_text);
    if (rc != 0)
        return rc;
    if (key_is_due(reader))
        return take_key(reader, event);
    if (memchr(text, '\0', length) != NULL)
        return refuse(reader, &event->start_mark, NRI_E_UTF8, "a text may not hold a NUL");
    if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !is_text)
        rc = yaml_scalar(text, length, &type, &boolean, number, sizeof number, &why);
    if (rc != 0)
        return refuse(reader, &event->start_mark, rc, "%.60s: %s", text, why);
    if (type == NRI_JSON_STRING)
        value = nri_json_new_string(reader->arena, text, length);
    else if (type == NRI_JSON_NUMBER)
        value = make_number(reader->arena, number);
    else if (type == NRI_JSON_BOOL)
        value = nri_json_new_bool(reader->arena, boolean);
    else
        value = nri_json_new(reader->arena, NRI_JSON_NULL);
    return add(reader, &event->start_mark, value);
}

static int open_level(struct reader *reader, const yaml_event_t *event, enum nri_json_type type)
{
    const bool list = type == NRI_JSON_ARRAY;
    bool text;
    int rc = check_marks(
        reader, event,
        (const char *)(list ? event->data.sequence_start.anchor : event->data.mapping_start.anchor),
        (const char *)(list ? event->data.sequence_start.tag : event->data.mapping_start.tag),
        false, &text);
    if (rc != 0)
        return rc;
    if (key_is_due(reader))
        return refuse(reader, &event->start_mark, NRI_E_SYNTAX, "a key is a text, not %s",
                      list ? "a list" : "an object");
    if (reader->depth >= reader->limits.max_depth)
        return refuse(reader, &event->start_mark, NRI_E_LIMIT,
                      "nested deeper than the limit of %zu", reader->limits.max_depth);
    struct nri_json *value = nri_json_new(reader->arena, type);
    rc = add(reader, &event->start_mark, value);
    if (rc == 0)
        reader->levels[reader->depth++] = (struct level){.value = value};
    return rc;
}

/* ---- the events ---- */

static int take_document(struct reader *reader, const yaml_event_t *event)
{
    if (reader->document == NULL)
        return 0;
    return refuse(reader, &event->start_mark, NRI_E_SYNTAX,
                  "a second document begins: a file has one");
}

static int take_event(struct reader *reader, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return take_scalar(reader, event);
    case YAML_SEQUENCE_START_EVENT:
        return open_level(reader, event, NRI_JSON_ARRAY);
    case YAML_MAPPING_START_EVENT:
        return open_level(reader, event, NRI_JSON_OBJECT);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        reader->depth--;
        return 0;
    case YAML_ALIAS_EVENT:
        return refuse(reader, &event->start_mark, NRI_E_SYNTAX,
                      "aliases (*%.60s) are not read: write the value where it is used",
                      (const char *)event->data.alias.anchor);
    case YAML_DOCUMENT_START_EVENT:
        return take_document(reader, event);
    case YAML_STREAM_END_EVENT:
        reader->ended = true;
        return reader->document != NULL
                   ? 0
                   : nri_error_set_at(reader->error, NRI_E_SYNTAX, reader->name, 1, 1,
                                      "the file has nothing in it");
    default:
        return 0;
    }
}

static void take_limits(struct reader *reader, const struct nri_json_limits *limits)
{
    if (limits != NULL)
        reader->limits = *limits;
    struct nri_json_limits *own = &reader->limits;
    if (own->max_depth == 0 || own->max_depth > MOST_DEPTH)
        own->max_depth = MOST_DEPTH;
    if (own->max_bytes == 0)
        own->max_bytes = MOST_BYTES;
    if (own->max_values == 0)
        own->max_values = MOST_VALUES;
}

int yaml_read(struct nri_arena *arena, const char *text, size_t length,
              const struct nri_json_limits *limits, const char *name, struct nri_json **document,
              struct nri_error *error)
{
    struct reader reader = {.arena = arena,
                            .text = text,
                            .length = length,
                            .name = name != NULL ? name : "YAML",
                            .error = error,
                            .cursor = {.line = SIZE_MAX}};
    int rc = 0;
    take_limits(&reader, limits);
    if (length > reader.limits.max_bytes)
        return nri_error_set(error, NRI_E_LIMIT, "%s: longer than the limit of %zu bytes",
                             reader.name, reader.limits.max_bytes);
    if (yaml_parser_initialize(&reader.parser) == 0)
        return nri_error_set(error, NRI_E_NOMEM, "%s: out of memory", reader.name);
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, length);
    while (rc == 0 && !reader.ended) {
        yaml_event_t event;
        if (yaml_parser_parse(&reader.parser, &event) == 0) {
            rc = refuse_syntax(&reader);
            break;
        }
        rc = take_event(&reader, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&reader.parser);
    if (rc == 0)
        *document = reader.document;
    return rc;
}
