/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds LinuxResources: the same for an adjustment, an update, a pod and a container. The
 * nri_resources that users change is the message inside a store, which finds its builder from it.
 * Nothing exists before it is asked for.
 */
#ifndef NRI_MODEL_RESOURCES_BUILDER_H
#define NRI_MODEL_RESOURCES_BUILDER_H

#include <nri/resources.h>

#include "model/builder.h"
#include "proto/nri.pb-c.h"

struct nri_resources_store;

struct nri_resources_builder {
    struct nri_builder *builder;
    const char *container_id;          /* of an update, for error texts; NULL for all else */
    struct nri_resources_store *store; /* NULL until it is asked for */
};

/* The resources to be changed; NULL when there is no memory, with the failed call kept. The caller
 * has called nri_builder_enter(). */
nri_resources *nri_resources_builder_edit(struct nri_resources_builder *resources);
/* The same, but what is not there yet starts as a deep copy of `from`, which nothing changes;
 * `from` may be NULL. */
nri_resources *nri_resources_builder_adopt(struct nri_resources_builder *resources,
                                           const Nri__Pkg__Api__V1alpha1__LinuxResources *from);
/* NULL while no value is set and nothing was adopted. */
Nri__Pkg__Api__V1alpha1__LinuxResources *
nri_resources_builder_message(const struct nri_resources_builder *resources);

#endif
