/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Failure policies: what a runtime does when a plugin does not answer, goes away or refuses.
 *
 * NRI's own runtime lets a request pass when a plugin is too slow or gone, and closes the
 * connection of a slow one; it fails the request when a plugin answers with an error. Here each of
 * the three is a choice, for all plugins or for one.
 */
#ifndef NRI_FAILURE_H
#define NRI_FAILURE_H

#include <nri/api.h>

NRI_BEGIN_DECLS

/** What becomes of a request whose plugin failed. Since 0.1.0. */
enum nri_failure_action {
    NRI_FAILURE_DEFAULT = 0, /**< as NRI's own runtime: see struct nri_failure_policy */
    NRI_FAILURE_SKIP = 1,    /**< it goes on as if the plugin had not been asked */
    NRI_FAILURE_FAIL = 2     /**< it fails, with an error that names the plugin */
};

/** What becomes of a plugin that failed. Since 0.1.0. */
enum nri_failure_fate {
    NRI_FATE_DEFAULT = 0, /**< as NRI's own runtime: see struct nri_failure_policy */
    NRI_FATE_KEEP = 1,    /**< it stays; a reply that comes late is ignored */
    NRI_FATE_DROP = 2     /**< its connection is closed */
};

/** Ready-made policies. Since 0.1.0. */
enum nri_failure_preset {
    NRI_FAILURE_PRESET_GO = 0, /**< as NRI's own runtime: all members 0 */
    /** Containers come first: every failure is skipped, slow plugins are kept. */
    NRI_FAILURE_PRESET_PERMISSIVE = 1,
    /** Plugins come first: every failure fails the request, slow plugins are kept. */
    NRI_FAILURE_PRESET_STRICT = 2
};

/**
 * A failure policy. Zero in a member is its default. Members take values of enum nri_failure_action
 * and enum nri_failure_fate. Since 0.1.0.
 */
struct nri_failure_policy {
    size_t size; /**< sizeof(struct nri_failure_policy) */
    /** The plugin did not answer within the request time-out. Default NRI_FAILURE_SKIP; a validator
     * that does not answer always fails the creation. */
    int32_t on_timeout;
    /** Its connection ended while it was asked, or what came cannot be read, and the plugin is
     * dropped. Default NRI_FAILURE_SKIP. */
    int32_t on_loss;
    /** It answered with an error. Default NRI_FAILURE_FAIL. */
    int32_t on_error;
    /** The plugin after a time-out. Default NRI_FATE_DROP. */
    int32_t after_timeout;
    /** The plugin after an error. Default NRI_FATE_KEEP. */
    int32_t after_error;
    /** Not 0: the creation of a container fails while no such plugin is connected and synchronised,
     * and when it does not answer, goes away or refuses, whatever the members above say. For
     * policies of one plugin only. */
    uint32_t required;
    const void *reserved_pointer; /**< must be NULL */
    uint64_t reserved[4];         /**< must be 0 */
};

/** Fills a policy with zeros and its size. `size` is sizeof(struct nri_failure_policy). Since
 * 0.1.0. */
NRI_API void nri_failure_policy_init(struct nri_failure_policy *policy, size_t size);
/**
 * Fills the members of a policy.
 * @param policy an initialised policy
 * @param preset one of enum nri_failure_preset
 * @return 0, NRI_E_INVALID (NULL, or no such preset), NRI_E_ABI. Thread-safe. Since 0.1.0.
 */
NRI_API int nri_failure_policy_preset(struct nri_failure_policy *policy,
                                      enum nri_failure_preset preset);

NRI_END_DECLS

#endif
