/* SPDX-License-Identifier: Apache-2.0 */
/* Plugins that a runtime starts: which files, with what, in what order, and how they end. */
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "node.h"

static char program[PATH_MAX]; /* tests/io/launched.c */

static void install(const struct node *node, const char *name)
{
    node_link(node->plugins, name, program);
}

/* ---- which files ---- */

struct row {
    const char *name;
    enum { FILE_, DIRECTORY, FIFO, WASM, DANGLING } kind;
    unsigned mode;
    int code;          /* of nri_runtime_start() */
    const char *found; /* in a line of the log, or in the error */
};

static const struct row rows[] = {
    {"10-text", FILE_, 0600, 0, ""},
    {"not-a-plugin.txt", FILE_, 0644, 0, ""},
    {"10-directory", DIRECTORY, 0700, 0, ""},
    {"directory", DIRECTORY, 0700, 0, ""},
    {"10-fifo", FIFO, 0700, 0, ""},
    {"10-wasm", WASM, 0700, 0, "10-wasm is passed over: it is a WebAssembly module"},
    {"10-nothing", DANGLING, 0, 0, "10-nothing is passed over"},
    {"10-garbage", FILE_, 0700, 0, "plugin 10-garbage is not started"},
    {"10-group", FILE_, 0610, 0, "plugin 10-group is not started"},
    {"10-others", FILE_, 0601, 0, "plugin 10-others is not started"},
    {"plugin", FILE_, 0700, NRI_E_INVALID, "/plugin may be executed"},
    {"1-plugin", FILE_, 0700, NRI_E_INVALID, "/1-plugin may"},
    {"100-plugin", FILE_, 0700, NRI_E_INVALID, "/100-plugin may"},
    {"aa-plugin", FILE_, 0700, NRI_E_INVALID, "/aa-plugin may"},
    {"10-", FILE_, 0700, NRI_E_INVALID, "/10- may"},
    {"10plugin", FILE_, 0700, NRI_E_INVALID, "/10plugin may"},
    {"10-a b", FILE_, 0700, NRI_E_INVALID, "/10-a b may"},
    {".hidden", FILE_, 0700, NRI_E_INVALID, "/.hidden may"},
    {".hidden", FILE_, 0600, 0, ""},
};

static void make_row(const struct node *node, const struct row *row)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", node->plugins, row->name);
    switch (row->kind) {
    case FILE_:
        node_write_text(node->plugins, row->name, "no program", row->mode);
        break;
    case WASM:
        node_write(node->plugins, row->name, "\0asm\1\0\0\0", 8, row->mode);
        break;
    case DIRECTORY:
        assert_int_equal(mkdir(path, row->mode), 0);
        break;
    case FIFO:
        assert_int_equal(mkfifo(path, row->mode), 0);
        break;
    case DANGLING:
        node_link(node->plugins, row->name, "no-such-file");
        break;
    }
}

static void test_which_files(void **state)
{
    struct node *node = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        char path[512];
        node->line_count = node->ready = node->connected = 0;
        make_row(node, row);
        assert_int_equal(node_new(node), 0);
        const int code = node_begin(node);
        if (code != row->code)
            fail_msg("%s: %s", row->name, nri_error_name(code));
        if (code == 0)
            node_wait(node, &node->ready, 1);
        else if (strstr(nri_error_get_text(nri_runtime_last_error(node->runtime)), row->found) ==
                 NULL)
            fail_msg("%s: %s", row->name,
                     nri_error_get_text(nri_runtime_last_error(node->runtime)));
        assert_int_equal(node->connected, 0);
        if (code == 0 && (row->found[0] != '\0') != (node->line_count > 0))
            fail_msg("%s: %d lines, first: %s", row->name, node->line_count, node->lines[0]);
        /* Under valgrind posix_spawn() does not tell that there was nothing to execute. */
        if (!node_logged(node, row->found) && row->found[0] != '\0' &&
            !(getenv("NRI_TEST_VALGRIND") != NULL && strstr(row->found, "not started") != NULL))
            fail_msg("%s: %s", row->name, node->lines[0]);
        node_close(node);
        (void)snprintf(path, sizeof path, "%s/%s", node->plugins, row->name);
        assert_int_equal(remove(path), 0);
    }
}

static void test_no_directory_is_no_plugin(void **state)
{
    struct node *node = *state;
    char missing[128];
    (void)snprintf(missing, sizeof missing, "%s/missing", node->directory);
    node->options.plugin_directory = missing;
    node_start(node);
    node_wait(node, &node->ready, 1);
    node_close(node);
    node_write_text(node->directory, "missing", "", 0700);
    assert_int_equal(node_new(node), 0);
    assert_int_equal(node_begin(node), NRI_E_NOT_FOUND); /* no directory */
    node_close(node);
}

static void test_nothing_is_launched(void **state)
{
    struct node *node = *state;
    node->options.no_launch = 1;
    node_write_text(node->plugins, "wrong name", "", 0700);
    node_start(node);
    node_wait(node, &node->ready, 1);
    node_close(node);
}

/* ---- with what ---- */

static void read_file(const struct node *node, const char *name, char *text, size_t room)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", node->directory, name);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    size_t length = fread(text, 1, room - 1, file);
    text[length] = '\0';
    (void)fclose(file);
}

static void ignore(int number)
{
    (void)number;
}

static void test_what_a_plugin_is_started_with(void **state)
{
    struct node *node = *state;
    char path[256], text[4096];
    sigset_t blocked, old;
    /* What it must not get. */
    int leaked[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, leaked), 0);
    assert_int_equal(setenv("NRI_TEST_LEAK", "1", 1), 0);
    (void)sigemptyset(&blocked);
    (void)sigaddset(&blocked, SIGUSR1);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &blocked, &old), 0);
    void (*usr2)(int) = signal(SIGUSR2, SIG_IGN);
    void (*child)(int) = signal(SIGCHLD, ignore);

    (void)snprintf(path, sizeof path, "%s/report", node->directory);
    install(node, "42-report");
    node_write_text(node->config, "42-report.conf", path, 0600);
    node_start(node);
    node_wait(node, &node->ready, 1);
    assert_int_equal(node->connected, 1);
    assert_string_equal(node->order, "42-report ");
    assert_int_equal(node->origin, NRI_ORIGIN_LAUNCHED);
    assert_true(node->pid > 0 && node->pid != getpid());
    read_file(node, "report", text, sizeof text);
    assert_string_equal(text, "env NRI_PLUGIN_NAME=report\n"
                              "env NRI_PLUGIN_IDX=42\n"
                              "env NRI_PLUGIN_SOCKET=3\n"
                              "fds 0 1 2 3s \n"
                              "leader 1\n"
                              "SigBlk: 0\n"
                              "SigIgn: 0\n");
    assert_ptr_equal(signal(SIGCHLD, child), ignore); /* left alone */
    (void)signal(SIGUSR2, usr2);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    (void)unsetenv("NRI_TEST_LEAK");
    (void)close(leaked[0]);
    (void)close(leaked[1]);
    node_stop(node);
    assert_true(node_logged(node, "exited with status 0"));
    assert_false(node_logged(node, "SIGTERM"));
    node_close(node);
}

/* The lowest descriptors may be anything in a daemon. */
static void test_closed_standard_descriptors(void **state)
{
    struct node *node = *state;
    char path[256], text[4096];
    int kept[2] = {dup(0), dup(3)};
    (void)snprintf(path, sizeof path, "%s/report", node->directory);
    install(node, "42-report");
    node_write_text(node->config, "report.conf", path, 0600);
    (void)close(0);
    node_start(node);
    node_wait(node, &node->ready, 1);
    read_file(node, "report", text, sizeof text);
    if (strstr(text, "fds 0 1 2 3s \n") == NULL)
        fail_msg("%s", text);
    node_close(node);
    if (kept[0] >= 0) {
        (void)dup2(kept[0], 0);
        (void)close(kept[0]);
    }
    if (kept[1] >= 0)
        (void)close(kept[1]);
}

static void test_drop_ins(void **state)
{
    struct node *node = *state;
    static const struct {
        const char *first, *second; /* NN-name.conf and name.conf; NULL: none */
        size_t first_size;
        int code;
    } cases[] = {
        {"first", "second", 5, 0},
        {NULL, "second", 0, 0},
        {NULL, NULL, 0, 0},
        {"", "second", 0, 0},
        {"nul\0", "second", 4, NRI_E_UTF8},
        {"\xff", NULL, 1, NRI_E_UTF8},
    };
    install(node, "42-plain");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        node->ready = node->connected = 0;
        if (cases[i].first != NULL)
            node_write(node->config, "42-plain.conf", cases[i].first, cases[i].first_size, 0600);
        if (cases[i].second != NULL)
            node_write_text(node->config, "plain.conf", cases[i].second, 0600);
        assert_int_equal(node_new(node), 0);
        assert_int_equal(node_begin(node), cases[i].code);
        if (cases[i].code == 0) {
            node_wait(node, &node->ready, 1);
            assert_int_equal(node->connected, 1);
        }
        node_close(node);
        if (cases[i].first != NULL)
            node_remove(node->config, "42-plain.conf");
        if (cases[i].second != NULL)
            node_remove(node->config, "plain.conf");
    }
}

static void test_wrong_drop_ins(void **state)
{
    struct node *node = *state;
    char path[256];
    install(node, "42-plain");
    (void)snprintf(path, sizeof path, "%s/42-plain.conf", node->config);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(node_new(node), 0);
    assert_int_equal(node_begin(node), NRI_E_INVALID);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(node_begin(node), NRI_E_INVALID);
    assert_int_equal(unlink(path), 0);
    node_link(node->config, "42-plain.conf", "42-plain.conf");
    assert_int_equal(node_begin(node), NRI_E_IO);
    assert_int_equal(unlink(path), 0);
    size_t size = (size_t)5 << 20;
    char *large = calloc(1, size);
    assert_non_null(large);
    memset(large, 'x', size);
    node_write(node->config, "42-plain.conf", large, size, 0600);
    assert_int_equal(node_begin(node), NRI_E_LIMIT);
    /* As large as may be: it arrives. */
    node_write(node->config, "42-plain.conf", large, ((size_t)4 << 20) - 8192, 0600);
    free(large);
    assert_int_equal(node_begin(node), 0); /* it was not started, so it may be */
    node_wait(node, &node->ready, 1);
    assert_int_equal(node->connected, 1);
    node_close(node);
}

/* ---- in what order ---- */

static void test_the_start_is_one_group(void **state)
{
    struct node *node = *state;
    static const char *const names[] = {"30-c", "10-a", "20-b", "20-a"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        install(node, names[i]);
    node_start(node);
    assert_int_equal(access(node->socket, F_OK), -1);
    node_wait(node, &node->ready, 1);
    assert_int_equal(node->connected, 4);
    assert_int_equal(node->early, 0);
    assert_int_equal(access(node->socket, F_OK), 0);
    assert_int_equal(node->enumerated, 1); /* all at once */
    static const char *const expected[] = {"10-a", "20-a", "20-b", "30-c"};
    nri_runtime_plugin *plugin = NULL;
    for (size_t i = 0; i < 4; i++) {
        plugin = nri_runtime_next_plugin(node->runtime, plugin);
        assert_string_equal(nri_runtime_plugin_id(plugin), expected[i]);
    }
    node_close(node);
}

static void test_failing_plugins_do_not_hold_the_start_up(void **state)
{
    struct node *node = *state;
    node->options.registration_timeout_ms = 5000; /* the last one has as long */
    install(node, "10-failing");
    install(node, "20-silent");
    install(node, "30-fine");
    node_start(node);
    node_wait(node, &node->ready, 1);
    assert_string_equal(node->order, "30-fine ");
    node_wait_for(node, node_logged(node, "plugin 10-failing: process"));
    assert_true(node_logged(node, "exited with status 7"));
    assert_true(node_logged(node, "plugin 20-silent: connection closed"));
    node_wait_for(node, node_logged(node, "plugin 20-silent: process"));
    node_close(node);
}

static void test_more_than_max_plugins(void **state)
{
    struct node *node = *state;
    node->options.max_plugins = 2;
    install(node, "10-a");
    install(node, "20-b");
    install(node, "30-c");
    node_start(node);
    node_wait(node, &node->ready, 1);
    assert_int_equal(node->connected, 2);
    assert_null(strstr(node->order, "30-c"));
    assert_true(node_logged(node, "plugin 30-c is not started: there are 2 plugins"));
    node_close(node);
}

/* ---- the end ---- */

static void test_killed_plugin_is_reaped(void **state)
{
    struct node *node = *state;
    install(node, "10-fine");
    node_start(node);
    node_wait(node, &node->ready, 1);
    assert_int_equal(node->connected, 1);
    assert_int_equal(kill((pid_t)node->pid, SIGKILL), 0);
    node_wait(node, &node->lost, 1);
    assert_int_equal(node->lost_code, NRI_E_CLOSED);
    node_wait_for(node, node_logged(node, "was ended by signal 9"));
    assert_int_equal(waitpid((pid_t)node->pid, NULL, WNOHANG), -1); /* no zombie */
    node_close(node);
}

static void test_dropped_plugin_is_ended(void **state)
{
    struct node *node = *state;
    node->options.stop_timeout_ms = 50;
    install(node, "10-stubborn");
    node_start(node);
    node_wait(node, &node->ready, 1);
    nri_runtime_plugin *plugin = nri_runtime_next_plugin(node->runtime, NULL);
    assert_int_equal(nri_runtime_drop_plugin(node->runtime, plugin), 0);
    node_wait(node, &node->lost, 1);
    node_wait_for(node, node_logged(node, "was ended by signal 9"));
    node_close(node);
}

static void test_stop_ladder(void **state)
{
    struct node *node = *state;
    node->options.stop_timeout_ms = 300;
    install(node, "10-fine");
    install(node, "20-deaf");
    install(node, "30-stubborn");
    node_start(node);
    node_wait(node, &node->ready, 1);
    assert_int_equal(node->connected, 3);
    const uint64_t since = node_now_ms();
    node_stop(node);
    const uint64_t took = node_now_ms() - since;
    assert_true(took >= 600); /* both steps were waited for */
    assert_true(node_logged(node, "exited with status 0"));
    assert_true(node_logged(node, "plugin 20-deaf: process"));
    assert_true(node_logged(node, "has not ended: sending SIGTERM"));
    assert_true(node_logged(node, "was ended by signal 15"));
    assert_true(node_logged(node, "has not ended after SIGTERM: sending SIGKILL"));
    assert_true(node_logged(node, "was ended by signal 9"));
    assert_int_equal(node->lost, 3);
    assert_int_equal(node->lost_code, 0);
    node_close(node);
}

/* A stopped process cannot end by itself, nor by SIGTERM. */
static void test_stopped_process(void **state)
{
    struct node *node = *state;
    node->options.stop_timeout_ms = 50;
    node->options.request_timeout_ms = 5000; /* to be configured, it has as long */
    install(node, "10-fine");
    node_start(node);
    node_wait(node, &node->ready, 1);
    assert_int_equal(node->connected, 1);
    assert_int_equal(kill((pid_t)node->pid, SIGSTOP), 0);
    /* The container does not wait for it for good. */
    assert_int_equal(node_call(node, NRI_EVENT_CREATE_CONTAINER), 0);
    node_wait(node, &node->called, 1);
    assert_int_equal(node->call_code, 0);
    node_wait(node, &node->lost, 1);
    assert_int_equal(node->lost_code, NRI_E_TIMEOUT);
    node_wait_for(node, node_logged(node, "was ended by signal 9"));
    node_close(node);
}

static bool has_group(pid_t leader)
{
    return kill(-leader, 0) == 0;
}

static void test_close_kills_at_once(void **state)
{
    struct node *node = *state;
    node->options.stop_timeout_ms = 60000; /* not waited for */
    install(node, "10-parent");
    install(node, "20-stubborn");
    node_start(node);
    node_wait(node, &node->ready, 1);
    nri_runtime_plugin *plugin = nri_runtime_next_plugin(node->runtime, NULL);
    const pid_t parent = (pid_t)nri_runtime_plugin_pid(plugin);
    assert_true(has_group(parent));
    node_close(node);
    assert_int_equal(node->ended, 1);
    /* What it had started went with it; it is the init process's to reap. */
    node_wait_for(node, !has_group(parent));
}

static void test_close_while_launching(void **state)
{
    struct node *node = *state;
    install(node, "10-silent");
    install(node, "20-fine");
    node_start(node);
    for (int i = 0; i < 3; i++)
        (void)uv_run(&node->loop, UV_RUN_NOWAIT);
    node_close(node);
    assert_int_equal(node->ready, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, node_setup, node_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(test_which_files),
        TEST(test_no_directory_is_no_plugin),
        TEST(test_nothing_is_launched),
        TEST(test_what_a_plugin_is_started_with),
        TEST(test_closed_standard_descriptors),
        TEST(test_drop_ins),
        TEST(test_wrong_drop_ins),
        TEST(test_the_start_is_one_group),
        TEST(test_failing_plugins_do_not_hold_the_start_up),
        TEST(test_more_than_max_plugins),
        TEST(test_killed_plugin_is_reaped),
        TEST(test_dropped_plugin_is_ended),
        TEST(test_stop_ladder),
        TEST(test_stopped_process),
        TEST(test_close_kills_at_once),
        TEST(test_close_while_launching),
    };
    if (argc < 2 || realpath(argv[1], program) == NULL)
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
