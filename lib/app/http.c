/* SPDX-License-Identifier: Apache-2.0 */
#include "http.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* A connection, for the limits that libmicrohttpd does not have: one that sends a byte now and then
 * is never idle, and who comes last must not be the one that is turned away. */
struct app_visit {
    struct app_visit *next, **link;
    int fd;
    uint64_t since; /* uv_now(), in ms: when it came, or was answered last */
    bool answered;  /* at least once */
    bool ended;     /* by this side; libmicrohttpd does not know yet */
};

#define WHOLE_MS ((uint64_t)APP_HTTP_WHOLE_S * 1000)
#define RUNS     4 /* of libmicrohttpd, at most, for what it can do at once */

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
    http->visit_count--;
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
    http->visit_count++;
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
    if (visit == NULL)
        return;
    visit->since = uv_now(http->timer.loop);
    visit->answered = true;
}

/* libmicrohttpd reads its end, and closes it. */
static void end_soon(struct app_visit *visit)
{
    (void)shutdown(visit->fd, SHUT_RDWR);
    visit->ended = true;
}

/* Ends the connection that has waited longest: whoever was never answered is slow, or wants
 * nothing, and goes before one that may ask again. */
static void make_room(struct app_http *http)
{
    struct app_visit *oldest = NULL;
    for (struct app_visit *visit = http->visits; visit != NULL; visit = visit->next) {
        if (visit->ended)
            continue;
        if (oldest == NULL || visit->answered < oldest->answered ||
            (visit->answered == oldest->answered && visit->since <= oldest->since))
            oldest = visit;
    }
    if (oldest == NULL)
        return;
    end_soon(oldest);
    http->gave_way++;
}

/* Ends connections that last too long; how long until the next could, UINT64_MAX for none. */
static uint64_t end_long_visits(struct app_http *http)
{
    const uint64_t now = uv_now(http->timer.loop);
    uint64_t next = UINT64_MAX;
    for (struct app_visit *visit = http->visits; visit != NULL; visit = visit->next) {
        const uint64_t age = now - visit->since;
        if (age >= WHOLE_MS) {
            end_soon(visit);
            next = next < 1000 ? next : 1000;
        } else if (WHOLE_MS - age < next)
            next = WHOLE_MS - age;
    }
    return next;
}

/* ---- the loop ---- */

static void on_timer(uv_timer_t *handle);

/* When libmicrohttpd wants to run again, in ms; UINT64_MAX for never. */
static uint64_t wanted(struct app_http *http)
{
    MHD_UNSIGNED_LONG_LONG theirs = 0;
    return MHD_get_timeout(http->daemon, &theirs) == MHD_YES ? theirs : UINT64_MAX;
}

static void serve(struct app_http *http)
{
    (void)MHD_run(http->daemon);
    uint64_t wait = end_long_visits(http);
    const uint64_t theirs = wanted(http);
    if (theirs < wait)
        wait = theirs;
    /* These fail for closing handles only. */
    if (wait == UINT64_MAX)
        (void)uv_timer_stop(&http->timer);
    else
        (void)uv_timer_start(&http->timer, on_timer, wait, 0);
}

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

/* ---- accepting ---- */

static void on_connecting(uv_poll_t *handle, int status, int events);

static void on_retry(uv_timer_t *handle)
{
    struct app_http *http = handle->data;
    (void)uv_poll_start(&http->accepting, UV_READABLE, on_connecting); /* as uv_timer_start() */
}

/* There is no descriptor, or no memory, for one more: the socket stays readable, so that it must
 * not be polled. */
static void pause_accepting(struct app_http *http, int number)
{
    http->not_accepted++;
    if (!http->starved)
        app_log_say(http->log, NRI_LOG_WARN,
                    "HTTP connections cannot be accepted, and are tried again each %d ms: %s",
                    APP_HTTP_PAUSE_MS, strerror(number));
    http->starved = true;
    (void)uv_poll_stop(&http->accepting);
    (void)uv_timer_start(&http->retry, on_retry, APP_HTTP_PAUSE_MS, 0);
}

static bool is_starved(int number)
{
    return number == EMFILE || number == ENFILE || number == ENOBUFS || number == ENOMEM;
}

/* What has already been asked is answered before the next one can need the connection. */
static void run_now(struct app_http *http)
{
    for (int i = 0; i < RUNS && (i == 0 || wanted(http) == 0); i++)
        (void)MHD_run(http->daemon);
}

/* False when there is none to accept now. */
static bool accept_one(struct app_http *http)
{
    struct sockaddr_storage from = {.ss_family = AF_UNSPEC};
    socklen_t length = sizeof from;
    const int fd =
        accept4(http->listener.fd, (struct sockaddr *)&from, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && is_starved(errno))
        pause_accepting(http, errno);
    if (fd < 0)
        return errno == EINTR || errno == ECONNABORTED;
    http->starved = false;
    if (http->visit_count >= APP_HTTP_CONNECTIONS) {
        make_room(http);
        run_now(http);
    }
    (void)MHD_add_connection(http->daemon, fd, (struct sockaddr *)&from, length); /* or closes it */
    run_now(http);
    return true;
}

static void on_connecting(uv_poll_t *handle, int status, int events)
{
    struct app_http *http = handle->data;
    (void)status;
    (void)events;
    for (int i = 0; i < APP_HTTP_CONNECTIONS && accept_one(http); i++)
        ;
    serve(http);
}

/* ---- beginning and end ---- */

static int fail(char text[APP_LISTENER_TEXT], const char *why)
{
    (void)snprintf(text, APP_LISTENER_TEXT, "serving HTTP: %s", why);
    return -1;
}

/* Its own limit leaves room for connections that were ended here and are not closed yet. */
static struct MHD_Daemon *make_daemon(struct app_http *http)
{
    return MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, on_request,
                            http, MHD_OPTION_CONNECTION_LIMIT, (unsigned)(2 * APP_HTTP_CONNECTIONS),
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, APP_HTTP_MEMORY,
                            MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)APP_HTTP_IDLE_S,
                            MHD_OPTION_NOTIFY_CONNECTION, on_connection, http,
                            MHD_OPTION_NOTIFY_COMPLETED, on_completed, http, MHD_OPTION_END);
}

/* 0, or libuv's error; then no handle is left that must be closed. */
static int start_polls(struct app_http *http, uv_loop_t *loop)
{
    const union MHD_DaemonInfo *info =
        http->daemon != NULL ? MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    int status = info != NULL ? uv_poll_init(loop, &http->poll, info->epoll_fd) : UV_ENOMEM;
    if (status != 0)
        return status;
    status = uv_poll_init(loop, &http->accepting, http->listener.fd);
    if (status != 0)
        uv_close((uv_handle_t *)&http->poll, NULL);
    return status;
}

int app_http_start(struct app_http *http, uv_loop_t *loop, struct app_log *log,
                   app_http_answer answer, void *user, char text[APP_LISTENER_TEXT])
{
    http->log = log;
    http->answer = answer;
    http->user = user;
    (void)uv_timer_init(loop, &http->timer); /* cannot fail */
    (void)uv_timer_init(loop, &http->retry);
    http->poll.data = http->accepting.data = http->timer.data = http->retry.data = http;
    http->daemon = make_daemon(http);
    const int status = start_polls(http, loop);
    if (status != 0) {
        uv_close((uv_handle_t *)&http->timer, NULL);
        uv_close((uv_handle_t *)&http->retry, NULL);
        return fail(text,
                    http->daemon != NULL ? uv_strerror(status) : "libmicrohttpd cannot start");
    }
    http->running = true;
    (void)uv_poll_start(&http->poll, UV_READABLE, on_poll); /* as uv_timer_start() */
    (void)uv_poll_start(&http->accepting, UV_READABLE, on_connecting);
    return 0;
}

static void close_handles(struct app_http *http)
{
    (void)uv_poll_stop(&http->poll);
    (void)uv_poll_stop(&http->accepting);
    uv_close((uv_handle_t *)&http->poll, NULL);
    uv_close((uv_handle_t *)&http->accepting, NULL);
    uv_close((uv_handle_t *)&http->timer, NULL);
    uv_close((uv_handle_t *)&http->retry, NULL);
    http->running = false;
}

void app_http_close(struct app_http *http)
{
    app_listener_unlink(&http->listener);
    if (http->running)
        close_handles(http);
    if (http->daemon != NULL)
        MHD_stop_daemon(http->daemon);
    http->daemon = NULL;
    app_listener_close(&http->listener);
}
