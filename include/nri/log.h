/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The log sink: one function per handle, given in its options. Without one, libnri is silent.
 */
#ifndef NRI_LOG_H
#define NRI_LOG_H

#include <nri/api.h>

NRI_BEGIN_DECLS

/** Levels, the most severe first. Since 0.1.0. */
enum nri_log_level {
    NRI_LOG_DEFAULT = 0, /**< in options: NRI_LOG_INFO */
    NRI_LOG_ERROR = 1,   /**< something failed that somebody should look at */
    NRI_LOG_WARN = 2,    /**< something will be ignored, or may fail soon */
    NRI_LOG_INFO = 3,    /**< connected, registered, configured, closed */
    NRI_LOG_DEBUG = 4    /**< one record per message */
};

/**
 * A log sink.
 *
 * Called on the loop's thread, and on any thread that calls into libnri with a handle of this sink.
 * It must not call back into the same handle.
 * @param user `log_user` of the options
 * @param record the record, valid during the call only
 * Since 0.1.0.
 */
typedef void (*nri_log_fn)(void *user, const nri_log_record *record);

/** The level of a record. A NULL record gives NRI_LOG_DEFAULT, and "" and 0 below. Since 0.1.0. */
NRI_API enum nri_log_level nri_log_record_level(const nri_log_record *record);
/** The text of a record, one line without a newline; never NULL. Lives as long as the record. Since
 * 0.1.0. */
NRI_API const char *nri_log_record_text(const nri_log_record *record);
/** The event that the record is about, such as "CreateContainer", or "". Since 0.1.0. */
NRI_API const char *nri_log_record_event(const nri_log_record *record);
/** The id of the pod sandbox that the record is about, or "". Since 0.1.0. */
NRI_API const char *nri_log_record_pod(const nri_log_record *record);
/** The id of the container that the record is about, or "". Since 0.1.0. */
NRI_API const char *nri_log_record_container(const nri_log_record *record);
/** The plugin that the record is about, as "NN-name", or "". Since 0.1.0. */
NRI_API const char *nri_log_record_plugin(const nri_log_record *record);
/** How many similar records the rate limit held back before this one. Since 0.1.0. */
NRI_API uint64_t nri_log_record_suppressed(const nri_log_record *record);
/** The name of a level: "error", "warn", "info" (also of NRI_LOG_DEFAULT) or "debug"; "?" for
 * anything else. Static. Since 0.1.0. */
NRI_API const char *nri_log_level_name(enum nri_log_level level);

NRI_END_DECLS

#endif
