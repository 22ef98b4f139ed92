/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_session_captures NAME [FILE]: what a real containerd sent, NAME.r2p.bin or FILE (a large
 * one, unpacked), in every cut of the design: what the handlers see and what the core emits is the
 * same for each, and means what the Go plugin answered then, NAME.p2r.bin.
 *
 * The plugin here says what the Go plugin said, with builders. Not compared is what they cannot
 * build yet: hooks, devices and rlimits of an adjustment.
 */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>

#include "plugin/request.h"
#include "recording.h"
#include "wire/message.h"

static const char *capture_name, *capture_file;

struct replay {
    struct fake_runtime fr;
    struct capture runtime, plugin;
    struct recording recording;
    nri_updates *updates; /* the recorded unsolicited ones, or NULL */
    /* Of the present run. */
    struct nri_buf out;   /* what the core emitted */
    struct nri_buf heard; /* what handlers saw: events and ids as text */
    nri_request *held[8];
    size_t held_count;
    size_t updates_told;
    size_t handlers;
    size_t pods, containers; /* of the last Synchronize */
};

/* ---- saying what was recorded ---- */

static void replay_resources(nri_adjustment *adjustment, const MESSAGE(LinuxResources) * resources)
{
    if (resources->memory != NULL && resources->memory->limit != NULL)
        (void)nri_adjustment_set_memory_limit(adjustment, resources->memory->limit->value);
    if (resources->cpu == NULL)
        return;
    if (resources->cpu->shares != NULL)
        (void)nri_adjustment_set_cpu_shares(adjustment, resources->cpu->shares->value);
    if (resources->cpu->cpus[0] != '\0')
        (void)nri_adjustment_set_cpuset_cpus(adjustment, resources->cpu->cpus);
}

static void replay_adjustment(nri_adjustment *adjustment, const MESSAGE(ContainerAdjustment) * from)
{
    for (size_t i = 0; i < from->n_annotations; i++)
        (void)nri_adjustment_add_annotation(adjustment, from->annotations[i]->key,
                                            from->annotations[i]->value);
    for (size_t i = 0; i < from->n_env; i++) {
        const MESSAGE(KeyValue) *env = from->env[i];
        if (env->key[0] == '-')
            (void)nri_adjustment_remove_env(adjustment, env->key + 1);
        else
            (void)nri_adjustment_add_env(adjustment, env->key, env->value);
    }
    for (size_t i = 0; i < from->n_mounts; i++) {
        const MESSAGE(Mount) *mount = from->mounts[i];
        (void)nri_adjustment_add_mount(adjustment, mount->destination, mount->type, mount->source,
                                       (const char *const *)mount->options, mount->n_options);
    }
    if (from->linux != NULL && from->linux->resources != NULL)
        replay_resources(adjustment, from->linux->resources);
}

static void replay_updates(nri_updates *updates, MESSAGE(ContainerUpdate) * *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)nri_update_set_cpu_shares(nri_updates_container(updates, list[i]->container_id),
                                        list[i]->linux->resources->cpu->shares->value);
}

static void replay_message(nri_request *request, const ProtobufCMessage *message)
{
    nri_updates *updates = nri_request_updates(request);
    switch (nri_request_event(request)) {
    case NRI_EVENT_CREATE_CONTAINER: {
        const MESSAGE(CreateContainerResponse) *create =
            (const MESSAGE(CreateContainerResponse) *)message;
        if (create->adjust != NULL)
            replay_adjustment(nri_request_adjustment(request), create->adjust);
        replay_updates(updates, create->update, create->n_update);
        break;
    }
    case NRI_EVENT_UPDATE_CONTAINER: {
        const MESSAGE(UpdateContainerResponse) *update =
            (const MESSAGE(UpdateContainerResponse) *)message;
        replay_updates(updates, update->update, update->n_update);
        break;
    }
    case NRI_EVENT_CONFIGURE:
        (void)nri_request_set_events(
            request, (uint32_t)((const MESSAGE(ConfigureResponse) *)message)->events);
        break;
    default:
        break;
    }
}

static void on_updated(nri_plugin *plugin, const nri_update_result *result, void *user)
{
    (void)plugin;
    ((struct replay *)user)->updates_told += nri_update_result_code(result) == 0;
}

static void hear(struct replay *replay, const char *text)
{
    fake_require(nri_buf_append(&replay->heard, text, strlen(text) + 1) == 0);
}

static int handler(nri_request *request, void *user)
{
    struct replay *replay = user;
    const enum nri_event event = nri_request_event(request);
    char sizes[64];
    (void)snprintf(sizes, sizeof sizes, "%zu %zu %zu", nri_request_pod_count(request),
                   nri_request_container_count(request), nri_request_metadata_count(request));
    hear(replay, nri_event_name(event));
    hear(replay, nri_pod_id(nri_request_pod(request)));
    hear(replay, nri_container_id(nri_request_container(request)));
    hear(replay, sizes);
    if (event == NRI_EVENT_CONNECTED || event == NRI_EVENT_DISCONNECTED)
        return 0;
    replay->handlers++;
    if (event == NRI_EVENT_SYNCHRONIZE) {
        replay->pods = nri_request_pod_count(request);
        replay->containers = nri_request_container_count(request);
    }
    if (event == NRI_EVENT_POST_UPDATE_CONTAINER && replay->updates != NULL)
        fake_require(nri_core_update_containers(replay->fr.core, replay->updates, 0, NULL, 0,
                                                on_updated, replay, replay->fr.now,
                                                &replay->fr.error) == 0);
    const struct recorded *recorded =
        recording_find(&replay->recording, 1, nri_rpc_call_stream(request->call));
    if (recorded == NULL) { /* it never answered */
        fake_require(replay->held_count < sizeof replay->held / sizeof replay->held[0]);
        replay->held[replay->held_count++] = request;
        return NRI_PENDING;
    }
    if (recorded->grpc != 0)
        return nri_request_fail(request, NRI_E_REJECTED, recorded->text);
    replay_message(request, recorded->message);
    return 0;
}

/* ---- running ---- */

static void start_run(struct replay *replay)
{
    nri_buf_consume(&replay->out, nri_buf_size(&replay->out));
    nri_buf_consume(&replay->heard, nri_buf_size(&replay->heard));
    replay->updates_told = replay->handlers = 0;
    fake_require(nri_core_connected(replay->fr.core, replay->fr.now, &replay->fr.error) == 0);
}

static void take_output(struct replay *replay)
{
    const uint8_t *bytes;
    size_t count;
    nri_core_output(replay->fr.core, &bytes, &count);
    fake_require(nri_buf_append(&replay->out, bytes, count) == 0);
    nri_core_written(replay->fr.core, count);
}

static void end_run(struct replay *replay)
{
    take_output(replay);
    nri_core_disconnected(replay->fr.core, NRI_E_CLOSED, "", NRI_NO_ATTEMPT, replay->fr.now);
    while (replay->held_count > 0)
        nri_request_unref(replay->held[--replay->held_count]);
}

static void run_cut(struct replay *replay, struct capture_cut cut)
{
    const uint8_t *bytes;
    size_t count;
    start_run(replay);
    take_output(replay); /* RegisterPlugin is on its way before its reply comes */
    while (capture_cut_piece(&cut, &bytes, &count)) {
        nri_core_input(replay->fr.core, bytes, count, replay->fr.now);
        take_output(replay);
    }
    end_run(replay);
}

static void set_handlers(struct nri_plugin_ops *ops)
{
    /* All that the Go plugin had; NRI 0.8 knows no validation. */
    nri_handler *members[] = {
        &ops->on_configure,        &ops->on_synchronize,
        &ops->on_shutdown,         &ops->on_run_pod_sandbox,
        &ops->on_stop_pod_sandbox, &ops->on_remove_pod_sandbox,
        &ops->on_create_container, &ops->on_post_create_container,
        &ops->on_start_container,  &ops->on_post_start_container,
        &ops->on_update_container, &ops->on_post_update_container,
        &ops->on_stop_container,   &ops->on_remove_container,
        &ops->on_connected,        &ops->on_disconnected,
    };
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        *members[i] = handler;
}

static int setup(void **state)
{
    static struct replay replay;
    char name[256];
    replay = (struct replay){.updates = NULL};
    fake_runtime_init(&replay.fr, &replay);
    (void)snprintf(name, sizeof name, "%s.r2p.bin", capture_name);
    if (capture_file != NULL ? !capture_load_file(&replay.runtime, capture_file)
                             : !capture_load(&replay.runtime, name))
        return 1;
    (void)snprintf(name, sizeof name, "%s.p2r.bin", capture_name);
    if (!capture_load(&replay.plugin, name))
        return 1;
    recording_init(&replay.recording, replay.plugin.bytes, replay.plugin.size, replay.runtime.bytes,
                   replay.runtime.size);
    const struct recorded *identity = recording_request(&replay.recording, "RegisterPlugin");
    const MESSAGE(RegisterPluginRequest) *message =
        (const MESSAGE(RegisterPluginRequest) *)identity->message;
    replay.fr.config.name = message->plugin_name;
    replay.fr.config.index = message->plugin_idx;
    replay.fr.log.level = NRI_LOG_ERROR;
    set_handlers(&replay.fr.ops);
    nri_buf_init(&replay.out, &replay.fr.config.alloc, SIZE_MAX);
    nri_buf_init(&replay.heard, &replay.fr.config.alloc, SIZE_MAX);
    const struct recorded *updates = recording_request(&replay.recording, "UpdateContainers");
    if (updates != NULL) {
        const MESSAGE(UpdateContainersRequest) *list =
            (const MESSAGE(UpdateContainersRequest) *)updates->message;
        if (nri_updates_new(&replay.updates, NULL) != 0)
            return 1;
        replay_updates(replay.updates, list->update, list->n_update);
    }
    *state = &replay;
    return nri_core_new(&replay.fr.core, &replay.fr.config, &replay.fr.error);
}

static int teardown(void **state)
{
    struct replay *replay = *state;
    nri_buf_fini(&replay->out);
    nri_buf_fini(&replay->heard);
    nri_updates_free(replay->updates);
    recording_fini(&replay->recording);
    capture_free(&replay->runtime);
    capture_free(&replay->plugin);
    fake_runtime_fini(&replay->fr);
    return 0;
}

/* ---- the tests ---- */

static struct capture_cut whole(const struct replay *replay)
{
    return (struct capture_cut){.capture = &replay->runtime, .step = replay->runtime.size + 1};
}

static int by_key(const void *a, const void *b)
{
    const MESSAGE(KeyValue) *const *left = a, *const *right = b;
    return strcmp((*left)->key, (*right)->key);
}

/* Takes out what builders cannot build yet, what NRI 0.6 had not, and the order of variables. */
static void make_comparable(ProtobufCMessage *message)
{
    if (message->descriptor == &nri__pkg__api__v1alpha1__register_plugin_request__descriptor)
        ((MESSAGE(RegisterPluginRequest) *)message)->nri_version =
            (char *)(uintptr_t)protobuf_c_empty_string;
    if (message->descriptor != &nri__pkg__api__v1alpha1__create_container_response__descriptor)
        return;
    MESSAGE(ContainerAdjustment) *adjust = ((MESSAGE(CreateContainerResponse) *)message)->adjust;
    if (adjust == NULL)
        return;
    qsort(adjust->env, adjust->n_env, sizeof(void *), by_key);
    adjust->hooks = NULL;
    adjust->n_rlimits = 0;
    if (adjust->linux != NULL)
        adjust->linux->n_devices = 0;
}

static void compare_messages(const struct recorded *was, const struct recorded *is)
{
    size_t was_size, is_size;
    assert_int_equal(was->message == NULL, is->message == NULL);
    if (was->message == NULL)
        return;
    make_comparable(was->message);
    make_comparable(is->message);
    assert_int_equal(nri_message_size(was->message, &was_size, NULL), 0);
    assert_int_equal(nri_message_size(is->message, &is_size, NULL), 0);
    assert_int_equal(was_size, is_size);
    uint8_t *bytes = malloc(was_size + is_size + 1);
    assert_non_null(bytes);
    nri_message_encode(was->message, bytes);
    nri_message_encode(is->message, bytes + was_size);
    assert_memory_equal(bytes, bytes + was_size, was_size);
    free(bytes);
}

static void test_answers_mean_what_the_go_plugin_answered(void **state)
{
    struct replay *replay = *state;
    struct recording ours;
    run_cut(replay, whole(replay));
    recording_init(&ours, replay->out.data + replay->out.start, nri_buf_size(&replay->out),
                   replay->runtime.bytes, replay->runtime.size);
    assert_int_equal(ours.count, replay->recording.count);
    for (size_t i = 0; i < ours.count; i++) {
        const struct recorded *is = &ours.messages[i];
        const struct recorded *was = recording_find(&replay->recording, is->id, is->stream);
        assert_non_null(was);
        assert_int_equal(is->type, was->type);
        assert_string_equal(is->method, was->method);
        assert_int_equal(is->grpc, was->grpc);
        assert_string_equal(is->text, was->text);
        compare_messages(was, is);
    }
    assert_int_equal(replay->updates_told, replay->updates != NULL);
    recording_fini(&ours);
}

static void test_every_cut_is_the_same(void **state)
{
    struct replay *replay = *state;
    struct capture_cuts cuts = capture_cuts(&replay->runtime);
    struct capture_cut cut;
    struct nri_buf out, heard;
    size_t count = 0;
    run_cut(replay, whole(replay));
    out = replay->out;
    heard = replay->heard;
    const size_t handlers = replay->handlers, told = replay->updates_told;
    nri_buf_init(&replay->out, &replay->fr.config.alloc, SIZE_MAX);
    nri_buf_init(&replay->heard, &replay->fr.config.alloc, SIZE_MAX);
    while (capture_cuts_next(&cuts, &cut)) {
        run_cut(replay, cut);
        count++;
        if (nri_buf_size(&replay->out) != nri_buf_size(&out) ||
            memcmp(replay->out.data + replay->out.start, out.data + out.start,
                   nri_buf_size(&out)) != 0 ||
            nri_buf_size(&replay->heard) != nri_buf_size(&heard) ||
            memcmp(replay->heard.data + replay->heard.start, heard.data + heard.start,
                   nri_buf_size(&heard)) != 0 ||
            replay->handlers != handlers || replay->updates_told != told)
            fail_msg("%s: another outcome when cut at %zu, step %zu", capture_name, cut.at,
                     cut.step);
    }
    print_message("%s: %zu bytes, %zu frames, %zu handlers, %zu cuts\n", capture_name,
                  replay->runtime.size, replay->runtime.frame_count, handlers, count);
    if (capture_file == NULL) {
        assert_true(count >= replay->runtime.size - 1);
    } else { /* a full node: 40 containers of 200 KiB, 12 pods */
        assert_true(count >= 32 * replay->runtime.frame_count);
        assert_int_equal(replay->pods, 12);
        assert_int_equal(replay->containers, 40);
    }
    nri_buf_fini(&out);
    nri_buf_fini(&heard);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_answers_mean_what_the_go_plugin_answered, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_every_cut_is_the_same, setup, teardown),
    };
    if (argc != 2 && argc != 3) {
        (void)fprintf(stderr, "usage: %s CAPTURE [FILE]\n", argv[0]);
        return 2;
    }
    capture_name = argv[1];
    capture_file = argc == 3 ? argv[2] : NULL;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
