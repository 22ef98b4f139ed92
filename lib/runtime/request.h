/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event's request, encoded for one plugin after the other. Where everything is in it is kept, so
 * that the next plugin's takes over the bytes of all that no plugin has changed meanwhile.
 */
#ifndef NRI_RUNTIME_REQUEST_H
#define NRI_RUNTIME_REQUEST_H

#include <nri/event.h>

#include "base/buf.h"
#include "runtime/merge.h"

/* What an event is about. */
struct nri_rt_subject {
    enum nri_event event;
    const Nri__Pkg__Api__V1alpha1__PodSandbox *pod;
    const Nri__Pkg__Api__V1alpha1__Container *container;
    const Nri__Pkg__Api__V1alpha1__LinuxResources *resources, *overhead;
};

/* A container's fields, each of which takes four bytes at least, and its unknown ones. */
#define NRI_RT_PIECES (sizeof(Nri__Pkg__Api__V1alpha1__Container) / 4 + 1)

struct nri_rt_request {
    struct nri_buf bytes;  /* the request that was made last */
    struct nri_buf before; /* the one before it: room for the next */
    unsigned method;       /* of what is in there */
    bool fresh;            /* it is that of the event as it stands */
    bool pod_known;        /* the pod sandbox is in there, encoded */
    size_t pod_at, pod_size;
    nri_members stale;   /* of the container: what has to be encoded again; the others are there */
    size_t container_at; /* where its fields begin, and where each ends */
    size_t ends[NRI_RT_PIECES];
};

/* `limit` is that of the request's size. */
void nri_rt_request_init(struct nri_rt_request *request, const struct nri_alloc *alloc,
                         size_t limit);
void nri_rt_request_fini(struct nri_rt_request *request);
/* For another event; memory of up to `keep` bytes stays. */
void nri_rt_request_reset(struct nri_rt_request *request, size_t keep);
/* These members of the container are others than when the request was made. */
void nri_rt_request_change(struct nri_rt_request *request, nri_members changed);
/* Makes the request of a method, unless it is there already. The parts of the subject are those of
 * the last time but for what nri_rt_request_change() was told; resources and overhead may be
 * others, which must be told too, by 0 members. NRI_E_INVALID, NRI_E_LIMIT, NRI_E_NOMEM, with a
 * text. */
int nri_rt_request_make(struct nri_rt_request *request, unsigned method,
                        const struct nri_rt_subject *subject, struct nri_error *error);
/* Takes any message as a method's request. */
int nri_rt_request_take(struct nri_rt_request *request, unsigned method,
                        const ProtobufCMessage *message, struct nri_error *error);

#endif
