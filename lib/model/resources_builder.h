/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds LinuxResources: the same for an adjustment and for an update. Nothing exists before the
 * first value is set, so that a failed call leaves no empty message behind.
 */
#ifndef NRI_MODEL_RESOURCES_BUILDER_H
#define NRI_MODEL_RESOURCES_BUILDER_H

#include "model/builder.h"
#include "proto/nri.pb-c.h"

struct nri_resources_store;

struct nri_resources_builder {
    struct nri_builder *builder;
    const char *container_id;          /* of an update, for error texts; NULL for an adjustment */
    struct nri_resources_store *store; /* NULL until the first value */
};

/* NULL while no value is set. */
Nri__Pkg__Api__V1alpha1__LinuxResources *
nri_resources_builder_message(const struct nri_resources_builder *resources);

/* The caller has called nri_builder_enter(). Ranges are those of nri/adjustment.h. */
int nri_resources_set_cpu_shares(struct nri_resources_builder *resources, uint64_t shares);
int nri_resources_set_cpu_quota(struct nri_resources_builder *resources, int64_t quota);
int nri_resources_set_cpu_period(struct nri_resources_builder *resources, uint64_t period);
int nri_resources_set_cpu_realtime_runtime(struct nri_resources_builder *resources,
                                           int64_t runtime);
int nri_resources_set_cpu_realtime_period(struct nri_resources_builder *resources, uint64_t period);
int nri_resources_set_cpuset_cpus(struct nri_resources_builder *resources, const char *cpus);
int nri_resources_set_cpuset_mems(struct nri_resources_builder *resources, const char *mems);
int nri_resources_set_memory_limit(struct nri_resources_builder *resources, int64_t bytes);
int nri_resources_set_memory_reservation(struct nri_resources_builder *resources, int64_t bytes);
int nri_resources_set_memory_swap(struct nri_resources_builder *resources, int64_t bytes);

#endif
