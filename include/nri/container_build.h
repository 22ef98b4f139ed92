/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Making and changing whole containers. The rules of nri/pod_build.h hold; ranges and names are
 * those of the functions of nri/adjustment.h for the same thing.
 */
#ifndef NRI_CONTAINER_BUILD_H
#define NRI_CONTAINER_BUILD_H

#include <nri/alloc.h>
#include <nri/api.h>
#include <nri/container.h>
#include <nri/error.h>
#include <nri/json.h>

NRI_BEGIN_DECLS

/** Makes an empty container, as nri_pod_new(); nri_container_free() frees it. Since 0.1.0. */
NRI_API int nri_container_new(nri_container **container,
                              const struct nri_allocator *allocator) NRI_WARN_UNUSED;
/**
 * Makes a container of an OCI runtime configuration (config.json): process (args, env, user,
 * rlimits, oomScoreAdj, ioPriority, scheduler), mounts, hooks, annotations, and linux (namespaces,
 * devices, resources, cgroupsPath, seccomp, sysctl, netDevices, intelRdt). Id, names, state and
 * times are not in it: set them. Members that NRI has no field for are left out, and null is as
 * absent. l3CacheSchema and memBwSchema become lines of the RDT schemata, in front of those of
 * schemata, as a runtime writes them. Types are checked, and that NRI can carry each number and
 * name; the stricter rules of the setters are not.
 * @param json the configuration
 * @param length its length in bytes
 * @param options limits, names and memory; NULL for defaults
 * @param container set to the container, which nri_container_free() frees; NULL on an error
 * @param error set to an error with path, line and column; may be NULL
 * @return 0, NRI_E_INVALID, NRI_E_SYNTAX (no JSON, or a member of the wrong type), NRI_E_RANGE,
 * NRI_E_UTF8, NRI_E_LIMIT, NRI_E_ABI, NRI_E_NOMEM. Thread-safe. Since 0.1.0.
 */
NRI_API int nri_container_from_oci(const char *json, size_t length,
                                   const struct nri_json_options *options,
                                   nri_container **container, nri_error **error) NRI_WARN_UNUSED;

/** Sets the id, not empty (Container.id). Since 0.1.0. */
NRI_API int nri_container_set_id(nri_container *container, const char *id);
/** Sets the id of its pod sandbox, not empty (Container.pod_sandbox_id). Since 0.1.0. */
NRI_API int nri_container_set_pod_sandbox_id(nri_container *container, const char *id);
/** Sets the name within the pod (Container.name). Since 0.1.0. */
NRI_API int nri_container_set_name(nri_container *container, const char *name);
/** Sets the state (Container.state). Since 0.1.0. */
NRI_API int nri_container_set_state(nri_container *container, enum nri_container_state state);
/** Sets a label: its key is not empty (Container.labels). Since 0.1.0. */
NRI_API int nri_container_set_label(nri_container *container, const char *key, const char *value);
/** Sets an annotation: its key is not empty (Container.annotations). Since 0.1.0. */
NRI_API int nri_container_set_annotation(nri_container *container, const char *key,
                                         const char *value);
/** Sets the whole argument vector; `count` 0 empties it (Container.args). Since 0.1.0. */
NRI_API int nri_container_set_args(nri_container *container, const char *const *args, size_t count);
/** Sets an environment variable: its name is not empty and has no "=" (Container.env). It replaces
 * the variable of the same name; where there are several, the last, which is the one that
 * nri_container_env() finds. Since 0.1.0. */
NRI_API int nri_container_set_env(nri_container *container, const char *name, const char *value);
/** Sets the mount at a destination, as nri_adjustment_add_mount() (Container.mounts). Since 0.1.0.
 */
NRI_API int nri_container_set_mount(nri_container *container, const char *destination,
                                    const char *type, const char *source,
                                    const char *const *options, size_t option_count);
/** Adds a hook, as nri_adjustment_add_hook() (Container.hooks). Since 0.1.0. */
NRI_API int nri_container_add_hook(nri_container *container, enum nri_hook_stage stage,
                                   const char *path, const char *const *args, size_t arg_count,
                                   const char *const *env, size_t env_count,
                                   const int64_t *timeout);
/** Sets the pid, 0 for none (Container.pid). Since 0.1.0. */
NRI_API int nri_container_set_pid(nri_container *container, uint32_t pid);
/** Sets a resource limit, as nri_adjustment_add_rlimit() (Container.rlimits). Since 0.1.0. */
NRI_API int nri_container_set_rlimit(nri_container *container, const char *type, uint64_t hard,
                                     uint64_t soft);
/** Sets when it was created, in nanoseconds since 1970 (Container.created_at). Since 0.1.0. */
NRI_API int nri_container_set_created_at(nri_container *container, int64_t nanoseconds);
/** Sets when it was started (Container.started_at). Since 0.1.0. */
NRI_API int nri_container_set_started_at(nri_container *container, int64_t nanoseconds);
/** Sets when it ended (Container.finished_at). Since 0.1.0. */
NRI_API int nri_container_set_finished_at(nri_container *container, int64_t nanoseconds);
/** Sets the exit code (Container.exit_code). Since 0.1.0. */
NRI_API int nri_container_set_exit_code(nri_container *container, int32_t code);
/** Sets why it is in its state, as one word (Container.status_reason). Since 0.1.0. */
NRI_API int nri_container_set_status_reason(nri_container *container, const char *reason);
/** Sets why it is in its state, for people (Container.status_message). Since 0.1.0. */
NRI_API int nri_container_set_status_message(nri_container *container, const char *message);
/** Adds a CDI device, as nri_adjustment_add_cdi_device() (Container.CDI_devices); one that is there
 * already changes nothing. Since 0.1.0. */
NRI_API int nri_container_add_cdi_device(nri_container *container, const char *name);
/** Sets the user (Container.user); `additional_gids` may be NULL if `count` is 0. Since 0.1.0. */
NRI_API int nri_container_set_user(nri_container *container, uint32_t uid, uint32_t gid,
                                   const uint32_t *additional_gids, size_t count);
/** Sets the image (Container.image); each text may be NULL for "". Since 0.1.0. */
NRI_API int nri_container_set_image(nri_container *container, const char *name, const char *digest,
                                    const char *config_digest);

/** Sets a namespace, as nri_adjustment_add_namespace() (LinuxContainer.namespaces). Since 0.1.0. */
NRI_API int nri_container_set_namespace(nri_container *container, const char *type,
                                        const char *path);
/** Sets the device node at a path, as nri_adjustment_add_device() (LinuxContainer.devices). Since
 * 0.1.0. */
NRI_API int nri_container_set_device(nri_container *container, const char *path, const char *type,
                                     int64_t major, int64_t minor, const uint32_t *file_mode,
                                     const uint32_t *uid, const uint32_t *gid);
/** The resources, to be set with the nri_resources_set_ functions; from then on they are present,
 * also without a value. What nri_container_resources() gave before the first edit stays as it was.
 * NULL only when there is no memory or no container (LinuxContainer.resources). Since 0.1.0. */
NRI_API nri_resources *nri_container_edit_resources(nri_container *container);
/** Sets the OOM score adjustment, -1000 to 1000 (LinuxContainer.oom_score_adj). Since 0.1.0. */
NRI_API int nri_container_set_oom_score_adj(nri_container *container, int64_t score);
/** Sets the cgroup path, which may be empty for none (LinuxContainer.cgroups_path). Since 0.1.0. */
NRI_API int nri_container_set_cgroups_path(nri_container *container, const char *path);
/** Sets the I/O priority, as nri_adjustment_set_io_priority() (LinuxContainer.io_priority). Since
 * 0.1.0. */
NRI_API int nri_container_set_io_priority(nri_container *container,
                                          enum nri_ioprio_class ioprio_class, int32_t priority);
/** Sets the seccomp profile that the pod asked for; `localhost_ref` is needed with
 * NRI_SECCOMP_LOCALHOST, else NULL or "" (LinuxContainer.seccomp_profile). Since 0.1.0. */
NRI_API int nri_container_set_seccomp_profile(nri_container *container,
                                              enum nri_seccomp_profile_type type,
                                              const char *localhost_ref);
/** The seccomp policy, to be set with the functions of nri/seccomp.h; from then on it is present,
 * also without a default action. What nri_container_seccomp_policy() gave before the first edit
 * stays as it was. NULL only when there is no memory or no container
 * (LinuxContainer.seccomp_policy). Since 0.1.0. */
NRI_API nri_seccomp *nri_container_edit_seccomp_policy(nri_container *container);
/** Sets a kernel parameter, as nri_adjustment_set_sysctl() (LinuxContainer.sysctl). Since 0.1.0. */
NRI_API int nri_container_set_sysctl(nri_container *container, const char *key, const char *value);
/** Sets a network device, as nri_adjustment_add_net_device() (LinuxContainer.net_devices). Since
 * 0.1.0. */
NRI_API int nri_container_set_net_device(nri_container *container, const char *host_name,
                                         const char *name);
/** Sets the scheduler attributes, as nri_adjustment_set_scheduler() (LinuxContainer.scheduler).
 * Since 0.1.0. */
NRI_API int nri_container_set_scheduler(nri_container *container, enum nri_scheduler_policy policy,
                                        int32_t nice, int32_t priority, const int *flags,
                                        size_t flag_count, uint64_t runtime, uint64_t deadline,
                                        uint64_t period);
/** Sets the RDT class of service (LinuxRdt.clos_id). Since 0.1.0. */
NRI_API int nri_container_set_rdt_clos_id(nri_container *container, const char *clos_id);
/** Sets the RDT schemata, as nri_adjustment_set_rdt_schemata() (LinuxRdt.schemata). Since 0.1.0. */
NRI_API int nri_container_set_rdt_schemata(nri_container *container, const char *const *schemata,
                                           size_t count);
/** Sets RDT monitoring (LinuxRdt.enable_monitoring). Since 0.1.0. */
NRI_API int nri_container_set_rdt_enable_monitoring(nri_container *container, bool enable);

/** The code of the first failed call, or 0; never for a request's container. Since 0.1.0. */
NRI_API int nri_container_error(const nri_container *container);
/** Its text, as nri_pod_error_text(). Since 0.1.0. */
NRI_API const char *nri_container_error_text(const nri_container *container);

NRI_END_DECLS

#endif
