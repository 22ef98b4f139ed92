/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "config_tree.h"

/* Counts all, writes what there is room for. */
struct out {
    char *text;
    size_t size, length;
};

static void put(struct out *out, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++, out->length++) {
        if (out->length + 1 < out->size)
            out->text[out->length] = bytes[i];
    }
}

static void put_text(struct out *out, const char *text)
{
    put(out, text, strlen(text));
}

/* The next character of UTF-8, which was checked when it was read, and its length. */
static uint32_t next_character(const char *text, size_t *length)
{
    const unsigned char *c = (const unsigned char *)text;
    *length = c[0] < 0x80 ? 1 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : 4;
    uint32_t code = *length == 1 ? c[0] : c[0] & (0x7Fu >> *length);
    for (size_t i = 1; i < *length; i++) {
        if (c[i] == '\0') {
            *length = i;
            break;
        }
        code = code << 6 | (c[i] & 0x3Fu);
    }
    return code;
}

/* What JSON must escape, and what YAML does not read as it stands: what is not printable, and its
 * own line breaks. */
static bool must_escape(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 ||
           code == 0xFEFF || code == 0xFFFE || code == 0xFFFF;
}

static void put_quoted(struct out *out, const char *text)
{
    char escape[8];
    size_t length;
    put(out, "\"", 1);
    for (; *text != '\0'; text += length) {
        uint32_t code = next_character(text, &length);
        if (code == '"' || code == '\\') {
            put(out, "\\", 1);
            put(out, text, 1);
        } else if (code == '\n') {
            put_text(out, "\\n");
        } else if (code == '\t') {
            put_text(out, "\\t");
        } else if (must_escape(code)) {
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)(code & 0xFFFF));
            put_text(out, escape);
        } else {
            put(out, text, length);
        }
    }
    put(out, "\"", 1);
}

static void put_node(struct out *out, const struct app_node *node);

static void put_list(struct out *out, const struct app_node *list)
{
    put(out, "[", 1);
    for (const struct app_node *element = list->first; element != NULL; element = element->next) {
        put_node(out, element);
        if (element->next != NULL)
            put(out, ",", 1);
    }
    put(out, "]", 1);
}

static void put_object(struct out *out, const struct app_node *object)
{
    put(out, "{", 1);
    for (size_t i = 0; i < object->count; i++) {
        if (i > 0)
            put(out, ",", 1);
        put_quoted(out, object->sorted[i]->key);
        put(out, ":", 1);
        put_node(out, object->sorted[i]);
    }
    put(out, "}", 1);
}

/* As deep as APP_TREE_MAX_DEPTH at most. */
static void put_node(struct out *out, const struct app_node *node)
{
    switch (node->type) {
    case APP_NODE_NULL:
        put_text(out, "null");
        break;
    case APP_NODE_BOOL:
        put_text(out, node->boolean ? "true" : "false");
        break;
    case APP_NODE_NUMBER:
        put_text(out, node->text);
        break;
    case APP_NODE_TEXT:
        put_quoted(out, node->text);
        break;
    case APP_NODE_LIST:
        put_list(out, node);
        break;
    case APP_NODE_OBJECT:
        put_object(out, node);
        break;
    }
}

static size_t finish(struct out *out)
{
    if (out->size > 0)
        out->text[out->length < out->size ? out->length : out->size - 1] = '\0';
    return out->length;
}

size_t app_node_write(const struct app_node *node, char *written, size_t size)
{
    struct out out = {.size = size};
    out.text = written;
    put_node(&out, node);
    return finish(&out);
}

size_t app_text_write(const char *text, char *written, size_t size)
{
    struct out out = {.size = size};
    out.text = written;
    put_quoted(&out, text);
    return finish(&out);
}
