/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_node_child PROGRAMS: plugins as processes (nri-logger of that directory): started, watched,
 * paused, killed; and the slow reader.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "rig.h"

static const char *programs;

/* ---- started ---- */

static void logger(char path[512])
{
    (void)snprintf(path, 512, "%s/nri-logger", programs);
}

static struct child *start(struct rig *rig, const struct child_options *options, struct deed *deed)
{
    struct child *child = NULL;
    assert_int_equal(node_start_child(rig->node, options, &child, deed_done, deed), 0);
    assert_non_null(child);
    return child;
}

static void test_pre_connected(void **state)
{
    struct rig *rig = *state;
    char path[512];
    struct deed deed = {.over = false};
    logger(path);
    const char *const argv[] = {path, NULL};
    const struct child_options options = {
        .argv = argv, .way = CHILD_CONNECTED, .name = "chosen", .index = "42"};
    rig_start(rig);
    struct child *child = start(rig, &options, &deed);
    assert_false(deed.over);
    deed_good(rig, &deed);
    const nri_runtime_plugin *plugin = node_find_plugin(rig->node, "42-chosen");
    assert_non_null(plugin);
    assert_ptr_equal(node_child_of(rig->node, plugin), child);
    assert_int_equal(nri_runtime_plugin_pid(plugin), child_pid(child));
    assert_string_equal(child_name(child), "nri-logger");
    assert_ptr_equal(node_find_plugin(rig->node, "chosen"), plugin);
    assert_null(node_find_plugin(rig->node, "other"));
}

static void test_connects_by_itself(void **state)
{
    struct rig *rig = *state;
    char path[512];
    struct deed deed = {.over = false};
    logger(path);
    const char *const argv[] = {path, "--name", "own", "--idx", "07", "--socket", "{socket}", NULL};
    const struct child_options options = {.argv = argv};
    /* What this program was given as a plugin is not handed on. */
    (void)setenv("NRI_PLUGIN_SOCKET", "99", 1);
    (void)setenv("NRI_PLUGIN_NAME", "wrong", 1);
    rig_start(rig);
    (void)start(rig, &options, &deed);
    deed_good(rig, &deed);
    (void)unsetenv("NRI_PLUGIN_SOCKET");
    (void)unsetenv("NRI_PLUGIN_NAME");
    assert_non_null(node_find_plugin(rig->node, "07-own"));
}

/* The process that registers is a child of the one that was started. */
static void test_behind_a_shell(void **state)
{
    struct rig *rig = *state;
    char path[512], script[800];
    struct deed deed = {.over = false};
    logger(path);
    (void)snprintf(script, sizeof script,
                   "'%s' --name own --idx 07 --socket \"$NRICTL_SOCKET\"; exit 5", path);
    const char *const argv[] = {"sh", "-c", script, NULL};
    const struct child_options options = {.argv = argv};
    rig_start(rig);
    struct child *child = start(rig, &options, &deed);
    deed_good(rig, &deed);
    const nri_runtime_plugin *plugin = node_find_plugin(rig->node, "own");
    assert_int_not_equal(nri_runtime_plugin_pid(plugin), child_pid(child));
    assert_ptr_equal(node_child_of(rig->node, plugin), child);
}

static void test_what_cannot_start(void **state)
{
    struct rig *rig = *state;
    struct deed deed = {.over = false}, late = {.over = false};
    const char *const missing[] = {"/nonexistent/plugin", NULL};
    const char *const early[] = {"sh", "-c", "exit 7", NULL};
    const char *const silent[] = {"sleep", "1000", NULL};
    struct child_options options = {.argv = missing};
    rig_start(rig);
    assert_int_equal(node_start_child(rig->node, &options, NULL, deed_done, &deed),
                     NRI_E_NOT_FOUND);
    assert_non_null(strstr(node_error(rig->node), "/nonexistent/plugin"));
    assert_false(deed.over);
    options.argv = early;
    (void)start(rig, &options, &deed);
    deed_bad(rig, &deed, NRI_E_CLOSED);
    assert_string_equal(deed.text, "it ended with status 7 before it was registered");
    rig_wait(rig, rig->child_ended == 1);
    assert_int_equal(WEXITSTATUS(rig->child_status), 7);
    options.argv = silent;
    options.timeout_ms = 1;
    (void)start(rig, &options, &late);
    deed_bad(rig, &late, NRI_E_TIMEOUT);
    assert_string_equal(late.text, "it was not registered in 1 ms");
}

static void test_output_goes_where_it_is_told(void **state)
{
    struct rig *rig = *state;
    struct deed deed = {.over = false};
    char text[32] = "";
    int ends[2];
    const char *const argv[] = {"sh", "-c", "echo out; echo err >&2; ls /proc/self/fd | wc -l",
                                NULL};
    assert_int_equal(pipe(ends), 0);
    const struct child_options options = {.argv = argv, .output = ends[1]};
    rig_start(rig);
    (void)start(rig, &options, &deed);
    deed_bad(rig, &deed, NRI_E_CLOSED);
    (void)close(ends[1]);
    size_t used = 0;
    ssize_t got;
    while ((got = read(ends[0], text + used, sizeof text - 1 - used)) > 0)
        used += (size_t)got;
    (void)close(ends[0]);
    /* 0, 1, 2 and that of the listing itself: nothing of this program's. */
    assert_string_equal(text, "out\nerr\n4\n");
}

/* ---- signals ---- */

static struct child *start_connected(struct rig *rig)
{
    char path[512];
    struct deed deed = {.over = false};
    logger(path);
    const char *const argv[] = {path, NULL};
    const struct child_options options = {
        .argv = argv, .way = CHILD_CONNECTED, .name = "chosen", .index = "42"};
    struct child *child = start(rig, &options, &deed);
    deed_good(rig, &deed);
    return child;
}

static void test_kill(void **state)
{
    struct rig *rig = *state;
    rig_start(rig);
    (void)start_connected(rig);
    const nri_runtime_plugin *plugin = node_find_plugin(rig->node, "chosen");
    assert_int_equal(node_signal_plugin(rig->node, plugin, SIGKILL), 0);
    rig_wait(rig, rig->lost == 1 && rig->child_ended == 1);
    assert_true(WIFSIGNALED(rig->child_status));
    assert_int_equal(WTERMSIG(rig->child_status), SIGKILL);
    assert_null(node_find_plugin(rig->node, "chosen"));
}

/* A paused plugin does not answer: the runtime goes on without it after its time-out. */
static void test_pause(void **state)
{
    struct rig *rig = *state;
    struct deed deed = {.over = false}, again = {.over = false};
    rig->options.request_timeout_ms = 5000;
    rig_start(rig);
    struct child *child = start_connected(rig);
    assert_int_equal(node_signal_plugin(rig->node, node_find_plugin(rig->node, "chosen"), SIGSTOP),
                     0);
    assert_true(child_is_paused(child));
    assert_int_equal(node_run_pod(rig->node, rig_pod("pod"), deed_done, &deed), 0);
    deed_good(rig, &deed);
    rig_wait(rig, rig->lost == 1);
    assert_int_equal(child_signal(child, SIGCONT), 0);
    assert_false(child_is_paused(child));
    assert_int_equal(node_stop_pod(rig->node, "pod", deed_done, &again), 0);
    deed_good(rig, &again);
}

/* It ends with the node also when it is paused, or ignores SIGTERM. */
static void test_stubborn_end(void **state)
{
    struct rig *rig = *state;
    const char *const argv[] = {"sh", "-c", "trap '' TERM; while :; do sleep 1; done", NULL};
    const struct child_options options = {.argv = argv};
    struct deed deed = {.over = false};
    rig_start(rig);
    (void)start(rig, &options, &deed);
    assert_int_equal(child_signal(start_connected(rig), SIGSTOP), 0);
    rig_close(rig);
    assert_int_equal(deed.code, NRI_E_CLOSED);
    assert_int_equal(rig->child_ended, 2);
}

static void test_no_process_of_its_own(void **state)
{
    struct rig *rig = *state;
    struct guest guest = {.count = 0};
    rig_start(rig);
    guest_start(&guest, rig, "10", "guest"); /* it is this very process */
    const nri_runtime_plugin *plugin = node_find_plugin(rig->node, "guest");
    assert_int_equal(node_signal_plugin(rig->node, plugin, SIGKILL), NRI_E_NOT_FOUND);
    assert_non_null(strstr(node_error(rig->node), "10-guest"));
    assert_null(node_child_of(rig->node, plugin));
    guest_close(&guest, rig);
}

/* ---- launched from a directory ---- */

static void test_launched(void **state)
{
    struct rig *rig = *state;
    struct deed restarted = {.over = false};
    char directory[] = "/tmp/nrictl-plugins-XXXXXX", path[512], target[512];
    assert_non_null(mkdtemp(directory));
    logger(target);
    (void)snprintf(path, sizeof path, "%s/33-launched", directory);
    assert_int_equal(symlink(target, path), 0);
    rig->options.plugin_directory = directory;
    rig_start(rig);
    const nri_runtime_plugin *plugin = node_find_plugin(rig->node, "33-launched");
    assert_non_null(plugin);
    assert_int_equal(nri_runtime_plugin_origin(plugin), NRI_ORIGIN_LAUNCHED);
    /* The runtime that comes back launches it again. */
    assert_int_equal(node_restart(rig->node, 0, deed_done, &restarted), 0);
    deed_good(rig, &restarted);
    assert_non_null(node_find_plugin(rig->node, "33-launched"));
    assert_int_equal(
        node_signal_plugin(rig->node, node_find_plugin(rig->node, "launched"), SIGKILL), 0);
    rig_wait(rig, rig->lost == 2);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(directory), 0);
}

/* ---- the slow reader ---- */

static void test_slow_reader(void **state)
{
    struct rig *rig = *state;
    struct deed deed = {.over = false}, run = {.over = false};
    rig_start(rig);
    assert_int_equal(node_add_slow_reader(rig->node, "snail", "50", 1 << 20, deed_done, &deed), 0);
    deed_good(rig, &deed);
    assert_non_null(node_find_plugin(rig->node, "50-snail"));
    assert_int_equal(node_run_pod(rig->node, rig_pod("pod"), deed_done, &run), 0);
    deed_good(rig, &run);
    assert_string_equal(run.events, "RunPodSandbox");
    assert_int_equal(rig->outcomes, 1);
}

/* One that does not get through an event's bytes in time is dropped, and costs nobody more. */
static void test_too_slow_reader(void **state)
{
    struct rig *rig = *state;
    struct guest guest = {.count = 0};
    struct deed deed = {.over = false}, run = {.over = false};
    char large[20001];
    rig->options.request_timeout_ms = 5000;
    rig_start(rig);
    guest_start(&guest, rig, "90", "guest");
    assert_int_equal(node_add_slow_reader(rig->node, "snail", "50", 2000, deed_done, &deed), 0);
    deed_good(rig, &deed);
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    nri_pod *pod = rig_pod("pod");
    assert_int_equal(nri_pod_set_annotation(pod, "large", large), 0);
    assert_int_equal(node_run_pod(rig->node, pod, deed_done, &run), 0);
    deed_good(rig, &run);
    rig_wait(rig, rig->lost == 1);
    assert_null(node_find_plugin(rig->node, "50-snail"));
    assert_int_equal(guest_count(&guest, "RunPodSandbox pod"), 1);
    guest_close(&guest, rig);
}

static void test_slow_reader_that_cannot_be(void **state)
{
    struct rig *rig = *state;
    rig_start(rig);
    assert_int_equal(node_add_slow_reader(rig->node, "snail", "5", 1, NULL, NULL), NRI_E_INVALID);
    assert_string_not_equal(node_error(rig->node), "");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pre_connected, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_connects_by_itself, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_behind_a_shell, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_what_cannot_start, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_output_goes_where_it_is_told, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_kill, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_pause, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_stubborn_end, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_no_process_of_its_own, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_launched, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_slow_reader, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_too_slow_reader, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_slow_reader_that_cannot_be, rig_setup, rig_teardown),
    };
    programs = realpath(argc > 1 ? argv[1] : ".", NULL);
    return cmocka_run_group_tests_name("node_child", tests, NULL, NULL);
}
