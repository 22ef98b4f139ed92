/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder.h"

#include <stdio.h>

int recorder_handler(nri_request *request, void *user)
{
    struct recorder *recorder = user;
    const enum nri_event event = nri_request_event(request);
    if (recorder->count < RECORDER_ROOM) {
        struct recorder_entry *entry = &recorder->entries[recorder->count];
        entry->event = event;
        (void)snprintf(entry->pod, sizeof entry->pod, "%s", nri_pod_id(nri_request_pod(request)));
        (void)snprintf(entry->container, sizeof entry->container, "%s",
                       nri_container_id(nri_request_container(request)));
    }
    recorder->count++;
    if (event == NRI_EVENT_DISCONNECTED) {
        recorder->reason = nri_request_reason(request);
        (void)snprintf(recorder->reason_text, sizeof recorder->reason_text, "%s",
                       nri_request_reason_text(request));
    }
    if (event == NRI_EVENT_CONNECTED || event == NRI_EVENT_DISCONNECTED)
        return 0;
    const int result = recorder->act != NULL ? recorder->act(recorder, request) : recorder->result;
    if (result == NRI_PENDING && recorder->held_count < RECORDER_ROOM)
        recorder->held[recorder->held_count++] = request;
    return result;
}

void recorder_own(struct nri_plugin_ops *ops)
{
    ops->on_connected = recorder_handler;
    ops->on_disconnected = recorder_handler;
}

void recorder_all(struct nri_plugin_ops *ops)
{
    recorder_own(ops);
    ops->on_configure = recorder_handler;
    ops->on_synchronize = recorder_handler;
    ops->on_shutdown = recorder_handler;
    ops->on_run_pod_sandbox = recorder_handler;
    ops->on_update_pod_sandbox = recorder_handler;
    ops->on_post_update_pod_sandbox = recorder_handler;
    ops->on_stop_pod_sandbox = recorder_handler;
    ops->on_remove_pod_sandbox = recorder_handler;
    ops->on_create_container = recorder_handler;
    ops->on_post_create_container = recorder_handler;
    ops->on_start_container = recorder_handler;
    ops->on_post_start_container = recorder_handler;
    ops->on_update_container = recorder_handler;
    ops->on_post_update_container = recorder_handler;
    ops->on_stop_container = recorder_handler;
    ops->on_remove_container = recorder_handler;
    ops->on_validate_adjustment = recorder_handler;
}

size_t recorder_place(const struct recorder *recorder, enum nri_event event)
{
    for (size_t i = 0; i < recorder->count && i < RECORDER_ROOM; i++) {
        if (recorder->entries[i].event == event)
            return i;
    }
    return SIZE_MAX;
}

size_t recorder_seen(const struct recorder *recorder, enum nri_event event)
{
    size_t seen = 0;
    for (size_t i = 0; i < recorder->count && i < RECORDER_ROOM; i++)
        seen += recorder->entries[i].event == event;
    return seen;
}
