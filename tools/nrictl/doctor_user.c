/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asks, and what the modes of files allow them. Access control lists and capabilities other
 * than root's are not looked at.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"

static bool number(const char *text, size_t length, unsigned *value)
{
    unsigned long long sum = 0;
    if (length == 0 || length > 10)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        sum = 10 * sum + (unsigned)(text[i] - '0');
    }
    *value = (unsigned)sum;
    return sum < UINT_MAX;
}

/* The fields of a line of /etc/passwd or /etc/group; how many there are. */
static size_t split(char *line, char *fields[7])
{
    size_t count = 0;
    while (count < 7 && line != NULL)
        fields[count++] = strsep(&line, ":");
    return count;
}

static bool is_member(char *list, const char *name)
{
    for (char *at; (at = strsep(&list, ",")) != NULL;) {
        if (strcmp(at, name) == 0)
            return true;
    }
    return false;
}

static void add_groups(struct doctor *doctor, struct doctor_user *user)
{
    char *text, *fields[7];
    size_t length;
    unsigned gid;
    if (doctor_root_read(&doctor->root, "/etc/group", DOCTOR_MOST_BYTES, &text, &length) != 0)
        return;
    for (char *line; (line = strsep(&text, "\n")) != NULL;) {
        if (split(line, fields) == 4 && number(fields[2], strlen(fields[2]), &gid) &&
            is_member(fields[3], user->name) && user->group_count < DOCTOR_MOST_GROUPS)
            user->groups[user->group_count++] = gid;
    }
}

bool doctor_user_named(struct doctor *doctor, const char *text, struct doctor_user *user)
{
    char *all, *fields[7];
    size_t length;
    unsigned uid = 0, gid;
    const bool numeric = number(text, strlen(text), &uid);
    *user = (struct doctor_user){.uid = uid, .gid = uid, .name = text};
    if (doctor_root_read(&doctor->root, "/etc/passwd", DOCTOR_MOST_BYTES, &all, &length) != 0)
        return numeric || strcmp(text, "root") == 0;
    for (char *line; (line = strsep(&all, "\n")) != NULL;) {
        unsigned id;
        if (split(line, fields) < 4 || !number(fields[2], strlen(fields[2]), &id) ||
            !number(fields[3], strlen(fields[3]), &gid) ||
            (numeric ? id != uid : strcmp(fields[0], text) != 0))
            continue;
        user->uid = id;
        user->gid = gid;
        user->name = fields[0];
        add_groups(doctor, user);
        return true;
    }
    return numeric || strcmp(text, "root") == 0;
}

int doctor_user_find(struct doctor *doctor)
{
    struct doctor_user *user = &doctor->user;
    if (doctor->user_text != NULL) {
        if (doctor_user_named(doctor, doctor->user_text, user))
            return NRICTL_OK;
        return nrictl_fail(doctor->ctl, NRICTL_USAGE, "--user: there is no user '%s'",
                           doctor->user_text);
    }
    *user = (struct doctor_user){.uid = geteuid(), .gid = getegid()};
    user->name = DOCTOR_TEXT(doctor, "user %u", (unsigned)user->uid);
    const int count = getgroups(DOCTOR_MOST_GROUPS, user->groups);
    user->group_count = count > 0 ? (size_t)count : 0;
    return NRICTL_OK;
}

bool doctor_user_may(const struct doctor_user *user, const struct stat *status, int mode)
{
    unsigned shift = 0;
    bool member = user->gid == status->st_gid;
    for (size_t i = 0; !member && i < user->group_count; i++)
        member = user->groups[i] == status->st_gid;
    if (user->uid == 0) /* reads and searches all; executes what somebody may */
        return (mode & X_OK) == 0 || S_ISDIR(status->st_mode) || (status->st_mode & 0111) != 0;
    if (user->uid == status->st_uid)
        shift = 6;
    else if (member)
        shift = 3;
    return ((status->st_mode >> shift) & (unsigned)mode) == (unsigned)mode;
}

/* The links of a path are resolved one by one, since each has directories of its own above it. */
const char *doctor_user_stopped(struct doctor *doctor, const struct doctor_user *user,
                                const char *path, int mode)
{
    char *at = strdup(path);
    const char *stopped = NULL;
    if (at == NULL)
        return NULL;
    unsigned links = 0;
    for (size_t i = 1; stopped == NULL; i++) {
        const bool last = at[i] == '\0';
        struct stat status;
        if (!last && at[i] != '/')
            continue;
        at[i] = '\0';
        const int failed = doctor_root_lstat(&doctor->root, at, &status);
        const char *link = failed == 0 && S_ISLNK(status.st_mode) && links++ < 40
                               ? doctor_root_link(&doctor->root, at)
                               : NULL;
        if (link != NULL) {
            /* The text of the link, from "/" or from the link's own directory, and the rest. */
            *strrchr(at, '/') = '\0';
            const char *next = DOCTOR_TEXT(doctor, "%s/%s%s%s", link[0] == '/' ? "" : at, link,
                                           last ? "" : "/", last ? "" : at + i + 1);
            free(at);
            at = strdup(next);
            if (at == NULL || at[0] != '/')
                break;
            i = 0;
            continue;
        }
        if (failed != 0)
            break;
        if (!doctor_user_may(user, &status, last ? mode : X_OK))
            stopped = DOCTOR_TEXT(doctor, "%s", at);
        if (last)
            break;
        at[i] = '/';
    }
    free(at);
    return stopped;
}
