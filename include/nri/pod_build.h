/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Making and changing whole pod sandboxes: for runtimes, simulators and tests.
 *
 * A pod made here, or copied with nri_pod_dup(), may be changed; a request's pod is const and may
 * not. Setters copy and validate; setting the same key again replaces it. The first failed call
 * sticks (nri_pod_error()) and changes nothing. Errors of every setter: NRI_E_INVALID, NRI_E_UTF8,
 * NRI_E_RANGE, NRI_E_NOMEM. One thread at a time may use a pod.
 *
 * What readers returned before a change stays readable until nri_pod_free(), with the old value.
 * That goes for resources and a seccomp policy too: the first nri_pod_edit_X() or
 * nri_container_edit_X() of one makes a copy to be changed, and what was read before it stays as it
 * was. From then on readers give that copy, which shows each further change.
 */
#ifndef NRI_POD_BUILD_H
#define NRI_POD_BUILD_H

#include <nri/alloc.h>
#include <nri/api.h>
#include <nri/pod.h>
#include <nri/resources.h>

NRI_BEGIN_DECLS

/**
 * Makes an empty pod sandbox.
 * @param pod set to the pod, which nri_pod_free() frees
 * @param allocator where memory comes from; copied; NULL for the C library's
 * @return 0, NRI_E_INVALID, NRI_E_ABI, NRI_E_NOMEM. Since 0.1.0.
 */
NRI_API int nri_pod_new(nri_pod **pod, const struct nri_allocator *allocator) NRI_WARN_UNUSED;

/** Sets the sandbox id, not empty (PodSandbox.id). Since 0.1.0. */
NRI_API int nri_pod_set_id(nri_pod *pod, const char *id);
/** Sets the name (PodSandbox.name). Since 0.1.0. */
NRI_API int nri_pod_set_name(nri_pod *pod, const char *name);
/** Sets the Kubernetes uid (PodSandbox.uid). Since 0.1.0. */
NRI_API int nri_pod_set_uid(nri_pod *pod, const char *uid);
/** Sets the Kubernetes namespace (PodSandbox.namespace). Since 0.1.0. */
NRI_API int nri_pod_set_namespace(nri_pod *pod, const char *name);
/** Sets a label: its key is not empty (PodSandbox.labels). Since 0.1.0. */
NRI_API int nri_pod_set_label(nri_pod *pod, const char *key, const char *value);
/** Sets an annotation: its key is not empty (PodSandbox.annotations). Since 0.1.0. */
NRI_API int nri_pod_set_annotation(nri_pod *pod, const char *key, const char *value);
/** Sets the runtime handler (PodSandbox.runtime_handler). Since 0.1.0. */
NRI_API int nri_pod_set_runtime_handler(nri_pod *pod, const char *handler);
/** Sets the pid of the sandbox's process, 0 for none (PodSandbox.pid). Since 0.1.0. */
NRI_API int nri_pod_set_pid(nri_pod *pod, uint32_t pid);
/** Adds an IP address, in a form that inet_pton(3) takes (PodSandbox.ips); one that is there
 * already changes nothing. Since 0.1.0. */
NRI_API int nri_pod_add_ip(nri_pod *pod, const char *address);
/** Sets the cgroup parent, which may be empty for none (LinuxPodSandbox.cgroup_parent). Since
 * 0.1.0. */
NRI_API int nri_pod_set_cgroup_parent(nri_pod *pod, const char *path);
/** Sets the cgroup path, which may be empty for none (LinuxPodSandbox.cgroups_path). Since 0.1.0.
 */
NRI_API int nri_pod_set_cgroups_path(nri_pod *pod, const char *path);
/** Sets a namespace: type and path as for nri_adjustment_add_namespace()
 * (LinuxPodSandbox.namespaces). Since 0.1.0. */
NRI_API int nri_pod_set_namespace_path(nri_pod *pod, const char *type, const char *path);
/** The overhead, to be set with the nri_resources_set_ functions; from then on it is present, also
 * without a value. NULL only when there is no memory or no pod (LinuxPodSandbox.pod_overhead).
 * Since 0.1.0. */
NRI_API nri_resources *nri_pod_edit_overhead(nri_pod *pod);
/** The sum of the containers' resources, likewise (LinuxPodSandbox.pod_resources). Since 0.1.0. */
NRI_API nri_resources *nri_pod_edit_pod_resources(nri_pod *pod);
/** The resources of the sandbox container, likewise (LinuxPodSandbox.resources). Since 0.1.0. */
NRI_API nri_resources *nri_pod_edit_resources(nri_pod *pod);

/** The code of the first failed call, or 0; never give it a request's pod. Since 0.1.0. */
NRI_API int nri_pod_error(const nri_pod *pod);
/** Its text, naming the field, the value and the rule; "" without an error; valid until the next
 * call that changes the pod. Since 0.1.0. */
NRI_API const char *nri_pod_error_text(const nri_pod *pod);

NRI_END_DECLS

#endif
