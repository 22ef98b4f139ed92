/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection of the proxy's: two sockets, and what goes from each to the other.
 */
#ifndef NRICTL_PIPE_H
#define NRICTL_PIPE_H

#include <uv.h>

#include "proxy.h"

#define PIPE_ROOM ((size_t)65536)

struct pipe;

struct pipe_end {
    struct pipe *pipe;
    uv_poll_t poll;
    int fd;
    int events; /* that are polled for */
};

struct pipe_flow { /* what one end sends */
    enum recording_direction direction;
    struct pipe_end *from, *to;
    uint8_t *bytes; /* PIPE_ROOM: read and not yet sent */
    size_t start, end;
    bool ended; /* `from` sends nothing any more */
    bool done;  /* nothing goes to `to` any more */
};

struct pipe {
    struct pipe *next, *previous; /* of the owner's list */
    uint32_t number;
    struct pipe_end ends[2]; /* the plugin's, the runtime's */
    struct pipe_flow flows[2];
    int open; /* handles of libuv */
    bool over;
    char why[256]; /* "" for an orderly end */
    const struct proxy_watch *watch;
    void *user;
    /* Both directions are done, or it failed, and both sockets are closed: it may be freed. */
    void (*gone)(struct pipe *pipe);
    void *owner;
};

/* Of calloc(), with `number` and `watch` to `owner` set. On success the sockets are the pipe's; on
 * an error (NRI_E_NOMEM, NRI_E_IO) they are the caller's, and the pipe is freed. */
int pipe_start(struct pipe *pipe, uv_loop_t *loop, int plugin, int runtime,
               struct nri_error *error);
/* Ends it, whatever is under way. */
void pipe_end(struct pipe *pipe, const char *why);
void pipe_free(struct pipe *pipe); /* after `gone` */
void pipe_peer(int fd, int64_t pid, struct proxy_peer *peer);

#endif
