/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A proxy between plugins and a runtime: what one side sends goes to the other, unchanged, and a
 * watch sees it on its way.
 *
 * Each connection is a pair of sockets. A direction holds at most 64 KiB that its receiver does not
 * take, and is not read then: backpressure goes through. A half-close goes through once all before
 * it went through; a receiver that is gone is told to the sender by the end of its socket. All is
 * for the loop's thread.
 */
#ifndef NRICTL_PROXY_H
#define NRICTL_PROXY_H

#include <uv.h>

#include "base/error.h"
#include "recording.h"

struct proxy;

/* Who is at an end of a connection. */
struct proxy_peer {
    int64_t pid, uid;  /* -1: not known */
    char program[256]; /* its executable's path, else its name in brackets; "" when not known */
};

struct proxy_connection {
    uint32_t number; /* from 1 */
    struct proxy_peer plugin, runtime;
    const char *origin; /* "external" or "launched" */
};

/* Each may be NULL. */
struct proxy_watch {
    void (*opened)(void *user, const struct proxy_connection *connection);
    void (*bytes)(void *user, uint32_t connection, enum recording_direction direction,
                  const uint8_t *bytes, size_t count);
    void (*closed)(void *user, uint32_t connection, enum recording_direction direction);
    /* It is over, and not counted by proxy_open() any more; `why` is "" for an orderly end. */
    void (*ended)(void *user, uint32_t connection, const char *why);
    /* A plugin came and no connection was made of it. */
    void (*refused)(void *user, const char *why);
};

struct proxy_options {
    const char *connect; /* the runtime's socket; NULL: pairs come by proxy_join() */
    const char *listen;  /* the socket for plugins; NULL: none */
    uint32_t most;       /* connections at a time; 0: 256; others wait */
};

/* NRI_E_NOMEM, and of the socket what nri_listener_check() says. A dead socket at `listen` is
 * replaced; anything else is kept, and an error. */
int proxy_new(struct proxy **out, uv_loop_t *loop, const struct proxy_options *options,
              const struct proxy_watch *watch, void *user, struct nri_error *error);
/* Two connected sockets, which are the proxy's from success on: `plugin` is the one that leads to
 * the plugin, whose process is `pid` (-1: whom the socket tells of). */
int proxy_join(struct proxy *proxy, int plugin, int runtime, int64_t pid, struct nri_error *error);
size_t proxy_open(const struct proxy *proxy); /* connections that are open */
/* Ends all connections, removes the socket and frees the proxy; then `closed` is called. */
void proxy_close(struct proxy *proxy, void (*closed)(void *user), void *user);

#endif
