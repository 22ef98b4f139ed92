/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that the command line names.
 */
#ifndef NRICTL_FILE_H
#define NRICTL_FILE_H

#include "nrictl.h"

/*
 * A whole file, or standard input for "-", with a NUL behind it. NRICTL_OK and *text, which the
 * caller frees; NRICTL_USAGE for a file that is not there, is none or is longer than `most` bytes,
 * NRICTL_ENVIRONMENT for what this machine does not do; both after a message.
 */
int file_read(struct nrictl *ctl, const char *path, size_t most, char **text, size_t *length);

#endif
