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
    struct nri_keyed injected; /* of a path the rule that the device injected there holds */
    struct nri_unique rlimits, cdi_devices; /* of the frame's lists */
    Nri__Pkg__Api__V1alpha1__Hooks hooks;
    Nri__Pkg__Api__V1alpha1__LinuxRdt rdt;
    /* Puts its lists into the frame. A pointer, so that a program that makes none of this need not
     * hold that code. */
    void (*assemble)(const struct nri_adjustment_rare *rare,
                     Nri__Pkg__Api__V1alpha1__LinuxContainerAdjustment *linux_part);
    /* nri_seccomp_check() once there is a policy. A pointer for the same reason. */
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
    /* NULL while there is nothing but annotations, mounts and variables, which no runtime leaves
     * away silently. */
    nri_feature_check check_features;
    uint64_t may_use; /* bits of features: all that can have been used, and perhaps more */
    bool owns_arena;  /* made by nri_adjustment_new() */
};

/* nri_builder_enter() for an adjustment that may be NULL. */
int nri_adjustment_enter(nri_adjustment *adjustment);
#define NRI_FEATURE_BIT(name) (UINT64_C(1) << NRI_FEATURE_##name)
#define NRI_FEATURES_ANY      UINT64_MAX
/* From here on the runtime must be asked about these features: called by every builder of something
 * that some runtime silently leaves away. */
void nri_adjustment_uses_feature(nri_adjustment *adjustment, uint64_t bits);
/* Gives an empty adjustment the seccomp policy of another, to try changes of it on: a shallow copy
 * that appends to the other's arrays, into places that the other does not use. False: no memory. */
bool nri_adjustment_try_seccomp(nri_adjustment *scratch, const nri_adjustment *of);
/* Makes what is rare when it is not there yet; NULL when the arena failed. */
struct nri_adjustment_rare *nri_adjustment_need_rare(nri_adjustment *adjustment);
/* Adds a device node to the list of them, with the rule that it holds, or NULL; or says that the
 * arena failed, and then the rule is the caller's to release. */
int nri_adjustment_put_device(nri_adjustment *adjustment, bool replace,
                              Nri__Pkg__Api__V1alpha1__LinuxDevice *device,
                              Nri__Pkg__Api__V1alpha1__LinuxDeviceCgroup *rule);

#endif
