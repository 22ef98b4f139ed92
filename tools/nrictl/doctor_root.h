/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree that nrictl doctor looks at: this machine's "/", or a directory that is taken for one.
 *
 * Whoever owns that directory may be an enemy: symbolic links are resolved inside it, nothing but
 * regular files and directories is opened (a FIFO would hold us up, a device may do something), and
 * all that is read has a limit. openat2() resolves where the kernel has it, else doctor_walk.c.
 */
#ifndef NRICTL_DOCTOR_ROOT_H
#define NRICTL_DOCTOR_ROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/arena.h"

/* Entries of a directory, and matches of a pattern: beyond them nobody would find anything. */
#define DOCTOR_MOST_ENTRIES 4096
#define DOCTOR_MOST_BYTES   ((size_t)1 << 20) /* of a configuration */

struct doctor_root {
    int fd;       /* O_PATH */
    bool no_call; /* openat2() is not to be had: walk */
    struct nri_arena *arena;
};

/* Paths below are absolute, and errors are of errno: 0, or a number. */
int doctor_root_open(struct doctor_root *root, const char *directory, struct nri_arena *arena);
void doctor_root_close(struct doctor_root *root);

/* An O_PATH descriptor; with `follow` the last part may be a link. -1: errno. */
int doctor_root_find(const struct doctor_root *root, const char *path, bool follow);
int doctor_root_stat(const struct doctor_root *root, const char *path, struct stat *status);
int doctor_root_lstat(const struct doctor_root *root, const char *path, struct stat *status);
bool doctor_root_has(const struct doctor_root *root, const char *path);
/* What a link says; NULL when it is none. */
const char *doctor_root_link(const struct doctor_root *root, const char *path);
/* Opens a regular file for reading; *fd is the caller's. EISDIR and EINVAL for what is none. */
int doctor_root_file(const struct doctor_root *root, const char *path, int *fd);
/* All of a regular file, with a NUL behind it; EFBIG beyond `most` bytes. */
int doctor_root_read(const struct doctor_root *root, const char *path, size_t most, char **text,
                     size_t *length);
/* The same for a first line, without its line break and what is behind; NULL when there is none. */
const char *doctor_root_line(const struct doctor_root *root, const char *path);

/* Names, by the alphabet, without "." and "..". */
struct doctor_names {
    const char **names;
    size_t count;
    size_t looked; /* at so many, for a pattern */
    bool cut;      /* there were more than DOCTOR_MOST_ENTRIES */
};
int doctor_root_list(const struct doctor_root *root, const char *path, struct doctor_names *names);
/* Paths that match a pattern, each part of which may have *, ? and [...]; links are followed. */
int doctor_root_glob(const struct doctor_root *root, const char *pattern,
                     struct doctor_names *paths);

/* doctor_walk.c: what openat2() does with RESOLVE_IN_ROOT and O_PATH, part by part. */
int doctor_walk(int root, const char *path, bool follow);

#endif
