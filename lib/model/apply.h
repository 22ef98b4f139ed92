/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages put into builders, as if somebody called each builder: what merging JSON stands on. Of a
 * list all removals are applied before all new entries, as a runtime does, whatever their order.
 *
 * Each function stops at the first failed call, whose code it returns and whose text the builder
 * keeps; *at is what of the message the call was about.
 */
#ifndef NRI_MODEL_APPLY_H
#define NRI_MODEL_APPLY_H

#include "model/json_message.h"
#include "model/model.h"

int nri_apply_adjustment(nri_adjustment *adjustment,
                         const Nri__Pkg__Api__V1alpha1__ContainerAdjustment *message,
                         struct nri_json_subject *at);
int nri_apply_linux(nri_adjustment *adjustment,
                    const Nri__Pkg__Api__V1alpha1__LinuxContainerAdjustment *message,
                    struct nri_json_subject *at);
int nri_apply_seccomp(nri_seccomp *seccomp, const Nri__Pkg__Api__V1alpha1__LinuxSeccomp *message,
                      struct nri_json_subject *at);
int nri_apply_resources(nri_resources *resources,
                        const Nri__Pkg__Api__V1alpha1__LinuxResources *message,
                        struct nri_json_subject *at);
int nri_apply_updates(nri_updates *updates,
                      const Nri__Pkg__Api__V1alpha1__UpdateContainersRequest *message,
                      struct nri_json_subject *at);

/* A list of keys and values, each the first and second text of its entries. */
struct nri_apply_pairs {
    const ProtobufCMessage *message; /* that has the list */
    const char *field;
    const void *entries; /* array of pointers to messages laid out like KeyValue */
    size_t count;
    int (*add)(nri_adjustment *adjustment, const char *key, const char *value);
    int (*remove)(nri_adjustment *adjustment, const char *key);
};
int nri_apply_pairs(nri_adjustment *adjustment, const struct nri_apply_pairs *pairs,
                    struct nri_json_subject *at);

/* Notes what the next call is about. */
static inline void nri_apply_at(struct nri_json_subject *at, const ProtobufCMessage *message,
                                const char *field, size_t index)
{
    *at = (struct nri_json_subject){message, field, index};
}

#endif
