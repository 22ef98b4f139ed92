/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Happy path: scrape_start() -> the host is looked up (not of a unix socket) -> connect -> the
 * request is written -> the answer is read -> `done` -> handles close -> freed. Failure modes: an
 * address of the host that does not answer (the next one is tried), no answer in time (the timer),
 * what is no HTTP or too long (response.h), an end too early, another status than 200,
 * scrape_cancel().
 */
#include "scrape.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

#define ROOM      ((size_t)64 * 1024)
#define MOST_HOST 256
#define UNIX_WORD "unix:"

struct scrape {
    uv_loop_t *loop;
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } to;
    uv_timer_t timer;
    uv_getaddrinfo_t resolve;
    uv_connect_t connect;
    uv_write_t write;
    struct addrinfo *found, *next;
    unsigned open;  /* handles and the look-up */
    bool connected; /* `to` is open */
    bool over;      /* `done` was called, or is not to be */
    scrape_done done;
    void *user;
    struct response response;
    struct nri_error error;
    char host[MOST_HOST], port[8];
    char request[1024];
    char room[ROOM];
};

/* ---- addresses ---- */

static bool is_port(const char *text)
{
    char *end = NULL;
    if (text[0] < '0' || text[0] > '9' || strlen(text) > 5)
        return false;
    const long number = strtol(text, &end, 10);
    return *end == '\0' && number >= 1 && number <= 65535;
}

/* Host and port of an address; an empty host is this machine. */
static bool split(const char *address, char host[MOST_HOST], char port[8])
{
    const char *begin = address, *end = strrchr(address, ':');
    if (end == NULL || !is_port(end + 1))
        return false;
    memcpy(port, end + 1, strlen(end + 1) + 1); /* at most five digits */
    if (*begin == '[') {
        if (end <= begin + 2 || end[-1] != ']')
            return false;
        begin++;
        end--;
    } else if (memchr(begin, ':', (size_t)(end - begin)) != NULL) {
        return false;
    }
    const size_t length = (size_t)(end - begin);
    if (length >= MOST_HOST)
        return false;
    memcpy(host, begin, length);
    host[length] = '\0';
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)host[i] <= ' ' || host[i] == '/' || host[i] == 0x7f)
            return false;
    }
    if (length == 0)
        (void)snprintf(host, MOST_HOST, "localhost");
    return true;
}

static const char *unix_path(const char *address)
{
    return strncmp(address, UNIX_WORD, sizeof UNIX_WORD - 1) == 0 ? address + sizeof UNIX_WORD - 1
                                                                  : NULL;
}

bool scrape_check(const char *address)
{
    char host[MOST_HOST], port[8];
    const char *path = unix_path(address);
    return path != NULL ? path[0] != '\0' && strlen(path) < 108 : split(address, host, port);
}

/* ---- its end ---- */

static void release(struct scrape *scrape)
{
    if (--scrape->open > 0)
        return;
    response_fini(&scrape->response);
    if (scrape->found != NULL)
        uv_freeaddrinfo(scrape->found);
    free(scrape);
}

static void handle_closed(uv_handle_t *handle)
{
    release(handle->data);
}

static void close_all(struct scrape *scrape)
{
    scrape->over = true;
    (void)uv_cancel((uv_req_t *)&scrape->resolve); /* no harm when there is none */
    uv_close((uv_handle_t *)&scrape->timer, handle_closed);
    if (scrape->connected)
        uv_close(&scrape->to.handle, handle_closed);
    scrape->connected = false;
}

/* Once. `why` NULL: the answer is whole. */
static void finish(struct scrape *scrape, const char *why)
{
    char text[64];
    if (scrape->over)
        return;
    close_all(scrape);
    if (why == NULL && scrape->response.status != 200) {
        (void)snprintf(text, sizeof text, "it answers with status %u", scrape->response.status);
        why = text;
    }
    const size_t length = why == NULL ? nri_buf_size(&scrape->response.body) : 0;
    const char *body = length > 0 ? memory_text(&scrape->response.body) : "";
    scrape->done(scrape->user, why == NULL ? body : NULL, length, why);
}

static void finish_error(struct scrape *scrape)
{
    finish(scrape, scrape->error.text);
}

void scrape_cancel(struct scrape *scrape)
{
    if (!scrape->over)
        close_all(scrape);
}

static void on_timeout(uv_timer_t *timer)
{
    finish(timer->data, "no answer in time");
}

/* ---- the exchange ---- */

static void give_room(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
    struct scrape *scrape = handle->data;
    (void)size;
    *buf = uv_buf_init(scrape->room, sizeof scrape->room);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buf)
{
    struct scrape *scrape = stream->data;
    int code = 0;
    if (count > 0)
        code = response_feed(&scrape->response, buf->base, (size_t)count, &scrape->error);
    else if (count == UV_EOF)
        code = response_end(&scrape->response, &scrape->error);
    else if (count < 0)
        code = nri_error_set(&scrape->error, NRI_E_IO, "%s", uv_strerror((int)count));
    if (code != 0)
        finish_error(scrape);
    else if (response_is_whole(&scrape->response))
        finish(scrape, NULL);
}

static void on_write(uv_write_t *write, int status)
{
    struct scrape *scrape = write->data;
    /* Who answers before it has read everything may end the connection: what it said counts. */
    if (status != 0 && status != UV_EPIPE && status != UV_ECONNRESET)
        finish(scrape, uv_strerror(status));
}

static void connect_next(struct scrape *scrape);

static void attempt_closed(uv_handle_t *handle)
{
    struct scrape *scrape = handle->data;
    if (!scrape->over)
        connect_next(scrape);
    release(scrape);
}

static void on_connect(uv_connect_t *connect, int status)
{
    struct scrape *scrape = connect->data;
    if (scrape->over)
        return;
    if (status != 0) {
        (void)nri_error_set(&scrape->error, NRI_E_IO, "%s", uv_strerror(status));
        scrape->connected = false;
        uv_close(&scrape->to.handle, attempt_closed);
        return;
    }
    uv_buf_t buf = uv_buf_init(scrape->request, (unsigned)strlen(scrape->request));
    scrape->write.data = scrape;
    int code = uv_write(&scrape->write, &scrape->to.stream, &buf, 1, on_write);
    if (code == 0)
        code = uv_read_start(&scrape->to.stream, give_room, on_read);
    if (code != 0)
        finish(scrape, uv_strerror(code));
}

static void opened(struct scrape *scrape)
{
    scrape->to.handle.data = scrape;
    scrape->connect.data = scrape;
    scrape->connected = true;
    scrape->open++;
}

/* The next address of the host. */
static void connect_next(struct scrape *scrape)
{
    const struct addrinfo *at = scrape->next;
    if (at == NULL) {
        finish_error(scrape);
        return;
    }
    scrape->next = at->ai_next;
    if (uv_tcp_init(scrape->loop, &scrape->to.tcp) != 0) {
        finish(scrape, "no memory");
        return;
    }
    opened(scrape);
    const int code = uv_tcp_connect(&scrape->connect, &scrape->to.tcp, at->ai_addr, on_connect);
    if (code != 0)
        on_connect(&scrape->connect, code);
}

static void on_resolved(uv_getaddrinfo_t *resolve, int status, struct addrinfo *found)
{
    struct scrape *scrape = resolve->data;
    scrape->found = scrape->next = found;
    if (!scrape->over) {
        (void)nri_error_set(&scrape->error, NRI_E_IO, "%s",
                            status != 0 ? uv_strerror(status) : "the host has no address");
        connect_next(scrape);
    }
    release(scrape);
}

static void connect_pipe(struct scrape *scrape, const char *path)
{
    (void)uv_pipe_init(scrape->loop, &scrape->to.pipe, 0);
    opened(scrape);
    uv_pipe_connect(&scrape->connect, &scrape->to.pipe, path, on_connect);
}

struct scrape *scrape_start(uv_loop_t *loop, const char *address, const char *path,
                            uint64_t timeout_ms, scrape_done done, void *user)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    const char *at_path = unix_path(address);
    struct scrape *scrape = calloc(1, sizeof *scrape);
    if (scrape == NULL)
        return NULL;
    scrape->loop = loop;
    scrape->done = done;
    scrape->user = user;
    response_init(&scrape->response);
    if (at_path != NULL || !split(address, scrape->host, scrape->port))
        (void)snprintf(scrape->host, sizeof scrape->host, "localhost");
    (void)snprintf(scrape->request, sizeof scrape->request,
                   "GET %s HTTP/1.1\r\nHost: %s\r\nAccept: application/openmetrics-text; "
                   "version=1.0.0, text/plain; q=0.5\r\nUser-Agent: nrictl\r\nConnection: "
                   "close\r\n\r\n",
                   path, scrape->host);
    (void)uv_timer_init(loop, &scrape->timer);
    scrape->timer.data = scrape->resolve.data = scrape;
    scrape->open = 1;
    (void)uv_timer_start(&scrape->timer, on_timeout, timeout_ms, 0);
    if (at_path != NULL) {
        connect_pipe(scrape, at_path);
    } else if (uv_getaddrinfo(loop, &scrape->resolve, on_resolved, scrape->host, scrape->port,
                              &hints) == 0) {
        scrape->open++;
    } else {
        close_all(scrape);
        return NULL;
    }
    return scrape;
}
