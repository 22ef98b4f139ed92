/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenMetrics text, and Prometheus's older form of it, as samples: a name, labels, a number.
 *
 * Whoever wrote the text is not trusted: there are limits, and what is no metrics text is told with
 * its line.
 */
#ifndef NRICTL_OPENMETRICS_H
#define NRICTL_OPENMETRICS_H

#include <stddef.h>

#include "base/error.h"

#define OPENMETRICS_MOST_LINE    ((size_t)16 * 1024)
#define OPENMETRICS_MOST_LABELS  32
#define OPENMETRICS_MOST_SAMPLES 200000

struct openmetrics_label {
    const char *name, *value; /* NUL-terminated; the value unescaped, and of another party */
};

struct openmetrics_sample { /* lives during the call */
    const char *name;
    size_t label_count;
    struct openmetrics_label labels[OPENMETRICS_MOST_LABELS];
    double value; /* may be infinite or no number */
};
/* A label's value; NULL: it has none such. */
const char *openmetrics_label(const struct openmetrics_sample *sample, const char *name);

/* 0, or what `take` returned that is not 0. NRI_E_PROTOCOL: a line is none ("line 3: ..."),
 * NRI_E_LIMIT, NRI_E_NOMEM. */
int openmetrics_read(const char *text, size_t length,
                     int (*take)(void *user, const struct openmetrics_sample *sample), void *user,
                     struct nri_error *error);

#endif
