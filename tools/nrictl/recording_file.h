/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that is being written: records go into a queue, and from there into the file beside
 * the loop, so that a slow or a full disk never delays what is recorded.
 *
 * When the queue is full, bytes are left out and a record says how many; when the file takes
 * nothing more, the recording ends there. Either is told once. The file is locked: one recorder at
 * a time appends to it.
 */
#ifndef NRICTL_RECORDING_FILE_H
#define NRICTL_RECORDING_FILE_H

#include <uv.h>

#include "recording.h"

struct recording_file;

struct recording_file_options {
    const char *path;
    size_t most_waiting; /* bytes of the queue; 0: 64 MiB */
    /* The disk is full, or too slow. */
    void (*trouble)(void *user, const char *what);
    void *user;
};

/*
 * Makes the file, readable for its owner alone, or appends to a recording that is there.
 * NRI_E_PROTOCOL: it is there and no recording. NRI_E_BUSY: another recorder writes it. NRI_E_IO,
 * NRI_E_PERMISSION, NRI_E_NOT_FOUND (its directory), NRI_E_NOMEM.
 */
int recording_file_open(struct recording_file **out, uv_loop_t *loop,
                        const struct recording_file_options *options, struct nri_error *error);
/* Appends a record with the time of now; longer data become several records. */
void recording_file_put(struct recording_file *file, enum recording_kind kind,
                        enum recording_direction direction, uint32_t connection, const void *data,
                        size_t size);
/* The same with a time, for what happened elsewhere. */
void recording_file_put_record(struct recording_file *file, const struct recording_record *record);
uint64_t recording_file_size(const struct recording_file *file); /* bytes that were put */
uint64_t recording_file_lost(const struct recording_file *file); /* bytes that were not */
bool recording_file_failed(const struct recording_file *file);   /* the recording has ended */
/* How much waits to be written. */
size_t recording_file_waiting(const struct recording_file *file);
/* Writes what waits, closes and frees; then `closed` is called, at once when nothing waits. */
void recording_file_close(struct recording_file *file, void (*closed)(void *user), void *user);

#endif
