/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of nri_adjustment, for the files adjust_NOUN.c. Each noun keeps what was set in lists
 * of its own; the message is put together by nri_adjustment_message(). */
#ifndef NRI_MODEL_ADJUSTMENT_BUILDER_H
#define NRI_MODEL_ADJUSTMENT_BUILDER_H

#include "model/builder.h"
#include "model/keyed.h"
#include "model/model.h"
#include "model/resources_builder.h"
#include "model/unique.h"

/* The messages that are there from the start, so that putting the whole together needs no memory.
 * What is a message of its own, or a list without removals, is set in them directly. */
struct nri_adjustment_frame {
    Nri__Pkg__Api__V1alpha1__ContainerAdjustment message;
    Nri__Pkg__Api__V1alpha1__LinuxContainerAdjustment linux_part;
    uint64_t changes; /* the builder's when the whole was last put together */
    bool used;        /* whether there was anything then */
};

/* What few adjustments use: made with the first of it, so that no other request pays for it. */
struct nri_adjustment_rare {
    struct nri_keyed devices, namespaces, sysctl, net_devices;
    struct nri_unique rlimits, cdi_devices; /* of the frame's lists */
    Nri__Pkg__Api__V1alpha1__Hooks hooks;
    Nri__Pkg__Api__V1alpha1__LinuxRdt rdt;
    /* nri_seccomp_check() once there is a policy. A pointer, so that a program that makes none need
     * not hold that code. */
    int (*check_seccomp)(struct nri_builder *builder,
                         const Nri__Pkg__Api__V1alpha1__LinuxSeccomp *message);
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
    struct nri_adjustment_rare *rare; /* NULL until it is needed */
    const struct nri_host *host;      /* NULL: no device can be injected */
    bool owns_arena;                  /* made by nri_adjustment_new() */
};

/* nri_builder_enter() for an adjustment that may be NULL. */
int nri_adjustment_enter(nri_adjustment *adjustment);
/* Makes what is rare when it is not there yet; NULL when the arena failed. */
struct nri_adjustment_rare *nri_adjustment_need_rare(nri_adjustment *adjustment);
/* Adds a device node to the list of them, or says that the arena failed. */
int nri_adjustment_put_device(nri_adjustment *adjustment, bool replace,
                              Nri__Pkg__Api__V1alpha1__LinuxDevice *device);

#endif
