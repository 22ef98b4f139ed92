/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Reading resources: CPU and memory. A getter returns whether the runtime sent the value, so that
 * absent and zero are told apart; the out parameter is set to 0 or "" when it is absent and may be
 * NULL. The rules of nri/pod.h hold too.
 */
#ifndef NRI_RESOURCES_H
#define NRI_RESOURCES_H

#include <nri/api.h>

NRI_BEGIN_DECLS

/** CPU shares, relative weight (LinuxCPU.shares). Since 0.1.0. */
NRI_API bool nri_resources_cpu_shares(const nri_resources *resources, uint64_t *shares);
/** CPU quota in microseconds per period, -1 for none (LinuxCPU.quota). Since 0.1.0. */
NRI_API bool nri_resources_cpu_quota(const nri_resources *resources, int64_t *quota);
/** CPU period in microseconds (LinuxCPU.period). Since 0.1.0. */
NRI_API bool nri_resources_cpu_period(const nri_resources *resources, uint64_t *period);
/** Realtime runtime in microseconds per realtime period (LinuxCPU.realtime_runtime). Since 0.1.0.
 */
NRI_API bool nri_resources_cpu_realtime_runtime(const nri_resources *resources, int64_t *runtime);
/** Realtime period in microseconds (LinuxCPU.realtime_period). Since 0.1.0. */
NRI_API bool nri_resources_cpu_realtime_period(const nri_resources *resources, uint64_t *period);
/** The CPUs as a list such as "0-3,7" (LinuxCPU.cpus); absent and "" are the same on the wire.
 * Since 0.1.0. */
NRI_API bool nri_resources_cpuset_cpus(const nri_resources *resources, const char **cpus);
/** The memory nodes as a list (LinuxCPU.mems). Since 0.1.0. */
NRI_API bool nri_resources_cpuset_mems(const nri_resources *resources, const char **mems);
/** Memory limit in bytes, -1 for none (LinuxMemory.limit). Since 0.1.0. */
NRI_API bool nri_resources_memory_limit(const nri_resources *resources, int64_t *bytes);
/** Memory reservation (soft limit) in bytes (LinuxMemory.reservation). Since 0.1.0. */
NRI_API bool nri_resources_memory_reservation(const nri_resources *resources, int64_t *bytes);
/** Memory plus swap limit in bytes, -1 for none (LinuxMemory.swap). Since 0.1.0. */
NRI_API bool nri_resources_memory_swap(const nri_resources *resources, int64_t *bytes);

NRI_END_DECLS

#endif
