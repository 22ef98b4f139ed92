/* SPDX-License-Identifier: Apache-2.0 */
/* The runtimes that a node can be like: what is found by which name, and what plugins see of it. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/socket.h"
#include "proto/nri.pb-c.h"
#include "proto/ttrpc.pb-c.h"
#include "rig.h"
#include "rpc_raw.h"

#define MUX_HEADER   8
#define TTRPC_HEADER 10

/* ---- finding ---- */

/* What it says when there is none; "" when there is one. */
static const char *find(const char *text, struct imitate *imitate)
{
    static char said[512];
    char *buffer = NULL;
    size_t size = 0;
    struct nrictl ctl = {.command = "sim", .err = open_memstream(&buffer, &size)};
    const int code = imitate_find(&ctl, text, imitate);
    (void)fclose(ctl.err);
    (void)snprintf(said, sizeof said, "%s", buffer);
    free(buffer);
    assert_int_equal(code, said[0] == '\0' ? NRICTL_OK : NRICTL_USAGE);
    return said;
}

static void expect_found(const char *text, const char *name, const char *version, const char *nri)
{
    struct imitate imitate;
    assert_string_equal(find(text, &imitate), "");
    assert_string_equal(imitate.name, name);
    assert_string_equal(imitate.version, version);
    assert_string_equal(imitate.nri, nri);
}

static void test_finding(void **state)
{
    (void)state;
    expect_found("containerd@2.1", "containerd", "2.1.9", "0.8.0");
    expect_found("containerd@2.1.4", "containerd", "2.1.4", "0.8.0");
    expect_found("containerd@1.7.24~ds1", "containerd", "1.7.24~ds1", "0.6.1");
    expect_found("containerd@2.1.9+unknown", "containerd", "2.1.9+unknown", "0.8.0");
    expect_found("containerd@1", "containerd", "1.7.34", "0.8.0");
    expect_found("containerd", "containerd", "2.3.4", "0.12.0");
    expect_found("v2@2.2.0", "v2", "2.2.0", "0.10.0");
    expect_found("v2", "v2", "2.3.4", "0.12.0");
    expect_found("cri-o@1.35", "cri-o", "1.35.6", "0.11.0");
    expect_found("docker@29.6", "docker", "29.6.2", "0.12.0");
}

static void test_not_found(void **state)
{
    struct imitate imitate;
    (void)state;
    assert_non_null(strstr(find("podman", &imitate), "there are containerd, cri-o and docker"));
    assert_non_null(strstr(find("contain@2.1", &imitate), "--runtime contain@2.1"));
    assert_non_null(strstr(find("containerd@9.9", &imitate), "no NRI is known"));
    assert_non_null(strstr(find("containerd@1.6.20", &imitate), "no NRI is known"));
    assert_non_null(strstr(find("docker@28.0.0", &imitate), "no NRI is known"));
    assert_non_null(strstr(find("containerd@", &imitate), "no NRI is known"));
    assert_non_null(strstr(find("", &imitate), "there are"));
}

static void test_differences(void **state)
{
    struct imitate old, crio, docker, new;
    (void)state;
    assert_string_equal(find("containerd@1.7.10", &old), "");
    assert_string_equal(find("cri-o@1.35", &crio), "");
    assert_string_equal(find("docker", &docker), "");
    assert_string_equal(find("containerd@2.3", &new), "");
    assert_true(old.no_status && !old.tells_nri && !old.tells_times);
    assert_int_equal(old.events, 0x7ff);
    assert_true(crio.strict_updates && crio.no_container_pid && crio.tells_times);
    assert_int_equal(crio.sends,
                     NRI_EVENTS_ALL & ~NRI_EVENT_BIT(NRI_EVENT_POST_UPDATE_POD_SANDBOX));
    assert_true(docker.no_updates);
    assert_int_equal(docker.merge_policy[NRI_FIELD_ARGS], NRI_MERGE_UNSUPPORTED);
    assert_int_equal(docker.merge_policy[NRI_FIELD_ENV], NRI_MERGE_REJECT);
    assert_true(new.tells_nri &&new.tells_times && !new.no_status && !new.strict_updates);
    assert_int_equal(new.merge_policy[NRI_FIELD_MEMORY_POLICY], NRI_MERGE_REJECT);
    assert_true(new.go_compatible &&new.no_evictions);
}

static void test_list(void **state)
{
    char *buffer = NULL;
    size_t size = 0;
    struct nrictl ctl = {.command = "sim", .out = open_memstream(&buffer, &size), .err = stderr};
    (void)state;
    assert_int_equal(imitate_list(&ctl), NRICTL_OK);
    (void)fflush(ctl.out);
    assert_non_null(strstr(buffer, "containerd@2.1.9"));
    assert_non_null(strstr(buffer, "only creations"));
    assert_non_null(strstr(buffer, "no PostUpdatePodSandbox"));
    ctl.json = true;
    assert_int_equal(imitate_list(&ctl), NRICTL_OK);
    (void)fclose(ctl.out);
    assert_non_null(strstr(buffer, "\"tells_nri_version\": false"));
    free(buffer);
}

/* ---- what is on the wire ---- */

/* A plugin by hand. */
struct peer {
    int fd;
    uint8_t bytes[8192];
    size_t have;
};

static void send_all(struct peer *peer, struct nri_buf *buf)
{
    assert_int_equal(write(peer->fd, buf->data + buf->start, nri_buf_size(buf)), nri_buf_size(buf));
    nri_buf_fini(buf);
}

static bool receive(struct peer *peer)
{
    const ssize_t got = read(peer->fd, peer->bytes + peer->have, sizeof peer->bytes - peer->have);
    if (got > 0)
        peer->have += (size_t)got;
    return got == 0;
}

static uint32_t number(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* The next request of the runtime, taken out of the bytes; NULL: not yet whole. */
static Ttrpc__Request *take_request(struct peer *peer, uint32_t *stream)
{
    Ttrpc__Request *request = NULL;
    while (peer->have >= MUX_HEADER + TTRPC_HEADER &&
           peer->have >= MUX_HEADER + number(peer->bytes + 4) && request == NULL) {
        const size_t size = MUX_HEADER + number(peer->bytes + 4);
        const uint8_t *frame = peer->bytes + MUX_HEADER;
        if (frame[8] == 1) {
            request = ttrpc__request__unpack(NULL, number(frame), frame + TTRPC_HEADER);
            assert_non_null(request);
            *stream = number(frame + 4);
        }
        peer->have -= size;
        memmove(peer->bytes, peer->bytes + size, peer->have);
    }
    return request;
}

static Ttrpc__Request *next_request(struct rig *rig, struct peer *peer, uint32_t *stream)
{
    Ttrpc__Request *request = NULL;
    rig_wait(rig, (receive(peer), (request = take_request(peer, stream)) != NULL));
    return request;
}

/* ttrpc.Response with that payload. */
static void respond(struct peer *peer, uint32_t stream, const void *payload, size_t size)
{
    struct nri_buf data, out;
    raw_init(&data);
    raw_init(&out);
    raw_bytes(&data, 2, payload, size);
    raw_frame(&out, 1, stream, 2, 0, data.data + data.start, nri_buf_size(&data));
    nri_buf_fini(&data);
    send_all(peer, &out);
}

static Nri__Pkg__Api__V1alpha1__ConfigureRequest *meet(struct rig *rig, struct peer *peer,
                                                       const char *runtime, uint32_t *stream)
{
    static struct imitate imitate;
    struct nri_buf payload, out;
    assert_string_equal(find(runtime, &imitate), "");
    rig->options.imitate = &imitate;
    rig->options.request_timeout_ms = rig->options.registration_timeout_ms = 0;
    rig_start(rig);
    assert_int_equal(nri_socket_connect(node_socket(rig->node), &peer->fd, NULL), 0);
    raw_init(&payload);
    raw_init(&out);
    raw_text(&payload, 1, "peer");
    raw_text(&payload, 2, "10");
    raw_text(&payload, 3, "v0.12.2"); /* the plugin's own, which an old runtime does not look at */
    raw_request(&out, 2, 1, "nri.pkg.api.v1alpha1.Runtime", "RegisterPlugin",
                payload.data + payload.start, nri_buf_size(&payload));
    nri_buf_fini(&payload);
    send_all(peer, &out);
    Ttrpc__Request *request = next_request(rig, peer, stream);
    assert_string_equal(request->method, "Configure");
    Nri__Pkg__Api__V1alpha1__ConfigureRequest *configure =
        nri__pkg__api__v1alpha1__configure_request__unpack(NULL, request->payload.len,
                                                           request->payload.data);
    assert_non_null(configure);
    ttrpc__request__free_unpacked(request, NULL);
    return configure;
}

static void answer_events(struct peer *peer, uint32_t stream, uint32_t events)
{
    struct nri_buf payload;
    raw_init(&payload);
    raw_varint(&payload, 2, events);
    respond(peer, stream, payload.data + payload.start, nri_buf_size(&payload));
    nri_buf_fini(&payload);
}

/* The runtime of NRI 0.6: what came later is refused. */
static void test_old_refuses_new_events(void **state)
{
    struct rig *rig = *state;
    struct peer peer = {.have = 0};
    uint32_t stream = 0;
    Nri__Pkg__Api__V1alpha1__ConfigureRequest *configure =
        meet(rig, &peer, "containerd@1.7.24~ds1", &stream);
    assert_string_equal(configure->runtime_name, "containerd");
    assert_string_equal(configure->runtime_version, "1.7.24~ds1");
    assert_string_equal(configure->nri_version, "");
    assert_int_equal(configure->request_timeout, 0);
    assert_int_equal(configure->registration_timeout, 0);
    nri__pkg__api__v1alpha1__configure_request__free_unpacked(configure, NULL);
    answer_events(&peer, stream, NRI_EVENT_BIT(NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT) | 1);
    rig_wait(rig, receive(&peer)); /* closed */
    assert_int_equal(rig->connected, 0);
    (void)close(peer.fd);
}

static const char *notification(struct rig *rig, const char *runtime, const char *told)
{
    static char method[64];
    struct peer peer = {.have = 0};
    struct deed deed = {.over = false};
    uint32_t stream = 0;
    Nri__Pkg__Api__V1alpha1__ConfigureRequest *configure = meet(rig, &peer, runtime, &stream);
    assert_string_equal(configure->nri_version, told);
    assert_int_equal(configure->request_timeout, 2000);
    assert_int_equal(configure->registration_timeout, 5000);
    nri__pkg__api__v1alpha1__configure_request__free_unpacked(configure, NULL);
    answer_events(&peer, stream, 0); /* all that it knows */
    Ttrpc__Request *request = next_request(rig, &peer, &stream);
    assert_string_equal(request->method, "Synchronize");
    ttrpc__request__free_unpacked(request, NULL);
    respond(&peer, stream, NULL, 0);
    rig_wait(rig, rig->connected == 1);
    assert_int_equal(node_run_pod(rig->node, rig_pod("pod"), deed_done, &deed), 0);
    request = next_request(rig, &peer, &stream);
    (void)snprintf(method, sizeof method, "%s", request->method);
    ttrpc__request__free_unpacked(request, NULL);
    respond(&peer, stream, NULL, 0);
    deed_good(rig, &deed);
    (void)close(peer.fd);
    return method;
}

static void test_notifications_before_0_12(void **state)
{
    assert_string_equal(notification(*state, "containerd@2.2", ""), "StateChange");
}

static void test_notifications_since_0_12(void **state)
{
    assert_string_equal(notification(*state, "containerd@2.3", "0.12.0"), "RunPodSandbox");
}

/* ---- what plugins of libnri see ---- */

static void test_docker(void **state)
{
    struct rig *rig = *state;
    struct imitate imitate;
    struct guest guest = {.count = 0};
    struct deed deeds[4] = {{.over = false}};
    assert_string_equal(find("docker@29.6", &imitate), "");
    rig->options.imitate = &imitate;
    rig_start(rig);
    guest_start(&guest, rig, "10", "guest");
    assert_int_equal(node_run_pod(rig->node, rig_pod("c"), deed_done, &deeds[0]), 0);
    assert_int_equal(node_create(rig->node, "c", rig_container("c"), deed_done, &deeds[1]), 0);
    assert_int_equal(node_start_container(rig->node, "c", deed_done, &deeds[2]), 0);
    assert_int_equal(node_remove_pod(rig->node, "c", deed_done, &deeds[3]), 0);
    for (int i = 0; i < 4; i++)
        deed_good(rig, &deeds[i]);
    assert_int_equal(guest.count, 1);
    assert_int_equal(guest_count(&guest, "CreateContainer c"), 1);
    assert_string_equal(nri_plugin_runtime_name(guest.plugin), "docker");
    guest_close(&guest, rig);
}

static int adjust(struct guest *guest, nri_request *request)
{
    static const char *const args[] = {"other"};
    nri_adjustment *adjustment = nri_request_adjustment(request);
    (void)guest;
    if (nri_request_event(request) != NRI_EVENT_CREATE_CONTAINER)
        return 0;
    (void)nri_adjustment_add_env(adjustment, "HELLO", "nri");
    (void)nri_adjustment_set_args(adjustment, args, 1);
    (void)nri_adjustment_add_cdi_device(adjustment, "vendor.com/class=one");
    (void)nri_adjustment_set_io_priority(adjustment, NRI_IOPRIO_CLASS_BE, 3);
    (void)nri_adjustment_set_memory_limit(adjustment, 64 << 20);
    (void)nri_adjustment_set_memory_reservation(adjustment, 32 << 20);
    return nri_adjustment_set_cpu_shares(adjustment, 333);
}

/* What a release does not act on does not get into the container. */
static void expect_ignored(struct rig *rig, const char *runtime, bool all)
{
    struct imitate imitate;
    struct guest guest = {.act = adjust};
    int64_t limit = 0;
    assert_string_equal(find(runtime, &imitate), "");
    rig->options.imitate = &imitate;
    rig_start(rig);
    guest_start(&guest, rig, "10", "guest");
    rig_run(rig, "pod", "c");
    const nri_container *container = rig_get(rig, "c");
    const nri_resources *resources = nri_container_resources(container);
    assert_true(nri_container_env(container, "HELLO", NULL));
    assert_int_equal(rig_shares(container), 333);
    assert_true(nri_resources_memory_limit(resources, &limit));
    assert_int_equal(limit, 64 << 20);
    assert_false(nri_resources_memory_reservation(resources, NULL));
    assert_int_equal(nri_container_arg_count(container), all ? 1 : 0);
    assert_int_equal(nri_container_io_priority(container, NULL, NULL), all);
    assert_int_equal(nri_container_cdi_device_count(container), 1);
    guest_close(&guest, rig);
}

static void test_ignored_by_old(void **state)
{
    expect_ignored(*state, "containerd@2.1", false);
}

static void test_ignored_by_new(void **state)
{
    expect_ignored(*state, "containerd@2.3", true);
}

static void test_inferred_version(void **state)
{
    struct rig *rig = *state;
    struct imitate imitate;
    struct guest guest = {.count = 0};
    assert_string_equal(find("containerd@2.1", &imitate), "");
    rig->options.imitate = &imitate;
    rig_start(rig);
    guest_start(&guest, rig, "10", "guest");
    rig_run(rig, "pod", "c");
    assert_string_equal(nri_plugin_runtime_nri_version(guest.plugin), "0.8.0");
    assert_true(nri_plugin_nri_version_is_inferred(guest.plugin));
    assert_int_equal(nri_container_started_at(rig_get(rig, "c")), 0); /* since NRI 0.10 */
    guest_close(&guest, rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finding),
        cmocka_unit_test(test_not_found),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_list),
        cmocka_unit_test_setup_teardown(test_old_refuses_new_events, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_notifications_before_0_12, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_notifications_since_0_12, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_docker, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_ignored_by_old, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_ignored_by_new, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_inferred_version, rig_setup, rig_teardown),
    };
    return cmocka_run_group_tests_name("imitate", tests, NULL, NULL);
}
