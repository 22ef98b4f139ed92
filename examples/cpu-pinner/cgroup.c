/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "textfile.h"

struct writing {
    char *text;
    size_t size, length;
    bool full;
};

static void put(struct writing *writing, const char *text, size_t length)
{
    if (length >= writing->size - writing->length) {
        writing->full = true;
        return;
    }
    memcpy(writing->text + writing->length, text, length);
    writing->length += length;
    writing->text[writing->length] = '\0';
}

/* A slice lies within those that its name begins with: a-b.slice is /a.slice/a-b.slice. */
static void put_slice(struct writing *writing, const char *slice, size_t length)
{
    static const char end[] = ".slice";
    const size_t end_length = sizeof end - 1;
    if (length < end_length || memcmp(slice + length - end_length, end, end_length) != 0) {
        put(writing, "/", 1);
        put(writing, slice, length);
        return;
    }
    length -= end_length;
    if (length == 1 && slice[0] == '-')
        return; /* the root slice */
    for (size_t i = 1; i <= length; i++) {
        if (i < length && slice[i] != '-')
            continue;
        put(writing, "/", 1);
        put(writing, slice, i);
        put(writing, end, end_length);
    }
}

/* SLICE:PREFIX:NAME */
static void put_unit(struct writing *writing, const char *slice, const char *prefix,
                     const char *name)
{
    const size_t name_length = strlen(name);
    if (prefix == slice + 1)
        put_slice(writing, "system.slice", 12);
    else
        put_slice(writing, slice, (size_t)(prefix - 1 - slice));
    if (name_length > 6 && strcmp(name + name_length - 6, ".slice") == 0) {
        put_slice(writing, name, name_length);
        return;
    }
    put(writing, "/", 1);
    if (name - 1 > prefix) {
        put(writing, prefix, (size_t)(name - 1 - prefix));
        put(writing, "-", 1);
    }
    put(writing, name, name_length);
    put(writing, ".scope", 6);
}

static bool leaves(const char *path)
{
    for (const char *part = path; part != NULL; part = strchr(part, '/')) {
        part += part[0] == '/';
        if (strcspn(part, "/") == 2 && memcmp(part, "..", 2) == 0)
            return true;
    }
    return false;
}

int cgroup_path(const char *cgroups_path, char *path, size_t size)
{
    struct writing writing = {.text = path, .size = size};
    const char *first = strchr(cgroups_path, ':');
    const char *second = first != NULL ? strchr(first + 1, ':') : NULL;
    path[0] = '\0';
    if (cgroups_path[0] == '\0' || leaves(cgroups_path))
        return -1;
    if (cgroups_path[0] != '/' && second != NULL) {
        put_unit(&writing, cgroups_path, first + 1, second + 1);
    } else {
        if (cgroups_path[0] != '/')
            put(&writing, "/", 1);
        put(&writing, cgroups_path, strlen(cgroups_path));
    }
    return writing.full || leaves(path) ? -1 : 0;
}

int cgroup_read_cpus(const char *root, const char *cgroups_path, nri_cpuset *cpus)
{
    char path[PATH_MAX], unified[PATH_MAX];
    int code = -1;
    char *text = malloc(TEXTFILE_BYTES);
    if (text == NULL || cgroup_path(cgroups_path, path, sizeof path) != 0)
        goto out;
    const int length = snprintf(unified, sizeof unified, "%s/cgroup.controllers", root);
    if (length < 0 || (size_t)length >= sizeof unified)
        goto out;
    const char *controller = access(unified, F_OK) == 0 ? "" : "/cpuset";
    const int read =
        textfile_read(text, TEXTFILE_BYTES, "%s%s%s/cpuset.cpus", root, controller, path);
    if (read == 0)
        code = nri_cpuset_parse(cpus, text, NULL) == 0 ? 0 : -1;
    else if (read == -ENOENT || read == -ENODEV)
        code = 1;
out:
    free(text);
    return code;
}
