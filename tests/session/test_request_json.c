/* SPDX-License-Identifier: Apache-2.0 */
/* A request's own message as JSON: of each call, of StateChange, of a Synchronize in parts, of
 * events without a message. */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>

#include "fail_alloc.h"
#include "golden.h"
#include "wire/message.h"

#define TYPE(name) (&nri__pkg__api__v1alpha1__##name##__descriptor)
#define TEXT_SIZE  65536

/* What was written in the handler, for the test to look at. */
struct written {
    char text[TEXT_SIZE];
    size_t count;
};

static int write_down(struct recorder *recorder, nri_request *request)
{
    struct written *written = recorder->data;
    char *text = NULL;
    size_t length = 0;
    if (nri_request_to_json(request, NULL, &text, &length, NULL) != 0 || length >= TEXT_SIZE)
        return NRI_E_INTERNAL;
    memcpy(written->text, text, length + 1);
    written->count++;
    nri_json_free(text);
    return 0;
}

static void start(struct session *s, struct written *written)
{
    written->count = 0;
    s->recorder.act = write_down;
    s->recorder.data = written;
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
}

/* What the message is as JSON, of its bytes. */
static void check_is(const struct written *written, const char *name,
                     const ProtobufCMessage *message)
{
    size_t size;
    char *text;
    assert_int_equal(nri_message_size(message, &size, NULL), 0);
    uint8_t *bytes = malloc(size + 1);
    assert_non_null(bytes);
    nri_message_encode(message, bytes);
    assert_int_equal(nri_json_from_protobuf(name, bytes, size, NULL, &text, NULL, NULL), 0);
    free(bytes);
    assert_string_equal(written->text, text);
    nri_json_free(text);
}

static void test_calls(void **state)
{
    struct session *s = *state;
    static struct written written;
    MESSAGE(CreateContainerRequest) create;
    MESSAGE(StateChangeEvent) change;
    start(s, &written);
    INIT(create_container_request)(&create);
    create.pod = golden_message(&s->fr.arena, TYPE(pod_sandbox), "pod");
    create.container = golden_message(&s->fr.arena, TYPE(container), "ctr");
    assert_success(fake_runtime_call(&s->fr, "CreateContainer", &create.base));
    check_is(&written, "CreateContainerRequest", &create.base);
    INIT(state_change_event)(&change);
    change.event = NRI__PKG__API__V1ALPHA1__EVENT__POST_CREATE_CONTAINER;
    change.pod = create.pod;
    change.container = create.container;
    written.count = 0;
    assert_success(fake_runtime_call(&s->fr, "StateChange", &change.base));
    assert_int_equal(written.count, 1);
    check_is(&written, "StateChangeEvent", &change.base);
}

static int write_configure(struct recorder *recorder, nri_request *request)
{
    return nri_request_event(request) == NRI_EVENT_CONFIGURE ? write_down(recorder, request) : 0;
}

static void test_configure(void **state)
{
    struct session *s = *state;
    static struct written written;
    written.count = 0;
    s->recorder.act = write_configure;
    s->recorder.data = &written;
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    assert_int_equal(written.count, 1);
    assert_string_equal(written.text,
                        "{\"runtime_name\":\"containerd\",\"runtime_version\":\"2.3.0\","
                        "\"NRI_version\":\"v0.12.2\"}");
}

static int write_at_the_end(nri_request *request, void *user)
{
    struct recorder *recorder = user;
    if (nri_request_event(request) == NRI_EVENT_DISCONNECTED)
        (void)write_down(recorder, request);
    return 0;
}

static void test_no_message(void **state)
{
    struct session *s = *state;
    static struct written written;
    recorder_all(&s->fr.ops);
    s->fr.ops.on_disconnected = write_at_the_end;
    s->recorder.data = &written;
    fake_runtime_start(&s->fr);
    written.count = 0;
    fake_runtime_disconnect(&s->fr, NRI_E_CLOSED, "gone");
    assert_int_equal(written.count, 1);
    assert_string_equal(written.text, "{}");
}

static int keep(struct recorder *recorder, nri_request *request)
{
    (void)recorder;
    (void)request;
    return NRI_PENDING;
}

/* Pods and containers as the parts had them, all in one object. */
static void check_whole(nri_request *request, int pods, int containers)
{
    static char expected[TEXT_SIZE];
    MESSAGE(SynchronizeRequest) * whole;
    char *text, *bytes;
    size_t length, size;
    struct nri_arena arena;
    struct nri_alloc alloc;
    const uint64_t seed[2] = {1, 2};
    assert_int_equal(nri_request_to_json(request, NULL, &text, &length, NULL), 0);
    assert_true(length < sizeof expected);
    assert_null(strstr(text, "\"more\""));
    assert_int_equal(
        nri_json_to_protobuf("SynchronizeRequest", text, length, NULL, &bytes, &size, NULL), 0);
    assert_int_equal(nri_alloc_resolve(&alloc, NULL), 0);
    nri_arena_init(&arena, &alloc, 0, SIZE_MAX);
    assert_int_equal(nri_message_decode(TYPE(synchronize_request), (const uint8_t *)bytes, size,
                                        &arena, seed, (ProtobufCMessage **)&whole, NULL),
                     0);
    assert_int_equal(whole->n_pods, pods);
    assert_int_equal(whole->n_containers, containers);
    for (int i = 0; i < pods; i++) {
        (void)snprintf(expected, sizeof expected, "pod%d", i);
        assert_string_equal(whole->pods[i]->id, expected);
    }
    for (int i = 0; i < containers; i++) {
        (void)snprintf(expected, sizeof expected, "ctr%d", i);
        assert_string_equal(whole->containers[i]->id, expected);
    }
    nri_arena_fini(&arena);
    nri_json_free(text);
    nri_json_free(bytes);
}

/* Memory that ends and a text that is too long, of the same request. */
static void check_failures(nri_request *request)
{
    struct fail_alloc memory;
    struct nri_allocator allocator;
    struct nri_json_options options = {.size = sizeof options, .max_bytes = 100};
    nri_error *error = NULL;
    char *text;
    size_t n = 0;
    assert_int_equal(nri_request_to_json(request, &options, &text, NULL, &error), NRI_E_LIMIT);
    assert_null(text);
    assert_string_equal(nri_error_get_text(error),
                        "JSON: the text is longer than the limit of 100 bytes");
    nri_error_free(error);
    fail_alloc_init(&memory, &allocator);
    options = (struct nri_json_options){.size = sizeof options, .allocator = &allocator};
    do {
        fail_alloc_arm(&memory, ++n);
        int code = nri_request_to_json(request, &options, &text, NULL, &error);
        assert_int_equal(code, memory.fired ? NRI_E_NOMEM : 0);
        assert_int_equal(nri_error_get_code(error), code);
        nri_json_free(text);
        error = nri_error_free(error);
        assert_int_equal(memory.live_blocks, 0);
    } while (memory.fired);
    assert_true(n > 3);
    options.indent = 17;
    assert_int_equal(nri_request_to_json(request, &options, &text, NULL, NULL), NRI_E_INVALID);
}

static void test_sync_in_parts(void **state)
{
    struct session *s = *state;
    recorder_own(&s->fr.ops);
    s->fr.ops.on_create_container = recorder_handler; /* a plugin needs one */
    s->fr.ops.on_synchronize = recorder_handler;
    fake_runtime_start(&s->fr);
    s->recorder.act = keep;
    (void)fake_runtime_sync(&s->fr, 0, 4, 0, 0, true);
    (void)fake_runtime_sync(&s->fr, 4, 0, 0, 0, true);
    (void)fake_runtime_sync(&s->fr, 4, 2, 0, 9, true);
    const struct rpc_outcome *outcome = fake_runtime_sync(&s->fr, 6, 0, 9, 2, false);
    assert_int_equal(s->recorder.held_count, 1);
    nri_request *request = s->recorder.held[0];
    check_whole(request, 6, 11);
    check_failures(request);
    assert_int_equal(nri_request_complete(request, 0), 0);
    nri_request_unref(request);
    s->recorder.held_count = 0;
    fake_runtime_run(&s->fr);
    assert_success(outcome);
}

static int write_part(nri_request *request, void *user)
{
    return write_down(user, request);
}

/* With a handler of parts each part is a request of its own. */
static void test_sync_part_by_part(void **state)
{
    struct session *s = *state;
    static struct written written;
    recorder_own(&s->fr.ops);
    s->fr.ops.on_create_container = recorder_handler; /* a plugin needs one */
    s->fr.ops.on_synchronize_part = write_part;
    s->recorder.data = &written;
    fake_runtime_start(&s->fr);
    written.count = 0;
    (void)fake_runtime_sync(&s->fr, 0, 2, 0, 0, true);
    assert_int_equal(written.count, 1);
    assert_contains(written.text, "{\"pods\":[{\"id\":\"pod0\"");
    assert_contains(written.text, "\"more\":true}");
    assert_success(fake_runtime_sync(&s->fr, 2, 0, 0, 1, false));
    assert_int_equal(written.count, 2);
    assert_contains(written.text, "{\"containers\":[{\"id\":\"ctr0\"");
    assert_null(strstr(written.text, "more"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        session_test(test_calls),
        session_test(test_configure),
        session_test(test_no_message),
        session_test(test_sync_in_parts),
        session_test(test_sync_part_by_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
