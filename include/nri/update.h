/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Updating existing containers (NRI ContainerUpdate) and asking for their eviction (NRI
 * ContainerEviction).
 *
 * The replies to CreateContainer, UpdateContainer, StopContainer and Synchronize carry updates
 * (nri_request_updates()); a plugin may also send some unasked (nri_plugin_update_containers()), in
 * an object of its own (nri_updates_new()). Rules, errors and lifetime are those of
 * nri/adjustment.h: calls copy and validate, the first failed call sticks, an object is for one
 * thread at a time.
 *
 * To change what UpdateContainer asked for, update the request's own container; what is not set
 * stays as the request has it:
 * @code
 *     nri_update *update = nri_updates_container(nri_request_updates(req),
 *                                                nri_container_id(nri_request_container(req)));
 *     nri_update_set_memory_limit(update, 64 << 20);
 * @endcode
 */
#ifndef NRI_UPDATE_H
#define NRI_UPDATE_H

#include <nri/alloc.h>
#include <nri/api.h>
#include <nri/resources.h>

NRI_BEGIN_DECLS

/**
 * Makes an empty list of updates, for nri_plugin_update_containers().
 * @param updates set to the list, which nri_updates_free() frees
 * @param allocator where memory comes from; copied; NULL for the C library's
 * @return 0, NRI_E_INVALID, NRI_E_ABI, NRI_E_NOMEM. Since 0.1.0.
 */
NRI_API int nri_updates_new(nri_updates **updates,
                            const struct nri_allocator *allocator) NRI_WARN_UNUSED;
/** Frees a list made by nri_updates_new() and its updates; never give it a request's. Returns NULL.
 * Since 0.1.0. */
NRI_API nri_updates *nri_updates_free(nri_updates *updates);

/**
 * The update of a container in a list: the one there, else a new, empty one.
 * @param updates the list
 * @param container_id the container's id, not empty
 * @return the update, which belongs to the list; never NULL: after a failure (which sticks to the
 * list) one whose setters all fail with the same code. Since 0.1.0.
 */
NRI_API nri_update *nri_updates_container(nri_updates *updates, const char *container_id);
/**
 * How many containers the list updates. An update that sets no resources does not count and is not
 * sent: Go runtimes would take it for a wish to drop the values that came with the request. The
 * first call after a change takes a step for each update there is. Since 0.1.0.
 */
NRI_API size_t nri_updates_count(const nri_updates *updates);
/** How many evictions the list holds. Since 0.1.0. */
NRI_API size_t nri_updates_eviction_count(const nri_updates *updates);
/**
 * Asks the runtime to evict a container (ContainerEviction). Today's Go runtimes accept this and do
 * nothing. Not possible in a reply to StopContainer or Synchronize (NRI_E_EVENT).
 * @param updates the list
 * @param container_id the container's id, not empty
 * @param reason why, for people; may be NULL
 * @return 0 or an error. Since 0.1.0.
 */
NRI_API int nri_updates_evict(nri_updates *updates, const char *container_id, const char *reason);

/** The container's id (ContainerUpdate.container_id). Since 0.1.0. */
NRI_API const char *nri_update_container_id(const nri_update *update);
/** Whether a failure of this update leaves the others and the request alone
 * (ContainerUpdate.ignore_failure). Since 0.1.0. */
NRI_API int nri_update_set_ignore_failure(nri_update *update, bool ignore);

/** The resources to be set (ContainerUpdate.linux.resources), as one object for the
 * nri_resources_set_ functions. Lives as the update does. NULL when there is no update, none that
 * may be changed, or no memory: a failure that sticks as any other does. Since 0.1.0. */
NRI_API nri_resources *nri_update_edit_resources(nri_update *update);
/** As nri_resources_set_cpu_shares(). Since 0.1.0. */
NRI_API int nri_update_set_cpu_shares(nri_update *update, uint64_t shares);
/** As nri_resources_set_cpu_quota(). Since 0.1.0. */
NRI_API int nri_update_set_cpu_quota(nri_update *update, int64_t quota);
/** As nri_resources_set_cpu_period(). Since 0.1.0. */
NRI_API int nri_update_set_cpu_period(nri_update *update, uint64_t period);
/** As nri_resources_set_cpu_realtime_runtime(). Since 0.1.0. */
NRI_API int nri_update_set_cpu_realtime_runtime(nri_update *update, int64_t runtime);
/** As nri_resources_set_cpu_realtime_period(). Since 0.1.0. */
NRI_API int nri_update_set_cpu_realtime_period(nri_update *update, uint64_t period);
/** As nri_resources_set_cpuset_cpus(). Since 0.1.0. */
NRI_API int nri_update_set_cpuset_cpus(nri_update *update, const char *cpus);
/** As nri_resources_set_cpuset_mems(). Since 0.1.0. */
NRI_API int nri_update_set_cpuset_mems(nri_update *update, const char *mems);
/** As nri_resources_set_memory_limit(). Since 0.1.0. */
NRI_API int nri_update_set_memory_limit(nri_update *update, int64_t bytes);
/** As nri_resources_set_memory_reservation(). Since 0.1.0. */
NRI_API int nri_update_set_memory_reservation(nri_update *update, int64_t bytes);
/** As nri_resources_set_memory_swap(). Since 0.1.0. */
NRI_API int nri_update_set_memory_swap(nri_update *update, int64_t bytes);
/** As nri_resources_set_memory_kernel(). Since 0.1.0. */
NRI_API int nri_update_set_memory_kernel(nri_update *update, int64_t bytes);
/** As nri_resources_set_memory_kernel_tcp(). Since 0.1.0. */
NRI_API int nri_update_set_memory_kernel_tcp(nri_update *update, int64_t bytes);
/** As nri_resources_set_memory_swappiness(). Since 0.1.0. */
NRI_API int nri_update_set_memory_swappiness(nri_update *update, uint64_t swappiness);
/** As nri_resources_set_memory_disable_oom_killer(). Since 0.1.0. */
NRI_API int nri_update_set_memory_disable_oom_killer(nri_update *update, bool disable);
/** As nri_resources_set_memory_use_hierarchy(). Since 0.1.0. */
NRI_API int nri_update_set_memory_use_hierarchy(nri_update *update, bool use);
/** As nri_resources_set_hugepage_limit(). Since 0.1.0. */
NRI_API int nri_update_set_hugepage_limit(nri_update *update, const char *page_size,
                                          uint64_t bytes);
/** As nri_resources_set_blockio_class(). Since 0.1.0. */
NRI_API int nri_update_set_blockio_class(nri_update *update, const char *name);
/** As nri_resources_set_rdt_class(). Since 0.1.0. */
NRI_API int nri_update_set_rdt_class(nri_update *update, const char *name);
/** As nri_resources_set_unified(). Since 0.1.0. */
NRI_API int nri_update_set_unified(nri_update *update, const char *key, const char *value);
/** As nri_resources_set_pids_limit(). Since 0.1.0. */
NRI_API int nri_update_set_pids_limit(nri_update *update, int64_t limit);
/** As nri_resources_add_device_rule(). Go runtimes apply such rules only to a container that is
 * being created, and ignore those of an update. Since 0.1.0. */
NRI_API int nri_update_add_device_rule(nri_update *update, bool allow, const char *type,
                                       const int64_t *major, const int64_t *minor,
                                       const char *access);

/** One update, in order; one without id and resources past the end; never NULL. Also of a
 * validator's list (nri_request_updates()). Since 0.1.0. */
NRI_API const nri_update *nri_updates_at(const nri_updates *updates, size_t index);
/** The resources that an update sets; empty when there are none; never NULL. Since 0.1.0. */
NRI_API const nri_resources *nri_update_resources(const nri_update *update);
/** Whether a failure of the update is to be ignored (ContainerUpdate.ignore_failure). Since 0.1.0.
 */
NRI_API bool nri_update_ignore_failure(const nri_update *update);
/**
 * One eviction (ContainerEviction), as nri_pod_label_at().
 * @param updates the list
 * @param index 0 to nri_updates_eviction_count() - 1
 * @param container_id set to the container's id, "" past the end; may be NULL
 * @param reason set to the reason, "" past the end; may be NULL
 * @return whether there is one. Since 0.1.0.
 */
NRI_API bool nri_updates_eviction_at(const nri_updates *updates, size_t index,
                                     const char **container_id, const char **reason);

/** The code of the first failed call on the list or one of its updates, or 0. Since 0.1.0. */
NRI_API int nri_updates_error(const nri_updates *updates);
/** Its text; "" without an error. Since 0.1.0. */
NRI_API const char *nri_updates_error_text(const nri_updates *updates);
/** Forgets the first failed call. Since 0.1.0. */
NRI_API void nri_updates_clear_error(nri_updates *updates);

/**
 * The outcome of nri_plugin_update_containers().
 *
 * A result belongs to the library, and is valid, with all that is read from it, during the callback
 * that gets it (nri_update_fn); copy what is to be kept. It is for the thread of the callback.
 * @param result the result; NULL gives NRI_E_INVALID
 * @return 0: the runtime took the updates, and those of nri_update_result_failed_id() failed;
 * NRI_E_CLOSED, NRI_E_TIMEOUT, NRI_E_REJECTED (the runtime refused them all), NRI_E_UNSUPPORTED (a
 * runtime that takes no updates), NRI_E_LIMIT (a reply too large), NRI_E_PROTOCOL, NRI_E_NOMEM.
 * Since 0.1.0.
 */
NRI_API int nri_update_result_code(const nri_update_result *result);
/** The error in words, the runtime's own where it sent one; "" with code 0; never NULL. Since
 * 0.1.0. */
NRI_API const char *nri_update_result_text(const nri_update_result *result);
/** How many updates failed (UpdateContainersResponse.failed); 0 with an error code: then it is not
 * known what was applied. Since 0.1.0. */
NRI_API size_t nri_update_result_failed_count(const nri_update_result *result);
/**
 * The container whose update failed (ContainerUpdate.container_id).
 * @param result the result
 * @param index from 0 to below nri_update_result_failed_count()
 * @return the id; "" past the end; never NULL. Since 0.1.0.
 */
NRI_API const char *nri_update_result_failed_id(const nri_update_result *result, size_t index);
/** The resources that could not be set, as the runtime sent them back
 * (ContainerUpdate.linux.resources); empty ones where it sent none and past the end; never NULL.
 * Since 0.1.0. */
NRI_API const nri_resources *nri_update_result_failed_resources(const nri_update_result *result,
                                                                size_t index);
/** Whether that update was sent with nri_update_set_ignore_failure()
 * (ContainerUpdate.ignore_failure); false past the end. Since 0.1.0. */
NRI_API bool nri_update_result_failed_ignored(const nri_update_result *result, size_t index);

NRI_END_DECLS

#endif
