/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Resources (NRI LinuxResources): reading and, where a function hands out a pointer that is not
 * const, building them.
 *
 * A getter returns whether the value was sent, so that absent, empty and zero are told apart; the
 * out parameter is set to 0 or "" when it is absent and may be NULL. The rules of nri/pod.h hold
 * too.
 *
 * Setters (of nri_pod_edit_resources() and its kin, nri_adjustment_edit_resources(),
 * nri_update_edit_resources()) copy and validate; the rules and errors of nri/adjustment.h hold: a
 * failed call changes nothing and sticks to the object that the resources belong to. NULL resources
 * give NRI_E_INVALID.
 */
#ifndef NRI_RESOURCES_H
#define NRI_RESOURCES_H

#include <nri/api.h>

NRI_BEGIN_DECLS

/** Whether there are resources at all: false for the empty ones that a reader gives where none were
 * sent. Since 0.1.0. */
NRI_API bool nri_resources_is_present(const nri_resources *resources);

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
/** Kernel memory limit in bytes (LinuxMemory.kernel). Since 0.1.0. */
NRI_API bool nri_resources_memory_kernel(const nri_resources *resources, int64_t *bytes);
/** Kernel TCP buffer limit in bytes (LinuxMemory.kernel_tcp). Since 0.1.0. */
NRI_API bool nri_resources_memory_kernel_tcp(const nri_resources *resources, int64_t *bytes);
/** Swappiness, 0 to 100 (LinuxMemory.swappiness). Since 0.1.0. */
NRI_API bool nri_resources_memory_swappiness(const nri_resources *resources, uint64_t *swappiness);
/** Whether the OOM killer is disabled (LinuxMemory.disable_oom_killer). Since 0.1.0. */
NRI_API bool nri_resources_memory_disable_oom_killer(const nri_resources *resources, bool *disable);
/** Whether memory is accounted by hierarchy (LinuxMemory.use_hierarchy). Since 0.1.0. */
NRI_API bool nri_resources_memory_use_hierarchy(const nri_resources *resources, bool *use);
/** How many hugepage limits (LinuxResources.hugepage_limits). Since 0.1.0. */
NRI_API size_t nri_resources_hugepage_limit_count(const nri_resources *resources);
/** One hugepage limit: its page size such as "2MB", and its bytes. As nri_pod_label_at(). Since
 * 0.1.0. */
NRI_API bool nri_resources_hugepage_limit_at(const nri_resources *resources, size_t index,
                                             const char **page_size, uint64_t *bytes);
/** The hugepage limit of a page size (the last one, where several are); whether there is one. Since
 * 0.1.0. */
NRI_API bool nri_resources_hugepage_limit(const nri_resources *resources, const char *page_size,
                                          uint64_t *bytes);
/** The block I/O class (LinuxResources.blockio_class); may be present and "". Since 0.1.0. */
NRI_API bool nri_resources_blockio_class(const nri_resources *resources, const char **name);
/** The RDT class (LinuxResources.rdt_class); may be present and "". Since 0.1.0. */
NRI_API bool nri_resources_rdt_class(const nri_resources *resources, const char **name);
/** How many cgroup v2 values (LinuxResources.unified). Since 0.1.0. */
NRI_API size_t nri_resources_unified_count(const nri_resources *resources);
/** One cgroup v2 value: its file such as "memory.high", and its text. As nri_pod_label_at(). Since
 * 0.1.0. */
NRI_API bool nri_resources_unified_at(const nri_resources *resources, size_t index,
                                      const char **key, const char **value);
/** A cgroup v2 value by its file; as nri_pod_label(). Since 0.1.0. */
NRI_API bool nri_resources_unified(const nri_resources *resources, const char *key,
                                   const char **value);
/** How many rules of the device cgroup (LinuxResources.devices). Since 0.1.0. */
NRI_API size_t nri_resources_device_rule_count(const nri_resources *resources);
/** One rule, in order (a later one overrides an earlier one); an empty one past the end; never
 * NULL. Since 0.1.0. */
NRI_API const nri_device_rule *nri_resources_device_rule_at(const nri_resources *resources,
                                                            size_t index);
/** The pids limit, -1 for none (LinuxPids.limit). Since 0.1.0. */
NRI_API bool nri_resources_pids_limit(const nri_resources *resources, int64_t *limit);

/** Sets CPU shares, 2 to 262144 (LinuxCPU.shares). Since 0.1.0. */
NRI_API int nri_resources_set_cpu_shares(nri_resources *resources, uint64_t shares);
/** Sets the CPU quota in microseconds per period: at least 1000, or -1 for none (LinuxCPU.quota).
 * Since 0.1.0. */
NRI_API int nri_resources_set_cpu_quota(nri_resources *resources, int64_t quota);
/** Sets the CPU period in microseconds, 1000 to 1000000 (LinuxCPU.period). Since 0.1.0. */
NRI_API int nri_resources_set_cpu_period(nri_resources *resources, uint64_t period);
/** Sets the realtime runtime in microseconds, -1 or more (LinuxCPU.realtime_runtime). Since 0.1.0.
 */
NRI_API int nri_resources_set_cpu_realtime_runtime(nri_resources *resources, int64_t runtime);
/** Sets the realtime period in microseconds, 1 or more (LinuxCPU.realtime_period). Since 0.1.0. */
NRI_API int nri_resources_set_cpu_realtime_period(nri_resources *resources, uint64_t period);
/** Sets the CPUs as a list such as "0-3,7" (LinuxCPU.cpus): numbers up to 1048575 and ascending
 * ranges, with single commas between, not empty. No blanks, which nri_cpuset_parse() takes and
 * runtimes do not; nri_cpuset_format() writes the form. Since 0.1.0. */
NRI_API int nri_resources_set_cpuset_cpus(nri_resources *resources, const char *cpus);
/** Sets the memory nodes as a list such as "0" (LinuxCPU.mems), in the form of
 * nri_resources_set_cpuset_cpus(). Since 0.1.0. */
NRI_API int nri_resources_set_cpuset_mems(nri_resources *resources, const char *mems);
/** Sets the memory limit in bytes, or -1 for none (LinuxMemory.limit). Since 0.1.0. */
NRI_API int nri_resources_set_memory_limit(nri_resources *resources, int64_t bytes);
/** Sets the memory reservation in bytes (LinuxMemory.reservation). Since 0.1.0. */
NRI_API int nri_resources_set_memory_reservation(nri_resources *resources, int64_t bytes);
/** Sets the memory plus swap limit in bytes, or -1 for none (LinuxMemory.swap). Since 0.1.0. */
NRI_API int nri_resources_set_memory_swap(nri_resources *resources, int64_t bytes);
/** Sets the kernel memory limit in bytes, or -1 for none (LinuxMemory.kernel). Since 0.1.0. */
NRI_API int nri_resources_set_memory_kernel(nri_resources *resources, int64_t bytes);
/** Sets the kernel TCP buffer limit in bytes, or -1 for none (LinuxMemory.kernel_tcp). Since 0.1.0.
 */
NRI_API int nri_resources_set_memory_kernel_tcp(nri_resources *resources, int64_t bytes);
/** Sets swappiness, 0 to 100 (LinuxMemory.swappiness). Since 0.1.0. */
NRI_API int nri_resources_set_memory_swappiness(nri_resources *resources, uint64_t swappiness);
/** Disables the OOM killer, or enables it (LinuxMemory.disable_oom_killer). Since 0.1.0. */
NRI_API int nri_resources_set_memory_disable_oom_killer(nri_resources *resources, bool disable);
/** Sets whether memory is accounted by hierarchy (LinuxMemory.use_hierarchy). Since 0.1.0. */
NRI_API int nri_resources_set_memory_use_hierarchy(nri_resources *resources, bool use);
/**
 * Sets the limit of a hugepage size (LinuxResources.hugepage_limits); replaces the one of the same
 * size.
 * @param resources the resources
 * @param page_size the size as the kernel names the files of the cgroup: a power of two below 1024
 * and "KB", "MB" or "GB", such as "2MB" (not "2048KB", which no runtime finds)
 * @param bytes the limit in bytes
 * @return 0 or an error. Since 0.1.0.
 */
NRI_API int nri_resources_set_hugepage_limit(nri_resources *resources, const char *page_size,
                                             uint64_t bytes);
/** Sets the block I/O class; "" clears the one that is set, which is not the same as setting none
 * (LinuxResources.blockio_class). Since 0.1.0. */
NRI_API int nri_resources_set_blockio_class(nri_resources *resources, const char *name);
/** Sets the RDT class; "" clears the one that is set (LinuxResources.rdt_class). Since 0.1.0. */
NRI_API int nri_resources_set_rdt_class(nri_resources *resources, const char *name);
/**
 * Sets a cgroup v2 value (LinuxResources.unified); replaces the one of the same file.
 * @param resources the resources
 * @param key the file's name, such as "memory.high": not empty, without "/"
 * @param value what is written there
 * @return 0 or an error. Since 0.1.0.
 */
NRI_API int nri_resources_set_unified(nri_resources *resources, const char *key, const char *value);
/**
 * Adds a rule of the device cgroup at the end (LinuxResources.devices). Rules have no owner and
 * never conflict; a later one overrides an earlier one. A rule is left out where it would change
 * nothing: where the same one, exactly so, is there already, with no rule behind it that does the
 * opposite (denies where it allows, or allows where it denies).
 * @param resources the resources
 * @param allow whether it allows or denies
 * @param type "a" for all, "c" or "b"
 * @param major the major number, 0 or more; NULL for all
 * @param minor the minor number, 0 or more; NULL for all
 * @param access letters of "rwm", each once, at least one
 * @return 0 or an error. Since 0.1.0.
 */
NRI_API int nri_resources_add_device_rule(nri_resources *resources, bool allow, const char *type,
                                          const int64_t *major, const int64_t *minor,
                                          const char *access);
/** Sets the pids limit: 1 or more, or -1 for none (LinuxPids.limit). Since 0.1.0. */
NRI_API int nri_resources_set_pids_limit(nri_resources *resources, int64_t limit);

NRI_END_DECLS

#endif
