/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * What a plugin counts: requests, replies and time by event, connections, updates; single values
 * for programs, and the whole as OpenMetrics text for collectors.
 *
 * Counters begin at 0 with nri_plugin_new() and go on over reconnects. doc/metrics.md says what
 * each means.
 */
#ifndef NRI_METRICS_H
#define NRI_METRICS_H

#include <nri/api.h>
#include <nri/event.h>

NRI_BEGIN_DECLS

/** What is counted by event. Since 0.1.0. */
enum nri_event_counter {
    NRI_COUNT_REQUESTS = 0, /**< requests that came */
    NRI_COUNT_REPLIES = 1,  /**< answered with success */
    NRI_COUNT_REFUSED = 2,  /**< refused by the plugin */
    NRI_COUNT_ERRORS = 3,  /**< refused by the library: limits, no memory, dropped without answer, a
                              Configure whose events the runtime does not know; and answers that
                              could not be sent */
    NRI_COUNT_LATE = 4,    /**< answered by the plugin, but after the deadline */
    NRI_COUNT_GUARDED = 5, /**< answered by the deadline guard in the plugin's place */
    NRI_COUNT_BYPASSED = 6, /**< answered unchanged by the bypass switch */
    NRI_COUNT_SLOW = 7      /**< took more than slow_percent of their time */
};

/** What is counted once. Since 0.1.0. */
enum nri_plugin_counter {
    NRI_COUNT_CONNECTIONS = 0,      /**< connections that stood */
    NRI_COUNT_DISCONNECTIONS = 1,   /**< and ended */
    NRI_COUNT_FAILED_ATTEMPTS = 2,  /**< attempts to connect that failed */
    NRI_COUNT_SYNCHRONIZATIONS = 3, /**< Synchronize, whole ones */
    NRI_COUNT_BYTES_IN = 4,         /**< bytes read from the runtime */
    NRI_COUNT_BYTES_OUT = 5,        /**< bytes written to the runtime */
    NRI_COUNT_UPDATE_CALLS = 6,     /**< unsolicited updates handed to the library */
    NRI_COUNT_UPDATE_ERRORS = 7,    /**< those that failed as a whole */
    NRI_COUNT_UPDATE_FAILURES = 8   /**< containers whose update failed */
};

/** The value of a counter of an event (1 to 14, NRI_EVENT_CONFIGURE, NRI_EVENT_SYNCHRONIZE,
 * NRI_EVENT_SHUTDOWN); 0 for anything else. Any thread. Since 0.1.0. */
NRI_API uint64_t nri_plugin_count_event(const nri_plugin *plugin, enum nri_event event,
                                        enum nri_event_counter counter);
/** The value of a counter of the plugin; 0 for none such. Any thread. Since 0.1.0. */
NRI_API uint64_t nri_plugin_count(const nri_plugin *plugin, enum nri_plugin_counter counter);

/**
 * All metrics as OpenMetrics text, ending with "# EOF".
 * @param plugin the plugin
 * @param text set to the text, NUL-terminated, which nri_metrics_free() frees
 * @param length set to its length in bytes; may be NULL
 * @return 0, NRI_E_INVALID, NRI_E_NOMEM. The loop's thread. Since 0.1.0.
 */
NRI_API int nri_plugin_metrics(const nri_plugin *plugin, char **text, size_t *length);
/** Frees such a text; NULL is ignored. Since 0.1.0. */
NRI_API void nri_metrics_free(char *text);

NRI_END_DECLS

#endif
