/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state cache, and what its files call of one another. It is sans-IO as all of this room: where
 * the checkpoint lies, a table says that lib/io fills.
 *
 * Everything is for the thread that handlers run on, but for state_missed.c.
 */
#ifndef NRI_PLUGIN_STATE_H
#define NRI_PLUGIN_STATE_H

#include <stdatomic.h>

#include <nri/container.h>
#include <nri/pod.h>
#include <nri/state.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/host.h"
#include "base/lock.h"
#include "base/log.h"
#include "plugin/state_hooks.h"
#include "plugin/state_missed.h"
#include "plugin/state_set.h"

/* Where a checkpoint lies. All NULL: nowhere. */
struct nri_state_store {
    void *context;
    const char *name; /* of it in texts; lives as long as the context */
    /* Appends the checkpoint to `content`, whose limit is the largest one that is read. *found
     * tells whether there is one. NRI_E_LIMIT: it is larger. */
    int (*load)(void *context, struct nri_buf *content, bool *found, struct nri_error *error);
    /* Replaces it, at once and for good: after a crash it is the old or the new one. */
    int (*save)(void *context, const uint8_t *bytes, size_t count, struct nri_error *error);
    /* Moves it out of the way, to a name that ends with `suffix`. */
    int (*set_aside)(void *context, const char *suffix, struct nri_error *error);
    void (*release)(void *context);
};

/* Resolved options. */
struct nri_state_config {
    struct nri_state_ops ops; /* whole */
    void *user;
    struct nri_alloc alloc;
    const struct nri_host *host; /* must outlive the state */
    nri_log_fn log;
    void *log_user;
    size_t max_note_bytes, max_checkpoint_bytes;
    struct nri_state_store store;
};

struct nri_state_pod {
    struct nri_state_node node;
    nri_pod *copy;                            /* NULL unless LIVE */
    struct nri_state_container *first, *last; /* those that refer to it, known or not */
};

struct nri_state_container {
    struct nri_state_node node;
    nri_state *state;
    nri_container *copy;       /* NULL unless LIVE */
    struct nri_state_pod *pod; /* may be one that is not known; NULL: it names none */
    struct nri_state_container *older, *newer; /* of the same pod */
    char *note;                                /* NULL: none */
};

struct nri_state {
    const struct nri_state_hooks *hooks; /* first: nri_state_hooks_of() */
    struct nri_state_config config;
    struct nri_log log;
    uint64_t seed[2];
    struct nri_state_set pods, containers;
    uint64_t generation; /* of the last Synchronize that began */
    bool collecting;     /* parts of it came, and the last one did not */
    bool spoiled;        /* a part could not be kept */
    bool synchronized;
    atomic_bool lost; /* an event could not be kept: until the next connection */
    struct nri_lock missed_lock;
    struct nri_state_batch *missed; /* open for what comes; missed_lock */
    struct nri_map waiting;         /* notes of the checkpoint whose containers are not known yet */
    bool changed;                   /* the checkpoint is not what the notes are */
    struct nri_buf content;         /* of the next checkpoint */
    struct nri_error trouble;       /* the checkpoint's */
    uint32_t told;                  /* codes that were said since it was written last; bit -code */
};

#define nri_state_log(state, level, ...)                                                           \
    nri_log_write(&(state)->log, (state)->config.host->now((state)->config.host->context),         \
                  (level), NULL, __VA_ARGS__)

/* state.c: makes a state and reads its checkpoint; takes the store over on success. NRI_E_NOMEM,
 * and what the store's load() and set_aside() return. */
int nri_state_make(nri_state **state, const struct nri_state_config *config,
                   struct nri_error *error);

/* state_events.c */
extern const struct nri_state_hooks nri_state_hooks;
/* What an event may do with the pod and the container that it tells of: NRI_STATE_ADD and so on; 0:
 * nothing. */
struct nri_state_effect {
    unsigned pod, container;
};
struct nri_state_effect nri_state_effect_of(enum nri_event event);

/* state_object.c: what may be done with an object that an event or a Synchronize tells of. */
#define NRI_STATE_ADD    1u /* it is taken in when it is not known */
#define NRI_STATE_CHANGE 2u /* what is known of it is replaced */
#define NRI_STATE_REVIVE 4u /* it is taken in even though it went */
/* One without an id, or with a NUL in it, which nobody could look up, is left out. 0 or
 * NRI_E_NOMEM, and then nothing has changed. */
int nri_state_put_pod(nri_state *state, const nri_pod *pod, unsigned may,
                      enum nri_state_cause cause);
/* `pod` is the event's, for a container that names none; may be NULL. */
int nri_state_put_container(nri_state *state, const nri_container *container, const nri_pod *pod,
                            unsigned may, enum nri_state_cause cause);
/* Those with an id, known or not, and what they have; later events bring them back only as
 * NRI_STATE_REVIVE says. */
void nri_state_remove_pod(nri_state *state, const char *id, size_t length);
void nri_state_remove_container(nri_state *state, const char *id, size_t length);
/* All that was not told since state->generation began. */
void nri_state_sweep(nri_state *state);
void nri_state_forget_gone(nri_state *state);
void nri_state_remove_all(nri_state *state); /* with NRI_STATE_FREED, forgotten too */

/* state_note.c */
void nri_state_note_init(nri_state *state);
void nri_state_note_fini(nri_state *state);
/* A note of the checkpoint, for a container to come. NRI_E_NOMEM. */
int nri_state_note_wait(nri_state *state, const char *id, size_t id_length, const char *note,
                        size_t length);
void nri_state_note_claim(nri_state_container *container); /* a container that came */
void nri_state_note_drop(nri_state_container *container);  /* one that goes */
void nri_state_note_expire(nri_state *state, const char *id, size_t length);
void nri_state_note_expire_all(nri_state *state); /* all that wait */
int nri_state_load(nri_state *state, struct nri_error *error);

#endif
