/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a request. Nothing here fails or allocates, so it may go on while and after the reply is
 * sent.
 */
#include <string.h>

#include "plugin/request.h"
#include "wire/message.h"

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type

/* nri_text_length() knows this one. */
static const char *empty(void)
{
    return protobuf_c_empty_string;
}

/* The key of a map may hold a NUL byte: then it is not what the caller asks for. */
static bool text_is(const char *text, const char *wanted)
{
    const size_t length = wanted == NULL ? 0 : strlen(wanted);

    return wanted != NULL && nri_message_text_length(text) == length &&
           memcmp(text, wanted, length) == 0;
}

enum nri_event nri_request_event(const nri_request *request)
{
    return request == NULL ? NRI_EVENT_UNKNOWN : request->event;
}

nri_plugin *nri_request_plugin(const nri_request *request)
{
    return request == NULL ? NULL : nri_shared_plugin(request->shared);
}

const nri_pod *nri_request_pod(const nri_request *request)
{
    return request == NULL ? nri_pod_view(NULL) : request->pod;
}

const nri_container *nri_request_container(const nri_request *request)
{
    return request == NULL ? nri_container_view(NULL) : request->container;
}

const nri_resources *nri_request_resources(const nri_request *request)
{
    return request == NULL ? nri_resources_view(NULL) : request->resources;
}

const nri_resources *nri_request_overhead(const nri_request *request)
{
    return request == NULL ? nri_resources_view(NULL) : request->overhead;
}

nri_adjustment *nri_request_adjustment(nri_request *request)
{
    return request == NULL ? NULL : request->adjustment;
}

nri_updates *nri_request_updates(nri_request *request)
{
    return request == NULL ? NULL : request->updates;
}

/* ---- Synchronize ---- */

static size_t pods_of(const MESSAGE(SynchronizeRequest) * message)
{
    return message->n_pods;
}

static size_t containers_of(const MESSAGE(SynchronizeRequest) * message)
{
    return message->n_containers;
}

/* The part that holds an item, which exists; the cursor starts where the last look-up was, if that
 * is not past it. */
static const struct nri_sync_part *seek(const nri_request *request, struct nri_sync_cursor *cursor,
                                        size_t index,
                                        size_t (*count)(const MESSAGE(SynchronizeRequest) *))
{
    if (cursor->part == NULL || index < cursor->first)
        *cursor = (struct nri_sync_cursor){.part = request->parts, .first = 0};
    while (index - cursor->first >= count(cursor->part->message)) {
        cursor->first += count(cursor->part->message);
        cursor->part = cursor->part->next;
    }
    return cursor->part;
}

size_t nri_request_pod_count(const nri_request *request)
{
    return request == NULL ? 0 : request->pods;
}

const nri_pod *nri_request_pod_at(const nri_request *request, size_t index)
{
    if (index >= nri_request_pod_count(request))
        return nri_pod_view(NULL);
    struct nri_sync_cursor *cursor = &((nri_request *)request)->pod_cursor;
    const struct nri_sync_part *part = seek(request, cursor, index, pods_of);
    return nri_pod_view(part->message->pods[index - cursor->first]);
}

size_t nri_request_container_count(const nri_request *request)
{
    return request == NULL ? 0 : request->containers;
}

const nri_container *nri_request_container_at(const nri_request *request, size_t index)
{
    if (index >= nri_request_container_count(request))
        return nri_container_view(NULL);
    struct nri_sync_cursor *cursor = &((nri_request *)request)->container_cursor;
    const struct nri_sync_part *part = seek(request, cursor, index, containers_of);
    return nri_container_view(part->message->containers[index - cursor->first]);
}

bool nri_request_more(const nri_request *request)
{
    return request != NULL && request->more;
}

/* ---- Configure, metadata ---- */

const char *nri_request_config(const nri_request *request)
{
    if (nri_request_event(request) != NRI_EVENT_CONFIGURE)
        return empty();
    return ((const MESSAGE(ConfigureRequest) *)request->message)->config;
}

size_t nri_request_metadata_count(const nri_request *request)
{
    return request == NULL || request->call == NULL
               ? 0
               : nri_rpc_call_get_metadata(request->call)->count;
}

bool nri_request_metadata_at(const nri_request *request, size_t index, const char **key,
                             const char **value)
{
    const bool found = index < nri_request_metadata_count(request);
    const struct nri_rpc_metadata *metadata =
        found ? nri_rpc_call_get_metadata(request->call) : NULL;

    if (key != NULL)
        *key = found ? metadata->keys[index] : empty();
    if (value != NULL)
        *value = found ? metadata->values[index] : empty();
    return found;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Of ASCII letters, whatever the locale. */
static bool equal_without_case(const char *text, const char *wanted)
{
    const size_t length = strlen(wanted);

    if (nri_message_text_length(text) != length)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (lower(text[i]) != lower(wanted[i]))
            return false;
    }
    return true;
}

bool nri_request_metadata(const nri_request *request, const char *key, const char **value)
{
    const size_t count = key == NULL ? 0 : nri_request_metadata_count(request);

    for (size_t i = 0; i < count; i++) {
        const char *present;
        (void)nri_request_metadata_at(request, i, &present, value);
        if (equal_without_case(present, key))
            return true;
    }
    if (value != NULL)
        *value = empty();
    return false;
}

/* ---- ValidateContainerAdjustment ---- */

static const MESSAGE(ValidateContainerAdjustmentRequest) * validated(const nri_request *request)
{
    if (nri_request_event(request) != NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT)
        return NULL;
    return (const MESSAGE(ValidateContainerAdjustmentRequest) *)request->message;
}

size_t nri_request_plugin_count(const nri_request *request)
{
    const MESSAGE(ValidateContainerAdjustmentRequest) *message = validated(request);

    return message == NULL ? 0 : message->n_plugins;
}

bool nri_request_plugin_at(const nri_request *request, size_t index, const char **name,
                           const char **plugin_index)
{
    const bool found = index < nri_request_plugin_count(request);
    const MESSAGE(PluginInstance) *plugin = found ? validated(request)->plugins[index] : NULL;

    if (name != NULL)
        *name = found ? plugin->name : empty();
    if (plugin_index != NULL)
        *plugin_index = found ? plugin->index : empty();
    return found;
}

static const MESSAGE(FieldOwners) * owners_of(const nri_request *request, const char *container_id)
{
    const MESSAGE(ValidateContainerAdjustmentRequest) *message = validated(request);
    const MESSAGE(OwningPlugins) *owners = message == NULL ? NULL : message->owners;

    for (size_t i = 0; owners != NULL && i < owners->n_owners; i++) {
        if (text_is(owners->owners[i]->key, container_id))
            return owners->owners[i]->value;
    }
    return NULL;
}

bool nri_request_owner(const nri_request *request, const char *container_id, int field,
                       const char **owner)
{
    const MESSAGE(FieldOwners) *owners = owners_of(request, container_id);
    const char *found = NULL;

    for (size_t i = 0; owners != NULL && i < owners->n_simple; i++) {
        if (owners->simple[i]->key == field)
            found = owners->simple[i]->value;
    }
    if (owner != NULL)
        *owner = found == NULL ? empty() : found;
    return found != NULL;
}

static const MESSAGE(CompoundFieldOwners) *
    key_owners(const MESSAGE(FieldOwners) * owners, int field)
{
    for (size_t i = 0; owners != NULL && i < owners->n_compound; i++) {
        if (owners->compound[i]->key == field)
            return owners->compound[i]->value;
    }
    return NULL;
}

bool nri_request_key_owner(const nri_request *request, const char *container_id, int field,
                           const char *key, const char **owner)
{
    const MESSAGE(CompoundFieldOwners) *keys = key_owners(owners_of(request, container_id), field);
    const char *found = NULL;

    for (size_t i = 0; keys != NULL && i < keys->n_owners; i++) {
        if (text_is(keys->owners[i]->key, key))
            found = keys->owners[i]->value;
    }
    if (owner != NULL)
        *owner = found == NULL ? empty() : found;
    return found != NULL;
}

/* ---- time and end ---- */

uint64_t nri_request_time_left(const nri_request *request)
{
    const uint64_t now = request == NULL ? 0 : nri_shared_now(request->shared);

    return now == 0 || now >= request->deadline ? 0 : request->deadline - now;
}

uint64_t nri_request_deadline(const nri_request *request)
{
    return request == NULL ? 0 : request->deadline;
}

bool nri_request_deadline_is_assumed(const nri_request *request)
{
    return request != NULL && request->deadline_assumed;
}

int nri_request_reason(const nri_request *request)
{
    return request == NULL ? NRI_OK : request->reason;
}

uint64_t nri_request_next_attempt_ms(const nri_request *request)
{
    return nri_request_event(request) == NRI_EVENT_DISCONNECTED ? request->next_attempt
                                                                : NRI_NO_ATTEMPT;
}

const char *nri_request_reason_text(const nri_request *request)
{
    return nri_request_event(request) == NRI_EVENT_DISCONNECTED ? request->shared->reason.text
                                                                : empty();
}
