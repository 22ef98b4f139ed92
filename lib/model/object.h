/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods and containers that may be changed: made by nri_pod_new() and its kin, by a copy or from
 * JSON.
 *
 * An object is an arena and, behind it, the message. Users hold a pointer to the message, so that
 * readers need not know objects: what may be changed is found by going back from it. The builder is
 * made for the first call that needs one, because it has room for an error's text, and a cache
 * keeps copies by the thousand that nobody changes.
 */
#ifndef NRI_MODEL_OBJECT_H
#define NRI_MODEL_OBJECT_H

#include "base/arena.h"
#include "model/builder.h"
#include "model/model.h"
#include "model/resources_builder.h"
#include "model/text_list.h"
#include "model/unique.h"

struct nri_object {
    struct nri_arena arena;
    void *parts;  /* the builder and what belongs to it; NULL until it is needed */
    bool starved; /* a call failed because there was no memory for the parts */
};

struct nri_pod_parts {
    struct nri_builder builder;
    Nri__Pkg__Api__V1alpha1__PodSandbox *message;
    /* The message's linux part, or one that becomes so with the first value in it. */
    Nri__Pkg__Api__V1alpha1__LinuxPodSandbox *linux_part;
    struct nri_unique labels, annotations, namespaces;
    struct nri_text_list ips;
    struct nri_resources_builder overhead, pod_resources, resources;
};

struct nri_container_parts {
    struct nri_builder builder;
    Nri__Pkg__Api__V1alpha1__Container *message;
    Nri__Pkg__Api__V1alpha1__LinuxContainer *linux_part; /* as above */
    struct nri_unique labels, annotations, mounts, rlimits, cdi_devices;
    struct nri_unique namespaces, devices, sysctl, net_devices;
    struct nri_text_list env;
    struct nri_resources_builder resources;
    nri_seccomp *seccomp; /* NULL until it is asked for */
};

struct nri_pod_object {
    struct nri_object object;
    Nri__Pkg__Api__V1alpha1__PodSandbox message;
};

struct nri_container_object {
    struct nri_object object;
    Nri__Pkg__Api__V1alpha1__Container message;
};

/* Empty ones; NULL when there is no memory. What is put into the message must live in the object's
 * arena, and its arrays must have the room of model/unique.h. nri_pod_free() and
 * nri_container_free() free them. */
struct nri_pod_object *nri_pod_object_make(const struct nri_alloc *alloc);
struct nri_container_object *nri_container_object_make(const struct nri_alloc *alloc);

/* Entering a setter: 0 and what it changes; NRI_E_INVALID for NULL; NRI_E_NOMEM. */
int nri_pod_enter(nri_pod *pod, struct nri_pod_parts **parts);
int nri_container_enter(nri_container *container, struct nri_container_parts **parts);

/* Makes sure that parts->linux_part is there: 0, or a failed call. It becomes a part of the message
 * with nri_pod_attach_linux() alone, behind all that can fail. */
int nri_pod_need_linux(struct nri_pod_parts *parts, const struct nri_where *field);
int nri_container_need_linux(struct nri_container_parts *parts, const struct nri_where *field);
static inline void nri_pod_attach_linux(struct nri_pod_parts *parts)
{
    parts->message->linux = parts->linux_part;
}
static inline void nri_container_attach_linux(struct nri_container_parts *parts)
{
    parts->message->linux = parts->linux_part;
}

#endif
