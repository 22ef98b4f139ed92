/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Reading a container. The rules of nri/pod.h hold here too: readers never fail, texts are never
 * NULL, everything lives as long as the container, and a reader that takes a key goes through its
 * list from end to end.
 */
#ifndef NRI_CONTAINER_H
#define NRI_CONTAINER_H

#include <nri/alloc.h>
#include <nri/api.h>
#include <nri/device.h>
#include <nri/hook.h>
#include <nri/mount.h>
#include <nri/rdt.h>
#include <nri/resources.h>
#include <nri/scheduler.h>
#include <nri/seccomp.h>

NRI_BEGIN_DECLS

/** A container's state (NRI enum ContainerState). A newer runtime may send other numbers. Since
 * 0.1.0. */
enum nri_container_state {
    NRI_CONTAINER_UNKNOWN = 0,
    NRI_CONTAINER_CREATED = 1,
    NRI_CONTAINER_PAUSED = 2,
    NRI_CONTAINER_RUNNING = 3,
    NRI_CONTAINER_STOPPED = 4
};

/** The container id (Container.id). Since 0.1.0. */
NRI_API const char *nri_container_id(const nri_container *container);
/** The id of its pod sandbox (Container.pod_sandbox_id). Since 0.1.0. */
NRI_API const char *nri_container_pod_sandbox_id(const nri_container *container);
/** The container's name within its pod (Container.name). Since 0.1.0. */
NRI_API const char *nri_container_name(const nri_container *container);
/** The state as sent (Container.state): one of enum nri_container_state or a newer number. Since
 * 0.1.0. */
NRI_API int nri_container_get_state(const nri_container *container);
/** The name of a state: "unknown", "created", "paused", "running", "stopped". Static text. Since
 * 0.1.0. */
NRI_API const char *nri_container_state_name(int state);
/** The pid of the container's first process (Container.pid), 0 when it has none or it is unknown.
 * Since 0.1.0. */
NRI_API uint32_t nri_container_pid(const nri_container *container);

/** How many labels (Container.labels). Since 0.1.0. */
NRI_API size_t nri_container_label_count(const nri_container *container);
/** One label, as nri_pod_label_at(). Since 0.1.0. */
NRI_API bool nri_container_label_at(const nri_container *container, size_t index, const char **key,
                                    const char **value);
/** A label by its key, as nri_pod_label(). Since 0.1.0. */
NRI_API bool nri_container_label(const nri_container *container, const char *key,
                                 const char **value);

/** How many annotations (Container.annotations). Since 0.1.0. */
NRI_API size_t nri_container_annotation_count(const nri_container *container);
/** One annotation, as nri_pod_label_at(). Since 0.1.0. */
NRI_API bool nri_container_annotation_at(const nri_container *container, size_t index,
                                         const char **key, const char **value);
/** An annotation by its key, as nri_pod_label(). Since 0.1.0. */
NRI_API bool nri_container_annotation(const nri_container *container, const char *key,
                                      const char **value);

/** How many arguments, the program included (Container.args). Since 0.1.0. */
NRI_API size_t nri_container_arg_count(const nri_container *container);
/** One argument; "" past the end. Since 0.1.0. */
NRI_API const char *nri_container_arg(const nri_container *container, size_t index);

/** How many environment variables (Container.env). Since 0.1.0. */
NRI_API size_t nri_container_env_count(const nri_container *container);
/** One environment variable as "NAME=value"; "" past the end. Since 0.1.0. */
NRI_API const char *nri_container_env_at(const nri_container *container, size_t index);
/**
 * An environment variable by its name. Where a name stands more than once the last one counts, as
 * for a process.
 * @param container the container
 * @param name the name, without "="
 * @param value set to the value (the text behind "="), or to "" when there is none. It may be read
 * with strlen() only: it is the tail of a text, so nri_text_length() does not take it. May be NULL
 * @return whether there is such a variable
 * Since 0.1.0.
 */
NRI_API bool nri_container_env(const nri_container *container, const char *name,
                               const char **value);

/** How many mounts (Container.mounts). Since 0.1.0. */
NRI_API size_t nri_container_mount_count(const nri_container *container);
/** One mount, in order; an empty one past the end. Never NULL. Since 0.1.0. */
NRI_API const nri_mount *nri_container_mount_at(const nri_container *container, size_t index);
/**
 * The mount at a destination (the last one, where several are).
 * @param container the container
 * @param destination the path in the container, compared as text
 * @param mount set to the mount, or to an empty one when there is none; may be NULL
 * @return whether there is one
 * Since 0.1.0.
 */
NRI_API bool nri_container_mount(const nri_container *container, const char *destination,
                                 const nri_mount **mount);
/** The container's resources (LinuxContainer.resources); empty when there are none, never NULL.
 * Since 0.1.0. */
NRI_API const nri_resources *nri_container_resources(const nri_container *container);
/** The container's cgroup path (LinuxContainer.cgroups_path). Since 0.1.0. */
NRI_API const char *nri_container_cgroups_path(const nri_container *container);

/** When it was created (Container.created_at, since NRI 0.10), in nanoseconds since 1970, 0 for not
 * known. Since 0.1.0. */
NRI_API int64_t nri_container_created_at(const nri_container *container);
/** When it was started (Container.started_at), as nri_container_created_at(). Since 0.1.0. */
NRI_API int64_t nri_container_started_at(const nri_container *container);
/** When it ended (Container.finished_at), as nri_container_created_at(). Since 0.1.0. */
NRI_API int64_t nri_container_finished_at(const nri_container *container);
/** Its exit code (Container.exit_code, since NRI 0.10), 0 also for not known; may be negative.
 * Since 0.1.0. */
NRI_API int32_t nri_container_exit_code(const nri_container *container);
/** Why it is in its state, as one word (Container.status_reason, since NRI 0.10). Since 0.1.0. */
NRI_API const char *nri_container_status_reason(const nri_container *container);
/** Why it is in its state, for people (Container.status_message, since NRI 0.10). Since 0.1.0. */
NRI_API const char *nri_container_status_message(const nri_container *container);

/** How many hooks of a stage (Container.hooks). Since 0.1.0. */
NRI_API size_t nri_container_hook_count(const nri_container *container, enum nri_hook_stage stage);
/** One hook of a stage; an empty one past the end; never NULL. Since 0.1.0. */
NRI_API const nri_hook *nri_container_hook_at(const nri_container *container,
                                              enum nri_hook_stage stage, size_t index);
/** How many resource limits (Container.rlimits, since NRI 0.4). Since 0.1.0. */
NRI_API size_t nri_container_rlimit_count(const nri_container *container);
/**
 * One resource limit (POSIXRlimit).
 * @param container the container
 * @param index 0 to nri_container_rlimit_count() - 1
 * @param type set to its type such as "RLIMIT_NOFILE", "" past the end; may be NULL
 * @param hard set to the hard limit; may be NULL
 * @param soft set to the soft limit; may be NULL
 * @return whether there is one. Since 0.1.0.
 */
NRI_API bool nri_container_rlimit_at(const nri_container *container, size_t index,
                                     const char **type, uint64_t *hard, uint64_t *soft);
/** A resource limit by its type (the last one, where several are); whether there is one. Since
 * 0.1.0. */
NRI_API bool nri_container_rlimit(const nri_container *container, const char *type, uint64_t *hard,
                                  uint64_t *soft);
/** How many CDI devices (Container.CDI_devices, since NRI 0.10). Since 0.1.0. */
NRI_API size_t nri_container_cdi_device_count(const nri_container *container);
/** One CDI device; "" past the end. Since 0.1.0. */
NRI_API const char *nri_container_cdi_device(const nri_container *container, size_t index);
/** The user that the process runs as (Container.user, since NRI 0.11); whether it was sent; both
 * may be NULL. Since 0.1.0. */
NRI_API bool nri_container_user(const nri_container *container, uint32_t *uid, uint32_t *gid);
/** How many additional groups (User.additional_gids). Since 0.1.0. */
NRI_API size_t nri_container_additional_gid_count(const nri_container *container);
/** One additional group; 0 past the end. Since 0.1.0. */
NRI_API uint32_t nri_container_additional_gid(const nri_container *container, size_t index);
/**
 * The image (Container.image, since NRI 0.12.2).
 * @param container the container
 * @param name set to Image.name; may be NULL
 * @param digest set to Image.digest; may be NULL
 * @param config_digest set to Image.config_digest; may be NULL
 * @return whether it was sent. Since 0.1.0.
 */
NRI_API bool nri_container_image(const nri_container *container, const char **name,
                                 const char **digest, const char **config_digest);

/** How many namespaces (LinuxContainer.namespaces). Since 0.1.0. */
NRI_API size_t nri_container_namespace_count(const nri_container *container);
/** One namespace, as nri_pod_namespace_at(). Since 0.1.0. */
NRI_API bool nri_container_namespace_at(const nri_container *container, size_t index,
                                        const char **type, const char **path);
/** The path of a namespace by its type, as nri_pod_namespace_path(). Since 0.1.0. */
NRI_API bool nri_container_namespace_path(const nri_container *container, const char *type,
                                          const char **path);
/** How many device nodes (LinuxContainer.devices). Since 0.1.0. */
NRI_API size_t nri_container_device_count(const nri_container *container);
/** One device node, in order; an empty one past the end; never NULL. Since 0.1.0. */
NRI_API const nri_device *nri_container_device_at(const nri_container *container, size_t index);
/** The device node at a path (the last one, where several are), or an empty one; whether there is
 * one; `device` may be NULL. Since 0.1.0. */
NRI_API bool nri_container_device(const nri_container *container, const char *path,
                                  const nri_device **device);
/** The OOM score adjustment (LinuxContainer.oom_score_adj); whether it was sent; `score` may be
 * NULL. Since 0.1.0. */
NRI_API bool nri_container_oom_score_adj(const nri_container *container, int64_t *score);
/** The I/O priority (LinuxContainer.io_priority, since NRI 0.10): enum nri_ioprio_class or a newer
 * number, and 0 to 7; whether it was sent; both may be NULL. Since 0.1.0. */
NRI_API bool nri_container_io_priority(const nri_container *container, int *ioprio_class,
                                       int32_t *priority);
/** The seccomp profile that the pod asked for (LinuxContainer.seccomp_profile, since NRI 0.10):
 * enum nri_seccomp_profile_type or a newer number, and the file of NRI_SECCOMP_LOCALHOST; whether
 * it was sent; both may be NULL. Since 0.1.0. */
NRI_API bool nri_container_seccomp_profile(const nri_container *container, int *type,
                                           const char **localhost_ref);
/** The seccomp policy (LinuxContainer.seccomp_policy, since NRI 0.10), or an empty one; whether it
 * was sent; `seccomp` may be NULL. Since 0.1.0. */
NRI_API bool nri_container_seccomp_policy(const nri_container *container,
                                          const nri_seccomp **seccomp);
/** How many kernel parameters (LinuxContainer.sysctl, since NRI 0.11). Since 0.1.0. */
NRI_API size_t nri_container_sysctl_count(const nri_container *container);
/** One kernel parameter, as nri_pod_label_at(). Since 0.1.0. */
NRI_API bool nri_container_sysctl_at(const nri_container *container, size_t index, const char **key,
                                     const char **value);
/** A kernel parameter by its name, as nri_pod_label(). Since 0.1.0. */
NRI_API bool nri_container_sysctl(const nri_container *container, const char *key,
                                  const char **value);
/** How many network devices (LinuxContainer.net_devices, since NRI 0.11). Since 0.1.0. */
NRI_API size_t nri_container_net_device_count(const nri_container *container);
/** One network device: its names on the host and in the container. As nri_pod_label_at(). Since
 * 0.1.0. */
NRI_API bool nri_container_net_device_at(const nri_container *container, size_t index,
                                         const char **host_name, const char **name);
/** The name in the container of a network device by its name on the host; as nri_pod_label(). Since
 * 0.1.0. */
NRI_API bool nri_container_net_device(const nri_container *container, const char *host_name,
                                      const char **name);
/** The scheduler attributes (LinuxContainer.scheduler, since NRI 0.11), or empty ones; whether they
 * were sent; `scheduler` may be NULL. Since 0.1.0. */
NRI_API bool nri_container_scheduler(const nri_container *container,
                                     const nri_scheduler **scheduler);
/** The RDT settings (LinuxContainer.rdt, since NRI 0.11), or empty ones; whether they were sent;
 * `rdt` may be NULL. Since 0.1.0. */
NRI_API bool nri_container_rdt(const nri_container *container, const nri_rdt **rdt);

/** A copy that outlives the request, as nri_pod_dup(). Since 0.1.0. */
NRI_API int nri_container_dup(const nri_container *container, const struct nri_allocator *allocator,
                              nri_container **copy) NRI_WARN_UNUSED;
/** Frees a container made by nri_container_dup(). Returns NULL. Since 0.1.0. */
NRI_API nri_container *nri_container_free(nri_container *container);

NRI_END_DECLS

#endif
