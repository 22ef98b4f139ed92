/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * What becomes of a field that two plugins set, or that the runtime does not support: the policies
 * of a runtime's merging.
 */
#ifndef NRI_MERGE_H
#define NRI_MERGE_H

#include <nri/api.h>

NRI_BEGIN_DECLS

/** Room for a policy of each field, by enum nri_field; more than there are today. Since 0.1.0. */
#define NRI_MERGE_FIELDS 64

/**
 * What happens when a plugin sets what has been set already in the same request, by another plugin
 * or by itself, and of what the runtime does not support at all. For a field with keys it is about
 * each key. OCI hooks accumulate whatever the policy is, unless it is NRI_MERGE_UNSUPPORTED.
 * Since 0.1.0.
 */
enum nri_merge_policy {
    /** It is a conflict, and the request fails with NRI_E_CONFLICT: what every NRI runtime does. */
    NRI_MERGE_REJECT = 0,
    /** The value that is set last counts, and its plugin is the owner. */
    NRI_MERGE_LAST_WINS = 1,
    /** The same value again is no conflict: it counts once, and the plugin that was first stays the
     * owner. Another value is a conflict. */
    NRI_MERGE_DEDUP = 2,
    /** The runtime cannot have the field adjusted: whatever a plugin sets or removes of it fails
     * the request with NRI_E_UNSUPPORTED, in words with the plugin, the field and the key. Of
     * NRI_FIELD_DEVICES the rules of the device cgroup too, of NRI_FIELD_OCI_HOOKS all hooks. */
    NRI_MERGE_UNSUPPORTED = 3
};

NRI_END_DECLS

#endif
