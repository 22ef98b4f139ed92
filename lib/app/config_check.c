/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a table of fields makes sense: mistakes of a program's author are found at its start, not
 * when a configuration comes upon them. */
#include <string.h>

#include "config.h"
#include "config_error.h"
#include "config_field.h"
#include "config_key.h"

struct checking {
    const struct app_table *table;
    const struct nri_app_field *field;
    size_t size;
    char *text;
};

static int fail(const struct checking *checking, const char *reason)
{
    return app_config_fail(checking->text, "field %.200s: %s", checking->field->name, reason);
}

/* Of signs that need no quotes in YAML. */
static bool is_name(const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-/.";
    size_t length = strlen(name);
    if (length == 0 || length > APP_KEY_LENGTH || name[strspn(name, allowed)] != '\0')
        return false;
    return name[0] != '.' && name[length - 1] != '.' && strstr(name, "..") == NULL &&
           name[0] != '-' && strstr(name, ".-") == NULL;
}

static int check_name(const struct checking *checking)
{
    const char *name = checking->field->name;
    if (!is_name(name))
        return fail(checking,
                    "a name has 1 to 128 letters, digits and signs of \"_-/.\"; each part "
                    "between points has some, and not \"-\" first");
    if (app_key_find(checking->table, name) != checking->field)
        return fail(checking, "the name is there twice");
    if (app_key_is_group(checking->table, name))
        return fail(checking, "the name is also that of an object with fields");
    return 0;
}

static bool overlap(const struct nri_app_field *a, const struct nri_app_field *b)
{
    return a->offset < b->offset + app_type_find(b->type)->size &&
           b->offset < a->offset + app_type_find(a->type)->size;
}

/* Earlier fields have been checked already. */
static int check_place(const struct checking *checking)
{
    const struct nri_app_field *field = checking->field;
    size_t size = app_type_find(field->type)->size;
    if (size > checking->size || field->offset > checking->size - size)
        return fail(checking, "the offset is behind the end of the configuration");
    for (const struct nri_app_field *other = checking->table->fields; other != field; other++) {
        if (overlap(other, field))
            return app_config_fail(checking->text, "field %.200s: is kept where %.200s is",
                                   field->name, other->name);
    }
    return 0;
}

static int check_choices(const struct checking *checking)
{
    const char *const *choices = checking->field->choices;
    if (checking->field->type != NRI_APP_CHOICE)
        return choices == NULL ? 0 : fail(checking, "only NRI_APP_CHOICE has choices");
    if (choices == NULL || choices[0] == NULL)
        return fail(checking, "NRI_APP_CHOICE needs choices");
    for (size_t i = 1; choices[i] != NULL; i++) {
        for (size_t k = 0; k < i; k++) {
            if (strcmp(choices[i], choices[k]) == 0)
                return fail(checking, "a choice is there twice");
        }
    }
    return 0;
}

/* The larger one is read with the smaller one as its limit. */
static int check_limits(const struct checking *checking, struct app_region *region)
{
    struct nri_app_field field = *checking->field;
    struct app_reader reader = {region, "maximum", checking->text, 0};
    union app_value value;
    const char *written = field.maximum != NULL ? field.maximum : field.minimum;
    if (written == NULL)
        return 0;
    if (!app_type_find(field.type)->is_ordered)
        return fail(checking, "its type has no minimum and maximum");
    field.secret = 0;
    const char *what = field.maximum != NULL ? "maximum" : "minimum";
    const struct app_node *node = app_field_node(region, &field, written, what, checking->text);
    field.maximum = NULL;
    return node == NULL ? -1 : app_field_read(&reader, &field, node, &value);
}

static int check_standard(const struct checking *checking, struct app_region *region)
{
    const struct app_node *node;
    union app_value value;
    if (checking->field->standard != NULL && checking->field->required != 0)
        return fail(checking, "it is required and has a standard value, which it cannot have then");
    return app_field_standard(region, checking->field, &node, &value, checking->text);
}

static int check_field(const struct checking *checking, struct app_region *region)
{
    if (check_name(checking) != 0)
        return -1;
    if (app_type_find(checking->field->type) == NULL)
        return fail(checking, "its type is none of enum nri_app_type");
    if (check_place(checking) != 0 || check_choices(checking) != 0 ||
        check_limits(checking, region) != 0)
        return -1;
    return check_standard(checking, region);
}

int app_config_check_table(const struct nri_app_field *fields, size_t count, size_t size,
                           char text[APP_CONFIG_TEXT])
{
    struct app_table table = {fields, count};
    struct app_region region = {0};
    int result = 0;
    for (size_t i = 0; i < count; i++) {
        if (fields[i].name == NULL)
            return app_config_fail(text, "field %zu: has no name", i);
    }
    for (size_t i = 0; i < count && result == 0; i++) {
        struct checking checking = {&table, &fields[i], size, text};
        result = check_field(&checking, &region);
    }
    app_region_fini(&region);
    return result;
}
