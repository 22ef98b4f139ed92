/* SPDX-License-Identifier: Apache-2.0 */
#include "http.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* A connection, for the limit that libmicrohttpd does not have: one that sends a byte now and then
 * is never idle. */
struct app_visit {
    struct app_visit *next, **link;
    int fd;
    uint64_t since; /* uv_now(), in ms */
};

#define WHOLE_MS ((uint64_t)APP_HTTP_WHOLE_S * 1000)

int app_http_open(struct app_http *http, const char *address, char text[APP_LISTENER_TEXT])
{
    *http = (struct app_http){.listener = {.fd = -1}};
    return app_listener_open(&http->listener, address, text);
}

/* ---- answers ---- */

static enum MHD_Result queue(struct MHD_Connection *connection, struct app_answer *answer,
                             bool allowed)
{
    struct MHD_Response *response;
    if (answer->body != NULL)
        response =
            MHD_create_response_from_buffer(answer->length, answer->body, MHD_RESPMEM_MUST_FREE);
    else
        response = MHD_create_response_from_buffer(
            strlen(answer->text), (void *)(uintptr_t)answer->text, MHD_RESPMEM_PERSISTENT);
    if (response == NULL) {
        free(answer->body);
        return MHD_NO; /* the connection is closed */
    }
    enum MHD_Result done = MHD_add_response_header(response, "Content-Type", answer->type);
    if (done == MHD_YES)
        done = MHD_add_response_header(response, "Cache-Control", "no-store");
    if (done == MHD_YES && !allowed)
        done = MHD_add_response_header(response, "Allow", "GET, HEAD");
    if (done == MHD_YES)
        done = MHD_queue_response(connection, answer->status, response);
    MHD_destroy_response(response);
    return done;
}

/* Called when the headers are there, then again for each piece of a body, and when all has come. */
static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **seen)
{
    struct app_http *http = user;
    struct app_answer answer = {.status = MHD_HTTP_OK, .type = "text/plain; charset=utf-8"};
    (void)version;
    (void)upload;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0) {
        answer.status = MHD_HTTP_METHOD_NOT_ALLOWED;
        answer.text = "only GET and HEAD\n";
        return queue(connection, &answer, false);
    }
    if (*seen == NULL) {
        *seen = http; /* anything */
        return MHD_YES;
    }
    if (*upload_size > 0) {
        *upload_size = 0; /* a GET with a body: nobody wants it */
        return MHD_YES;
    }
    http->answer(http->user, url, &answer);
    return queue(connection, &answer, true);
}

/* ---- connections ---- */

static void end_visit(struct app_http *http, struct app_visit *visit)
{
    http->visit_ended = true;
    *visit->link = visit->next;
    if (visit->next != NULL)
        visit->next->link = visit->link;
    free(visit);
}

static void begin_visit(struct app_http *http, struct MHD_Connection *connection, void **context)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct app_visit *visit = info != NULL ? malloc(sizeof *visit) : NULL;
    *context = visit;
    if (visit == NULL) {
        if (info != NULL)
            (void)shutdown(info->connect_fd, SHUT_RDWR); /* it could stay for ever */
        return;
    }
    *visit = (struct app_visit){.next = http->visits,
                                .link = &http->visits,
                                .fd = info->connect_fd,
                                .since = uv_now(http->timer.loop)};
    if (visit->next != NULL)
        visit->next->link = &visit->next;
    http->visits = visit;
}

static void on_connection(void *user, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        begin_visit(user, connection, context);
    else if (*context != NULL)
        end_visit(user, *context);
}

static void on_completed(void *user, struct MHD_Connection *connection, void **seen,
                         enum MHD_RequestTerminationCode how)
{
    struct app_http *http = user;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct app_visit *visit = info != NULL ? info->socket_context : NULL;
    (void)seen;
    (void)how;
    if (visit != NULL)
        visit->since = uv_now(http->timer.loop);
}

/* Ends connections that last too long; how long until the next could, UINT64_MAX for none. */
static uint64_t end_long_visits(struct app_http *http)
{
    const uint64_t now = uv_now(http->timer.loop);
    uint64_t next = UINT64_MAX;
    for (struct app_visit *visit = http->visits; visit != NULL; visit = visit->next) {
        const uint64_t age = now - visit->since;
        if (age >= WHOLE_MS) {
            (void)shutdown(visit->fd, SHUT_RDWR); /* libmicrohttpd reads its end, and closes it */
            next = next < 1000 ? next : 1000;
        } else if (WHOLE_MS - age < next)
            next = WHOLE_MS - age;
    }
    return next;
}

/* ---- the loop ---- */

static void serve(struct app_http *http);

static void on_poll(uv_poll_t *handle, int status, int events)
{
    (void)status;
    (void)events;
    serve(handle->data);
}

static void on_timer(uv_timer_t *handle)
{
    serve(handle->data);
}

static void serve(struct app_http *http)
{
    MHD_UNSIGNED_LONG_LONG theirs = 0;
    http->visit_ended = false;
    (void)MHD_run(http->daemon);
    uint64_t wait = end_long_visits(http);
    /* At its limit libmicrohttpd stops polling for connections, and begins again only when it runs
     * next after one has ended: nothing else would make it. */
    if (http->visit_ended)
        wait = 0;
    if (MHD_get_timeout(http->daemon, &theirs) == MHD_YES && theirs < wait)
        wait = theirs;
    /* These fail for closing handles only. */
    if (wait == UINT64_MAX)
        (void)uv_timer_stop(&http->timer);
    else
        (void)uv_timer_start(&http->timer, on_timer, wait, 0);
}

static int fail(char text[APP_LISTENER_TEXT], const char *why)
{
    (void)snprintf(text, APP_LISTENER_TEXT, "serving HTTP: %s", why);
    return -1;
}

static struct MHD_Daemon *make_daemon(struct app_http *http)
{
    return MHD_start_daemon(
        MHD_USE_EPOLL, 0, NULL, NULL, on_request, http, MHD_OPTION_LISTEN_SOCKET,
        (MHD_socket)http->listener.fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)APP_HTTP_CONNECTIONS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, APP_HTTP_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)APP_HTTP_IDLE_S, MHD_OPTION_NOTIFY_CONNECTION, on_connection, http,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, http, MHD_OPTION_END);
}

int app_http_start(struct app_http *http, uv_loop_t *loop, app_http_answer answer, void *user,
                   char text[APP_LISTENER_TEXT])
{
    http->answer = answer;
    http->user = user;
    (void)uv_timer_init(loop, &http->timer); /* cannot fail */
    http->timer.data = http;
    http->daemon = make_daemon(http);
    const union MHD_DaemonInfo *info =
        http->daemon != NULL ? MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    int status = info != NULL ? uv_poll_init(loop, &http->poll, info->epoll_fd) : UV_ENOMEM;
    if (status != 0) {
        uv_close((uv_handle_t *)&http->timer, NULL);
        return fail(text,
                    http->daemon != NULL ? uv_strerror(status) : "libmicrohttpd cannot start");
    }
    http->poll.data = http;
    http->running = true;
    (void)uv_poll_start(&http->poll, UV_READABLE, on_poll); /* as uv_timer_start() */
    return 0;
}

void app_http_close(struct app_http *http)
{
    app_listener_unlink(&http->listener);
    if (http->running) {
        (void)uv_poll_stop(&http->poll);
        uv_close((uv_handle_t *)&http->poll, NULL);
        uv_close((uv_handle_t *)&http->timer, NULL);
        http->running = false;
    }
    if (http->daemon != NULL) {
        MHD_stop_daemon(http->daemon); /* closes the listening socket too */
        http->listener.fd = -1;
        http->daemon = NULL;
    }
    app_listener_close(&http->listener);
}
