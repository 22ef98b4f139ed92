/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who listens on a socket, without connecting to it: a runtime would take that for a plugin. The
 * kernel's list of unix sockets has those that listen, with the paths that they were bound to; the
 * process is the one with such a descriptor, which only root may see of others' processes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

#define LIST       "/proc/net/unix"
#define MOST_BYTES ((size_t)16 << 20)
#define LISTENS    0x10000 /* __SO_ACCEPTCON in the column of flags */

/* "ffff...: 00000002 00000000 00010000 0001 01 12345 /run/nri/nri.sock" */
static bool parse(char *line, unsigned long *flags, const char **inode, const char **path)
{
    char *fields[7], *rest = line;
    for (size_t i = 0; i < 7; i++) {
        rest += strspn(rest, " ");
        fields[i] = strsep(&rest, " ");
        if (rest == NULL && i < 6)
            return false;
    }
    if (rest == NULL)
        return false; /* it has no path */
    *flags = strtoul(fields[3], NULL, 16);
    *inode = fields[6];
    *path = rest;
    return true;
}

static bool is_that(struct doctor *doctor, const struct stat *socket, const char *path,
                    const char *other)
{
    struct stat status;
    if (strcmp(path, other) == 0)
        return true;
    return other[0] == '/' && doctor_root_stat(&doctor->root, other, &status) == 0 &&
           status.st_dev == socket->st_dev && status.st_ino == socket->st_ino;
}

static bool has_descriptor(struct doctor *doctor, const char *process, const char *target)
{
    struct doctor_names names;
    const char *directory = DOCTOR_TEXT(doctor, "/proc/%s/fd", process);
    if (doctor_root_list(&doctor->root, directory, &names) != 0)
        return false;
    for (size_t i = 0; i < names.count; i++) {
        const char *link = doctor_root_link(
            &doctor->root, DOCTOR_TEXT(doctor, "%s/%s", directory, names.names[i]));
        if (link != NULL && strcmp(link, target) == 0)
            return true;
    }
    return false;
}

/* systemd may hold the socket as well, and starts the runtime with it. */
static void find_process(struct doctor *doctor, struct doctor_listener *listener)
{
    struct doctor_names names;
    const char *target = DOCTOR_TEXT(doctor, "socket:[%s]", listener->inode);
    if (doctor_root_list(&doctor->root, "/proc", &names) != 0)
        return;
    for (size_t i = 0; i < names.count; i++) {
        const char *name = names.names[i];
        if (name[strspn(name, "0123456789")] != '\0' ||
            (listener->pid != 0 && strcmp(listener->program, "systemd") != 0))
            continue;
        if (!has_descriptor(doctor, name, target))
            continue;
        const char *program =
            doctor_root_line(&doctor->root, DOCTOR_TEXT(doctor, "/proc/%s/comm", name));
        listener->pid = strtol(name, NULL, 10);
        listener->program = program == NULL ? "?" : program;
    }
}

void doctor_listener_find(struct doctor *doctor, const struct stat *socket, const char *path,
                          struct doctor_listener *listener)
{
    char *text;
    size_t length;
    *listener = (struct doctor_listener){.pid = 0};
    if (doctor_root_read(&doctor->root, LIST, MOST_BYTES, &text, &length) != 0)
        return;
    listener->known = true;
    for (char *line; (line = strsep(&text, "\n")) != NULL && !listener->listening;) {
        unsigned long flags;
        const char *inode, *other;
        if (!parse(line, &flags, &inode, &other) || (flags & LISTENS) == 0 ||
            !is_that(doctor, socket, path, other))
            continue;
        listener->listening = true;
        listener->inode = inode;
    }
    if (listener->listening)
        find_process(doctor, listener);
}
