/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Synchronize in large parts, as runtimes of NRI 0.8 and later send a full node, and one message
 * of 8 MB, as older ones do, in cuts near each frame boundary and in pieces.
 */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>

#include "capture.h"
#include "rpc_raw.h"

struct large {
    struct fake_runtime fr;
    struct nri_buf stream; /* what the runtime sends */
    struct nri_buf out, heard;
};

static int handler(nri_request *request, void *user)
{
    struct large *large = user;
    char line[128];
    const size_t pods = nri_request_pod_count(request);
    const size_t containers = nri_request_container_count(request);
    (void)snprintf(line, sizeof line, "%s %s %zu %zu %s %s",
                   nri_event_name(nri_request_event(request)),
                   nri_container_id(nri_request_container(request)), pods, containers,
                   nri_pod_id(nri_request_pod_at(request, pods - 1)),
                   nri_container_id(nri_request_container_at(request, containers - 1)));
    fake_require(nri_buf_append(&large->heard, line, strlen(line) + 1) == 0);
    return 0;
}

/* Has the runtime's side say something, and keeps its bytes instead of moving them. */
static void say(struct large *large, const char *method, const ProtobufCMessage *message)
{
    static struct rpc_outcome unused;
    const uint8_t *bytes;
    size_t count;
    unsigned index = 0;
    const ProtobufCServiceDescriptor *service = &nri__pkg__api__v1alpha1__plugin__descriptor;
    while (strcmp(service->methods[index].name, method) != 0)
        index++;
    fake_require(nri_rpc_invoke(large->fr.peer.rpc, index, message, 0, 0, NULL, 0, rpc_outcome_done,
                                &unused, NULL) == 0);
    nri_rpc_output(large->fr.peer.rpc, &bytes, &count);
    fake_require(nri_buf_append(&large->stream, bytes, count) == 0);
    nri_rpc_written(large->fr.peer.rpc, count);
}

static void say_sync(struct large *large, size_t first, size_t count, char *fat, bool more)
{
    MESSAGE(SynchronizeRequest) message;
    MESSAGE(Container) **containers = calloc(count, sizeof(void *));
    MESSAGE(PodSandbox) * pod;
    char id[32];
    fake_require(containers != NULL);
    INIT(synchronize_request)(&message);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(id, sizeof id, "ctr%zu", first + i);
        containers[i] = fake_container(&large->fr, id, "pod0", "name");
        containers[i]->status_message = fat;
    }
    (void)snprintf(id, sizeof id, "pod%zu", first);
    pod = fake_pod(&large->fr, id, "name");
    message.pods = &pod;
    message.n_pods = 1;
    message.containers = containers;
    message.n_containers = count;
    message.more = more;
    say(large, "Synchronize", &message.base);
    free(containers);
}

static void say_create(struct large *large)
{
    MESSAGE(CreateContainerRequest) message;
    INIT(create_container_request)(&message);
    message.container = fake_container(&large->fr, "new", "pod0", "name");
    say(large, "CreateContainer", &message.base);
}

static char *make_fat(struct large *large, size_t size)
{
    char *text = malloc(size + 1);
    fake_require(text != NULL);
    memset(text, 'x', size);
    text[size] = '\0';
    char *fat = fake_text(&large->fr, text);
    free(text);
    return fat;
}

static int setup(void **state)
{
    static struct large large;
    large = (struct large){.stream = {.start = 0}};
    fake_runtime_init(&large.fr, &large);
    large.fr.ops.on_create_container = handler;
    large.fr.ops.on_synchronize = handler;
    large.fr.log.level = NRI_LOG_ERROR;
    fake_require(nri_core_new(&large.fr.core, &large.fr.config, &large.fr.error) == 0);
    raw_init(&large.stream);
    raw_init(&large.out);
    raw_init(&large.heard);
    *state = &large;
    return 0;
}

/* The runtime's side alone, whose limits are those of an old runtime when `send` says so. */
static void begin_stream(struct large *large, size_t send)
{
    struct nri_rpc_limits limits;
    MESSAGE(ConfigureRequest) configure;
    nri_rpc_limits_default(&limits);
    limits.max_send = send;
    fake_require(rpc_peer_init_runtime(&large->fr.peer, &limits, NULL) == 0);
    raw_frame(&large->stream, 2, 1, 2, 0, "", 0); /* the reply to RegisterPlugin */
    INIT(configure_request)(&configure);
    say(large, "Configure", &configure.base);
}

static int teardown(void **state)
{
    struct large *large = *state;
    rpc_peer_fini(&large->fr.peer);
    nri_buf_fini(&large->stream);
    nri_buf_fini(&large->out);
    nri_buf_fini(&large->heard);
    fake_runtime_fini(&large->fr);
    return 0;
}

static void run_cut(struct large *large, struct capture_cut cut)
{
    const uint8_t *bytes, *out;
    size_t count;
    nri_buf_consume(&large->out, nri_buf_size(&large->out));
    nri_buf_consume(&large->heard, nri_buf_size(&large->heard));
    fake_require(nri_core_connected(large->fr.core, large->fr.now, &large->fr.error) == 0);
    while (capture_cut_piece(&cut, &bytes, &count)) {
        nri_core_input(large->fr.core, bytes, count, large->fr.now);
        nri_core_output(large->fr.core, &out, &count);
        fake_require(nri_buf_append(&large->out, out, count) == 0);
        nri_core_written(large->fr.core, count);
    }
    assert_false(nri_core_should_close(large->fr.core));
    nri_core_disconnected(large->fr.core, 0, "", NRI_NO_ATTEMPT, large->fr.now);
}

static bool same(const struct nri_buf *a, const struct nri_buf *b)
{
    return nri_buf_size(a) == nri_buf_size(b) &&
           memcmp(a->data + a->start, b->data + b->start, nri_buf_size(a)) == 0;
}

/* Cuts in two within 32 bytes of each frame boundary, then in pieces. */
static void check_cuts(struct large *large, const char *expected)
{
    static const size_t steps[] = {143, 4095, 4096, 4097, 65536};
    struct capture capture;
    struct nri_buf out, heard;
    size_t count = 0;
    assert_true(capture_make(&capture, "large", large->stream.data + large->stream.start,
                             nri_buf_size(&large->stream)));
    run_cut(large, (struct capture_cut){.capture = &capture, .step = capture.size});
    out = large->out;
    heard = large->heard;
    raw_init(&large->out);
    raw_init(&large->heard);
    assert_string_equal((const char *)heard.data + heard.start, expected);
    for (size_t frame = 0; frame <= capture.frame_count; frame++) {
        const size_t boundary = capture.frames[frame];
        for (size_t at = boundary < 32 ? 1 : boundary - 32;
             at <= boundary + 32 && at < capture.size; at++, count++) {
            run_cut(large, (struct capture_cut){.capture = &capture, .at = at});
            assert_true(same(&out, &large->out) && same(&heard, &large->heard));
        }
    }
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++, count++) {
        run_cut(large, (struct capture_cut){.capture = &capture, .step = steps[i]});
        assert_true(same(&out, &large->out) && same(&heard, &large->heard));
    }
    print_message("%zu bytes, %zu frames, %zu cuts\n", capture.size, capture.frame_count, count);
    nri_buf_fini(&out);
    nri_buf_fini(&heard);
    capture_free(&capture);
}

static void test_split_sync_in_every_kind_of_cut(void **state)
{
    struct large *large = *state;
    char *fat = make_fat(large, 3000);
    begin_stream(large, (size_t)4 << 20);
    say_sync(large, 0, 100, fat, true);
    say_sync(large, 100, 80, fat, true);
    say_sync(large, 180, 60, fat, false);
    say_create(large);
    check_cuts(large, "Synchronize  3 240 pod180 ctr239");
}

/* NRI 0.6.1 sent a full node as one message of 8 MB; Go plugins cannot take it. */
static void test_one_message_of_8_MB(void **state)
{
    struct large *large = *state;
    static const size_t steps[] = {4096, 65536, 1 << 20};
    struct capture capture;
    char *fat = make_fat(large, (size_t)200 << 10);
    begin_stream(large, (size_t)16 << 20);
    say_sync(large, 0, 40, fat, false);
    say_create(large);
    assert_true(nri_buf_size(&large->stream) > (size_t)8000000);
    assert_true(capture_make(&capture, "8 MB", large->stream.data + large->stream.start,
                             nri_buf_size(&large->stream)));
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        run_cut(large, (struct capture_cut){.capture = &capture, .step = steps[i]});
        assert_string_equal((const char *)large->heard.data + large->heard.start,
                            "Synchronize  1 40 pod0 ctr39");
    }
    capture_free(&capture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_split_sync_in_every_kind_of_cut, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_message_of_8_MB, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
