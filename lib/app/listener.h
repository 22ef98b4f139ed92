/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The socket that HTTP is served on, from what --http says: HOST:PORT, [IPV6]:PORT, :PORT or
 * unix:PATH.
 *
 * A unix socket is made with mode 0600. One that is there already is taken away only if nobody
 * listens on it; the directory is locked meanwhile, so that of two that start together one finds
 * the other.
 */
#ifndef NRI_APP_LISTENER_H
#define NRI_APP_LISTENER_H

#include <stdbool.h>
#include <sys/types.h>

#define APP_LISTENER_TEXT 512

struct app_listener {
    int fd; /* -1: none; listening, close-on-exec, non-blocking */
    char
        name[APP_LISTENER_TEXT]; /* as people write it, with the port that the kernel chose for 0 */
    const char *path;            /* of a unix socket, else NULL; the address's own text */
    dev_t device;                /* of what was made at `path` */
    ino_t inode;
};

/* Whether an address can be meant at all. 0, or -1 with a text. */
int app_listener_check(const char *address, char text[APP_LISTENER_TEXT]);
/* 0, or -1 with a text. The address must outlive the listener. May wait for a name server. */
int app_listener_open(struct app_listener *listener, const char *address,
                      char text[APP_LISTENER_TEXT]);
/* Takes a unix socket's file away, if it still is the one that was made. */
void app_listener_unlink(struct app_listener *listener);
void app_listener_close(struct app_listener *listener);

#endif
