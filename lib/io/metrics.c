/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of the handle. */
#include <nri/metrics.h>

#include <nri/json.h>

#include "io/handle.h"
#include "model/json_options.h"
#include "plugin/openmetrics.h"

uint64_t nri_plugin_count(const nri_plugin *plugin, enum nri_plugin_counter counter)
{
    return plugin == NULL ? 0 : nri_core_count(plugin->core, counter);
}

uint64_t nri_plugin_count_event(const nri_plugin *plugin, enum nri_event event,
                                enum nri_event_counter counter)
{
    return plugin == NULL ? 0 : nri_core_count_event(plugin->core, event, counter);
}

int nri_plugin_metrics(const nri_plugin *plugin, char **text, size_t *length)
{
    struct nri_buf out;
    if (text != NULL)
        *text = NULL;
    if (length != NULL)
        *length = 0;
    if (plugin == NULL || text == NULL)
        return NRI_E_INVALID;
    const struct nri_json_settings settings = {.alloc = plugin->settings.alloc,
                                               .max_bytes = SIZE_MAX};
    const struct nri_openmetrics_place place = {nri_plugin_get_state(plugin),
                                                nri_plugin_is_wedged(plugin)};
    int rc = nri_json_result_begin(&settings, &out);
    if (rc == 0)
        rc = nri_openmetrics_write(plugin->core, &place, &out);
    if (rc == 0) {
        *text = nri_json_result_end(&out, length);
        rc = *text != NULL ? 0 : NRI_E_NOMEM;
    }
    nri_buf_fini(&out);
    return rc;
}

/* The text knows its allocator as JSON texts do. */
void nri_metrics_free(char *text)
{
    nri_json_free(text);
}
