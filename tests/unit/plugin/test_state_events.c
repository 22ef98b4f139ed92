/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What events and Synchronize do to a state cache: each cause, repeated events, events out of
 * order, Synchronize in parts and half of one, and what hangs on an object.
 */
#include "state_fixture.h"

#include <stdio.h>
#include <string.h>

enum {
    RUN = NRI_EVENT_RUN_POD_SANDBOX,
    UPDATE_POD = NRI_EVENT_UPDATE_POD_SANDBOX,
    POST_UPDATE_POD = NRI_EVENT_POST_UPDATE_POD_SANDBOX,
    STOP_POD = NRI_EVENT_STOP_POD_SANDBOX,
    REMOVE_POD = NRI_EVENT_REMOVE_POD_SANDBOX,
    CREATE = NRI_EVENT_CREATE_CONTAINER,
    POST_CREATE = NRI_EVENT_POST_CREATE_CONTAINER,
    START = NRI_EVENT_START_CONTAINER,
    POST_START = NRI_EVENT_POST_START_CONTAINER,
    UPDATE = NRI_EVENT_UPDATE_CONTAINER,
    POST_UPDATE = NRI_EVENT_POST_UPDATE_CONTAINER,
    STOP = NRI_EVENT_STOP_CONTAINER,
    REMOVE = NRI_EVENT_REMOVE_CONTAINER,
    VALIDATE = NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT,
    CONNECT = -1, /* no event: the connection stands anew */
    END = 0
};

struct step {
    int event;
    const char *pod, *container;
    unsigned version;
};

struct row {
    const char *name;
    struct step steps[10];
    const char *journal;
};

static const struct row rows[] = {
    {"a life",
     {{RUN, "p1", NULL, 0},
      {CREATE, "p1", "c1", 0},
      {POST_CREATE, "p1", "c1", 0},
      {START, "p1", "c1", 0},
      {STOP, "p1", "c1", 0},
      {REMOVE, "p1", "c1", 0},
      {STOP_POD, "p1", NULL, 0},
      {REMOVE_POD, "p1", NULL, 0}},
     "+p1:event +c1:event -c1:event -p1:event "},
    {"each event brings news",
     {{RUN, "p1", NULL, 0},
      {UPDATE_POD, "p1", NULL, 1},
      {POST_UPDATE_POD, "p1", NULL, 2},
      {STOP_POD, "p1", NULL, 3},
      {CREATE, "p1", "c1", 4},
      {POST_CREATE, "p1", "c1", 5}},
     "+p1:event ~p1:event ~p1:event ~p1:event ~p1:event +c1:event ~p1:event ~c1:event "},
    {"each other event brings news",
     {{CREATE, "p1", "c1", 0},
      {START, "p1", "c1", 1},
      {POST_START, "p1", "c1", 2},
      {UPDATE, "p1", "c1", 3},
      {POST_UPDATE, "p1", "c1", 4},
      {STOP, "p1", "c1", 5}},
     "+p1:event +c1:event ~p1:event ~c1:event ~p1:event ~c1:event ~p1:event ~c1:event "
     "~p1:event ~c1:event ~p1:event ~c1:event "},
    {"repeated",
     {{RUN, "p1", NULL, 0},
      {RUN, "p1", NULL, 0},
      {CREATE, "p1", "c1", 0},
      {CREATE, "p1", "c1", 0},
      {REMOVE, "p1", "c1", 0},
      {REMOVE, "p1", "c1", 0},
      {REMOVE_POD, "p1", NULL, 0},
      {REMOVE_POD, "p1", NULL, 0}},
     "+p1:event +c1:event -c1:event -p1:event "},
    {"what is to be validated adds and does not change",
     {{VALIDATE, "p1", "c1", 0}, {CREATE, "p1", "c1", 1}, {VALIDATE, "p1", "c1", 2}},
     "+p1:event +c1:event ~p1:event ~c1:event "},
    {"first told by another event",
     {{UPDATE_POD, "p1", NULL, 0}, {POST_START, "p2", "c2", 0}, {UPDATE, "p3", "c3", 0}},
     "+p1:event +p2:event +c2:event +p3:event +c3:event "},
    {"what ends adds nothing",
     {{STOP_POD, "p1", NULL, 0},
      {STOP, "p2", "c2", 0},
      {REMOVE, "p3", "c3", 0},
      {REMOVE_POD, "p4", NULL, 0}},
     ""},
    {"late events of what was removed",
     {{RUN, "p1", NULL, 0},
      {CREATE, "p1", "c1", 0},
      {REMOVE, "p1", "c1", 0},
      {POST_START, "p1", "c1", 0},
      {UPDATE, "p1", "c1", 0},
      {VALIDATE, "p1", "c1", 0},
      {REMOVE_POD, "p1", NULL, 0},
      {POST_UPDATE_POD, "p1", NULL, 0},
      {START, "p1", "c1", 0}},
     "+p1:event +c1:event -c1:event -p1:event "},
    {"late events of what was removed unknown",
     {{REMOVE, "p1", "c1", 0},
      {START, NULL, "c1", 0},
      {REMOVE_POD, "p1", NULL, 0},
      {UPDATE_POD, "p1", NULL, 0}},
     ""},
    {"a late container of a pod that was removed",
     {{RUN, "p1", NULL, 0}, {REMOVE_POD, "p1", NULL, 0}, {POST_CREATE, "p1", "c1", 0}},
     "+p1:event -p1:event "},
    {"made anew",
     {{RUN, "p1", NULL, 0},
      {REMOVE_POD, "p1", NULL, 0},
      {RUN, "p1", NULL, 0},
      {CREATE, "p1", "c1", 0},
      {REMOVE, "p1", "c1", 0},
      {CREATE, "p1", "c1", 0}},
     "+p1:event -p1:event +p1:event +c1:event -c1:event +c1:event "},
    {"a creation says that its pod is there",
     {{RUN, "p1", NULL, 0}, {REMOVE_POD, "p1", NULL, 0}, {CREATE, "p1", "c1", 0}},
     "+p1:event -p1:event +p1:event +c1:event "},
    {"a pod takes its containers",
     {{RUN, "p1", NULL, 0},
      {RUN, "p2", NULL, 0},
      {CREATE, "p1", "c1", 0},
      {CREATE, "p2", "c2", 0},
      {CREATE, "p1", "c3", 0},
      {REMOVE_POD, "p1", NULL, 0},
      {POST_START, "p1", "c3", 0}},
     "+p1:event +p2:event +c1:event +c2:event +c3:event -c1:pod -c3:pod -p1:event "},
    {"nothing late comes from a former connection",
     {{RUN, "p1", NULL, 0},
      {REMOVE_POD, "p1", NULL, 0},
      {CONNECT, NULL, NULL, 0},
      {POST_UPDATE_POD, "p1", NULL, 0}},
     "+p1:event -p1:event +p1:event "},
    {"an empty id",
     {{RUN, "", NULL, 0}, {CREATE, "p1", "", 0}, {REMOVE, "p1", "", 0}, {REMOVE_POD, "", NULL, 0}},
     "+p1:event "},
};

static void test_table(void **state)
{
    struct state_fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (const struct step *step = rows[i].steps; step->event != END; step++) {
            if (step->event == CONNECT)
                state_fixture_connected(f);
            else
                assert_int_equal(state_fixture_event(f, (enum nri_event)step->event, step->pod,
                                                     step->container, step->version),
                                 0);
        }
        if (strcmp(f->journal, rows[i].journal) != 0)
            fail_msg("%s: \"%s\", not \"%s\"", rows[i].name, f->journal, rows[i].journal);
        state_fixture_close(f);
        assert_int_equal(f->memory.live_blocks, 0);
        assert_int_equal(state_fixture_open(f, NULL), 0);
        f->journal[0] = '\0';
    }
}

/* ---- the handler's view ---- */

static int sees_container(struct state_fixture *f, nri_request *request)
{
    (void)request;
    assert_non_null(nri_state_find_container(f->state, "c1"));
    assert_non_null(nri_state_find_pod(f->state, "p1"));
    *(unsigned *)f->data += 1;
    return 0;
}

static void test_handler_sees_what_its_event_tells(void **state)
{
    struct state_fixture *f = *state;
    unsigned runs = 0;
    f->data = &runs;
    f->handler = sees_container;
    state_fixture_event(f, NRI_EVENT_CREATE_CONTAINER, "p1", "c1", 0);
    state_fixture_event(f, NRI_EVENT_REMOVE_CONTAINER, "p1", "c1", 0);
    assert_null(nri_state_find_container(f->state, "c1"));
    state_fixture_event(f, NRI_EVENT_CREATE_CONTAINER, "p1", "c1", 0);
    state_fixture_event(f, NRI_EVENT_REMOVE_POD_SANDBOX, "p1", NULL, 0);
    assert_int_equal(nri_state_container_count(f->state), 0);
    assert_int_equal(nri_state_pod_count(f->state), 0);
    assert_int_equal(runs, 4);
}

/* ---- Synchronize ---- */

static void test_synchronize(void **state)
{
    struct state_fixture *f = *state;
    state_fixture_connected(f);
    state_fixture_event(f, NRI_EVENT_CREATE_CONTAINER, "p0", "c0", 0);
    assert_false(nri_state_is_synchronized(f->state));
    f->journal[0] = '\0';
    assert_int_equal(state_fixture_sync(f, "p1 p2", "c1/p1 c2/p2 c3/p1", 0, false), 0);
    expect_journal(f, "+p1:sync +p2:sync +c1:sync +c2:sync +c3:sync -c0:sync -p0:sync = ");
    assert_true(nri_state_is_synchronized(f->state));
    assert_int_equal(state_fixture_sync(f, "p1 p2", "c1/p1 c2/p2 c3/p1", 0, false), 0);
    expect_journal(f, "= ");
    assert_int_equal(state_fixture_sync(f, "p2 p3", "c2/p2 c4/p3", 1, false), 0);
    expect_journal(f, "~p2:sync +p3:sync ~c2:sync +c4:sync -c1:sync -c3:sync -p1:sync = ");
    state_fixture_connected(f);
    assert_false(nri_state_is_synchronized(f->state));
    assert_int_equal(state_fixture_sync(f, "", "", 1, false), 0);
    expect_journal(f, "-c2:sync -c4:sync -p2:sync -p3:sync = ");
    /* What was removed is back when the runtime says so. */
    assert_int_equal(state_fixture_sync(f, "p1", "c1/p1", 0, false), 0);
    expect_journal(f, "+p1:sync +c1:sync = ");
}

static void test_synchronize_in_parts(void **state)
{
    struct state_fixture *f = *state;
    state_fixture_sync(f, "p1 p2", "c1/p1 c2/p2", 0, false);
    f->journal[0] = '\0';
    state_fixture_sync(f, "p1", "", 0, true);
    state_fixture_sync(f, "", "", 0, true);
    state_fixture_event(f, NRI_EVENT_CREATE_CONTAINER, "p4", "c4", 0); /* in between: not swept */
    expect_journal(f, "+p4:event +c4:event ");
    state_fixture_sync(f, "p3", "c1/p1", 0, true);
    expect_journal(f, "+p3:sync ");
    state_fixture_sync(f, "", "c3/p3", 0, false);
    expect_journal(f, "+c3:sync -c2:sync -p2:sync = ");
}

static void test_half_a_synchronize_removes_nothing(void **state)
{
    struct state_fixture *f = *state;
    state_fixture_sync(f, "p1 p2", "c1/p1 c2/p2", 0, false);
    f->journal[0] = '\0';
    state_fixture_sync(f, "p1", "c1/p1", 0, true);
    state_fixture_connected(f); /* the connection went and came */
    expect_journal(f, "");
    assert_int_equal(nri_state_container_count(f->state), 2);
    state_fixture_sync(f, "p2", "", 0, true);
    expect_journal(f, "");
    /* The first half does not count for this one. */
    state_fixture_sync(f, "", "c2/p2", 0, false);
    expect_journal(f, "-c1:sync -p1:sync = ");
}

static void test_containers_before_their_pods(void **state)
{
    struct state_fixture *f = *state;
    state_fixture_sync(f, "", "c1/p1 c2/p1 c3", 0, true);
    nri_state_container *c1 = nri_state_find_container(f->state, "c1");
    assert_null(nri_state_container_pod(c1));
    assert_int_equal(nri_state_pod_count(f->state), 0);
    assert_null(nri_state_find_pod(f->state, "p1"));
    state_fixture_sync(f, "p1", "", 0, false);
    nri_state_pod *p1 = nri_state_find_pod(f->state, "p1");
    assert_ptr_equal(nri_state_container_pod(c1), p1);
    assert_ptr_equal(nri_state_pod_next_container(p1, NULL), c1);
    assert_ptr_equal(nri_state_pod_next_container(p1, c1),
                     nri_state_find_container(f->state, "c2"));
    assert_null(nri_state_pod_next_container(p1, nri_state_find_container(f->state, "c2")));
    assert_null(nri_state_container_pod(nri_state_find_container(f->state, "c3")));
    /* The event's pod counts for a container that names none. */
    f->journal[0] = '\0';
}

/* A Synchronize without a pod but with a container of it: what is told stays. */
static void test_pod_swept_before_its_container(void **state)
{
    struct state_fixture *f = *state;
    state_fixture_sync(f, "p1", "c1/p1", 0, false);
    f->journal[0] = '\0';
    state_fixture_sync(f, "", "c1/p1", 0, false);
    expect_journal(f, "-p1:sync = ");
    nri_state_container *c1 = nri_state_find_container(f->state, "c1");
    assert_non_null(c1);
    assert_null(nri_state_container_pod(c1));
    state_fixture_event(f, NRI_EVENT_REMOVE_POD_SANDBOX, "p1", NULL, 0);
    expect_journal(f, "-c1:pod ");
}

/* A pod that only containers told of goes with them, and takes them when it is removed. */
static void test_unknown_pod(void **state)
{
    struct state_fixture *f = *state;
    state_fixture_sync(f, "", "c1/p1 c2/p1", 0, false);
    f->journal[0] = '\0';
    state_fixture_event(f, NRI_EVENT_REMOVE_CONTAINER, "p1", "c1", 0);
    expect_journal(f, "-c1:event ");
    state_fixture_event(f, NRI_EVENT_REMOVE_POD_SANDBOX, "p1", NULL, 0);
    expect_journal(f, "-c2:pod ");
}

static void test_container_of_another_pod(void **state)
{
    struct state_fixture *f = *state;
    state_fixture_sync(f, "p1 p2", "c1/p1", 0, false);
    state_fixture_sync(f, "p1 p2", "c1/p2", 0, false);
    nri_state_container *c1 = nri_state_find_container(f->state, "c1");
    assert_ptr_equal(nri_state_container_pod(c1), nri_state_find_pod(f->state, "p2"));
    assert_null(nri_state_pod_next_container(nri_state_find_pod(f->state, "p1"), NULL));
}

/* ---- what is remembered ---- */

static void test_remembered_are_bounded(void **state)
{
    struct state_fixture *f = *state;
    char id[32];
    for (unsigned i = 0; i < NRI_STATE_REMEMBERED + 10; i++) {
        (void)snprintf(id, sizeof id, "c%u", i);
        state_fixture_event(f, NRI_EVENT_CREATE_CONTAINER, "p", id, 0);
        state_fixture_event(f, NRI_EVENT_REMOVE_CONTAINER, "p", id, 0);
        (void)snprintf(id, sizeof id, "p%u", i);
        state_fixture_event(f, NRI_EVENT_RUN_POD_SANDBOX, id, NULL, 0);
        state_fixture_event(f, NRI_EVENT_REMOVE_POD_SANDBOX, id, NULL, 0);
    }
    f->journal[0] = '\0';
    state_fixture_event(f, NRI_EVENT_START_CONTAINER, "p", "c10", 0);
    state_fixture_event(f, NRI_EVENT_POST_UPDATE_POD_SANDBOX, "p10", NULL, 0);
    expect_journal(f, "");
    state_fixture_event(f, NRI_EVENT_START_CONTAINER, "p", "c9", 0);
    state_fixture_event(f, NRI_EVENT_POST_UPDATE_POD_SANDBOX, "p9", NULL, 0);
    expect_journal(f, "+c9:event +p9:event ");
    assert_int_equal(f->state->containers.gone.count, NRI_STATE_REMEMBERED);
    assert_int_equal(f->state->pods.gone.count, NRI_STATE_REMEMBERED);
}

/* ---- order, data ---- */

static void test_order_of_adding(void **state)
{
    struct state_fixture *f = *state;
    char order[128] = "";
    state_fixture_sync(f, "p3 p1 p2", "c2/p1 c9/p3 c1/p1 c5/p2", 0, false);
    state_fixture_event(f, NRI_EVENT_REMOVE_CONTAINER, "p3", "c9", 0);
    state_fixture_event(f, NRI_EVENT_CREATE_CONTAINER, "p3", "c9", 0);
    for (nri_state_pod *p = NULL; (p = nri_state_next_pod(f->state, p)) != NULL;)
        (void)strcat(order, nri_pod_id(nri_state_pod_get(p)));
    for (nri_state_container *c = NULL; (c = nri_state_next_container(f->state, c)) != NULL;)
        (void)strcat(order, nri_container_id(nri_state_container_get(c)));
    assert_string_equal(order, "p3p1p2c2c1c5c9");
}

static void count_down(void *data)
{
    *(int *)data -= 1;
}

static void test_data(void **state)
{
    struct state_fixture *f = *state;
    int a = 0, b = 0, c = 0, d = 0;
    state_fixture_sync(f, "p1", "c1/p1 c2/p1", 0, false);
    nri_state_pod *p1 = nri_state_find_pod(f->state, "p1");
    nri_state_container *c1 = nri_state_find_container(f->state, "c1");
    assert_null(nri_state_pod_data(p1));
    assert_null(nri_state_container_data(c1));
    nri_state_pod_set_data(p1, &a, count_down);
    nri_state_container_set_data(c1, &b, count_down);
    nri_state_container_set_data(nri_state_find_container(f->state, "c2"), &d, NULL);
    assert_ptr_equal(nri_state_pod_data(p1), &a);
    assert_ptr_equal(nri_state_container_data(c1), &b);
    /* It stays when what is told changes, and when it is the same again. */
    state_fixture_event(f, NRI_EVENT_POST_UPDATE_CONTAINER, "p1", "c1", 7);
    nri_state_container_set_data(c1, &b, count_down);
    assert_int_equal(b, 0);
    assert_ptr_equal(nri_state_container_data(c1), &b);
    nri_state_container_set_data(c1, &c, count_down);
    assert_int_equal(b, -1);
    state_fixture_event(f, NRI_EVENT_REMOVE_POD_SANDBOX, "p1", NULL, 0);
    assert_int_equal(a, -1);
    assert_int_equal(b, -1);
    assert_int_equal(c, -1);
    assert_int_equal(d, 0);
    /* And the next one of that id has none. */
    state_fixture_event(f, NRI_EVENT_CREATE_CONTAINER, "p1", "c1", 0);
    assert_null(nri_state_container_data(nri_state_find_container(f->state, "c1")));
}

static void removed_with_data(nri_state *state, nri_state_container *container,
                              enum nri_state_cause cause, void *user)
{
    struct state_fixture *f = user;
    (void)cause;
    /* Still there, but no part of the state. */
    assert_int_equal(*(int *)nri_state_container_data(container), 0);
    assert_string_equal(nri_pod_id(nri_state_pod_get(nri_state_container_pod(container))), "p1");
    assert_null(nri_state_pod_next_container(nri_state_container_pod(container), NULL));
    assert_int_equal(nri_state_container_count(state), 0);
    assert_null(nri_state_next_container(state, NULL));
    assert_null(nri_state_next_container(state, container));
    f->data = NULL;
}

static void test_removed_is_told_before_the_data_goes(void **state)
{
    struct state_fixture *f = *state;
    int data = 0;
    f->state->config.ops.container_removed = removed_with_data;
    f->data = f;
    state_fixture_event(f, NRI_EVENT_CREATE_CONTAINER, "p1", "c1", 0);
    nri_state_container_set_data(nri_state_find_container(f->state, "c1"), &data, count_down);
    state_fixture_event(f, NRI_EVENT_REMOVE_CONTAINER, "p1", "c1", 0);
    assert_null(f->data);
    assert_int_equal(data, -1);
}

static void test_freed(void **state)
{
    struct state_fixture *f = *state;
    int a = 0, b = 0;
    state_fixture_sync(f, "p1 p2", "c1/p1 c2/p0", 0, false);
    nri_state_pod_set_data(nri_state_find_pod(f->state, "p1"), &a, count_down);
    nri_state_container_set_data(nri_state_find_container(f->state, "c1"), &b, count_down);
    f->journal[0] = '\0';
    state_fixture_close(f);
    expect_journal(f, "-c1:freed -c2:freed -p1:freed -p2:freed ");
    assert_int_equal(a + b, -2);
}

/* No callbacks at all: nothing is told, all is kept. */
static void test_without_callbacks(void **state)
{
    struct state_fixture *f = *state;
    f->state->config.ops = (struct nri_state_ops){0};
    state_fixture_sync(f, "p1 p2", "c1/p1 c2/p2", 0, false);
    state_fixture_sync(f, "p1", "c1/p1", 1, false);
    state_fixture_event(f, NRI_EVENT_REMOVE_POD_SANDBOX, "p1", NULL, 0);
    assert_int_equal(nri_state_pod_count(f->state) + nri_state_container_count(f->state), 0);
}

static void test_copies_are_the_latest(void **state)
{
    struct state_fixture *f = *state;
    state_fixture_event(f, NRI_EVENT_CREATE_CONTAINER, "p1", "c1", 3);
    state_fixture_event(f, NRI_EVENT_START_CONTAINER, "p1", "c1", 4);
    nri_arena_reset(&f->arena); /* of the requests */
    assert_string_equal(
        nri_container_name(nri_state_container_get(nri_state_find_container(f->state, "c1"))),
        "name-4");
    assert_string_equal(nri_pod_name(nri_state_pod_get(nri_state_find_pod(f->state, "p1"))),
                        "name-4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        state_test(test_table),
        state_test(test_handler_sees_what_its_event_tells),
        state_test(test_synchronize),
        state_test(test_synchronize_in_parts),
        state_test(test_half_a_synchronize_removes_nothing),
        state_test(test_containers_before_their_pods),
        state_test(test_pod_swept_before_its_container),
        state_test(test_unknown_pod),
        state_test(test_container_of_another_pod),
        state_test(test_remembered_are_bounded),
        state_test(test_order_of_adding),
        state_test(test_data),
        state_test(test_removed_is_told_before_the_data_goes),
        state_test(test_freed),
        state_test(test_without_callbacks),
        state_test(test_copies_are_the_latest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
