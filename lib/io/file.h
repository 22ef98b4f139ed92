/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are read whole, and replaced at once.
 *
 * The happy path of replacing: PATH.tmp is made anew, written, synchronised with the disk, renamed
 * to PATH, and so is the directory, in which the name stands. Failure modes: a crash before the
 * rename leaves the old file, and a PATH.tmp that the next one removes; anything that fails removes
 * PATH.tmp and leaves the old file; no more than the directory's fsync() failing leaves the new
 * file, which the caller takes for not written.
 */
#ifndef NRI_IO_FILE_H
#define NRI_IO_FILE_H

#include <sys/stat.h>

#include "base/buf.h"
#include "base/error.h"

#define NRI_FILE_TEMPORARY ".tmp"

struct nri_file {
    const char *subject;    /* in errors: "the checkpoint" */
    char *path, *directory; /* behind the structure */
    char *other;            /* the path, and room for a suffix */
    size_t length;          /* of the path */
};

/* How many bytes the texts of a file take; 0: `path` is no path of a file. */
size_t nri_file_room(const char *path);
/* `room` has so many bytes, and lives as long as `file`. */
void nri_file_init(struct nri_file *file, const char *subject, const char *path, char *room);
/* The path with a suffix of at most 15 bytes; until the next call. */
const char *nri_file_with_suffix(struct nri_file *file, const char *suffix);

/* Sets the error for errno: "SUBJECT cannot be WHAT: PATH: ...", and returns its code. */
int nri_file_failed(const struct nri_file *file, struct nri_error *error, int number,
                    const char *what, const char *path);
/* Opens the file and reads all of it; `status`, which may be NULL, is its own. *found is false when
 * there is none, which is no error where its directory is there. `limit` names the buffer's limit
 * in errors. */
int nri_file_read(const struct nri_file *file, struct nri_buf *content, struct stat *status,
                  const char *limit, bool *found, struct nri_error *error);
/* Replaces it. `like`, which may be NULL, has the permissions and the owner of the new one; without
 * it is for its owner alone. */
int nri_file_replace(struct nri_file *file, const uint8_t *bytes, size_t count,
                     const struct stat *like, struct nri_error *error);
/* Synchronises the directory's names with the disk. */
int nri_file_sync_directory(const struct nri_file *file, struct nri_error *error);

#endif
