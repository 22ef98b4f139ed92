/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nrictl says of itself, all made of the table of commands: help, manual page, completion.
 */
#ifndef NRICTL_HELP_H
#define NRICTL_HELP_H

#include "nrictl.h"

extern const struct nrictl_option
    nrictl_common_options[]; /* of every command; ends with a NULL name */

void help_overview(FILE *out);
/* The command that is meant by a misspelt name; NULL: none. */
const char *help_meant(const char *name);
void help_command(FILE *out, const struct nrictl_command *command);
void help_manual(FILE *out);     /* nrictl.1 */
void help_completion(FILE *out); /* for bash */
/* Commands, options, examples, as JSON: what tests and other tools read. */
int help_json(FILE *out);

extern const struct nrictl_command nrictl_help;

#endif
