/* SPDX-License-Identifier: Apache-2.0 */
/* The pool in OpenMetrics' words. */
#ifndef PINNER_METRICS_H
#define PINNER_METRICS_H

#include "keeper.h"

/* The text, without "# EOF", which free() frees; NULL without memory. Takes the keeper's lock. */
char *metrics_text(struct keeper *keeper);

#endif
