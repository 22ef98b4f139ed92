/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ctrl-C and SIGTERM as a descriptor, for programs that wait with poll(): no handler, so no
 * variable that one would have to set.
 */
#ifndef NRICTL_INTERRUPT_H
#define NRICTL_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

struct interrupt {
    int fd;          /* readable once one of them came */
    sigset_t before; /* what was blocked */
};

/* From here on they come by the descriptor alone. 0, or an errno. */
int interrupt_open(struct interrupt *interrupt);
bool interrupt_came(const struct interrupt *interrupt); /* takes it; does not wait */
void interrupt_close(struct interrupt *interrupt);

#endif
