/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Adjusting a container that is being created (NRI ContainerAdjustment).
 *
 * Only a CreateContainer request has an adjustment; with any other the functions here fail with
 * NRI_E_EVENT. Each call copies what it is given and validates it at once: text must be UTF-8
 * without NUL bytes, paths absolute, numbers in range.
 *
 * The first failed call sticks: a handler that then returns 0 refuses the request with that error,
 * unless it called nri_adjustment_clear_error(). So a handler may end in the last builder call and
 * ignore the results of the others.
 *
 * Setting the same key again replaces what this plugin set before. Removing says so to the runtime,
 * whoever set the key: another plugin, the pod or the image. To replace what somebody else set,
 * remove and set: nri_adjustment_replace_X() does both.
 *
 * Errors of every function: NRI_E_INVALID (an argument; the text names the field), NRI_E_EVENT,
 * NRI_E_UTF8, NRI_E_RANGE, NRI_E_NOMEM, NRI_E_LIMIT (the request's memory limit), NRI_E_STATE
 * (already answered). An adjustment belongs to its request: it lives as long, and one thread at a
 * time may use it.
 */
#ifndef NRI_ADJUSTMENT_H
#define NRI_ADJUSTMENT_H

#include <nri/api.h>

NRI_BEGIN_DECLS

/**
 * Sets an environment variable (ContainerAdjustment.env).
 * @param adjustment the adjustment
 * @param name its name: not empty, without "=", not starting with "-"
 * @param value its value; may be empty
 * @return 0 or an error, see above. Since 0.1.0.
 */
NRI_API int nri_adjustment_add_env(nri_adjustment *adjustment, const char *name, const char *value);
/**
 * Removes an environment variable. Today's Go runtimes honour this only for variables that another
 * plugin set.
 * @param adjustment the adjustment
 * @param name its name
 * @return 0 or an error. Since 0.1.0.
 */
NRI_API int nri_adjustment_remove_env(nri_adjustment *adjustment, const char *name);
/** Replaces a variable that another plugin may have set: removes it and sets it. Since 0.1.0. */
NRI_API int nri_adjustment_replace_env(nri_adjustment *adjustment, const char *name,
                                       const char *value);

/**
 * Sets an annotation of the container's OCI spec (ContainerAdjustment.annotations).
 * @param adjustment the adjustment
 * @param key its key: not empty, not starting with "-"
 * @param value its value; may be empty
 * @return 0 or an error. Since 0.1.0.
 */
NRI_API int nri_adjustment_add_annotation(nri_adjustment *adjustment, const char *key,
                                          const char *value);
/** Removes an annotation. Since 0.1.0. */
NRI_API int nri_adjustment_remove_annotation(nri_adjustment *adjustment, const char *key);
/** Replaces an annotation that another plugin may have set. Since 0.1.0. */
NRI_API int nri_adjustment_replace_annotation(nri_adjustment *adjustment, const char *key,
                                              const char *value);

/**
 * Adds a mount (ContainerAdjustment.mounts).
 * @param adjustment the adjustment
 * @param destination the absolute path in the container
 * @param type the file system type, such as "bind" or "tmpfs"; NULL or "" for none
 * @param source the source on the host; NULL or "" for none
 * @param options mount options such as "rbind", "ro"; may be NULL if `option_count` is 0
 * @param option_count how many
 * @return 0 or an error. Since 0.1.0.
 */
NRI_API int nri_adjustment_add_mount(nri_adjustment *adjustment, const char *destination,
                                     const char *type, const char *source,
                                     const char *const *options, size_t option_count);
/** Removes the mount at a destination (an absolute path). Since 0.1.0. */
NRI_API int nri_adjustment_remove_mount(nri_adjustment *adjustment, const char *destination);
/** Replaces the mount at a destination, whoever set it. Parameters as nri_adjustment_add_mount().
 * Since 0.1.0. */
NRI_API int nri_adjustment_replace_mount(nri_adjustment *adjustment, const char *destination,
                                         const char *type, const char *source,
                                         const char *const *options, size_t option_count);

/**
 * Sets the whole argument vector (ContainerAdjustment.args, since NRI 0.10).
 * @param adjustment the adjustment
 * @param args the arguments, the program first; the first must not be empty
 * @param count how many, at least 1
 * @return 0 or an error. Since 0.1.0.
 */
NRI_API int nri_adjustment_set_args(nri_adjustment *adjustment, const char *const *args,
                                    size_t count);
/** Sets the argument vector even if another plugin set it before. Since 0.1.0. */
NRI_API int nri_adjustment_replace_args(nri_adjustment *adjustment, const char *const *args,
                                        size_t count);

/** Sets CPU shares, 2 to 262144 (LinuxCPU.shares). Since 0.1.0. */
NRI_API int nri_adjustment_set_cpu_shares(nri_adjustment *adjustment, uint64_t shares);
/** Sets the CPU quota in microseconds per period: at least 1000, or -1 for none (LinuxCPU.quota).
 * Since 0.1.0. */
NRI_API int nri_adjustment_set_cpu_quota(nri_adjustment *adjustment, int64_t quota);
/** Sets the CPU period in microseconds, 1000 to 1000000 (LinuxCPU.period). Since 0.1.0. */
NRI_API int nri_adjustment_set_cpu_period(nri_adjustment *adjustment, uint64_t period);
/** Sets the realtime runtime in microseconds, -1 or more (LinuxCPU.realtime_runtime). Since 0.1.0.
 */
NRI_API int nri_adjustment_set_cpu_realtime_runtime(nri_adjustment *adjustment, int64_t runtime);
/** Sets the realtime period in microseconds, 1 or more (LinuxCPU.realtime_period). Since 0.1.0. */
NRI_API int nri_adjustment_set_cpu_realtime_period(nri_adjustment *adjustment, uint64_t period);
/** Sets the CPUs as a list such as "0-3,7" (LinuxCPU.cpus). Since 0.1.0. */
NRI_API int nri_adjustment_set_cpuset_cpus(nri_adjustment *adjustment, const char *cpus);
/** Sets the memory nodes as a list such as "0" (LinuxCPU.mems). Since 0.1.0. */
NRI_API int nri_adjustment_set_cpuset_mems(nri_adjustment *adjustment, const char *mems);
/** Sets the memory limit in bytes, or -1 for none (LinuxMemory.limit). Since 0.1.0. */
NRI_API int nri_adjustment_set_memory_limit(nri_adjustment *adjustment, int64_t bytes);
/** Sets the memory reservation in bytes (LinuxMemory.reservation). Since 0.1.0. */
NRI_API int nri_adjustment_set_memory_reservation(nri_adjustment *adjustment, int64_t bytes);
/** Sets the memory plus swap limit in bytes, or -1 for none (LinuxMemory.swap). Since 0.1.0. */
NRI_API int nri_adjustment_set_memory_swap(nri_adjustment *adjustment, int64_t bytes);

/** The code of the first failed call, or 0. Since 0.1.0. */
NRI_API int nri_adjustment_error(const nri_adjustment *adjustment);
/** Its text, naming the field, the value and the rule; "" without an error. Lives as the adjustment
 * does. Since 0.1.0. */
NRI_API const char *nri_adjustment_error_text(const nri_adjustment *adjustment);
/** Forgets the first failed call, so that a reply of 0 sends what succeeded. Since 0.1.0. */
NRI_API void nri_adjustment_clear_error(nri_adjustment *adjustment);

NRI_END_DECLS

#endif
