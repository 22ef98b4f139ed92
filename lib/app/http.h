/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP on the plugin's loop: libmicrohttpd's epoll descriptor is polled there, so that there is no
 * thread, and what is answered may be read from the plugin.
 *
 * Happy path: open() listens -> start() polls -> a request comes -> the answer function says what
 * is answered -> close(). Failure modes: whoever sends slowly, a lot, or nothing loses its
 * connection after a time; more connections than allowed wait in the backlog.
 */
#ifndef NRI_APP_HTTP_H
#define NRI_APP_HTTP_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "listener.h"

/* Limits for whoever is at the other end. */
#define APP_HTTP_CONNECTIONS 16
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
    struct app_visit *visits;
    uv_poll_t poll;
    uv_timer_t timer;
    bool running;
    bool visit_ended; /* in this turn */
    app_http_answer answer;
    void *user;
};

/* Listens; nothing is answered yet. 0, or -1 with a text. */
int app_http_open(struct app_http *http, const char *address, char text[APP_LISTENER_TEXT]);
/* Answers from then on. 0, or -1 with a text. */
int app_http_start(struct app_http *http, uv_loop_t *loop, app_http_answer answer, void *user,
                   char text[APP_LISTENER_TEXT]);
/* At any stage, also when listener.fd is -1 and all else zero. The loop has two handles to close
 * then, if it was started. */
void app_http_close(struct app_http *http);

#endif
