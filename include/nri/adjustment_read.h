/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Reading an adjustment: what a builder holds so far, or what a validator is asked about
 * (nri_request_adjustment() of ValidateContainerAdjustment).
 *
 * The rules of nri/pod.h hold; what is read lives until the adjustment is next changed. Items are
 * given as they stand on the wire, in order: the removal of a key is an item of its own, in front
 * of the key's new value if there is one. Readers give the bare key and tell a removal by a bool.
 *
 * Of an adjustment that is being built, the first reader after a change puts the lists together,
 * which takes a step for each item there is, also a count; not nri_adjustment_annotation() and
 * nri_adjustment_env(), which find their key in a few steps.
 */
#ifndef NRI_ADJUSTMENT_READ_H
#define NRI_ADJUSTMENT_READ_H

#include <nri/api.h>
#include <nri/device.h>
#include <nri/hook.h>
#include <nri/memory_policy.h>
#include <nri/mount.h>
#include <nri/rdt.h>
#include <nri/resources.h>
#include <nri/scheduler.h>
#include <nri/seccomp.h>

NRI_BEGIN_DECLS

/** Whether the adjustment changes nothing at all. Since 0.1.0. */
NRI_API bool nri_adjustment_is_empty(const nri_adjustment *adjustment);

/** How many annotations and removals of some (ContainerAdjustment.annotations). Since 0.1.0. */
NRI_API size_t nri_adjustment_annotation_count(const nri_adjustment *adjustment);
/**
 * One annotation or removal.
 * @param adjustment the adjustment
 * @param index 0 to nri_adjustment_annotation_count() - 1
 * @param key set to the key without the removal marker, "" past the end; may be NULL. It may be the
 * tail of a text: nri_text_length() does not take it
 * @param value set to the value, "" for a removal and past the end; may be NULL
 * @param removed set to whether it is a removal; may be NULL
 * @return whether there is one. Since 0.1.0.
 */
NRI_API bool nri_adjustment_annotation_at(const nri_adjustment *adjustment, size_t index,
                                          const char **key, const char **value, bool *removed);
/** The new value of an annotation by its key; as nri_pod_label(). Since 0.1.0. */
NRI_API bool nri_adjustment_annotation(const nri_adjustment *adjustment, const char *key,
                                       const char **value);
/** How many environment variables and removals of some (ContainerAdjustment.env). Since 0.1.0. */
NRI_API size_t nri_adjustment_env_count(const nri_adjustment *adjustment);
/** One variable or removal, as nri_adjustment_annotation_at(). Since 0.1.0. */
NRI_API bool nri_adjustment_env_at(const nri_adjustment *adjustment, size_t index,
                                   const char **name, const char **value, bool *removed);
/** The new value of a variable by its name, the last one where several are; as nri_pod_label().
 * Since 0.1.0. */
NRI_API bool nri_adjustment_env(const nri_adjustment *adjustment, const char *name,
                                const char **value);
/** How many mounts and removals of some (ContainerAdjustment.mounts). Since 0.1.0. */
NRI_API size_t nri_adjustment_mount_count(const nri_adjustment *adjustment);
/**
 * One mount or removal.
 * @param adjustment the adjustment
 * @param index 0 to nri_adjustment_mount_count() - 1
 * @param removed set to whether it is a removal; may be NULL. The destination of one is read with
 * nri_adjustment_mount_destination_at(): nri_mount_destination() gives it as it stands on the wire,
 * with "-" in front
 * @return the mount; an empty one past the end; never NULL. Since 0.1.0.
 */
NRI_API const nri_mount *nri_adjustment_mount_at(const nri_adjustment *adjustment, size_t index,
                                                 bool *removed);
/** The destination of a mount or removal, without the removal marker; "" past the end. It may be
 * the tail of a text. Since 0.1.0. */
NRI_API const char *nri_adjustment_mount_destination_at(const nri_adjustment *adjustment,
                                                        size_t index);
/** How many arguments (ContainerAdjustment.args), without the marker that says "replace". Since
 * 0.1.0. */
NRI_API size_t nri_adjustment_arg_count(const nri_adjustment *adjustment);
/** One argument; "" past the end. Since 0.1.0. */
NRI_API const char *nri_adjustment_arg(const nri_adjustment *adjustment, size_t index);
/** Whether the arguments also replace those of another plugin. Since 0.1.0. */
NRI_API bool nri_adjustment_args_replace(const nri_adjustment *adjustment);
/** How many hooks of a stage (ContainerAdjustment.hooks). Since 0.1.0. */
NRI_API size_t nri_adjustment_hook_count(const nri_adjustment *adjustment,
                                         enum nri_hook_stage stage);
/** One hook of a stage; an empty one past the end; never NULL. Since 0.1.0. */
NRI_API const nri_hook *nri_adjustment_hook_at(const nri_adjustment *adjustment,
                                               enum nri_hook_stage stage, size_t index);
/** How many resource limits (ContainerAdjustment.rlimits). Since 0.1.0. */
NRI_API size_t nri_adjustment_rlimit_count(const nri_adjustment *adjustment);
/** One resource limit, as nri_container_rlimit_at(). Since 0.1.0. */
NRI_API bool nri_adjustment_rlimit_at(const nri_adjustment *adjustment, size_t index,
                                      const char **type, uint64_t *hard, uint64_t *soft);
/** How many CDI devices (ContainerAdjustment.CDI_devices). Since 0.1.0. */
NRI_API size_t nri_adjustment_cdi_device_count(const nri_adjustment *adjustment);
/** One CDI device; "" past the end. Since 0.1.0. */
NRI_API const char *nri_adjustment_cdi_device(const nri_adjustment *adjustment, size_t index);
/** How many device nodes and removals of some (LinuxContainerAdjustment.devices). Since 0.1.0. */
NRI_API size_t nri_adjustment_device_count(const nri_adjustment *adjustment);
/** One device node or removal, as nri_adjustment_mount_at(). Since 0.1.0. */
NRI_API const nri_device *nri_adjustment_device_at(const nri_adjustment *adjustment, size_t index,
                                                   bool *removed);
/** The path of a device node or removal, without the removal marker; "" past the end. It may be the
 * tail of a text. Since 0.1.0. */
NRI_API const char *nri_adjustment_device_path_at(const nri_adjustment *adjustment, size_t index);
/** The resources (LinuxContainerAdjustment.resources); empty when there are none; never NULL. Since
 * 0.1.0. */
NRI_API const nri_resources *nri_adjustment_resources(const nri_adjustment *adjustment);
/** The cgroup path, "" when it is not set (LinuxContainerAdjustment.cgroups_path). Since 0.1.0. */
NRI_API const char *nri_adjustment_cgroups_path(const nri_adjustment *adjustment);
/** The OOM score adjustment (LinuxContainerAdjustment.oom_score_adj); whether it is set; `score`
 * may be NULL. Since 0.1.0. */
NRI_API bool nri_adjustment_oom_score_adj(const nri_adjustment *adjustment, int64_t *score);
/** The I/O priority (LinuxContainerAdjustment.io_priority): enum nri_ioprio_class and 0 to 7;
 * whether it is set; both may be NULL. Since 0.1.0. */
NRI_API bool nri_adjustment_io_priority(const nri_adjustment *adjustment, int *ioprio_class,
                                        int32_t *priority);
/** The seccomp policy (LinuxContainerAdjustment.seccomp_policy), or an empty one; whether it is
 * set; `seccomp` may be NULL. Since 0.1.0. */
NRI_API bool nri_adjustment_seccomp_policy(const nri_adjustment *adjustment,
                                           const nri_seccomp **seccomp);
/** How many namespaces and removals of some (LinuxContainerAdjustment.namespaces). Since 0.1.0. */
NRI_API size_t nri_adjustment_namespace_count(const nri_adjustment *adjustment);
/** One namespace or removal: its type without the removal marker, and its path. As
 * nri_adjustment_annotation_at(). Since 0.1.0. */
NRI_API bool nri_adjustment_namespace_at(const nri_adjustment *adjustment, size_t index,
                                         const char **type, const char **path, bool *removed);
/** How many kernel parameters and removals of some (LinuxContainerAdjustment.sysctl). Since 0.1.0.
 */
NRI_API size_t nri_adjustment_sysctl_count(const nri_adjustment *adjustment);
/** One kernel parameter or removal, as nri_adjustment_annotation_at(). Since 0.1.0. */
NRI_API bool nri_adjustment_sysctl_at(const nri_adjustment *adjustment, size_t index,
                                      const char **key, const char **value, bool *removed);
/** The new value of a kernel parameter; as nri_pod_label(). Since 0.1.0. */
NRI_API bool nri_adjustment_sysctl(const nri_adjustment *adjustment, const char *key,
                                   const char **value);
/** How many network devices and removals of some (LinuxContainerAdjustment.net_devices). Since
 * 0.1.0. */
NRI_API size_t nri_adjustment_net_device_count(const nri_adjustment *adjustment);
/** One network device or removal: its names on the host and in the container. As
 * nri_adjustment_annotation_at(). Since 0.1.0. */
NRI_API bool nri_adjustment_net_device_at(const nri_adjustment *adjustment, size_t index,
                                          const char **host_name, const char **name, bool *removed);
/** The scheduler attributes (LinuxContainerAdjustment.scheduler), or empty ones; whether they are
 * set; `scheduler` may be NULL. Since 0.1.0. */
NRI_API bool nri_adjustment_scheduler(const nri_adjustment *adjustment,
                                      const nri_scheduler **scheduler);
/** The RDT settings (LinuxContainerAdjustment.rdt), or empty ones; whether there are any; `rdt` may
 * be NULL. Since 0.1.0. */
NRI_API bool nri_adjustment_rdt(const nri_adjustment *adjustment, const nri_rdt **rdt);
/** The memory policy (LinuxContainerAdjustment.memory_policy), or an empty one; whether it is set;
 * `policy` may be NULL. Since 0.1.0. */
NRI_API bool nri_adjustment_memory_policy(const nri_adjustment *adjustment,
                                          const nri_memory_policy **policy);

NRI_END_DECLS

#endif
