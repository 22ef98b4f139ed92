/* SPDX-License-Identifier: Apache-2.0 */
#include "config_field.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <nri/cpuset.h>
#include <nri/document.h>
#include <nri/quantity.h>

#include "config.h"
#include "config_error.h"

struct reading {
    struct app_reader *reader;
    const struct nri_app_field *field;
};

/* ---- errors ---- */

/* What is there instead. A secret's value is shown nowhere. */
static const char *found(char out[APP_QUOTE * 2], const struct nri_app_field *field,
                         const struct app_node *node)
{
    char quote[APP_QUOTE];
    const char *name = app_node_type_name(node->type);
    bool is_shown = field->secret == 0;
    if (node->type == APP_NODE_TEXT && is_shown)
        snprintf(out, APP_QUOTE * 2, "the text %s", app_quote(quote, node->text));
    else if (node->type == APP_NODE_NUMBER && is_shown)
        snprintf(out, APP_QUOTE * 2, "the number %.80s", node->text);
    else if (node->type == APP_NODE_BOOL && is_shown)
        snprintf(out, APP_QUOTE * 2, "%s", node->boolean ? "true" : "false");
    else
        snprintf(out, APP_QUOTE * 2, "%s", name);
    return out;
}

static int wrong_type(struct reading *reading, const struct app_node *node, const char *hint)
{
    char out[APP_QUOTE * 2];
    return app_config_refuse(reading->reader->text, node, reading->field->name,
                             "must be %s, not %s%s", app_type_find(reading->field->type)->name,
                             found(out, reading->field, node), hint);
}

/* "VALUE REASON". */
static int wrong_value(struct reading *reading, const struct app_node *node, const char *reason)
{
    char quote[APP_QUOTE];
    const char *shown = node->text;
    if (reading->field->secret != 0)
        shown = "the value, a secret,";
    else if (node->type == APP_NODE_TEXT)
        shown = app_quote(quote, node->text);
    return app_config_refuse(reading->reader->text, node, reading->field->name, "%.100s %s", shown,
                             reason);
}

static int out_of_memory(struct reading *reading)
{
    return app_tree_out_of_memory(reading->reader);
}

/* ---- one function a type ---- */

static int read_bool(struct reading *reading, const struct app_node *node, union app_value *value)
{
    static const char *const words[] = {"yes", "no", "on", "off", "y", "n"};
    if (node->type == APP_NODE_BOOL) {
        value->boolean = node->boolean;
        return 0;
    }
    if (node->type == APP_NODE_TEXT) {
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            if (strcmp(node->text, words[i]) == 0)
                return wrong_type(reading, node, ", which is no bool in YAML 1.2");
        }
        if (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0)
            return wrong_type(reading, node, ": leave out the quotes");
    }
    return wrong_type(reading, node, "");
}

/* The JSON reader knows how to read a number in any locale, and which of them are whole. */
static int parse_number(struct reading *reading, const struct app_node *node, int64_t *integer,
                        bool *is_integer, double *number)
{
    nri_document *document = NULL;
    int code = nri_document_parse(node->text, strlen(node->text), NULL, &document, NULL);
    if (code == NRI_E_NOMEM)
        return out_of_memory(reading);
    const nri_value *root = nri_document_root(document);
    *is_integer = nri_value_int64(root, integer);
    bool fits = nri_value_double(root, number);
    nri_document_free(document);
    return fits ? 0 : wrong_value(reading, node, "is out of range");
}

static int read_integer(struct reading *reading, const struct app_node *node,
                        union app_value *value)
{
    double number = 0;
    bool is_integer = false;
    if (node->type != APP_NODE_NUMBER)
        return wrong_type(reading, node, "");
    if (parse_number(reading, node, &value->integer, &is_integer, &number) != 0)
        return -1;
    if (is_integer)
        return 0;
    if (number >= 9223372036854775807.0 || number <= -9223372036854775808.0)
        return wrong_value(reading, node, "is out of range: it does not fit into 64 bits");
    return wrong_type(reading, node, "");
}

static int read_number(struct reading *reading, const struct app_node *node, union app_value *value)
{
    int64_t integer;
    bool is_integer;
    if (node->type != APP_NODE_NUMBER)
        return wrong_type(reading, node, "");
    return parse_number(reading, node, &integer, &is_integer, &value->number);
}

static int read_text(struct reading *reading, const struct app_node *node, union app_value *value)
{
    if (node->type == APP_NODE_NUMBER || node->type == APP_NODE_BOOL)
        return wrong_type(reading, node, ": write quotes around it");
    if (node->type != APP_NODE_TEXT)
        return wrong_type(reading, node, "");
    value->text = node->text;
    return 0;
}

static int read_duration(struct reading *reading, const struct app_node *node,
                         union app_value *value)
{
    if (node->type == APP_NODE_NUMBER)
        return wrong_type(reading, node, ": write ns, us, ms, s, m or h behind it, and quotes");
    if (node->type != APP_NODE_TEXT)
        return wrong_type(reading, node, "");
    const char *reason = app_duration_parse(node->text, &value->integer);
    return reason == NULL ? 0 : wrong_value(reading, node, reason);
}

static int read_bytes(struct reading *reading, const struct app_node *node, union app_value *value)
{
    if (node->type != APP_NODE_TEXT && node->type != APP_NODE_NUMBER)
        return wrong_type(reading, node, "");
    switch (nri_quantity_parse(node->text, &value->integer, NULL)) {
    case 0:
        break;
    case NRI_E_RANGE:
        return wrong_value(reading, node, "is out of range: it does not fit into 64 bits");
    case NRI_E_NOMEM:
        return out_of_memory(reading);
    default:
        return wrong_value(
            reading, node,
            "is no quantity: write digits, and k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, "
            "Ei or nothing behind them");
    }
    if (value->integer < 0)
        return wrong_value(reading, node, "is out of range: at least 0");
    if (!app_quantity_is_whole(node->text))
        return wrong_value(reading, node, "is no whole number of bytes");
    return 0;
}

static int write_cpus(struct reading *reading, const nri_cpuset *set, union app_value *value)
{
    size_t size = nri_cpuset_format(set, NULL, 0) + 1;
    char *text = app_region_take(reading->reader->region, size);
    if (text == NULL)
        return out_of_memory(reading);
    nri_cpuset_format(set, text, size);
    value->text = text;
    return 0;
}

/* A list of one CPU is a number in YAML. */
static int read_cpus(struct reading *reading, const struct app_node *node, union app_value *value)
{
    nri_cpuset *set = NULL;
    nri_error *error = NULL;
    int result = -1;
    if (node->type != APP_NODE_TEXT && node->type != APP_NODE_NUMBER)
        return wrong_type(reading, node, "");
    int code = nri_cpuset_new(&set, NULL);
    if (code == 0)
        code = nri_cpuset_parse(set, node->text, &error);
    if (code == 0)
        result = write_cpus(reading, set, value);
    else if (code == NRI_E_NOMEM || nri_error_get_code(error) == NRI_E_NOMEM)
        out_of_memory(reading);
    else if (reading->field->secret != 0)
        wrong_value(reading, node, "is no CPU list");
    else
        app_config_refuse(reading->reader->text, node, reading->field->name, "%s",
                          nri_error_get_text(error));
    nri_error_free(error);
    nri_cpuset_free(set);
    return result;
}

/* The names, as many as there is room for. */
static void list_choices(const char *const *choices, char *list, size_t size)
{
    static const char more[] = ", ... and others";
    size_t used = 0;
    for (size_t i = 0; choices[i] != NULL; i++) {
        const char *separator = i == 0 ? "" : choices[i + 1] == NULL ? " or " : ", ";
        if (used + strlen(separator) + strlen(choices[i]) + 2 + sizeof more > size) {
            snprintf(list + used, size - used, "%s", more);
            return;
        }
        used += (size_t)snprintf(list + used, size - used, "%s\"%s\"", separator, choices[i]);
    }
}

static int wrong_choice(struct reading *reading, const struct app_node *node)
{
    char list[400] = "", out[APP_QUOTE * 2];
    list_choices(reading->field->choices, list, sizeof list);
    return app_config_refuse(reading->reader->text, node, reading->field->name,
                             "must be %s, not %s", list, found(out, reading->field, node));
}

static int read_choice(struct reading *reading, const struct app_node *node, union app_value *value)
{
    const char *const *choices = reading->field->choices;
    if (node->type != APP_NODE_TEXT)
        return wrong_choice(reading, node);
    for (int32_t i = 0; choices[i] != NULL; i++) {
        if (strcmp(choices[i], node->text) == 0) {
            value->choice = i;
            return 0;
        }
    }
    return wrong_choice(reading, node);
}

static int wrong_element(struct reading *reading, const struct app_node *node, size_t index)
{
    char out[APP_QUOTE * 2];
    bool is_quotable = node->type == APP_NODE_NUMBER || node->type == APP_NODE_BOOL;
    return app_config_refuse(
        reading->reader->text, node, reading->field->name, "element %zu must be a text, not %s%s",
        index + 1, found(out, reading->field, node), is_quotable ? ": write quotes around it" : "");
}

static int read_texts(struct reading *reading, const struct app_node *node, union app_value *value)
{
    size_t count = 0;
    if (node->type != APP_NODE_LIST)
        return wrong_type(reading, node, "");
    const char **texts = app_region_take_many(reading->reader->region, node->count, sizeof *texts);
    if (texts == NULL)
        return out_of_memory(reading);
    for (const struct app_node *element = node->first; element != NULL; element = element->next) {
        if (element->type != APP_NODE_TEXT)
            return wrong_element(reading, element, count);
        texts[count++] = element->text;
    }
    value->texts = (struct nri_app_texts){texts, count};
    return 0;
}

static int read_document(struct reading *reading, const struct app_node *node,
                         union app_value *value)
{
    size_t size = app_node_write(node, NULL, 0) + 1;
    char *text = app_region_take(reading->reader->region, size);
    if (text == NULL)
        return out_of_memory(reading);
    app_node_write(node, text, size);
    value->text = text;
    return 0;
}

/* ---- by type ---- */

typedef int read_function(struct reading *reading, const struct app_node *node,
                          union app_value *value);

static const struct {
    struct app_type type;
    read_function *read;
} types[] = {
    [NRI_APP_BOOL] = {{"true or false", sizeof(bool), false, true}, read_bool},
    [NRI_APP_INTEGER] = {{"a whole number", sizeof(int64_t), true, true}, read_integer},
    [NRI_APP_NUMBER] = {{"a number", sizeof(double), true, true}, read_number},
    [NRI_APP_TEXT] = {{"a text", sizeof(const char *), false, false}, read_text},
    [NRI_APP_DURATION] = {{"a duration such as \"1.5s\"", sizeof(int64_t), true, false},
                          read_duration},
    [NRI_APP_BYTES] = {{"a quantity of bytes such as \"512Mi\"", sizeof(int64_t), true, false},
                       read_bytes},
    [NRI_APP_CPUS] = {{"a CPU list such as \"0-3,8\"", sizeof(const char *), false, false},
                      read_cpus},
    [NRI_APP_CHOICE] = {{"a choice", sizeof(int32_t), false, false}, read_choice},
    [NRI_APP_TEXTS] = {{"a list of texts", sizeof(struct nri_app_texts), false, true}, read_texts},
    [NRI_APP_DOCUMENT] = {{"anything", sizeof(const char *), false, true}, read_document},
};

const struct app_type *app_type_find(int32_t type)
{
    if (type < NRI_APP_BOOL || type > NRI_APP_DOCUMENT)
        return NULL;
    return &types[type].type;
}

/* ---- minimum and maximum ---- */

static int read_limit(struct reading *reading, const char *written, const char *what,
                      union app_value *value)
{
    const struct app_node *node = app_field_node(reading->reader->region, reading->field, written,
                                                 what, reading->reader->text);
    return node == NULL ? -1 : types[reading->field->type].read(reading, node, value);
}

static bool is_below(const struct nri_app_field *field, const union app_value *a,
                     const union app_value *b)
{
    return field->type == NRI_APP_NUMBER ? a->number < b->number : a->integer < b->integer;
}

static int out_of_range(struct reading *reading, const struct app_node *node)
{
    const struct nri_app_field *field = reading->field;
    char reason[256];
    if (field->minimum == NULL)
        snprintf(reason, sizeof reason, "is out of range: at most %.80s", field->maximum);
    else if (field->maximum == NULL)
        snprintf(reason, sizeof reason, "is out of range: at least %.80s", field->minimum);
    else
        snprintf(reason, sizeof reason, "is out of range: %.80s to %.80s", field->minimum,
                 field->maximum);
    return wrong_value(reading, node, reason);
}

static int check_range(struct reading *reading, const struct app_node *node,
                       const union app_value *value)
{
    const struct nri_app_field *field = reading->field;
    union app_value limit;
    if (field->minimum != NULL) {
        if (read_limit(reading, field->minimum, "minimum", &limit) != 0)
            return -1;
        if (is_below(field, value, &limit))
            return out_of_range(reading, node);
    }
    if (field->maximum != NULL) {
        if (read_limit(reading, field->maximum, "maximum", &limit) != 0)
            return -1;
        if (is_below(field, &limit, value))
            return out_of_range(reading, node);
    }
    return 0;
}

int app_field_read(struct app_reader *reader, const struct nri_app_field *field,
                   const struct app_node *node, union app_value *value)
{
    struct reading reading = {reader, field};
    if (types[field->type].read(&reading, node, value) != 0)
        return -1;
    return check_range(&reading, node, value);
}
