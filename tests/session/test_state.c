/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin with a state cache: what it subscribes to, what its handlers find, and what becomes of
 * it over connections. */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>

#include "fail_alloc.h"
#include "plugin/internal.h"
#include "plugin/state.h"

#define BIT(event) NRI_EVENT_BIT(NRI_EVENT_##event)

/* A session whose plugin has a state cache; a checkpoint that counts, and fails if told so. */
struct kept {
    struct session session; /* first: session.h's tests get one */
    nri_state *state;
    struct fail_alloc memory;
    char removed[256];
    size_t saves, saves_at_reply;
    int save_code;
};

static void container_removed(nri_state *state, nri_state_container *container,
                              enum nri_state_cause cause, void *user)
{
    struct kept *kept = user;
    const size_t used = strlen(kept->removed);
    (void)state;
    (void)snprintf(kept->removed + used, sizeof kept->removed - used, "%s:%d ",
                   nri_container_id(nri_state_container_get(container)), (int)cause);
}

static int load(void *context, struct nri_buf *content, bool *found, struct nri_error *error)
{
    (void)context;
    (void)content;
    (void)error;
    *found = false;
    return 0;
}

static int save(void *context, const uint8_t *bytes, size_t count, struct nri_error *error)
{
    struct kept *kept = context;
    (void)bytes;
    (void)count;
    kept->saves++;
    return kept->save_code == 0 ? 0 : nri_error_set(error, kept->save_code, "save failed");
}

static int setup(void **state)
{
    struct kept *kept = calloc(1, sizeof *kept);
    if (kept == NULL)
        return 1;
    struct session *s = &kept->session;
    fake_runtime_init(&s->fr, &s->recorder);
    fail_alloc_init(&kept->memory, NULL);
    const struct nri_state_config config = {
        .ops = {.container_removed = container_removed},
        .user = kept,
        .alloc = fail_alloc_resolved(&kept->memory),
        .host = &s->fr.host,
        .max_note_bytes = 64,
        .max_checkpoint_bytes = 4096,
        .store = {.context = kept, .name = "kept", .load = load, .save = save},
    };
    if (nri_state_make(&kept->state, &config, NULL) != 0)
        return 1;
    s->fr.config.state = kept->state;
    s->recorder.data = kept;
    *state = kept;
    return 0;
}

static int teardown(void **state)
{
    struct kept *kept = *state;
    fake_runtime_fini(&kept->session.fr);
    fail_alloc_arm(&kept->memory, 0);
    nri_state_free(kept->state);
    assert_int_equal(kept->memory.live_blocks, 0);
    free(kept);
    return 0;
}

#define kept_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static const char *find(struct kept *kept, const char *id)
{
    return nri_container_name(nri_state_container_get(nri_state_find_container(kept->state, id)));
}

/* ---- what is subscribed to ---- */

static void test_its_events_are_added(void **state)
{
    struct kept *kept = *state;
    struct fake_runtime *fr = &kept->session.fr;
    fr->ops.on_start_container = recorder_handler;
    fake_runtime_connect(fr);
    const MESSAGE(ConfigureResponse) *response = (const void *)fake_runtime_configure(fr)->message;
    assert_int_equal((uint32_t)response->events,
                     BIT(START_CONTAINER) | BIT(RUN_POD_SANDBOX) | BIT(REMOVE_POD_SANDBOX) |
                         BIT(POST_UPDATE_POD_SANDBOX) | BIT(CREATE_CONTAINER) |
                         BIT(POST_CREATE_CONTAINER) | BIT(POST_START_CONTAINER) |
                         BIT(POST_UPDATE_CONTAINER) | BIT(STOP_CONTAINER) | BIT(REMOVE_CONTAINER));
    /* Without a handler they are answered empty, and taken in. */
    assert_success(fake_runtime_event(fr, NRI_EVENT_RUN_POD_SANDBOX));
    assert_success(fake_runtime_event(fr, NRI_EVENT_CREATE_CONTAINER));
    assert_string_equal(find(kept, "ctr0"), "ctr-name");
    assert_int_equal(nri_state_pod_count(kept->state), 1);
    assert_success(fake_runtime_event(fr, NRI_EVENT_REMOVE_CONTAINER));
    assert_int_equal(nri_state_container_count(kept->state), 0);
    assert_int_equal(recorder_seen(&kept->session.recorder, NRI_EVENT_CREATE_CONTAINER), 0);
}

static int narrow(struct recorder *recorder, nri_request *request)
{
    (void)recorder;
    if (nri_request_event(request) != NRI_EVENT_CONFIGURE)
        return 0;
    return nri_request_set_events(request, BIT(START_CONTAINER));
}

static void test_narrowing_keeps_them(void **state)
{
    struct kept *kept = *state;
    struct session *s = &kept->session;
    recorder_all(&s->fr.ops);
    s->recorder.act = narrow;
    fake_runtime_start(&s->fr);
    assert_success(fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER));
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_CREATE_CONTAINER), 0);
    assert_string_equal(find(kept, "ctr0"), "ctr-name");
}

/* Of an old runtime, which has StateChange for most events and not all of them. */
static void test_old_runtime(void **state)
{
    struct kept *kept = *state;
    struct fake_runtime *fr = &kept->session.fr;
    fr->ops.on_start_container = recorder_handler;
    fr->nri_version = "";
    fr->version = "v1.7.24";
    fake_runtime_start(fr);
    assert_int_equal(nri_core_events(fr->core) & ~NRI_EVENTS_CLASSIC, 0);
    assert_success(fake_runtime_state_change(fr, NRI_EVENT_RUN_POD_SANDBOX));
    assert_success(fake_runtime_event(fr, NRI_EVENT_CREATE_CONTAINER));
    assert_success(fake_runtime_state_change(fr, NRI_EVENT_POST_START_CONTAINER));
    assert_int_equal(nri_state_pod_count(kept->state) + nri_state_container_count(kept->state), 2);
    assert_success(fake_runtime_state_change(fr, NRI_EVENT_REMOVE_POD_SANDBOX));
    assert_string_equal(kept->removed, "ctr0:2 ");
    assert_int_equal(nri_state_pod_count(kept->state), 0);
}

/* ---- what handlers find ---- */

static int expect_there(struct recorder *recorder, nri_request *request)
{
    struct kept *kept = recorder->data;
    if (nri_event_bit(nri_request_event(request)) == 0)
        return 0;
    const char *id = nri_container_id(nri_request_container(request));
    if (id[0] != '\0')
        assert_non_null(nri_state_find_container(kept->state, id));
    assert_non_null(nri_state_find_pod(kept->state, nri_pod_id(nri_request_pod(request))));
    return 0;
}

static void test_each_handler_finds_its_objects(void **state)
{
    struct kept *kept = *state;
    struct session *s = &kept->session;
    recorder_all(&s->fr.ops);
    s->recorder.act = expect_there;
    fake_runtime_start(&s->fr);
    for (int event = 1; event <= 14; event++) {
        assert_success(fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER));
        const size_t seen = recorder_seen(&s->recorder, (enum nri_event)event);
        assert_success(fake_runtime_event(&s->fr, (enum nri_event)event));
        assert_int_equal(recorder_seen(&s->recorder, (enum nri_event)event), seen + 1);
    }
}

/* What is not in the mask for its own sake is taken in when the plugin has a handler for it. */
static void test_first_told_by_a_handler_s_event(void **state)
{
    struct kept *kept = *state;
    struct session *s = &kept->session;
    s->fr.ops.on_start_container = recorder_handler;
    s->recorder.act = expect_there;
    fake_runtime_start(&s->fr);
    assert_success(fake_runtime_event(&s->fr, NRI_EVENT_START_CONTAINER));
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_START_CONTAINER), 1);
    assert_string_equal(find(kept, "ctr0"), "ctr-name");
}

static void test_no_memory_refuses(void **state)
{
    struct kept *kept = *state;
    struct session *s = &kept->session;
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    fail_alloc_arm(&kept->memory, 1);
    assert_refusal(fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER), 13,
                   "the state cache has no memory for what CreateContainer tells");
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_CREATE_CONTAINER), 0);
    assert_success(fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER));
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_CREATE_CONTAINER), 1);
    fail_alloc_arm(&kept->memory, 1);
    assert_refusal(fake_runtime_sync(&s->fr, 0, 9, 0, 9, false), 13,
                   "the state cache had no memory for the pods and containers of Synchronize");
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_SYNCHRONIZE), 0);
    assert_false(nri_state_is_synchronized(kept->state));
}

/* ---- Synchronize ---- */

static int expect_synchronized(struct recorder *recorder, nri_request *request)
{
    struct kept *kept = recorder->data;
    if (nri_request_event(request) == NRI_EVENT_SYNCHRONIZE) {
        assert_true(nri_state_is_synchronized(kept->state));
        assert_int_equal(nri_state_container_count(kept->state),
                         nri_request_container_count(request));
    }
    return 0;
}

static void synchronize_in_parts(struct kept *kept)
{
    struct fake_runtime *fr = &kept->session.fr;
    fake_runtime_start(fr);
    assert_success(fake_runtime_sync(fr, 0, 2, 0, 3, true));
    assert_false(nri_state_is_synchronized(kept->state));
    assert_success(fake_runtime_sync(fr, 0, 0, 3, 4, true));
    const struct rpc_outcome *outcome = fake_runtime_sync(fr, 2, 1, 7, 1, false);
    assert_success(outcome);
    assert_false(((const MESSAGE(SynchronizeResponse) *)(const void *)outcome->message)->more);
    assert_true(nri_state_is_synchronized(kept->state));
    assert_int_equal(nri_state_pod_count(kept->state), 3);
    assert_int_equal(nri_state_container_count(kept->state), 8);
}

static void test_synchronize_whole(void **state)
{
    struct kept *kept = *state;
    kept->session.fr.ops.on_create_container = recorder_handler;
    kept->session.fr.ops.on_synchronize = recorder_handler;
    kept->session.recorder.act = expect_synchronized;
    synchronize_in_parts(kept);
    assert_int_equal(recorder_seen(&kept->session.recorder, NRI_EVENT_SYNCHRONIZE), 1);
}

static void test_synchronize_by_part(void **state)
{
    struct kept *kept = *state;
    kept->session.fr.ops.on_create_container = recorder_handler;
    kept->session.fr.ops.on_synchronize_part = recorder_handler;
    synchronize_in_parts(kept);
    assert_int_equal(recorder_seen(&kept->session.recorder, NRI_EVENT_SYNCHRONIZE_PART), 3);
}

/* Nothing is collected for a state alone. */
static void test_synchronize_without_a_handler(void **state)
{
    struct kept *kept = *state;
    kept->session.fr.ops.on_create_container = recorder_handler;
    kept->session.fr.config.max_sync_parts = 1;
    synchronize_in_parts(kept);
}

static void test_S22_vanished_while_disconnected(void **state)
{
    struct kept *kept = *state;
    struct fake_runtime *fr = &kept->session.fr;
    recorder_all(&fr->ops);
    fake_runtime_start(fr);
    assert_success(fake_runtime_sync(fr, 0, 1, 0, 4, false));
    fake_runtime_disconnect(fr, NRI_E_CLOSED, "gone");
    assert_int_equal(nri_state_container_count(kept->state), 4);
    fake_runtime_start(fr);
    assert_false(nri_state_is_synchronized(kept->state));
    assert_success(fake_runtime_sync(fr, 0, 1, 0, 1, true)); /* half of one */
    fake_runtime_disconnect(fr, NRI_E_CLOSED, "gone again");
    fake_runtime_start(fr);
    assert_int_equal(nri_state_container_count(kept->state), 4);
    assert_string_equal(kept->removed, "");
    const size_t events = kept->session.recorder.count;
    assert_success(fake_runtime_sync(fr, 0, 1, 2, 3, false));
    assert_string_equal(kept->removed, "ctr0:1 ctr1:1 ");
    assert_int_equal(nri_state_container_count(kept->state), 3);
    assert_int_equal(kept->session.recorder.count, events + 1); /* on_synchronize, no more */
}

/* ---- notes ---- */

static int set_note(struct recorder *recorder, nri_request *request)
{
    struct kept *kept = recorder->data;
    const char *id = nri_container_id(nri_request_container(request));
    if (nri_request_event(request) != NRI_EVENT_CREATE_CONTAINER)
        return 0;
    return nri_state_container_set_note(nri_state_find_container(kept->state, id), "cpus=4-7");
}

/* Before any byte of the reply: what a plugin hands out is known after a crash at any moment. */
static void wake(void *user)
{
    struct kept *kept = user;
    kept->saves_at_reply = kept->saves;
}

static void test_note_is_saved_before_the_reply(void **state)
{
    struct kept *kept = *state;
    struct session *s = &kept->session;
    recorder_all(&s->fr.ops);
    s->recorder.act = set_note;
    s->fr.config.wake = wake; /* there is output */
    s->fr.config.wake_user = kept;
    fake_runtime_start(&s->fr);
    kept->saves_at_reply = 77;
    assert_success(fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER));
    assert_int_equal(kept->saves, 1);
    assert_int_equal(kept->saves_at_reply, 1);
    assert_string_equal(nri_state_container_note(nri_state_find_container(kept->state, "ctr0")),
                        "cpus=4-7");
}

/* A full disk costs safety, not the node's containers. */
static void test_failed_save_does_not_refuse(void **state)
{
    struct kept *kept = *state;
    struct session *s = &kept->session;
    recorder_all(&s->fr.ops);
    s->recorder.act = set_note;
    fake_runtime_start(&s->fr);
    kept->save_code = NRI_E_IO;
    assert_success(fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER));
    assert_string_equal(nri_state_checkpoint_error(kept->state), "save failed");
    kept->save_code = 0;
    assert_success(fake_runtime_event(&s->fr, NRI_EVENT_START_CONTAINER));
    assert_int_equal(kept->saves, 2);
    assert_string_equal(nri_state_checkpoint_error(kept->state), "");
}

static void test_bypass_keeps_the_state(void **state)
{
    struct kept *kept = *state;
    struct session *s = &kept->session;
    recorder_all(&s->fr.ops);
    s->fr.config.bypass = true;
    fake_runtime_start(&s->fr);
    assert_success(fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER));
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_CREATE_CONTAINER), 0);
    assert_string_equal(find(kept, "ctr0"), "ctr-name");
    assert_success(fake_runtime_event(&s->fr, NRI_EVENT_REMOVE_POD_SANDBOX));
    assert_string_equal(kept->removed, "ctr0:2 ");
}

/* The handler has returned, and the object is gone; the request reads on. */
static void test_pending_removal(void **state)
{
    struct kept *kept = *state;
    struct session *s = &kept->session;
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    assert_success(fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER));
    s->recorder.result = NRI_PENDING;
    const struct rpc_outcome *outcome = fake_runtime_event(&s->fr, NRI_EVENT_REMOVE_CONTAINER);
    assert_int_equal(outcome->count, 0);
    assert_null(nri_state_find_container(kept->state, "ctr0"));
    nri_request *request = s->recorder.held[0];
    assert_string_equal(nri_container_id(nri_request_container(request)), "ctr0");
    assert_int_equal(nri_request_complete(request, 0), 0);
    nri_request_unref(request);
    fake_runtime_run(&s->fr);
    assert_success(outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        kept_test(test_its_events_are_added),
        kept_test(test_narrowing_keeps_them),
        kept_test(test_old_runtime),
        kept_test(test_each_handler_finds_its_objects),
        kept_test(test_first_told_by_a_handler_s_event),
        kept_test(test_no_memory_refuses),
        kept_test(test_synchronize_whole),
        kept_test(test_synchronize_by_part),
        kept_test(test_synchronize_without_a_handler),
        kept_test(test_S22_vanished_while_disconnected),
        kept_test(test_note_is_saved_before_the_reply),
        kept_test(test_failed_save_does_not_refuse),
        kept_test(test_bypass_keeps_the_state),
        kept_test(test_pending_removal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
