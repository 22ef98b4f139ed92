/* SPDX-License-Identifier: Apache-2.0 */
#include "io/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

_Static_assert(sizeof(((struct sockaddr_un *)0)->sun_path) == NRI_SOCKET_PATH_MAX + 1,
               "the longest path of a unix socket");

const char *nri_errno_text(int number, char room[NRI_ERRNO_TEXT_SIZE])
{
#ifdef __GLIBC__
    return strerror_r(number, room, NRI_ERRNO_TEXT_SIZE);
#else /* POSIX's, which returns a number */
    return strerror_r(number, room, NRI_ERRNO_TEXT_SIZE) == 0 ? room : "unknown error";
#endif
}

int nri_socket_error(struct nri_error *error, int number, const char *what)
{
    char room[NRI_ERRNO_TEXT_SIZE];
    return nri_error_set(error, number == ENOMEM ? NRI_E_NOMEM : NRI_E_IO, "%s: %s", what,
                         nri_errno_text(number, room));
}

int nri_socket_check_path(const char *path, struct nri_error *error)
{
    size_t length = strlen(path);
    if (length == 0)
        return nri_error_set(error, NRI_E_INVALID, "the socket path is empty");
    if (length > NRI_SOCKET_PATH_MAX)
        return nri_error_set(
            error, NRI_E_PATH_TOO_LONG,
            "the socket path \"%s\" has %zu bytes; a unix socket's path has at most %d: "
            "use a shorter one, or a symbolic link to its directory",
            path, length, NRI_SOCKET_PATH_MAX);
    return 0;
}

/* The kernel says ECONNREFUSED for a path that is no socket, as for a socket that nobody listens
 * on: stat() tells. */
static int refused(const char *path, struct nri_error *error)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISSOCK(status.st_mode))
        return nri_error_set(error, NRI_E_NOT_SOCKET,
                             "%s is %s, not a socket: give the path of the runtime's NRI socket",
                             path, S_ISDIR(status.st_mode) ? "a directory" : "a file");
    return nri_error_set(
        error, NRI_E_REFUSED,
        "nobody listens on %s: start the runtime (the socket is there, perhaps left over from one "
        "that has ended)",
        path);
}

static int connect_failed(const char *path, int number, struct nri_error *error)
{
    switch (number) {
    case EAGAIN:
        return nri_error_set(error, NRI_E_BUSY,
                             "%s: the runtime does not accept connections: its backlog is full",
                             path);
    case ENOENT:
    case ENOTDIR:
        return nri_error_set(error, NRI_E_NOT_FOUND,
                             "%s does not exist: is the runtime running, is NRI enabled in its "
                             "configuration, and is "
                             "this its socket path?",
                             path);
    case EACCES:
    case EPERM:
        return nri_error_set(
            error, NRI_E_PERMISSION,
            "no permission to connect to %s: run as a user who may write to the socket and search "
            "its "
            "directories (a security module such as SELinux may forbid it as well)",
            path);
    case ECONNREFUSED:
        return refused(path, error);
    case ENOTSOCK:
    case EPROTOTYPE:
        return nri_error_set(
            error, NRI_E_NOT_SOCKET,
            "%s is not a unix stream socket: give the path of the runtime's NRI socket", path);
    default:
        nri_socket_error(error, number, "connect");
        return nri_error_prefix(error, "%s", path);
    }
}

int nri_socket_connect(const char *path, int *fd, struct nri_error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int rc = nri_socket_check_path(path, error);
    if (rc != 0)
        return rc;
    memcpy(address.sun_path, path, strlen(path));

    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (made < 0)
        return nri_socket_error(error, errno, "socket");
    /* A unix socket is connected at once or not at all: there is no EINPROGRESS to wait for. */
    do {
        rc = connect(made, (const struct sockaddr *)&address, (socklen_t)sizeof address);
    } while (rc != 0 && errno == EINTR);
    if (rc != 0) {
        rc = connect_failed(path, errno, error);
        nri_socket_close(made);
        return rc;
    }
    *fd = made;
    return 0;
}

static bool socket_option(int fd, int option, int *value)
{
    socklen_t length = sizeof *value;
    return getsockopt(fd, SOL_SOCKET, option, value, &length) == 0;
}

int nri_socket_check(int fd, struct nri_error *error)
{
    struct sockaddr_un address;
    socklen_t length = sizeof address;
    int domain, type;
    if (fcntl(fd, F_GETFD) < 0)
        return nri_error_set(error, NRI_E_NOT_SOCKET, "descriptor %d is not open", fd);
    if (!socket_option(fd, SO_DOMAIN, &domain) || !socket_option(fd, SO_TYPE, &type))
        return nri_error_set(error, NRI_E_NOT_SOCKET, "descriptor %d is not a socket", fd);
    if (domain != AF_UNIX || type != SOCK_STREAM)
        return nri_error_set(
            error, NRI_E_NOT_SOCKET,
            "descriptor %d is not a unix stream socket (address family %d, type %d)", fd, domain,
            type);
    if (getpeername(fd, (struct sockaddr *)&address, &length) != 0)
        return nri_error_set(error, NRI_E_NOT_SOCKET,
                             "descriptor %d is a unix socket that is not connected", fd);
    return 0;
}

bool nri_socket_is_cloexec(int fd)
{
    int flags = fcntl(fd, F_GETFD);
    return flags >= 0 && (flags & FD_CLOEXEC) != 0;
}

int nri_socket_adopt(int fd, struct nri_error *error)
{
    int status = fcntl(fd, F_GETFL);
    int flags = fcntl(fd, F_GETFD);
    if (status < 0 || flags < 0 || fcntl(fd, F_SETFL, status | O_NONBLOCK) != 0 ||
        fcntl(fd, F_SETFD, flags | FD_CLOEXEC) != 0)
        return nri_socket_error(error, errno, "fcntl");
    return 0;
}

void nri_socket_close(int fd)
{
    /* Not repeated after EINTR: on Linux the descriptor is gone then as well. */
    (void)close(fd);
}

int nri_socket_peer(int fd, struct nri_socket_peer *peer, struct nri_error *error)
{
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0)
        return nri_socket_error(error, errno, "SO_PEERCRED");
    *peer = (struct nri_socket_peer){credentials.pid, credentials.uid, credentials.gid};
    return 0;
}

static enum nri_socket_result failed(int number, const char *what, struct nri_error *error)
{
    switch (number) {
    case EAGAIN:
        return NRI_SOCKET_AGAIN;
    case EPIPE:
    case ECONNRESET:
    case ENOTCONN:
        return NRI_SOCKET_ENDED;
    default:
        nri_socket_error(error, number, what);
        return NRI_SOCKET_FAILED;
    }
}

enum nri_socket_result nri_socket_receive(int fd, void *bytes, size_t room, size_t *moved,
                                          struct nri_error *error)
{
    for (;;) {
        ssize_t got = recv(fd, bytes, room, 0);
        if (got > 0) {
            *moved = (size_t)got;
            return NRI_SOCKET_MOVED;
        }
        if (got == 0)
            return NRI_SOCKET_ENDED;
        if (errno != EINTR)
            return failed(errno, "recv", error);
    }
}

enum nri_socket_result nri_socket_send(int fd, const void *bytes, size_t count, size_t *moved,
                                       struct nri_error *error)
{
    for (;;) {
        ssize_t put = send(fd, bytes, count, MSG_NOSIGNAL);
        if (put >= 0) {
            *moved = (size_t)put;
            return NRI_SOCKET_MOVED;
        }
        if (errno != EINTR)
            return failed(errno, "send", error);
    }
}
