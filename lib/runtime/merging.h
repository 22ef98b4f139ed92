/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a merge, for the files of lib/runtime that make it up:
 *
 *   merge.c          made and asked; which reply fits which event
 *   merge_create.c   a reply to CreateContainer, rule by rule (rule.h)
 *   merge_list.c     the lists with keys in it
 *   merge_update.c   updates of containers, in any reply
 *   merge_result.c   what was collected, put together
 *   owners.c         who owns what, and conflicts
 *   owners_list.c    the same as a message for validators
 *   visible.c        what the next plugin sees
 */
#ifndef NRI_RUNTIME_MERGING_H
#define NRI_RUNTIME_MERGING_H

#include "runtime/keys.h"
#include "runtime/merge.h"
#include "runtime/messages.h"
#include "runtime/owners.h"
#include "runtime/rule.h"
#include "runtime/slots.h"
#include "runtime/visible.h"

/* The members of Hooks in their order. */
#define NRI_HOOK_STAGES 6
extern const uint16_t nri_hook_members[NRI_HOOK_STAGES], nri_hook_counts[NRI_HOOK_STAGES];

/* What is collected for one container, and who owns it. */
struct nri_target {
    struct nri_owners owners;
    void *parts[NRI_PARTS];  /* what is set stands here; NULL: an update cannot have it */
    struct nri_slots *lists; /* by enum nri_list */
};

/* An update of one container. */
struct nri_merge_update {
    struct nri_target target;
    resources_message resources;
    memory_message memory;
    cpu_message cpu;
    struct nri_slots lists[NRI_LISTS_OF_UPDATE];
    const resources_message *base; /* of the requested container: what was asked for */
    bool resolved;                 /* some plugin's resources are in it */
    bool ignore_failure;           /* all plugins said so */
    linux_update_message linux_part;
    update_message message;
};

struct nri_merge {
    struct nri_arena *arena;
    uint64_t seed[2];
    struct nri_merge_settings settings;
    enum nri_event event;
    const container_message *container;
    const resources_message *asked; /* of UpdateContainer */
    const char *plugin;             /* whose reply is being merged */

    struct nri_target target; /* of the container that is created */
    adjustment_message adjust;
    linux_adjustment_message linux_part;
    resources_message resources;
    memory_message memory;
    cpu_message cpu;
    rdt_message rdt;
    struct nri_slots lists[NRI_LISTS];
    struct nri_slots hooks[NRI_HOOK_STAGES];
    struct nri_keys *marked; /* by enum nri_list: the removals that are collected */
    bool rdt_set;            /* `rdt` is part of the result */
    bool removes;            /* the claim under way is one of a removal */

    struct nri_keys updates;      /* by id; values are struct nri_merge_update */
    struct nri_merge_update *own; /* that of the requested container */
    struct nri_slots evictions;   /* ContainerEviction */
    struct nri_keys evicted;      /* by id */
    struct nri_visible visible;   /* CreateContainer */
    bool resources_changed;       /* since nri_merge_resources() was called */
    struct nri_merge_change *changes;
    size_t change_count, change_room;

    create_message create_result;
    update_reply_message update_result;
    stop_message stop_result;
    bool assembled; /* the result is that of all replies so far */
};

/* The arena has failed: its code, in *error too. */
int nri_merge_no_memory(struct nri_merge *merge, struct nri_error *error);
/* Notes a change for the audit. False with the arena's failure set. */
bool nri_merge_note(struct nri_merge *merge, const struct nri_owners *owners,
                    enum nri_merge_what what, enum nri_field field, const struct nri_key *key,
                    const char *from);

/* The adjustment of a reply; *effect is whether there was anything in it. */
int nri_merge_adjust(struct nri_merge *merge, const adjustment_message *adjust, bool *effect,
                     struct nri_error *error);
/* What it has in one list of `count` messages. */
int nri_merge_list(struct nri_merge *merge, const struct nri_rule *rule, void *const *items,
                   size_t count, struct nri_error *error);
/* The updates of a reply. */
int nri_merge_updates(struct nri_merge *merge, update_message *const *updates, size_t count,
                      struct nri_error *error);
/* The resources of an update as they are now; NULL with the arena's failure set. */
const resources_message *nri_merge_update_resources(struct nri_merge *merge,
                                                    struct nri_merge_update *update);
/* Which parts have anything set in them, or in a part within them. */
void nri_parts_filled(void *const parts[NRI_PARTS], bool filled[NRI_PARTS]);
/* Makes the result of the event; false with the arena's failure set. */
bool nri_merge_assemble(struct nri_merge *merge);

#endif
