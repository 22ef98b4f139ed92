/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches the files of a configuration, on the loop: their directories are watched, because editors
 * and Kubernetes put a new file, or a link, in the place of an old one.
 *
 * Happy path: start() -> something happens in a directory -> a moment later the files are looked
 * at, and if one of them is another than before, `changed` is called. Failure modes: a directory
 * that cannot be watched, or that is gone, is tried again whenever the files are looked at.
 */
#ifndef NRI_APP_WATCH_H
#define NRI_APP_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

/* How long it is waited for the rest of a change. */
#define APP_WATCH_MS 200

struct app_watched;

struct app_watch {
    uv_loop_t *loop; /* NULL: not started */
    uv_timer_t timer;
    struct app_watched *directories;
    char **paths; /* ends with NULL */
    uint64_t seen;
    void (*changed)(void *user);
    void *user;
};

/* A copy of paths, in one piece for free(); NULL: no memory. */
char **app_watch_copy(const char *const *paths);

/* Takes the paths over. `seen` is what app_watch_look() said before the files were read. */
void app_watch_start(struct app_watch *watch, uv_loop_t *loop, char **paths, uint64_t seen,
                     void (*changed)(void *user), void *user);
/* Other files from now on; takes the paths over. */
void app_watch_set_paths(struct app_watch *watch, char **paths);
/* Closes its handles; nothing is called any more. Ignores one that was not started. */
void app_watch_close(struct app_watch *watch);

/* A number that is another one when a file is another, is changed, came or went. */
uint64_t app_watch_look(const char *const *paths);

#endif
