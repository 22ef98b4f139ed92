/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording, also one that is still being written, as rows of a meter.
 *
 * An event is counted when the plugin was asked, its latency when the answer came. Refused is an
 * answer with a status, late one that came after the time that the runtime gave, pending what has
 * no answer.
 */
#ifndef NRICTL_METER_RECORDING_H
#define NRICTL_METER_RECORDING_H

#include "meter.h"

struct meter_recording;

/* NRICTL_OK, NRICTL_USAGE (no such file), NRICTL_ENVIRONMENT; after a message. */
int meter_recording_open(struct nrictl *ctl, struct meter_recording **out, struct meter *meter,
                         struct meter_source *source, const char *path);
void meter_recording_close(struct meter_recording *recording); /* NULL is ignored */
/* Reads on, a few MiB at most; *end: there is no more for now. False: the source has failed, and
 * says why. To be called between meter_begin() and meter_end(). */
bool meter_recording_read(struct meter_recording *recording, bool *end);

#endif
