/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linux.intelRdt: removed, then set member by member. Schemata are all of them: the two older
 * members, which a runtime writes along with them, go. Go's generator leaves these.
 */
#include "oci/nouns.h"

NRI_OCI_PLACE(rdt, linux, "intelRdt");

void nri_oci_apply_rdt(struct nri_oci_edit *edit, const nri_oci_linux_part *linux_part)
{
    const NRI_OCI_MESSAGE(LinuxRdt) *rdt = linux_part->rdt;
    if (rdt == NULL)
        return;
    if (rdt->remove)
        nri_oci_drop(edit, &rdt_place);
    if (rdt->clos_id == NULL && rdt->schemata == NULL && rdt->enable_monitoring == NULL)
        return;
    struct nri_json *object = nri_oci_make(edit, &rdt_place, NRI_JSON_OBJECT);
    if (rdt->clos_id != NULL)
        nri_oci_set(edit, object, "closID",
                    nri_oci_text(edit, NRI_OCI_WHOLE("linux.rdt.clos_id"), rdt->clos_id->value));
    if (rdt->schemata != NULL) {
        if (object != NULL && !nri_oci_go(edit)) {
            (void)nri_json_remove(object, "l3CacheSchema");
            (void)nri_json_remove(object, "memBwSchema");
        }
        nri_oci_set(edit, object, "schemata",
                    nri_oci_texts(edit, NRI_OCI_WHOLE("linux.rdt.schemata"), rdt->schemata->value,
                                  rdt->schemata->n_value));
    }
    if (rdt->enable_monitoring != NULL)
        nri_oci_set(edit, object, "enableMonitoring",
                    nri_oci_bool(edit, rdt->enable_monitoring->value != 0));
}
