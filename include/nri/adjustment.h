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

#include <nri/alloc.h>
#include <nri/api.h>
#include <nri/hook.h>
#include <nri/memory_policy.h>
#include <nri/resources.h>
#include <nri/scheduler.h>
#include <nri/seccomp.h>

NRI_BEGIN_DECLS

/**
 * Makes an empty adjustment that belongs to no request: for runtimes, tests, and tools.
 * @param adjustment set to the adjustment, which nri_adjustment_free() frees
 * @param allocator where memory comes from; copied; NULL for the C library's
 * @return 0, NRI_E_INVALID, NRI_E_ABI, NRI_E_NOMEM. Since 0.1.0.
 */
NRI_API int nri_adjustment_new(nri_adjustment **adjustment,
                               const struct nri_allocator *allocator) NRI_WARN_UNUSED;
/** Frees an adjustment made by nri_adjustment_new(); never give it a request's. Returns NULL. Since
 * 0.1.0. */
NRI_API nri_adjustment *nri_adjustment_free(nri_adjustment *adjustment);

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

/**
 * Adds an OCI hook (ContainerAdjustment.hooks). Hooks add up over plugins and never conflict.
 * @param adjustment the adjustment
 * @param stage when it runs
 * @param path the program's absolute path on the host
 * @param args its arguments, args[0] the program's name; may be NULL if `arg_count` is 0
 * @param arg_count how many
 * @param env its environment as "NAME=value"; may be NULL if `env_count` is 0
 * @param env_count how many
 * @param timeout its time-out in seconds, 1 or more; NULL for none
 * @return 0 or an error. Since 0.1.0.
 */
NRI_API int nri_adjustment_add_hook(nri_adjustment *adjustment, enum nri_hook_stage stage,
                                    const char *path, const char *const *args, size_t arg_count,
                                    const char *const *env, size_t env_count,
                                    const int64_t *timeout);
/**
 * Sets a resource limit of the process (ContainerAdjustment.rlimits, since NRI 0.4).
 * @param adjustment the adjustment
 * @param type a name of getrlimit(2), such as "RLIMIT_NOFILE"
 * @param hard the hard limit, UINT64_MAX for none
 * @param soft the soft limit, not above `hard`
 * @return 0 or an error. Since 0.1.0.
 */
NRI_API int nri_adjustment_add_rlimit(nri_adjustment *adjustment, const char *type, uint64_t hard,
                                      uint64_t soft);
/** Adds a CDI device by its full name "vendor/class=device" (ContainerAdjustment.CDI_devices, since
 * NRI 0.7); one that is there already changes nothing. Vendor and class are 2 or more letters,
 * digits, "-", "_" and ".", and start with a letter; the device may have ":" too and start with a
 * digit; all end in a letter or digit. (CDI allows a vendor or class of one letter, and the Go
 * library for it ends the runtime at one.) Since 0.1.0. */
NRI_API int nri_adjustment_add_cdi_device(nri_adjustment *adjustment, const char *name);

/**
 * Adds a device node (LinuxContainerAdjustment.devices). To open it takes leave from the device
 * cgroup too. Go runtimes add a rule for each node of a plugin by themselves: "rw" for a character
 * device, "rwm" for a block device. Rules that allow (nri_adjustment_add_device_rule()) can add to
 * that and take nothing away; a rule that denies comes behind and counts, where the runtime knows
 * rules at all (NRI_FEATURE_DEVICE_RULES: containerd 2.2, CRI-O 1.34).
 * @param adjustment the adjustment
 * @param path the absolute path in the container
 * @param type "c" or "b". NRI also has "u", another word for "c", and "p", a FIFO: Go runtimes add
 * their rule for these too, and runc, which has no such rules, does not create the container
 * @param major the major number, 0 or more
 * @param minor the minor number, 0 or more
 * @param file_mode the permission bits, at most 07777; NULL for the runtime's default
 * @param uid the owning user; NULL for the runtime's default
 * @param gid the owning group; NULL for the runtime's default
 * @return 0 or an error. Since 0.1.0.
 */
NRI_API int nri_adjustment_add_device(nri_adjustment *adjustment, const char *path,
                                      const char *type, int64_t major, int64_t minor,
                                      const uint32_t *file_mode, const uint32_t *uid,
                                      const uint32_t *gid);
/** Removes a device node by its path in the container. Today's Go runtimes honour this only for
 * devices that another plugin added. Since 0.1.0. */
NRI_API int nri_adjustment_remove_device(nri_adjustment *adjustment, const char *path);
/** Replaces a device node, whoever set it. Parameters as nri_adjustment_add_device(). Since 0.1.0.
 */
NRI_API int nri_adjustment_replace_device(nri_adjustment *adjustment, const char *path,
                                          const char *type, int64_t major, int64_t minor,
                                          const uint32_t *file_mode, const uint32_t *uid,
                                          const uint32_t *gid);
/**
 * Injects a device of the host: adds its node with the type, numbers, mode and owner that it has on
 * the host, and the device cgroup's rule that allows it. Symbolic links are followed. The rule goes
 * with the device: when another device is set at the same path or the path is removed, it is taken
 * out again, unless another injected device needs the same one or it was added by
 * nri_adjustment_add_device_rule() or nri_resources_add_device_rule() too. Go runtimes add "rw" of
 * their own, whatever `access` says, see nri_adjustment_add_device(): "r" does not keep a container
 * from writing.
 * @param adjustment the adjustment
 * @param host_path the device's absolute path on the host
 * @param path the absolute path in the container; NULL for `host_path`
 * @param access letters of "rwm"; NULL for "rwm". A FIFO gets no rule: the device cgroup knows
 * none. (Go runtimes add one all the same, which runc refuses.)
 * @return 0, NRI_E_NOT_FOUND, NRI_E_PERMISSION, NRI_E_INVALID (no device is there), NRI_E_IO, or
 * another error. Makes a system call, and so may block as long as that does. Since 0.1.0.
 */
NRI_API int nri_adjustment_inject_device(nri_adjustment *adjustment, const char *host_path,
                                         const char *path, const char *access);
/**
 * As nri_adjustment_inject_device(), with another mode or owner in the container.
 * @param adjustment the adjustment
 * @param host_path the device's absolute path on the host
 * @param path the absolute path in the container; NULL for `host_path`
 * @param access letters of "rwm"; NULL for "rwm"
 * @param file_mode the permission bits, at most 07777; NULL for those on the host
 * @param uid the owning user; NULL for the one on the host
 * @param gid the owning group; NULL for the one on the host
 * @return as nri_adjustment_inject_device(). Since 0.1.0.
 */
NRI_API int nri_adjustment_inject_device_as(nri_adjustment *adjustment, const char *host_path,
                                            const char *path, const char *access,
                                            const uint32_t *file_mode, const uint32_t *uid,
                                            const uint32_t *gid);

/** The resources to be set (LinuxContainerAdjustment.resources), as one object for the
 * nri_resources_set_ functions. Lives as the adjustment does. NULL when there is no adjustment,
 * none that may be changed, or no memory: a failure that sticks as any other does. Since 0.1.0. */
NRI_API nri_resources *nri_adjustment_edit_resources(nri_adjustment *adjustment);
/** As nri_resources_set_cpu_shares(). Since 0.1.0. */
NRI_API int nri_adjustment_set_cpu_shares(nri_adjustment *adjustment, uint64_t shares);
/** As nri_resources_set_cpu_quota(). Since 0.1.0. */
NRI_API int nri_adjustment_set_cpu_quota(nri_adjustment *adjustment, int64_t quota);
/** As nri_resources_set_cpu_period(). Since 0.1.0. */
NRI_API int nri_adjustment_set_cpu_period(nri_adjustment *adjustment, uint64_t period);
/** As nri_resources_set_cpu_realtime_runtime(). Since 0.1.0. */
NRI_API int nri_adjustment_set_cpu_realtime_runtime(nri_adjustment *adjustment, int64_t runtime);
/** As nri_resources_set_cpu_realtime_period(). Since 0.1.0. */
NRI_API int nri_adjustment_set_cpu_realtime_period(nri_adjustment *adjustment, uint64_t period);
/** As nri_resources_set_cpuset_cpus(). Since 0.1.0. */
NRI_API int nri_adjustment_set_cpuset_cpus(nri_adjustment *adjustment, const char *cpus);
/** As nri_resources_set_cpuset_mems(). Since 0.1.0. */
NRI_API int nri_adjustment_set_cpuset_mems(nri_adjustment *adjustment, const char *mems);
/** As nri_resources_set_memory_limit(). Since 0.1.0. */
NRI_API int nri_adjustment_set_memory_limit(nri_adjustment *adjustment, int64_t bytes);
/** As nri_resources_set_memory_reservation(). Since 0.1.0. */
NRI_API int nri_adjustment_set_memory_reservation(nri_adjustment *adjustment, int64_t bytes);
/** As nri_resources_set_memory_swap(). Since 0.1.0. */
NRI_API int nri_adjustment_set_memory_swap(nri_adjustment *adjustment, int64_t bytes);
/** As nri_resources_set_memory_kernel(). Since 0.1.0. */
NRI_API int nri_adjustment_set_memory_kernel(nri_adjustment *adjustment, int64_t bytes);
/** As nri_resources_set_memory_kernel_tcp(). Since 0.1.0. */
NRI_API int nri_adjustment_set_memory_kernel_tcp(nri_adjustment *adjustment, int64_t bytes);
/** As nri_resources_set_memory_swappiness(). Since 0.1.0. */
NRI_API int nri_adjustment_set_memory_swappiness(nri_adjustment *adjustment, uint64_t swappiness);
/** As nri_resources_set_memory_disable_oom_killer(). Since 0.1.0. */
NRI_API int nri_adjustment_set_memory_disable_oom_killer(nri_adjustment *adjustment, bool disable);
/** As nri_resources_set_memory_use_hierarchy(). Since 0.1.0. */
NRI_API int nri_adjustment_set_memory_use_hierarchy(nri_adjustment *adjustment, bool use);
/** As nri_resources_set_hugepage_limit(). Since 0.1.0. */
NRI_API int nri_adjustment_set_hugepage_limit(nri_adjustment *adjustment, const char *page_size,
                                              uint64_t bytes);
/** As nri_resources_set_blockio_class(). Since 0.1.0. */
NRI_API int nri_adjustment_set_blockio_class(nri_adjustment *adjustment, const char *name);
/** As nri_resources_set_rdt_class(). Since 0.1.0. */
NRI_API int nri_adjustment_set_rdt_class(nri_adjustment *adjustment, const char *name);
/** As nri_resources_set_unified(). Since 0.1.0. */
NRI_API int nri_adjustment_set_unified(nri_adjustment *adjustment, const char *key,
                                       const char *value);
/** As nri_resources_set_pids_limit(). Since 0.1.0. */
NRI_API int nri_adjustment_set_pids_limit(nri_adjustment *adjustment, int64_t limit);
/** As nri_resources_add_device_rule(). Since 0.1.0. */
NRI_API int nri_adjustment_add_device_rule(nri_adjustment *adjustment, bool allow, const char *type,
                                           const int64_t *major, const int64_t *minor,
                                           const char *access);

/** Sets the cgroup path, in the runtime's own form, not empty
 * (LinuxContainerAdjustment.cgroups_path). Since 0.1.0. */
NRI_API int nri_adjustment_set_cgroups_path(nri_adjustment *adjustment, const char *path);
/** Sets the OOM score adjustment, -1000 to 1000 (LinuxContainerAdjustment.oom_score_adj, since NRI
 * 0.7). Since 0.1.0. */
NRI_API int nri_adjustment_set_oom_score_adj(nri_adjustment *adjustment, int64_t score);
/**
 * Sets the I/O priority (LinuxContainerAdjustment.io_priority, since NRI 0.10).
 * @param adjustment the adjustment
 * @param ioprio_class the class; NRI_IOPRIO_CLASS_NONE clears it
 * @param priority 0 (highest) to 7; must be 0 with NRI_IOPRIO_CLASS_NONE
 * @return 0 or an error. Since 0.1.0.
 */
NRI_API int nri_adjustment_set_io_priority(nri_adjustment *adjustment,
                                           enum nri_ioprio_class ioprio_class, int32_t priority);
/** The seccomp policy to be set, as an object of nri/seccomp.h; the first call makes an empty one
 * (LinuxContainerAdjustment.seccomp_policy, since NRI 0.10). NULL only when there is no memory or
 * no adjustment that may be changed. A policy without a default action refuses the reply. Since
 * 0.1.0. */
NRI_API nri_seccomp *nri_adjustment_edit_seccomp_policy(nri_adjustment *adjustment);
/**
 * Adds or replaces a namespace (LinuxContainerAdjustment.namespaces, since NRI 0.10).
 * @param adjustment the adjustment
 * @param type "pid", "network", "mount", "ipc", "uts", "user", "cgroup" or "time"
 * @param path the namespace's absolute path; NULL or "" for a new one
 * @return 0 or an error. Since 0.1.0.
 */
NRI_API int nri_adjustment_add_namespace(nri_adjustment *adjustment, const char *type,
                                         const char *path);
/** Removes a namespace by its type, so that the container shares the host's. Takes back one that
 * this adjustment added: NRI cannot say both. Since 0.1.0. */
NRI_API int nri_adjustment_remove_namespace(nri_adjustment *adjustment, const char *type);
/**
 * Sets a kernel parameter (LinuxContainerAdjustment.sysctl, since NRI 0.11).
 * @param adjustment the adjustment
 * @param key its name with dots, such as "net.core.somaxconn": not empty, not starting with "-",
 * without "/"
 * @param value its value
 * @return 0 or an error. Since 0.1.0.
 */
NRI_API int nri_adjustment_set_sysctl(nri_adjustment *adjustment, const char *key,
                                      const char *value);
/** Removes a kernel parameter. Since 0.1.0. */
NRI_API int nri_adjustment_remove_sysctl(nri_adjustment *adjustment, const char *key);
/** Replaces a kernel parameter that another plugin may have set. Since 0.1.0. */
NRI_API int nri_adjustment_replace_sysctl(nri_adjustment *adjustment, const char *key,
                                          const char *value);
/**
 * Moves a network device of the host into the container (LinuxContainerAdjustment.net_devices,
 * since NRI 0.11).
 * @param adjustment the adjustment
 * @param host_name its name on the host: 1 to 15 bytes, without "/", blanks and ":", not "." or
 * "..", not starting with "-"
 * @param name its name in the container, under the same rules; NULL or "" keeps it
 * @return 0 or an error. Since 0.1.0.
 */
NRI_API int nri_adjustment_add_net_device(nri_adjustment *adjustment, const char *host_name,
                                          const char *name);
/** Removes a network device by its name on the host. Since 0.1.0. */
NRI_API int nri_adjustment_remove_net_device(nri_adjustment *adjustment, const char *host_name);
/** Replaces a network device that another plugin may have added. Since 0.1.0. */
NRI_API int nri_adjustment_replace_net_device(nri_adjustment *adjustment, const char *host_name,
                                              const char *name);
/**
 * Sets the scheduler attributes of the container's process (LinuxContainerAdjustment.scheduler,
 * since NRI 0.11; sched_setattr(2)).
 * @param adjustment the adjustment
 * @param policy the policy
 * @param nice -20 to 19; must be 0 unless the policy is NRI_SCHED_OTHER or NRI_SCHED_BATCH
 * @param priority 1 to 99 with NRI_SCHED_FIFO and NRI_SCHED_RR, else 0
 * @param flags numbers of enum nri_scheduler_flag, each once; may be NULL if `flag_count` is 0
 * @param flag_count how many
 * @param runtime with NRI_SCHED_DEADLINE: nanoseconds, 1024 or more; else 0
 * @param deadline with NRI_SCHED_DEADLINE: nanoseconds, at least `runtime`, below 2^63; else 0
 * @param period with NRI_SCHED_DEADLINE: nanoseconds, at least `deadline`, below 2^63, or 0 for
 * `deadline`; else 0. The kernel may have narrower limits of its own
 * @return 0 or an error. Since 0.1.0.
 */
NRI_API int nri_adjustment_set_scheduler(nri_adjustment *adjustment,
                                         enum nri_scheduler_policy policy, int32_t nice,
                                         int32_t priority, const int *flags, size_t flag_count,
                                         uint64_t runtime, uint64_t deadline, uint64_t period);
/** Sets the RDT class of service: a directory name, not empty, without "/" and newlines, not "." or
 * ".." (LinuxRdt.clos_id, since NRI 0.11). Since 0.1.0. */
NRI_API int nri_adjustment_set_rdt_clos_id(nri_adjustment *adjustment, const char *clos_id);
/**
 * Sets the RDT schemata (LinuxRdt.schemata, since NRI 0.11).
 * @param adjustment the adjustment
 * @param schemata the lines, such as "L3:0=f;1=f": none empty, none with a newline; may be NULL if
 * `count` is 0
 * @param count how many; 0 sets an empty list
 * @return 0 or an error. Since 0.1.0.
 */
NRI_API int nri_adjustment_set_rdt_schemata(nri_adjustment *adjustment, const char *const *schemata,
                                            size_t count);
/** Switches RDT monitoring on or off (LinuxRdt.enable_monitoring, since NRI 0.11). Since 0.1.0. */
NRI_API int nri_adjustment_set_rdt_enable_monitoring(nri_adjustment *adjustment, bool enable);
/** Removes the RDT settings that are there (LinuxRdt.remove, since NRI 0.11); what is set by this
 * adjustment, before or after, stays. Since 0.1.0. */
NRI_API int nri_adjustment_remove_rdt(nri_adjustment *adjustment);
/**
 * Sets the NUMA memory policy (LinuxContainerAdjustment.memory_policy, since NRI 0.12).
 * @param adjustment the adjustment
 * @param mode the mode
 * @param nodes memory nodes as a list such as "0-1" (nri_resources_set_cpuset_cpus()); NULL or ""
 * with NRI_MPOL_DEFAULT and NRI_MPOL_LOCAL, else needed (NRI_MPOL_PREFERRED takes both)
 * @param flags numbers of enum nri_mpol_flag, each once; may be NULL if `flag_count` is 0.
 * NRI_MPOL_F_STATIC_NODES and NRI_MPOL_F_RELATIVE_NODES exclude each other, and are for policies
 * with nodes (NRI_MPOL_DEFAULT takes either to no effect); NRI_MPOL_F_NUMA_BALANCING is for
 * NRI_MPOL_BIND and NRI_MPOL_PREFERRED_MANY alone. (A kernel may be too old for a mode or flag.)
 * @param flag_count how many
 * @return 0 or an error. Since 0.1.0.
 */
NRI_API int nri_adjustment_set_memory_policy(nri_adjustment *adjustment, enum nri_mpol_mode mode,
                                             const char *nodes, const int *flags,
                                             size_t flag_count);

/** The code of the first failed call, or 0. Since 0.1.0. */
NRI_API int nri_adjustment_error(const nri_adjustment *adjustment);
/** Its text, naming the field, the value and the rule; "" without an error. Lives as the adjustment
 * does. Since 0.1.0. */
NRI_API const char *nri_adjustment_error_text(const nri_adjustment *adjustment);
/** Forgets the first failed call, so that a reply of 0 sends what succeeded. Since 0.1.0. */
NRI_API void nri_adjustment_clear_error(nri_adjustment *adjustment);

NRI_END_DECLS

#endif
