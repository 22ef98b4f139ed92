/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugin directories: what a runtime would start there, and what it passes over. Which file is
 * a plugin is the library's judgement (lib/io/discovery.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <nri/runtime.h>

#include "doctor.h"
#include "io/discovery.h"
#include "model/model.h"

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* Whether the question is about this file: its path, its "NN-name" or its name was given. */
static bool is_asked(const struct doctor *doctor, const char *path)
{
    const char *file = last_part(path), *asked = doctor->plugin, *name;
    char index[3];
    if (asked == NULL || strcmp(asked, path) == 0 || strcmp(asked, file) == 0)
        return true;
    return nri_identity_from_program(file, index, &name) && strcmp(asked, name) == 0;
}

/* ---- one file ---- */

static void check_owner(struct doctor *doctor, const char *path, const struct stat *status)
{
    struct stat top = {.st_uid = 0};
    /* Whoever asks may own what they try out, and whoever owns the root all of it. */
    (void)doctor_root_stat(&doctor->root, "/", &top);
    const bool others = (status->st_mode & S_IWOTH) != 0 ||
                        ((status->st_mode & S_IWGRP) != 0 && status->st_gid != 0 &&
                         status->st_gid != doctor->user.gid && status->st_gid != top.st_gid);
    const bool owned =
        status->st_uid != 0 && status->st_uid != doctor->user.uid && status->st_uid != top.st_uid;
    if (!others && !owned)
        return;
    DOCTOR_FIND(doctor, PLUGINS_WRITABLE, path,
                DOCTOR_TEXT(doctor, "sudo chown root:root %s\nsudo chmod go-w %s", path, path),
                "%s belongs to user %u, with mode %04o", path, (unsigned)status->st_uid,
                (unsigned)status->st_mode & 07777);
}

static size_t read_head(struct doctor *doctor, const char *path, char head[NRI_FOUND_HEAD])
{
    int fd;
    if (doctor_root_file(&doctor->root, path, &fd) != 0)
        return 0;
    const ssize_t got = read(fd, head, NRI_FOUND_HEAD);
    (void)close(fd);
    return got < 0 ? 0 : (size_t)got;
}

static void say_passed_over(struct doctor *doctor, const char *path, const struct stat *status)
{
    const char *name;
    char index[3];
    if (!nri_identity_from_program(last_part(path), index, &name) ||
        nri_identity_check_name(name, NULL) != 0)
        return; /* it is not meant to be a plugin */
    if (S_ISREG(status->st_mode))
        DOCTOR_FIND(doctor, PLUGIN_MODE, path, DOCTOR_TEXT(doctor, "sudo chmod +x %s", path),
                    "%s may not be executed: its mode is %04o", path,
                    (unsigned)status->st_mode & 07777);
    else
        DOCTOR_FIND(doctor, PLUGIN_KIND, path,
                    DOCTOR_TEXT(doctor, "put the plugin itself there: %s", path), "%s is %s", path,
                    S_ISDIR(status->st_mode) ? "a directory" : "no regular file");
}

static void say_misnamed(struct doctor *doctor, const char *path)
{
    const char *file = last_part(path);
    const size_t length = strlen(path) - strlen(file);
    DOCTOR_FIND(doctor, PLUGIN_NAME, path,
                DOCTOR_TEXT(doctor,
                            "sudo mv %s %.*s10-NAME   # a plugin\nsudo chmod -x %s   # or "
                            "none",
                            path, (int)length, path, path),
                "%s may be executed, and is not called NN-NAME: two digits, a dash, and letters, "
                "digits, \"_\", \".\", \"+\" and \"-\"",
                path);
}

/* Adds it when the runtime would start it. */
static void look_at(struct doctor *doctor, struct doctor_plugins *plugins, const char *path)
{
    struct doctor_plugin *plugin = &plugins->list[plugins->count];
    struct stat status;
    char head[NRI_FOUND_HEAD];
    const int number = doctor_root_stat(&doctor->root, path, &status);
    if (number != 0) {
        const char *link = doctor_root_link(&doctor->root, path);
        DOCTOR_FIND(doctor, PLUGIN_LINK, path, DOCTOR_TEXT(doctor, "sudo rm %s", path),
                    "%s is a link to %s: %s", path, link == NULL ? "?" : link, strerror(number));
        return;
    }
    *plugin = (struct doctor_plugin){.path = path, .file = last_part(path)};
    const size_t length = S_ISREG(status.st_mode) ? read_head(doctor, path, head) : 0;
    switch (nri_found_judge(plugin->file, &status, head, length, plugin->index, &plugin->name)) {
    case NRI_FOUND_NOTHING:
        if (is_asked(doctor, path))
            say_passed_over(doctor, path, &status);
        return;
    case NRI_FOUND_MISNAMED:
        say_misnamed(doctor, path);
        return;
    case NRI_FOUND_WASM:
        DOCTOR_FIND(doctor, PLUGIN_WASM, path, "use containerd 2.2 or CRI-O 1.32, or later",
                    "%s is a WebAssembly module", path);
        return;
    case NRI_FOUND_PLUGIN:
        plugins->count++;
        break;
    }
    if (!is_asked(doctor, path))
        return;
    check_owner(doctor, path, &status);
    if (doctor_program_check(doctor, plugin))
        DOCTOR_FIND(doctor, PLUGIN_READY, path, NULL, "%s can be started", path);
}

/* ---- one directory ---- */

static void say_same_index(struct doctor *doctor, const char *directory,
                           const struct doctor_plugin *one, const struct doctor_plugin *other)
{
    DOCTOR_FIND(doctor, PLUGIN_SAME_INDEX, directory,
                DOCTOR_TEXT(doctor, "sudo mv %s %s/NN-%s   # another number", other->path,
                            directory, other->name),
                "%s and %s have the index %s", one->file, other->file, one->index);
}

static void say_same_name(struct doctor *doctor, const char *directory,
                          const struct doctor_plugin *one, const struct doctor_plugin *other)
{
    DOCTOR_FIND(doctor, PLUGIN_SAME_NAME, directory,
                DOCTOR_TEXT(doctor, "sudo rm %s   # or give it another name", one->path),
                "%s and %s have the name %s", one->file, other->file, one->name);
}

/* Each with the first one before it that is like it: of many there are no more findings. */
static void compare(struct doctor *doctor, const struct doctor_plugins *plugins)
{
    for (size_t i = 0; i < plugins->count; i++) {
        const struct doctor_plugin *other = &plugins->list[i];
        bool index = false, name = false;
        for (size_t j = 0; j < i; j++) {
            const struct doctor_plugin *one = &plugins->list[j];
            if (!is_asked(doctor, one->path) && !is_asked(doctor, other->path))
                continue;
            if (!index && (index = strcmp(one->index, other->index) == 0))
                say_same_index(doctor, plugins->directory, one, other);
            if (!name && (name = strcmp(one->name, other->name) == 0))
                say_same_name(doctor, plugins->directory, one, other);
        }
    }
}

static void check_mount(struct doctor *doctor, const char *directory)
{
    struct statvfs system;
    const int fd = doctor->live ? doctor_root_find(&doctor->root, directory, true) : -1;
    if (fd < 0)
        return;
    const bool noexec = fstatvfs(fd, &system) == 0 && (system.f_flag & ST_NOEXEC) != 0;
    (void)close(fd);
    if (noexec)
        DOCTOR_FIND(doctor, PLUGIN_NOEXEC, directory,
                    DOCTOR_TEXT(doctor,
                                "findmnt -T %s   # which file system it is\n"
                                "sudo mount -o remount,exec TARGET   # and in /etc/fstab",
                                directory),
                    "%s is on a file system that is mounted noexec", directory);
}

static void look_into(struct doctor *doctor, struct doctor_plugins *plugins, const char *directory,
                      bool given)
{
    struct doctor_names names;
    struct stat status;
    const int number = doctor_root_list(&doctor->root, directory, &names);
    plugins->directory = directory;
    if (number == ENOENT) {
        if (given)
            DOCTOR_FIND(doctor, PLUGINS_DIRECTORY_MISSING, directory,
                        DOCTOR_TEXT(doctor, "sudo mkdir -p -m 0755 %s", directory),
                        "%s is not there", directory);
        return;
    }
    if (number != 0) {
        DOCTOR_FIND(doctor, PLUGINS_DIRECTORY, directory,
                    number == EACCES ? "sudo nrictl doctor"
                                     : DOCTOR_TEXT(doctor, "sudo rm %s\nsudo mkdir -m 0755 %s",
                                                   directory, directory),
                    "%s: %s", directory, strerror(number));
        return;
    }
    if (doctor_root_stat(&doctor->root, directory, &status) == 0)
        check_owner(doctor, directory, &status);
    const size_t most = names.count < DOCTOR_MOST_PLUGINS ? names.count : DOCTOR_MOST_PLUGINS;
    plugins->list = nri_arena_array(&doctor->arena, most + 1, sizeof *plugins->list);
    for (size_t i = 0; i < most && plugins->list != NULL; i++)
        look_at(doctor, plugins, DOCTOR_TEXT(doctor, "%s/%s", directory, names.names[i]));
    if (plugins->count > 0)
        check_mount(doctor, directory);
    compare(doctor, plugins);
}

/* ---- all of them ---- */

static bool is_among(const struct doctor *doctor, const struct doctor_plugins *plugins)
{
    for (size_t i = 0; i < plugins->count; i++) {
        if (is_asked(doctor, plugins->list[i].path))
            return true;
    }
    return false;
}

/* A plugin that was asked for and is in no plugin directory: a program that connects by itself, if
 * it is one. */
static void check_external(struct doctor *doctor)
{
    struct doctor_plugin plugin = {.path = doctor->plugin, .file = last_part(doctor->plugin)};
    struct stat status;
    doctor->external = true;
    if (doctor->plugin[0] != '/' || doctor_root_stat(&doctor->root, doctor->plugin, &status) != 0) {
        DOCTOR_FIND(doctor, PLUGIN_ABSENT, doctor->plugin,
                    "nrictl doctor /PATH/TO/PLUGIN   # for a plugin that connects by itself",
                    "no plugin directory has a plugin %s", doctor->plugin);
        return;
    }
    if (!S_ISREG(status.st_mode) || (status.st_mode & 0111) == 0) {
        DOCTOR_FIND(doctor, PLUGIN_MODE, doctor->plugin,
                    DOCTOR_TEXT(doctor, "sudo chmod +x %s", doctor->plugin),
                    "%s is no file that may be executed", doctor->plugin);
        return;
    }
    if (doctor_program_check(doctor, &plugin))
        DOCTOR_FIND(doctor, PLUGIN_READY, doctor->plugin, NULL, "%s can be started",
                    doctor->plugin);
}

static bool was_told(const struct doctor *doctor, const char *plugin)
{
    for (size_t i = 0; plugin != NULL && i < doctor->findings.count; i++) {
        const struct doctor_finding *at = &doctor->findings.list[i];
        if (at->where != NULL && is_asked(doctor, at->where) &&
            strncmp(doctor_describe(at->kind)->id, "plugins.", 8) == 0)
            return true;
    }
    return false;
}

void doctor_plugins_check(struct doctor *doctor)
{
    bool found = doctor->plugin == NULL;
    for (size_t i = 0; i < doctor->runtime_count || (i == 0 && doctor->plugin_dir != NULL); i++) {
        struct doctor_runtime *runtime = &doctor->runtimes[i];
        struct doctor_plugins plugins = {.count = 0};
        const bool given = doctor->plugin_dir != NULL;
        if (i < doctor->runtime_count && !runtime->enabled && !given)
            continue;
        look_into(doctor, &plugins, given ? doctor->plugin_dir : runtime->plugins,
                  given || runtime->plugins_given);
        runtime->plugin_count = plugins.count;
        found = found || is_among(doctor, &plugins);
        doctor_dropins_check(doctor, &plugins,
                             doctor->config_dir != NULL  ? doctor->config_dir
                             : i < doctor->runtime_count ? runtime->dropins
                                                         : NRI_DEFAULT_CONFIG_DIRECTORY);
        if (plugins.count > 0 && i < doctor->runtime_count &&
            strcmp(runtime->name, "containerd") == 0 &&
            doctor_version_before(runtime->version, 2, 0))
            DOCTOR_FIND(doctor, RUNTIME_NO_SYNC, plugins.directory,
                        "start the plugin by itself, so that it connects to the socket; or use "
                        "containerd 2",
                        "containerd %s does not synchronise the plugins of %s", runtime->version,
                        plugins.directory);
    }
    if (!found && !was_told(doctor, doctor->plugin))
        check_external(doctor);
}
