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
    NRI_FEATURE_IMAGE = 23,          /**< a container's image: NRI 0.12.2 */

    /* What every NRI has, and not every runtime acts on. */
    NRI_FEATURE_ANNOTATIONS = 24,         /**< annotations in adjustments */
    NRI_FEATURE_MOUNTS = 25,              /**< mounts in adjustments */
    NRI_FEATURE_ENV = 26,                 /**< environment variables in adjustments */
    NRI_FEATURE_HOOKS = 27,               /**< OCI hooks in adjustments */
    NRI_FEATURE_DEVICES = 28,             /**< device nodes in adjustments */
    NRI_FEATURE_DEVICE_RULES = 29,        /**< rules of the device cgroup: NRI 0.10 */
    NRI_FEATURE_CPU = 30,                 /**< CPU shares, quota, period, realtime, cpusets */
    NRI_FEATURE_MEMORY_LIMIT = 31,        /**< the memory limit */
    NRI_FEATURE_MEMORY_OTHER = 32,        /**< reservation, swap, kernel, swappiness, OOM killer */
    NRI_FEATURE_HUGEPAGE_LIMITS = 33,     /**< hugepage limits */
    NRI_FEATURE_UNIFIED = 34,             /**< cgroup v2 values */
    NRI_FEATURE_BLOCKIO_CLASS = 35,       /**< the block I/O class */
    NRI_FEATURE_RDT_CLASS = 36,           /**< the RDT class in resources */
    NRI_FEATURE_CGROUPS_PATH = 37,        /**< the cgroup path */
    NRI_FEATURE_UPDATES = 38,             /**< updates in replies */
    NRI_FEATURE_UNSOLICITED_UPDATES = 39, /**< UpdateContainers */
    NRI_FEATURE_EVICTIONS = 40,           /**< evictions that are acted on */
    NRI_FEATURE_POD_EVENTS = 41,          /**< events of pod sandboxes */
    NRI_FEATURE_CONTAINER_PID = 42,       /**< the pid of containers */
    NRI_FEATURE_REMOVE_ENV = 43,          /**< removing variables that no plugin set */
    NRI_FEATURE_REMOVE_DEVICE = 44        /**< removing devices that no plugin set */
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

/**
 * Whether a runtime acts on a feature: by the NRI inside it, and by what is known of the runtime
 * itself.
 * @param runtime_name as for nri_version_infer()
 * @param runtime_version as for nri_version_infer()
 * @param nri_version the version that the runtime told (nri_plugin_runtime_nri_version()). NULL, or
 * what is no version, such as "", "unknown" or "0.0.0-unknown": it is inferred
 * @param feature the feature
 * @return false also when nothing is known of the runtime: that is when `nri_version` is no version
 * and nri_version_infer() gives NULL. Thread-safe. Since 0.1.0.
 */
NRI_API bool nri_feature_supported(const char *runtime_name, const char *runtime_version,
                                   const char *nri_version, enum nri_feature feature);
/** Whether a runtime has an event (enum nri_event, 1 to 14). As nri_feature_supported(). Since
 * 0.1.0. */
NRI_API bool nri_event_supported(const char *runtime_name, const char *runtime_version,
                                 const char *nri_version, int event);
/** Whether a runtime acts on a field of an adjustment (enum nri_field, 1 to 40). As
 * nri_feature_supported(). Since 0.1.0. */
NRI_API bool nri_field_supported(const char *runtime_name, const char *runtime_version,
                                 const char *nri_version, int field);
/**
 * What a runtime would not act on of an adjustment: ignore silently, or, as Docker does with what
 * its NRI knows, refuse the container for.
 * @param adjustment the adjustment
 * @param runtime_name as for nri_feature_supported()
 * @param runtime_version as for nri_feature_supported()
 * @param nri_version as for nri_feature_supported()
 * @param features set to the features in question, in the order of their numbers, as many as there
 * is room for; may be NULL if `room` is 0
 * @param room how many there is room for
 * @return how many there are. 0 is also the answer when nothing is known of the runtime, and is no
 * promise then: that is when `nri_version` is no version and nri_version_infer() gives NULL. The
 * thread that may use the adjustment. Since 0.1.0.
 */
NRI_API size_t nri_adjustment_ignored(const nri_adjustment *adjustment, const char *runtime_name,
                                      const char *runtime_version, const char *nri_version,
                                      enum nri_feature *features, size_t room);

NRI_END_DECLS

#endif
