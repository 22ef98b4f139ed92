/* SPDX-License-Identifier: Apache-2.0 */
#include "config_tree.h"

#include <stdlib.h>
#include <string.h>

#include "config_error.h"

int app_tree_out_of_memory(struct app_reader *reader)
{
    return app_config_fail(reader->text, "%.400s: out of memory", reader->file);
}

struct app_node *app_tree_add(struct app_reader *reader, struct app_node *parent,
                              enum app_node_type type, const char *key, const char *text,
                              size_t line)
{
    if (reader->values == APP_TREE_MAX_VALUES) {
        app_config_fail(reader->text, "%.400s:%zu: more than %zu values", reader->file, line,
                        APP_TREE_MAX_VALUES);
        return NULL;
    }
    struct app_node *node = app_region_take(reader->region, sizeof *node);
    if (node == NULL) {
        app_tree_out_of_memory(reader);
        return NULL;
    }
    reader->values++;
    node->type = type;
    node->key = key;
    node->text = text;
    node->file = reader->file;
    node->line = line;
    if (parent != NULL) {
        if (parent->last != NULL)
            parent->last->next = node;
        else
            parent->first = node;
        parent->last = node;
        parent->count++;
    }
    return node;
}

/* By key, and equal ones by place, so that the second one is blamed. */
static int compare(const void *a, const void *b)
{
    const struct app_node *left = *(const struct app_node *const *)a;
    const struct app_node *right = *(const struct app_node *const *)b;
    int order = strcmp(left->key, right->key);
    if (order != 0)
        return order;
    return left->line < right->line ? -1 : left->line > right->line;
}

int app_tree_close(struct app_reader *reader, struct app_node *object)
{
    size_t count = 0;
    const struct app_node **sorted =
        app_region_take_many(reader->region, object->count, sizeof *sorted);
    if (sorted == NULL)
        return app_tree_out_of_memory(reader);
    for (const struct app_node *member = object->first; member != NULL; member = member->next)
        sorted[count++] = member;
    if (count > 0)
        qsort(sorted, count, sizeof *sorted, compare);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
            return app_config_refuse(reader->text, sorted[i], sorted[i]->key,
                                     "is there twice; the first is in line %zu",
                                     sorted[i - 1]->line);
    }
    object->sorted = sorted;
    return 0;
}

const char *app_node_type_name(enum app_node_type type)
{
    static const char *const names[] = {"null",   "a bool", "a number",
                                        "a text", "a list", "an object"};
    return names[type];
}
