/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unix stream sockets: connecting, checking a given one, moving bytes. Nothing here blocks, and
 * nothing raises SIGPIPE.
 */
#ifndef NRI_IO_SOCKET_H
#define NRI_IO_SOCKET_H

#include "base/error.h"

#define NRI_SOCKET_PATH_MAX 107 /* bytes, without the NUL: what sockaddr_un has room for */

/* NRI_E_PATH_TOO_LONG, NRI_E_INVALID (empty). */
int nri_socket_check_path(const char *path, struct nri_error *error);

/*
 * Connects. *fd is non-blocking and close-on-exec. NRI_E_NOT_FOUND, NRI_E_PERMISSION,
 * NRI_E_REFUSED, NRI_E_NOT_SOCKET, NRI_E_PATH_TOO_LONG, NRI_E_NOMEM, NRI_E_IO, each with a text
 * that names the path and says what to do. NRI_E_BUSY: the listener's backlog is full; try again
 * soon.
 */
int nri_socket_connect(const char *path, int *fd, struct nri_error *error);

/* Checks that a descriptor is a connected unix stream socket. NRI_E_NOT_SOCKET. Changes nothing. */
int nri_socket_check(int fd, struct nri_error *error);
/* Whether it has FD_CLOEXEC: a descriptor that was handed on through an exec never has. */
bool nri_socket_is_cloexec(int fd);
/* Makes a checked one non-blocking and close-on-exec. NRI_E_IO. */
int nri_socket_adopt(int fd, struct nri_error *error);
void nri_socket_close(int fd);
/* Who made the other end, or listened when it was made (SO_PEERCRED). NRI_E_IO. */
struct nri_socket_peer {
    int64_t pid, uid, gid;
};
int nri_socket_peer(int fd, struct nri_socket_peer *peer, struct nri_error *error);

enum nri_socket_result {
    NRI_SOCKET_MOVED, /* *moved bytes, more than 0 */
    NRI_SOCKET_AGAIN, /* nothing to be had, or no room, now */
    NRI_SOCKET_ENDED, /* the peer is gone: EOF, EPIPE, ECONNRESET */
    NRI_SOCKET_FAILED /* the text is in *error */
};
enum nri_socket_result nri_socket_receive(int fd, void *bytes, size_t room, size_t *moved,
                                          struct nri_error *error);
enum nri_socket_result nri_socket_send(int fd, const void *bytes, size_t count, size_t *moved,
                                       struct nri_error *error);

/* An errno's text, which may be in the room. Thread-safe, unlike strerror(). */
#define NRI_ERRNO_TEXT_SIZE 128
const char *nri_errno_text(int number, char room[NRI_ERRNO_TEXT_SIZE]);
/* Sets NRI_E_IO (NRI_E_NOMEM for ENOMEM) with "WHAT: " and the errno's text. */
int nri_socket_error(struct nri_error *error, int number, const char *what);

#endif
