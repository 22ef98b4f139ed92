/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a script can be started: its first line, "#!INTERPRETER ARGUMENT".
 */
#include <errno.h>
#include <string.h>

#include "doctor.h"

static bool is_executable(struct doctor *doctor, const char *path)
{
    struct stat status;
    return doctor_root_stat(&doctor->root, path, &status) == 0 && S_ISREG(status.st_mode) &&
           (status.st_mode & 0111) != 0;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* env looks where the C library does without a PATH. */
static bool check_search(struct doctor *doctor, const char *path, const char *words)
{
    char text[256];
    (void)strncpy(text, words, sizeof text - 1);
    text[sizeof text - 1] = '\0';
    char *rest = text, *name;
    while ((name = strsep(&rest, " \t")) != NULL &&
           (name[0] == '\0' || name[0] == '-' || strchr(name, '=') != NULL))
        continue;
    if (name == NULL || strchr(name, '/') != NULL)
        return true;
    if (is_executable(doctor, DOCTOR_TEXT(doctor, "/bin/%s", name)) ||
        is_executable(doctor, DOCTOR_TEXT(doctor, "/usr/bin/%s", name)))
        return true;
    const char *local = DOCTOR_TEXT(doctor, "/usr/local/bin/%s", name);
    DOCTOR_FIND(doctor, PLUGIN_SEARCH_PATH, path,
                DOCTOR_TEXT(doctor, "#!%s   # the first line of %s",
                            is_executable(doctor, local) ? local : "/PATH/TO/INTERPRETER", path),
                "%s needs %s by env, which is in neither /bin nor /usr/bin", path, name);
    return false;
}

bool doctor_script_check(struct doctor *doctor, const char *path, const char *head, size_t length)
{
    const char *end = memchr(head, '\n', length);
    const char *line =
        DOCTOR_TEXT(doctor, "%.*s", (int)((end == NULL ? head + length : end) - head), head);
    const size_t blanks = 2 + strspn(line + 2, " \t");
    const size_t name_length = strcspn(line + blanks, " \t");
    const char *name = DOCTOR_TEXT(doctor, "%.*s", (int)name_length, line + blanks);
    const char *rest = line + blanks + name_length;
    const size_t line_length = strlen(line);
    if (line_length > 0 && line[line_length - 1] == '\r') {
        DOCTOR_FIND(doctor, PLUGIN_LINE_END, path,
                    DOCTOR_TEXT(doctor, "sudo sed -i 's/\\r$//' %s", path),
                    "the first line of %s ends with a carriage return", path);
        return false;
    }
    if (name[0] != '/' || !is_executable(doctor, name)) {
        DOCTOR_FIND(doctor, PLUGIN_INTERPRETER, path,
                    DOCTOR_TEXT(doctor, "ls -lL %s   # install it, or name another in %s",
                                name[0] == '\0' ? "/PATH/TO/INTERPRETER" : name, path),
                    name[0] == '/' ? "%s needs %s, which is not there or may not be executed"
                                   : "%s needs '%s', which is no whole path",
                    path, name);
        return false;
    }
    if (strcmp(last_part(name), "env") == 0)
        return check_search(doctor, path, rest);
    return true;
}
