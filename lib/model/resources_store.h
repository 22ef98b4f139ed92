/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of nri_resources that may be changed, for the files resources_NOUN.c that set its
 * values. */
#ifndef NRI_MODEL_RESOURCES_STORE_H
#define NRI_MODEL_RESOURCES_STORE_H

#include "model/resources_builder.h"
#include "model/unique.h"

/* One piece for all messages that hold values; cpu, memory and pids become part of resources with
 * their first value. */
struct nri_resources_store {
    struct nri_builder *builder;
    const char *container_id; /* as in nri_resources_builder */
    bool used;                /* there is a value, or what was adopted was there */
    Nri__Pkg__Api__V1alpha1__LinuxResources resources;
    Nri__Pkg__Api__V1alpha1__LinuxCPU cpu;
    Nri__Pkg__Api__V1alpha1__LinuxMemory memory;
    Nri__Pkg__Api__V1alpha1__LinuxPids pids;
    struct nri_unique hugepage_limits, unified;
    struct nri_map *device_rules; /* NULL while there are few */
    size_t made_rules; /* the last ones of the resources' rules; the first were adopted */
    size_t most_rules; /* as of nri_list_append_again() */
    /* With device_rules: the serial of the last rule, and of the last that denies and allows. */
    size_t rule_serial, last_rules[2];
};

struct nri_resources_store *nri_resources_store_of(nri_resources *resources);
/* nri_builder_enter() for resources that may be NULL. */
int nri_resources_enter(nri_resources *resources);
/* The field of an error text. */
struct nri_where nri_resources_where(const struct nri_resources_store *store, const char *name);
int nri_resources_refuse_memory(struct nri_resources_store *store, const char *name);

#endif
