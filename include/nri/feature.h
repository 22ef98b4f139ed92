/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * What the runtime's NRI version knows.
 */
#ifndef NRI_FEATURE_H
#define NRI_FEATURE_H

#include <nri/api.h>

NRI_BEGIN_DECLS

/** What came with a version of NRI. Since 0.1.0. */
enum nri_feature {
    NRI_FEATURE_RLIMITS = 1,         /**< rlimits in adjustments: NRI 0.4 */
    NRI_FEATURE_SPLIT_SYNC = 2,      /**< Synchronize in parts: NRI 0.7 */
    NRI_FEATURE_TIMEOUTS = 3,        /**< time-outs told in Configure: NRI 0.7 */
    NRI_FEATURE_CDI_DEVICES = 4,     /**< CDI devices in adjustments: NRI 0.7 */
    NRI_FEATURE_PIDS_LIMIT = 5,      /**< pids limit: NRI 0.7 */
    NRI_FEATURE_OOM_SCORE_ADJ = 6,   /**< oom_score_adj in adjustments: NRI 0.7 */
    NRI_FEATURE_POD_IPS = 7,         /**< IP addresses of pods: NRI 0.8 */
    NRI_FEATURE_UPDATE_POD = 8,      /**< UpdatePodSandbox and PostUpdatePodSandbox: NRI 0.10 */
    NRI_FEATURE_VALIDATE = 9,        /**< ValidateContainerAdjustment: NRI 0.10 */
    NRI_FEATURE_ARGS = 10,           /**< args in adjustments: NRI 0.10 */
    NRI_FEATURE_IO_PRIORITY = 11,    /**< I/O priority: NRI 0.10 */
    NRI_FEATURE_SECCOMP_POLICY = 12, /**< seccomp policy: NRI 0.10 */
    NRI_FEATURE_NAMESPACES = 13,     /**< namespaces in adjustments: NRI 0.10 */
    NRI_FEATURE_EXIT_STATUS = 14,    /**< exit code, times and reasons of containers: NRI 0.10 */
    NRI_FEATURE_USER = 15,           /**< a container's user: NRI 0.11 */
    NRI_FEATURE_SYSCTL = 16,         /**< sysctls: NRI 0.11 */
    NRI_FEATURE_NET_DEVICES = 17,    /**< network devices: NRI 0.11 */
    NRI_FEATURE_SCHEDULER = 18,      /**< scheduler attributes: NRI 0.11 */
    NRI_FEATURE_RDT = 19,            /**< RDT class, schemata, monitoring: NRI 0.11 */
    NRI_FEATURE_NRI_VERSION = 20,    /**< NRI versions told by both sides: NRI 0.12 */
    NRI_FEATURE_EVENT_CALLS = 21,    /**< a call of its own for each event: NRI 0.12 */
    NRI_FEATURE_MEMORY_POLICY = 22,  /**< memory policy: NRI 0.12 */
    NRI_FEATURE_IMAGE = 23           /**< a container's image: NRI 0.12.2 */
};

/** The name of a feature, such as "args"; "?" for none such. Static. Since 0.1.0. */
NRI_API const char *nri_feature_name(enum nri_feature feature);
/**
 * The events that an NRI version knows, as a mask.
 * @param nri_version a version such as "0.10.0" or "v0.8"; NULL, "" or anything else gives the 11
 * classic events Thread-safe. Since 0.1.0.
 */
NRI_API uint32_t nri_version_events(const char *nri_version);
/** Whether an NRI version has a feature; false for a version that cannot be read. Thread-safe.
 * Since 0.1.0. */
NRI_API bool nri_version_supports(const char *nri_version, enum nri_feature feature);
/**
 * The NRI version inside a runtime, from the runtime's name and version.
 * @param runtime_name such as "containerd", "cri-o", "docker"; "v2" is a containerd 2 that lost its
 * name
 * @param runtime_version such as "2.1.9+unknown" or "1.7.24~ds1": its leading numbers count
 * @return static text such as "0.8.0", or NULL when it cannot be told. A release newer than the
 * table counts as its newest entry of the same major and minor number, or of the newest one before.
 * Thread-safe. Since 0.1.0.
 */
NRI_API const char *nri_version_infer(const char *runtime_name, const char *runtime_version);

NRI_END_DECLS

#endif
