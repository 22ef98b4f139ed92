/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/edit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/json_value.h"

const struct nri_json_place nri_oci_process = {.name = "process"};
const struct nri_json_place nri_oci_linux = {.name = "linux"};
const struct nri_json_place nri_oci_resources = {.parent = &nri_oci_linux, .name = "resources"};

/* ---- failures ---- */

void nri_oci_fail(struct nri_oci_edit *edit, int code, const struct nri_oci_where *where,
                  const char *format, ...)
{
    char text[NRI_ERROR_TEXT_SIZE], index[32] = "";
    va_list arguments;
    if (edit->failure != 0)
        return;
    va_start(arguments, format);
    (void)nri_error_format(text, format, arguments);
    va_end(arguments);
    if (where->index != NRI_JSON_WHOLE)
        (void)snprintf(index, sizeof index, "[%zu]", where->index);
    edit->failure = nri_error_set(edit->source.error, code, "%s.%s%s%s%s: %s", edit->message,
                                  where->field, index, where->member != NULL ? "." : "",
                                  where->member != NULL ? where->member : "", text);
}

void nri_oci_blame(struct nri_oci_edit *edit, const struct nri_json_place *place,
                   const struct nri_json *value, int code, const char *format, ...)
{
    char text[NRI_ERROR_TEXT_SIZE];
    va_list arguments;
    if (edit->failure != 0)
        return;
    va_start(arguments, format);
    (void)nri_error_format(text, format, arguments);
    va_end(arguments);
    edit->failure = nri_json_refuse(&edit->source, place, value, code, "%s", text);
}

void nri_oci_no_memory(struct nri_oci_edit *edit)
{
    const struct nri_arena *arena = edit->source.arena;
    if (edit->failure != 0)
        return;
    if (arena->failure == NRI_E_LIMIT)
        edit->failure = nri_error_set(edit->source.error, NRI_E_LIMIT,
                                      "%s: the changed document needs more memory than its limit "
                                      "of %zu bytes",
                                      edit->source.name, arena->limit);
    else
        edit->failure =
            nri_error_set(edit->source.error, NRI_E_NOMEM, "%s: out of memory", edit->source.name);
}

bool nri_oci_expect(struct nri_oci_edit *edit, const struct nri_json_place *place,
                    const struct nri_json *value, enum nri_json_type type)
{
    static const char *const shown[] = {"null",   "true or false", "a number",
                                        "a text", "a list",        "an object"};
    if (edit->failure != 0)
        return false;
    if (nri_json_type(value) == type)
        return true;
    nri_oci_blame(edit, place, value, NRI_E_SYNTAX, "must be %s, found %s", shown[type],
                  nri_json_value_shown(value));
    return false;
}

/* ---- the document ---- */

static struct nri_json *member(struct nri_oci_edit *edit, const struct nri_json_place *place,
                               enum nri_json_type type, bool make)
{
    struct nri_json *in = edit->root;
    if (place->parent != NULL)
        in = member(edit, place->parent, NRI_JSON_OBJECT, make);
    if (in == NULL || edit->failure != 0)
        return NULL;
    struct nri_json *found = nri_json_get(in, place->name);
    if (nri_json_type(found) != NRI_JSON_NULL)
        return nri_oci_expect(edit, place, found, type) ? found : NULL;
    if (!make)
        return NULL;
    found = nri_oci_new(edit, type);
    nri_oci_set(edit, in, place->name, found);
    return edit->failure == 0 ? found : NULL;
}

struct nri_json *nri_oci_find(struct nri_oci_edit *edit, const struct nri_json_place *place,
                              enum nri_json_type type)
{
    return member(edit, place, type, false);
}

struct nri_json *nri_oci_make(struct nri_oci_edit *edit, const struct nri_json_place *place,
                              enum nri_json_type type)
{
    return member(edit, place, type, true);
}

static struct nri_json *enclosing(struct nri_oci_edit *edit, const struct nri_json_place *place,
                                  bool make)
{
    if (edit->failure != 0)
        return NULL;
    return place->parent == NULL ? edit->root : member(edit, place->parent, NRI_JSON_OBJECT, make);
}

void nri_oci_put(struct nri_oci_edit *edit, const struct nri_json_place *place,
                 struct nri_json *value)
{
    struct nri_json *in = enclosing(edit, place, true);
    nri_oci_set(edit, in, place->name, value);
}

void nri_oci_drop(struct nri_oci_edit *edit, const struct nri_json_place *place)
{
    struct nri_json *in = enclosing(edit, place, false);
    if (in != NULL)
        (void)nri_json_remove(in, place->name);
}

/* ---- values ---- */

static struct nri_json *made(struct nri_oci_edit *edit, struct nri_json *value)
{
    if (value == NULL)
        nri_oci_no_memory(edit);
    return value;
}

struct nri_json *nri_oci_new(struct nri_oci_edit *edit, enum nri_json_type type)
{
    return edit->failure != 0 ? NULL : made(edit, nri_json_new(edit->source.arena, type));
}

struct nri_json *nri_oci_int64(struct nri_oci_edit *edit, int64_t number)
{
    return edit->failure != 0 ? NULL : made(edit, nri_json_new_int64(edit->source.arena, number));
}

struct nri_json *nri_oci_uint64(struct nri_oci_edit *edit, uint64_t number)
{
    return edit->failure != 0 ? NULL : made(edit, nri_json_new_uint64(edit->source.arena, number));
}

struct nri_json *nri_oci_bool(struct nri_oci_edit *edit, bool boolean)
{
    return edit->failure != 0 ? NULL : made(edit, nri_json_new_bool(edit->source.arena, boolean));
}

void nri_oci_set(struct nri_oci_edit *edit, struct nri_json *object, const char *key,
                 struct nri_json *value)
{
    if (edit->failure == 0 && nri_json_set(edit->source.arena, object, key, value) != 0)
        nri_oci_no_memory(edit);
}

void nri_oci_append(struct nri_oci_edit *edit, struct nri_json *array, struct nri_json *value)
{
    if (edit->failure == 0 && nri_json_append(edit->source.arena, array, value) != 0)
        nri_oci_no_memory(edit);
}

void *nri_oci_alloc(struct nri_oci_edit *edit, size_t count, size_t size)
{
    if (edit->failure != 0)
        return NULL;
    void *room = nri_arena_array(edit->source.arena, count > 0 ? count : 1, size);
    if (room == NULL)
        nri_oci_no_memory(edit);
    return room;
}

/* ---- texts of messages ---- */

struct nri_json *nri_oci_bytes(struct nri_oci_edit *edit, const struct nri_oci_where *where,
                               const char *bytes, size_t length)
{
    if (edit->failure != 0)
        return NULL;
    if (memchr(bytes, '\0', length) != NULL || !nri_utf8_valid(bytes, length, NULL)) {
        nri_oci_fail(edit, NRI_E_UTF8, where, "must be UTF-8 without NUL");
        return NULL;
    }
    return made(edit, nri_json_new_string(edit->source.arena, bytes, length));
}

struct nri_json *nri_oci_text(struct nri_oci_edit *edit, const struct nri_oci_where *where,
                              const char *text)
{
    return nri_oci_bytes(edit, where, text != NULL ? text : "", nri_text_length(text));
}

void nri_oci_set_text(struct nri_oci_edit *edit, struct nri_json *object, const char *key,
                      const struct nri_oci_where *where, const char *text)
{
    if (nri_text_length(text) > 0)
        nri_oci_set(edit, object, key, nri_oci_text(edit, where, text));
}

struct nri_json *nri_oci_texts(struct nri_oci_edit *edit, const struct nri_oci_where *where,
                               char *const *texts, size_t count)
{
    struct nri_json *array = nri_oci_new(edit, NRI_JSON_ARRAY);
    for (size_t i = 0; i < count && edit->failure == 0; i++)
        nri_oci_append(edit, array, nri_oci_text(edit, where, texts[i]));
    return array;
}

struct nri_json *nri_oci_name(struct nri_oci_edit *edit, const struct nri_oci_where *where,
                              const ProtobufCEnumDescriptor *type, int number)
{
    const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(type, number);
    if (value == NULL && !nri_oci_go(edit)) {
        nri_oci_fail(edit, NRI_E_INVALID, where, "%d is no %s", number, type->short_name);
        return NULL;
    }
    const char *name = value != NULL ? value->name : "";
    return nri_oci_bytes(edit, where, name, strlen(name));
}

bool nri_oci_is_key(struct nri_oci_edit *edit, const struct nri_oci_where *where, const char *text)
{
    const size_t length = nri_text_length(text);
    if (length == 0)
        nri_oci_fail(edit, NRI_E_INVALID, where, "must not be empty");
    else if (memchr(text, '\0', length) != NULL || !nri_utf8_valid(text, length, NULL))
        nri_oci_fail(edit, NRI_E_UTF8, where, "must be UTF-8 without NUL");
    return edit->failure == 0;
}
