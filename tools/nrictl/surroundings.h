/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process is started with, and what those that it starts are to have.
 */
#ifndef NRICTL_SURROUNDINGS_H
#define NRICTL_SURROUNDINGS_H

#include <spawn.h>
#include <stdbool.h>

/*
 * Descriptors 0 to 2 are open from here on, so that no socket or file becomes one of them; there is
 * room for those that an event loop has; and who reads the results may go without taking this
 * process along, which has plugins to end and sockets to remove. False after a message.
 */
bool surroundings_prepare(void);
/* As posix_spawnp(), and the program gets SIGPIPE as it is used to, and SIGINT and SIGTERM at all.
 * It has a process group of its own, so that what it starts can be ended with it. */
int surroundings_spawn(pid_t *pid, const char *program, const posix_spawn_file_actions_t *actions,
                       char *const *arguments, char *const *environment);

#endif
