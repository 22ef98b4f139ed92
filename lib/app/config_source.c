/* SPDX-License-Identifier: Apache-2.0 */
#include "config_source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config_error.h"

static int out_of_memory(const char *path, char *text)
{
    return app_config_fail(text, "%.400s: out of memory", path);
}

static int system_error(const char *path, char *text)
{
    return app_config_fail(text, "%.400s: cannot be read: %s", path, strerror(errno));
}

/* ---- names ---- */

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length > tail && strcmp(name + length - tail, end) == 0;
}

bool app_source_is_json(const char *path)
{
    return ends_with(path, ".json");
}

bool app_source_looks_like_json(const char *bytes)
{
    static const char blanks[] = " \t\r\n";
    bytes += strspn(bytes, blanks);
    if (*bytes != '{')
        return false;
    bytes += 1 + strspn(bytes + 1, blanks);
    return *bytes == '"' || *bytes == '}';
}

/* Editors and mounted ConfigMaps keep what is not meant under names with a dot in front. */
static bool is_drop_in(const char *name)
{
    return name[0] != '.' &&
           (ends_with(name, ".json") || ends_with(name, ".yaml") || ends_with(name, ".yml"));
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* ---- the directory ---- */

static char *join(struct app_region *region, const char *directory, const char *separator,
                  const char *name)
{
    size_t size = strlen(directory) + strlen(separator) + strlen(name) + 1;
    char *path = app_region_take(region, size);
    if (path != NULL)
        snprintf(path, size, "%s%s%s", directory, separator, name);
    return path;
}

static int read_names(struct app_region *region, DIR *directory, const char *path,
                      const char **files, size_t *count, char *text)
{
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(directory);
        if (entry == NULL)
            return errno == 0 ? 0 : system_error(path, text);
        if (!is_drop_in(entry->d_name))
            continue;
        if (*count > APP_SOURCE_MAX_DROP_INS)
            return app_config_fail(text, "%.400s: more than %zu drop-ins", path,
                                   APP_SOURCE_MAX_DROP_INS);
        files[*count] = join(region, path, "/", entry->d_name);
        if (files[*count] == NULL)
            return out_of_memory(path, text);
        ++*count;
    }
}

int app_source_find(struct app_region *region, const char *path, struct app_source_paths *paths,
                    char *text)
{
    const char **files = app_region_take_many(region, APP_SOURCE_MAX_DROP_INS + 1, sizeof *files);
    const char *name = join(region, path, ".d", "");
    if (files == NULL || name == NULL)
        return out_of_memory(path, text);
    files[0] = path;
    paths->directory = name;
    paths->files = files;
    paths->count = 1;
    DIR *directory = opendir(name); /* with O_CLOEXEC */
    if (directory == NULL && errno == ENOENT)
        return 0;
    if (directory == NULL)
        return errno == ENOMEM ? out_of_memory(name, text) : system_error(name, text);
    int result = read_names(region, directory, name, files, &paths->count, text);
    closedir(directory);
    if (result == 0)
        qsort(files + 1, paths->count - 1, sizeof *files, compare);
    return result;
}

/* ---- a file ---- */

/* Reads to the end, or to what is too much. */
static int read_all(int fd, const char *path, char *bytes, size_t size, size_t *length, char *text)
{
    *length = 0;
    while (*length < size) {
        ssize_t count = read(fd, bytes + *length, size - *length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return system_error(path, text);
        if (count == 0)
            return 0;
        *length += (size_t)count;
    }
    return app_config_fail(text, "%.400s: more than %zu bytes", path, APP_TREE_MAX_BYTES);
}

/* A pipe could keep a reader waiting, and cannot be read again by a reload. */
static int check_kind(int fd, const char *path, char *text)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return system_error(path, text);
    if (S_ISDIR(status.st_mode))
        return app_config_fail(text, "%.400s: is a directory, not a file", path);
    if (!S_ISREG(status.st_mode) && !S_ISCHR(status.st_mode))
        return app_config_fail(text, "%.400s: is not a regular file", path);
    return 0;
}

int app_source_read(struct app_region *region, const char *path, const char **bytes, size_t *length,
                    char *text)
{
    int result = -1, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return system_error(path, text);
    /* One byte more than allowed shows that there is more. */
    char *buffer = malloc(APP_TREE_MAX_BYTES + 1);
    if (buffer == NULL) {
        out_of_memory(path, text);
    } else if (check_kind(fd, path, text) == 0 &&
               read_all(fd, path, buffer, APP_TREE_MAX_BYTES + 1, length, text) == 0) {
        *bytes = app_region_text(region, buffer, *length);
        result = *bytes != NULL ? 0 : out_of_memory(path, text);
    }
    free(buffer);
    close(fd);
    return result;
}
