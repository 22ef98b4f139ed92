/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Reading a pod sandbox.
 *
 * Readers never fail: a NULL pod reads as an empty one, a text is never NULL ("" when absent), an
 * index past the end gives "" or an empty object. Pointers live as long as the pod: that of a
 * request until the request's last unref, that of nri_pod_dup() until nri_pod_free(). A pod may be
 * read by one thread at a time.
 */
#ifndef NRI_POD_H
#define NRI_POD_H

#include <nri/alloc.h>
#include <nri/api.h>
#include <nri/resources.h>

NRI_BEGIN_DECLS

/** The pod sandbox id (PodSandbox.id). Since 0.1.0. */
NRI_API const char *nri_pod_id(const nri_pod *pod);
/** The pod's name (PodSandbox.name). Since 0.1.0. */
NRI_API const char *nri_pod_name(const nri_pod *pod);
/** The pod's Kubernetes uid (PodSandbox.uid). Since 0.1.0. */
NRI_API const char *nri_pod_uid(const nri_pod *pod);
/** The pod's Kubernetes namespace (PodSandbox.namespace). Since 0.1.0. */
NRI_API const char *nri_pod_namespace(const nri_pod *pod);
/** The runtime handler (PodSandbox.runtime_handler). Since 0.1.0. */
NRI_API const char *nri_pod_runtime_handler(const nri_pod *pod);
/** The pid of the sandbox's own process (PodSandbox.pid), 0 when there is none or it is unknown.
 * Since 0.1.0. */
NRI_API uint32_t nri_pod_pid(const nri_pod *pod);
/** The cgroup parent of the pod (LinuxPodSandbox.cgroup_parent). Since 0.1.0. */
NRI_API const char *nri_pod_cgroup_parent(const nri_pod *pod);

/** The cgroup path of the pod (LinuxPodSandbox.cgroups_path). Since 0.1.0. */
NRI_API const char *nri_pod_cgroups_path(const nri_pod *pod);
/** What the pod takes itself (LinuxPodSandbox.pod_overhead); empty when it was not sent
 * (nri_resources_is_present()); never NULL. Since 0.1.0. */
NRI_API const nri_resources *nri_pod_overhead(const nri_pod *pod);
/** The sum of its containers' resources (LinuxPodSandbox.pod_resources); empty when it was not
 * sent; never NULL. Since 0.1.0. */
NRI_API const nri_resources *nri_pod_pod_resources(const nri_pod *pod);
/** The resources of the sandbox container (LinuxPodSandbox.resources); empty when they were not
 * sent; never NULL. Since 0.1.0. */
NRI_API const nri_resources *nri_pod_resources(const nri_pod *pod);
/** How many namespaces (LinuxPodSandbox.namespaces). Since 0.1.0. */
NRI_API size_t nri_pod_namespace_count(const nri_pod *pod);
/** One namespace: its type such as "network", and its path, "" for a new one. As
 * nri_pod_label_at(). Since 0.1.0. */
NRI_API bool nri_pod_namespace_at(const nri_pod *pod, size_t index, const char **type,
                                  const char **path);
/** The path of a namespace by its type, the last one where several are (nri_pod_namespace() is the
 * Kubernetes namespace); as nri_pod_label(). Since 0.1.0. */
NRI_API bool nri_pod_namespace_path(const nri_pod *pod, const char *type, const char **path);

/** How many labels the pod has (PodSandbox.labels). Since 0.1.0. */
NRI_API size_t nri_pod_label_count(const nri_pod *pod);
/**
 * One label, in the order they came.
 * @param pod the pod
 * @param index 0 to nri_pod_label_count() - 1
 * @param key set to the key, "" past the end; may be NULL
 * @param value set to the value, "" past the end; may be NULL
 * @return whether there is such a label
 * Since 0.1.0.
 */
NRI_API bool nri_pod_label_at(const nri_pod *pod, size_t index, const char **key,
                              const char **value);
/**
 * A label by its key. As every reader that takes a key it goes through the list from end to end:
 * who wants all of a long list takes nri_pod_label_at().
 * @param pod the pod
 * @param key the key
 * @param value set to the value, or to "" when there is no such label; may be NULL
 * @return whether there is such a label
 * Since 0.1.0.
 */
NRI_API bool nri_pod_label(const nri_pod *pod, const char *key, const char **value);

/** How many annotations the pod has (PodSandbox.annotations). Since 0.1.0. */
NRI_API size_t nri_pod_annotation_count(const nri_pod *pod);
/** One annotation, as nri_pod_label_at(). Since 0.1.0. */
NRI_API bool nri_pod_annotation_at(const nri_pod *pod, size_t index, const char **key,
                                   const char **value);
/** An annotation by its key, as nri_pod_label(). Since 0.1.0. */
NRI_API bool nri_pod_annotation(const nri_pod *pod, const char *key, const char **value);

/** How many IP addresses the pod has (PodSandbox.ips, since NRI 0.8). Since 0.1.0. */
NRI_API size_t nri_pod_ip_count(const nri_pod *pod);
/** One IP address as text; "" past the end. Since 0.1.0. */
NRI_API const char *nri_pod_ip(const nri_pod *pod, size_t index);

/**
 * A copy that outlives the request.
 * @param pod the pod; NULL gives a copy of an empty one
 * @param allocator where memory comes from; copied; NULL for the C library's
 * @param copy set to the copy, which nri_pod_free() frees
 * @return 0, NRI_E_INVALID (`copy` is NULL, or the allocator is not whole), NRI_E_ABI, NRI_E_NOMEM
 * The thread that may read `pod`; the copy may go to another. Since 0.1.0.
 */
NRI_API int nri_pod_dup(const nri_pod *pod, const struct nri_allocator *allocator,
                        nri_pod **copy) NRI_WARN_UNUSED;
/**
 * Frees a pod made by nri_pod_dup(). Never give it a request's pod.
 * @param pod the copy; NULL is ignored
 * @return NULL
 * Since 0.1.0.
 */
NRI_API nri_pod *nri_pod_free(nri_pod *pod);

NRI_END_DECLS

#endif
