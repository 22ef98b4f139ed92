/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin as a process of the simulator's: started from a command line, watched, ended.
 *
 * Its standard input is /dev/null, its standard output and error are this program's standard error
 * (or `output`), it has a process group of its own and no descriptor of this program's, and it is
 * killed when this program is. It has this
 * program's environment without NRI_PLUGIN_NAME, NRI_PLUGIN_IDX and NRI_PLUGIN_SOCKET, and
 * NRICTL_SOCKET, the socket's path; {socket} in an argument is replaced by that path, too.
 *
 * CHILD_CONNECTS: it connects to the socket by itself, which its command line has to tell it.
 * CHILD_CONNECTED: it is connected already, as by a runtime that launches it: NRI_PLUGIN_SOCKET
 * names the descriptor, NRI_PLUGIN_NAME and NRI_PLUGIN_IDX are its identity.
 */
#ifndef NRICTL_CHILD_H
#define NRICTL_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

enum child_way { CHILD_CONNECTS, CHILD_CONNECTED };

struct child_options {
    const char *const *argv; /* ends with NULL; the program is looked up in PATH */
    enum child_way way;
    /* Of CHILD_CONNECTED; NULL: from the program's name ("NN-name"), else its whole name and "00".
     */
    const char *name, *index;
    int output; /* a descriptor for what it prints; 0: standard error; stays the caller's */
    uint64_t timeout_ms; /* until it is connected and synchronised; 0: 30000 */
};

struct child;

pid_t child_pid(const struct child *child);
const char *child_name(const struct child *child); /* the base name of its program */
/* waitpid()'s status in words: "ended with status 1", "was ended by signal 9". */
const char *child_end_text(int status, char text[48]);
bool child_is_paused(const struct child *child);
/* To its process group. NRI_E_NOT_FOUND: it has ended. */
int child_signal(struct child *child, int number);

#endif
