/* SPDX-License-Identifier: Apache-2.0 */
#include "scan.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Of a value in a text about it. */
#define QUOTED 64

static void say(struct values *values, size_t line, size_t column, const char *format, va_list args)
{
    if (values->error[0] != '\0')
        return;
    int used = line == 0 ? snprintf(values->error, sizeof values->error,
                                    "annotation %s: ", values->annotation)
                         : snprintf(values->error, sizeof values->error,
                                    "annotation %s:%zu:%zu: ", values->annotation, line, column);
    if (used >= 0 && (size_t)used < sizeof values->error)
        vsnprintf(values->error + used, sizeof values->error - (size_t)used, format, args);
}

void values_fail(struct values *values, const value *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (at == NULL)
        say(values, 0, 0, format, args);
    else
        say(values, at->start_mark.line + 1, at->start_mark.column + 1, format, args);
    va_end(args);
}

void values_fail_at(struct values *values, yaml_mark_t mark, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(values, mark.line + 1, mark.column + 1, format, args);
    va_end(args);
}

bool values_load(struct values *values, const char *annotation, const char *text, size_t length)
{
    yaml_parser_t parser;
    memset(values, 0, sizeof *values);
    values->annotation = annotation;
    if (length > VALUES_MAX_BYTES) {
        values_fail(values, NULL, "%zu bytes long: at most %d are taken", length, VALUES_MAX_BYTES);
        return false;
    }
    if (!scan(values, text, length))
        return false;
    if (!yaml_parser_initialize(&parser)) {
        values_fail(values, NULL, "out of memory");
        return false;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    values->loaded = yaml_parser_load(&parser, &values->document) != 0;
    if (!values->loaded)
        scan_failed(values, &parser, text);
    yaml_parser_delete(&parser);
    return values->loaded;
}

void values_unload(struct values *values)
{
    if (values->loaded)
        yaml_document_delete(&values->document);
    values->loaded = false;
}

static bool is_null(const value *node)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    if (node->type != YAML_SCALAR_NODE || node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return false;
    for (size_t i = 0; i < sizeof nulls / sizeof nulls[0]; i++)
        if (strcmp((const char *)node->data.scalar.value, nulls[i]) == 0)
            return true;
    return false;
}

static const value *present(const value *node)
{
    return node == NULL || is_null(node) ? NULL : node;
}

const value *values_root(struct values *values)
{
    return values->error[0] != '\0' ? NULL
                                    : present(yaml_document_get_root_node(&values->document));
}

/* Whether `node` is of a type, and of a size that is taken; NULL is not. */
static bool is_a(struct values *values, const value *node, yaml_node_type_t type, const char *what,
                 size_t items)
{
    if (node == NULL || values->error[0] != '\0')
        return false;
    if (node->type != type) {
        values_fail(values, node, "must be %s", what);
        return false;
    }
    if (items > VALUES_MAX_ITEMS) {
        values_fail(values, node, "%zu entries: at most %d are taken", items, VALUES_MAX_ITEMS);
        return false;
    }
    return true;
}

static size_t list_length(const value *list)
{
    return (size_t)(list->data.sequence.items.top - list->data.sequence.items.start);
}

static size_t map_length(const value *map)
{
    return (size_t)(map->data.mapping.pairs.top - map->data.mapping.pairs.start);
}

size_t values_count(struct values *values, const value *list)
{
    const size_t count = list != NULL && list->type == YAML_SEQUENCE_NODE ? list_length(list) : 0;
    return is_a(values, list, YAML_SEQUENCE_NODE, "a list", count) ? count : 0;
}

const value *values_at(struct values *values, const value *list, size_t index)
{
    if (index >= values_count(values, list))
        return NULL;
    return present(
        yaml_document_get_node(&values->document, list->data.sequence.items.start[index]));
}

static const value *key_at(struct values *values, const value *map, size_t index)
{
    return yaml_document_get_node(&values->document, map->data.mapping.pairs.start[index].key);
}

static const char *name_at(struct values *values, const value *map, size_t index)
{
    return values_text(values, key_at(values, map, index));
}

static void check_twice(struct values *values, const value *map, size_t index)
{
    const char *name = name_at(values, map, index);
    for (size_t i = 0; i < index; i++)
        if (strcasecmp(name_at(values, map, i), name) == 0)
            values_fail(values, key_at(values, map, index), "\"%.*s\" stands twice", QUOTED, name);
}

size_t values_member_count(struct values *values, const value *map)
{
    const size_t count = map != NULL && map->type == YAML_MAPPING_NODE ? map_length(map) : 0;
    if (!is_a(values, map, YAML_MAPPING_NODE, "a mapping", count))
        return 0;
    for (size_t i = 0; i < count && values->error[0] == '\0'; i++)
        check_twice(values, map, i);
    return values->error[0] == '\0' ? count : 0;
}

const value *values_member_at(struct values *values, const value *map, size_t index,
                              const char **key)
{
    *key = name_at(values, map, index);
    return present(
        yaml_document_get_node(&values->document, map->data.mapping.pairs.start[index].value));
}

static void unknown_member(struct values *values, const value *key, const char *const *names,
                           size_t count)
{
    char known[256] = "";
    for (size_t i = 0; i < count; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i == 0 ? "" : ", ",
                 names[i]);
    values_fail(values, key, "unknown member \"%.*s\": there are %s", QUOTED,
                values_text(values, key), known);
}

void values_check_members(struct values *values, const value *map, const char *const *names,
                          size_t count)
{
    const size_t members = values_member_count(values, map);
    for (size_t i = 0; i < members; i++) {
        size_t found = 0;
        while (found < count && strcasecmp(name_at(values, map, i), names[found]) != 0)
            found++;
        if (found == count)
            unknown_member(values, key_at(values, map, i), names, count);
    }
}

const value *values_member(struct values *values, const value *map, const char *name)
{
    if (map == NULL || map->type != YAML_MAPPING_NODE ||
        !is_a(values, map, YAML_MAPPING_NODE, "a mapping", map_length(map)))
        return NULL;
    for (size_t i = 0; i < map_length(map) && values->error[0] == '\0'; i++)
        if (strcasecmp(name_at(values, map, i), name) == 0)
            return present(
                yaml_document_get_node(&values->document, map->data.mapping.pairs.start[i].value));
    return NULL;
}

const char *values_text(struct values *values, const value *scalar)
{
    if (scalar == NULL || values->error[0] != '\0')
        return "";
    if (scalar->type == YAML_SCALAR_NODE)
        return (const char *)scalar->data.scalar.value;
    values_fail(values, scalar, "must be a text");
    return "";
}

/* The base of an integer as YAML writes it; `digits` is set to its first digit. */
static int base_of(const char *text, const char **digits)
{
    *digits = text;
    if (text[0] != '0' || text[1] == '\0')
        return 10;
    *digits = text + 2;
    switch (text[1]) {
    case 'x':
        return 16;
    case 'o':
        return 8;
    case 'b':
        return 2;
    default:
        *digits = text + 1;
        return 8;
    }
}

/* Takes no sign and no blanks, as strtoull() would. */
static bool parse_digits(const char *text, uint64_t *number)
{
    const char *digits;
    const int base = base_of(text, &digits);
    char *end = NULL;
    if (strspn(digits, "0123456789abcdefABCDEF") == 0)
        return false;
    errno = 0;
    *number = strtoull(digits, &end, base);
    return errno == 0 && *end == '\0';
}

static bool parse_int(const char *text, int64_t *number)
{
    const bool negative = text[0] == '-';
    uint64_t size;
    if (!parse_digits(text + (negative || text[0] == '+' ? 1 : 0), &size))
        return false;
    if (size > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return false;
    *number = !negative ? (int64_t)size : size == 0 ? 0 : -(int64_t)(size - 1) - 1;
    return true;
}

bool values_int(struct values *values, const value *scalar, int64_t smallest, int64_t largest,
                int64_t *number)
{
    const char *text = values_text(values, scalar);
    *number = 0;
    if (scalar == NULL || values->error[0] != '\0')
        return false;
    if (parse_int(text, number) && *number >= smallest && *number <= largest)
        return true;
    values_fail(values, scalar, "\"%.*s\": must be an integer from %lld to %lld", QUOTED, text,
                (long long)smallest, (long long)largest);
    *number = 0;
    return false;
}

bool values_uint(struct values *values, const value *scalar, uint64_t *number)
{
    const char *text = values_text(values, scalar);
    *number = 0;
    if (scalar == NULL || values->error[0] != '\0')
        return false;
    if (parse_digits(text, number))
        return true;
    values_fail(values, scalar, "\"%.*s\": must be an integer from 0 to %llu", QUOTED, text,
                (unsigned long long)UINT64_MAX);
    *number = 0;
    return false;
}
