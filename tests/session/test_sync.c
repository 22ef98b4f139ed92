/* SPDX-License-Identifier: Apache-2.0 */
/* Synchronize: whole, in parts, part by part, over its limits, and cut off. */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>

#include "fail_alloc.h"
#include "plugin/internal.h"
#include "rpc_raw.h"

static void use_sync(struct session *s)
{
    recorder_own(&s->fr.ops);
    s->fr.ops.on_create_container = recorder_handler;
    s->fr.ops.on_synchronize = recorder_handler;
}

static const MESSAGE(SynchronizeResponse) * response_of(const struct rpc_outcome *outcome)
{
    assert_success(outcome);
    return (const MESSAGE(SynchronizeResponse) *)outcome->message;
}

static void expect_part(const struct rpc_outcome *outcome)
{
    const MESSAGE(SynchronizeResponse) *response = response_of(outcome);
    assert_true(response->more);
    assert_int_equal(response->n_update, 0);
}

/* Every pod and container is where it should be, read forwards, backwards and across. */
static void check_contents(const nri_request *request, size_t pods, size_t containers)
{
    char id[32];
    assert_int_equal(nri_request_pod_count(request), pods);
    assert_int_equal(nri_request_container_count(request), containers);
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < pods; i++) {
            const size_t at = round == 0 ? i : round == 1 ? pods - 1 - i : i * 7 % pods;
            (void)snprintf(id, sizeof id, "pod%zu", at);
            assert_string_equal(nri_pod_id(nri_request_pod_at(request, at)), id);
        }
        for (size_t i = 0; i < containers; i++) {
            const size_t at = round == 0 ? i : round == 1 ? containers - 1 - i : i * 7 % containers;
            (void)snprintf(id, sizeof id, "ctr%zu", at);
            assert_string_equal(nri_container_id(nri_request_container_at(request, at)), id);
        }
    }
    assert_string_equal(nri_pod_id(nri_request_pod_at(request, pods)), "");
    assert_string_equal(nri_container_id(nri_request_container_at(request, SIZE_MAX)), "");
}

static int update_and_keep(struct recorder *recorder, nri_request *request)
{
    if (recorder->data == NULL)
        (void)nri_update_set_cpu_shares(nri_updates_container(nri_request_updates(request), "ctr0"),
                                        7);
    return NRI_PENDING;
}

static void finish(struct session *s)
{
    for (size_t i = 0; i < s->recorder.held_count; i++) {
        (void)nri_request_complete(s->recorder.held[i], 0);
        nri_request_unref(s->recorder.held[i]);
    }
    s->recorder.held_count = 0;
    fake_runtime_run(&s->fr);
}

static void test_sync_in_one(void **state)
{
    struct session *s = *state;
    use_sync(s);
    fake_runtime_start(&s->fr);
    s->recorder.act = update_and_keep;
    const struct rpc_outcome *outcome = fake_runtime_sync(&s->fr, 0, 3, 0, 5, false);
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_SYNCHRONIZE), 1);
    check_contents(s->recorder.held[0], 3, 5);
    assert_false(nri_request_more(s->recorder.held[0]));
    finish(s);
    const MESSAGE(SynchronizeResponse) *response = response_of(outcome);
    assert_false(response->more);
    assert_int_equal(response->n_update, 1);
    assert_string_equal(response->update[0]->container_id, "ctr0");
}

static void test_empty_sync(void **state)
{
    struct session *s = *state;
    use_sync(s);
    fake_runtime_start(&s->fr);
    assert_false(response_of(fake_runtime_sync(&s->fr, 0, 0, 0, 0, false))->more);
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_SYNCHRONIZE), 1);
}

static void test_sync_in_parts(void **state)
{
    struct session *s = *state;
    use_sync(s);
    fake_runtime_start(&s->fr);
    s->recorder.act = update_and_keep;
    expect_part(fake_runtime_sync(&s->fr, 0, 4, 0, 0, true));
    expect_part(fake_runtime_sync(&s->fr, 4, 0, 0, 0, true)); /* empty */
    expect_part(fake_runtime_sync(&s->fr, 4, 2, 0, 9, true));
    expect_part(fake_runtime_sync(&s->fr, 6, 0, 9, 1, true));
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_SYNCHRONIZE), 0);
    const struct rpc_outcome *outcome = fake_runtime_sync(&s->fr, 6, 1, 10, 3, false);
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_SYNCHRONIZE), 1);
    check_contents(s->recorder.held[0], 7, 13);
    finish(s);
    assert_int_equal(response_of(outcome)->n_update, 1);
    /* The next one starts anew. */
    s->recorder.act = update_and_keep;
    (void)fake_runtime_sync(&s->fr, 0, 1, 0, 0, false);
    check_contents(s->recorder.held[0], 1, 0);
    finish(s);
}

static int update_all(struct recorder *recorder, nri_request *request)
{
    (void)recorder;
    const size_t count = nri_request_container_count(request);
    for (size_t i = 0; i < count; i++)
        (void)nri_update_set_cpu_shares(
            nri_updates_container(nri_request_updates(request),
                                  nri_container_id(nri_request_container_at(request, i))),
            7);
    return 0;
}

/* The memory of the reply goes by all parts, not by the last one. */
static void test_S51_updates_of_all_parts_in_an_empty_last_one(void **state)
{
    struct session *s = *state;
    use_sync(s);
    s->fr.config.limits.arena_factor = 64; /* the containers of this test are small */
    fake_runtime_start(&s->fr);
    s->recorder.act = update_all;
    expect_part(fake_runtime_sync(&s->fr, 0, 0, 0, 150, true));
    expect_part(fake_runtime_sync(&s->fr, 0, 0, 150, 150, true));
    const struct rpc_outcome *outcome = fake_runtime_sync(&s->fr, 0, 0, 0, 0, false);
    assert_int_equal(response_of(outcome)->n_update, 300);
}

static void test_sync_ends_in_an_empty_part(void **state)
{
    struct session *s = *state;
    use_sync(s);
    fake_runtime_start(&s->fr);
    s->recorder.act = update_and_keep;
    expect_part(fake_runtime_sync(&s->fr, 0, 2, 0, 2, true));
    (void)fake_runtime_sync(&s->fr, 0, 0, 0, 0, false);
    check_contents(s->recorder.held[0], 2, 2);
    finish(s);
}

static void test_parts_one_by_one(void **state)
{
    struct session *s = *state;
    recorder_own(&s->fr.ops);
    s->fr.ops.on_create_container = recorder_handler;
    s->fr.ops.on_synchronize_part = recorder_handler;
    fake_runtime_start(&s->fr);
    s->recorder.act = update_and_keep;
    s->recorder.data = s; /* no updates */
    const struct rpc_outcome *first = fake_runtime_sync(&s->fr, 0, 2, 0, 1, true);
    assert_int_equal(first->count, 0); /* pending */
    assert_int_equal(nri_request_event(s->recorder.held[0]), NRI_EVENT_SYNCHRONIZE_PART);
    assert_true(nri_request_more(s->recorder.held[0]));
    check_contents(s->recorder.held[0], 2, 1);
    finish(s);
    expect_part(first);
    const struct rpc_outcome *empty = fake_runtime_sync(&s->fr, 0, 0, 0, 0, true);
    finish(s);
    expect_part(empty);
    s->recorder.data = NULL;
    const struct rpc_outcome *last = fake_runtime_sync(&s->fr, 0, 1, 0, 2, false);
    assert_false(nri_request_more(s->recorder.held[0]));
    check_contents(s->recorder.held[0], 1, 2);
    finish(s);
    assert_int_equal(response_of(last)->n_update, 1);
    assert_false(response_of(last)->more);
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_SYNCHRONIZE_PART), 3);
}

static void test_updates_in_an_early_part_are_refused(void **state)
{
    struct session *s = *state;
    s->fr.ops.on_create_container = recorder_handler;
    s->fr.ops.on_synchronize_part = recorder_handler;
    fake_runtime_start(&s->fr);
    s->recorder.act = update_and_keep;
    const struct rpc_outcome *outcome = fake_runtime_sync(&s->fr, 0, 2, 0, 1, true);
    finish(s);
    assert_refusal(outcome, NRI_GRPC_FAILED_PRECONDITION, "last part");
}

/* ---- limits ---- */

static void test_max_sync_parts(void **state)
{
    struct session *s = *state;
    use_sync(s);
    s->fr.config.max_sync_parts = 3;
    fake_runtime_start(&s->fr);
    for (size_t i = 0; i < 3; i++)
        expect_part(fake_runtime_sync(&s->fr, i, 1, 0, 0, true));
    const struct rpc_outcome *outcome = fake_runtime_sync(&s->fr, 3, 1, 0, 0, true);
    assert_refusal(outcome, NRI_GRPC_RESOURCE_EXHAUSTED, "max_sync_parts");
    assert_contains(outcome->text, "3");
    /* Half a node must not pass for a whole one. */
    assert_refusal(fake_runtime_sync(&s->fr, 4, 1, 0, 0, true), NRI_GRPC_RESOURCE_EXHAUSTED,
                   "earlier part");
    assert_refusal(fake_runtime_sync(&s->fr, 5, 1, 0, 0, false), NRI_GRPC_RESOURCE_EXHAUSTED,
                   "earlier part");
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_SYNCHRONIZE), 0);
    /* And the connection goes on: a whole one is delivered. */
    (void)response_of(fake_runtime_sync(&s->fr, 0, 1, 0, 0, false));
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_SYNCHRONIZE), 1);
    assert_success(fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER));
}

static void test_max_sync_bytes(void **state)
{
    struct session *s = *state;
    use_sync(s);
    s->fr.config.max_sync_bytes = 100000;
    fake_runtime_start(&s->fr);
    size_t parts = 0;
    struct rpc_outcome *outcome = fake_runtime_sync(&s->fr, 0, 10, 0, 10, true);
    while (outcome->code == 0 && parts < 100) {
        parts++;
        outcome = fake_runtime_sync(&s->fr, 0, 10, 0, 10, true);
    }
    assert_in_range(parts, 1, 20);
    assert_refusal(outcome, NRI_GRPC_RESOURCE_EXHAUSTED, "max_sync_bytes");
    assert_contains(outcome->text, "100000");
    assert_non_null(fake_runtime_find_record(&s->fr, "max_sync_bytes"));
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_SYNCHRONIZE), 0);
}

static void test_max_sync_bytes_of_one_part(void **state)
{
    struct session *s = *state;
    use_sync(s);
    s->fr.config.max_sync_bytes = 1000;
    fake_runtime_start(&s->fr);
    assert_refusal(fake_runtime_sync(&s->fr, 0, 10, 0, 10, false), NRI_GRPC_RESOURCE_EXHAUSTED,
                   "max_sync_bytes");
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_SYNCHRONIZE), 0);
}

/* ---- the memory of parts ---- */

/* A part of one pod, in an envelope with an unknown field of `padding` bytes. */
static void raw_part(struct session *s, uint32_t stream, size_t padding, bool more)
{
    static const char pod[] = "\x0a\x04pod0";
    struct nri_buf payload, data, frame;
    char *pad = calloc(1, padding + 1);
    assert_non_null(pad);
    raw_init(&payload);
    raw_init(&data);
    raw_init(&frame);
    raw_bytes(&payload, 1, pod, sizeof pod - 1);
    raw_varint(&payload, 3, more);
    raw_text(&data, 1, "nri.pkg.api.v1alpha1.Plugin");
    raw_text(&data, 2, "Synchronize");
    raw_bytes(&data, 3, payload.data, nri_buf_size(&payload));
    raw_bytes(&data, 15, pad, padding);
    raw_frame(&frame, 1, stream, 1, 0, data.data, nri_buf_size(&data));
    nri_core_input(s->fr.core, frame.data, nri_buf_size(&frame), s->fr.now);
    nri_buf_fini(&payload);
    nri_buf_fini(&data);
    nri_buf_fini(&frame);
    free(pad);
}

/* The one answer that came; the fake runtime never sees it. */
static void take_answer(struct session *s, struct raw_response *answer)
{
    struct nri_buf out;
    struct raw_responses answers;
    const uint8_t *bytes;
    size_t count;
    raw_init(&out);
    nri_core_output(s->fr.core, &bytes, &count);
    assert_int_equal(nri_buf_append(&out, bytes, count), 0);
    nri_core_written(s->fr.core, count);
    raw_responses(&out, &answers);
    assert_int_equal(answers.count, 1);
    *answer = answers.all[0];
    answer->payload = NULL;
    raw_responses_free(&answers);
    nri_buf_fini(&out);
}

#define PADDING ((size_t)100 * 1024)
/* A receive buffer while it grows, and what is not of a part. */
#define BESIDES ((size_t)400 * 1024)

/* Without their receive buffers, 240 parts of next to nothing need little, and what they need is
 * counted. */
static void test_padded_parts_are_kept_without_padding(void **state)
{
    struct session *s = *state;
    struct fail_alloc memory;
    struct raw_response answer;
    fail_alloc_init(&memory, NULL);
    use_sync(s);
    s->fr.config.alloc = fail_alloc_resolved(&memory);
    s->fr.config.max_sync_bytes = (size_t)4 << 20;
    fake_runtime_start(&s->fr);
    const size_t before = memory.live_bytes;
    for (uint32_t i = 0; i < 240; i++) {
        raw_part(s, 1001 + 2 * i, PADDING, true);
        take_answer(s, &answer);
        assert_int_equal(answer.grpc, 0);
        assert_true(memory.live_bytes - before <= s->fr.core->sync.bytes + BESIDES);
    }
    assert_true(memory.live_bytes - before <= ((size_t)4 << 20) + BESIDES);
    raw_part(s, 1481, PADDING, false);
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_SYNCHRONIZE), 1);
    fake_runtime_fini(&s->fr);
    assert_int_equal(memory.live_blocks, 0);
    fake_runtime_init(&s->fr, &s->recorder);
}

/* Small parts until the limit: what is live never exceeds it, and goes with the refusal. */
static void test_max_sync_bytes_bounds_what_is_live(void **state)
{
    enum { LIMIT = 1 << 20 };
    struct session *s = *state;
    struct fail_alloc memory;
    struct raw_response answer = {0};
    fail_alloc_init(&memory, NULL);
    use_sync(s);
    s->fr.config.alloc = fail_alloc_resolved(&memory);
    s->fr.config.max_sync_bytes = LIMIT;
    fake_runtime_start(&s->fr);
    const size_t before = memory.live_bytes;
    uint32_t parts = 0;
    while (answer.grpc == 0 && parts < 1000) {
        raw_part(s, 1001 + 2 * parts++, PADDING, true);
        take_answer(s, &answer);
        assert_true(memory.live_bytes - before <= LIMIT + BESIDES);
    }
    assert_in_range(parts, 32, 500);
    assert_int_equal(answer.grpc, NRI_GRPC_RESOURCE_EXHAUSTED);
    assert_contains(answer.text, "max_sync_bytes");
    assert_true(memory.live_bytes - before <= BESIDES);
    fake_runtime_fini(&s->fr);
    assert_int_equal(memory.live_blocks, 0);
    fake_runtime_init(&s->fr, &s->recorder);
}

/* What was delivered counts until it is released, answered or not. */
static void test_a_held_sync_counts(void **state)
{
    struct session *s = *state;
    use_sync(s);
    s->fr.config.max_sync_bytes = 100000;
    fake_runtime_start(&s->fr);
    s->recorder.act = update_and_keep;
    s->recorder.data = s; /* no updates */
    expect_part(fake_runtime_sync(&s->fr, 0, 10, 0, 10, true));
    (void)fake_runtime_sync(&s->fr, 10, 10, 10, 10, false);
    const size_t held = atomic_load(&s->fr.core->shared->sync_bytes);
    assert_in_range(held, 30000, 100000);
    nri_request *request = nri_request_ref(s->recorder.held[0]);
    const struct rpc_outcome *outcome;
    size_t parts = 0;
    do {
        outcome = fake_runtime_sync(&s->fr, 0, 10, 0, 10, true);
    } while (outcome->code == 0 && ++parts < 100);
    assert_true(held + parts * 16384 <= 100000);
    assert_refusal(outcome, NRI_GRPC_RESOURCE_EXHAUSTED, "max_sync_bytes");
    assert_contains(outcome->text, "still holds");
    assert_refusal(fake_runtime_sync(&s->fr, 0, 1, 0, 0, false), NRI_GRPC_RESOURCE_EXHAUSTED,
                   "earlier part");
    finish(s); /* answered, but still held */
    assert_int_equal(atomic_load(&s->fr.core->shared->sync_bytes), held);
    nri_request_unref(request);
    assert_int_equal(atomic_load(&s->fr.core->shared->sync_bytes), 0);
    expect_part(fake_runtime_sync(&s->fr, 0, 10, 0, 10, true));
    expect_part(fake_runtime_sync(&s->fr, 10, 10, 10, 10, true));
}

/* What NRI 0.8.0 does with a node of few but large objects, until it gives up. */
static void test_loop_of_empty_parts_is_named(void **state)
{
    struct session *s = *state;
    use_sync(s);
    fake_runtime_start(&s->fr);
    for (int i = 0; i < 1000; i++)
        expect_part(fake_runtime_sync(&s->fr, 0, 0, 0, 0, true));
    assert_int_equal(fake_runtime_logged(&s->fr, NRI_LOG_WARN), 1);
    const struct fake_record *record = fake_runtime_find_record(&s->fr, "empty parts");
    assert_non_null(record);
    assert_contains(record->text, "NRI 0.8.0");
    (void)response_of(fake_runtime_sync(&s->fr, 0, 1, 0, 1, false));
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_SYNCHRONIZE), 1);
}

static void test_few_empty_parts_are_not_worth_a_word(void **state)
{
    struct session *s = *state;
    use_sync(s);
    fake_runtime_start(&s->fr);
    for (size_t i = 0; i < 100; i++) {
        expect_part(fake_runtime_sync(&s->fr, 0, 0, 0, 0, true));
        expect_part(fake_runtime_sync(&s->fr, i, 1, 0, 0, true));
    }
    assert_int_equal(fake_runtime_logged(&s->fr, NRI_LOG_WARN), 0);
}

/* ---- cut off ---- */

static void test_half_a_sync_is_dropped(void **state)
{
    struct session *s = *state;
    use_sync(s);
    fake_runtime_start(&s->fr);
    expect_part(fake_runtime_sync(&s->fr, 0, 5, 0, 5, true));
    fake_runtime_disconnect(&s->fr, NRI_E_CLOSED, "gone");
    s->recorder.act = NULL;
    fake_runtime_start(&s->fr);
    s->recorder.act = update_and_keep;
    (void)fake_runtime_sync(&s->fr, 0, 1, 0, 1, false);
    check_contents(s->recorder.held[0], 1, 1);
    finish(s);
}

static void test_a_kept_sync_outlives_the_core(void **state)
{
    struct session *s = *state;
    use_sync(s);
    fake_runtime_start(&s->fr);
    s->recorder.act = update_and_keep;
    expect_part(fake_runtime_sync(&s->fr, 0, 2, 0, 2, true));
    (void)fake_runtime_sync(&s->fr, 2, 2, 2, 2, false);
    nri_request *request = s->recorder.held[0];
    fake_runtime_disconnect(&s->fr, 0, "");
    nri_core_free(s->fr.core);
    s->fr.core = NULL;
    check_contents(request, 4, 4);
    assert_int_equal(nri_request_complete(request, 0), NRI_E_CLOSED);
    nri_request_unref(request);
}

static int fail_sync(struct recorder *recorder, nri_request *request)
{
    (void)recorder;
    return nri_request_fail(request, NRI_E_REJECTED, "cannot");
}

static void test_refused_sync(void **state)
{
    struct session *s = *state;
    use_sync(s);
    fake_runtime_start(&s->fr);
    s->recorder.act = fail_sync;
    expect_part(fake_runtime_sync(&s->fr, 0, 2, 0, 2, true));
    assert_refusal(fake_runtime_sync(&s->fr, 2, 2, 2, 2, false), NRI_GRPC_UNKNOWN, "cannot");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        session_test(test_sync_in_one),
        session_test(test_empty_sync),
        session_test(test_sync_in_parts),
        session_test(test_S51_updates_of_all_parts_in_an_empty_last_one),
        session_test(test_sync_ends_in_an_empty_part),
        session_test(test_parts_one_by_one),
        session_test(test_updates_in_an_early_part_are_refused),
        session_test(test_max_sync_parts),
        session_test(test_max_sync_bytes),
        session_test(test_max_sync_bytes_of_one_part),
        session_test(test_padded_parts_are_kept_without_padding),
        session_test(test_max_sync_bytes_bounds_what_is_live),
        session_test(test_a_held_sync_counts),
        session_test(test_loop_of_empty_parts_is_named),
        session_test(test_few_empty_parts_are_not_worth_a_word),
        session_test(test_half_a_sync_is_dropped),
        session_test(test_a_kept_sync_outlives_the_core),
        session_test(test_refused_sync),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
