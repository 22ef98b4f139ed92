/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closing what a started program is not to have.
 */
#ifndef NRI_IO_CLOSE_FROM_H
#define NRI_IO_CLOSE_FROM_H

#include <spawn.h>

/* Adds the closing of all descriptors from `first` up, as the last action. 0 or an errno. */
int nri_close_from(posix_spawn_file_actions_t *actions, int first);
/* The same for those that are open now, which is what a C library without such an action leaves: a
 * descriptor without FD_CLOEXEC that another thread opens before the program is started is handed
 * on. */
int nri_close_open(posix_spawn_file_actions_t *actions, int first);

#endif
