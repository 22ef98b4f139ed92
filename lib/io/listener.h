/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The socket that external plugins connect to.
 *
 * Happy path: nri_listener_check() at the start -> nri_listener_open() once the plugins of the
 * start are synchronised -> connections are accepted -> nri_listener_close() removes the socket if
 * it is still this one. A dead socket at its path is replaced; anything else that is there is kept,
 * and is an error. Failure modes: no descriptor or no memory for a connection, or max_plugins are
 * there (it waits in the backlog, and accepting pauses).
 */
#ifndef NRI_IO_LISTENER_H
#define NRI_IO_LISTENER_H

#include <sys/stat.h>
#include <uv.h>

#include <nri/runtime.h>

#include "base/error.h"

struct nri_listener {
    uv_poll_t poll;
    bool open; /* fd and poll are good */
    int fd;
    bool listening; /* polled; else accepting pauses */
    bool readable;  /* since the last turn */
    uint64_t paused_until;
    uint64_t lock_since, lock_at; /* since when another has the directory, and the next attempt */
    dev_t device;
    ino_t inode;
};

/* Whether it could be opened: NRI_E_ADDR_IN_USE, NRI_E_NOT_SOCKET, NRI_E_PERMISSION,
 * NRI_E_NOT_FOUND, NRI_E_IO. Makes the directory when it is missing. */
int nri_listener_check(const char *path, struct nri_error *error);
/* NRI_E_BUSY: somebody else is at it in the same directory; again at lock_at. */
int nri_listener_open(nri_runtime *runtime, uint64_t now, struct nri_error *error);
void nri_listener_close(nri_runtime *runtime);

void nri_listener_turn(nri_runtime *runtime, uint64_t now); /* accepts */
uint64_t nri_listener_deadline(const nri_runtime *runtime);

#endif
