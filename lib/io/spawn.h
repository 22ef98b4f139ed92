/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting a program as a plugin, with nothing of this process in it that it is not to have.
 */
#ifndef NRI_IO_SPAWN_H
#define NRI_IO_SPAWN_H

#include <sys/types.h>

#include "base/error.h"

struct nri_spawn {
    const char *path, *name, *index;
};

/*
 * The program gets one end of a socketpair as descriptor 3, /dev/null as its standard input, this
 * process's standard output and error, and no other descriptor; NRI_PLUGIN_NAME, NRI_PLUGIN_IDX and
 * NRI_PLUGIN_SOCKET=3 and no other variable; no signal blocked or ignored; and a process group of
 * its own. Sets *pid and *fd, the other end, close-on-exec. NRI_E_NOT_FOUND, NRI_E_PERMISSION,
 * NRI_E_NOMEM, NRI_E_IO: there is no process.
 */
int nri_spawn(const struct nri_spawn *what, const struct nri_alloc *alloc, pid_t *pid, int *fd,
              struct nri_error *error);

#endif
