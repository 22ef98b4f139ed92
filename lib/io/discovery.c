/* SPDX-License-Identifier: Apache-2.0 */
#include "io/discovery.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/host.h"
#include "io/socket.h"
#include "model/model.h"

#define MOST_PLUGINS 4096 /* as many as max_plugins may be */

int nri_path_error(struct nri_error *error, int number, const char *path)
{
    int code = NRI_E_IO;
    (void)nri_socket_error(error, number, path);
    if (number == EACCES || number == EPERM || number == EROFS)
        code = NRI_E_PERMISSION;
    else if (number == ENOENT || number == ENOTDIR)
        code = NRI_E_NOT_FOUND;
    else if (number == ENOMEM)
        code = NRI_E_NOMEM;
    if (error != NULL)
        error->code = code;
    return code;
}

/* ---- one file ---- */

static bool may_be_run(const struct stat *status)
{
    return S_ISREG(status->st_mode) && (status->st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
}

enum nri_found_kind nri_found_judge(const char *file, const struct stat *status, const char *head,
                                    size_t head_length, char index[3], const char **name)
{
    static const char wasm[NRI_FOUND_HEAD] = {'\0', 'a', 's', 'm'};
    if (!may_be_run(status))
        return NRI_FOUND_NOTHING;
    if (head_length >= sizeof wasm && memcmp(head, wasm, sizeof wasm) == 0)
        return NRI_FOUND_WASM;
    return nri_identity_from_program(file, index, name) && nri_identity_check_name(*name, NULL) == 0
               ? NRI_FOUND_PLUGIN
               : NRI_FOUND_MISNAMED;
}

/* What cannot be read may be executable for us all the same. */
static size_t read_head(int directory, const char *file, char head[NRI_FOUND_HEAD])
{
    int fd = openat(directory, file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return 0;
    ssize_t got;
    do {
        got = read(fd, head, NRI_FOUND_HEAD);
    } while (got < 0 && errno == EINTR);
    (void)close(fd);
    return got < 0 ? 0 : (size_t)got;
}

static bool look_up(int directory, const char *file, struct stat *status, struct nri_log *log)
{
    if (fstatat(directory, file, status, 0) == 0)
        return true;
    if (errno != ENOENT || fstatat(directory, file, status, AT_SYMLINK_NOFOLLOW) == 0)
        nri_log_write(log, nri_host_now(), NRI_LOG_WARN, NULL,
                      "plugin directory: %s is passed over: it cannot be looked at, or is a "
                      "link to nothing",
                      file);
    return false;
}

static char *join(const struct nri_alloc *alloc, const char *directory, const char *file)
{
    const size_t length = strlen(directory), file_size = strlen(file) + 1;
    char *path = nri_alloc_raw(alloc, length + 1 + file_size);
    if (path == NULL)
        return NULL;
    memcpy(path, directory, length + 1);
    path[length] = '/';
    memcpy(path + length + 1, file, file_size);
    return path;
}

static int add(struct nri_found *found, const char *directory, const char *file,
               struct nri_error *error)
{
    if (found->count == MOST_PLUGINS)
        return nri_error_set(error, NRI_E_LIMIT, "%s: there are more than %d plugins", directory,
                             MOST_PLUGINS);
    if (found->count == found->room) {
        const size_t room = found->room == 0 ? 8 : 2 * found->room;
        struct nri_found_plugin *plugins =
            nri_alloc_resize(&found->alloc, found->plugins, room * sizeof *plugins);
        if (plugins == NULL)
            return nri_error_set(error, NRI_E_NOMEM, "out of memory");
        found->plugins = plugins;
        found->room = room;
    }
    struct nri_found_plugin *plugin = &found->plugins[found->count];
    *plugin = (struct nri_found_plugin){.path = join(&found->alloc, directory, file)};
    if (plugin->path == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "out of memory");
    plugin->file = plugin->path + strlen(directory) + 1;
    found->count++;
    (void)nri_identity_from_program(plugin->file, plugin->index, &plugin->name);
    return 0;
}

static int look_at(struct nri_found *found, int fd, const char *directory, const char *file,
                   struct nri_log *log, struct nri_error *error)
{
    char head[NRI_FOUND_HEAD], index[3];
    const char *name;
    struct stat status;
    if (!look_up(fd, file, &status, log))
        return 0;
    const size_t length = may_be_run(&status) ? read_head(fd, file, head) : 0;
    switch (nri_found_judge(file, &status, head, length, index, &name)) {
    case NRI_FOUND_NOTHING:
        return 0;
    case NRI_FOUND_PLUGIN:
        return add(found, directory, file, error);
    case NRI_FOUND_MISNAMED:
        return nri_error_set(
            error, NRI_E_INVALID,
            "%s/%s may be executed, but is not called as a plugin is: NN-NAME, two "
            "digits, a dash, and letters, digits, \"_\", \".\", \"+\" and \"-\"",
            directory, file);
    default:
        nri_log_write(log, nri_host_now(), NRI_LOG_WARN, NULL,
                      "plugin directory: %s/%s is passed over: it is a WebAssembly module, and "
                      "there is no WASM support: libnri runs plugins as programs only",
                      directory, file);
        return 0;
    }
}

/* ---- all of them ---- */

static int compare(const void *a, const void *b)
{
    const struct nri_found_plugin *one = a, *other = b;
    return strcmp(one->file, other->file);
}

static int read_all(struct nri_found *found, DIR *stream, const char *directory,
                    struct nri_log *log, struct nri_error *error)
{
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(stream);
        if (entry == NULL)
            return errno == 0 ? 0 : nri_path_error(error, errno, directory);
        int rc = look_at(found, dirfd(stream), directory, entry->d_name, log, error);
        if (rc != 0)
            return rc;
    }
}

int nri_found_look(struct nri_found *found, const struct nri_alloc *alloc, const char *directory,
                   struct nri_log *log, struct nri_error *error)
{
    *found = (struct nri_found){.alloc = *alloc};
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : nri_path_error(error, errno, directory);
    DIR *stream = fdopendir(fd);
    if (stream == NULL) {
        int rc = nri_path_error(error, errno, directory);
        (void)close(fd);
        return rc;
    }
    int rc = read_all(found, stream, directory, log, error);
    (void)closedir(stream);
    if (rc != 0)
        nri_found_fini(found);
    else if (found->count > 0)
        qsort(found->plugins, found->count, sizeof *found->plugins, compare);
    return rc;
}

int nri_found_configure(struct nri_found *found, const char *directory, size_t most,
                        struct nri_error *error)
{
    for (size_t i = 0; i < found->count; i++) {
        struct nri_found_plugin *plugin = &found->plugins[i];
        int rc = nri_dropin_read(&found->alloc, directory, plugin->file, plugin->name, most,
                                 &plugin->config, error);
        if (rc != 0)
            return rc;
    }
    return 0;
}

void nri_found_fini(struct nri_found *found)
{
    for (size_t i = 0; i < found->count; i++) {
        nri_alloc_release(&found->alloc, found->plugins[i].path);
        nri_alloc_release(&found->alloc, found->plugins[i].config);
    }
    if (found->plugins != NULL)
        nri_alloc_release(&found->alloc, found->plugins);
    found->plugins = NULL;
    found->count = found->room = 0;
}
