/* SPDX-License-Identifier: Apache-2.0 */
/* linux.resources.cpu */
#include "oci/nouns.h"

NRI_OCI_PLACE(cpu, resources, "cpu");

typedef NRI_OCI_MESSAGE(OptionalInt64) int64_wrapper;
typedef NRI_OCI_MESSAGE(OptionalUInt64) uint64_wrapper;

static void set_int64(struct nri_oci_edit *edit, struct nri_json *object, const char *key,
                      const int64_wrapper *number)
{
    if (number != NULL)
        nri_oci_set(edit, object, key, nri_oci_int64(edit, number->value));
}

static void set_uint64(struct nri_oci_edit *edit, struct nri_json *object, const char *key,
                       const uint64_wrapper *number)
{
    if (number != NULL)
        nri_oci_set(edit, object, key, nri_oci_uint64(edit, number->value));
}

static bool has_any(const NRI_OCI_MESSAGE(LinuxCPU) * cpu)
{
    return cpu != NULL && (cpu->shares != NULL || cpu->quota != NULL || cpu->period != NULL ||
                           cpu->realtime_runtime != NULL || cpu->realtime_period != NULL ||
                           nri_text_length(cpu->cpus) > 0 || nri_text_length(cpu->mems) > 0);
}

void nri_oci_apply_cpu(struct nri_oci_edit *edit, const nri_oci_resources_part *resources)
{
    const NRI_OCI_MESSAGE(LinuxCPU) *cpu = resources->cpu;
    if (!has_any(cpu))
        return;
    struct nri_json *object = nri_oci_make(edit, &cpu_place, NRI_JSON_OBJECT);
    set_uint64(edit, object, "shares", cpu->shares);
    set_int64(edit, object, "quota", cpu->quota);
    set_uint64(edit, object, "period", cpu->period);
    set_int64(edit, object, "realtimeRuntime", cpu->realtime_runtime);
    set_uint64(edit, object, "realtimePeriod", cpu->realtime_period);
    nri_oci_set_text(edit, object, "cpus", NRI_OCI_WHOLE("linux.resources.cpu.cpus"), cpu->cpus);
    nri_oci_set_text(edit, object, "mems", NRI_OCI_WHOLE("linux.resources.cpu.mems"), cpu->mems);
}
