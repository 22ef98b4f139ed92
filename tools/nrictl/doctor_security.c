/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What security modules may have against a connection. Their policies are not evaluated: what is
 * told is that they are there, with the labels that a look into the audit log needs.
 */
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "doctor.h"

static const char *label_of(struct doctor *doctor, const char *path)
{
    char name[32], label[256];
    const int fd = doctor_root_find(&doctor->root, path, true);
    if (fd < 0)
        return NULL;
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    const ssize_t length = getxattr(name, "security.selinux", label, sizeof label - 1);
    (void)close(fd);
    if (length <= 0)
        return NULL;
    label[length] = '\0';
    return DOCTOR_TEXT(doctor, "%s", label);
}

/* NULL: it is not to be seen. */
static const char *profile_of(struct doctor *doctor, long pid)
{
    return pid == 0 ? NULL
                    : doctor_root_line(&doctor->root,
                                       DOCTOR_TEXT(doctor, "/proc/%ld/attr/current", pid));
}

void doctor_security_check(struct doctor *doctor, const char *socket,
                           const struct doctor_listener *listener)
{
    const char *enforcing = doctor_root_line(&doctor->root, "/sys/fs/selinux/enforce");
    const char *profile = profile_of(doctor, listener->pid);
    if (enforcing != NULL && strcmp(enforcing, "1") == 0) {
        const char *label = label_of(doctor, socket);
        DOCTOR_FIND(doctor, SECURITY_SELINUX, socket,
                    "sudo ausearch -m avc -ts recent | grep nri.sock",
                    "SELinux is enforcing: %s has the label %s, and %s runs as %s", socket,
                    label == NULL ? "(unknown)" : label,
                    listener->program == NULL ? "its owner" : listener->program,
                    profile == NULL ? "(unknown)" : profile);
        return;
    }
    /* "NAME (enforce)"; SELinux has no such end. */
    if (profile != NULL && strstr(profile, "(enforce)") != NULL)
        DOCTOR_FIND(doctor, SECURITY_APPARMOR, socket, "sudo dmesg | grep 'apparmor=\"DENIED\"'",
                    "%s (pid %ld) runs under the AppArmor profile %s", listener->program,
                    listener->pid, profile);
}
