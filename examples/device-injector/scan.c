/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser's events come one by one, so that the scan ends at the first that is too much. A
 * loaded document would be too late: the parser keeps something of each open list and mapping, and
 * looks through all of it for each token.
 */
#include "scan.h"

#include <string.h>

struct extent {
    size_t depth, nodes, anchors, documents;
};

/* libyaml knows only the offset of a byte that cannot be read. */
static yaml_mark_t mark_of(const char *text, size_t offset)
{
    yaml_mark_t mark = {0};
    for (size_t i = 0; i < offset; i++) {
        mark.column = text[i] == '\n' ? 0 : mark.column + 1;
        mark.line += text[i] == '\n';
    }
    return mark;
}

void scan_failed(struct values *values, const yaml_parser_t *parser, const char *text)
{
    const char *problem = parser->problem == NULL ? "unknown error" : parser->problem;
    if (parser->error == YAML_MEMORY_ERROR)
        values_fail(values, NULL, "out of memory");
    else if (parser->error == YAML_READER_ERROR)
        values_fail_at(values, mark_of(text, parser->problem_offset), "not YAML: %s", problem);
    else
        values_fail_at(values, parser->problem_mark, "not YAML: %s", problem);
}

static bool has_nul(const yaml_event_t *event)
{
    return event->type == YAML_SCALAR_EVENT &&
           strlen((const char *)event->data.scalar.value) != event->data.scalar.length;
}

static bool has_anchor(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return event->data.scalar.anchor != NULL;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor != NULL;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor != NULL;
    default:
        return false;
    }
}

/* A scalar, a list, a mapping or an alias. */
static void scan_node(struct values *values, struct extent *extent, const yaml_event_t *event)
{
    extent->nodes++;
    if (event->type == YAML_SEQUENCE_START_EVENT || event->type == YAML_MAPPING_START_EVENT)
        extent->depth++;
    if (has_anchor(event))
        extent->anchors++;
    if (extent->documents > 1)
        values_fail_at(values, event->start_mark, "a second document: there must be one");
    else if (extent->depth > VALUES_MAX_DEPTH)
        values_fail_at(values, event->start_mark,
                       "%d lists and mappings in one another: at most %d are taken",
                       VALUES_MAX_DEPTH + 1, VALUES_MAX_DEPTH);
    else if (extent->nodes > VALUES_MAX_NODES)
        values_fail_at(values, event->start_mark,
                       "more than %d values: at most that many are taken", VALUES_MAX_NODES);
    else if (extent->anchors > VALUES_MAX_ANCHORS)
        values_fail_at(values, event->start_mark,
                       "more than %d anchors: at most that many are taken", VALUES_MAX_ANCHORS);
    else if (has_nul(event))
        values_fail_at(values, event->start_mark, "must not contain a NUL");
}

static void scan_event(struct values *values, struct extent *extent, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        extent->documents++;
        break;
    case YAML_SCALAR_EVENT:
    case YAML_ALIAS_EVENT:
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        scan_node(values, extent, event);
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        extent->depth--;
        break;
    default:
        break;
    }
}

bool scan(struct values *values, const char *text, size_t length)
{
    yaml_parser_t parser;
    struct extent extent = {0};
    bool end = false;
    if (!yaml_parser_initialize(&parser)) {
        values_fail(values, NULL, "out of memory");
        return false;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    while (!end && values->error[0] == '\0') {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            scan_failed(values, &parser, text);
            break;
        }
        scan_event(values, &extent, &event);
        end = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return values->error[0] == '\0';
}
