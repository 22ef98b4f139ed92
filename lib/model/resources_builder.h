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

/*
 * As nri_resources_add_device_rule() of a rule that allows, which goes again when everybody who
 * held it has released it and it was never added for its own sake. *rule is what to release; NULL
 * when the rule was adopted, and so stays. For resources that adopted nothing: a rule that goes may
 * leave nothing to be sent.
 */
int nri_resources_hold_device_rule(nri_resources *resources, const char *type, int64_t major,
                                   int64_t minor, const char *access,
                                   Nri__Pkg__Api__V1alpha1__LinuxDeviceCgroup **held);
/* NULL is ignored. */
void nri_resources_release_device_rule(nri_resources *resources,
                                       Nri__Pkg__Api__V1alpha1__LinuxDeviceCgroup *held);

#endif
