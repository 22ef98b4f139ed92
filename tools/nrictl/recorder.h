/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recorder: a proxy whose bytes go into a recording.
 */
#ifndef NRICTL_RECORDER_H
#define NRICTL_RECORDER_H

#include "nrictl.h"
#include "proxy.h"
#include "recording_file.h"

struct recorder {
    struct nrictl *ctl;
    uv_loop_t *loop;
    struct proxy *proxy;
    struct recording_file *file;
    uint32_t connections; /* that were made */
    uint64_t to_runtime, to_plugin, refused;
    void (*ended)(void *user); /* a connection ended; may be NULL */
    void *user;
    void (*closed)(void *user); /* of recorder_close() */
    void *closed_user;
};

/* Opens both; the rest of `recorder` is the caller's. NRICTL_OK, or a code after a message. */
int recorder_open(struct recorder *recorder, const struct proxy_options *proxy,
                  const struct recording_file_options *file);
/* Writes all and closes both; then `done` is called. */
void recorder_close(struct recorder *recorder, void (*done)(void *user), void *user);

#endif
