/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of nri_updates and nri_update. */
#ifndef NRI_MODEL_UPDATES_BUILDER_H
#define NRI_MODEL_UPDATES_BUILDER_H

#include "model/builder.h"
#include "model/keyed.h"
#include "model/model.h"
#include "model/resources_builder.h"

struct nri_update {
    struct nri_updates *list; /* NULL: there was no list at all */
    int failed; /* not 0: stands for an update that could not be made; every setter fails with it */
    struct nri_resources_builder resources;
    Nri__Pkg__Api__V1alpha1__ContainerUpdate message;
    Nri__Pkg__Api__V1alpha1__LinuxContainerUpdate linux_part;
};

/* One update for each code that nri_updates_container() can fail with: what blocks the list, STATE,
 * INVALID, UTF8, NOMEM, LIMIT. */
#define NRI_UPDATES_FAILED 6

struct nri_updates {
    struct nri_builder builder;
    bool evictions_allowed;
    bool owns_arena;                     /* made by nri_updates_new() */
    struct nri_keyed updates, evictions; /* by container id */
    /* What is sent, put together when it is asked for after a change; of a view, all there is. */
    ProtobufCMessage **messages;
    size_t count;
    uint64_t changes; /* the builder's when that was done */
    struct nri_update failed[NRI_UPDATES_FAILED];
};

void nri_update_init(struct nri_update *update, struct nri_updates *list, int failed);
/* The update that a message is part of. */
struct nri_update *nri_update_of(ProtobufCMessage *message);
/* One that belongs to no list, without id and resources. Never written to. */
const struct nri_update *nri_update_none(void);

/* nri_builder_enter() for an update that may be NULL or failed. */
int nri_update_enter(nri_update *update);

#endif
