/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Reading a container. The rules of nri/pod.h hold here too: readers never fail, texts are never
 * NULL, everything lives as long as the container.
 */
#ifndef NRI_CONTAINER_H
#define NRI_CONTAINER_H

#include <nri/alloc.h>
#include <nri/api.h>

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
/** Where it is mounted in the container (Mount.destination). Since 0.1.0. */
NRI_API const char *nri_mount_destination(const nri_mount *mount);
/** Its type, such as "bind" or "tmpfs" (Mount.type). Since 0.1.0. */
NRI_API const char *nri_mount_type(const nri_mount *mount);
/** Its source on the host (Mount.source). Since 0.1.0. */
NRI_API const char *nri_mount_source(const nri_mount *mount);
/** How many options (Mount.options). Since 0.1.0. */
NRI_API size_t nri_mount_option_count(const nri_mount *mount);
/** One option; "" past the end. Since 0.1.0. */
NRI_API const char *nri_mount_option(const nri_mount *mount, size_t index);

/** The container's resources (LinuxContainer.resources); empty when there are none, never NULL.
 * Since 0.1.0. */
NRI_API const nri_resources *nri_container_resources(const nri_container *container);
/** The container's cgroup path (LinuxContainer.cgroups_path). Since 0.1.0. */
NRI_API const char *nri_container_cgroups_path(const nri_container *container);

/** A copy that outlives the request, as nri_pod_dup(). Since 0.1.0. */
NRI_API int nri_container_dup(const nri_container *container, const struct nri_allocator *allocator,
                              nri_container **copy) NRI_WARN_UNUSED;
/** Frees a container made by nri_container_dup(). Returns NULL. Since 0.1.0. */
NRI_API nri_container *nri_container_free(nri_container *container);

NRI_END_DECLS

#endif
