/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation of every event is made to fail, one a run. The request is refused then, its
 * handler does not run, and the state is as it was; the same event, made again, does what it does.
 */
#include "state_fixture.h"

#include <string.h>

struct scenario {
    const char *name;
    int (*run)(struct state_fixture *f);
    const char *refusal;
    const char *journal; /* of the run that works, after those that do not */
};

static int create(struct state_fixture *f)
{
    return state_fixture_event(f, NRI_EVENT_CREATE_CONTAINER, "p1", "c9", 0);
}

static int create_in_new_pod(struct state_fixture *f)
{
    return state_fixture_event(f, NRI_EVENT_CREATE_CONTAINER, "p9", "c9", 0);
}

static int change(struct state_fixture *f)
{
    return state_fixture_event(f, NRI_EVENT_POST_UPDATE_CONTAINER, "p1", "c1", 1);
}

static int run_pod(struct state_fixture *f)
{
    return state_fixture_event(f, NRI_EVENT_RUN_POD_SANDBOX, "p9", NULL, 0);
}

static int move(struct state_fixture *f)
{
    return state_fixture_sync(f, "", "c1/p8", 0, true);
}

static const struct scenario scenarios[] = {
    {"create", create, "the state cache has no memory for what CreateContainer tells",
     "+c9:event "},
    {"create in a new pod", create_in_new_pod,
     "the state cache has no memory for what CreateContainer tells", "+p9:event +c9:event "},
    {"change", change, "the state cache has no memory for what PostUpdateContainer tells",
     "~p1:event ~c1:event "},
    {"run pod", run_pod, "the state cache has no memory for what RunPodSandbox tells",
     "+p9:event "},
    {"move", move, "the state cache had no memory for the pods and containers of Synchronize",
     "~c1:sync "},
};

static int count_runs(struct state_fixture *f, nri_request *request)
{
    (void)request;
    ++*(unsigned *)f->data;
    return 0;
}

static void check_kept(struct state_fixture *f)
{
    /* A pod may have been told by the same event, which is not taken back; containers come last. */
    assert_int_equal(nri_state_container_count(f->state), 2);
    assert_string_equal(
        nri_container_name(nri_state_container_get(nri_state_find_container(f->state, "c1"))),
        "name-0");
    assert_ptr_equal(nri_state_container_pod(nri_state_find_container(f->state, "c1")),
                     nri_state_find_pod(f->state, "p1"));
    assert_non_null(nri_state_find_container(f->state, "c2"));
}

static void sweep(struct state_fixture *f, const struct scenario *scenario)
{
    char whole[256] = "";
    unsigned runs = 0, failures = 0;
    for (size_t n = 1;; n++) {
        fail_alloc_arm(&f->memory, 0);
        state_fixture_close(f);
        assert_int_equal(f->memory.live_blocks, 0);
        assert_int_equal(state_fixture_open(f, NULL), 0);
        f->handler = NULL;
        assert_int_equal(state_fixture_sync(f, "p1", "c1/p1 c2/p1", 0, false), 0);
        f->journal[0] = '\0';
        f->handler = count_runs;
        f->data = &runs;
        fail_alloc_arm(&f->memory, n);
        const int code = scenario->run(f);
        if (!f->memory.fired) {
            assert_int_equal(code, 0);
            assert_int_equal(runs, failures + 1);
            assert_string_equal(f->journal, scenario->journal);
            break;
        }
        failures++;
        assert_int_equal(code, NRI_E_NOMEM);
        assert_string_equal(f->failure, scenario->refusal);
        assert_int_equal(runs, failures - 1);
        check_kept(f);
        fail_alloc_arm(&f->memory, 0);
        (void)strcpy(whole, f->journal);
        f->journal[0] = '\0';
        if (scenario->run != move) { /* a Synchronize is refused to its end */
            assert_int_equal(scenario->run(f), 0);
            (void)strcat(whole, f->journal);
            assert_string_equal(whole, scenario->journal);
        } else {
            runs++;
        }
    }
    assert_true(failures >= 2);
}

static void test_each_event(void **state)
{
    struct state_fixture *f = *state;
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
        sweep(f, &scenarios[i]);
}

/* Removing takes no memory that must be there. */
static void test_removal(void **state)
{
    struct state_fixture *f = *state;
    for (size_t n = 1; n < 20; n++) {
        fail_alloc_arm(&f->memory, 0);
        assert_int_equal(state_fixture_sync(f, "p1 p2", "c1/p1 c2/p1 c3/p2", 0, false), 0);
        f->journal[0] = '\0';
        fail_alloc_arm(&f->memory, n);
        assert_int_equal(state_fixture_event(f, NRI_EVENT_REMOVE_CONTAINER, "p1", "c1", 0), 0);
        assert_int_equal(state_fixture_event(f, NRI_EVENT_REMOVE_POD_SANDBOX, "p1", NULL, 0), 0);
        assert_int_equal(state_fixture_event(f, NRI_EVENT_REMOVE_CONTAINER, "p7", "c7", 0), 0);
        assert_int_equal(state_fixture_event(f, NRI_EVENT_REMOVE_POD_SANDBOX, "p7", NULL, 0), 0);
        assert_string_equal(f->journal, "-c1:event -c2:pod -p1:event ");
    }
}

/* A part that finds no memory spoils the whole: nothing is removed, and no part is accepted. */
static void test_synchronize(void **state)
{
    struct state_fixture *f = *state;
    for (size_t n = 1;; n++) {
        fail_alloc_arm(&f->memory, 0);
        state_fixture_close(f);
        assert_int_equal(state_fixture_open(f, NULL), 0);
        assert_int_equal(state_fixture_sync(f, "p1", "c1/p1", 0, false), 0);
        state_fixture_connected(f);
        fail_alloc_arm(&f->memory, n);
        const int code = state_fixture_sync(f, "p2 p3", "c2/p2 c3/p3", 0, true);
        const bool fired = f->memory.fired;
        fail_alloc_arm(&f->memory, 0);
        assert_int_equal(code, fired ? NRI_E_NOMEM : 0);
        assert_int_equal(state_fixture_sync(f, "p4", "", 0, true), code);
        assert_int_equal(state_fixture_sync(f, "", "", 0, false), code);
        assert_int_equal(nri_state_is_synchronized(f->state), !fired);
        assert_int_equal(nri_state_find_container(f->state, "c1") != NULL, fired);
        if (!fired) {
            assert_true(n > 4);
            break;
        }
        assert_string_equal(f->failure,
                            "the state cache had no memory for an earlier part of Synchronize");
        /* The next one starts anew. */
        assert_int_equal(state_fixture_sync(f, "p2 p3", "c2/p2 c3/p3", 0, false), 0);
        assert_true(nri_state_is_synchronized(f->state));
        assert_null(nri_state_find_container(f->state, "c1"));
        assert_int_equal(nri_state_container_count(f->state), 2);
    }
}

static void test_making(void **state)
{
    struct state_fixture *f = *state;
    struct nri_error error;
    state_fixture_close(f);
    state_fixture_use_store(f);
    assert_int_equal(state_fixture_open(f, NULL), 0);
    state_fixture_event(f, NRI_EVENT_CREATE_CONTAINER, "p1", "c1", 0);
    assert_int_equal(
        nri_state_container_set_note(nri_state_find_container(f->state, "c1"), "a note"), 0);
    for (size_t n = 1;; n++) {
        state_fixture_close(f);
        assert_int_equal(f->memory.live_blocks, 0);
        nri_error_clear(&error);
        fail_alloc_arm(&f->memory, n);
        const int code = state_fixture_open(f, &error);
        assert_int_equal(code, f->memory.fired ? NRI_E_NOMEM : 0);
        assert_int_equal(error.code, code);
        if (code == 0) {
            assert_true(n > 3);
            break;
        }
        assert_null(f->state);
        assert_true(f->store.exists); /* it was not taken for damaged */
    }
    fail_alloc_arm(&f->memory, 0);
    state_fixture_event(f, NRI_EVENT_CREATE_CONTAINER, "p1", "c1", 0);
    assert_string_equal(nri_state_container_note(nri_state_find_container(f->state, "c1")),
                        "a note");
}

static void test_note_and_save(void **state)
{
    struct state_fixture *f = *state;
    state_fixture_close(f);
    state_fixture_use_store(f);
    assert_int_equal(state_fixture_open(f, NULL), 0);
    state_fixture_event(f, NRI_EVENT_CREATE_CONTAINER, "p1", "c1", 0);
    nri_state_container *c1 = nri_state_find_container(f->state, "c1");
    assert_int_equal(nri_state_container_set_note(c1, "old"), 0);
    fail_alloc_arm(&f->memory, 1);
    assert_int_equal(nri_state_container_set_note(c1, "new"), NRI_E_NOMEM);
    assert_string_equal(nri_state_container_note(c1), "old");
    fail_alloc_arm(&f->memory, 1);
    assert_int_equal(nri_state_save(f->state, NULL), NRI_E_NOMEM);
    assert_string_equal(nri_state_checkpoint_error(f->state),
                        "the checkpoint /memory: out of memory");
    fail_alloc_arm(&f->memory, 0);
    assert_int_equal(nri_state_save(f->state, NULL), 0);
    assert_string_equal(nri_state_checkpoint_error(f->state), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        state_test(test_each_event), state_test(test_removal),       state_test(test_synchronize),
        state_test(test_making),     state_test(test_note_and_save),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
