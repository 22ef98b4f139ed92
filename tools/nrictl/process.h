/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting a program of a command line: what comes between fork() and exec().
 */
#ifndef NRICTL_PROCESS_H
#define NRICTL_PROCESS_H

#include "base/error.h"
#include "child.h"

/*
 * As child.h says. The connection of CHILD_CONNECTED is made by the new process, so that the
 * runtime sees its pid. NRI_E_NOT_FOUND, NRI_E_PERMISSION, NRI_E_REFUSED, NRI_E_NOMEM, NRI_E_IO:
 * there is no process.
 */
int process_start(const struct child_options *options, const char *name, const char *index,
                  const char *socket, pid_t *pid, struct nri_error *error);

#endif
