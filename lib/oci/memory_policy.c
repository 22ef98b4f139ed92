/* SPDX-License-Identifier: Apache-2.0 */
/* linux.memoryPolicy: all of it. Go's generator clears it at a mode that has no name. */
#include "oci/nouns.h"

#include "model/enum.h"

NRI_OCI_PLACE(memory_policy, linux, "memoryPolicy");

void nri_oci_apply_memory_policy(struct nri_oci_edit *edit, const nri_oci_linux_part *linux_part)
{
    const NRI_OCI_MESSAGE(LinuxMemoryPolicy) *policy = linux_part->memory_policy;
    const ProtobufCEnumDescriptor *mode = &nri__pkg__api__v1alpha1__mpol_mode__descriptor;
    const ProtobufCEnumDescriptor *flag = &nri__pkg__api__v1alpha1__mpol_flag__descriptor;
    if (policy == NULL)
        return;
    if (nri_oci_go(edit) && protobuf_c_enum_descriptor_get_value(mode, (int)policy->mode) == NULL) {
        nri_oci_drop(edit, &memory_policy_place);
        return;
    }
    struct nri_json *value = nri_oci_new(edit, NRI_JSON_OBJECT);
    nri_oci_set(
        edit, value, "mode",
        nri_oci_name(edit, NRI_OCI_WHOLE("linux.memory_policy.mode"), mode, (int)policy->mode));
    nri_oci_set(edit, value, "nodes",
                nri_oci_text(edit, NRI_OCI_WHOLE("linux.memory_policy.nodes"), policy->nodes));
    struct nri_json *flags = policy->n_flags > 0 ? nri_oci_new(edit, NRI_JSON_ARRAY) : NULL;
    for (size_t i = 0; i < policy->n_flags && edit->failure == 0; i++) {
        const struct nri_oci_where where = {"linux.memory_policy.flags", i, NULL};
        nri_oci_append(edit, flags, nri_oci_name(edit, &where, flag, (int)policy->flags[i]));
    }
    if (flags != NULL)
        nri_oci_set(edit, value, "flags", flags);
    nri_oci_put(edit, &memory_policy_place, value);
}
