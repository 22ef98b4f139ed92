/* SPDX-License-Identifier: Apache-2.0 */
/* What a plugin that means harm says, byte by byte: no plugin side of libnri's would. */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "fixture.h"
#include "model/updates_builder.h"
#include "rpc_raw.h"
#include "runtime/internal.h"
#include "wire/reader.h"

#define ALL     0x3fff
#define SERVICE "nri.pkg.api.v1alpha1.Runtime"
/* So many that looking at each for each would take hours. */
#define MANY 300000u

static const uint64_t no_seed[2] = {0, 0};

/* ---- plugins by hand ---- */

static nri_runtime_plugin *attach(struct rt_fixture *fixture)
{
    const struct nri_rt_origin origin = {.kind = NRI_ORIGIN_EXTERNAL, .peer = "by hand"};
    nri_runtime_plugin *plugin;

    assert_int_equal(nri_rt_attach(fixture->rt, &origin, fixture->now, &plugin, NULL), 0);
    return plugin;
}

/* What is sent is gone through, and what comes back is not looked at. */
static void send(struct rt_fixture *fixture, nri_runtime_plugin *plugin, struct nri_buf *frames)
{
    const uint8_t *bytes;
    size_t count;

    nri_rt_input(plugin, frames->data + frames->start, nri_buf_size(frames), fixture->now);
    nri_rt_process(fixture->rt, fixture->now);
    nri_rt_output(plugin, &bytes, &count);
    nri_rt_written(plugin, count);
    nri_buf_fini(frames);
    raw_init(frames);
}

static void reply(struct nri_buf *out, uint32_t stream, const struct nri_buf *payload)
{
    struct nri_buf data;

    raw_init(&data);
    if (nri_buf_size(payload) > 0)
        raw_bytes(&data, 2, payload->data + payload->start, nri_buf_size(payload));
    raw_frame(out, NRI_MUX_PLUGIN_ID, stream, NRI_TTRPC_RESPONSE, 0,
              nri_buf_size(&data) == 0 ? (const uint8_t *)"" : data.data + data.start,
              nri_buf_size(&data));
    nri_buf_fini(&data);
}

/* The whole handshake; the next request has stream 5. */
static nri_runtime_plugin *join(struct rt_fixture *fixture, const char *index, uint32_t events)
{
    nri_runtime_plugin *plugin = attach(fixture);
    struct nri_buf frames, payload;

    raw_init(&frames);
    raw_init(&payload);
    raw_text(&payload, 1, "raw");
    raw_text(&payload, 2, index);
    raw_request(&frames, NRI_MUX_RUNTIME_ID, 1, SERVICE, "RegisterPlugin",
                payload.data + payload.start, nri_buf_size(&payload));
    send(fixture, plugin, &frames);
    nri_buf_fini(&payload);
    raw_init(&payload);
    raw_varint(&payload, 2, events);
    reply(&frames, 1, &payload);
    send(fixture, plugin, &frames);
    nri_buf_fini(&payload);
    raw_init(&payload);
    reply(&frames, 3, &payload);
    send(fixture, plugin, &frames);
    nri_buf_fini(&payload);
    nri_buf_fini(&frames);
    assert_int_equal(plugin->state, NRI_RT_ACTIVE);
    return plugin;
}

static void leave(struct rt_fixture *fixture, nri_runtime_plugin *plugin)
{
    nri_rt_ended(plugin, NRI_E_CLOSED, "it left", fixture->now);
    nri_rt_process(fixture->rt, fixture->now);
}

static struct rt_done *create(struct rt_fixture *fixture, const char *id)
{
    nri_pod *pod = rt_pod(id);
    nri_container *container = rt_container(id, id);

    fixture->pods[fixture->pod_count++] = pod;
    fixture->containers[fixture->container_count++] = container;
    struct rt_done *done = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pod, container);
    nri_rt_process(fixture->rt, fixture->now);
    return done;
}

static void ask_updates(struct rt_fixture *fixture, nri_runtime_plugin *plugin, uint32_t stream,
                        const struct nri_buf *payload)
{
    struct nri_buf frames;

    raw_init(&frames);
    raw_request(&frames, NRI_MUX_RUNTIME_ID, stream, SERVICE, "UpdateContainers",
                payload->data + payload->start, nri_buf_size(payload));
    send(fixture, plugin, &frames);
    nri_buf_fini(&frames);
}

/* ---- texts ---- */

static size_t count_lines(const char *text)
{
    size_t count = 0;

    for (; *text != '\0'; text++)
        count += *text == '\n' ? 1 : 0;
    return count;
}

/* A validator's reason of any length, cut anywhere. */
static void reject(struct rt_fixture *fixture, const char *id, const char *reason)
{
    const uint32_t validate = nri_event_bit(NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT);
    nri_runtime_plugin *plugin = join(fixture, "20", validate);
    struct nri_buf frames, payload;
    char *text;

    struct rt_done *done = create(fixture, id);
    raw_init(&frames);
    raw_init(&payload);
    raw_varint(&payload, 1, 1);
    raw_text(&payload, 2, reason);
    reply(&frames, 5, &payload);
    send(fixture, plugin, &frames);
    nri_buf_fini(&payload);
    nri_buf_fini(&frames);
    assert_done(done, NRI_E_REJECTED);
    const char *told = nri_outcome_text(done->outcome);
    assert_true(nri_utf8_valid(told, strlen(told), NULL));
    assert_null(strchr(told, '\n'));
    assert_int_equal(nri_outcome_json(done->outcome, NULL, &text, NULL), 0);
    nri_outcome_text_free(text);
    assert_int_equal(nri_outcome_table(done->outcome, NULL, &text, NULL), 0);
    assert_true(nri_utf8_valid(text, strlen(text), NULL));
    assert_int_equal(count_lines(text), 2); /* the event's, and that of one step */
    nri_outcome_text_free(text);
    leave(fixture, plugin);
}

static void test_reasons(void **state)
{
    struct rt_fixture *fixture = *state;
    char reason[4096] = "x", id[8];

    rt_start(fixture);
    for (size_t i = 0; i < 2000; i++)
        memcpy(reason + 1 + 2 * i, "\303\244", 3);
    for (size_t odd = 0; odd < 2; odd++) {
        (void)snprintf(id, sizeof id, "c%zu", odd);
        reject(fixture, id, reason + odd);
    }
    reject(fixture, "c2", "no\n10-good                     5 us  set       Env A\n");
}

/* ---- how much ---- */

static int fail_each(nri_runtime *runtime, nri_runtime_update *update, void *user)
{
    struct rt_fixture *fixture = user;
    const nri_updates *list = nri_runtime_update_list(update);

    (void)runtime;
    for (size_t i = 0; i < nri_updates_count(list); i++) {
        const char *id = nri_update_container_id(nri_updates_at(list, i));
        assert_int_equal(nri_runtime_update_fail(update, id), 0);
    }
    fixture->enumerations += nri_updates_count(list);
    for (size_t i = 0; i < update->count; i++)
        assert_true(update->failed[i]);
    return 0;
}

/* The same container again and again, and as many different ones. */
static void test_many_failures(void **state)
{
    struct rt_fixture *fixture = *state;
    struct nri_buf payload, one;
    char id[64];

    fixture->config.ops.update = fail_each;
    fixture->config.limits.max_receive = (size_t)16 << 20;
    fixture->config.max_merge_bytes = (size_t)1 << 30;
    rt_start(fixture);
    nri_runtime_plugin *plugin = join(fixture, "10", ALL);
    raw_init(&payload);
    for (size_t i = 0; i < MANY; i++) {
        (void)snprintf(id, sizeof id, "%032zu", i % 2 == 0 ? 0 : i);
        raw_init(&one);
        raw_text(&one, 1, id);
        raw_bytes(&payload, 1, one.data + one.start, nri_buf_size(&one));
        nri_buf_fini(&one);
    }
    ask_updates(fixture, plugin, 3, &payload);
    nri_buf_fini(&payload);
    assert_int_equal(fixture->enumerations, MANY + 1); /* and the one at the beginning */
    leave(fixture, plugin);
}

static int look_at_seed(nri_runtime *runtime, nri_runtime_update *update, void *user)
{
    const struct nri_updates *list = nri_runtime_update_list(update);

    (void)runtime;
    assert_memory_not_equal(list->builder.seed, no_seed, sizeof no_seed);
    assert_memory_equal(list->builder.seed, ((struct rt_fixture *)user)->rt->seed, sizeof no_seed);
    return 0;
}

/* A plugin chooses what is hashed: it must not know how. */
static void test_hash_is_secret(void **state)
{
    struct rt_fixture *fixture = *state;
    struct nri_buf payload, one;

    fixture->config.ops.update = look_at_seed;
    rt_start(fixture);
    nri_runtime_plugin *plugin = join(fixture, "10", ALL);
    raw_init(&payload);
    raw_init(&one);
    raw_text(&one, 1, "c");
    raw_bytes(&payload, 1, one.data + one.start, nri_buf_size(&one));
    raw_bytes(&payload, 2, one.data + one.start, nri_buf_size(&one));
    nri_buf_fini(&one);
    ask_updates(fixture, plugin, 3, &payload);
    nri_buf_fini(&payload);
    assert_string_equal(fixture->evicted, "10-raw:c: ");
    leave(fixture, plugin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rt_test(test_reasons),
        rt_test(test_many_failures),
        rt_test(test_hash_is_secret),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
