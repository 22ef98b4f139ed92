/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shell on a simulated node: one command a line, from a terminal (with a line editor, completion
 * and history where libedit was there at build time) or from a pipe or a file, for scripts.
 *
 * A command is over when its operation is: the next line is not read before. What happens beside
 * commands (a plugin comes, goes, updates, evicts) is told as a line of its own.
 */
#ifndef NRICTL_SHELL_H
#define NRICTL_SHELL_H

#include "node.h"
#include "nrictl.h"

struct shell;

/*
 * Begins on a node that is ready, with descriptor `input` (0). `done` is called once, at the end of
 * the input or after `quit`, with what to end with: NRICTL_OK from a terminal; else NRICTL_USAGE
 * when a command was wrong, NRICTL_FINDING when an operation failed. NULL after a message.
 */
struct shell *shell_start(struct nrictl *ctl, struct node *node, int input,
                          void (*done)(struct shell *shell, int code, void *user), void *user);
/* Gives the terminal back and saves the history; it may be called in `done` and at any time, then
 * `done` does not come. NULL is ignored. */
void shell_free(struct shell *shell);

/* To be called from the node's watch. */
void shell_connected(struct shell *shell, const nri_runtime_plugin *plugin);
void shell_lost(struct shell *shell, const nri_runtime_plugin *plugin, int code, const char *text);
void shell_updated(struct shell *shell, const char *plugin, const nri_updates *list,
                   const char *const *failed, size_t failed_count, bool sync);
void shell_evicted(struct shell *shell, const char *container_id, const char *plugin,
                   const char *reason);
void shell_child_ended(struct shell *shell, const struct child *child, int status);

/* Whether there is a line editor in this build. */
bool shell_can_edit(void);

#endif
