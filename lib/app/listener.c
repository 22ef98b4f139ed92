/* SPDX-License-Identifier: Apache-2.0 */
#include "listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define UNIX_PREFIX   "unix:"
#define BACKLOG       64
#define HOST_SIZE     256

#define LOCK_PAUSE_NS 5000000 /* 100 times: half a second */
#define LOCK_ATTEMPTS 100

static const char forms[] = "write HOST:PORT, [IPV6]:PORT, :PORT or unix:PATH";

static int fail(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int fail(char *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, APP_LISTENER_TEXT, format, arguments);
    va_end(arguments);
    return -1;
}

static const char *unix_path(const char *address)
{
    const size_t length = sizeof UNIX_PREFIX - 1;
    return strncmp(address, UNIX_PREFIX, length) == 0 ? address + length : NULL;
}

/* ---- TCP ---- */

static int check_port(const char *address, const char *port, char *text)
{
    char *end;
    errno = 0;
    const unsigned long number = strtoul(port, &end, 10);
    if (port[0] < '0' || port[0] > '9' || *end != '\0' || errno != 0 || number > 65535)
        return fail(text, "\"%.200s\": the port is a number from 0 to 65535", address);
    return 0;
}

/* "" stands for all addresses of this machine. */
static int split(const char *address, char host[HOST_SIZE], const char **port, char *text)
{
    const char *begin = address, *end = strrchr(address, ':');
    if (end == NULL)
        return fail(text, "\"%.200s\": %s", address, forms);
    *port = end + 1;
    if (address[0] == '[') {
        begin++;
        end--;
        if (end < begin || *end != ']')
            return fail(text, "\"%.200s\": %s", address, forms);
    } else if (memchr(address, ':', (size_t)(end - address)) != NULL)
        return fail(text, "\"%.200s\": an IPv6 address is written in brackets, [::1]:PORT",
                    address);
    if (end - begin >= HOST_SIZE)
        return fail(text, "\"%.200s...\": the host has more than %d characters", address,
                    HOST_SIZE - 1);
    memcpy(host, begin, (size_t)(end - begin));
    host[end - begin] = '\0';
    if (address[0] == '[' && host[0] == '\0')
        return fail(text, "\"%.200s\": %s", address, forms);
    return check_port(address, *port, text);
}

static void name_tcp(struct app_listener *listener)
{
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    char host[INET6_ADDRSTRLEN + 32] = "", port[16] = "";
    if (getsockname(listener->fd, (struct sockaddr *)&bound, &length) == 0)
        (void)getnameinfo((struct sockaddr *)&bound, length, host, sizeof host, port, sizeof port,
                          NI_NUMERICHOST | NI_NUMERICSERV);
    (void)snprintf(listener->name, sizeof listener->name,
                   strchr(host, ':') != NULL ? "[%s]:%s" : "%s:%s", host, port);
}

/* The listening socket, or -1 with errno. */
static int bind_tcp(const struct addrinfo *info, bool all)
{
    const int on = 1, off = 0;
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    /* A plugin that was restarted must not wait for its predecessor's connections to be forgotten.
     */
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (info->ai_family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, all ? &off : &on, sizeof on);
    if (bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    const int number = errno;
    (void)close(fd);
    errno = number;
    return -1;
}

static int open_tcp(struct app_listener *listener, const char *address, char *text)
{
    char host[HOST_SIZE] = "";
    const char *port = "";
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *list = NULL;
    if (split(address, host, &port, text) != 0)
        return -1;
    const bool all = host[0] == '\0';
    const int status = getaddrinfo(all ? NULL : host, port, &hints, &list);
    if (status != 0)
        return fail(text, "\"%.200s\": %s", address, gai_strerror(status));
    /* With one socket for all addresses the IPv6 one takes IPv4 too; a kernel without IPv6 has the
     * other. */
    int number = EADDRNOTAVAIL;
    for (int pass = 0; pass < 2 && listener->fd < 0; pass++) {
        for (struct addrinfo *info = list; info != NULL && listener->fd < 0; info = info->ai_next) {
            if (all && (info->ai_family == AF_INET6) != (pass == 0))
                continue;
            listener->fd = bind_tcp(info, all);
            if (listener->fd < 0)
                number = errno;
        }
    }
    freeaddrinfo(list);
    if (listener->fd < 0)
        return fail(text, "listening on %.200s: %s", address, strerror(number));
    name_tcp(listener);
    return 0;
}

/* ---- unix ---- */

/* Whether somebody listens: 1, 0, or -1 with errno. */
static int is_answered(const struct sockaddr_un *to)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    const int status = connect(fd, (const struct sockaddr *)to, sizeof *to);
    const int number = errno;
    (void)close(fd);
    if (status == 0 || number == EAGAIN) /* its backlog may be full */
        return 1;
    errno = number;
    return number == ECONNREFUSED ? 0 : -1;
}

static int remove_stale(const struct sockaddr_un *to, char *text)
{
    struct stat status;
    const char *path = to->sun_path;
    if (lstat(path, &status) != 0)
        return errno == ENOENT ? 0 : fail(text, "%s: %s", path, strerror(errno));
    if (!S_ISSOCK(status.st_mode))
        return fail(text, "%s: is there already, and is no socket", path);
    const int answered = is_answered(to);
    if (answered > 0)
        return fail(text, "%s: somebody listens there already", path);
    if (answered < 0)
        return fail(text, "%s: whether somebody listens there: %s", path, strerror(errno));
    return unlink(path) == 0 || errno == ENOENT
               ? 0
               : fail(text, "removing %s, on which nobody listens: %s", path, strerror(errno));
}

static int bind_unix(struct app_listener *listener, const struct sockaddr_un *to, char *text)
{
    struct stat status;
    const char *path = to->sun_path;
    if (remove_stale(to, text) != 0)
        return -1;
    listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* Linux gives the file the mode that the socket has before it is bound: never open to others,
     * and without touching the umask, which other threads share. */
    if (listener->fd < 0 || fchmod(listener->fd, 0600) != 0 ||
        bind(listener->fd, (const struct sockaddr *)to, sizeof *to) != 0)
        return fail(text, "listening on %s: %s", path, strerror(errno));
    if (lstat(path, &status) == 0) {
        listener->path = path;
        listener->device = status.st_dev;
        listener->inode = status.st_ino;
    }
    if (listen(listener->fd, BACKLOG) != 0)
        return fail(text, "listening on %s: %s", path, strerror(errno));
    return 0;
}

/* Whoever makes a socket in the same directory is done in a moment. Anybody who may read it could
 * keep it locked, though, which is no reason not to start: the lock only keeps two plugins of one
 * path, started at once, from taking each other's socket for a dead one. */
static void lock_for_a_while(int directory)
{
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
    for (int i = 0; i < LOCK_ATTEMPTS; i++) {
        if (flock(directory, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR))
            return;
        (void)nanosleep(&pause, NULL);
    }
}

static int open_locked_directory(const char *path, char *text)
{
    char directory[sizeof((struct sockaddr_un *)0)->sun_path];
    (void)snprintf(directory, sizeof directory, "%s", path);
    char *slash = strrchr(directory, '/');
    if (slash == NULL)
        (void)snprintf(directory, sizeof directory, ".");
    else
        slash[slash == directory ? 1 : 0] = '\0';
    const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return fail(text, "%s: %s", directory, strerror(errno));
    lock_for_a_while(fd);
    return fd;
}

static int open_unix(struct app_listener *listener, const char *path, char *text)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const int directory = open_locked_directory(path, text);
    if (directory < 0)
        return -1;
    memcpy(to.sun_path, path, strlen(path) + 1);
    const int code = bind_unix(listener, &to, text);
    if (listener->path != NULL)
        listener->path = path;
    (void)close(directory);
    (void)snprintf(listener->name, sizeof listener->name, UNIX_PREFIX "%s", path);
    return code;
}

/* ---- either ---- */

int app_listener_check(const char *address, char text[APP_LISTENER_TEXT])
{
    char host[HOST_SIZE];
    const char *path = unix_path(address), *port;
    if (path == NULL)
        return split(address, host, &port, text);
    if (path[0] == '\0')
        return fail(text, "\"%s\": the path is missing", address);
    if (strlen(path) >= sizeof((struct sockaddr_un *)0)->sun_path)
        return fail(text, "\"%.200s\": the path of a socket has at most 107 bytes", address);
    return 0;
}

int app_listener_open(struct app_listener *listener, const char *address,
                      char text[APP_LISTENER_TEXT])
{
    *listener = (struct app_listener){.fd = -1};
    if (app_listener_check(address, text) != 0)
        return -1;
    const char *path = unix_path(address);
    const int code =
        path != NULL ? open_unix(listener, path, text) : open_tcp(listener, address, text);
    if (code != 0) {
        app_listener_unlink(listener);
        app_listener_close(listener);
    }
    return code;
}

void app_listener_unlink(struct app_listener *listener)
{
    struct stat status;
    if (listener->path == NULL)
        return;
    if (lstat(listener->path, &status) == 0 && status.st_dev == listener->device &&
        status.st_ino == listener->inode)
        (void)unlink(listener->path);
    listener->path = NULL;
}

void app_listener_close(struct app_listener *listener)
{
    if (listener->fd >= 0)
        (void)close(listener->fd);
    listener->fd = -1;
}
