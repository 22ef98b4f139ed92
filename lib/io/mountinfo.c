/* SPDX-License-Identifier: Apache-2.0 */
#include "io/mountinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

#define TABLE          "/proc/self/mountinfo"
#define LARGEST_TABLE  ((size_t)64 * 1024 * 1024)
#define READ_AT_ONCE   ((size_t)64 * 1024)
#define POINT_FIELD    4 /* id, parent, device, root, mount point, options, optional fields, "-" */
#define FIRST_OPTIONAL 6

struct field {
    const char *start;
    size_t length;
};

/* The next field of a line, which it is taken from. */
static bool next_field(struct field *line, struct field *field)
{
    const char *blank = memchr(line->start, ' ', line->length);
    if (line->length == 0)
        return false;
    field->start = line->start;
    field->length = blank != NULL ? (size_t)(blank - line->start) : line->length;
    const size_t taken = field->length + (blank != NULL);
    line->start += taken;
    line->length -= taken;
    return true;
}

/* One letter of a mount point, in which blanks and backslashes stand as three octal digits. */
static char next_letter(struct field *point)
{
    const char *at = point->start;
    size_t taken = 1;
    char letter = at[0];
    if (letter == '\\' && point->length >= 4) {
        letter = (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0'));
        taken = 4;
    }
    point->start += taken;
    point->length -= taken;
    return letter;
}

/* How long a mount point is that encloses the path; 0: it does not. */
static size_t encloses(struct field point, const char *path)
{
    size_t length = 0;
    while (point.length > 0) {
        const char letter = next_letter(&point);
        if (path[length] == '\0' || path[length] != letter)
            return 0;
        length++;
    }
    if (length == 0 || (path[length - 1] != '/' && path[length] != '/' && path[length] != '\0'))
        return 0;
    return length;
}

static bool starts_with(const struct field *field, const char *prefix)
{
    const size_t length = strlen(prefix);
    return field->length >= length && memcmp(field->start, prefix, length) == 0;
}

/* A mount that is both gives on what it gets. */
static uint32_t propagation_of(struct field optional)
{
    uint32_t found = NRI_PROPAGATION_PRIVATE;
    struct field field;
    while (next_field(&optional, &field) && !(field.length == 1 && field.start[0] == '-')) {
        if (starts_with(&field, "shared:"))
            return NRI_PROPAGATION_SHARED;
        if (starts_with(&field, "master:"))
            found = NRI_PROPAGATION_SLAVE;
    }
    return found;
}

static void look_at_line(struct field line, const char *path, size_t *longest,
                         uint32_t *propagation)
{
    struct field field, point = {NULL, 0};
    for (int i = 0; i < FIRST_OPTIONAL; i++) {
        if (!next_field(&line, &field))
            return;
        if (i == POINT_FIELD)
            point = field;
    }
    const size_t length = encloses(point, path);
    if (length == 0 || length < *longest)
        return;
    *longest = length;
    *propagation = propagation_of(line);
}

bool nri_mountinfo_find(const char *table, size_t length, const char *path, uint32_t *propagation)
{
    size_t longest = 0;
    for (size_t at = 0; at < length;) {
        const char *newline = memchr(table + at, '\n', length - at);
        const size_t end = newline != NULL ? (size_t)(newline - table) : length;
        const struct field line = {table + at, end - at};
        look_at_line(line, path, &longest, propagation);
        at = end + 1;
    }
    return longest > 0;
}

/* ---- the system's ---- */

static int code_of(int number)
{
    switch (number) {
    case ENOENT:
    case ENOTDIR:
        return NRI_E_NOT_FOUND;
    case EACCES:
    case EPERM:
        return NRI_E_PERMISSION;
    case ENOMEM:
        return NRI_E_NOMEM;
    default:
        return NRI_E_IO;
    }
}

static int read_table(int fd, struct nri_buf *table)
{
    for (;;) {
        uint8_t *room;
        int code = nri_buf_reserve(table, READ_AT_ONCE, &room);
        if (code != 0)
            return code;
        const ssize_t got = read(fd, room, READ_AT_ONCE);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return code_of(errno);
        if (got == 0)
            return 0;
        nri_buf_commit(table, (size_t)got);
    }
}

int nri_mountinfo_look(void *alloc, const char *path, uint32_t *propagation)
{
    char real[PATH_MAX];
    struct nri_buf table;
    if (realpath(path, real) == NULL)
        return code_of(errno);
    const int fd = open(TABLE, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return code_of(errno);
    nri_buf_init(&table, alloc, LARGEST_TABLE);
    int code = read_table(fd, &table);
    (void)close(fd);
    if (code == 0 && !nri_mountinfo_find((const char *)table.data + table.start,
                                         nri_buf_size(&table), real, propagation))
        code = NRI_E_NOT_FOUND;
    nri_buf_fini(&table);
    return code;
}
