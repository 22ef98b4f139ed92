/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging: what several plugins answer to one request becomes one answer, with an owner of
 * everything that was set.
 *
 * A merge is one request's. It lives in an arena that the caller owns, whose limit is the memory
 * limit, and goes with it. Messages that are handed in are used in place and never changed; they
 * must live unchanged as long as the merge. All their strings are texts of base/text.h, as decoders
 * and builders make them. Nothing here waits, reads a clock or knows of connections.
 *
 * What differs from the Go runtime side, and why, stands in doc/runtime.md; with go_compatible the
 * result is Go's.
 */
#ifndef NRI_RUNTIME_MERGE_H
#define NRI_RUNTIME_MERGE_H

#include <nri/event.h>
#include <nri/field.h>
#include <nri/merge.h>

#include "base/arena.h"
#include "base/error.h"
#include "proto/nri.pb-c.h"

struct nri_merge;

struct nri_merge_settings {
    uint8_t policy[NRI_MERGE_FIELDS]; /* an nri_merge_policy by enum nri_field */
    bool go_compatible;               /* Go's result, with its known defects */
    bool changes;                     /* keep the list for nri_merge_each_change() */
};

/*
 * Makes the merge of one request: `event` is CREATE_CONTAINER, UPDATE_CONTAINER or STOP_CONTAINER
 * (else NRI_E_EVENT). `container` may be NULL (an empty one); `resources`, of UpdateContainer, too.
 * `seed` is for the hash of keys, `settings` NULL for all defaults; both are copied. NRI_E_NOMEM
 * and NRI_E_LIMIT, as everywhere below, when the arena has no more.
 */
int nri_merge_new(struct nri_merge **merge, struct nri_arena *arena, const uint64_t seed[2],
                  const struct nri_merge_settings *settings, enum nri_event event,
                  const Nri__Pkg__Api__V1alpha1__PodSandbox *pod,
                  const Nri__Pkg__Api__V1alpha1__Container *container,
                  const Nri__Pkg__Api__V1alpha1__LinuxResources *resources,
                  struct nri_error *error);

/* Members of a message, so that the bytes of the others can be used again: that at the offset N is
 * bit N / 8. */
typedef uint64_t nri_members;
#define NRI_MEMBERS_ALL    UINT64_MAX
#define NRI_MEMBER(offset) ((nri_members)1 << (offset) / 8)
_Static_assert(sizeof(Nri__Pkg__Api__V1alpha1__Container) <= 64 * 8, "a bit for each member");

/*
 * The container as the next plugin is to see it (CreateContainer; else as it was given), and the
 * resources (UpdateContainer; NULL as long as none were given or set). *changed (may be NULL) is
 * what may have changed since the last call: all the first time. Valid until the next reply.
 * nri_merge_container() is NULL only when the arena has no more (arena->failure says why); so is
 * nri_merge_resources() with a failure set.
 */
const Nri__Pkg__Api__V1alpha1__Container *nri_merge_container(struct nri_merge *merge,
                                                              nri_members *changed);
const Nri__Pkg__Api__V1alpha1__LinuxResources *nri_merge_resources(struct nri_merge *merge,
                                                                   bool *changed);

/*
 * One plugin's reply, in the order of the chain. `plugin` is its full name ("10-foo"); name and
 * reply must live as long as the merge. NULL is a reply with nothing in it. Returns 0;
 * NRI_E_CONFLICT with Go's text (`plugins "P" and "Q" both tried to set <Field> <key>`);
 * NRI_E_INVALID for an update of the container that is being created; NRI_E_EVENT for a reply to
 * another event; NRI_E_NOMEM, NRI_E_LIMIT. After an error the merge is of no more use.
 */
int nri_merge_create_reply(struct nri_merge *merge, const char *plugin,
                           const Nri__Pkg__Api__V1alpha1__CreateContainerResponse *reply,
                           struct nri_error *error);
int nri_merge_update_reply(struct nri_merge *merge, const char *plugin,
                           const Nri__Pkg__Api__V1alpha1__UpdateContainerResponse *reply,
                           struct nri_error *error);
int nri_merge_stop_reply(struct nri_merge *merge, const char *plugin,
                         const Nri__Pkg__Api__V1alpha1__StopContainerResponse *reply,
                         struct nri_error *error);

/*
 * All replies so far in one, valid until the next reply; NULL when the arena has no more, and for
 * another event. In every list what is removed comes before what is set. `adjust` is NULL when
 * nothing is adjusted. In the updates of UpdateContainer that of the requested container is the
 * last, and is missing when no plugin touched it. A container is evicted once, with the first
 * reason.
 */
const Nri__Pkg__Api__V1alpha1__CreateContainerResponse *
nri_merge_create_result(struct nri_merge *merge);
const Nri__Pkg__Api__V1alpha1__UpdateContainerResponse *
nri_merge_update_result(struct nri_merge *merge);
const Nri__Pkg__Api__V1alpha1__StopContainerResponse *
nri_merge_stop_result(struct nri_merge *merge);

/* Who owns what, as validators get it: by container, "-NAME" for what a plugin took away, names
 * joined by commas for OCI hooks. Never NULL with memory; valid until the next reply. */
const Nri__Pkg__Api__V1alpha1__OwningPlugins *nri_merge_owners(struct nri_merge *merge);

/* What a reply did. */
enum nri_merge_what {
    NRI_MERGE_SET,      /* it set something that nobody had set in this request */
    NRI_MERGE_REPLACED, /* it set what `from` had set before (NRI_MERGE_LAST_WINS) */
    NRI_MERGE_KEPT,     /* it set what `from` had set already to that value (NRI_MERGE_DEDUP) */
    NRI_MERGE_REMOVED,  /* it removed something */
    NRI_MERGE_DROPPED,  /* that removal took away what `from` had set; comes with REMOVED */
    NRI_MERGE_EVICTED   /* it was the first to want the container evicted; the key is its reason */
};

struct nri_merge_change {
    const char *container; /* the id */
    const char *key;       /* NULL for a field without keys; a text of base/text.h or part of one */
    size_t key_length;
    const char *from; /* NULL: nobody */
    enum nri_field field;
    enum nri_merge_what what;
};

/* For the audit: calls `fn` for each change of the last reply, in order, also of one that failed;
 * nothing without settings.changes. Ignored updates (ignore_failure) are among them up to the
 * conflict. */
size_t nri_merge_change_count(const struct nri_merge *merge); /* of the last reply */
void nri_merge_each_change(const struct nri_merge *merge,
                           void (*fn)(void *user, const struct nri_merge_change *change),
                           void *user);

#endif
