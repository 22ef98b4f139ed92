/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command line in one text: words are split at blanks; quotes, single or double, and a backslash
 * keep what they stand at. Nothing else of a shell's is done.
 */
#ifndef NRICTL_COMMAND_LINE_H
#define NRICTL_COMMAND_LINE_H

#include "base/arena.h"

/* Words in the arena, ending with NULL. NULL: *why says what is wrong, or there is no memory. */
const char **command_line_split(struct nri_arena *arena, const char *text, const char **why);
/* A copy with each `what` replaced; NULL: no memory. */
const char *command_line_replace(struct nri_arena *arena, const char *text, const char *what,
                                 const char *by);

#endif
