/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_error.h"
#include "config_source.h"
#include "config_values.h"

/* ---- values ---- */

void app_config_get(const struct app_config *config, size_t field, union app_value *value)
{
    const struct nri_app_field *of = &config->table.fields[field];
    memset(value, 0, sizeof *value);
    memcpy(value, config->values + of->offset, app_type_find(of->type)->size);
}

static void set(struct app_config *config, const struct nri_app_field *field,
                const union app_value *value, const struct app_node *node)
{
    memcpy(config->values + field->offset, value, app_type_find(field->type)->size);
    config->nodes[field - config->table.fields] = node;
}

static int set_standards(struct app_config *config, char *text)
{
    for (size_t i = 0; i < config->table.count; i++) {
        const struct nri_app_field *field = &config->table.fields[i];
        const struct app_node *node;
        union app_value value;
        if (app_field_standard(&config->region, field, &node, &value, text) != 0)
            return -1;
        set(config, field, &value, node);
    }
    return 0;
}

/* ---- one source ---- */

static int take_object(struct app_config *config, struct app_reader *reader,
                       const struct app_node *object, const char *name);

static const char *join(struct app_reader *reader, const char *group, const char *key)
{
    size_t head = strlen(group), tail = strlen(key), point = head > 0;
    char *name = app_region_take(reader->region, head + point + tail + 1);
    if (name == NULL) {
        app_tree_out_of_memory(reader);
        return NULL;
    }
    (void)snprintf(name, head + point + tail + 1, "%s%s%s", group, point ? "." : "", key);
    return name;
}

static int take_member(struct app_config *config, struct app_reader *reader,
                       const struct app_node *member, const char *group)
{
    const char *name = join(reader, group, member->key);
    if (name == NULL)
        return -1;
    /* A key that has the point itself is not one within an object. */
    bool is_plain = strchr(member->key, '.') == NULL;
    const struct nri_app_field *field = is_plain ? app_key_find(&config->table, name) : NULL;
    if (field != NULL) {
        union app_value value = {0};
        if (member->type == APP_NODE_NULL)
            return 0;
        if (app_field_read(reader, field, member, &value) != 0)
            return -1;
        set(config, field, &value, member);
        return 0;
    }
    if (is_plain && app_key_is_group(&config->table, name))
        return take_object(config, reader, member, name);
    return app_key_refuse(reader, &config->table, member, name);
}

/* As deep as the names of the table. `name` is "" for the outermost object. */
static int take_object(struct app_config *config, struct app_reader *reader,
                       const struct app_node *object, const char *name)
{
    if (object->type == APP_NODE_NULL)
        return 0;
    if (object->type != APP_NODE_OBJECT)
        return app_config_refuse(reader->text, object, name[0] != '\0' ? name : NULL,
                                 "must be an object with keys, not %s",
                                 app_node_type_name(object->type));
    for (const struct app_node *member = object->first; member != NULL; member = member->next) {
        if (take_member(config, reader, member, name) != 0)
            return -1;
    }
    return 0;
}

static int take_text(struct app_config *config, const char *name, bool is_json, const char *bytes,
                     size_t length, char *text)
{
    struct app_reader reader = {&config->region, name, NULL, 0};
    struct app_node *root = NULL;
    reader.text = text;
    int result = is_json ? app_tree_read_json(&reader, bytes, length, &root)
                         : app_tree_read_yaml(&reader, bytes, length, &root);
    if (result != 0 || root == NULL)
        return result;
    return take_object(config, &reader, root, "");
}

/* ---- all sources ---- */

static int take_file(struct app_config *config, const char *path, char *text)
{
    const char *bytes;
    size_t length;
    if (app_source_read(&config->region, path, &bytes, &length, text) != 0)
        return -1;
    return take_text(config, path, app_source_is_json(path), bytes, length, text);
}

static int take_files(struct app_config *config, const char *path, char *text)
{
    struct app_source_paths found;
    const char *copy = app_region_text(&config->region, path, strlen(path));
    if (copy == NULL)
        return app_config_fail(text, "%.400s: out of memory", path);
    if (app_source_find(&config->region, copy, &found, text) != 0)
        return -1;
    config->paths = app_region_take_many(&config->region, found.count + 2, sizeof *config->paths);
    if (config->paths == NULL)
        return app_config_fail(text, "%.400s: out of memory", path);
    memcpy(config->paths, found.files, found.count * sizeof *config->paths);
    config->paths[found.count] = found.directory;
    for (size_t i = 0; i < found.count; i++) {
        if (take_file(config, found.files[i], text) != 0)
            return -1;
    }
    return 0;
}

static int take_configure(struct app_config *config, const char *name, const char *bytes,
                          char *text)
{
    const char *copy = app_region_text(&config->region, name, strlen(name));
    if (copy == NULL)
        return app_config_fail(text, "%.400s: out of memory", name);
    return take_text(config, copy, app_source_looks_like_json(bytes), bytes, strlen(bytes), text);
}

/* What a source gave has a line; a standard has none. */
static bool is_missing(const struct app_config *config, size_t at)
{
    const struct app_node *node = config->nodes[at];
    return config->table.fields[at].required != 0 && (node == NULL || node->line == 0);
}

/* A fixed field cannot come later: the program has started with its value. */
static int check_required(const struct app_config *config, const char *name, bool only_fixed,
                          char *text)
{
    for (size_t i = 0; i < config->table.count; i++) {
        const struct nri_app_field *field = &config->table.fields[i];
        if (is_missing(config, i) && (!only_fixed || field->fixed != 0))
            return app_config_fail(text, "%.400s: %.200s: is required, but not given", name,
                                   field->name);
    }
    return 0;
}

static int take_all(struct app_config *config, const struct app_config_sources *sources, char *text)
{
    const char *name = sources->configure_name != NULL ? sources->configure_name : "Configure";
    bool is_configured = sources->configure != NULL && sources->configure[0] != '\0';
    if (sources->path != NULL && take_files(config, sources->path, text) != 0)
        return -1;
    if (is_configured && take_configure(config, name, sources->configure, text) != 0)
        return -1;
    const char *blamed = sources->path != NULL ? sources->path
                         : is_configured       ? name
                                               : "configuration";
    return check_required(config, blamed, sources->more_to_come, text);
}

/* ---- the configuration ---- */

static int allocate(struct app_config *config, char *text)
{
    config->values = app_region_take(&config->region, config->size);
    config->nodes =
        app_region_take_many(&config->region, config->table.count, sizeof *config->nodes);
    config->paths = app_region_take_many(&config->region, 1, sizeof *config->paths);
    if (config->values == NULL || config->nodes == NULL || config->paths == NULL)
        return app_config_fail(text, "configuration: out of memory");
    return 0;
}

int app_config_read(struct app_config **config, const struct nri_app_field *fields, size_t count,
                    size_t size, const struct app_config_sources *sources,
                    char text[APP_CONFIG_TEXT])
{
    *config = NULL;
    if (app_config_check_table(fields, count, size, text) != 0)
        return -1;
    struct app_config *made = calloc(1, sizeof *made);
    if (made == NULL)
        return app_config_fail(text, "configuration: out of memory");
    made->table = (struct app_table){fields, count};
    made->size = size;
    if (allocate(made, text) != 0 || set_standards(made, text) != 0 ||
        take_all(made, sources, text) != 0) {
        app_config_free(made);
        return -1;
    }
    *config = made;
    return 0;
}

void app_config_free(struct app_config *config)
{
    if (config == NULL)
        return;
    app_region_fini(&config->region);
    free(config);
}

const void *app_config_values(const struct app_config *config)
{
    return config->values;
}

bool app_config_is_incomplete(const struct app_config *config)
{
    for (size_t i = 0; i < config->table.count; i++) {
        if (is_missing(config, i))
            return true;
    }
    return false;
}

const char *const *app_config_paths(const struct app_config *config)
{
    return config->paths;
}

const char *app_config_fixed_change(const struct app_config *before, const struct app_config *after)
{
    for (size_t i = 0; i < before->table.count; i++) {
        const struct nri_app_field *field = &before->table.fields[i];
        union app_value old, new;
        if (field->fixed == 0)
            continue;
        app_config_get(before, i, &old);
        app_config_get(after, i, &new);
        if (!app_field_equal(field, &old, &new))
            return field->name;
    }
    return NULL;
}
