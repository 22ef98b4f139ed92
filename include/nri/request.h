/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * A request: one event, as handed to a handler, and its reply.
 *
 * Exactly one reply is sent. A handler that returns 0 replies now; one that returns a negative code
 * refuses; one that returns NRI_PENDING completes later with nri_request_complete(), from any
 * thread.
 *
 * Returning NRI_PENDING hands the request's own reference over: do not call nri_request_ref() for
 * it. From then on one nri_request_unref() is yours, after nri_request_complete(). The other thread
 * may do both before the handler has returned:
 * @code
 *     static int create(nri_request *req, void *user)
 *     {
 *         hand_to_worker(user, req);
 *         return NRI_PENDING;
 *     }
 *     static void worker(nri_request *req)
 *     {
 *         nri_adjustment_add_env(nri_request_adjustment(req), "A", "1");
 *         nri_request_complete(req, 0);
 *         nri_request_unref(req);
 *     }
 * @endcode
 * A request, its readers and its builders live until its last reference is dropped, whatever was
 * answered meanwhile, and also when the connection or the plugin goes first. One thread at a time
 * may use them. Dropping the last reference without a reply answers INTERNAL.
 *
 * A NULL request does no harm: readers give "", 0, false or an empty object, builders are NULL (on
 * which every call fails with NRI_E_INVALID), and functions that return a code, NRI_E_INVALID.
 */
#ifndef NRI_REQUEST_H
#define NRI_REQUEST_H

#include <nri/api.h>
#include <nri/event.h>

NRI_BEGIN_DECLS

/** What a handler returns when it has taken the request and completes it later. Since 0.1.0. */
#define NRI_PENDING 1

/** The event. Since 0.1.0. */
NRI_API enum nri_event nri_request_event(const nri_request *request);
/** The plugin that the request came to; NULL once that is gone. Any thread. Since 0.1.0. */
NRI_API nri_plugin *nri_request_plugin(const nri_request *request);
/** The pod sandbox of the event; an empty one where the event has none; never NULL. Since 0.1.0. */
NRI_API const nri_pod *nri_request_pod(const nri_request *request);
/** The container of the event; an empty one where the event has none; never NULL. Since 0.1.0. */
NRI_API const nri_container *nri_request_container(const nri_request *request);
/** The new resources of UpdateContainer and UpdatePodSandbox (linux_resources); else empty; never
 * NULL. Since 0.1.0. */
NRI_API const nri_resources *nri_request_resources(const nri_request *request);
/** The overhead of UpdatePodSandbox (overhead_linux_resources); else empty; never NULL. Since
 * 0.1.0. */
NRI_API const nri_resources *nri_request_overhead(const nri_request *request);
/** The adjustment of CreateContainer, to be filled. With ValidateContainerAdjustment the one that
 * is to be validated, which can be read (nri/adjustment_read.h) and fails with NRI_E_EVENT when it
 * is changed; with any other event an empty one that does so. NULL only for a NULL request. Since
 * 0.1.0. */
NRI_API nri_adjustment *nri_request_adjustment(nri_request *request);
/**
 * The updates that the reply carries (CreateContainer, UpdateContainer, StopContainer,
 * Synchronize), to be filled. With ValidateContainerAdjustment those that are to be validated,
 * which can be read and fail with NRI_E_EVENT when they are changed; with any other event an empty
 * list that does so. NULL only for a NULL request. Since 0.1.0.
 */
NRI_API nri_updates *nri_request_updates(nri_request *request);

/** How many pod sandboxes a Synchronize (or a part of one) carries. Since 0.1.0. */
NRI_API size_t nri_request_pod_count(const nri_request *request);
/** One of them; an empty one past the end; never NULL. Costs a step per part, none per pod. Since
 * 0.1.0. */
NRI_API const nri_pod *nri_request_pod_at(const nri_request *request, size_t index);
/** How many containers a Synchronize (or a part of one) carries. Since 0.1.0. */
NRI_API size_t nri_request_container_count(const nri_request *request);
/** One of them; an empty one past the end; never NULL. Since 0.1.0. */
NRI_API const nri_container *nri_request_container_at(const nri_request *request, size_t index);
/** Whether more parts follow (SynchronizeRequest.more); false outside on_synchronize_part. Since
 * 0.1.0. */
NRI_API bool nri_request_more(const nri_request *request);

/** The configuration text of Configure (ConfigureRequest.config); else "". Since 0.1.0. */
NRI_API const char *nri_request_config(const nri_request *request);
/**
 * Narrows the plugin's events, in on_configure only.
 * @param request the Configure request
 * @param mask the events wanted: each needs a handler, and the mask must not be 0 (which means all,
 * on the wire)
 * @return 0, NRI_E_EVENT (another event), NRI_E_INVALID (0, or an event that has no handler; the
 * text names it). The error sticks: the request is refused with it. Since 0.1.0.
 */
NRI_API int nri_request_set_events(nri_request *request, uint32_t mask);

/** How many metadata entries came with the call (ttrpc.Request.metadata: containerd's namespace,
 * trace context). Since 0.1.0. */
NRI_API size_t nri_request_metadata_count(const nri_request *request);
/** One metadata entry, as nri_pod_label_at(). Since 0.1.0. */
NRI_API bool nri_request_metadata_at(const nri_request *request, size_t index, const char **key,
                                     const char **value);
/** A metadata entry by its key, compared without case; the first one. As nri_pod_label(). Since
 * 0.1.0. */
NRI_API bool nri_request_metadata(const nri_request *request, const char *key, const char **value);

/** How many plugins were consulted about the container of ValidateContainerAdjustment
 * (ValidateContainerAdjustmentRequest.plugins); 0 with any other event. Since 0.1.0. */
NRI_API size_t nri_request_plugin_count(const nri_request *request);
/**
 * One consulted plugin (PluginInstance).
 * @param request the request
 * @param index from 0 to below nri_request_plugin_count()
 * @param name set to its name, "" past the end; may be NULL
 * @param plugin_index set to its plugin index, "" past the end; may be NULL
 * @return whether there is one. Since 0.1.0.
 */
NRI_API bool nri_request_plugin_at(const nri_request *request, size_t index, const char **name,
                                   const char **plugin_index);
/**
 * Who set a field that has one owner, in ValidateContainerAdjustment (OwningPlugins,
 * FieldOwners.simple).
 * @param request the request
 * @param container_id the container
 * @param field NRI's enum Field, 1 to 40
 * @param owner set to the plugin, as "NN-name", or "" when there is none; may be NULL
 * @return whether somebody did. Since 0.1.0.
 */
NRI_API bool nri_request_owner(const nri_request *request, const char *container_id, int field,
                               const char **owner);
/** Who set one key of a field that has many (FieldOwners.compound), such as an env variable. As
 * nri_request_owner(). Since 0.1.0. */
NRI_API bool nri_request_key_owner(const nri_request *request, const char *container_id, int field,
                                   const char *key, const char **owner);

/**
 * How long until the runtime gives up on this request.
 * @param request the request
 * @return nanoseconds left, 0 when the deadline has passed. Without a time-out of the call,
 * Configure's request time-out counts, else 2 s (nri_request_deadline_is_assumed()). Since 0.1.0.
 */
NRI_API uint64_t nri_request_time_left(const nri_request *request);
/**
 * The deadline on the monotonic clock (CLOCK_MONOTONIC), in nanoseconds. Since 0.1.0.
 */
NRI_API uint64_t nri_request_deadline(const nri_request *request);
/** Whether neither the call nor Configure named a time-out, so that 2 s are assumed. Since 0.1.0.
 */
NRI_API bool nri_request_deadline_is_assumed(const nri_request *request);

/** In on_disconnected: why the connection ended (NRI_OK for a local stop); else NRI_OK. Since
 * 0.1.0. */
NRI_API int nri_request_reason(const nri_request *request);
/** In on_disconnected: the reason in words; else "". Since 0.1.0. */
NRI_API const char *nri_request_reason_text(const nri_request *request);

/** No further attempt to connect. Since 0.1.0. */
#define NRI_NO_ATTEMPT UINT64_MAX
/** In on_disconnected: how long until the plugin tries to connect again, in milliseconds;
 * NRI_NO_ATTEMPT when it does not, and in all else. Since 0.1.0. */
NRI_API uint64_t nri_request_next_attempt_ms(const nri_request *request);

/**
 * Refuses a request with a text of one's own: `return nri_request_fail(req, NRI_E_REJECTED, "no GPU
 * left");`
 *
 * Nothing is sent yet: the handler's return, or nri_request_complete(), does that; a later success
 * code does not take the refusal back. What a refusal does depends on the event; see
 * doc/refusing.md.
 * @param request the request
 * @param code a negative code (0 and positive ones count as NRI_E_REJECTED)
 * @param text the text that the runtime shows, which may not say whose it is: name the plugin;
 * copied, cut after 4000 bytes, with "?" for what is not UTF-8; NULL or "" for one made of the
 * plugin, the event and the code: "10-hello refused CreateContainer: rejected"
 * @return the code. Without effect once the request is completed. Since 0.1.0.
 */
NRI_API int nri_request_fail(nri_request *request, int code, const char *text);

/**
 * Completes a request whose handler returned (or is about to return) NRI_PENDING.
 *
 * The reply is sent by the loop's thread, soon. The reference is kept: drop it with
 * nri_request_unref().
 * @param request the request
 * @param code 0 to reply with what was built, negative to refuse
 * @return 0, NRI_E_LATE (already answered, or completed before), NRI_E_CLOSED (the connection is
 * gone; nobody gets the reply). After the deadline guard has answered it is NRI_E_LATE. Any thread,
 * not in a signal handler. Since 0.1.0.
 */
NRI_API int nri_request_complete(nri_request *request, int code);
/**
 * Has work done on a pool of threads of the library, for a handler that would block:
 * `return nri_request_offload(req, work, data);`
 *
 * The work takes the request over: it may read it and build its answer, and completes it with what
 * it returns, as a handler does (NRI_PENDING too). Pieces of work run side by side, in no order.
 * @param request the request
 * @param work the function, called once on a thread of the pool
 * @param user handed to it
 * @return NRI_PENDING; else the work is not called: NRI_E_INVALID, NRI_E_BUSY (as many pieces wait
 * as requests may be in flight), NRI_E_NOMEM, NRI_E_IO (no thread), NRI_E_EVENT (an event of the
 * library's own), NRI_E_STATE (the plugin is being closed, or the request was offloaded before).
 * Once for a request, in a handler. Since 0.1.0.
 */
NRI_API int nri_request_offload(nri_request *request, int (*work)(nri_request *request, void *user),
                                void *user) NRI_WARN_UNUSED;
/**
 * Takes one more reference. Returns the request. The one of on_connected and on_disconnected may be
 * kept too, and stays readable, but it is the same one for each connection: its reason is that of
 * the last. Any thread. Since 0.1.0.
 */
NRI_API nri_request *nri_request_ref(nri_request *request);
/** Drops a reference. NULL is ignored. Returns NULL. Any thread. Since 0.1.0. */
NRI_API nri_request *nri_request_unref(nri_request *request);

NRI_END_DECLS

#endif
