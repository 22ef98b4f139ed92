/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Versions of installed packages: Debian's dpkg, Alpine's apk, Arch's pacman. (An RPM database is
 * no text.)
 */
#include <string.h>

#include "doctor.h"

/* dpkg has a megabyte for a thousand packages. */
#define MOST_BYTES ((size_t)32 << 20)

static bool is_one(const char *const *names, const char *text, size_t length)
{
    for (; *names != NULL; names++) {
        if (strlen(*names) == length && memcmp(*names, text, length) == 0)
            return true;
    }
    return false;
}

/* "1:2.1.4-0ubuntu1" without its epoch. */
static const char *without_epoch(struct doctor *doctor, const char *text, size_t length)
{
    const char *colon = memchr(text, ':', length);
    if (colon != NULL) {
        length -= (size_t)(colon + 1 - text);
        text = colon + 1;
    }
    return DOCTOR_TEXT(doctor, "%.*s", (int)length, text);
}

/* A file of paragraphs with a field a line; NULL: it has no such package. */
static const char *from_paragraphs(struct doctor *doctor, const char *path, const char *name_field,
                                   const char *version_field, const char *const *names)
{
    char *text;
    size_t length;
    bool is_it = false, installed = true;
    const size_t name_length = strlen(name_field), version_length = strlen(version_field);
    if (doctor_root_read(&doctor->root, path, MOST_BYTES, &text, &length) != 0)
        return NULL;
    for (const char *line = text; line < text + length;) {
        const char *end = memchr(line, '\n', (size_t)(text + length - line));
        const size_t size = (size_t)((end == NULL ? text + length : end) - line);
        if (size == 0)
            is_it = false;
        else if (size > name_length && memcmp(line, name_field, name_length) == 0) {
            is_it = is_one(names, line + name_length, size - name_length);
            installed = true;
        } else if (size > 8 && memcmp(line, "Status: ", 8) == 0)
            installed = memmem(line, size, " installed", 10) != NULL;
        else if (is_it && installed && size > version_length &&
                 memcmp(line, version_field, version_length) == 0)
            return without_epoch(doctor, line + version_length, size - version_length);
        line += size + 1;
    }
    return NULL;
}

/* Directories NAME-VERSION-RELEASE. */
static const char *from_pacman(struct doctor *doctor, const char *const *names)
{
    struct doctor_names found;
    if (doctor_root_list(&doctor->root, "/var/lib/pacman/local", &found) != 0)
        return NULL;
    for (size_t i = 0; i < found.count; i++) {
        const char *text = found.names[i], *release = strrchr(text, '-');
        const char *version = release;
        while (version != NULL && version > text && (version == release || *version != '-'))
            version--;
        if (version != NULL && version > text && is_one(names, text, (size_t)(version - text)))
            return without_epoch(doctor, version + 1, (size_t)(release - version) - 1);
    }
    return NULL;
}

const char *doctor_package_version(struct doctor *doctor, const char *const *names)
{
    const char *version =
        from_paragraphs(doctor, "/var/lib/dpkg/status", "Package: ", "Version: ", names);
    if (version == NULL)
        version = from_paragraphs(doctor, "/lib/apk/db/installed", "P:", "V:", names);
    return version != NULL ? version : from_pacman(doctor, names);
}
