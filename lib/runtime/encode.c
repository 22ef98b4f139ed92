/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as requests: by the methods of their own that NRI 0.12 has, or as StateChange.
 */
#include "plugin/method.h"
#include "runtime/internal.h"
#include "wire/message.h"

unsigned nri_rt_method(enum nri_event event, bool state_change)
{
    if (state_change)
        return NRI_METHOD_STATE_CHANGE;
    for (unsigned i = 0; i < NRI_METHOD_COUNT; i++) {
        if (nri_methods[i].event == event)
            return i;
    }
    return NRI_METHOD_COUNT;
}

bool nri_rt_has_state_change(enum nri_event event)
{
    return nri_method_of_state_change((int)event) != NULL;
}

bool nri_rt_is_notification(enum nri_event event)
{
    return event != NRI_EVENT_CREATE_CONTAINER && event != NRI_EVENT_UPDATE_CONTAINER &&
           event != NRI_EVENT_STOP_CONTAINER && event != NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT;
}

int nri_rt_encode_message(struct nri_buf *buf, const ProtobufCMessage *message,
                          struct nri_error *error)
{
    uint8_t *room;
    size_t size;

    nri_buf_reset(buf, SIZE_MAX);
    int code = nri_message_size(message, &size, error);
    if (code == 0)
        code = nri_buf_reserve(buf, size, &room);
    if (code == NRI_E_NOMEM || code == NRI_E_LIMIT)
        return nri_error_set(error, code, "%s of %zu bytes: %s", message->descriptor->short_name,
                             size, nri_strerror(code));
    if (code != 0)
        return code;
    nri_message_encode(message, room);
    nri_buf_commit(buf, size);
    return 0;
}

/* Packing only reads: the casts take `const` away for the structures' sake. */
#define PART(type, from) ((NRI_RT_MESSAGE(type) *)(uintptr_t)(from))

static int encode_state_change(struct nri_buf *buf, const struct nri_rt_subject *subject,
                               struct nri_error *error)
{
    NRI_RT_MESSAGE(StateChangeEvent) message;

    nri__pkg__api__v1alpha1__state_change_event__init(&message);
    message.event = (NRI_RT_MESSAGE(Event))subject->event;
    message.pod = PART(PodSandbox, subject->pod);
    message.container = PART(Container, subject->container);
    return nri_rt_encode_message(buf, &message.base, error);
}

static int encode_pod(struct nri_buf *buf, const struct nri_rt_subject *subject,
                      struct nri_error *error)
{
    NRI_RT_MESSAGE(UpdatePodSandboxRequest) message;

    /* Of the requests with a pod sandbox this is the one with more, and else alike. */
    nri__pkg__api__v1alpha1__update_pod_sandbox_request__init(&message);
    message.pod = PART(PodSandbox, subject->pod);
    message.overhead_linux_resources = PART(LinuxResources, subject->overhead);
    message.linux_resources = PART(LinuxResources, subject->resources);
    return nri_rt_encode_message(buf, &message.base, error);
}

static int encode_container(struct nri_buf *buf, const struct nri_rt_subject *subject,
                            struct nri_error *error)
{
    NRI_RT_MESSAGE(UpdateContainerRequest) message;

    /* As above, of those with a container. */
    nri__pkg__api__v1alpha1__update_container_request__init(&message);
    message.pod = PART(PodSandbox, subject->pod);
    message.container = PART(Container, subject->container);
    message.linux_resources = PART(LinuxResources, subject->resources);
    return nri_rt_encode_message(buf, &message.base, error);
}

int nri_rt_encode(struct nri_buf *buf, unsigned method, const struct nri_rt_subject *subject,
                  struct nri_error *error)
{
    if (method == NRI_METHOD_STATE_CHANGE)
        return encode_state_change(buf, subject, error);
    if (nri_methods[method].container == 0)
        return encode_pod(buf, subject, error);
    return encode_container(buf, subject, error);
}
