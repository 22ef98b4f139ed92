/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watch for a socket that is to appear: inotify, through libuv, on its directory, or on the
 * deepest part of that path that exists.
 *
 * Happy path: nri_watch_on() -> something changes in the directory -> nri_watch_look() finds the
 * socket to be another than at the last attempt -> an attempt is due, and again every
 * NRI_WATCH_INTERVAL for NRI_WATCH_TIME while it fails, since bind() makes the file and only
 * listen() lets anybody in -> nri_watch_off() with the connection. Failure modes: the directory is
 * made, renamed or removed (the watch moves down or up); libuv or the kernel will not watch (said
 * once; attempts by delay are all there is then, and each tries to watch again, since descriptors
 * may have been short for a moment).
 */
#ifndef NRI_IO_WATCH_H
#define NRI_IO_WATCH_H

#include <uv.h>

#include "base/error.h"
#include "base/host.h"
#include "io/socket.h"

#define NRI_WATCH_INTERVAL (20 * NRI_MSEC)
#define NRI_WATCH_TIME     (1 * NRI_SEC)

/* Which file a path named. The time tells a socket from a later one with the same inode. */
struct nri_watch_file {
    bool exists;
    dev_t device;
    ino_t inode;
    struct timespec changed;
};

struct nri_watch {
    uv_fs_event_t handle;
    uv_fs_event_cb changed;
    bool opened;  /* libuv has `handle` */
    bool on;      /* and watches `directory` with it */
    bool refused; /* it could not the last time, which was said; tried again with each attempt */
    bool gone; /* `directory` itself went: what has its name now is another, whatever its inode */
    char directory[NRI_SOCKET_PATH_MAX + 1];
    struct nri_watch_file watched; /* what `directory` named; its time is not looked at */
    struct nri_watch_file socket;  /* at the last attempt */
    uint64_t look_at, looked;      /* NRI_NEVER: nothing has changed */
    uint64_t attempt_at, attempted;
    uint64_t until; /* of the attempts since the socket's last change */
};

/* An unopened one. */
void nri_watch_init(struct nri_watch *watch);
/* Before an attempt to connect: what the path names now is not news later. */
void nri_watch_note(struct nri_watch *watch, const char *path);
/*
 * Begins to watch, if that is not so already, and looks: a socket that came since the last attempt
 * is news. `changed` is libuv's callback; it is to call nri_watch_changed(). Not 0: it cannot be
 * watched, with a text, once until it could.
 */
int nri_watch_on(struct nri_watch *watch, uv_loop_t *loop, const char *path, uv_fs_event_cb changed,
                 void *user, uint64_t now, struct nri_error *error);
void nri_watch_off(struct nri_watch *watch);
/* Something changed, as libuv's callback was told: nri_watch_look() is due, at once or when the
 * interval since the last is over. */
void nri_watch_changed(struct nri_watch *watch, const char *name, int events, uint64_t now);
/* Does so when it is due. As nri_watch_on(). */
int nri_watch_look(struct nri_watch *watch, const char *path, uint64_t now,
                   struct nri_error *error);
/* Whether the socket's change makes an attempt due. */
bool nri_watch_is_due(const struct nri_watch *watch, uint64_t now);
/* Such an attempt failed with `code`. */
void nri_watch_failed(struct nri_watch *watch, int code, uint64_t now);
uint64_t nri_watch_deadline(const struct nri_watch *watch); /* NRI_NEVER */
/* True: libuv will call `closed`. */
bool nri_watch_close(struct nri_watch *watch, uv_close_cb closed);

#endif
