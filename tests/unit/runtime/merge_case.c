/* SPDX-License-Identifier: Apache-2.0 */
#include "merge_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <nri/json.h>

#include "runtime/internal.h"
#include "wire/message.h"

#define TYPE(name) &nri__pkg__api__v1alpha1__##name##__descriptor

static const uint64_t seed[2] = {1, 2};
static const char *const plugins[MERGE_REPLIES] = {"10-a", "20-b", "30-c", "40-d"};

struct run {
    const struct merge_case *one;
    struct fail_alloc memory;
    struct nri_arena inputs, arena;
    struct fail_alloc input_memory;
    struct nri_merge *merge;
    struct nri_error error;
    struct nri_rt_request request;
    struct nri_rt_subject subject;
    const void *seen; /* the container or the resources, after the last reply */
};

static const ProtobufCMessageDescriptor *response_of(enum nri_event event)
{
    if (event == NRI_EVENT_UPDATE_CONTAINER)
        return TYPE(update_container_response);
    return event == NRI_EVENT_STOP_CONTAINER ? TYPE(stop_container_response)
                                             : TYPE(create_container_response);
}

static void *read_json(struct run *run, const ProtobufCMessageDescriptor *type, const char *json)
{
    char *bytes = NULL;
    size_t size = 0;
    nri_error *error = NULL;
    ProtobufCMessage *message = NULL;
    int code =
        nri_json_to_protobuf(type->short_name, json, strlen(json), NULL, &bytes, &size, &error);
    if (code != 0)
        fail_msg("%s: %s: %s", run->one->name, json, nri_error_get_text(error));
    assert_int_equal(
        nri_message_decode(type, (uint8_t *)bytes, size, &run->inputs, seed, &message, NULL), 0);
    nri_json_free(bytes);
    return message;
}

static char *to_json(const void *message)
{
    const ProtobufCMessage *base = message;
    size_t size = 0;
    char *text = NULL;
    if (message == NULL)
        return NULL;
    assert_int_equal(nri_message_size(base, &size, NULL), 0);
    uint8_t *bytes = malloc(size + 1);
    assert_non_null(bytes);
    nri_message_encode(base, bytes);
    assert_int_equal(
        nri_json_from_protobuf(base->descriptor->short_name, bytes, size, NULL, &text, NULL, NULL),
        0);
    free(bytes);
    return text;
}

static int reply(struct run *run, const char *plugin, const void *message)
{
    switch (run->one->event) {
    case NRI_EVENT_UPDATE_CONTAINER:
        return nri_merge_update_reply(run->merge, plugin, message, &run->error);
    case NRI_EVENT_STOP_CONTAINER:
        return nri_merge_stop_reply(run->merge, plugin, message, &run->error);
    default:
        return nri_merge_create_reply(run->merge, plugin, message, &run->error);
    }
}

static const void *result_of(struct run *run)
{
    switch (run->one->event) {
    case NRI_EVENT_UPDATE_CONTAINER:
        return nri_merge_update_result(run->merge);
    case NRI_EVENT_STOP_CONTAINER:
        return nri_merge_stop_result(run->merge);
    default:
        return nri_merge_create_result(run->merge);
    }
}

/* The request in which the bytes of what stays are used again is that which is made anew. */
static void check_request(struct run *run)
{
    const unsigned method = nri_rt_method(run->subject.event, false);
    struct nri_rt_request anew;
    struct nri_alloc alloc;
    assert_int_equal(nri_alloc_resolve(&alloc, NULL), 0);
    nri_rt_request_init(&anew, &alloc, SIZE_MAX);
    assert_int_equal(nri_rt_request_make(&anew, method, &run->subject, NULL), 0);
    assert_int_equal(nri_rt_request_make(&run->request, method, &run->subject, NULL), 0);
    if (nri_buf_size(&anew.bytes) != nri_buf_size(&run->request.bytes) ||
        memcmp(anew.bytes.data, run->request.bytes.data, nri_buf_size(&anew.bytes)) != 0)
        fail_msg("%s: the request is not what the plugin is to see", run->one->name);
    nri_rt_request_fini(&anew);
}

/* What the next plugin sees; 0 or the arena's failure. */
static int look(struct run *run)
{
    nri_members members = 0;
    bool changed = true;
    if (run->one->event == NRI_EVENT_UPDATE_CONTAINER) {
        run->subject.resources = nri_merge_resources(run->merge, &changed);
        run->seen = run->subject.resources;
    } else {
        run->subject.container = nri_merge_container(run->merge, &members);
        run->seen = run->subject.container;
    }
    if (run->seen == NULL)
        return run->arena.failure;
    if (changed)
        nri_rt_request_change(&run->request, members);
    check_request(run);
    return 0;
}

static void init(struct run *run, const struct merge_case *one, size_t limit)
{
    *run = (struct run){.one = one};
    fail_alloc_init(&run->memory, NULL);
    fail_alloc_init(&run->input_memory, NULL);
    struct nri_alloc alloc = fail_alloc_resolved(&run->input_memory);
    nri_arena_init(&run->inputs, &alloc, 0, SIZE_MAX);
    assert_int_equal(nri_alloc_resolve(&alloc, NULL), 0);
    nri_rt_request_init(&run->request, &alloc, SIZE_MAX);
    alloc = fail_alloc_resolved(&run->memory);
    nri_arena_init(&run->arena, &alloc, 64, limit);
}

static void fini(struct run *run)
{
    nri_rt_request_fini(&run->request);
    nri_arena_fini(&run->arena);
    nri_arena_fini(&run->inputs);
    assert_int_equal(run->memory.live_blocks, 0);
    assert_int_equal(run->input_memory.live_blocks, 0);
}

/* All replies; the first code that is not 0. Inputs must be as they were afterwards. */
static int go(struct run *run, size_t fail_at)
{
    const struct merge_case *one = run->one;
    struct nri_merge_settings settings = {.go_compatible = one->go, .changes = true};
    void *replies[MERGE_REPLIES] = {0};
    char *before[MERGE_REPLIES];
    settings.policy[one->field] = (uint8_t)one->policy;
    void *container = read_json(run, TYPE(container),
                                one->container != NULL ? one->container : "{\"id\":\"c0\"}");
    void *pod = read_json(run, TYPE(pod_sandbox), "{\"id\":\"p0\",\"labels\":{\"a\":\"b\"}}");
    void *resources =
        one->resources == NULL ? NULL : read_json(run, TYPE(linux_resources), one->resources);
    for (size_t i = 0; i < MERGE_REPLIES && one->replies[i] != NULL; i++) {
        replies[i] = read_json(run, response_of(one->event), one->replies[i]);
        before[i] = to_json(replies[i]);
    }
    char *container_before = to_json(container);
    const uint64_t own_seed[2] = {one->seed != 0 ? one->seed : seed[0], seed[1]};
    fail_alloc_arm(&run->memory, fail_at);
    enum nri_event event = one->event == 0 ? NRI_EVENT_CREATE_CONTAINER : one->event;
    int code = nri_merge_new(&run->merge, &run->arena, own_seed, &settings, event, pod, container,
                             resources, &run->error);
    run->subject = (struct nri_rt_subject){event, pod, container, resources, NULL};
    code = code != 0 ? code : look(run);
    for (size_t i = 0; code == 0 && i < MERGE_REPLIES && replies[i] != NULL; i++) {
        code = reply(run, plugins[i], replies[i]);
        code = code != 0 ? code : look(run);
    }
    for (size_t i = 0; i < MERGE_REPLIES && replies[i] != NULL; i++) {
        char *after = to_json(replies[i]);
        assert_string_equal(after, before[i]);
        nri_json_free(after);
        nri_json_free(before[i]);
    }
    char *container_after = to_json(container);
    assert_string_equal(container_after, container_before);
    nri_json_free(container_after);
    nri_json_free(container_before);
    return code;
}

static void compare(struct run *run, const char *what, const ProtobufCMessageDescriptor *type,
                    const char *expected, const void *message)
{
    if (expected == NULL)
        return;
    char *is = to_json(message), *should = to_json(read_json(run, type, expected));
    if (is == NULL || strcmp(is, should) != 0)
        fail_msg("%s: %s is\n  %s\nnot\n  %s", run->one->name, what, is != NULL ? is : "NULL",
                 should);
    nri_json_free(is);
    nri_json_free(should);
}

struct changes {
    char text[1024];
    size_t length;
};

static void list_change(void *user, const struct nri_merge_change *change)
{
    static const char *const what[] = {"set", "replaced", "kept", "removed", "dropped", "evicted"};
    struct changes *list = user;
    const bool key = change->key != NULL, from = change->from != NULL;
    int size = snprintf(list->text + list->length, sizeof list->text - list->length,
                        "%s %s %s%s%.*s%s%s;", what[change->what], change->container,
                        nri_field_name((int)change->field), key ? " " : "", (int)change->key_length,
                        key ? change->key : "", from ? " from " : "", from ? change->from : "");
    assert_true(size > 0 && (size_t)size < sizeof list->text - list->length);
    list->length += (size_t)size;
}

void merge_case_check(const struct merge_case *one)
{
    struct run run;
    init(&run, one, SIZE_MAX);
    int code = go(&run, 0);
    if (one->error == NULL && code != 0)
        fail_msg("%s: %s", one->name, run.error.text);
    if (one->error != NULL && (code == 0 || strcmp(run.error.text, one->error) != 0))
        fail_msg("%s: error \"%s\", not \"%s\"", one->name, run.error.text, one->error);
    if (code == 0) {
        const bool update = one->event == NRI_EVENT_UPDATE_CONTAINER;
        compare(&run, "result", response_of(one->event), one->result, result_of(&run));
        compare(&run, "what is seen", update ? TYPE(linux_resources) : TYPE(container),
                one->visible, run.seen);
        compare(&run, "owners", TYPE(owning_plugins), one->owners, nri_merge_owners(run.merge));
    }
    if (one->changes != NULL) {
        struct changes list = {"", 0};
        nri_merge_each_change(run.merge, list_change, &list);
        if (strcmp(list.text, one->changes) != 0)
            fail_msg("%s: changes are \"%s\", not \"%s\"", one->name, list.text, one->changes);
    }
    fini(&run);
}

int merge_case_run(const struct merge_case *one, size_t limit, size_t fail_at, char **text,
                   size_t *used)
{
    struct run run;
    init(&run, one, limit);
    int code = go(&run, fail_at);
    const void *result = code == 0 ? result_of(&run) : NULL;
    const void *owners = result != NULL ? nri_merge_owners(run.merge) : NULL;
    if (code == 0 && owners == NULL)
        code = run.arena.failure;
    if (code == 0 && text != NULL) {
        char *parts[] = {to_json(result), to_json(owners), to_json(run.seen)};
        if (parts[0] == NULL || parts[1] == NULL || parts[2] == NULL) {
            fail_msg("%s: nothing to show", one->name);
            return NRI_E_INTERNAL;
        }
        size_t size = strlen(parts[0]) + strlen(parts[1]) + strlen(parts[2]) + 3;
        *text = malloc(size);
        assert_non_null(*text);
        snprintf(*text, size, "%s\n%s\n%s", parts[0], parts[1], parts[2]);
        for (size_t i = 0; i < 3; i++)
            nri_json_free(parts[i]);
    }
    if (used != NULL)
        *used = run.memory.peak_bytes;
    fini(&run);
    return code;
}
