/* SPDX-License-Identifier: Apache-2.0 */
#include "io/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/host.h"
#include "io/runtime_handle.h"
#include "io/socket.h"

#define BACKLOG        128
#define ACCEPTS_A_TURN 16
#define PAUSE          (100 * NRI_MSEC) /* of accepting, when there is no room for a connection */
#define LOCK_RETRY     (10 * NRI_MSEC)
#define LOCK_PATIENCE  (500 * NRI_MSEC)
#define DIRECTORY_MODE 0700
#define SOCKET_MODE    0600
#define ALL_MODE_BITS  07777

/* ---- the path ---- */

static void directory_of(const char *path, char directory[NRI_SOCKET_PATH_MAX + 1])
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - path);
    if (slash != NULL && length == 0)
        length = 1; /* the root */
    memcpy(directory, path, length);
    directory[length] = '\0';
    if (slash == NULL)
        memcpy(directory, ".", sizeof ".");
}

/* With its parents. One that is there stays as it is. */
static int make_directory(const char *path, struct nri_error *error)
{
    char directory[NRI_SOCKET_PATH_MAX + 1];
    directory_of(path, directory);
    for (char *at = directory + 1;; at++) {
        const char end = *at;
        if (end != '/' && end != '\0')
            continue;
        *at = '\0';
        if (mkdir(directory, DIRECTORY_MODE) != 0 && errno != EEXIST) {
            struct stat status;
            const int number = errno;
            /* A read-only file system says EROFS even for a directory that is there. */
            if (stat(directory, &status) != 0)
                return nri_path_error(error, number, directory);
        }
        *at = end;
        if (end == '\0')
            return 0;
    }
}

static void fill_address(struct sockaddr_un *address, const char *path)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(address->sun_path, path, strlen(path));
}

/* NRI_E_ADDR_IN_USE when somebody listens. */
static int probe(const char *path, struct nri_error *error)
{
    int fd = -1;
    struct nri_error why;
    nri_error_clear(&why);
    const int rc = nri_socket_connect(path, &fd, &why);
    if (fd >= 0)
        nri_socket_close(fd);
    switch (rc) {
    case 0:
    case NRI_E_BUSY: /* its backlog is full */
        return nri_error_set(error, NRI_E_ADDR_IN_USE,
                             "%s: somebody listens there already: is another runtime running?",
                             path);
    case NRI_E_REFUSED:
    case NRI_E_NOT_FOUND:
        return 0;
    case NRI_E_NOT_SOCKET:
        return nri_error_set(error, NRI_E_NOT_SOCKET,
                             "%s is there already, and is no unix stream socket", path);
    default:
        if (error != NULL)
            nri_error_copy(error, &why);
        return rc;
    }
}

/* *stale: there is a socket that nobody listens on. */
static int look(const char *path, bool *stale, struct nri_error *error)
{
    struct stat status;
    *stale = false;
    if (lstat(path, &status) != 0)
        return errno == ENOENT ? 0 : nri_path_error(error, errno, path);
    if (!S_ISSOCK(status.st_mode))
        return nri_error_set(error, NRI_E_NOT_SOCKET, "%s is there already, and is no socket",
                             path);
    *stale = true;
    return probe(path, error);
}

int nri_listener_check(const char *path, struct nri_error *error)
{
    char directory[NRI_SOCKET_PATH_MAX + 1];
    bool stale;
    int rc = make_directory(path, error);
    if (rc == 0)
        rc = look(path, &stale, error);
    directory_of(path, directory);
    if (rc == 0 && access(directory, W_OK | X_OK) != 0)
        rc = nri_path_error(error, errno, directory);
    return rc;
}

/* ---- opening ---- */

static int bind_to(struct nri_listener *listener, const char *path, struct nri_error *error)
{
    struct sockaddr_un address;
    struct stat status;
    fill_address(&address, path);
    listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener->fd < 0)
        return nri_socket_error(error, errno, "socket");
    /* Linux gives the file the mode that the socket has before it is bound: never open to others,
     * and without touching the umask, which other threads share. */
    if (fchmod(listener->fd, SOCKET_MODE) != 0 ||
        bind(listener->fd, (const struct sockaddr *)&address, (socklen_t)sizeof address) != 0) {
        const int number = errno;
        nri_socket_close(listener->fd);
        return number == EADDRINUSE ? nri_error_set(error, NRI_E_ADDR_IN_USE,
                                                    "%s: somebody else has just made it", path)
                                    : nri_path_error(error, number, path);
    }
    if (lstat(path, &status) == 0) {
        listener->device = status.st_dev;
        listener->inode = status.st_ino;
        /* A umask may have taken more; nothing but a socket is touched. */
        if (S_ISSOCK(status.st_mode) && (status.st_mode & ALL_MODE_BITS) != SOCKET_MODE)
            (void)chmod(path, SOCKET_MODE);
    }
    if (listen(listener->fd, BACKLOG) != 0) {
        const int number = errno;
        nri_socket_close(listener->fd);
        (void)unlink(path);
        return nri_path_error(error, number, path);
    }
    return 0;
}

/* Two runtimes that start at once must not take each other's socket for a dead one. Anybody who may
 * read the directory could keep it locked, though, which is no reason not to start; nor is a
 * directory that this program may write to, but not read. */
static int lock_directory(struct nri_listener *listener, const char *path, uint64_t now, int *lock,
                          struct nri_error *error)
{
    char directory[NRI_SOCKET_PATH_MAX + 1];
    directory_of(path, directory);
    *lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0)
        return errno == EACCES ? 0 : nri_path_error(error, errno, directory);
    if (flock(*lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return 0;
    if (listener->lock_since == 0)
        listener->lock_since = now;
    if (now - listener->lock_since >= LOCK_PATIENCE)
        return 0;
    listener->lock_at = now + LOCK_RETRY;
    nri_socket_close(*lock);
    return nri_error_set(error, NRI_E_BUSY, "%s is locked", directory);
}

static void on_listener(uv_poll_t *handle, int status, int events)
{
    nri_runtime *runtime = handle->data;
    (void)events;
    if (status < 0)
        runtime->listener.listening = false; /* libuv has stopped polling */
    runtime->listener.readable = true;
    nri_runtime_service(runtime);
}

static void handle_closed(uv_handle_t *handle)
{
    nri_runtime_handle_closed(handle->data);
}

static void poll_listener(nri_runtime *runtime, bool on)
{
    struct nri_listener *listener = &runtime->listener;
    if (listener->listening == on)
        return;
    listener->listening = on;
    runtime->changed = true;
    if (on)
        (void)uv_poll_start(&listener->poll, UV_READABLE, on_listener);
    else
        (void)uv_poll_stop(&listener->poll);
}

int nri_listener_open(nri_runtime *runtime, uint64_t now, struct nri_error *error)
{
    struct nri_listener *listener = &runtime->listener;
    const char *path = runtime->settings.path;
    bool stale = false;
    int lock = -1;
    int rc = make_directory(path, error);
    if (rc == 0)
        rc = lock_directory(listener, path, now, &lock, error);
    if (rc != 0)
        return rc;
    rc = look(path, &stale, error);
    if (rc == 0 && stale && unlink(path) != 0 && errno != ENOENT)
        rc = nri_path_error(error, errno, path);
    if (rc == 0)
        rc = bind_to(listener, path, error);
    if (lock >= 0)
        nri_socket_close(lock);
    if (rc != 0)
        return rc;
    int status = uv_poll_init(runtime->loop, &listener->poll, listener->fd);
    if (status != 0) {
        (void)unlink(path);
        nri_socket_close(listener->fd);
        return nri_socket_error(error, -status, "polling the listening socket");
    }
    runtime->open++;
    listener->poll.data = runtime;
    listener->open = true;
    poll_listener(runtime, true);
    return 0;
}

void nri_listener_close(nri_runtime *runtime)
{
    struct nri_listener *listener = &runtime->listener;
    const char *path = runtime->settings.path;
    struct stat status;
    if (!listener->open)
        return;
    listener->open = false;
    listener->listening = false;
    if (lstat(path, &status) == 0 && status.st_dev == listener->device &&
        status.st_ino == listener->inode)
        (void)unlink(path);
    uv_close((uv_handle_t *)&listener->poll, handle_closed);
    runtime->changed = true;
    nri_socket_close(listener->fd);
}

/* ---- accepting ---- */

static bool has_room(const nri_runtime *runtime)
{
    return nri_rt_plugin_count(runtime->rt) < runtime->settings.max_plugins;
}

static void pause_accepting(nri_runtime *runtime, uint64_t now, const char *text)
{
    nri_log_write(&runtime->log, now, NRI_LOG_WARN, NULL, "a plugin's connection has to wait: %s",
                  text);
    runtime->listener.paused_until = now + PAUSE;
}

/* False: no more now. */
static bool accept_one(nri_runtime *runtime, uint64_t now)
{
    struct nri_listener *listener = &runtime->listener;
    char peer[NRI_CONNECTION_PEER_SIZE];
    struct nri_rt_origin origin = {.kind = NRI_ORIGIN_EXTERNAL, .peer = peer};
    struct nri_error error;
    nri_error_clear(&error);
    const int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
        return true;
    if (fd < 0 && errno == EAGAIN)
        return false;
    if (fd < 0) {
        /* EMFILE, ENFILE, ENOMEM and the like pass. Who connects waits in the backlog meanwhile and
         * is served then; a descriptor kept in reserve could only turn it away. */
        (void)nri_socket_error(&error, errno, "accept");
        pause_accepting(runtime, now, error.text);
        return false;
    }
    nri_connection_peer(fd, &origin.pid, peer);
    if (nri_connection_open(runtime, fd, &origin, NULL, &error) == 0)
        return true;
    nri_log_write(&runtime->log, now, NRI_LOG_WARN, NULL, "a plugin %s was turned away: %s", peer,
                  error.text);
    nri_socket_close(fd);
    runtime->listener.paused_until = now + PAUSE;
    return false;
}

void nri_listener_turn(nri_runtime *runtime, uint64_t now)
{
    struct nri_listener *listener = &runtime->listener;
    if (!listener->open)
        return;
    bool room = has_room(runtime) && now >= listener->paused_until;
    /* Level-triggered: what is left polls readable again. */
    for (int i = 0; listener->readable && room && i < ACCEPTS_A_TURN; i++) {
        const bool more = accept_one(runtime, now);
        room = has_room(runtime) && now >= listener->paused_until;
        if (!more)
            break;
    }
    listener->readable = false;
    poll_listener(runtime, room);
}

uint64_t nri_listener_deadline(const nri_runtime *runtime)
{
    const struct nri_listener *listener = &runtime->listener;
    if (runtime->phase == NRI_RUNTIME_OPENING)
        return listener->lock_at;
    return listener->open && !listener->listening && has_room(runtime) ? listener->paused_until
                                                                       : NRI_NEVER;
}
