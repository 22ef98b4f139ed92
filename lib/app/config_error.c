/* SPDX-License-Identifier: Apache-2.0 */
#include "config_error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "config.h"

#define SHOWN 64 /* bytes of a text that an error shows */

static bool is_continuation(unsigned char c)
{
    return (c & 0xC0) == 0x80;
}

const char *app_quote(char out[APP_QUOTE], const char *text)
{
    size_t used = 0, i = 0;
    out[used++] = '"';
    for (; text[i] != '\0'; i++) {
        unsigned char c = (unsigned char)text[i];
        /* Not cut within a character, but there may be bytes that are none. */
        if (used >= SHOWN && (!is_continuation(c) || used >= SHOWN + 4))
            break;
        if (c < 0x20 || c == 0x7F) {
            used += (size_t)snprintf(out + used, APP_QUOTE - used, "\\x%02x", c);
        } else {
            if (c == '"' || c == '\\')
                out[used++] = '\\';
            out[used++] = (char)c;
        }
    }
    snprintf(out + used, APP_QUOTE - used, "%s", text[i] != '\0' ? "...\"" : "\"");
    return out;
}

/* A key is shown as it is unless that could mislead. */
static const char *shown_key(char out[APP_QUOTE], const char *key)
{
    bool plain = key[0] != '\0' && strlen(key) < SHOWN * 4;
    for (const char *c = key; *c != '\0' && plain; c++)
        plain = *c > ' ' && *c < 0x7F && *c != ':' && *c != '"';
    return plain ? key : app_quote(out, key);
}

int app_config_refuse(char *text, const struct app_node *node, const char *key, const char *format,
                      ...)
{
    char quote[APP_QUOTE], place[32] = "";
    va_list arguments;
    if (node->line > 0)
        snprintf(place, sizeof place, ":%zu", node->line);
    int length = snprintf(text, APP_CONFIG_TEXT, "%.400s%s: %s%s", node->file, place,
                          key != NULL ? shown_key(quote, key) : "", key != NULL ? ": " : "");
    va_start(arguments, format);
    if (length >= 0 && length < APP_CONFIG_TEXT)
        vsnprintf(text + length, (size_t)(APP_CONFIG_TEXT - length), format, arguments);
    va_end(arguments);
    return -1;
}

int app_config_fail(char *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, APP_CONFIG_TEXT, format, arguments);
    va_end(arguments);
    return -1;
}
