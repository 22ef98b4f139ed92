/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP on the plugin's loop: libmicrohttpd's epoll descriptor is polled there, so that there is no
 * thread, and what is answered may be read from the plugin.
 *
 * Happy path: open() listens -> start() polls -> a request comes -> the answer function says what
 * is answered -> close(). Failure modes: whoever sends slowly, a lot, or nothing loses its
 * connection after a time, or as soon as another one needs it; without a descriptor for one more,
 * connections wait in the backlog, and are looked for again after a while.
 *
 * Connections are accepted here, because libmicrohttpd neither makes room for a new one nor waits
 * when there are no descriptors: it tries again at once, without end.
 */
#ifndef NRI_APP_HTTP_H
#define NRI_APP_HTTP_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "listener.h"
#include "log.h"

/* Limits for whoever is at the other end. */
#define APP_HTTP_CONNECTIONS 16   /* one more takes the place of the one that has waited longest */
#define APP_HTTP_PAUSE_MS    1000 /* until it is tried again when there are no descriptors */
#define APP_HTTP_MEMORY      ((size_t)16 * 1024) /* of one connection: request line and headers */
#define APP_HTTP_IDLE_S      5                   /* without a byte either way */
#define APP_HTTP_WHOLE_S     15 /* from the connection, or the last answer, to the next */

struct app_answer {
    unsigned status;
    const char *type; /* static */
    char *body;       /* freed with free(); NULL: `text` */
    size_t length;    /* of body */
    const char *text; /* static */
};

/* What is answered to GET of a path. */
typedef void (*app_http_answer)(void *user, const char *path, struct app_answer *answer);

struct app_visit;

struct app_http {
    struct app_listener listener;
    struct MHD_Daemon *daemon;
    struct app_log *log;
    struct app_visit *visits; /* the youngest first */
    size_t visit_count;
    uv_poll_t accepting; /* the listening socket */
    uv_timer_t retry;    /* of accepting */
    uv_poll_t poll;      /* libmicrohttpd's */
    uv_timer_t timer;
    bool running;
    bool starved;          /* the last one could not be accepted */
    uint64_t not_accepted; /* attempts that found no descriptor or memory */
    uint64_t gave_way;     /* connections that were ended for others */
    app_http_answer answer;
    void *user;
};

/* Listens; nothing is answered yet. 0, or -1 with a text. */
int app_http_open(struct app_http *http, const char *address, char text[APP_LISTENER_TEXT]);
/* Answers from then on. 0, or -1 with a text. */
int app_http_start(struct app_http *http, uv_loop_t *loop, struct app_log *log,
                   app_http_answer answer, void *user, char text[APP_LISTENER_TEXT]);
/* At any stage, also when listener.fd is -1 and all else zero. The loop has four handles to close
 * then, if it was started. */
void app_http_close(struct app_http *http);

#endif
