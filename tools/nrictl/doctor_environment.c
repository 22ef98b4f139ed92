/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables that a runtime sets for the plugins that it starts, left over where none did: in the
 * environment of who asks, of logins, of units.
 */
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "io/environment.h"

void doctor_environment_look(struct doctor *doctor, const char *assignment, const char *where)
{
    const size_t length = strcspn(assignment, "=");
    const char *name = DOCTOR_TEXT(doctor, "%.*s", (int)length, assignment);
    const char *fix = where == NULL ? DOCTOR_TEXT(doctor, "unset %s", name)
                                    : DOCTOR_TEXT(doctor, "take %s out of %s", name, where);
    const char *place = where == NULL ? "this environment" : where;
    if (strcmp(name, NRI_ENVIRONMENT_SOCKET) == 0)
        DOCTOR_FIND(doctor, ENVIRONMENT_SOCKET, where, fix, "%s has %s", place, assignment);
    else if (strcmp(name, NRI_ENVIRONMENT_NAME) == 0 || strcmp(name, NRI_ENVIRONMENT_INDEX) == 0)
        DOCTOR_FIND(doctor, ENVIRONMENT_IDENTITY, where, fix, "%s has %s", place, assignment);
}

static void look_at_own(struct doctor *doctor)
{
    static const char *const names[] = {NRI_ENVIRONMENT_NAME, NRI_ENVIRONMENT_INDEX,
                                        NRI_ENVIRONMENT_SOCKET};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = nri_environment_get(names[i]);
        if (value != NULL)
            doctor_environment_look(doctor, DOCTOR_TEXT(doctor, "%s=%s", names[i], value), NULL);
    }
}

void doctor_environment_check(struct doctor *doctor)
{
    static const char *const files[] = {"/etc/environment"};
    char *text;
    size_t length;
    if (doctor->live)
        look_at_own(doctor);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (doctor_root_read(&doctor->root, files[i], DOCTOR_MOST_BYTES, &text, &length) != 0)
            continue;
        for (char *line; (line = strsep(&text, "\n")) != NULL;) {
            line += strspn(line, " \t");
            line += strncmp(line, "export ", 7) == 0 ? 7 : 0;
            doctor_environment_look(doctor, line, files[i]);
        }
    }
}
