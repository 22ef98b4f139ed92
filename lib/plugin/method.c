/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/method.h"

#include <string.h>

#define MESSAGE(type)           Nri__Pkg__Api__V1alpha1__##type
#define HANDLER(member)         .handler = offsetof(struct nri_plugin_ops, member)
#define POD(type)               .pod = offsetof(MESSAGE(type), pod)
#define POD_AND_CONTAINER(type) POD(type), .container = offsetof(MESSAGE(type), container)

/* In the order of the service's descriptor: the index of a call is the index here. */
const struct nri_method nri_methods[NRI_METHOD_COUNT] = {
    {.name = "Configure",
     .event = NRI_EVENT_CONFIGURE,
     .reply = NRI_REPLY_CONFIGURE,
     HANDLER(on_configure)},
    {.name = "Synchronize",
     .event = NRI_EVENT_SYNCHRONIZE,
     .reply = NRI_REPLY_SYNCHRONIZE,
     HANDLER(on_synchronize)},
    {.name = "Shutdown", .event = NRI_EVENT_SHUTDOWN, HANDLER(on_shutdown)},
    {.name = "RunPodSandbox",
     .event = NRI_EVENT_RUN_POD_SANDBOX,
     .state_change = true,
     HANDLER(on_run_pod_sandbox),
     POD(RunPodSandboxRequest)},
    {.name = "UpdatePodSandbox",
     .event = NRI_EVENT_UPDATE_POD_SANDBOX,
     HANDLER(on_update_pod_sandbox),
     POD(UpdatePodSandboxRequest),
     .resources = offsetof(MESSAGE(UpdatePodSandboxRequest), linux_resources),
     .overhead = offsetof(MESSAGE(UpdatePodSandboxRequest), overhead_linux_resources)},
    {.name = "PostUpdatePodSandbox",
     .event = NRI_EVENT_POST_UPDATE_POD_SANDBOX,
     .state_change = true,
     HANDLER(on_post_update_pod_sandbox),
     POD(PostUpdatePodSandboxRequest)},
    {.name = "StopPodSandbox",
     .event = NRI_EVENT_STOP_POD_SANDBOX,
     .state_change = true,
     HANDLER(on_stop_pod_sandbox),
     POD(StopPodSandboxRequest)},
    {.name = "RemovePodSandbox",
     .event = NRI_EVENT_REMOVE_POD_SANDBOX,
     .state_change = true,
     HANDLER(on_remove_pod_sandbox),
     POD(RemovePodSandboxRequest)},
    {.name = "CreateContainer",
     .event = NRI_EVENT_CREATE_CONTAINER,
     .reply = NRI_REPLY_CREATE,
     HANDLER(on_create_container),
     POD_AND_CONTAINER(CreateContainerRequest)},
    {.name = "PostCreateContainer",
     .event = NRI_EVENT_POST_CREATE_CONTAINER,
     .state_change = true,
     HANDLER(on_post_create_container),
     POD_AND_CONTAINER(PostCreateContainerRequest)},
    {.name = "StartContainer",
     .event = NRI_EVENT_START_CONTAINER,
     .state_change = true,
     HANDLER(on_start_container),
     POD_AND_CONTAINER(StartContainerRequest)},
    {.name = "PostStartContainer",
     .event = NRI_EVENT_POST_START_CONTAINER,
     .state_change = true,
     HANDLER(on_post_start_container),
     POD_AND_CONTAINER(PostStartContainerRequest)},
    {.name = "UpdateContainer",
     .event = NRI_EVENT_UPDATE_CONTAINER,
     .reply = NRI_REPLY_UPDATE,
     HANDLER(on_update_container),
     POD_AND_CONTAINER(UpdateContainerRequest),
     .resources = offsetof(MESSAGE(UpdateContainerRequest), linux_resources)},
    {.name = "PostUpdateContainer",
     .event = NRI_EVENT_POST_UPDATE_CONTAINER,
     .state_change = true,
     HANDLER(on_post_update_container),
     POD_AND_CONTAINER(PostUpdateContainerRequest)},
    {.name = "StopContainer",
     .event = NRI_EVENT_STOP_CONTAINER,
     .reply = NRI_REPLY_STOP,
     HANDLER(on_stop_container),
     POD_AND_CONTAINER(StopContainerRequest)},
    {.name = "RemoveContainer",
     .event = NRI_EVENT_REMOVE_CONTAINER,
     .state_change = true,
     HANDLER(on_remove_container),
     POD_AND_CONTAINER(RemoveContainerRequest)},
    {.name = "StateChange", .event = NRI_EVENT_UNKNOWN, POD_AND_CONTAINER(StateChangeEvent)},
    {.name = "ValidateContainerAdjustment",
     .event = NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT,
     .reply = NRI_REPLY_VALIDATE,
     HANDLER(on_validate_adjustment),
     POD_AND_CONTAINER(ValidateContainerAdjustmentRequest)},
};

const struct nri_method *nri_method_of_state_change(int event)
{
    for (size_t i = 0; i < NRI_METHOD_COUNT; i++) {
        if (nri_methods[i].state_change && (int)nri_methods[i].event == event)
            return &nri_methods[i];
    }
    return NULL;
}

nri_handler nri_method_handler(const struct nri_method *method, const struct nri_plugin_ops *ops)
{
    nri_handler handler = NULL;

    if (method->handler != 0)
        memcpy(&handler, (const char *)ops + method->handler, sizeof handler);
    return handler;
}

uint32_t nri_method_derive_events(const struct nri_plugin_ops *ops)
{
    uint32_t events = 0;

    for (size_t i = 0; i < NRI_METHOD_COUNT; i++) {
        if (nri_method_handler(&nri_methods[i], ops) != NULL)
            events |= nri_event_bit(nri_methods[i].event);
    }
    return events;
}

const void *nri_method_part(const ProtobufCMessage *message, size_t offset)
{
    const void *part = NULL;

    if (offset != 0)
        memcpy(&part, (const char *)message + offset, sizeof part);
    return part;
}
