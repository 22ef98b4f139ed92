/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configurations of plugins: NN-NAME.conf, else NAME.conf, for plugins of the plugin directory.
 */
#include <errno.h>
#include <string.h>

#include "doctor.h"
#include "io/discovery.h"

#define MOST_BYTES ((size_t)4 << 20) /* what a message may have */

static bool is_stem(const char *file, const char *stem, const char *suffix)
{
    const size_t length = strlen(stem);
    return strncmp(file, stem, length) == 0 && strcmp(file + length, suffix) == 0;
}

static bool has(const struct doctor_names *names, const char *stem)
{
    for (size_t i = 0; i < names->count; i++) {
        if (is_stem(names->names[i], stem, ".conf"))
            return true;
    }
    return false;
}

/* ---- what is read ---- */

static void read_one(struct doctor *doctor, const struct doctor_plugin *plugin, const char *path)
{
    struct nri_error error;
    char *text;
    size_t length;
    const int number = doctor_root_read(&doctor->root, path, MOST_BYTES, &text, &length);
    nri_error_clear(&error);
    if (number == EINVAL || number == EISDIR)
        (void)nri_error_set(&error, NRI_E_INVALID, "%s is not a regular file", path);
    else if (number != 0)
        (void)nri_error_set(&error, NRI_E_IO, "%s: %s", path, strerror(number));
    else
        (void)nri_dropin_check(path, text, length, &error);
    if (error.code == 0)
        DOCTOR_FIND(doctor, DROPIN_READ, path, NULL, "%s gets the %zu bytes of %s", plugin->file,
                    length, path);
    else
        DOCTOR_FIND(doctor, DROPIN_UNREADABLE, path,
                    DOCTOR_TEXT(doctor,
                                "file %s   # a readable text in UTF-8, below 4 MiB, is "
                                "needed",
                                path),
                    "%s", error.text);
}

/* Whether another plugin gets NAME.conf, since it has no file with its index. */
static bool is_used(const struct doctor_plugins *plugins, const struct doctor_names *names,
                    const char *name)
{
    for (size_t i = 0; i < plugins->count; i++) {
        if (strcmp(plugins->list[i].name, name) == 0 && !has(names, plugins->list[i].file))
            return true;
    }
    return false;
}

static void check_plugin(struct doctor *doctor, const struct doctor_plugins *plugins,
                         const struct doctor_names *names, const char *directory,
                         const struct doctor_plugin *plugin)
{
    const bool own = has(names, plugin->file), shared = has(names, plugin->name);
    if (own || shared)
        read_one(doctor, plugin,
                 DOCTOR_TEXT(doctor, "%s/%s.conf", directory, own ? plugin->file : plugin->name));
    if (!own || !shared || is_used(plugins, names, plugin->name))
        return;
    const char *path = DOCTOR_TEXT(doctor, "%s/%s.conf", directory, plugin->name);
    DOCTOR_FIND(
        doctor, DROPIN_SHADOWED, path,
        DOCTOR_TEXT(doctor, "sudo rm %s   # after what it has is in %s.conf", path, plugin->file),
        "%s is hidden by %s.conf", path, plugin->file);
}

/* ---- what is not ---- */

/* The plugin that a configuration seems to be meant for: with another index, or without a suffix.
 */
static const struct doctor_plugin *meant(const struct doctor_plugins *plugins, const char *file,
                                         size_t length)
{
    for (size_t i = 0; i < plugins->count; i++) {
        const struct doctor_plugin *at = &plugins->list[i];
        const size_t size = strlen(at->name);
        const char *stem = file;
        size_t left = length;
        if (left > 3 && stem[2] == '-' && strspn(stem, "0123456789") == 2) {
            stem += 3;
            left -= 3;
        }
        if (left == size && memcmp(stem, at->name, size) == 0)
            return at;
    }
    return NULL;
}

static void check_unmatched(struct doctor *doctor, const struct doctor_plugins *plugins,
                            const char *directory, const char *file, size_t length)
{
    const struct doctor_plugin *plugin = meant(plugins, file, length);
    const char *path = DOCTOR_TEXT(doctor, "%s/%s", directory, file);
    if (plugin != NULL)
        DOCTOR_FIND(doctor, DROPIN_UNMATCHED, path,
                    DOCTOR_TEXT(doctor, "sudo mv %s %s/%s.conf", path, directory, plugin->file),
                    "%s belongs to no plugin; is %s meant?", path, plugin->file);
    else
        DOCTOR_FIND(doctor, DROPIN_UNMATCHED, path,
                    DOCTOR_TEXT(doctor, "ls %s   # the plugins that there are\nsudo rm %s",
                                plugins->directory, path),
                    "%s belongs to no plugin of %s", path, plugins->directory);
}

static void check_file(struct doctor *doctor, const struct doctor_plugins *plugins,
                       const char *directory, const char *file)
{
    const char *dot = strrchr(file, '.');
    const size_t length = dot == NULL ? strlen(file) : (size_t)(dot - file);
    const char *path = DOCTOR_TEXT(doctor, "%s/%s", directory, file);
    for (size_t i = 0; i < plugins->count; i++) {
        const struct doctor_plugin *at = &plugins->list[i];
        if (is_stem(file, at->file, ".conf") || is_stem(file, at->name, ".conf"))
            return;
        const bool whole = strcmp(file, at->file) == 0 || strcmp(file, at->name) == 0;
        const bool cut = (length == strlen(at->file) && memcmp(file, at->file, length) == 0) ||
                         (length == strlen(at->name) && memcmp(file, at->name, length) == 0);
        if (!whole && !cut)
            continue;
        DOCTOR_FIND(doctor, DROPIN_SUFFIX, path,
                    DOCTOR_TEXT(doctor, "sudo mv %s %s/%s.conf", path, directory, at->file),
                    "%s is not read: %s.conf would be", path, at->file);
        return;
    }
    if (dot != NULL && strcmp(dot, ".conf") == 0)
        check_unmatched(doctor, plugins, directory, file, length);
}

void doctor_dropins_check(struct doctor *doctor, const struct doctor_plugins *plugins,
                          const char *directory)
{
    struct doctor_names names;
    const int number = doctor_root_list(&doctor->root, directory, &names);
    if (number == ENOENT)
        return;
    if (number != 0) {
        DOCTOR_FIND(doctor, DROPIN_UNREADABLE, directory,
                    number == EACCES ? "sudo nrictl doctor"
                                     : DOCTOR_TEXT(doctor, "ls -ld %s", directory),
                    "%s: %s", directory, strerror(number));
        return;
    }
    for (size_t i = 0; i < plugins->count; i++)
        check_plugin(doctor, plugins, &names, directory, &plugins->list[i]);
    for (size_t i = 0; i < names.count; i++)
        check_file(doctor, plugins, directory, names.names[i]);
}
