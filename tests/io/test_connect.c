/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a path or a descriptor is told at once, by a code of its own and a text that
 * names it. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"

static nri_plugin *plugin_at(struct fixture *fixture, struct witness *witness, const char *path)
{
    struct nri_plugin_options options = fixture_options(fixture);
    options.socket_path = path;
    return witness_plugin(witness, &options);
}

/* Runs against a path: the code, the path in the text, that text logged once, no handler, and in
 * time. */
static void check_refused(struct fixture *fixture, const char *path, int code)
{
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        struct witness witness = {0};
        struct log_book book = {0};
        struct nri_plugin_options options = fixture_options(fixture);
        options.socket_path = path;
        options.log = log_book_write;
        options.log_user = &book;
        nri_plugin *plugin = witness_plugin(&witness, &options);
        uint64_t began = fixture_now_ms();
        assert_int_equal(drive_to_end(drive, plugin, &witness), code);
        assert_true(fixture_now_ms() - began < 1000);
        assert_int_equal(nri_error_get_code(nri_plugin_last_error(plugin)), code);
        assert_non_null(strstr(nri_error_get_text(nri_plugin_last_error(plugin)), path));
        assert_int_equal(book.records, 1);
        assert_int_equal(book.errors, 1);
        assert_non_null(strstr(book.text, nri_error_get_text(nri_plugin_last_error(plugin))));
        assert_int_equal(witness.count[NRI_EVENT_CONNECTED] +
                             witness.count[NRI_EVENT_DISCONNECTED] + witness.ended,
                         0);
        assert_int_equal(nri_plugin_get_state(plugin), NRI_PLUGIN_IDLE);
        nri_plugin_close(plugin, witness_closed, &witness);
        assert_int_equal(witness.closed, 1);
    }
}

static void test_T26_missing(void **state)
{
    struct fixture *fixture = *state;
    char path[128];
    (void)snprintf(path, sizeof path, "%s/missing.sock", fixture->directory);
    check_refused(fixture, path, NRI_E_NOT_FOUND);
    (void)snprintf(path, sizeof path, "%s/nri.sock/below", fixture->directory);
    check_refused(fixture, path, NRI_E_NOT_FOUND);
}

static void test_T26_nobody_listens(void **state)
{
    struct fixture *fixture = *state;
    (void)close(fixture->listener);
    fixture->listener = -1;
    check_refused(fixture, fixture->path, NRI_E_REFUSED);
}

/* In a child, since a user once given away does not come back. Its status is the code, negated. */
static int connect_as_nobody(struct fixture *fixture)
{
    pid_t child = fork();
    if (child == 0) {
        struct witness witness = {0};
        struct nri_plugin_options options = fixture_options(fixture);
        struct nri_plugin_ops ops = witness_ops();
        nri_plugin *plugin;
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(100);
        if (nri_plugin_new(&plugin, &ops, &options, &witness, NULL) != 0)
            _exit(101);
        int rc = nri_plugin_run(plugin);
        bool named =
            strstr(nri_error_get_text(nri_plugin_last_error(plugin)), fixture->path) != NULL;
        nri_plugin_close(plugin, NULL, NULL);
        _exit(named ? -rc : 102);
    }
    int status = 0;
    (void)waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 103;
}

static void test_T26_permission(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(chmod(fixture->directory, 0), 0);
    int status = connect_as_nobody(fixture);
    assert_int_equal(chmod(fixture->directory, 0700), 0);
    assert_int_equal(status, -NRI_E_PERMISSION);
}

static void test_T26_not_a_socket(void **state)
{
    struct fixture *fixture = *state;
    char path[128];
    check_refused(fixture, fixture->directory, NRI_E_NOT_SOCKET);
    (void)snprintf(path, sizeof path, "%s/file", fixture->directory);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    (void)close(fd);
    check_refused(fixture, path, NRI_E_NOT_SOCKET);
    (void)unlink(path);

    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s/datagram", fixture->directory);
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    check_refused(fixture, address.sun_path, NRI_E_NOT_SOCKET);
    (void)unlink(address.sun_path);
    (void)close(fd);
}

/* A path of exactly `length` bytes in the fixture's directory. */
static void make_path(const struct fixture *fixture, char *path, size_t length)
{
    size_t head = (size_t)snprintf(path, length + 1, "%s/", fixture->directory);
    memset(path + head, 'p', length - head);
    path[length] = '\0';
}

static void test_path_of_107_bytes_works_and_of_108_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct witness witness = {0};
    char path[120];
    make_path(fixture, path, 107);
    struct runtime runtime = {.fd = -1, .last = RUNTIME_CREATE, .hang_up = true};
    runtime.listener = fixture_listen(path, 1);
    assert_true(runtime.listener >= 0);
    nri_plugin *plugin = plugin_at(fixture, &witness, path);
    runtime_start(&runtime);
    assert_int_equal(nri_plugin_run(plugin), NRI_E_CLOSED);
    assert_true(runtime_join(&runtime));
    assert_int_equal(witness.count[NRI_EVENT_CREATE_CONTAINER], 1);
    nri_plugin_close(plugin, NULL, NULL);
    (void)close(runtime.listener);
    (void)unlink(path);

    struct nri_plugin_options options = fixture_options(fixture);
    struct nri_plugin_ops ops = witness_ops();
    nri_error *error = NULL;
    make_path(fixture, path, 108);
    options.socket_path = path;
    plugin = NULL;
    assert_int_equal(nri_plugin_new(&plugin, &ops, &options, NULL, &error), NRI_E_PATH_TOO_LONG);
    assert_null(plugin);
    assert_non_null(strstr(nri_error_get_text(error), path));
    assert_non_null(strstr(nri_error_get_text(error), "107"));
    nri_error_free(error);
}

/* ---- given descriptors ---- */

static void check_fd_refused(struct fixture *fixture, int fd, const char *word)
{
    struct nri_plugin_options options = fixture_options(fixture);
    struct nri_plugin_ops ops = witness_ops();
    nri_plugin *plugin = NULL;
    nri_error *error = NULL;
    options.fd = fd;
    options.use_fd = 1;
    int before = fcntl(fd, F_GETFD), flags = fcntl(fd, F_GETFL);
    assert_int_equal(nri_plugin_new(&plugin, &ops, &options, NULL, &error), NRI_E_NOT_SOCKET);
    assert_null(plugin);
    if (strstr(nri_error_get_text(error), word) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", nri_error_get_text(error), word);
    nri_error_free(error);
    /* It still is the caller's, untouched. */
    assert_int_equal(fcntl(fd, F_GETFD), before);
    assert_int_equal(fcntl(fd, F_GETFL), flags);
}

static void test_T28_wrong_descriptors_are_refused_and_left_alone(void **state)
{
    struct fixture *fixture = *state;
    int file = open("/dev/null", O_RDWR);
    int udp = socket(AF_INET, SOCK_DGRAM, 0);
    int unconnected = socket(AF_UNIX, SOCK_STREAM, 0);
    int datagram[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, datagram), 0);
    check_fd_refused(fixture, file, "not a socket");
    if (udp >= 0)
        check_fd_refused(fixture, udp, "not a unix stream socket");
    check_fd_refused(fixture, datagram[0], "not a unix stream socket");
    check_fd_refused(fixture, unconnected, "not connected");
    check_fd_refused(fixture, fixture->listener, "not connected");
    (void)close(file);
    check_fd_refused(fixture, file, "not open");
    check_fd_refused(fixture, -1, "not open");
    if (udp >= 0)
        (void)close(udp);
    (void)close(unconnected);
    (void)close(datagram[0]);
    (void)close(datagram[1]);
}

static void test_given_descriptor_is_taken_over_and_serves_one_run(void **state)
{
    struct fixture *fixture = *state;
    struct witness witness = {0};
    struct nri_plugin_options options = fixture_options(fixture);
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    options.fd = pair[0];
    options.use_fd = 1;
    nri_plugin *plugin = witness_plugin(&witness, &options);
    assert_true(fcntl(pair[0], F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(pair[0], F_GETFL) & O_NONBLOCK);

    struct runtime runtime = {.fd = pair[1], .last = RUNTIME_CREATE, .hang_up = true};
    runtime_start(&runtime);
    assert_int_equal(nri_plugin_run(plugin), NRI_E_CLOSED);
    assert_true(runtime_join(&runtime));
    assert_int_equal(witness.count[NRI_EVENT_CREATE_CONTAINER], 1);
    assert_int_equal(fcntl(pair[0], F_GETFD), -1);
    assert_int_equal(nri_plugin_run(plugin), NRI_E_STATE);
    assert_non_null(strstr(nri_error_get_text(nri_plugin_last_error(plugin)), "descriptor"));
    nri_plugin_close(plugin, NULL, NULL);
}

static void test_T28_unused_given_descriptor_is_closed_with_the_plugin(void **state)
{
    struct fixture *fixture = *state;
    struct witness witness = {0};
    struct nri_plugin_options options = fixture_options(fixture);
    int pair[2];
    char byte;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    options.fd = pair[0];
    options.use_fd = 1;
    nri_plugin_close(witness_plugin(&witness, &options), witness_closed, &witness);
    assert_int_equal(witness.closed, 1);
    assert_int_equal(read(pair[1], &byte, 1), 0);
    (void)close(pair[1]);
}

/* ---- no descriptors left ---- */

/* Leaves `spare` descriptors; returns the limit that was. */
static struct rlimit leave_descriptors(int spare)
{
    struct rlimit was, now;
    int next = dup(0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    now = was;
    now.rlim_cur = (rlim_t)(next + spare);
    (void)close(next);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
    return was;
}

static void test_no_descriptors_left_is_a_clean_error(void **state)
{
    struct fixture *fixture = *state;
    struct nri_plugin_options options = fixture_options(fixture);
    struct nri_plugin_ops ops = witness_ops();
    struct witness witness = {0};
    nri_plugin *plugin = NULL;
    nri_error *error = NULL;
    struct rlimit was = leave_descriptors(0);
    int rc = nri_plugin_new(&plugin, &ops, &options, NULL, &error);
    (void)setrlimit(RLIMIT_NOFILE, &was);
    assert_int_equal(rc, NRI_E_IO);
    assert_non_null(strstr(nri_error_get_text(error), "open files"));
    nri_error_free(error);

    plugin = witness_plugin(&witness, &options);
    int failures = 0;
    for (int spare = 0; spare < 16; spare++) {
        struct runtime runtime = {
            .fd = -1, .listener = fixture->listener, .last = RUNTIME_ACCEPT, .hang_up = true};
        was = leave_descriptors(spare);
        rc = nri_plugin_start(plugin, NULL, witness_ended, &witness);
        (void)setrlimit(RLIMIT_NOFILE, &was);
        if (rc == 0) {
            runtime_start(&runtime);
            while (drive_turn(plugin) == 1)
                continue;
            assert_true(runtime_join(&runtime));
            break;
        }
        failures++;
        assert_int_equal(rc, NRI_E_IO);
        assert_int_equal(nri_plugin_result(plugin), NRI_E_IO);
        assert_non_null(strstr(nri_error_get_text(nri_plugin_last_error(plugin)), "open files"));
    }
    assert_true(failures > 0 && failures < 16);
    assert_int_equal(witness.ended, 1);
    nri_plugin_close(plugin, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(test_T26_missing),
        TEST(test_T26_nobody_listens),
        TEST(test_T26_permission),
        TEST(test_T26_not_a_socket),
        TEST(test_path_of_107_bytes_works_and_of_108_is_refused),
        TEST(test_T28_wrong_descriptors_are_refused_and_left_alone),
        TEST(test_given_descriptor_is_taken_over_and_serves_one_run),
        TEST(test_T28_unused_given_descriptor_is_closed_with_the_plugin),
        TEST(test_no_descriptors_left_is_a_clean_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
