/* SPDX-License-Identifier: Apache-2.0 */
/* nri/document.h: the documents of lib/json for users. An nri_value is a struct nri_json. */
#include <nri/document.h>

#include <string.h>

#include "model/json_options.h"
#include "json/json.h"

struct nri_document {
    struct nri_arena arena;
    struct nri_json *root;
};

static const struct nri_json *json_of(const nri_value *value)
{
    return (const void *)value;
}

static const nri_value *value_of(const struct nri_json *json)
{
    return (const void *)json;
}

/* ---- documents ---- */

static int parse(const char *json, size_t length, const struct nri_json_settings *settings,
                 nri_document **document, struct nri_error *error)
{
    const struct nri_json_limits limits = nri_json_settings_limits(settings);
    if (document == NULL || (json == NULL && length > 0))
        return nri_error_set(error, NRI_E_INVALID, "%s: must not be NULL",
                             document == NULL ? "document" : "json");
    nri_document *made = nri_alloc_raw(&settings->alloc, sizeof *made);
    if (made == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "%s: %s", settings->name,
                             nri_strerror(NRI_E_NOMEM));
    nri_arena_init(&made->arena, &settings->alloc, 0, nri_json_settings_memory(settings));
    int code =
        nri_json_parse(&made->arena, json, length, &limits, settings->name, &made->root, error);
    if (code == 0)
        *document = made;
    else
        (void)nri_document_free(made);
    return code;
}

int nri_document_parse(const char *json, size_t length, const struct nri_json_options *options,
                       nri_document **document, nri_error **error)
{
    struct nri_json_settings settings;
    struct nri_error failure = {0};
    if (document != NULL)
        *document = NULL;
    int code = nri_json_options_take(options, &settings, &failure);
    if (code == 0)
        code = parse(json, length, &settings, document, &failure);
    nri_error_export(&failure, &settings.alloc, error);
    return code;
}

nri_document *nri_document_free(nri_document *document)
{
    if (document != NULL) {
        struct nri_alloc alloc = document->arena.alloc;
        nri_arena_fini(&document->arena);
        nri_alloc_release(&alloc, document);
    }
    return NULL;
}

const nri_value *nri_document_root(const nri_document *document)
{
    return document != NULL ? value_of(document->root) : NULL;
}

/* ---- values ---- */

enum nri_value_type nri_value_get_type(const nri_value *value)
{
    switch (nri_json_type(json_of(value))) {
    case NRI_JSON_BOOL:
        return NRI_VALUE_BOOL;
    case NRI_JSON_NUMBER:
        return NRI_VALUE_NUMBER;
    case NRI_JSON_STRING:
        return NRI_VALUE_STRING;
    case NRI_JSON_ARRAY:
        return NRI_VALUE_ARRAY;
    case NRI_JSON_OBJECT:
        return NRI_VALUE_OBJECT;
    case NRI_JSON_NULL:
        break;
    }
    return NRI_VALUE_NULL;
}

const char *nri_value_type_name(int type)
{
    switch (type) {
    case NRI_VALUE_NULL:
        return "null";
    case NRI_VALUE_BOOL:
        return "bool";
    case NRI_VALUE_NUMBER:
        return "number";
    case NRI_VALUE_STRING:
        return "string";
    case NRI_VALUE_ARRAY:
        return "array";
    case NRI_VALUE_OBJECT:
        return "object";
    default:
        return "?";
    }
}

size_t nri_value_line(const nri_value *value)
{
    return value != NULL ? nri_json_line(json_of(value)) : 0;
}

size_t nri_value_column(const nri_value *value)
{
    return value != NULL ? nri_json_column(json_of(value)) : 0;
}

bool nri_value_bool(const nri_value *value, bool *boolean)
{
    bool found = nri_value_get_type(value) == NRI_VALUE_BOOL;
    if (boolean != NULL)
        *boolean = found && nri_json_bool(json_of(value));
    return found;
}

bool nri_value_int64(const nri_value *value, int64_t *number)
{
    int64_t read = 0;
    bool found =
        nri_value_get_type(value) == NRI_VALUE_NUMBER && nri_json_int64(json_of(value), &read) == 0;
    if (number != NULL)
        *number = found ? read : 0;
    return found;
}

bool nri_value_uint64(const nri_value *value, uint64_t *number)
{
    uint64_t read = 0;
    bool found = nri_value_get_type(value) == NRI_VALUE_NUMBER &&
                 nri_json_uint64(json_of(value), &read) == 0;
    if (number != NULL)
        *number = found ? read : 0;
    return found;
}

bool nri_value_double(const nri_value *value, double *number)
{
    double read = 0;
    bool found = nri_value_get_type(value) == NRI_VALUE_NUMBER &&
                 nri_json_double(json_of(value), &read) == 0;
    if (number != NULL)
        *number = found ? read : 0;
    return found;
}

const char *nri_value_text(const nri_value *value, size_t *length)
{
    if (nri_value_get_type(value) != NRI_VALUE_NUMBER)
        return nri_json_string(json_of(value), length);
    const char *text = nri_json_number_text(json_of(value));
    if (length != NULL)
        *length = strlen(text);
    return text;
}

size_t nri_value_count(const nri_value *value)
{
    enum nri_value_type type = nri_value_get_type(value);
    return type == NRI_VALUE_ARRAY || type == NRI_VALUE_OBJECT ? nri_json_count(json_of(value)) : 0;
}

const nri_value *nri_value_at(const nri_value *array, size_t index)
{
    if (nri_value_get_type(array) != NRI_VALUE_ARRAY)
        return NULL;
    return value_of(nri_json_at(json_of(array), index));
}

const nri_value *nri_value_member_at(const nri_value *object, size_t index, const char **key)
{
    if (key != NULL)
        *key = "";
    if (nri_value_get_type(object) != NRI_VALUE_OBJECT || index >= nri_json_count(json_of(object)))
        return NULL;
    return value_of(nri_json_member_at(json_of(object), index, key, NULL));
}

const nri_value *nri_value_member(const nri_value *object, const char *key)
{
    if (key == NULL || nri_value_get_type(object) != NRI_VALUE_OBJECT)
        return NULL;
    return value_of(nri_json_get(json_of(object), key));
}
