/* SPDX-License-Identifier: Apache-2.0 */
/* The hex dumps in doc/protocol.md, replayed through libnri in both roles (case U07). */
#include <stdio.h>
#include <stdlib.h>

#include "protocol_dump.h"
#include "session.h"

static int read_document(void **state)
{
    struct dumps *dumps = calloc(1, sizeof *dumps);
    if (dumps == NULL)
        return 1;
    *state = dumps;
    if (!dumps_read(dumps, PROTOCOL_DOCUMENT))
        (void)fprintf(stderr, "%s\n", dumps->error);
    return dumps->error[0] != '\0';
}

static int forget_document(void **state)
{
    free(*state);
    return 0;
}

static void show(const char *title, const uint8_t *bytes, size_t size)
{
    char line[DUMP_LINE];
    print_error("%s\n", title);
    for (size_t offset = 0; offset < size; offset += 16) {
        dump_line(line, bytes, size, offset);
        print_error("%s\n", line);
    }
}

static void check_bytes(const struct dump *dump, const uint8_t *bytes, size_t size)
{
    if (size == dump->size && memcmp(bytes, dump->bytes, size) == 0)
        return;
    show("libnri sends", bytes, size);
    show("the document says", dump->bytes, dump->size);
    fail_msg("%s:%u: the dump is not what libnri sends", PROTOCOL_DOCUMENT, dump->line);
}

static void test_U07_blocks_are_both_ways(void **state)
{
    const struct dumps *dumps = *state;
    size_t from_plugin = 0;
    for (size_t i = 0; i < dumps->count; i++) {
        assert_true(dumps->dump[i].size > 0);
        from_plugin += dumps->dump[i].from_plugin;
    }
    assert_int_equal(dumps->count, 6);
    assert_int_equal(from_plugin, 3);
}

/* ---- the plugin's role ---- */

static void use_classic_handlers(struct nri_plugin_ops *ops)
{
    ops->on_run_pod_sandbox = recorder_handler;
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
}

static void start_core(struct fake_runtime *fr)
{
    use_classic_handlers(&fr->ops);
    fr->ops.on_synchronize = recorder_handler;
    fr->config.name = "logger";
    assert_int_equal(nri_core_new(&fr->core, &fr->config, &fr->error), 0);
    assert_int_equal(nri_core_connected(fr->core, fr->now, &fr->error), 0);
}

static void check_output(struct fake_runtime *fr, const struct dump *dump)
{
    const uint8_t *bytes;
    size_t size;
    nri_core_output(fr->core, &bytes, &size);
    check_bytes(dump, bytes, size);
    nri_core_written(fr->core, size);
}

static void test_U07_plugin_sends_what_the_document_says(void **state)
{
    const struct dumps *dumps = *state;
    struct session *s;
    assert_int_equal(session_setup((void **)&s), 0);
    start_core(&s->fr);
    for (size_t i = 0; i < dumps->count; i++) {
        const struct dump *dump = &dumps->dump[i];
        if (dump->from_plugin)
            check_output(&s->fr, dump);
        else
            nri_core_input(s->fr.core, dump->bytes, dump->size, s->fr.now);
    }
    const struct dump nothing = {.from_plugin = true};
    check_output(&s->fr, &nothing);
    assert_int_equal(nri_core_state(s->fr.core), NRI_PLUGIN_READY);
    assert_string_equal(nri_core_runtime_name(s->fr.core), "containerd");
    assert_string_equal(nri_core_runtime_version(s->fr.core), "2.1.9");
    assert_int_equal(nri_core_registration_timeout_ms(s->fr.core), 5000);
    assert_int_equal(nri_core_request_timeout_ms(s->fr.core), 2000);
    assert_int_equal(nri_core_events(s->fr.core), NRI_EVENTS_CLASSIC);
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_SYNCHRONIZE), 1);
    nri_core_disconnected(s->fr.core, 0, "", NRI_NO_ATTEMPT, s->fr.now);
    session_teardown((void **)&s);
}

/* ---- the runtime's role ---- */

struct runtime {
    struct rpc_peer peer;
    struct nri_arena arena; /* of the outcomes */
    struct rpc_outcome configured, synchronized;
};

static void start_runtime(struct runtime *runtime)
{
    *runtime = (struct runtime){0};
    assert_int_equal(rpc_peer_init_runtime(&runtime->peer, NULL, NULL), 0);
    nri_arena_init(&runtime->arena, &runtime->peer.alloc, 0, SIZE_MAX);
    runtime->configured.arena = &runtime->arena;
    runtime->synchronized.arena = &runtime->arena;
}

static void end_runtime(struct runtime *runtime)
{
    rpc_peer_fini(&runtime->peer);
    nri_arena_fini(&runtime->arena);
}

static void feed_next(struct runtime *runtime, const struct dumps *dumps, size_t *next)
{
    while (*next < dumps->count && !dumps->dump[*next].from_plugin)
        ++*next;
    assert_true(*next < dumps->count);
    const struct dump *dump = &dumps->dump[(*next)++];
    assert_int_equal(
        nri_rpc_input(runtime->peer.rpc, dump->bytes, dump->size, 1, &runtime->peer.error), 0);
    assert_false(nri_rpc_in_message(runtime->peer.rpc));
}

static void answer_registration(struct runtime *runtime)
{
    struct nri_rpc_call *call = rpc_peer_take(&runtime->peer);
    assert_non_null(call);
    assert_int_equal(nri_rpc_call_method(call), 0);
    const MESSAGE(RegisterPluginRequest) *request =
        (const MESSAGE(RegisterPluginRequest) *)nri_rpc_call_message(call);
    assert_string_equal(request->plugin_name, "logger");
    assert_string_equal(request->plugin_idx, "10");
    assert_string_equal(request->nri_version, "v0.12.2");
    assert_int_equal(nri_rpc_call_timeout(call), 5 * NRI_SEC);
    MESSAGE(Empty) empty;
    INIT(empty)(&empty);
    assert_int_equal(nri_rpc_call_reply(call, &empty.base, &runtime->peer.error), 0);
    nri_rpc_call_release(call);
}

static void call_plugin(struct runtime *runtime, const char *method,
                        const ProtobufCMessage *message, struct rpc_outcome *outcome)
{
    const ProtobufCMethodDescriptor *found = protobuf_c_service_descriptor_get_method_by_name(
        &nri__pkg__api__v1alpha1__plugin__descriptor, method);
    assert_non_null(found);
    const ptrdiff_t index = found - nri__pkg__api__v1alpha1__plugin__descriptor.methods;
    assert_int_equal(nri_rpc_invoke(runtime->peer.rpc, (unsigned)index, message, 1, 2 * NRI_SEC,
                                    NULL, 0, rpc_outcome_done, outcome, &runtime->peer.error),
                     0);
}

static void test_U07_document_registers_with_a_runtime(void **state)
{
    struct runtime runtime;
    size_t next = 0;
    start_runtime(&runtime);
    feed_next(&runtime, *state, &next);
    answer_registration(&runtime);

    MESSAGE(ConfigureRequest) configure;
    INIT(configure_request)(&configure);
    call_plugin(&runtime, "Configure", &configure.base, &runtime.configured);
    feed_next(&runtime, *state, &next);
    assert_success(&runtime.configured);
    assert_int_equal(((const MESSAGE(ConfigureResponse) *)runtime.configured.message)->events,
                     0x7ff);

    MESSAGE(SynchronizeRequest) synchronize;
    INIT(synchronize_request)(&synchronize);
    call_plugin(&runtime, "Synchronize", &synchronize.base, &runtime.synchronized);
    feed_next(&runtime, *state, &next);
    assert_success(&runtime.synchronized);
    const MESSAGE(SynchronizeResponse) *response =
        (const MESSAGE(SynchronizeResponse) *)runtime.synchronized.message;
    assert_int_equal(response->n_update, 0);
    assert_false(response->more);

    assert_int_equal(nri_rpc_pending_calls(runtime.peer.rpc), 0);
    assert_int_equal(nri_rpc_in_flight(runtime.peer.rpc), 0);
    assert_int_equal(nri_rpc_failure(runtime.peer.rpc, NULL), 0);
    end_runtime(&runtime);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_U07_blocks_are_both_ways),
        cmocka_unit_test(test_U07_plugin_sends_what_the_document_says),
        cmocka_unit_test(test_U07_document_registers_with_a_runtime),
    };
    return cmocka_run_group_tests(tests, read_document, forget_document);
}
