/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of form.h as a JSON Schema, for editors and for who checks a file before it runs.
 */
#include <stdio.h>
#include <string.h>

#include "form.h"

static void put_key(struct nri_json_writer *writer, const char *key)
{
    nri_json_write_key(writer, key, strlen(key));
}

static void put_text(struct nri_json_writer *writer, const char *key, const char *value)
{
    put_key(writer, key);
    nri_json_write_string(writer, value, strlen(value));
}

static void put_reference(struct nri_json_writer *writer, const struct form *form)
{
    char reference[120];
    int length = snprintf(reference, sizeof reference, "#/$defs/");
    for (const char *at = form->name; *at != '\0' && length < (int)sizeof reference - 1; at++)
        reference[length++] = *at == ' ' ? '_' : *at;
    reference[length] = '\0';
    put_text(writer, "$ref", reference);
}

static void put_value(struct nri_json_writer *writer, const struct form_key *key);

static void put_number(struct nri_json_writer *writer, const struct form_key *key)
{
    put_text(writer, "type", "integer");
    put_key(writer, "minimum");
    nri_json_write_int64(writer, key->least);
    put_key(writer, "maximum");
    nri_json_write_int64(writer, key->most);
}

static void put_choices(struct nri_json_writer *writer, const struct form_key *key)
{
    put_key(writer, "enum");
    nri_json_begin_array(writer);
    for (size_t i = 0; key->choices[i] != NULL; i++)
        nri_json_write_string(writer, key->choices[i], strlen(key->choices[i]));
    nri_json_end_array(writer);
}

static void put_items(struct nri_json_writer *writer, const struct form_key *key, bool list)
{
    put_text(writer, "type", list ? "array" : "object");
    put_key(writer, list ? "items" : "additionalProperties");
    put_value(writer, key->item);
    put_key(writer, list ? "maxItems" : "maxProperties");
    nri_json_write_uint64(writer, key->most_items != 0 ? key->most_items : FORM_MOST_ITEMS);
}

/* The members of the schema of one type. */
static void put_type(struct nri_json_writer *writer, const struct form_key *key, unsigned type)
{
    static const char *const plain[] = {"string", "number", "boolean", "array", "null"};
    switch (type) {
    case FORM_TEXT:
        put_text(writer, "type", "string");
        put_key(writer, "minLength");
        nri_json_write_int64(writer, 1);
        break;
    case FORM_PATTERN:
        put_text(writer, "type", "string");
        put_key(writer, "minLength");
        nri_json_write_int64(writer, 1);
        break;
    case FORM_FLAG:
        put_text(writer, "type", "boolean");
        break;
    case FORM_NUMBER:
        put_number(writer, key);
        break;
    case FORM_TIME:
        put_text(writer, "type", "string");
        put_text(writer, "pattern", "^([0-9]{1,12}(ms|s|m|h))+$");
        break;
    case FORM_CHOICE:
        put_choices(writer, key);
        break;
    case FORM_OBJECT:
        put_reference(writer, key->form);
        break;
    case FORM_LIST:
        put_items(writer, key, true);
        break;
    case FORM_MAP:
        put_items(writer, key, false);
        break;
    case FORM_JSON:
        put_text(writer, "type", "object");
        break;
    case FORM_NULL:
        put_text(writer, "type", "null");
        break;
    case FORM_PLAIN:
        put_key(writer, "type");
        nri_json_begin_array(writer);
        for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
            nri_json_write_string(writer, plain[i], strlen(plain[i]));
        nri_json_end_array(writer);
        break;
    default: /* anything */
        break;
    }
}

static void put_value(struct nri_json_writer *writer, const struct form_key *key)
{
    const bool single = (key->types & (key->types - 1)) == 0;
    nri_json_begin_object(writer);
    if (key->help != NULL)
        put_text(writer, "description", key->help);
    if (single) {
        put_type(writer, key, key->types);
    } else {
        put_key(writer, "anyOf");
        nri_json_begin_array(writer);
        for (unsigned left = key->types; left != 0; left &= left - 1) {
            nri_json_begin_object(writer);
            put_type(writer, key, left & (~left + 1));
            nri_json_end_object(writer);
        }
        nri_json_end_array(writer);
    }
    nri_json_end_object(writer);
}

static bool has_key(const struct form_key *keys, const char *name)
{
    for (; keys != NULL && keys->name != NULL; keys++) {
        if (strcmp(keys->name, name) == 0)
            return true;
    }
    return false;
}

/* Without those that `others` have. */
static void put_properties(struct nri_json_writer *writer, const struct form_key *keys,
                           const struct form_key *others)
{
    for (; keys != NULL && keys->name != NULL; keys++) {
        if (!has_key(others, keys->name)) {
            put_key(writer, keys->name);
            put_value(writer, keys);
        }
    }
}

static void put_required(struct nri_json_writer *writer, const struct form_key *keys,
                         const char *first)
{
    if (first != NULL)
        nri_json_write_string(writer, first, strlen(first));
    for (; keys != NULL && keys->name != NULL; keys++) {
        if (keys->required && (first == NULL || strcmp(first, keys->name) != 0))
            nri_json_write_string(writer, keys->name, strlen(keys->name));
    }
}

/* A form, or one of its variants with the keys that all have. */
static void put_object(struct nri_json_writer *writer, const struct form *form,
                       const struct form *variant)
{
    const struct form *described = variant != NULL ? variant : form;
    if (described->help != NULL)
        put_text(writer, "description", described->help);
    put_text(writer, "type", "object");
    put_key(writer, "properties");
    nri_json_begin_object(writer);
    if (variant != NULL)
        put_properties(writer, variant->keys, NULL);
    put_properties(writer, form->keys, variant != NULL ? variant->keys : NULL);
    nri_json_end_object(writer);
    put_key(writer, "required");
    nri_json_begin_array(writer);
    if (variant != NULL)
        put_required(writer, variant->keys, variant->keys->name);
    put_required(writer, form->keys, NULL);
    nri_json_end_array(writer);
    put_key(writer, "additionalProperties");
    nri_json_write_bool(writer, form->open);
    if (form->some) {
        put_key(writer, "minProperties");
        nri_json_write_int64(writer, 1);
    }
}

static void put_form(struct nri_json_writer *writer, const struct form *form)
{
    if (form->variants == NULL) {
        put_object(writer, form, NULL);
        return;
    }
    if (form->help != NULL)
        put_text(writer, "description", form->help);
    put_key(writer, "oneOf");
    nri_json_begin_array(writer);
    for (size_t i = 0; form->variants[i] != NULL; i++) {
        nri_json_begin_object(writer);
        put_object(writer, form, form->variants[i]);
        nri_json_end_object(writer);
    }
    nri_json_end_array(writer);
}

void form_schema(struct nri_json_writer *writer, const struct form *form,
                 const struct form *const *all, const char *id, const char *title)
{
    nri_json_begin_object(writer);
    put_text(writer, "$schema", "https://json-schema.org/draft/2020-12/schema");
    put_text(writer, "$id", id);
    put_text(writer, "title", title);
    put_form(writer, form);
    put_key(writer, "$defs");
    nri_json_begin_object(writer);
    for (size_t i = 0; all[i] != NULL; i++) {
        char name[120];
        size_t length = 0;
        for (; all[i]->name[length] != '\0' && length < sizeof name - 1; length++)
            name[length] = all[i]->name[length] == ' ' ? '_' : all[i]->name[length];
        nri_json_write_key(writer, name, length);
        nri_json_begin_object(writer);
        put_form(writer, all[i]);
        nri_json_end_object(writer);
    }
    nri_json_end_object(writer);
    nri_json_end_object(writer);
}
