/* SPDX-License-Identifier: Apache-2.0 */
/* linux.resources */
#include "model/oci_read.h"
#include "oci/answer.h"
#include "oci/nouns.h"

/* Hands the resources, as they are now, to the runtime. */
static void check(struct nri_oci_edit *edit)
{
    const struct nri_oci_options *options = &edit->settings->options;
    nri_oci_resources_part message = NRI__PKG__API__V1ALPHA1__LINUX_RESOURCES__INIT;
    struct nri_oci_answer answer;
    if (options->check_resources == NULL || edit->failure != 0)
        return;
    const struct nri_json *object = nri_oci_find(edit, &nri_oci_resources, NRI_JSON_OBJECT);
    if (object != NULL)
        edit->failure = nri_oci_read_resources(&edit->source, &nri_oci_resources, object, &message);
    if (edit->failure != 0)
        return;
    nri_oci_answer_begin(&answer, edit);
    const int code = options->check_resources(nri_resources_view(&message), &answer, options->user);
    nri_oci_answer_end(&answer, edit, NRI_OCI_WHOLE("linux.resources"), code);
}

void nri_oci_apply_resources(struct nri_oci_edit *edit, const nri_oci_resources_part *resources)
{
    nri_oci_apply_cpu(edit, resources);
    nri_oci_apply_memory(edit, resources);
    nri_oci_apply_hugepages(edit, resources);
    nri_oci_apply_unified(edit, resources);
    nri_oci_apply_pids(edit, resources);
    nri_oci_apply_device_rules(edit, resources);
    check(edit);
    nri_oci_apply_classes(edit, resources);
}
