/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics of a plugin as OpenMetrics text. doc/metrics.md has every name.
 */
#ifndef NRI_PLUGIN_OPENMETRICS_H
#define NRI_PLUGIN_OPENMETRICS_H

#include "base/buf.h"
#include "plugin/core.h"

/* What the driver knows besides. */
struct nri_openmetrics_place {
    enum nri_plugin_state state;
    bool wedged;
};

/* Appends the whole text, with "# EOF". NRI_E_NOMEM, NRI_E_LIMIT. */
int nri_openmetrics_write(const struct nri_core *core, const struct nri_openmetrics_place *place,
                          struct nri_buf *out);

#endif
