/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readers: any bytes that decode as what a plugin is sent are read whole, by every public reader of
 * every object in them. What the readers gave, made into messages again, is what was sent. The
 * first byte chooses the request.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "model_read.h"
#include "plugin/request.h"
#include "wire/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}
#define CHECK(condition) check((condition), #condition)

static const uint64_t seed[2] = {7, 1729};

static uint8_t *encode(const ProtobufCMessage *message, size_t *size)
{
    struct nri_error error;
    CHECK(nri_message_size(message, size, &error) == 0);
    uint8_t *bytes = malloc(*size + 1);
    CHECK(bytes != NULL);
    nri_message_encode(message, bytes);
    return bytes;
}

static void check_same(const ProtobufCMessage *a, const ProtobufCMessage *b)
{
    size_t a_size, b_size;
    uint8_t *a_bytes = encode(a, &a_size);
    uint8_t *b_bytes = encode(b, &b_size);
    CHECK(a_size == b_size && memcmp(a_bytes, b_bytes, a_size) == 0);
    free(a_bytes);
    free(b_bytes);
}

/* `read` is what came of `sent`; both may be NULL. Texts with a NUL are read, and not compared. */
static void compare(struct model_reading *reading, ProtobufCMessage *sent, ProtobufCMessage *read)
{
    check(reading->broken == NULL, reading->broken);
    if (sent == NULL || model_read_has_nul(sent))
        return;
    CHECK(read != NULL);
    model_read_normalise(sent);
    model_read_normalise(read);
    check_same(sent, read);
}

#define BASE(message) ((message) != NULL ? &(message)->base : NULL)

static void read_pod(struct model_reading *reading, MODEL(PodSandbox) * pod)
{
    compare(reading, BASE(pod), &model_read_pod(reading, nri_pod_view(pod))->base);
}

static void read_container(struct model_reading *reading, MODEL(Container) * container)
{
    compare(reading, BASE(container),
            &model_read_container(reading, nri_container_view(container))->base);
}

static void read_resources(struct model_reading *reading, MODEL(LinuxResources) * resources)
{
    MODEL(LinuxResources) *read = model_read_resources(reading, nri_resources_view(resources));
    compare(reading, BASE(resources), BASE(read));
}

static void read_adjustment(struct model_reading *reading, MODEL(ContainerAdjustment) * adjust)
{
    nri_adjustment *view =
        nri_adjustment_view(reading->arena, adjust, NRI_E_EVENT, "only to be read");
    CHECK(view != NULL);
    CHECK(nri_adjustment_add_env(view, "A", "b") == NRI_E_EVENT);
    compare(reading, BASE(adjust), &model_read_adjustment(reading, view)->base);
}

static void read_updates(struct model_reading *reading, MODEL(ContainerUpdate) * *list,
                         size_t count)
{
    MODEL(UpdateContainersRequest) sent = NRI__PKG__API__V1ALPHA1__UPDATE_CONTAINERS_REQUEST__INIT;
    nri_updates *view = nri_updates_view(reading->arena, list, count, NRI_E_EVENT, "only read");
    CHECK(view != NULL);
    sent.update = list;
    sent.n_update = count;
    compare(reading, &sent.base, &model_read_updates(reading, view)->base);
}

/* ---- ValidateContainerAdjustment ---- */

/* Owners can only be looked up: each one is found. */
static void read_owners(const nri_request *request, const char *container_id,
                        const MODEL(FieldOwners) * owners)
{
    const char *owner;
    for (size_t i = 0; i < owners->n_simple; i++) {
        CHECK(nri_request_owner(request, container_id, owners->simple[i]->key, &owner));
        CHECK(owner == owners->simple[i]->value && strlen(owner) <= nri_text_length(owner));
    }
    for (size_t i = 0; i < owners->n_compound; i++) {
        const MODEL(CompoundFieldOwners) *keys = owners->compound[i]->value;
        for (size_t k = 0; k < keys->n_owners; k++) {
            const char *key = keys->owners[k]->key;
            CHECK(!model_read_is_plain(key) ||
                  (nri_request_key_owner(request, container_id, owners->compound[i]->key, key,
                                         &owner) &&
                   owner == keys->owners[k]->value));
        }
    }
}

static void read_validate(struct model_reading *reading,
                          MODEL(ValidateContainerAdjustmentRequest) * message)
{
    nri_request request = {.event = NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT,
                           .message = &message->base};
    const char *name, *index;
    size_t i;
    for (i = 0; nri_request_plugin_at(&request, i, &name, &index); i++)
        CHECK(strlen(name) <= nri_text_length(name) && strlen(index) <= nri_text_length(index));
    CHECK(i == message->n_plugins && i == nri_request_plugin_count(&request));
    for (i = 0; message->owners != NULL && i < message->owners->n_owners; i++) {
        const char *id = message->owners->owners[i]->key;
        if (model_read_is_plain(id))
            read_owners(&request, id, message->owners->owners[i]->value);
    }
    read_pod(reading, message->pod);
    read_container(reading, message->container);
    read_adjustment(reading, message->adjust);
    read_updates(reading, message->update, message->n_update);
}

/* ---- requests ---- */

static void read_message(struct model_reading *reading, ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (type == &nri__pkg__api__v1alpha1__create_container_request__descriptor) {
        MODEL(CreateContainerRequest) *request = (MODEL(CreateContainerRequest) *)message;
        read_pod(reading, request->pod);
        read_container(reading, request->container);
    } else if (type == &nri__pkg__api__v1alpha1__update_container_request__descriptor) {
        MODEL(UpdateContainerRequest) *request = (MODEL(UpdateContainerRequest) *)message;
        read_pod(reading, request->pod);
        read_container(reading, request->container);
        read_resources(reading, request->linux_resources);
    } else if (type == &nri__pkg__api__v1alpha1__update_pod_sandbox_request__descriptor) {
        MODEL(UpdatePodSandboxRequest) *request = (MODEL(UpdatePodSandboxRequest) *)message;
        read_pod(reading, request->pod);
        read_resources(reading, request->overhead_linux_resources);
        read_resources(reading, request->linux_resources);
    } else if (type == &nri__pkg__api__v1alpha1__synchronize_request__descriptor) {
        MODEL(SynchronizeRequest) *request = (MODEL(SynchronizeRequest) *)message;
        for (size_t i = 0; i < request->n_pods; i++)
            read_pod(reading, request->pods[i]);
        for (size_t i = 0; i < request->n_containers; i++)
            read_container(reading, request->containers[i]);
    } else {
        read_validate(reading, (MODEL(ValidateContainerAdjustmentRequest) *)message);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const ProtobufCMessageDescriptor *const types[] = {
        &nri__pkg__api__v1alpha1__create_container_request__descriptor,
        &nri__pkg__api__v1alpha1__synchronize_request__descriptor,
        &nri__pkg__api__v1alpha1__validate_container_adjustment_request__descriptor,
        &nri__pkg__api__v1alpha1__update_container_request__descriptor,
        &nri__pkg__api__v1alpha1__update_pod_sandbox_request__descriptor,
    };
    struct nri_alloc alloc;
    struct nri_arena arena;
    struct nri_error error = {.code = 0};
    struct model_reading reading = {.arena = &arena};
    ProtobufCMessage *message = NULL, *again = NULL;
    size_t length;
    if (size == 0)
        return 0;
    const ProtobufCMessageDescriptor *type = types[data[0] % (sizeof types / sizeof types[0])];
    CHECK(nri_alloc_resolve(&alloc, NULL) == 0);
    nri_arena_init(&arena, &alloc, 0, 65536 + 8 * size);
    if (nri_message_decode(type, data + 1, size - 1, &arena, seed, &message, &error) == 0) {
        arena.limit = SIZE_MAX;
        uint8_t *bytes = encode(message, &length);
        CHECK(nri_message_decode(type, bytes, length, &arena, seed, &again, &error) == 0);
        check_same(message, again);
        read_message(&reading, again);
        free(bytes);
    }
    nri_arena_fini(&arena);
    return 0;
}
