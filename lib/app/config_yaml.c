/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML: one document without aliases and with texts for keys, which is what JSON can say. An alias
 * is refused, because a few of them can stand for more than any memory holds.
 */
#include <string.h>

#include <yaml.h>

#include "config_error.h"
#include "config_tree.h"

struct yaml_reading {
    struct app_reader *reader;
    struct app_node *root;
    struct app_node *open[APP_TREE_MAX_DEPTH]; /* lists and objects that are not complete */
    size_t depth;
    const char *key; /* of the object opened last, whose value comes next; else NULL */
    size_t key_line;
    size_t documents;
    bool is_over;
};

static size_t line_of(const yaml_event_t *event)
{
    return event->start_mark.line + 1;
}

static int refuse(struct yaml_reading *reading, const yaml_event_t *event, const char *reason)
{
    return app_config_fail(reading->reader->text, "%.400s:%zu:%zu: %s", reading->reader->file,
                           line_of(event), event->start_mark.column + 1, reason);
}

static struct app_node *innermost(const struct yaml_reading *reading)
{
    return reading->depth > 0 ? reading->open[reading->depth - 1] : NULL;
}

static bool wants_key(const struct yaml_reading *reading)
{
    const struct app_node *node = innermost(reading);
    return node != NULL && node->type == APP_NODE_OBJECT && reading->key == NULL;
}

/* Adds a value where the reading stands. */
static struct app_node *add(struct yaml_reading *reading, const yaml_event_t *event,
                            enum app_node_type type, const char *text)
{
    size_t line = reading->key != NULL ? reading->key_line : line_of(event);
    struct app_node *node =
        app_tree_add(reading->reader, innermost(reading), type, reading->key, text, line);
    reading->key = NULL;
    if (node != NULL && reading->depth == 0)
        reading->root = node;
    return node;
}

static bool is_tag(const yaml_char_t *tag, const char *name)
{
    return strcmp((const char *)tag, name) == 0;
}

static const char *text_of(struct yaml_reading *reading, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (memchr(text, '\0', length) != NULL) {
        refuse(reading, event, "a text may not hold a NUL");
        return NULL;
    }
    const char *copy = app_region_text(reading->reader->region, text, length);
    if (copy == NULL)
        app_tree_out_of_memory(reading->reader);
    return copy;
}

static int read_key(struct yaml_reading *reading, const yaml_event_t *event)
{
    reading->key = text_of(reading, event);
    reading->key_line = line_of(event);
    return reading->key != NULL ? 0 : -1;
}

static int read_plain(struct yaml_reading *reading, const yaml_event_t *event, const char *plain)
{
    enum app_node_type type;
    bool boolean = false;
    const char *text = NULL, *reason = NULL;
    if (!app_tree_resolve(reading->reader->region, plain, strlen(plain), &type, &boolean, &text,
                          &reason))
        return reason != NULL ? refuse(reading, event, reason)
                              : app_tree_out_of_memory(reading->reader);
    struct app_node *node = add(reading, event, type, text);
    if (node == NULL)
        return -1;
    node->boolean = boolean;
    return 0;
}

static int read_scalar(struct yaml_reading *reading, const yaml_event_t *event)
{
    const yaml_char_t *tag = event->data.scalar.tag;
    bool is_text = !event->data.scalar.plain_implicit;
    if (tag != NULL) {
        is_text = is_tag(tag, "!") || is_tag(tag, YAML_STR_TAG);
        if (!is_text)
            return refuse(reading, event, "of the tags of scalars only !!str is taken");
    }
    if (wants_key(reading))
        return read_key(reading, event);
    const char *text = text_of(reading, event);
    if (text == NULL)
        return -1;
    if (!is_text)
        return read_plain(reading, event, text);
    return add(reading, event, APP_NODE_TEXT, text) != NULL ? 0 : -1;
}

static int open_node(struct yaml_reading *reading, const yaml_event_t *event,
                     enum app_node_type type, const yaml_char_t *tag, const char *tag_taken)
{
    if (tag != NULL && !is_tag(tag, "!") && !is_tag(tag, tag_taken))
        return refuse(reading, event,
                      "of the tags of lists and objects only !!seq and !!map are "
                      "taken, each for its own");
    if (wants_key(reading))
        return refuse(reading, event, "a key must be a text, not a list or an object");
    if (reading->depth == APP_TREE_MAX_DEPTH)
        return refuse(reading, event, "lists and objects are nested more than 32 deep");
    struct app_node *node = add(reading, event, type, NULL);
    if (node == NULL)
        return -1;
    reading->open[reading->depth++] = node;
    return 0;
}

static int close_node(struct yaml_reading *reading)
{
    struct app_node *node = reading->open[--reading->depth];
    return node != NULL && node->type == APP_NODE_OBJECT ? app_tree_close(reading->reader, node)
                                                         : 0;
}

static int take(struct yaml_reading *reading, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (reading->documents++ > 0)
            return refuse(reading, event, "a second document begins: only one is taken");
        return 0;
    case YAML_SCALAR_EVENT:
        return read_scalar(reading, event);
    case YAML_SEQUENCE_START_EVENT:
        return open_node(reading, event, APP_NODE_LIST, event->data.sequence_start.tag,
                         YAML_SEQ_TAG);
    case YAML_MAPPING_START_EVENT:
        return open_node(reading, event, APP_NODE_OBJECT, event->data.mapping_start.tag,
                         YAML_MAP_TAG);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_node(reading);
    case YAML_ALIAS_EVENT:
        return refuse(reading, event, "an alias is not taken: write out what it stands for");
    case YAML_STREAM_END_EVENT:
        reading->is_over = true;
        return 0;
    default:
        return 0;
    }
}

/* The parser reads ahead, so its own mark is not where a bad byte is. */
static int encoding_error(const struct app_reader *reader, const yaml_parser_t *parser,
                          const char *bytes, size_t length)
{
    size_t line = 1, column = 1;
    for (size_t i = 0; i < parser->problem_offset && i < length; i++) {
        column = bytes[i] == '\n' ? 1 : column + 1;
        line += bytes[i] == '\n';
    }
    return app_config_fail(reader->text, "%.400s:%zu:%zu: %s", reader->file, line, column,
                           parser->problem);
}

/* The parser's own words, with the place that it complains of. */
static int syntax_error(const struct app_reader *reader, const yaml_parser_t *parser,
                        const char *bytes, size_t length)
{
    if (parser->error == YAML_MEMORY_ERROR || parser->problem == NULL)
        return app_config_fail(reader->text, "%.400s: out of memory", reader->file);
    if (parser->error == YAML_READER_ERROR)
        return encoding_error(reader, parser, bytes, length);
    return app_config_fail(reader->text, "%.400s:%zu:%zu: %s%s%s", reader->file,
                           parser->problem_mark.line + 1, parser->problem_mark.column + 1,
                           parser->problem, parser->context != NULL ? ", " : "",
                           parser->context != NULL ? parser->context : "");
}

static int read_events(struct yaml_reading *reading, yaml_parser_t *parser, const char *bytes,
                       size_t length)
{
    while (!reading->is_over) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event))
            return syntax_error(reading->reader, parser, bytes, length);
        int result = take(reading, &event);
        yaml_event_delete(&event);
        if (result != 0)
            return result;
    }
    return 0;
}

int app_tree_read_yaml(struct app_reader *reader, const char *bytes, size_t length,
                       struct app_node **root)
{
    struct yaml_reading reading = {.reader = reader};
    yaml_parser_t parser;
    if (length > APP_TREE_MAX_BYTES)
        return app_config_fail(reader->text, "%.400s: more than %zu bytes", reader->file,
                               APP_TREE_MAX_BYTES);
    if (!yaml_parser_initialize(&parser))
        return app_tree_out_of_memory(reader);
    /* Without this it would take UTF-16 too, for which lines and columns are wrong. */
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, length);
    int result = read_events(&reading, &parser, bytes, length);
    yaml_parser_delete(&parser);
    *root = reading.root;
    return result;
}
