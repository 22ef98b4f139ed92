/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of nri_adjustment, for the files adjust_NOUN.c. Each noun keeps what was set in lists
 * of its own; the message is put together by nri_adjustment_message(). */
#ifndef NRI_MODEL_ADJUSTMENT_BUILDER_H
#define NRI_MODEL_ADJUSTMENT_BUILDER_H

#include "model/builder.h"
#include "model/keyed.h"
#include "model/model.h"
#include "model/resources_builder.h"

/* The messages that are there from the start, so that putting the whole together needs no memory.
 */
struct nri_adjustment_frame {
    Nri__Pkg__Api__V1alpha1__ContainerAdjustment message;
    Nri__Pkg__Api__V1alpha1__LinuxContainerAdjustment linux_part;
    uint64_t changes; /* the builder's when the whole was last put together */
    bool used;        /* whether there was anything then */
};

struct nri_adjustment {
    struct nri_builder builder;
    struct nri_keyed annotations, mounts, env;
    char **args; /* NULL: not set; args[0] is "" when they replace what another plugin set */
    size_t arg_count;
    struct nri_resources_builder resources;
    struct nri_adjustment_frame *frame;
    /* Not NULL: a decoded message that can only be read; all of the above is empty. */
    const Nri__Pkg__Api__V1alpha1__ContainerAdjustment *fixed;
};

/* nri_builder_enter() for an adjustment that may be NULL. */
int nri_adjustment_enter(nri_adjustment *adjustment);

#endif
