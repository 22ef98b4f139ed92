/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/request.h"

#include <string.h>

#include "plugin/method.h"
#include "wire/message.h"
#include "wire/varint.h"

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type
#define LENGTH        2u /* the wire type of a message in a message */

typedef MESSAGE(Container) container_message;

void nri_rt_request_init(struct nri_rt_request *request, const struct nri_alloc *alloc,
                         size_t limit)
{
    *request = (struct nri_rt_request){.stale = NRI_MEMBERS_ALL};
    nri_buf_init(&request->bytes, alloc, limit);
    nri_buf_init(&request->before, alloc, limit);
}

void nri_rt_request_fini(struct nri_rt_request *request)
{
    nri_buf_fini(&request->bytes);
    nri_buf_fini(&request->before);
}

/* Nothing that is in there can be used again. */
static void forget(struct nri_rt_request *request)
{
    request->fresh = false;
    request->pod_known = false;
    request->stale = NRI_MEMBERS_ALL;
}

void nri_rt_request_reset(struct nri_rt_request *request, size_t keep)
{
    forget(request);
    nri_buf_reset(&request->bytes, keep);
    nri_buf_reset(&request->before, keep);
}

void nri_rt_request_change(struct nri_rt_request *request, nri_members changed)
{
    request->fresh = false;
    request->stale |= changed;
}

/* ---- what is besides the pod sandbox and the container ---- */

/* Room for any request's message. */
union rest {
    ProtobufCMessage base;
    MESSAGE(StateChangeEvent) state_change;
    MESSAGE(UpdatePodSandboxRequest) pod;
    MESSAGE(UpdateContainerRequest) container;
};

/* Packing only reads: the casts take `const` away for the structures' sake. */
#define PART(from) ((MESSAGE(LinuxResources) *)(uintptr_t)(from))

static void make_rest(union rest *rest, unsigned method, const struct nri_rt_subject *subject)
{
    if (method == NRI_METHOD_STATE_CHANGE) {
        nri__pkg__api__v1alpha1__state_change_event__init(&rest->state_change);
        rest->state_change.event = (MESSAGE(Event))subject->event;
    } else if (nri_methods[method].container == 0) {
        /* Of the requests with a pod sandbox this is the one with more, and else alike. */
        nri__pkg__api__v1alpha1__update_pod_sandbox_request__init(&rest->pod);
        rest->pod.overhead_linux_resources = PART(subject->overhead);
        rest->pod.linux_resources = PART(subject->resources);
    } else {
        /* As above, of those with a container. */
        nri__pkg__api__v1alpha1__update_container_request__init(&rest->container);
        rest->container.linux_resources = PART(subject->resources);
    }
}

/* ---- the sizes ---- */

struct plan {
    const ProtobufCMessage *pod, *container; /* NULL: none */
    union rest rest;
    unsigned pod_field; /* the container's is the next one */
    size_t pod_size, container_size, rest_size, whole;
    size_t sizes[NRI_RT_PIECES]; /* of the container's fields */
};

static bool is_stale(const struct nri_rt_request *request, const ProtobufCMessageDescriptor *type,
                     unsigned field)
{
    return field == type->n_fields ? request->stale == NRI_MEMBERS_ALL
                                   : (request->stale & NRI_MEMBER(type->fields[field].offset)) != 0;
}

static size_t begin_of(const struct nri_rt_request *request, unsigned field)
{
    return field == 0 ? request->container_at : request->ends[field - 1];
}

static int size_container(const struct nri_rt_request *request, struct plan *plan,
                          struct nri_error *error)
{
    const ProtobufCMessageDescriptor *type = plan->container->descriptor;
    int code = 0;

    for (unsigned i = 0; code == 0 && i <= type->n_fields; i++) {
        if (is_stale(request, type, i))
            code = nri_message_field_size(plan->container, i, &plan->sizes[i], error);
        else
            plan->sizes[i] = request->ends[i] - begin_of(request, i);
        plan->container_size += code == 0 ? plan->sizes[i] : 0;
    }
    return code;
}

static size_t whole_size(const ProtobufCMessage *message, size_t size)
{
    return message == NULL ? 0 : 1 + nri_varint_size(size) + size;
}

static int make_plan(const struct nri_rt_request *request, unsigned method,
                     const struct nri_rt_subject *subject, struct plan *plan,
                     struct nri_error *error)
{
    const bool of_container =
        method == NRI_METHOD_STATE_CHANGE || nri_methods[method].container != 0;
    int code = 0;

    plan->pod = (const void *)subject->pod;
    plan->container = of_container ? (const void *)subject->container : NULL;
    plan->pod_field = method == NRI_METHOD_STATE_CHANGE ? 2 : 1;
    plan->pod_size = plan->container_size = 0;
    make_rest(&plan->rest, method, subject);
    if (request->pod_known)
        plan->pod_size = request->pod_size;
    else if (plan->pod != NULL)
        code = nri_message_size(plan->pod, &plan->pod_size, error);
    if (code == 0 && plan->container != NULL)
        code = size_container(request, plan, error);
    if (code == 0)
        code = nri_message_size(&plan->rest.base, &plan->rest_size, error);
    plan->whole = whole_size(plan->pod, plan->pod_size) +
                  whole_size(plan->container, plan->container_size) + plan->rest_size;
    return code;
}

/* ---- the bytes ---- */

static uint8_t *put_head(uint8_t *at, unsigned field, size_t size)
{
    return nri_varint_write(nri_varint_write(at, (uint64_t)field << 3 | LENGTH), size);
}

static uint8_t *put_pod(const struct nri_rt_request *request, const struct plan *plan, uint8_t *at)
{
    if (request->pod_known && plan->pod_size > 0)
        memcpy(at, request->bytes.data + request->pod_at, plan->pod_size);
    else if (!request->pod_known)
        nri_message_encode(plan->pod, at);
    return at + plan->pod_size;
}

/* Fields that stay, one after the other, are copied at once. */
static uint8_t *put_container(const struct nri_rt_request *request, const struct plan *plan,
                              uint8_t *at)
{
    const ProtobufCMessageDescriptor *type = plan->container->descriptor;

    for (unsigned i = 0; i <= type->n_fields;) {
        const size_t from = begin_of(request, i);
        size_t kept = 0;
        for (; i <= type->n_fields && !is_stale(request, type, i); i++)
            kept += plan->sizes[i];
        if (kept > 0)
            memcpy(at, request->bytes.data + from, kept);
        at += kept;
        for (; i <= type->n_fields && is_stale(request, type, i); i++) {
            nri_message_field_encode(plan->container, i, at);
            at += plan->sizes[i];
        }
    }
    return at;
}

/* What is in the new bytes, and where. */
static void note(struct nri_rt_request *request, const struct plan *plan)
{
    const size_t rest_in_front = plan->pod_field > 1 ? plan->rest_size : 0;
    const size_t pod_end = rest_in_front + whole_size(plan->pod, plan->pod_size);

    request->pod_known = plan->pod != NULL;
    request->pod_at = pod_end - plan->pod_size;
    request->pod_size = plan->pod_size;
    request->stale = plan->container != NULL ? 0 : NRI_MEMBERS_ALL;
    if (plan->container == NULL)
        return;
    size_t at = pod_end + whole_size(plan->container, plan->container_size) - plan->container_size;
    request->container_at = at;
    for (unsigned i = 0; i <= plan->container->descriptor->n_fields; i++)
        request->ends[i] = at += plan->sizes[i];
}

static void put_all(const struct nri_rt_request *request, const struct plan *plan, uint8_t *at)
{
    /* By their numbers: the event of a StateChange comes first, resources come last. */
    const bool rest_in_front = plan->pod_field > 1;

    if (rest_in_front)
        nri_message_encode(&plan->rest.base, at);
    at += rest_in_front ? plan->rest_size : 0;
    if (plan->pod != NULL)
        at = put_pod(request, plan, put_head(at, plan->pod_field, plan->pod_size));
    if (plan->container != NULL)
        at = put_container(request, plan, put_head(at, plan->pod_field + 1, plan->container_size));
    if (!rest_in_front)
        nri_message_encode(&plan->rest.base, at);
}

/* ---- requests ---- */

static int no_room(const struct nri_rt_request *request, unsigned method, size_t size, int code,
                   struct nri_error *error)
{
    if (code == NRI_E_LIMIT)
        return nri_error_set(error, code,
                             "%s: request of %zu bytes exceeds the limit of %zu bytes, which is "
                             "max_send_bytes",
                             nri_methods[method].name, size, request->bytes.limit);
    return nri_error_set(error, code, "%s: request of %zu bytes: %s", nri_methods[method].name,
                         size, nri_strerror(code));
}

/* The bytes become those before. */
static void swap(struct nri_rt_request *request)
{
    const struct nri_buf bytes = request->bytes;

    request->bytes = request->before;
    request->before = bytes;
}

int nri_rt_request_make(struct nri_rt_request *request, unsigned method,
                        const struct nri_rt_subject *subject, struct nri_error *error)
{
    struct plan plan;
    uint8_t *room;

    if (request->fresh && request->method == method)
        return 0;
    int code = make_plan(request, method, subject, &plan, error);
    if (code != 0) {
        nri_error_prefix(error, "%s", nri_methods[method].name);
        return code;
    }
    nri_buf_reset(&request->before, SIZE_MAX);
    code = nri_buf_reserve(&request->before, plan.whole, &room);
    if (code != 0)
        return no_room(request, method, plan.whole, code, error);
    put_all(request, &plan, room);
    nri_buf_commit(&request->before, plan.whole);
    swap(request);
    note(request, &plan);
    request->method = method;
    request->fresh = true;
    return 0;
}

int nri_rt_request_take(struct nri_rt_request *request, unsigned method,
                        const ProtobufCMessage *message, struct nri_error *error)
{
    uint8_t *room;
    size_t size;

    forget(request);
    nri_buf_reset(&request->bytes, SIZE_MAX);
    int code = nri_message_size(message, &size, error);
    if (code != 0)
        return code;
    code = nri_buf_reserve(&request->bytes, size, &room);
    if (code != 0)
        return no_room(request, method, size, code, error);
    nri_message_encode(message, room);
    nri_buf_commit(&request->bytes, size);
    request->method = method;
    request->fresh = true;
    return 0;
}
