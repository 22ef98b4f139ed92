/* SPDX-License-Identifier: Apache-2.0 */
/* process.ioPriority: all of it; class NONE clears it. */
#include "oci/nouns.h"

NRI_OCI_PLACE(io_priority, process, "ioPriority");

void nri_oci_apply_io_priority(struct nri_oci_edit *edit, const nri_oci_linux_part *linux_part)
{
    const NRI_OCI_MESSAGE(LinuxIOPriority) *priority = linux_part->io_priority;
    const ProtobufCEnumDescriptor *type = &nri__pkg__api__v1alpha1__ioprio_class__descriptor;
    if (priority == NULL)
        return;
    if (priority->class_ == NRI__PKG__API__V1ALPHA1__IOPRIO_CLASS__IOPRIO_CLASS_NONE) {
        nri_oci_drop(edit, &io_priority_place);
        return;
    }
    struct nri_json *value = nri_oci_new(edit, NRI_JSON_OBJECT);
    nri_oci_set(
        edit, value, "class",
        nri_oci_name(edit, NRI_OCI_WHOLE("linux.io_priority.class"), type, (int)priority->class_));
    nri_oci_set(edit, value, "priority", nri_oci_int64(edit, priority->priority));
    nri_oci_put(edit, &io_priority_place, value);
}
