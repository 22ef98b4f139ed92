/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin's connection to a runtime: its socket on the loop.
 *
 * Happy path: nri_connection_open() -> what the socket has goes to the core, what the core has to
 * the socket, at each turn -> the end -> libuv closes the handle, and the memory goes. The end
 * comes when the peer closes (what it sent before is handled first), when the socket fails, or when
 * the core wants it: then what is queued is written, for FLUSH_TIME at most, while what the peer
 * sends is thrown away.
 */
#ifndef NRI_IO_CONNECTION_H
#define NRI_IO_CONNECTION_H

#include <uv.h>

#include <nri/runtime.h>

#include "runtime/core.h"

struct nri_child;

struct nri_connection {
    struct nri_connection *next, *previous;
    nri_runtime *runtime;
    nri_runtime_plugin *plugin;
    struct nri_child *child; /* whose connection it is; NULL: none, or it is reaped */
    uv_poll_t poll;
    int fd;
    int interest;  /* events that it is polled for */
    bool readable; /* since the last turn */
    bool mute;     /* the peer takes no more bytes; what it has sent is still read */
    bool flushing;
    uint64_t flush_until;
};

struct nri_connections {
    struct nri_connection *first;
    size_t count;
};

/*
 * Takes a connected, checked socket as a plugin's. `origin->driver` is filled in. The descriptor is
 * the connection's once 0 was returned; else it is as it was, but for O_NONBLOCK. As
 * nri_rt_attach(), NRI_E_IO.
 */
int nri_connection_open(nri_runtime *runtime, int fd, struct nri_rt_origin *origin,
                        struct nri_child *child, struct nri_error *error);
/* Who is at the other end: *pid, 0 when it is not known, and what to call it. */
#define NRI_CONNECTION_PEER_SIZE 48
void nri_connection_peer(int fd, int64_t *pid, char peer[NRI_CONNECTION_PEER_SIZE]);

/* Of all of them, in one turn: */
/* Those that poll readable, or all that there are. */
void nri_connections_read(nri_runtime *runtime, bool all);
void nri_connections_write(nri_runtime *runtime); /* and ends those that are to end */
void nri_connections_arm(nri_runtime *runtime);   /* says what to poll for */
uint64_t nri_connections_deadline(const nri_runtime *runtime);
/* At once, with what the sockets take now. */
void nri_connections_end(nri_runtime *runtime);

#endif
