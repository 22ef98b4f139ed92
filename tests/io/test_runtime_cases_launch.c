/* SPDX-License-Identifier: Apache-2.0 */
/* Public bug reports (tests/cases.md) about plugins that a runtime starts: their descriptors, their
 * names, a Synchronize that fails, and files that are no programs. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void read_file(const struct node *node, const char *name, char *text, size_t room)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", node->directory, name);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        fail_msg("%s: %s", path, strerror(errno));
    const size_t length = fread(text, 1, room - 1, file);
    text[length] = '\0';
    (void)fclose(file);
}

/* ---- T28: every close() of this program, its libraries' too ---- */

static atomic_int bad_closes, closes;

int close(int fd) /* the linker takes this one for all */
{
    static int (*next)(int);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "close");
    const int rc = next(fd);
    const int error = errno;
    atomic_fetch_add(&closes, 1);
    if (rc != 0 && error == EBADF)
        atomic_fetch_add(&bad_closes, 1);
    errno = error;
    return rc;
}

#define LAUNCHED 50

static atomic_bool stop;
static atomic_int strange; /* descriptors of ours that somebody else closed */

/* Descriptors that come and go: one closed twice by somebody is one of these the second time. */
static void *open_and_close(void *arg)
{
    struct stat status;
    (void)arg;
    while (!atomic_load(&stop)) {
        const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (fstat(fd, &status) != 0 || !S_ISCHR(status.st_mode))
            atomic_fetch_add(&strange, 1);
        if (close(fd) != 0)
            atomic_fetch_add(&strange, 1);
    }
    return NULL;
}

static void test_T28_descriptors_are_closed_once_and_none_is_handed_on(void **state)
{
    struct node *node = *state;
    pthread_t thread;
    char path[256], name[32], text[4096];
    node->options.stop_timeout_ms = NODE_PATIENCE_MS;
    for (int i = 0; i < LAUNCHED; i++) {
        (void)snprintf(name, sizeof name, "%02d-report", i);
        install(node, name);
        (void)snprintf(path, sizeof path, "%s/report%d", node->directory, i);
        (void)snprintf(name, sizeof name, "%02d-report.conf", i);
        node_write_text(node->config, name, path, 0600);
    }
    atomic_store(&bad_closes, 0);
    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&thread, NULL, open_and_close, NULL), 0);
    node_start(node);
    node_wait(node, &node->ready, 1);
    const int connected = node->connected;
    node_stop(node);
    node_close(node);
    atomic_store(&stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(connected, LAUNCHED);
    assert_int_equal(atomic_load(&bad_closes), 0);
    assert_int_equal(atomic_load(&strange), 0);
    assert_true(atomic_load(&closes) > LAUNCHED); /* this one is called */
    for (int i = 0; i < LAUNCHED; i++) {
        (void)snprintf(name, sizeof name, "report%d", i);
        read_file(node, name, text, sizeof text);
        if (strstr(text, "fds 0 1 2 3s \n") == NULL ||
            strstr(text, "env NRI_PLUGIN_SOCKET=3\n") == NULL)
            fail_msg("%s: %s", name, text);
    }
}

/* ---- S21 ---- */

static void test_S21_the_index_stands_once_in_the_name(void **state)
{
    struct node *node = *state;
    char path[256], text[4096];
    install(node, "03-report");
    (void)snprintf(path, sizeof path, "%s/right", node->directory);
    node_write_text(node->config, "03-report.conf", path, 0600);
    (void)snprintf(path, sizeof path, "%s/wrong", node->directory);
    node_write_text(node->config, "report.conf", path, 0600);
    node_start(node);
    node_wait(node, &node->ready, 1);
    assert_string_equal(node->order, "03-report ");
    nri_runtime_plugin *plugin = nri_runtime_next_plugin(node->runtime, NULL);
    assert_string_equal(nri_runtime_plugin_name(plugin), "report");
    assert_string_equal(nri_runtime_plugin_index(plugin), "03");
    read_file(node, "right", text, sizeof text);
    assert_non_null(strstr(text, "env NRI_PLUGIN_NAME=report\nenv NRI_PLUGIN_IDX=03\n"));
    assert_int_equal(access(path, F_OK), -1);
    node_close(node);
}

/* ---- S23 ---- */

static int refuse_sync(nri_request *request, void *user)
{
    (void)user;
    return nri_request_fail(request, NRI_E_REJECTED, "no");
}

static int count_create(nri_request *request, void *user)
{
    (void)request;
    ++*(int *)user;
    return 0;
}

static void closed(void *user)
{
    ++*(int *)user;
}

/* One that is launched, one that connects; a healthy one beside them. */
static void test_S23_a_failed_Synchronize_leaves_nothing_half_registered(void **state)
{
    struct node *node = *state;
    struct guest healthy = {0};
    struct nri_plugin_ops ops;
    struct nri_plugin_options options;
    nri_plugin *failing;
    int created = 0, ended = 0;
    install(node, "10-refusing");
    node_start(node);
    node_wait(node, &node->ready, 1); /* the start succeeds */
    assert_int_equal(node->connected, 0);
    node_wait_for(node, node_logged(node, "plugin 10-refusing: process"));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD); /* it was reaped */
    assert_true(node_logged(node, "plugin 10-refusing: connection closed: Synchronize"));

    nri_plugin_ops_init(&ops, sizeof ops);
    ops.on_synchronize = refuse_sync;
    ops.on_create_container = count_create;
    nri_plugin_options_init(&options, sizeof options);
    options.index = "20";
    options.name = "failing";
    options.socket_path = node->socket;
    options.ignore_environment = 1;
    assert_int_equal(nri_plugin_new(&failing, &ops, &options, &created, NULL), 0);
    assert_int_equal(nri_plugin_start(failing, &node->loop, NULL, NULL), 0);
    guest_start(&healthy, node, "30", "healthy");
    node_wait(node, &node->connected, 1);
    node_wait_for(node, node_logged(node, "plugin 20-failing: connection closed: Synchronize"));
    assert_string_equal(node->order, "30-healthy ");
    assert_int_equal(node_call(node, NRI_EVENT_CREATE_CONTAINER), 0);
    node_wait(node, &node->called, 1);
    assert_int_equal(node->call_code, 0);
    assert_int_equal(healthy.created, 1);
    assert_int_equal(created, 0);
    assert_int_equal(node->lost, 0); /* nobody had been told of them */
    nri_plugin_close(failing, closed, &ended);
    node_wait(node, &ended, 1);
    node_close(node);
    guest_close(&healthy, node);
}

/* ---- U10 ---- */

static void test_U10_a_WebAssembly_module_is_passed_over(void **state)
{
    struct node *node = *state;
    node_write(node->plugins, "10-w", "\0asm\1\0\0\0", 8, 0700);
    install(node, "20-fine");
    node_start(node);
    node_wait(node, &node->ready, 1);
    assert_string_equal(node->order, "20-fine ");
    int named = 0;
    for (int i = 0; i < node->line_count; i++)
        named += strstr(node->lines[i], "10-w") != NULL;
    assert_int_equal(named, 1);
    assert_true(node_logged(node, "/10-w is passed over"));
    assert_true(node_logged(node, "no WASM support"));
    node_close(node);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, node_setup, node_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(test_T28_descriptors_are_closed_once_and_none_is_handed_on),
        TEST(test_S21_the_index_stands_once_in_the_name),
        TEST(test_S23_a_failed_Synchronize_leaves_nothing_half_registered),
        TEST(test_U10_a_WebAssembly_module_is_passed_over),
    };
    if (argc < 2 || realpath(argv[1], program) == NULL)
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
