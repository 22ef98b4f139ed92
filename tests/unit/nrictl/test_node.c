/* SPDX-License-Identifier: Apache-2.0 */
/* The machine of states that a node keeps: which operation sends what, and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "rig.h"

static void expect_lines(const struct guest *guest, const char *const *lines, int count)
{
    for (int i = 0; i < count && i < guest->count; i++)
        assert_string_equal(guest->lines[i], lines[i]);
    assert_int_equal(guest->count, count);
}

static enum store_container_state state_of(struct rig *rig, const char *id)
{
    const struct store_container *found = store_find_container(node_store(rig->node), id);
    return found == NULL ? STORE_GONE : store_container_state(found);
}

static void test_whole_life(void **state)
{
    static const char *const lines[] = {
        "RunPodSandbox pod",
        "CreateContainer c unknown 0",
        "PostCreateContainer c created 0",
        "StartContainer c created 0",
        "PostStartContainer c running 0",
        "UpdateContainer c running 0",
        "PostUpdateContainer c running 0",
        "UpdatePodSandbox pod",
        "PostUpdatePodSandbox pod",
        "StopContainer c stopped 143",
        "StopPodSandbox pod",
        "RemoveContainer c stopped 143",
        "RemovePodSandbox pod",
    };
    struct rig *rig = *state;
    struct guest guest = {.count = 0};
    struct deed deeds[8] = {{.over = false}};
    nri_container *wish = rig_container("wish");
    nri_resources *resources = nri_container_edit_resources(wish);
    rig_start(rig);
    guest_start(&guest, rig, "10", "guest");
    /* Nothing waits for what comes before it: the queue does. */
    assert_int_equal(nri_resources_set_cpu_shares(resources, 200), 0);
    assert_int_equal(node_run_pod(rig->node, rig_pod("pod"), deed_done, &deeds[0]), 0);
    assert_int_equal(node_create(rig->node, "pod", rig_container("c"), deed_done, &deeds[1]), 0);
    assert_int_equal(node_start_container(rig->node, "c", deed_done, &deeds[2]), 0);
    assert_int_equal(node_update_container(rig->node, "name-c", resources, deed_done, &deeds[3]),
                     0);
    assert_int_equal(node_update_pod(rig->node, "pod", NULL, resources, deed_done, &deeds[4]), 0);
    assert_int_equal(node_pending(rig->node), 5);
    assert_false(deeds[0].over);
    for (int i = 0; i < 5; i++)
        deed_good(rig, &deeds[i]);
    assert_string_equal(deeds[1].events, "CreateContainer PostCreateContainer");
    assert_int_equal(rig_shares(rig_get(rig, "c")), 200);
    assert_true(nri_container_pid(rig_get(rig, "c")) > 4194304);
    assert_true(nri_container_started_at(rig_get(rig, "c")) > 0);
    uint64_t shares = 0;
    const struct store_pod *pod = store_find_pod(node_store(rig->node), "pod");
    assert_true(nri_resources_cpu_shares(nri_pod_pod_resources(store_pod_get(pod)), &shares));
    assert_int_equal(shares, 200);
    assert_int_equal(node_remove_pod(rig->node, "pod", deed_done, &deeds[5]), 0);
    deed_good(rig, &deeds[5]);
    expect_lines(&guest, lines, sizeof lines / sizeof *lines);
    assert_int_equal(rig->outcomes, 13);
    assert_int_equal(store_pod_count(node_store(rig->node)), 0);
    assert_int_equal(store_container_count(node_store(rig->node)), 0);
    nri_container_free(wish);
    guest_close(&guest, rig);
}

/* Case S34. */
static void test_exit_by_itself(void **state)
{
    struct rig *rig = *state;
    struct guest guest = {.count = 0};
    struct deed deeds[5] = {{.over = false}};
    rig_start(rig);
    guest_start(&guest, rig, "10", "guest");
    rig_run(rig, "pod", "c");
    assert_int_equal(node_exit_container(rig->node, "c", 3, deed_done, &deeds[0]), 0);
    assert_int_equal(node_stop_container(rig->node, "c", deed_done, &deeds[1]), 0);
    assert_int_equal(node_exit_container(rig->node, "c", 4, deed_done, &deeds[2]), 0);
    assert_int_equal(node_remove_container(rig->node, "c", deed_done, &deeds[3]), 0);
    assert_int_equal(node_stop_pod(rig->node, "pod", deed_done, &deeds[4]), 0);
    deed_good(rig, &deeds[0]);
    deed_good(rig, &deeds[1]);
    assert_string_equal(deeds[1].events, "");
    deed_bad(rig, &deeds[2], NRI_E_STATE);
    assert_string_equal(deeds[2].text, "container c is stopped, not running");
    deed_good(rig, &deeds[3]);
    deed_good(rig, &deeds[4]);
    assert_int_equal(guest_count(&guest, "StopContainer c"), 1);
    assert_int_equal(guest_count(&guest, "StopContainer c stopped 3"), 1);
    assert_int_equal(guest_at(&guest, "RemoveContainer c"),
                     guest_at(&guest, "StopContainer c") + 1);
    guest_close(&guest, rig);
}

/* Case S35. */
static void test_create_in_stopped_sandbox(void **state)
{
    struct rig *rig = *state;
    struct guest guest = {.count = 0};
    struct deed deeds[5] = {{.over = false}};
    rig_start(rig);
    guest_start(&guest, rig, "10", "guest");
    rig_run_pod(rig, "pod");
    assert_int_equal(node_create(rig->node, "pod", rig_container("early"), NULL, NULL), 0);
    assert_int_equal(node_stop_pod(rig->node, "pod", deed_done, &deeds[0]), 0);
    assert_int_equal(node_create(rig->node, "pod", rig_container("c"), deed_done, &deeds[1]), 0);
    assert_int_equal(node_stop_pod(rig->node, "pod", deed_done, &deeds[2]), 0);
    assert_int_equal(node_start_container(rig->node, "early", deed_done, &deeds[3]), 0);
    assert_int_equal(node_update_pod(rig->node, "pod", NULL, NULL, deed_done, &deeds[4]), 0);
    deed_good(rig, &deeds[0]);
    deed_bad(rig, &deeds[1], NRI_E_STATE);
    assert_string_equal(deeds[1].text, "pod sandbox pod is not ready");
    assert_false(deeds[1].done);
    deed_good(rig, &deeds[2]);
    assert_string_equal(deeds[2].events, "");
    deed_bad(rig, &deeds[3], NRI_E_STATE);
    deed_bad(rig, &deeds[4], NRI_E_STATE);
    assert_int_equal(guest_count(&guest, "CreateContainer c"), 0);
    assert_int_equal(guest_count(&guest, "StopPodSandbox"), 1);
    assert_int_equal(guest_count(&guest, "StartContainer"), 0);
    assert_int_equal(state_of(rig, "c"), STORE_GONE);
    guest_close(&guest, rig);
}

static int keep_run(struct guest *guest, nri_request *request)
{
    if (nri_request_event(request) != NRI_EVENT_RUN_POD_SANDBOX)
        return 0;
    guest->kept = request; /* the reference that NRI_PENDING passes */
    return NRI_PENDING;
}

/* Case S37. */
static void test_remove_during_run(void **state)
{
    struct rig *rig = *state;
    struct guest guest = {.act = keep_run};
    struct deed run = {.over = false}, removed = {.over = false};
    rig_start(rig);
    guest_start(&guest, rig, "10", "guest");
    assert_int_equal(node_run_pod(rig->node, rig_pod("pod"), deed_done, &run), 0);
    rig_wait(rig, guest.kept != NULL);
    assert_int_equal(node_remove_pod(rig->node, "pod", deed_done, &removed), 0);
    /* What is another pod sandbox's does not wait; it shows that time has passed. */
    guest.act = NULL;
    assert_int_equal(guest.count, 1);
    assert_false(run.over || removed.over);
    (void)nri_request_complete(guest.kept, 0);
    guest.kept = nri_request_unref(guest.kept);
    deed_good(rig, &run);
    deed_good(rig, &removed);
    assert_string_equal(guest.lines[0], "RunPodSandbox pod");
    assert_string_equal(guest.lines[1], "StopPodSandbox pod");
    assert_string_equal(guest.lines[2], "RemovePodSandbox pod");
    assert_int_equal(guest.count, 3);
    guest_close(&guest, rig);
}

static int refuse(struct guest *guest, nri_request *request)
{
    return nri_request_event(request) == *(const enum nri_event *)guest->user
               ? nri_request_fail(request, NRI_E_REJECTED, "not here")
               : 0;
}

static void refuse_one(struct rig *rig, enum nri_event event, struct guest *guest,
                       struct deed *deed)
{
    static enum nri_event refused;
    refused = event;
    guest->act = refuse;
    guest->user = &refused;
    rig_start(rig);
    guest_start(guest, rig, "10", "guest");
    if (event == NRI_EVENT_RUN_POD_SANDBOX) {
        assert_int_equal(node_run_pod(rig->node, rig_pod("pod"), deed_done, deed), 0);
        rig_wait(rig, deed->over);
        return;
    }
    rig_run_pod(rig, "pod");
    assert_int_equal(node_create(rig->node, "pod", rig_container("c"), deed_done, deed), 0);
    rig_wait(rig, deed->over);
}

static void test_refused_run(void **state)
{
    struct rig *rig = *state;
    struct guest guest = {.count = 0};
    struct deed deed = {.over = false};
    refuse_one(rig, NRI_EVENT_RUN_POD_SANDBOX, &guest, &deed);
    deed_bad(rig, &deed, NRI_E_REJECTED);
    assert_false(deed.done);
    assert_non_null(strstr(deed.text, "10-guest"));
    assert_string_equal(deed.events, "RunPodSandbox StopPodSandbox RemovePodSandbox");
    assert_null(store_find_pod(node_store(rig->node), "pod"));
    guest_close(&guest, rig);
}

static void test_refused_create(void **state)
{
    struct rig *rig = *state;
    struct guest guest = {.count = 0};
    struct deed deed = {.over = false}, again = {.over = false};
    refuse_one(rig, NRI_EVENT_CREATE_CONTAINER, &guest, &deed);
    deed_bad(rig, &deed, NRI_E_REJECTED);
    assert_false(deed.done);
    assert_string_equal(deed.events, "CreateContainer StopContainer RemoveContainer");
    assert_int_equal(state_of(rig, "c"), STORE_GONE);
    /* Its id is free again. */
    guest.act = NULL;
    assert_int_equal(node_create(rig->node, "pod", rig_container("c"), deed_done, &again), 0);
    deed_good(rig, &again);
    guest_close(&guest, rig);
}

/* A runtime only logs that a plugin failed after the fact. */
static void test_refused_notification(void **state)
{
    struct rig *rig = *state;
    struct guest guest = {.count = 0};
    struct deed deed = {.over = false};
    refuse_one(rig, NRI_EVENT_POST_CREATE_CONTAINER, &guest, &deed);
    deed_bad(rig, &deed, NRI_E_REJECTED);
    assert_true(deed.done);
    assert_int_equal(state_of(rig, "c"), STORE_CREATED);
    guest_close(&guest, rig);
}

static void test_refused_start_and_update(void **state)
{
    static enum nri_event event = NRI_EVENT_START_CONTAINER;
    struct rig *rig = *state;
    struct guest guest = {.act = refuse, .user = &event};
    struct deed create = {.over = false}, start = {.over = false}, update = {.over = false};
    rig_start(rig);
    guest_start(&guest, rig, "10", "guest");
    rig_run_pod(rig, "pod");
    assert_int_equal(node_create(rig->node, "pod", rig_container("c"), deed_done, &create), 0);
    assert_int_equal(node_start_container(rig->node, "c", deed_done, &start), 0);
    deed_good(rig, &create);
    deed_bad(rig, &start, NRI_E_REJECTED);
    assert_false(start.done);
    assert_string_equal(start.events, "StartContainer");
    assert_int_equal(state_of(rig, "c"), STORE_CREATED);
    nri_container *wish = rig_container("wish");
    assert_int_equal(nri_resources_set_cpu_shares(nri_container_edit_resources(wish), 300), 0);
    event = NRI_EVENT_UPDATE_CONTAINER;
    assert_int_equal(
        node_update_container(rig->node, "c", nri_container_resources(wish), deed_done, &update),
        0);
    deed_bad(rig, &update, NRI_E_REJECTED);
    assert_string_equal(update.events, "UpdateContainer");
    assert_int_equal(rig_shares(rig_get(rig, "c")), 100);
    nri_container_free(wish);
    guest_close(&guest, rig);
}

static void test_what_is_not_there(void **state)
{
    struct rig *rig = *state;
    struct deed deeds[8] = {{.over = false}};
    nri_container *own = rig_container("c");
    rig_start(rig);
    rig_run(rig, "pod", "c");
    assert_int_equal(node_stop_pod(rig->node, "none", deed_done, &deeds[0]), 0);
    assert_int_equal(node_start_container(rig->node, "none", deed_done, &deeds[1]), 0);
    assert_int_equal(node_create(rig->node, "none", rig_container("d"), deed_done, &deeds[2]), 0);
    assert_int_equal(node_create(rig->node, "pod", rig_container("c"), deed_done, &deeds[3]), 0);
    assert_int_equal(node_run_pod(rig->node, rig_pod("pod"), deed_done, &deeds[4]), 0);
    assert_false(deeds[0].over); /* never inside the call */
    assert_int_equal(node_remove_pod(rig->node, "pod", NULL, NULL), 0);
    assert_int_equal(node_stop_container(rig->node, "c", deed_done, &deeds[5]), 0);
    assert_int_equal(node_remove_pod(rig->node, "pod", deed_done, &deeds[6]), 0);
    deed_bad(rig, &deeds[0], NRI_E_NOT_FOUND);
    assert_string_equal(deeds[0].text, "there is no pod sandbox none");
    deed_bad(rig, &deeds[1], NRI_E_NOT_FOUND);
    deed_bad(rig, &deeds[2], NRI_E_NOT_FOUND);
    deed_bad(rig, &deeds[3], NRI_E_STATE);
    deed_bad(rig, &deeds[4], NRI_E_STATE);
    assert_string_equal(deeds[4].text, "there is a pod sandbox pod already");
    deed_bad(rig, &deeds[5], NRI_E_NOT_FOUND);
    deed_bad(rig, &deeds[6], NRI_E_NOT_FOUND);
    assert_int_equal(node_create(rig->node, "pod", NULL, NULL, NULL), NRI_E_INVALID);
    assert_int_equal(node_stop_pod(rig->node, NULL, NULL, NULL), NRI_E_INVALID);
    nri_container_free(own);
}

static void test_close_with_operations(void **state)
{
    struct rig *rig = *state;
    struct guest guest = {.act = keep_run};
    struct deed run = {.over = false}, create = {.over = false};
    rig_start(rig);
    guest_start(&guest, rig, "10", "guest");
    assert_int_equal(node_run_pod(rig->node, rig_pod("pod"), deed_done, &run), 0);
    assert_int_equal(node_create(rig->node, "pod", rig_container("c"), deed_done, &create), 0);
    rig_wait(rig, guest.kept != NULL);
    rig_close(rig);
    assert_true(run.over && create.over);
    assert_int_not_equal(run.code, 0);
    assert_int_equal(create.code, NRI_E_CLOSED);
    (void)nri_request_complete(guest.kept, 0);
    guest.kept = nri_request_unref(guest.kept);
    guest_close(&guest, rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_whole_life, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_exit_by_itself, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_create_in_stopped_sandbox, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_remove_during_run, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_refused_run, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_refused_create, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_refused_notification, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_refused_start_and_update, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_what_is_not_there, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_close_with_operations, rig_setup, rig_teardown),
    };
    return cmocka_run_group_tests_name("node", tests, NULL, NULL);
}
