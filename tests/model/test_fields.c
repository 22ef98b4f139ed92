/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every field of every message of the model, generated from the descriptors: set through its
 * builder and, separately, through JSON; packed, byte for byte what the sample packs to; unpacked,
 * and read back through its reader. Then all fields together, and every other message in JSON.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"
#include "model_read.h"
#include "replay.h"
#include "sample.h"
#include "schema.h"
#include "wire/message.h"

struct bytes {
    uint8_t *data;
    size_t size;
};

struct trial {
    struct nri_arena arena;
    const char *name; /* of what is tried, for errors */
    ProtobufCMessage *sample;
    struct bytes wire; /* of the sample */
    const char *json;
};

static const uint64_t seed[2] = {11, 13};

static struct bytes pack(struct trial *trial, const ProtobufCMessage *message)
{
    struct bytes bytes = {NULL, 0};
    struct nri_error error;
    if (message == NULL)
        return bytes;
    if (nri_message_size(message, &bytes.size, &error) != 0)
        fail_msg("%s: %s", trial->name, error.text);
    bytes.data = nri_arena_alloc(&trial->arena, bytes.size + 1);
    assert_non_null(bytes.data);
    nri_message_encode(message, bytes.data);
    return bytes;
}

static void check_bytes(struct trial *trial, const char *what, const void *data, size_t size)
{
    if (size != trial->wire.size || memcmp(data, trial->wire.data, size) != 0)
        fail_msg("%s: %s: %zu bytes that are not the %zu of %s", trial->name, what, size,
                 trial->wire.size, trial->json);
}

static void check_message(struct trial *trial, const char *what, const ProtobufCMessage *message)
{
    const struct bytes bytes = pack(trial, message);
    check_bytes(trial, what, bytes.data, bytes.size);
}

static void check_code(struct trial *trial, const char *what, int code, const char *text)
{
    if (code != 0)
        fail_msg("%s: %s of %s: %d %s", trial->name, what, trial->json, code, text);
}

/* The result of a JSON function: freed here. */
static void check_json(struct trial *trial, int code, char *text)
{
    check_code(trial, "writing JSON", code, "");
    if (strcmp(text, trial->json) != 0)
        fail_msg("%s: %s, and not %s", trial->name, text, trial->json);
    nri_json_free(text);
}

static void check_read_json(struct trial *trial, int code, nri_error *error)
{
    check_code(trial, "reading JSON", code, error != NULL ? nri_error_get_text(error) : "");
}

/* ---- one kind of object each ---- */

static void try_pod(struct trial *trial, bool direct)
{
    nri_pod *pod;
    nri_error *error = NULL;
    char *text = NULL;
    (void)direct;
    assert_int_equal(nri_pod_new(&pod, NULL), 0);
    replay_pod(pod, (const MESSAGE(PodSandbox) *)trial->sample);
    check_code(trial, "building", nri_pod_error(pod), nri_pod_error_text(pod));
    check_message(trial, "building", (const ProtobufCMessage *)(const void *)pod);
    nri_pod_free(pod);
    check_read_json(trial, nri_pod_from_json(trial->json, strlen(trial->json), NULL, &pod, &error),
                    error);
    check_message(trial, "JSON", (const ProtobufCMessage *)(const void *)pod);
    const int code = nri_pod_to_json(pod, NULL, &text, NULL, NULL);
    check_json(trial, code, text);
    nri_pod_free(pod);
}

static void try_container(struct trial *trial, bool direct)
{
    nri_container *container;
    nri_error *error = NULL;
    char *text = NULL;
    (void)direct;
    assert_int_equal(nri_container_new(&container, NULL), 0);
    replay_container(container, (const MESSAGE(Container) *)trial->sample);
    check_code(trial, "building", nri_container_error(container),
               nri_container_error_text(container));
    check_message(trial, "building", (const ProtobufCMessage *)(const void *)container);
    nri_container_free(container);
    check_read_json(
        trial, nri_container_from_json(trial->json, strlen(trial->json), NULL, &container, &error),
        error);
    check_message(trial, "JSON", (const ProtobufCMessage *)(const void *)container);
    const int code = nri_container_to_json(container, NULL, &text, NULL, NULL);
    check_json(trial, code, text);
    nri_container_free(container);
}

static void try_resources(struct trial *trial, bool direct)
{
    nri_pod *pod;
    nri_error *error = NULL;
    char *text = NULL;
    (void)direct;
    for (int with_json = 0; with_json < 2; with_json++) {
        assert_int_equal(nri_pod_new(&pod, NULL), 0);
        nri_resources *resources = nri_pod_edit_resources(pod);
        if (with_json)
            check_read_json(
                trial,
                nri_resources_merge_json(resources, trial->json, strlen(trial->json), NULL, &error),
                error);
        else
            replay_resources(resources, (const MESSAGE(LinuxResources) *)trial->sample);
        check_code(trial, "building", nri_pod_error(pod), nri_pod_error_text(pod));
        check_message(trial, "building", (const ProtobufCMessage *)(const void *)resources);
        const int code = nri_resources_to_json(resources, NULL, &text, NULL, NULL);
        check_json(trial, code, text);
        nri_pod_free(pod);
    }
}

static void check_adjustment(struct trial *trial, nri_adjustment *adjustment)
{
    char *text = NULL;
    const MESSAGE(ContainerAdjustment) *message = nri_adjustment_message(adjustment);
    check_code(trial, "building", nri_adjustment_error(adjustment),
               nri_adjustment_error_text(adjustment));
    check_code(trial, "checking", nri_adjustment_check(adjustment),
               nri_adjustment_error_text(adjustment));
    check_message(trial, "building", message != NULL ? &message->base : NULL);
    const int code = nri_adjustment_to_json(adjustment, NULL, &text, NULL, NULL);
    check_json(trial, code, text);
    nri_adjustment_free(adjustment);
}

static void try_adjustment(struct trial *trial, bool direct)
{
    nri_adjustment *adjustment;
    nri_error *error = NULL;
    assert_int_equal(nri_adjustment_new(&adjustment, NULL), 0);
    replay_adjustment(adjustment, (const MESSAGE(ContainerAdjustment) *)trial->sample, direct);
    check_adjustment(trial, adjustment);
    assert_int_equal(nri_adjustment_new(&adjustment, NULL), 0);
    check_read_json(
        trial,
        nri_adjustment_merge_json(adjustment, trial->json, strlen(trial->json), NULL, &error),
        error);
    check_adjustment(trial, adjustment);
}

static void check_updates(struct trial *trial, nri_updates *updates)
{
    MESSAGE(UpdateContainersRequest)
    request = NRI__PKG__API__V1ALPHA1__UPDATE_CONTAINERS_REQUEST__INIT;
    char *text = NULL;
    check_code(trial, "building", nri_updates_error(updates), nri_updates_error_text(updates));
    request.n_update = nri_updates_messages(updates, &request.update);
    request.n_evict = nri_updates_evictions(updates, &request.evict);
    check_message(trial, "building", &request.base);
    const int code = nri_updates_to_json(updates, NULL, &text, NULL, NULL);
    check_json(trial, code, text);
    nri_updates_free(updates);
}

static void try_updates(struct trial *trial, bool direct)
{
    nri_updates *updates;
    nri_error *error = NULL;
    assert_int_equal(nri_updates_new(&updates, NULL), 0);
    replay_updates(updates, (const MESSAGE(UpdateContainersRequest) *)trial->sample, direct);
    check_updates(trial, updates);
    assert_int_equal(nri_updates_new(&updates, NULL), 0);
    check_read_json(trial,
                    nri_updates_merge_json(updates, trial->json, strlen(trial->json), NULL, &error),
                    error);
    check_updates(trial, updates);
}

static const struct root {
    const ProtobufCMessageDescriptor *type;
    void (*try)(struct trial *trial, bool direct);
} roots[] = {
    {&nri__pkg__api__v1alpha1__pod_sandbox__descriptor, try_pod},
    {&nri__pkg__api__v1alpha1__container__descriptor, try_container},
    {&nri__pkg__api__v1alpha1__linux_resources__descriptor, try_resources},
    {&nri__pkg__api__v1alpha1__container_adjustment__descriptor, try_adjustment},
    {&nri__pkg__api__v1alpha1__update_containers_request__descriptor, try_updates},
};
#define ROOTS (sizeof roots / sizeof roots[0])

/* ---- unpacking and reading back ---- */

static ProtobufCMessage *read_back(struct model_reading *reading, ProtobufCMessage *message)
{
    if (message->descriptor == roots[0].type)
        return &model_read_pod(reading, nri_pod_view((MESSAGE(PodSandbox) *)message))->base;
    if (message->descriptor == roots[1].type)
        return &model_read_container(reading, nri_container_view((MESSAGE(Container) *)message))
                    ->base;
    if (message->descriptor == roots[2].type)
        return &model_read_resources(reading,
                                     nri_resources_view((MESSAGE(LinuxResources) *)message))
                    ->base;
    if (message->descriptor == roots[3].type)
        return &model_read_adjustment(
                    reading, nri_adjustment_view(reading->arena,
                                                 (MESSAGE(ContainerAdjustment) *)message, -1, ""))
                    ->base;
    return NULL;
}

/* Evictions are in no message that a plugin is sent: they are read from the list that holds them.
 */
static ProtobufCMessage *read_updates(struct model_reading *reading, ProtobufCMessage *message)
{
    nri_updates *updates;
    assert_int_equal(nri_updates_new(&updates, NULL), 0);
    replay_updates(updates, (const MESSAGE(UpdateContainersRequest) *)message, true);
    MESSAGE(UpdateContainersRequest) *read = model_read_updates(reading, updates);
    nri_updates_free(updates);
    return &read->base;
}

static void check_reading(struct trial *trial)
{
    struct model_reading reading = {.arena = &trial->arena};
    struct nri_error error;
    ProtobufCMessage *message;
    if (nri_message_decode(trial->sample->descriptor, trial->wire.data, trial->wire.size,
                           &trial->arena, seed, &message, &error) != 0)
        fail_msg("%s: %s", trial->name, error.text);
    ProtobufCMessage *read = message->descriptor == roots[ROOTS - 1].type
                                 ? read_updates(&reading, message)
                                 : read_back(&reading, message);
    if (reading.broken != NULL)
        fail_msg("%s: %s", trial->name, reading.broken);
    model_read_normalise(read);
    check_message(trial, "reading", read);
}

/* ---- JSON of any message ---- */

static void check_any_json(struct trial *trial)
{
    const char *type = schema_short_name(trial->sample->descriptor->name);
    char *bytes = NULL, *text = NULL;
    size_t size = 0;
    nri_error *error = NULL;
    check_read_json(
        trial,
        nri_json_to_protobuf(type, trial->json, strlen(trial->json), NULL, &bytes, &size, &error),
        error);
    check_bytes(trial, "nri_json_to_protobuf()", bytes, size);
    nri_json_free(bytes);
    const int code =
        nri_json_from_protobuf(type, trial->wire.data, trial->wire.size, NULL, &text, NULL, NULL);
    check_json(trial, code, text);
}

/* ---- the tests ---- */

static void trial_begin(struct trial *trial, const char *name)
{
    struct nri_alloc alloc;
    assert_int_equal(nri_alloc_resolve(&alloc, NULL), 0);
    *trial = (struct trial){.name = name};
    nri_arena_init(&trial->arena, &alloc, 0, SIZE_MAX);
}

static void trial_sample(struct trial *trial, ProtobufCMessage *sample)
{
    trial->sample = sample;
    trial->wire = pack(trial, sample);
    trial->json = sample_json(&trial->arena, sample);
}

struct tour {
    const struct root *root;
    size_t paths;
};

static bool visit_path(const struct sample_path *path, void *user)
{
    struct tour *tour = user;
    tour->paths++;
    for (unsigned variant = 0; variant < SAMPLE_VARIANTS; variant++) {
        struct trial trial;
        trial_begin(&trial, path->name);
        trial_sample(&trial, sample_make(&trial.arena, path, variant));
        if (trial.wire.size == 0)
            fail_msg("%s: the sample is empty", path->name);
        check_any_json(&trial);
        check_reading(&trial);
        tour->root->try(&trial, true);
        tour->root->try(&trial, false);
        nri_arena_fini(&trial.arena);
    }
    return true;
}

static void test_each_field_alone(void **state)
{
    (void)state;
    size_t paths = 0;
    for (size_t i = 0; i < ROOTS; i++) {
        struct tour tour = {.root = &roots[i]};
        assert_true(sample_each_path(roots[i].type, visit_path, &tour));
        print_message("%s: %zu paths\n", schema_short_name(roots[i].type->name), tour.paths);
        paths += tour.paths;
    }
    assert_true(paths > 200);
}

static void test_all_fields_together(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROOTS; i++) {
        for (unsigned variant = 0; variant < SAMPLE_VARIANTS; variant++) {
            struct trial trial;
            trial_begin(&trial, roots[i].type->short_name);
            trial_sample(&trial, sample_make_whole(&trial.arena, roots[i].type, variant));
            check_any_json(&trial);
            check_reading(&trial);
            roots[i].try(&trial, true);
            roots[i].try(&trial, false);
            nri_arena_fini(&trial.arena);
        }
    }
}

static void test_every_message_in_json(void **state)
{
    (void)state;
    struct schema_walk walk;
    size_t count = 0;
    schema_walk_nri(&walk);
    for (size_t i = 0; i < walk.n_messages; i++) {
        const ProtobufCMessageDescriptor *type = walk.message[i];
        if (schema_is_map_entry(type) || type->n_fields == 0 ||
            strncmp(type->short_name, "Optional", 8) == 0)
            continue;
        for (unsigned variant = 0; variant < SAMPLE_VARIANTS; variant++) {
            struct trial trial;
            trial_begin(&trial, type->short_name);
            trial_sample(&trial, sample_make_whole(&trial.arena, type, variant));
            check_any_json(&trial);
            nri_arena_fini(&trial.arena);
        }
        count++;
    }
    print_message("%zu messages\n", count);
    assert_true(count > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_field_alone),
        cmocka_unit_test(test_all_fields_together),
        cmocka_unit_test(test_every_message_in_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
