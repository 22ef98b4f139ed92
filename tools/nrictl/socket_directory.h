/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory for a socket of this program's own, below TMPDIR, which only this user may enter.
 *
 * What a program leaves that was killed, the next one removes: each holds a lock in its directory,
 * which ends with it, whatever ended it. A directory whose lock nobody holds is removed when it has
 * this form of name, is this user's, and has a socket in it and nothing else.
 */
#ifndef NRICTL_SOCKET_DIRECTORY_H
#define NRICTL_SOCKET_DIRECTORY_H

#include "base/error.h"

struct socket_directory {
    char *path;   /* NULL: there is none */
    char *socket; /* in it; nothing is there yet */
    int lock;
};

/* NRI_E_NOMEM, NRI_E_IO; socket_directory_remove() in any case. */
int socket_directory_make(struct socket_directory *directory, struct nri_error *error);
/* With the socket, if it is there. */
void socket_directory_remove(struct socket_directory *directory);

#endif
