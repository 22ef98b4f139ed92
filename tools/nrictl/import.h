/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures of another form: NAME.jsonl, a line for each piece that was read, with its time and its
 * place in NAME.p2r.bin (plugin to runtime) or NAME.r2p.bin. A capture is one connection.
 */
#ifndef NRICTL_IMPORT_H
#define NRICTL_IMPORT_H

#include "nrictl.h"
#include "recording.h"

/* 0, or one of enum nrictl_exit after a message. */
typedef int (*import_sink)(void *user, const struct recording_record *record);

/* Gives the records of a capture, as connection `number`. NRICTL_OK; NRICTL_USAGE (a file is not
 * there or not as it should be) or NRICTL_ENVIRONMENT after a message; what the sink returned. */
int import_capture(struct nrictl *ctl, const char *path, uint32_t number, import_sink sink,
                   void *user);
/* Captures into a recording. */
int import_to_file(struct nrictl *ctl, const char *const *captures, size_t count, const char *path);

#endif
