/* SPDX-License-Identifier: Apache-2.0 */
/* What plugins change is what the node has, and shows: the next event, a Synchronize, a restart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rig.h"

/* ---- adjustments ---- */

static int adjust(struct guest *guest, nri_request *request)
{
    static const char *const args[] = {"sleep", "1"};
    static const char *const options[] = {"ro"};
    nri_adjustment *adjustment = nri_request_adjustment(request);
    (void)guest;
    if (nri_request_event(request) != NRI_EVENT_CREATE_CONTAINER)
        return 0;
    (void)nri_adjustment_add_env(adjustment, "HELLO", "nri");
    (void)nri_adjustment_remove_env(adjustment, "PATH");
    (void)nri_adjustment_set_args(adjustment, args, 2);
    (void)nri_adjustment_add_annotation(adjustment, "key", "value");
    (void)nri_adjustment_add_mount(adjustment, "/mnt", "bind", "/srv", options, 1);
    (void)nri_adjustment_add_cdi_device(adjustment, "vendor.com/class=one");
    (void)nri_adjustment_set_rdt_clos_id(adjustment, "gold");
    (void)nri_adjustment_set_memory_limit(adjustment, 64 << 20);
    return 0;
}

static void expect_adjusted(const nri_container *container)
{
    const char *value;
    const nri_rdt *rdt;
    int64_t limit = 0;
    assert_true(nri_container_env(container, "HELLO", &value));
    assert_string_equal(value, "nri");
    assert_false(nri_container_env(container, "PATH", NULL));
    assert_string_equal(nri_container_arg(container, 0), "sleep");
    assert_true(nri_container_annotation(container, "key", &value));
    assert_true(nri_container_mount(container, "/mnt", NULL));
    assert_string_equal(nri_container_cdi_device(container, 0), "vendor.com/class=one");
    assert_true(nri_container_rdt(container, &rdt));
    assert_true(nri_rdt_clos_id(rdt, &value));
    assert_string_equal(value, "gold");
    assert_true(nri_resources_memory_limit(nri_container_resources(container), &limit));
    assert_int_equal(limit, 64 << 20);
    assert_int_equal(rig_shares(container), 100); /* and what nobody changed stays */
}

static int look(struct guest *guest, nri_request *request)
{
    const enum nri_event event = nri_request_event(request);
    nri_container **copy = guest->user;
    const nri_container *seen = nri_request_container(request);
    if (event == NRI_EVENT_START_CONTAINER)
        return nri_container_dup(seen, NULL, &copy[0]);
    if (event == NRI_EVENT_SYNCHRONIZE && nri_request_container_count(request) == 1)
        return nri_container_dup(nri_request_container_at(request, 0), NULL, &copy[1]);
    return 0;
}

static void test_adjustments_are_kept(void **state)
{
    struct rig *rig = *state;
    nri_container *copies[2] = {NULL, NULL}, *later[2] = {NULL, NULL};
    struct guest first = {.act = adjust}, second = {.act = look, .user = copies},
                 third = {.act = look, .user = later};
    rig_start(rig);
    guest_start(&first, rig, "10", "first");
    guest_start(&second, rig, "20", "second");
    rig_run(rig, "pod", "c");
    expect_adjusted(rig_get(rig, "c"));
    assert_non_null(copies[0]);
    expect_adjusted(copies[0]);
    const struct store_container *kept = store_find_container(node_store(rig->node), "c");
    assert_true(nri_container_env(store_container_given(kept), "PATH", NULL));
    assert_false(nri_container_env(store_container_given(kept), "HELLO", NULL));
    guest_start(&third, rig, "30", "third");
    assert_non_null(later[1]);
    expect_adjusted(later[1]);
    assert_int_equal(nri_container_get_state(later[1]), NRI_CONTAINER_RUNNING);
    nri_container_free(copies[0]);
    nri_container_free(later[1]);
    guest_close(&first, rig);
    guest_close(&second, rig);
    guest_close(&third, rig);
}

/* ---- updates ---- */

static nri_updates *wish(void)
{
    nri_updates *updates = NULL;
    assert_int_equal(nri_updates_new(&updates, NULL), 0);
    for (const char *const *id = (const char *const[]){"r", "s", "u", "s2", NULL}; *id != NULL;
         id++)
        assert_int_equal(nri_update_set_cpu_shares(nri_updates_container(updates, *id), 512), 0);
    (void)nri_update_set_ignore_failure(nri_updates_container(updates, "s2"), true);
    return updates;
}

struct answer {
    bool came;
    int code;
    char failed[128];
};

static void on_answer(nri_plugin *plugin, const nri_update_result *result, void *user)
{
    struct answer *answer = user;
    (void)plugin;
    answer->came = true;
    answer->code = nri_update_result_code(result);
    for (size_t i = 0; i < nri_update_result_failed_count(result); i++) {
        if (nri_update_result_failed_ignored(result, i))
            continue;
        (void)strcat(answer->failed, nri_update_result_failed_id(result, i));
        (void)strcat(answer->failed, " ");
    }
}

static void stop(struct rig *rig, const char *id)
{
    struct deed deed = {.over = false};
    assert_int_equal(node_stop_container(rig->node, id, deed_done, &deed), 0);
    deed_good(rig, &deed);
}

/* Case S50. */
static void test_unsolicited_updates(void **state)
{
    struct rig *rig = *state;
    struct guest guest = {.count = 0};
    struct answer answer = {.came = false};
    nri_updates *updates = wish();
    rig_start(rig);
    guest_start(&guest, rig, "10", "guest");
    rig_run(rig, "pod", "r");
    rig_run(rig, "pod", "s");
    rig_run(rig, "pod2", "s2");
    stop(rig, "s");
    stop(rig, "s2");
    assert_int_equal(nri_plugin_update_containers(guest.plugin, updates, NULL, on_answer, &answer),
                     0);
    rig_wait(rig, answer.came);
    assert_int_equal(answer.code, 0);
    assert_string_equal(answer.failed, "s u ");
    assert_string_equal(rig->failed_ids, "s,u,s2");
    assert_false(rig->sync);
    assert_int_equal(rig_shares(rig_get(rig, "r")), 512);
    assert_int_equal(rig_shares(rig_get(rig, "s")), 100);
    assert_int_equal(rig_shares(rig_get(rig, "s2")), 100);
    nri_updates_free(updates);
    guest_close(&guest, rig);
}

static int answer_updates(struct guest *guest, nri_request *request)
{
    const enum nri_event event = nri_request_event(request);
    const bool is_sync = event == NRI_EVENT_SYNCHRONIZE;
    nri_updates *updates = nri_request_updates(request);
    (void)guest;
    if (!is_sync && (event != NRI_EVENT_CREATE_CONTAINER ||
                     strcmp(nri_container_id(nri_request_container(request)), "new") != 0))
        return 0;
    (void)nri_update_set_cpu_shares(nri_updates_container(updates, "r"), is_sync ? 300 : 400);
    (void)nri_update_set_cpu_shares(nri_updates_container(updates, "s"), 400);
    return 0;
}

static void test_answered_updates(void **state)
{
    struct rig *rig = *state;
    struct guest guest = {.act = answer_updates};
    struct deed deed = {.over = false};
    rig_start(rig);
    rig_run(rig, "pod", "r");
    rig_run(rig, "pod", "s");
    stop(rig, "s");
    guest_start(&guest, rig, "10", "guest");
    rig_wait(rig, rig->updated == 1);
    assert_true(rig->sync);
    assert_string_equal(rig->failed_ids, "s");
    assert_int_equal(rig_shares(rig_get(rig, "r")), 300);
    assert_int_equal(node_create(rig->node, "pod", rig_container("new"), deed_done, &deed), 0);
    deed_good(rig, &deed);
    assert_string_equal(deed.not_updated, "s");
    assert_int_equal(rig_shares(rig_get(rig, "r")), 400);
    guest_close(&guest, rig);
}

/* CRI-O's way: the request fails. */
static void test_strict_updates(void **state)
{
    struct rig *rig = *state;
    struct guest guest = {.act = answer_updates};
    struct imitate imitate = {
        .name = "cri-o",
        .version = "1.35.0",
        .nri = "0.11.0",
        .events = NRI_EVENTS_ALL,
        .sends = NRI_EVENTS_ALL,
        .strict_updates = true,
        .request_timeout_ms = RIG_PATIENCE_MS,
    };
    struct deed deed = {.over = false};
    rig->options.imitate = &imitate;
    rig_start(rig);
    rig_run(rig, "pod", "s");
    stop(rig, "s");
    guest_start(&guest, rig, "10", "guest");
    assert_int_equal(node_create(rig->node, "pod", rig_container("new"), deed_done, &deed), 0);
    deed_bad(rig, &deed, NRI_E_INVALID);
    assert_false(deed.done);
    assert_int_equal(guest_count(&guest, "RemoveContainer new"), 1);
    assert_null(store_find_container(node_store(rig->node), "new"));
    guest_close(&guest, rig);
}

static int answer_own_update(struct guest *guest, nri_request *request)
{
    (void)guest;
    if (nri_request_event(request) == NRI_EVENT_UPDATE_CONTAINER)
        (void)nri_update_set_memory_limit(nri_updates_container(nri_request_updates(request), "c"),
                                          32 << 20);
    return 0;
}

static void test_update_with_what_plugins_add(void **state)
{
    struct rig *rig = *state;
    struct guest guest = {.act = answer_own_update};
    struct deed deed = {.over = false};
    nri_container *asked = rig_container("asked");
    int64_t limit = 0;
    rig_start(rig);
    guest_start(&guest, rig, "10", "guest");
    rig_run(rig, "pod", "c");
    assert_int_equal(nri_resources_set_cpu_shares(nri_container_edit_resources(asked), 700), 0);
    assert_int_equal(
        node_update_container(rig->node, "c", nri_container_resources(asked), deed_done, &deed), 0);
    nri_container_free(asked); /* it was copied */
    deed_good(rig, &deed);
    assert_string_equal(deed.not_updated, "");
    assert_int_equal(rig_shares(rig_get(rig, "c")), 700);
    assert_true(nri_resources_memory_limit(nri_container_resources(rig_get(rig, "c")), &limit));
    assert_int_equal(limit, 32 << 20);
    guest_close(&guest, rig);
}

/* ---- evictions ---- */

static void test_unsolicited_eviction(void **state)
{
    struct rig *rig = *state;
    struct guest guest = {.count = 0};
    struct answer answer = {.came = false};
    nri_updates *updates = NULL;
    rig_start(rig);
    guest_start(&guest, rig, "10", "guest");
    rig_run(rig, "pod", "c");
    assert_int_equal(nri_updates_new(&updates, NULL), 0);
    assert_int_equal(nri_updates_evict(updates, "c", "too hungry"), 0);
    assert_int_equal(nri_plugin_update_containers(guest.plugin, updates, NULL, on_answer, &answer),
                     0);
    rig_wait(rig, answer.came && guest_count(&guest, "StopContainer c") == 1);
    assert_int_equal(rig->evicted, 1);
    assert_string_equal(rig->evicted_id, "c");
    assert_string_equal(rig->evicted_reason, "too hungry");
    assert_string_equal(rig->evicted_by, "10-guest");
    const struct store_container *found = store_find_container(node_store(rig->node), "c");
    assert_string_equal(store_container_evicted(found), "too hungry");
    assert_string_equal(nri_container_status_reason(store_container_get(found)), "Evicted");
    nri_updates_free(updates);
    guest_close(&guest, rig);
}

static int answer_eviction(struct guest *guest, nri_request *request)
{
    (void)guest;
    if (nri_request_event(request) == NRI_EVENT_CREATE_CONTAINER &&
        strcmp(nri_container_id(nri_request_container(request)), "new") == 0)
        (void)nri_updates_evict(nri_request_updates(request), "old", NULL);
    return 0;
}

static void test_answered_eviction(void **state)
{
    struct rig *rig = *state;
    struct guest guest = {.act = answer_eviction};
    struct deed deed = {.over = false};
    rig_start(rig);
    guest_start(&guest, rig, "10", "guest");
    rig_run(rig, "pod", "old");
    assert_int_equal(node_create(rig->node, "pod", rig_container("new"), deed_done, &deed), 0);
    deed_good(rig, &deed);
    rig_wait(rig, guest_count(&guest, "StopContainer old") == 1);
    assert_true(guest_at(&guest, "StopContainer old") > guest_at(&guest, "CreateContainer new"));
    assert_int_equal(rig->evicted, 1);
    assert_string_equal(rig->evicted_id, "old");
    assert_string_equal(rig->evicted_by, "10-guest");
    assert_string_equal(rig->evicted_reason, "");
    guest_close(&guest, rig);
}

/* ---- restart ---- */

static int count_told(struct guest *guest, nri_request *request)
{
    int *told = guest->user;
    if (nri_request_event(request) == NRI_EVENT_SYNCHRONIZE)
        *told = (int)nri_request_container_count(request);
    return 0;
}

static void test_restart(void **state)
{
    struct rig *rig = *state;
    int told = -1;
    struct guest guest = {.act = count_told, .user = &told};
    struct deed restarted = {.over = false}, meanwhile = {.over = false};
    rig_start(rig);
    nri_plugin_options_init(&guest.options, sizeof guest.options);
    guest.options.reconnect = 1;
    guest_start(&guest, rig, "10", "guest");
    rig_run(rig, "pod", "c");
    rig_run(rig, "pod", "gone");
    stop(rig, "gone");
    assert_int_equal(node_restart(rig->node, 1, deed_done, &restarted), 0);
    assert_int_equal(node_restart(rig->node, 1, NULL, NULL), NRI_E_STATE);
    assert_int_equal(node_stop_container(rig->node, "c", deed_done, &meanwhile), 0);
    deed_good(rig, &restarted);
    assert_int_equal(rig->ready, 2);
    rig_wait(rig, rig->connected == 2 && guest.synchronized == 2);
    deed_good(rig, &meanwhile);
    assert_true(told == 0 || told == 1); /* it came before or after that stop */
    assert_int_equal(rig->lost, 1);
    assert_int_equal(store_container_count(node_store(rig->node)), 2);
    guest_close(&guest, rig);
}

static int keep_start(struct guest *guest, nri_request *request)
{
    if (nri_request_event(request) != NRI_EVENT_STOP_CONTAINER || guest->kept != NULL)
        return 0;
    guest->kept = request;
    return NRI_PENDING;
}

/* What is under way when the runtime goes fails; what is still to do is done afterwards. */
static void test_restart_in_an_operation(void **state)
{
    struct rig *rig = *state;
    struct guest guest = {.act = keep_start};
    struct deed stopped = {.over = false}, restarted = {.over = false};
    rig_start(rig);
    nri_plugin_options_init(&guest.options, sizeof guest.options);
    guest.options.reconnect = 1;
    guest_start(&guest, rig, "10", "guest");
    rig_run(rig, "pod", "c");
    assert_int_equal(node_stop_pod(rig->node, "pod", deed_done, &stopped), 0);
    rig_wait(rig, guest.kept != NULL);
    assert_int_equal(node_restart(rig->node, 0, deed_done, &restarted), 0);
    deed_good(rig, &restarted);
    rig_wait(rig, stopped.over);
    assert_int_equal(stopped.code, NRI_E_STATE);
    assert_true(stopped.done);
    assert_string_equal(stopped.events, "StopContainer StopPodSandbox");
    (void)nri_request_complete(guest.kept, 0);
    guest.kept = nri_request_unref(guest.kept);
    guest_close(&guest, rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_adjustments_are_kept, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_unsolicited_updates, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_answered_updates, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_strict_updates, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_update_with_what_plugins_add, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_unsolicited_eviction, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_answered_eviction, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_restart, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_restart_in_an_operation, rig_setup, rig_teardown),
    };
    return cmocka_run_group_tests_name("node_change", tests, NULL, NULL);
}
