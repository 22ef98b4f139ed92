/* SPDX-License-Identifier: Apache-2.0 */
/* process.scheduler: all of it; policy NONE clears it. */
#include "oci/nouns.h"

NRI_OCI_PLACE(scheduler, process, "scheduler");

typedef NRI_OCI_MESSAGE(LinuxScheduler) scheduler_message;

static struct nri_json *flags_of(struct nri_oci_edit *edit, const scheduler_message *scheduler)
{
    const ProtobufCEnumDescriptor *type =
        &nri__pkg__api__v1alpha1__linux_scheduler_flag__descriptor;
    struct nri_json *flags = nri_oci_new(edit, NRI_JSON_ARRAY);
    for (size_t i = 0; i < scheduler->n_flags && edit->failure == 0; i++) {
        const struct nri_oci_where where = {"linux.scheduler.flags", i, NULL};
        nri_oci_append(edit, flags, nri_oci_name(edit, &where, type, (int)scheduler->flags[i]));
    }
    return flags;
}

static void set_uint64(struct nri_oci_edit *edit, struct nri_json *object, const char *key,
                       uint64_t number)
{
    if (number != 0)
        nri_oci_set(edit, object, key, nri_oci_uint64(edit, number));
}

void nri_oci_apply_scheduler(struct nri_oci_edit *edit, const nri_oci_linux_part *linux_part)
{
    const scheduler_message *scheduler = linux_part->scheduler;
    const ProtobufCEnumDescriptor *type =
        &nri__pkg__api__v1alpha1__linux_scheduler_policy__descriptor;
    if (scheduler == NULL)
        return;
    if (scheduler->policy == NRI__PKG__API__V1ALPHA1__LINUX_SCHEDULER_POLICY__SCHED_NONE) {
        nri_oci_drop(edit, &scheduler_place);
        return;
    }
    struct nri_json *value = nri_oci_new(edit, NRI_JSON_OBJECT);
    nri_oci_set(
        edit, value, "policy",
        nri_oci_name(edit, NRI_OCI_WHOLE("linux.scheduler.policy"), type, (int)scheduler->policy));
    if (scheduler->nice != 0)
        nri_oci_set(edit, value, "nice", nri_oci_int64(edit, scheduler->nice));
    if (scheduler->priority != 0)
        nri_oci_set(edit, value, "priority", nri_oci_int64(edit, scheduler->priority));
    if (scheduler->n_flags > 0)
        nri_oci_set(edit, value, "flags", flags_of(edit, scheduler));
    set_uint64(edit, value, "runtime", scheduler->runtime);
    set_uint64(edit, value, "deadline", scheduler->deadline);
    set_uint64(edit, value, "period", scheduler->period);
    nri_oci_put(edit, &scheduler_place, value);
}
