/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Happy path: a plugin connects, the proxy connects to the runtime, and the two are a pipe until
 * both directions are done. Failure modes: the runtime is not there (the plugin's connection is
 * closed, as the runtime's end of it would be), its backlog is full (tried again, while further
 * plugins wait in this one's backlog), no descriptors (accepting pauses), as many connections as
 * there may be (the next waits).
 */
#include "proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/listener.h"
#include "io/socket.h"
#include "pipe.h"

#define MOST_CONNECTIONS 256
#define PAUSE_MS         20

struct proxy {
    uv_loop_t *loop;
    char *listen_path, *connect_path;
    uint32_t most;
    struct proxy_watch watch;
    void *user;
    int fd; /* that plugins connect to; -1: none */
    dev_t device;
    ino_t inode;
    uv_poll_t poll;
    uv_timer_t timer;
    int handles;  /* of libuv */
    int waiting;  /* a plugin's socket for which the runtime has no room yet; -1: none */
    bool accepts; /* polled */
    bool closing;
    struct pipe *first;
    size_t count;
    uint32_t numbered;
    void (*closed)(void *user);
    void *closed_user;
};

static void watch_listener(struct proxy *proxy);

/* ---- the end ---- */

static void free_when_done(struct proxy *proxy)
{
    void (*closed)(void *user) = proxy->closed;
    void *user = proxy->closed_user;
    if (!proxy->closing || proxy->count > 0 || proxy->handles > 0)
        return;
    free(proxy->listen_path);
    free(proxy->connect_path);
    free(proxy);
    if (closed != NULL)
        closed(user);
}

static void handle_closed(uv_handle_t *handle)
{
    struct proxy *proxy = handle->data;
    proxy->handles--;
    free_when_done(proxy);
}

/* Removes the socket, if it is still this one. */
static void close_listener(struct proxy *proxy)
{
    struct stat status;
    if (proxy->fd < 0)
        return;
    if (lstat(proxy->listen_path, &status) == 0 && status.st_dev == proxy->device &&
        status.st_ino == proxy->inode)
        (void)unlink(proxy->listen_path);
    nri_socket_close(proxy->fd);
    proxy->fd = -1;
}

void proxy_close(struct proxy *proxy, void (*closed)(void *user), void *user)
{
    proxy->closing = true;
    proxy->closed = closed;
    proxy->closed_user = user;
    uv_close((uv_handle_t *)&proxy->timer, handle_closed);
    if (proxy->fd >= 0)
        uv_close((uv_handle_t *)&proxy->poll, handle_closed);
    close_listener(proxy);
    if (proxy->waiting >= 0)
        nri_socket_close(proxy->waiting);
    proxy->waiting = -1;
    for (struct pipe *pipe = proxy->first; pipe != NULL; pipe = pipe->next)
        pipe_end(pipe, "the recorder ended");
}

/* ---- connections ---- */

static void pipe_gone(struct pipe *pipe)
{
    struct proxy *proxy = pipe->owner;
    if (pipe->previous != NULL)
        pipe->previous->next = pipe->next;
    else
        proxy->first = pipe->next;
    if (pipe->next != NULL)
        pipe->next->previous = pipe->previous;
    proxy->count--;
    if (proxy->watch.ended != NULL)
        proxy->watch.ended(proxy->user, pipe->number, pipe->why);
    pipe_free(pipe);
    if (proxy->closing)
        free_when_done(proxy);
    else
        watch_listener(proxy);
}

static int join(struct proxy *proxy, int plugin, int runtime, int64_t pid, const char *origin,
                struct nri_error *error)
{
    struct proxy_connection about = {.origin = origin};
    struct pipe *pipe = calloc(1, sizeof *pipe);
    if (pipe == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "no memory for a connection");
    pipe->number = about.number = proxy->numbered + 1;
    pipe->watch = &proxy->watch;
    pipe->user = proxy->user;
    pipe->owner = proxy;
    pipe->gone = pipe_gone;
    pipe_peer(plugin, pid, &about.plugin);
    pipe_peer(runtime, -1, &about.runtime);
    const int code = pipe_start(pipe, proxy->loop, plugin, runtime, error);
    if (code != 0)
        return code;
    proxy->numbered++;
    proxy->count++;
    pipe->next = proxy->first;
    if (pipe->next != NULL)
        pipe->next->previous = pipe;
    proxy->first = pipe;
    if (proxy->watch.opened != NULL)
        proxy->watch.opened(proxy->user, &about);
    return 0;
}

int proxy_join(struct proxy *proxy, int plugin, int runtime, int64_t pid, struct nri_error *error)
{
    int code = nri_socket_adopt(plugin, error);
    if (code == 0)
        code = nri_socket_adopt(runtime, error);
    return code == 0 ? join(proxy, plugin, runtime, pid, "launched", error) : code;
}

static void refuse(struct proxy *proxy, int fd, const char *why)
{
    nri_socket_close(fd);
    if (proxy->watch.refused != NULL)
        proxy->watch.refused(proxy->user, why);
}

/* False: the runtime has no room now, and `fd` waits. */
static bool connect_plugin(struct proxy *proxy, int fd)
{
    struct nri_error error;
    int runtime = -1;
    const int code = nri_socket_connect(proxy->connect_path, &runtime, &error);
    if (code == NRI_E_BUSY) {
        proxy->waiting = fd;
        return false;
    }
    if (code != 0) {
        refuse(proxy, fd, error.text);
        return true;
    }
    if (join(proxy, fd, runtime, -1, "external", &error) != 0) {
        nri_socket_close(runtime);
        refuse(proxy, fd, error.text);
    }
    return true;
}

/* ---- listening ---- */

static void again(uv_timer_t *timer)
{
    struct proxy *proxy = timer->data;
    const int fd = proxy->waiting;
    proxy->waiting = -1;
    if (fd >= 0)
        (void)connect_plugin(proxy, fd);
    watch_listener(proxy);
}

/* Until the timer comes round. */
static void pause_accepting(struct proxy *proxy)
{
    (void)uv_poll_stop(&proxy->poll);
    proxy->accepts = false;
    (void)uv_timer_start(&proxy->timer, again, PAUSE_MS, 0);
}

static void incoming(uv_poll_t *poll, int status, int events)
{
    struct proxy *proxy = poll->data;
    (void)status;
    (void)events;
    const int fd = accept4(proxy->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            pause_accepting(proxy);
        return;
    }
    if (!connect_plugin(proxy, fd))
        pause_accepting(proxy);
    else
        watch_listener(proxy);
}

static void watch_listener(struct proxy *proxy)
{
    const bool wanted = proxy->count < proxy->most;
    if (proxy->fd < 0)
        return;
    if (proxy->waiting >= 0) {
        pause_accepting(proxy);
        return;
    }
    if (wanted == proxy->accepts)
        return;
    proxy->accepts = wanted;
    if (wanted)
        (void)uv_poll_start(&proxy->poll, UV_READABLE, incoming);
    else
        (void)uv_poll_stop(&proxy->poll);
}

static int failed(struct nri_error *error, int number, const char *path)
{
    char room[NRI_ERRNO_TEXT_SIZE];
    return nri_error_set(error, NRI_E_IO, "%s: %s", path, nri_errno_text(number, room));
}

/*
 * The socket gets its name once it listens, so that nobody who sees it is refused, in the place of
 * a dead one (what else is there nri_listener_check() has refused). With no room for a longer name
 * it is named before.
 */
static bool bind_to(int fd, const char *path)
{
    static const char suffix[] = ".new";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t length = strlen(path);
    const bool renamed = length + sizeof suffix <= sizeof address.sun_path;
    memcpy(address.sun_path, path, length + 1);
    if (renamed)
        memcpy(address.sun_path + length, suffix, sizeof suffix);
    (void)unlink(address.sun_path);
    if (fchmod(fd, 0600) != 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) != 0)
        return false;
    if (listen(fd, SOMAXCONN) == 0 && (!renamed || rename(address.sun_path, path) == 0))
        return true;
    const int number = errno;
    (void)unlink(address.sun_path);
    errno = number;
    return false;
}

static int open_listener(struct proxy *proxy, const char *path, struct nri_error *error)
{
    struct stat status;
    int code = nri_socket_check_path(path, error);
    if (code == 0)
        code = nri_listener_check(path, error);
    if (code != 0)
        return code;
    proxy->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (proxy->fd < 0)
        return failed(error, errno, "socket");
    if (!bind_to(proxy->fd, path) || lstat(path, &status) != 0)
        return failed(error, errno, path);
    proxy->device = status.st_dev;
    proxy->inode = status.st_ino;
    code = uv_poll_init(proxy->loop, &proxy->poll, proxy->fd);
    if (code != 0)
        return nri_error_set(error, NRI_E_IO, "%s: %s", path, uv_strerror(code));
    proxy->poll.data = proxy;
    proxy->handles++;
    return 0;
}

int proxy_new(struct proxy **out, uv_loop_t *loop, const struct proxy_options *options,
              const struct proxy_watch *watch, void *user, struct nri_error *error)
{
    struct proxy *proxy = calloc(1, sizeof *proxy);
    *out = NULL;
    if (proxy == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "no memory for a proxy");
    proxy->loop = loop;
    proxy->watch = *watch;
    proxy->user = user;
    proxy->most = options->most > 0 ? options->most : MOST_CONNECTIONS;
    proxy->fd = proxy->waiting = -1;
    int code = 0;
    if (options->listen != NULL) {
        proxy->listen_path = strdup(options->listen);
        proxy->connect_path = strdup(options->connect);
        if (proxy->listen_path == NULL || proxy->connect_path == NULL)
            code = nri_error_set(error, NRI_E_NOMEM, "no memory for a proxy");
        else
            code = open_listener(proxy, options->listen, error);
    }
    if (code != 0) {
        if (proxy->fd >= 0)
            nri_socket_close(proxy->fd);
        free(proxy->listen_path);
        free(proxy->connect_path);
        free(proxy);
        return code;
    }
    (void)uv_timer_init(loop, &proxy->timer); /* never fails */
    proxy->timer.data = proxy;
    proxy->handles++;
    watch_listener(proxy);
    *out = proxy;
    return 0;
}

size_t proxy_open(const struct proxy *proxy)
{
    return proxy->count;
}
