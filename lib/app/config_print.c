/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration as YAML, which app_config_read() takes again, but for secrets. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config_values.h"

struct printing {
    const struct app_config *config;
    FILE *out;
};

/* Help and file names in a comment: nothing that could end it. */
static void print_comment(const struct printing *printing, int indent, const char *before,
                          const char *text)
{
    fprintf(printing->out, "%*s# %s", indent, "", before);
    for (; *text != '\0'; text++)
        fputc((unsigned char)*text < 0x20 || *text == 0x7F ? ' ' : *text, printing->out);
}

/* A text in quotes, in pieces: texts are as long as they like. */
static void print_text(const struct printing *printing, const char *text)
{
    char piece[7 * 64];
    fputc('"', printing->out);
    while (*text != '\0') {
        char part[64];
        size_t length = strnlen(text, sizeof part - 1);
        while (text[length] != '\0' && length > 1 && ((unsigned char)text[length] & 0xC0) == 0x80)
            length--;
        memcpy(part, text, length);
        part[length] = '\0';
        size_t written = app_text_write(part, piece, sizeof piece);
        fwrite(piece + 1, 1, written - 2, printing->out);
        text += length;
    }
    fputc('"', printing->out);
}

static void print_texts(const struct printing *printing, const struct nri_app_texts *texts)
{
    fputc('[', printing->out);
    for (size_t i = 0; i < texts->count; i++) {
        fputs(i > 0 ? ", " : "", printing->out);
        print_text(printing, texts->texts[i]);
    }
    fputc(']', printing->out);
}

/* What is kept as a number only is shown as it was written, with its unit. */
static void print_written(const struct printing *printing, const struct app_node *node,
                          const char *zero)
{
    if (node == NULL)
        fputs(zero, printing->out);
    else if (node->type == APP_NODE_TEXT)
        print_text(printing, node->text);
    else
        fputs(node->text, printing->out);
}

static void print_value(const struct printing *printing, size_t index)
{
    const struct nri_app_field *field = &printing->config->table.fields[index];
    const struct app_node *node = printing->config->nodes[index];
    union app_value value;
    app_config_get(printing->config, index, &value);
    switch (field->type) {
    case NRI_APP_BOOL:
        fputs(value.boolean ? "true" : "false", printing->out);
        break;
    case NRI_APP_INTEGER:
        fprintf(printing->out, "%" PRId64, value.integer);
        break;
    case NRI_APP_NUMBER:
    case NRI_APP_BYTES:
        print_written(printing, node, "0");
        break;
    case NRI_APP_DURATION:
        print_written(printing, node, "\"0s\"");
        break;
    case NRI_APP_TEXT:
    case NRI_APP_CPUS:
        print_text(printing, value.text);
        break;
    case NRI_APP_CHOICE:
        print_text(printing, field->choices[value.choice]);
        break;
    case NRI_APP_TEXTS:
        print_texts(printing, &value.texts);
        break;
    default:
        fputs(value.text, printing->out); /* JSON in one line is YAML */
    }
}

static void print_origin(const struct printing *printing, size_t index, int indent)
{
    const struct nri_app_field *field = &printing->config->table.fields[index];
    const struct app_node *node = printing->config->nodes[index];
    if (field->help != NULL) {
        print_comment(printing, indent, "", field->help);
        fputc('\n', printing->out);
    }
    if (node != NULL && node->line > 0) {
        print_comment(printing, indent, "from ", node->file);
        fprintf(printing->out, ":%zu\n", node->line);
    } else {
        fprintf(printing->out, "%*s# standard\n", indent, "");
    }
}

static void print_field(const struct printing *printing, size_t index, const char *key, int indent)
{
    print_origin(printing, index, indent);
    fprintf(printing->out, "%*s%s: ", indent, "", key);
    if (printing->config->table.fields[index].secret != 0)
        print_text(printing, "***");
    else
        print_value(printing, index);
    fputc('\n', printing->out);
}

/* Whether a field before this one has the same first `length` bytes of its name. */
static bool was_before(const struct app_table *table, size_t index, size_t length)
{
    const char *name = table->fields[index].name;
    for (size_t i = 0; i < index; i++) {
        if (strncmp(table->fields[i].name, name, length) == 0)
            return true;
    }
    return false;
}

/* The fields whose names begin with the same `length` bytes as that of `first`. An object is
 * printed where its first field is. */
static void print_group(const struct printing *printing, size_t first, size_t length, int indent)
{
    const struct app_table *table = &printing->config->table;
    for (size_t i = first; i < table->count; i++) {
        const char *name = table->fields[i].name;
        if (strncmp(name, table->fields[first].name, length) != 0)
            continue;
        const char *key = name + length, *point = strchr(key, '.');
        if (point == NULL) {
            print_field(printing, i, key, indent);
        } else if (!was_before(table, i, (size_t)(point - name) + 1)) {
            fprintf(printing->out, "%*s%.*s:\n", indent, "", (int)(point - key), key);
            print_group(printing, i, (size_t)(point - name) + 1, indent + 2);
        }
    }
}

void app_config_print(const struct app_config *config, FILE *out)
{
    struct printing printing = {config, out};
    if (config->table.count > 0)
        print_group(&printing, 0, 0, 0);
}
