/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The state cache: the pod sandboxes and containers of the node as the runtime last told them, with
 * data of the plugin's own attached to each.
 *
 * A state is made before its plugin and given to it (struct nri_plugin_options.state). From then on
 * it takes in each Synchronize and each event before the handler of that event runs, and forgets
 * what was removed after its handler has run. It adds the events that it needs to those of the
 * callback table. What vanished while the plugin was not connected is found at the next
 * Synchronize, and told by `removed` of struct nri_state_ops, never by the callback table.
 *
 * @code
 *     static int create(nri_request *req, void *user)
 *     {
 *         struct plugin *plugin = user;
 *         const char *id = nri_container_id(nri_request_container(req));
 *         nri_state_container *container = nri_state_find_container(plugin->state, id);
 *         return nri_state_container_set_note(container, "cpus=4-7");
 *     }
 * @endcode
 *
 * Repeated events, and events in an unusual order, do no harm: an object that is not known yet is
 * added by whatever event tells of it first, but for those that end it (StopContainer,
 * RemoveContainer, StopPodSandbox, RemovePodSandbox); one that was removed is not added again by a
 * late event but by a new RunPodSandbox or CreateContainer, or a Synchronize (the last 256 pod
 * sandboxes and 256 containers that were removed are remembered, until the connection ends). A pod
 * sandbox takes its containers with it. What is told again as it was is no change, in whatever
 * order a map's entries come; ValidateContainerAdjustment changes nothing. Objects without an id,
 * or with a NUL in it, are left out. Memory is what the objects that live take, whatever number
 * went before.
 *
 * A Synchronize in parts counts with its last part: only then goes what none of them told, and
 * nothing goes when the connection ends before. Handlers and `synchronized` come after that.
 *
 * An event that tells of an object for which there is no memory is refused (NRI_E_NOMEM), and its
 * handler does not run: it would not find the object. What was known of the object stays. A
 * Synchronize is refused then to its last part, and removes nothing; the runtime closes the
 * connection, so that the next one starts anew. Removing needs no memory and is never refused.
 *
 * What no handler sees because too many wait for one that does not return (max_in_flight, with
 * NRI_DISPATCH_WORKER) is told all the same once it has returned, the last of each object only.
 * Without memory to keep it so long, that is logged, and the state is not synchronised until the
 * next connection.
 *
 * A state and what hangs on it are for the thread that the plugin's handlers run on (while no
 * plugin runs with it, for any one). Its callbacks come on that thread, must not change the
 * callback's state but for data and notes, and may look up others.
 *
 * Notes are texts attached to containers that outlive the plugin: with a checkpoint they are
 * written to a file before the reply to the event goes out in whose handler they were set, so that
 * what a plugin has handed out is known after a crash. A note that is set elsewhere (outside of a
 * handler, or after one returned NRI_PENDING) is written after the next handler, or by
 * nri_state_save(). When the file cannot be written, the reply goes out all the same: that is
 * logged, told by nri_state_checkpoint_error(), and tried again. Notes from the file wait until
 * their containers are told, and go with the first whole Synchronize that does not tell them. The
 * format is in doc/state.md.
 */
#ifndef NRI_STATE_H
#define NRI_STATE_H

#include <nri/alloc.h>
#include <nri/api.h>
#include <nri/log.h>

NRI_BEGIN_DECLS

/** A pod sandbox in a state cache. Since 0.1.0. */
typedef struct nri_state_pod nri_state_pod;
/** A container in a state cache. Since 0.1.0. */
typedef struct nri_state_container nri_state_container;

/** Why an object of a state was added, changed or removed. Since 0.1.0. */
enum nri_state_cause {
    NRI_STATE_EVENT = 0, /**< an event told it */
    NRI_STATE_SYNCHRONIZE =
        1, /**< a Synchronize told it: it is new to the state, changed, or gone */
    NRI_STATE_POD_REMOVED = 2, /**< a container whose pod sandbox was removed */
    NRI_STATE_FREED = 3        /**< nri_state_free(): the object may live on */
};

/** What a state tells. Each may be NULL. Copied. Since 0.1.0. */
struct nri_state_ops {
    size_t size; /**< sizeof(struct nri_state_ops) */
    /** A pod sandbox is known now. */
    void (*pod_added)(nri_state *state, nri_state_pod *pod, enum nri_state_cause cause, void *user);
    /** Its data is new: nri_state_pod_get() gives it. */
    void (*pod_changed)(nri_state *state, nri_state_pod *pod, enum nri_state_cause cause,
                        void *user);
    /** It is gone: no part of the state, but still readable during the call. Its containers went
     * before. */
    void (*pod_removed)(nri_state *state, nri_state_pod *pod, enum nri_state_cause cause,
                        void *user);
    /** A container is known now. Its note is there already if a checkpoint has one. */
    void (*container_added)(nri_state *state, nri_state_container *container,
                            enum nri_state_cause cause, void *user);
    /** Its data is new: nri_state_container_get() gives it. */
    void (*container_changed)(nri_state *state, nri_state_container *container,
                              enum nri_state_cause cause, void *user);
    /** It is gone: no part of the state, but still readable during the call. */
    void (*container_removed)(nri_state *state, nri_state_container *container,
                              enum nri_state_cause cause, void *user);
    /** A Synchronize was taken in whole: what was told is the node as it is. */
    void (*synchronized)(nri_state *state, void *user);
    void (*reserved[4])(void); /**< must be NULL */
};
/** Fills a table with NULLs and its size. `size` is sizeof(struct nri_state_ops). Since 0.1.0. */
NRI_API void nri_state_ops_init(struct nri_state_ops *ops, size_t size);

/** Options of a state. Zero in any member means its default. Copied. Since 0.1.0. */
struct nri_state_options {
    size_t size; /**< sizeof(struct nri_state_options) */
    /** Where memory comes from; copied. Default: the C library. */
    const struct nri_allocator *allocator;
    /** The checkpoint of the notes: a file, made with mode 0600 in a directory that exists; copied.
     * PATH.tmp, PATH.damaged and PATH.newer beside it are the state's too. Not a symbolic link. A
     * relative path goes by the working directory of each moment. Default: none, notes live as long
     * as the state. */
    const char *checkpoint_path;
    /** Where warnings go: a damaged checkpoint, one that cannot be written. Default: silent. */
    nri_log_fn log;
    /** Handed to `log`. */
    void *log_user;
    const void *reserved_pointer; /**< must be NULL */
    /** The longest note, in bytes. Default 4096, at most 1 MiB. A longer one that a checkpoint has
     * is kept. */
    uint64_t max_note_bytes;
    /** The largest checkpoint that is read or written, in bytes. Default 64 MiB; from 1 KiB to
     * 1 GiB. */
    uint64_t max_checkpoint_bytes;
    uint64_t reserved[4]; /**< must be 0 */
};
/** Fills options with defaults. `size` is sizeof(struct nri_state_options). Since 0.1.0. */
NRI_API void nri_state_options_init(struct nri_state_options *options, size_t size);

/**
 * Makes a state, and reads its checkpoint if it has one. A checkpoint that is damaged or too large
 * is renamed to PATH.damaged (replacing an older one), one of a later version to PATH.newer; that
 * is logged, told by nri_state_checkpoint_error(), and the state begins without notes: the plugin
 * can still learn from the Synchronize what runs. One that cannot be renamed is an error, because
 * it would be overwritten.
 * @param state set to the state, which nri_state_free() frees; left alone on an error
 * @param ops what is told; NULL: nothing
 * @param options options; NULL for defaults
 * @param user handed to each function of `ops`
 * @param error set to the error when there is one; may be NULL
 * @return 0, NRI_E_INVALID, NRI_E_ABI, NRI_E_RANGE, NRI_E_NOMEM, NRI_E_IO (also for what is no
 * regular file), NRI_E_PERMISSION, NRI_E_NOT_FOUND (the checkpoint's directory). Any thread. Since
 * 0.1.0.
 */
NRI_API int nri_state_new(nri_state **state, const struct nri_state_ops *ops,
                          const struct nri_state_options *options, void *user,
                          nri_error **error) NRI_WARN_UNUSED;
/** Frees a state after its plugin was closed; tells `removed` of all objects with NRI_STATE_FREED,
 * and calls the destructors of their data. The checkpoint stays; notes that are not written yet are
 * written first. NULL is ignored. Returns NULL. Since 0.1.0. */
NRI_API nri_state *nri_state_free(nri_state *state);

/** How many pod sandboxes there are. Since 0.1.0. */
NRI_API size_t nri_state_pod_count(const nri_state *state);
/** How many containers there are. Since 0.1.0. */
NRI_API size_t nri_state_container_count(const nri_state *state);
/** Whether a Synchronize was taken in whole since the connection stands: before, the node may have
 * more, and what is there may be gone. Since 0.1.0. */
NRI_API bool nri_state_is_synchronized(const nri_state *state);
/** A pod sandbox by its id; NULL when there is none. Since 0.1.0. */
NRI_API nri_state_pod *nri_state_find_pod(const nri_state *state, const char *id);
/** A container by its id; NULL when there is none. Since 0.1.0. */
NRI_API nri_state_container *nri_state_find_container(const nri_state *state, const char *id);
/** The pod sandbox after `pod` in the order of adding, the first for NULL; NULL at the end. Since
 * 0.1.0. */
NRI_API nri_state_pod *nri_state_next_pod(const nri_state *state, const nri_state_pod *pod);
/** The container after `container` in the order of adding, the first for NULL; NULL at the end.
 * Since 0.1.0. */
NRI_API nri_state_container *nri_state_next_container(const nri_state *state,
                                                      const nri_state_container *container);

/** What the runtime last told of a pod sandbox; never NULL; valid until it changes or goes. Since
 * 0.1.0. */
NRI_API const nri_pod *nri_state_pod_get(const nri_state_pod *pod);
/** The first container of a pod sandbox after `container`, NULL for the first; NULL at the end.
 * Since 0.1.0. */
NRI_API nri_state_container *nri_state_pod_next_container(const nri_state_pod *pod,
                                                          const nri_state_container *container);
/** The plugin's data of a pod sandbox; NULL when there is none. Since 0.1.0. */
NRI_API void *nri_state_pod_data(const nri_state_pod *pod);
/** Attaches data to a pod sandbox; `destroy` (may be NULL) is called with it when it is replaced
 * or the pod sandbox goes, after `removed`; not when the same data is attached again. Since 0.1.0.
 */
NRI_API void nri_state_pod_set_data(nri_state_pod *pod, void *data, void (*destroy)(void *data));

/** What the runtime last told of a container; never NULL; valid until it changes or goes. Since
 * 0.1.0. */
NRI_API const nri_container *nri_state_container_get(const nri_state_container *container);
/** The container's pod sandbox; NULL while it is not known. Since 0.1.0. */
NRI_API nri_state_pod *nri_state_container_pod(const nri_state_container *container);
/** The plugin's data of a container; NULL when there is none. Since 0.1.0. */
NRI_API void *nri_state_container_data(const nri_state_container *container);
/** Attaches data to a container, as nri_state_pod_set_data(). Since 0.1.0. */
NRI_API void nri_state_container_set_data(nri_state_container *container, void *data,
                                          void (*destroy)(void *data));
/** The container's note; "" when there is none. Valid until it is set again or the container goes.
 * Since 0.1.0. */
NRI_API const char *nri_state_container_note(const nri_state_container *container);
/**
 * Sets a container's note.
 * @param container the container
 * @param note the text, copied; NULL or "" for none
 * @return 0, NRI_E_INVALID (a NULL container), NRI_E_UTF8, NRI_E_LIMIT (max_note_bytes),
 * NRI_E_NOMEM. Since 0.1.0.
 */
NRI_API int nri_state_container_set_note(nri_state_container *container, const char *note);

/**
 * Writes the checkpoint now if a note was set or went since: to a file beside it that then takes
 * its place, with fsync() of both file and directory. Called by the plugin after each handler.
 * @param state the state
 * @param error set to the error when there is one; may be NULL
 * @return 0 (also without a checkpoint), NRI_E_INVALID (a NULL state), NRI_E_IO, NRI_E_PERMISSION,
 * NRI_E_NOT_FOUND, NRI_E_LIMIT (max_checkpoint_bytes), NRI_E_NOMEM. What could not be written is
 * tried again after the next handler. Since 0.1.0.
 */
NRI_API int nri_state_save(nri_state *state, nri_error **error);
/** What went wrong last with the checkpoint, in words; "" when nothing did or it was mended since.
 * Since 0.1.0. */
NRI_API const char *nri_state_checkpoint_error(const nri_state *state);

NRI_END_DECLS

#endif
