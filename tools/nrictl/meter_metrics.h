/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics of plugins (doc/metrics.md) and of runtimes on libnri (doc/runtime.md) as rows of a
 * meter.
 */
#ifndef NRICTL_METER_METRICS_H
#define NRICTL_METER_METRICS_H

#include "meter.h"

/* One reading of a source, from its text. False: the source has failed, and says why. */
bool meter_read_metrics(struct meter *meter, struct meter_source *source, uint64_t time,
                        const char *text, size_t length);

#endif
