/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <nri/document.h>

#include "config_error.h"
#include "config_tree.h"

static struct app_node *read_value(struct app_reader *reader, struct app_node *parent,
                                   const char *key, const nri_value *value);

static int read_elements(struct app_reader *reader, struct app_node *list, const nri_value *value)
{
    for (size_t i = 0; i < nri_value_count(value); i++) {
        if (read_value(reader, list, NULL, nri_value_at(value, i)) == NULL)
            return -1;
    }
    return 0;
}

static int read_members(struct app_reader *reader, struct app_node *object, const nri_value *value)
{
    for (size_t i = 0; i < nri_value_count(value); i++) {
        const char *name;
        const nri_value *member = nri_value_member_at(value, i, &name);
        const char *key = app_region_text(reader->region, name, strlen(name));
        if (key == NULL)
            return app_tree_out_of_memory(reader);
        if (read_value(reader, object, key, member) == NULL)
            return -1;
    }
    return app_tree_close(reader, object);
}

/* As deep as APP_TREE_MAX_DEPTH at most, which the document was read with. */
static struct app_node *read_value(struct app_reader *reader, struct app_node *parent,
                                   const char *key, const nri_value *value)
{
    static const enum app_node_type types[] = {
        [NRI_VALUE_NULL] = APP_NODE_NULL,     [NRI_VALUE_BOOL] = APP_NODE_BOOL,
        [NRI_VALUE_NUMBER] = APP_NODE_NUMBER, [NRI_VALUE_STRING] = APP_NODE_TEXT,
        [NRI_VALUE_ARRAY] = APP_NODE_LIST,    [NRI_VALUE_OBJECT] = APP_NODE_OBJECT,
    };
    enum app_node_type type = types[nri_value_get_type(value)];
    const char *text = NULL;
    if (type == APP_NODE_NUMBER || type == APP_NODE_TEXT) {
        size_t length;
        const char *written = nri_value_text(value, &length);
        text = app_region_text(reader->region, written, length);
        if (text == NULL) {
            app_tree_out_of_memory(reader);
            return NULL;
        }
    }
    struct app_node *node = app_tree_add(reader, parent, type, key, text, nri_value_line(value));
    if (node == NULL)
        return NULL;
    if (type == APP_NODE_BOOL)
        nri_value_bool(value, &node->boolean);
    if (type == APP_NODE_LIST && read_elements(reader, node, value) != 0)
        return NULL;
    if (type == APP_NODE_OBJECT && read_members(reader, node, value) != 0)
        return NULL;
    return node;
}

int app_tree_read_json(struct app_reader *reader, const char *bytes, size_t length,
                       struct app_node **root)
{
    struct nri_json_options options;
    nri_document *document = NULL;
    nri_error *error = NULL;
    nri_json_options_init(&options, sizeof options);
    options.name = reader->file;
    options.max_bytes = APP_TREE_MAX_BYTES;
    options.max_depth = APP_TREE_MAX_DEPTH;
    options.max_values = APP_TREE_MAX_VALUES;
    int code = nri_document_parse(bytes, length, &options, &document, &error);
    if (code == 0) {
        *root = read_value(reader, NULL, NULL, nri_document_root(document));
        code = *root != NULL ? 0 : -1;
    } else if (code == NRI_E_NOMEM || nri_error_get_code(error) == NRI_E_NOMEM) {
        app_tree_out_of_memory(reader);
    } else {
        app_config_fail(reader->text, "%s", nri_error_get_text(error));
    }
    nri_error_free(error);
    nri_document_free(document);
    return code == 0 ? 0 : -1;
}
