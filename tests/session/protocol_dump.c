/* SPDX-License-Identifier: Apache-2.0 */
#include "protocol_dump.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define PER_LINE  16
#define HEX_BEGIN 6 /* the column behind "0000  " */

void dump_line(char line[DUMP_LINE], const uint8_t *bytes, size_t size, size_t offset)
{
    char *at = line + snprintf(line, DUMP_LINE, "%04zx  ", offset);
    for (size_t i = offset; i < offset + PER_LINE; i++, at += 3)
        (void)snprintf(at, 4, i < size ? "%02x " : "   ", i < size ? bytes[i] : 0u);
    *at++ = ' ';
    for (size_t i = offset; i < size && i < offset + PER_LINE; i++)
        *at++ = bytes[i] >= ' ' && bytes[i] <= '~' ? (char)bytes[i] : '.';
    *at = '\0';
}

static void cut_blanks(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
}

/* Takes the bytes of a line. The rest of it is compared with what they should look like. */
static bool take_line(struct dump *dump, const char *text)
{
    const size_t offset = dump->size;
    const char *at = text + HEX_BEGIN;
    unsigned value;
    if (strlen(text) <= HEX_BEGIN)
        return false;
    for (size_t i = 0; i < PER_LINE && isxdigit((unsigned char)*at); i++, at += 3) {
        if (dump->size == DUMP_ROOM || sscanf(at, "%2x", &value) != 1 || strlen(at) < 3)
            return false;
        dump->bytes[dump->size++] = (uint8_t)value;
    }
    char right[DUMP_LINE];
    dump_line(right, dump->bytes, dump->size, offset);
    cut_blanks(right);
    return strcmp(right, text) == 0;
}

static bool begin_block(struct dumps *dumps, const char *direction, unsigned number)
{
    if (dumps->count == DUMPS_ROOM)
        return false;
    const bool from_plugin = strcmp(direction, "plugin to runtime") == 0;
    if (!from_plugin && strcmp(direction, "runtime to plugin") != 0)
        return false;
    dumps->dump[dumps->count++] = (struct dump){.from_plugin = from_plugin, .line = number};
    return true;
}

bool dumps_read(struct dumps *dumps, const char *path)
{
    static const char fence[] = "```", opening[] = "```hexdump ";
    char text[1024];
    bool inside = false, right = true;
    *dumps = (struct dumps){0};
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        (void)snprintf(dumps->error, sizeof dumps->error, "cannot open %s", path);
        return false;
    }
    for (unsigned number = 1; right && fgets(text, sizeof text, file) != NULL; number++) {
        cut_blanks(text);
        if (inside && strcmp(text, fence) == 0) {
            inside = false;
        } else if (inside) {
            right = take_line(&dumps->dump[dumps->count - 1], text);
        } else if (strncmp(text, opening, sizeof opening - 1) == 0) {
            inside = true;
            right = begin_block(dumps, text + sizeof opening - 1, number);
        }
        if (!right)
            (void)snprintf(dumps->error, sizeof dumps->error, "%s:%u: not as a dump is: %.80s",
                           path, number, text);
    }
    (void)fclose(file);
    return right;
}
