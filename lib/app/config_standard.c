/* SPDX-License-Identifier: Apache-2.0 */
/* What the table of fields says of values, and comparing them. */
#include <string.h>

#include "config.h"
#include "config_error.h"
#include "config_field.h"

const struct app_node *app_field_node(struct app_region *region, const struct nri_app_field *field,
                                      const char *written, const char *what, char *text)
{
    char reason[APP_CONFIG_TEXT];
    struct app_reader reader = {region, what, text, 0};
    struct app_reader json = {region, "JSON", reason, 0};
    struct app_node *node = NULL;
    if (!app_type_find(field->type)->is_json)
        return app_tree_add(&reader, NULL, APP_NODE_TEXT, NULL, written, 0);
    if (app_tree_read_json(&json, written, strlen(written), &node) != 0) {
        app_config_fail(text, "%s: %.200s: %.400s", what, field->name, reason);
        return NULL;
    }
    node->file = what;
    node->line = 0; /* of the table, which has none */
    return node;
}

/* What 0 is for each type. */
static void set_zero(const struct nri_app_field *field, union app_value *value)
{
    memset(value, 0, sizeof *value);
    switch (field->type) {
    case NRI_APP_TEXT:
    case NRI_APP_CPUS:
        value->text = "";
        break;
    case NRI_APP_DOCUMENT:
        value->text = "null";
        break;
    case NRI_APP_NUMBER:
        value->number = 0;
        break;
    default:
        break;
    }
}

int app_field_standard(struct app_region *region, const struct nri_app_field *field,
                       const struct app_node **node, union app_value *value, char *text)
{
    struct app_reader reader = {region, "standard", text, 0};
    *node = NULL;
    set_zero(field, value);
    if (field->standard == NULL)
        return 0;
    *node = app_field_node(region, field, field->standard, "standard", text);
    return *node == NULL ? -1 : app_field_read(&reader, field, *node, value);
}

static bool texts_equal(const struct nri_app_texts *a, const struct nri_app_texts *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        if (strcmp(a->texts[i], b->texts[i]) != 0)
            return false;
    }
    return true;
}

bool app_field_equal(const struct nri_app_field *field, const union app_value *a,
                     const union app_value *b)
{
    switch (field->type) {
    case NRI_APP_BOOL:
        return a->boolean == b->boolean;
    case NRI_APP_NUMBER:
        return a->number <= b->number && a->number >= b->number;
    case NRI_APP_TEXT:
    case NRI_APP_CPUS:
    case NRI_APP_DOCUMENT:
        return strcmp(a->text, b->text) == 0;
    case NRI_APP_CHOICE:
        return a->choice == b->choice;
    case NRI_APP_TEXTS:
        return texts_equal(&a->texts, &b->texts);
    default:
        return a->integer == b->integer;
    }
}
