/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that take over the bytes of the one before: whatever was made before, each is that which
 * encoding its message gives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fail_alloc.h"
#include "plugin/method.h"
#include "runtime/internal.h"
#include "wire/message.h"

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type
#define TYPE(name)    (&nri__pkg__api__v1alpha1__##name##__descriptor)
#define LIMIT         ((size_t)4096)

static const uint64_t seed[2] = {1, 2};

/* id, labels, env and two fields that nobody knows; the second container differs in env alone. */
static const uint8_t pod_bytes[] = "\x0a\x02p0\x2a\x06\x0a\x01"
                                   "a\x12\x01"
                                   "b\x48\x07\xfa\x01\x03xyz";
static const uint8_t container_bytes[] = "\x0a\x02"
                                         "c0\x2a\x06\x0a\x01"
                                         "a\x12\x01"
                                         "b\x42\x03"
                                         "A=1\xd2\x0f\x02hi\xd8\x0f\x05";
static const uint8_t resources_bytes[] = "\x12\x04\x0a\x02\x08\x05";

struct parts {
    struct fail_alloc memory;
    struct nri_alloc alloc;
    struct nri_arena arena;
    struct nri_rt_request request;
    struct nri_rt_subject subject;
};

static const void *decode(struct parts *parts, const ProtobufCMessageDescriptor *type,
                          const uint8_t *bytes, size_t size)
{
    ProtobufCMessage *message = NULL;
    assert_int_equal(nri_message_decode(type, bytes, size, &parts->arena, seed, &message, NULL), 0);
    return message;
}

static void init(struct parts *parts, size_t limit)
{
    *parts = (struct parts){0};
    fail_alloc_init(&parts->memory, NULL);
    parts->alloc = fail_alloc_resolved(&parts->memory);
    nri_arena_init(&parts->arena, &parts->alloc, 0, SIZE_MAX);
    nri_rt_request_init(&parts->request, &parts->alloc, limit);
    parts->subject.pod = decode(parts, TYPE(pod_sandbox), pod_bytes, sizeof pod_bytes - 1);
    parts->subject.container =
        decode(parts, TYPE(container), container_bytes, sizeof container_bytes - 1);
    parts->subject.resources =
        decode(parts, TYPE(linux_resources), resources_bytes, sizeof resources_bytes - 1);
}

static void fini(struct parts *parts)
{
    nri_rt_request_fini(&parts->request);
    nri_arena_fini(&parts->arena);
    assert_int_equal(parts->memory.live_blocks, 0);
}

/* The request's message, filled with what it has of the subject. */
static ProtobufCMessage *message_of(struct parts *parts, unsigned method)
{
    const ProtobufCMessageDescriptor *type =
        nri__pkg__api__v1alpha1__plugin__descriptor.methods[method].input;
    ProtobufCMessage *message = nri_arena_zero(&parts->arena, type->sizeof_message);
    assert_non_null(message);
    type->message_init(message);
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        const void *part = NULL;
        if (field->type == PROTOBUF_C_TYPE_ENUM)
            ((MESSAGE(StateChangeEvent) *)message)->event = (MESSAGE(Event))parts->subject.event;
        else if (field->descriptor == TYPE(pod_sandbox))
            part = parts->subject.pod;
        else if (field->descriptor == TYPE(container))
            part = parts->subject.container;
        else if (strcmp(field->name, "linux_resources") == 0)
            part = parts->subject.resources;
        else
            part = parts->subject.overhead;
        if (field->type == PROTOBUF_C_TYPE_MESSAGE)
            memcpy((char *)message + field->offset, &part, sizeof part);
    }
    return message;
}

static void check(struct parts *parts, unsigned method)
{
    const ProtobufCMessage *message = message_of(parts, method);
    uint8_t bytes[LIMIT];
    size_t size;
    assert_int_equal(nri_message_size(message, &size, NULL), 0);
    assert_in_range(size, 1, sizeof bytes);
    nri_message_encode(message, bytes);
    assert_int_equal(nri_rt_request_make(&parts->request, method, &parts->subject, NULL), 0);
    assert_int_equal(nri_buf_size(&parts->request.bytes), size);
    assert_memory_equal(parts->request.bytes.data, bytes, size);
}

/* An event goes by its own method to one plugin and as StateChange to the next, in any order. */
static void test_methods_alternate(void **state)
{
    (void)state;
    for (unsigned method = 0; method < NRI_METHOD_COUNT; method++) {
        const enum nri_event event = nri_methods[method].event;
        struct parts parts;
        if (nri_methods[method].pod == 0 || method == NRI_METHOD_STATE_CHANGE)
            continue;
        if (event == NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT)
            continue;
        init(&parts, LIMIT);
        parts.subject.event = event;
        if (nri_methods[method].overhead != 0)
            parts.subject.overhead = parts.subject.resources;
        if (nri_methods[method].resources == 0)
            parts.subject.resources = NULL;
        if (nri_methods[method].container == 0)
            parts.subject.container = NULL;
        for (int i = 0; i < 3; i++) {
            check(&parts, method);
            if (nri_rt_has_state_change(event))
                check(&parts, NRI_METHOD_STATE_CHANGE);
        }
        fini(&parts);
    }
}

static unsigned create_method(void)
{
    return nri_rt_method(NRI_EVENT_CREATE_CONTAINER, false);
}

/* What changed is encoded anew, at any length; the rest is as it was. */
static void test_members_change(void **state)
{
    (void)state;
    struct parts parts;
    char *env[] = {NULL, NULL};
    char value[512];
    init(&parts, LIMIT);
    parts.subject.event = NRI_EVENT_CREATE_CONTAINER;
    parts.subject.resources = NULL;
    check(&parts, create_method());
    MESSAGE(Container) container = *parts.subject.container;
    memset(value, 'x', sizeof value);
    parts.subject.container = &container;
    for (size_t length = 0; length < sizeof value; length += 37) {
        env[length % 2] = nri_arena_text(&parts.arena, value, length);
        env[(length + 1) % 2] = nri_arena_text(&parts.arena, value, length / 2);
        container.env = env;
        container.n_env = 1 + length % 2;
        nri_rt_request_change(&parts.request, NRI_MEMBER(offsetof(MESSAGE(Container), env)));
        check(&parts, create_method());
    }
    container.name = nri_arena_text(&parts.arena, "n", 1);
    container.n_env = 0;
    container.n_labels = 0;
    nri_rt_request_change(&parts.request, NRI_MEMBER(offsetof(MESSAGE(Container), env)) |
                                              NRI_MEMBER(offsetof(MESSAGE(Container), labels)) |
                                              NRI_MEMBER(offsetof(MESSAGE(Container), name)));
    check(&parts, create_method());
    fini(&parts);
}

/* What is not said to have changed is not looked at: those are the bytes of before. */
static void test_the_rest_is_taken_over(void **state)
{
    (void)state;
    struct parts parts;
    init(&parts, LIMIT);
    parts.subject.event = NRI_EVENT_CREATE_CONTAINER;
    parts.subject.resources = NULL;
    check(&parts, create_method());
    const struct nri_rt_subject before = parts.subject;
    MESSAGE(Container) container = *parts.subject.container;
    container.n_env = 0;
    parts.subject.container = &container;
    nri_rt_request_change(&parts.request, NRI_MEMBER(offsetof(MESSAGE(Container), args)));
    assert_int_equal(nri_rt_request_make(&parts.request, create_method(), &parts.subject, NULL), 0);
    parts.request.fresh = true;
    parts.subject = before;
    check(&parts, create_method());
    fini(&parts);
}

/* A reset forgets everything: the next event is of others. */
static void test_reset(void **state)
{
    (void)state;
    struct parts parts;
    MESSAGE(PodSandbox) pod = NRI__PKG__API__V1ALPHA1__POD_SANDBOX__INIT;
    MESSAGE(Container) container = NRI__PKG__API__V1ALPHA1__CONTAINER__INIT;
    init(&parts, LIMIT);
    parts.subject.event = NRI_EVENT_CREATE_CONTAINER;
    parts.subject.resources = NULL;
    check(&parts, create_method());
    nri_rt_request_reset(&parts.request, SIZE_MAX);
    parts.subject.pod = &pod;
    parts.subject.container = &container;
    check(&parts, create_method());
    fini(&parts);
}

/* Any message may take its place, and then nothing of before is there. */
static void test_take(void **state)
{
    (void)state;
    struct parts parts;
    init(&parts, LIMIT);
    parts.subject.event = NRI_EVENT_CREATE_CONTAINER;
    parts.subject.resources = NULL;
    check(&parts, create_method());
    assert_int_equal(
        nri_rt_request_take(&parts.request, create_method(), &parts.subject.pod->base, NULL), 0);
    assert_int_equal(nri_buf_size(&parts.request.bytes), sizeof pod_bytes - 1);
    nri_rt_request_change(&parts.request, 0);
    check(&parts, create_method());
    fini(&parts);
}

/* Failures name the method, and leave what was there for the next attempt. */
static void test_failures(void **state)
{
    (void)state;
    struct parts parts;
    struct nri_error error;
    char value[LIMIT], *env[] = {NULL, NULL};
    init(&parts, LIMIT);
    parts.subject.event = NRI_EVENT_CREATE_CONTAINER;
    parts.subject.resources = NULL;
    check(&parts, create_method());
    const struct nri_rt_subject before = parts.subject;
    MESSAGE(Container) container = *parts.subject.container;
    parts.subject.container = &container;
    container.env = env;
    container.n_env = 2;
    env[0] = nri_arena_text(&parts.arena, "A=1", 3);
    nri_rt_request_change(&parts.request, NRI_MEMBER(offsetof(MESSAGE(Container), env)));
    assert_int_equal(nri_rt_request_make(&parts.request, create_method(), &parts.subject, &error),
                     NRI_E_INVALID);
    assert_string_equal(
        error.text, "CreateContainer: Container.env[1]: is NULL; a repeated field must hold texts");
    memset(value, 'x', sizeof value);
    env[0] = nri_arena_text(&parts.arena, value, sizeof value);
    container.n_env = 1;
    assert_int_equal(nri_rt_request_make(&parts.request, create_method(), &parts.subject, &error),
                     NRI_E_LIMIT);
    assert_non_null(strstr(error.text, "CreateContainer: request of 41"));
    assert_non_null(strstr(error.text, " exceeds the limit of "));
    assert_non_null(strstr(error.text, ", which is max_send_bytes"));
    env[0] = nri_arena_text(&parts.arena, value, LIMIT / 2);
    fail_alloc_arm(&parts.memory, 1);
    assert_int_equal(nri_rt_request_make(&parts.request, create_method(), &parts.subject, &error),
                     NRI_E_NOMEM);
    fail_alloc_arm(&parts.memory, 0);
    check(&parts, create_method());
    parts.subject = before;
    nri_rt_request_change(&parts.request, NRI_MEMBER(offsetof(MESSAGE(Container), env)));
    check(&parts, create_method());
    fini(&parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_methods_alternate),
        cmocka_unit_test(test_members_change),
        cmocka_unit_test(test_the_rest_is_taken_over),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_take),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests_name("runtime request", tests, NULL, NULL);
}
