/* SPDX-License-Identifier: Apache-2.0 */
/*
 * T54: a signal may come in every system call of lib/io. This program is linked so that those calls
 * come by here first: on the plugin's thread each fails once with EINTR, and must then be called
 * again at once, with the same arguments. (Signals in earnest, in test_traffic.c, seldom meet a
 * call that does not block.)
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"

enum call { CALL_CONNECT, CALL_RECV, CALL_SEND, CALL_READ, CALL_WRITE, CALL_RANDOM, CALLS };
static const char *const call_names[CALLS] = {"connect", "recv",  "send",
                                              "read",    "write", "getrandom"};

/* Of the plugin's thread alone: the runtime's makes the same calls. */
struct interruptions {
    bool on;
    unsigned every;         /* each n-th call fails */
    unsigned calls[CALLS];  /* that were let through or failed */
    unsigned failed[CALLS]; /* with EINTR */
    unsigned forsaken;      /* not called again at once */
    enum call pending;      /* is to be called again; CALLS: none */
    int pending_fd;
    int random_error; /* what getrandom() fails with for good; 0: it does not */
};
static _Thread_local struct interruptions interruptions = {.pending = CALLS};

static void interruptions_begin(unsigned every)
{
    interruptions = (struct interruptions){.on = true, .every = every, .pending = CALLS};
}

/* Whether this call is to fail now. */
static bool interrupts(enum call call, int fd)
{
    struct interruptions *now = &interruptions;
    if (!now->on)
        return false;
    if (now->pending != CALLS) {
        now->forsaken += now->pending != call || now->pending_fd != fd;
        now->pending = CALLS;
        return false;
    }
    if (++now->calls[call] % now->every != 0)
        return false;
    now->failed[call]++;
    now->pending = call;
    now->pending_fd = fd;
    errno = EINTR;
    return true;
}

/* The linker's --wrap: libnri calls __wrap_NAME, and __real_NAME is the C library's. */
int __real_connect(int fd, const struct sockaddr *address, socklen_t size);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t size);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t size)
{
    return interrupts(CALL_CONNECT, fd) ? -1 : __real_connect(fd, address, size);
}

ssize_t __real_recv(int fd, void *bytes, size_t room, int flags);
ssize_t __wrap_recv(int fd, void *bytes, size_t room, int flags);
ssize_t __wrap_recv(int fd, void *bytes, size_t room, int flags)
{
    return interrupts(CALL_RECV, fd) ? -1 : __real_recv(fd, bytes, room, flags);
}

ssize_t __real_send(int fd, const void *bytes, size_t count, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t count, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t count, int flags)
{
    return interrupts(CALL_SEND, fd) ? -1 : __real_send(fd, bytes, count, flags);
}

ssize_t __real_read(int fd, void *bytes, size_t room);
ssize_t __wrap_read(int fd, void *bytes, size_t room);
ssize_t __wrap_read(int fd, void *bytes, size_t room)
{
    return interrupts(CALL_READ, fd) ? -1 : __real_read(fd, bytes, room);
}

ssize_t __real_write(int fd, const void *bytes, size_t count);
ssize_t __wrap_write(int fd, const void *bytes, size_t count);
ssize_t __wrap_write(int fd, const void *bytes, size_t count)
{
    return interrupts(CALL_WRITE, fd) ? -1 : __real_write(fd, bytes, count);
}

ssize_t __real_getrandom(void *bytes, size_t count, unsigned flags);
ssize_t __wrap_getrandom(void *bytes, size_t count, unsigned flags);
ssize_t __wrap_getrandom(void *bytes, size_t count, unsigned flags)
{
    if (interruptions.random_error != 0) {
        errno = interruptions.random_error;
        return -1;
    }
    return interrupts(CALL_RANDOM, -1) ? -1 : __real_getrandom(bytes, count, flags);
}

/* ---- a whole session ---- */

/* Why it ended; 1: the runtime was not content. */
static int run_session(struct fixture *fixture, enum drive drive, struct witness *witness)
{
    struct nri_plugin_options options = fixture_options(fixture);
    struct runtime runtime = {
        .fd = -1, .listener = fixture->listener, .last = RUNTIME_CREATE, .hang_up = true};
    nri_plugin *plugin = witness_plugin(witness, &options);
    runtime_start(&runtime);
    int rc = drive_to_end(drive, plugin, witness);
    if (witness->count[NRI_EVENT_CONNECTED] == 0) /* nor will it ever: end the wait for it */
        (void)shutdown(fixture->listener, SHUT_RDWR);
    if (!runtime_join(&runtime))
        rc = 1;
    nri_plugin_close(plugin, NULL, NULL);
    return rc;
}

static void check_session(const struct witness *witness, int rc)
{
    assert_int_equal(rc, NRI_E_CLOSED);
    assert_int_equal(witness->count[NRI_EVENT_CONNECTED], 1);
    assert_int_equal(witness->count[NRI_EVENT_CONFIGURE], 1);
    assert_int_equal(witness->count[NRI_EVENT_SYNCHRONIZE], 1);
    assert_int_equal(witness->count[NRI_EVENT_CREATE_CONTAINER], 1);
    assert_int_equal(witness->count[NRI_EVENT_DISCONNECTED], 1);
}

static void test_T54_every_call_is_made_again_after_EINTR(void **state)
{
    for (unsigned every = 1; every <= 3; every++) {
        for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
            struct witness witness = {0};
            interruptions_begin(every);
            int rc = run_session(*state, drive, &witness);
            interruptions.on = false;
            check_session(&witness, rc);
            assert_int_equal(interruptions.forsaken, 0);
            assert_int_equal(interruptions.pending, CALLS);
            for (int i = 0; i < CALLS; i++) {
                if (interruptions.failed[i] != interruptions.calls[i] / every ||
                    interruptions.calls[i] == 0)
                    fail_msg("%s: %u calls, %u of them interrupted", call_names[i],
                             interruptions.calls[i], interruptions.failed[i]);
            }
        }
    }
}

/* Hashes are seeded with what there is. */
static void test_a_kernel_without_random_numbers_stops_nobody(void **state)
{
    static const int errors[] = {EAGAIN, ENOSYS, EPERM};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        struct witness witness = {0};
        interruptions = (struct interruptions){.random_error = errors[i], .pending = CALLS};
        int rc = run_session(*state, DRIVE_RUN, &witness);
        interruptions.random_error = 0;
        check_session(&witness, rc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(test_T54_every_call_is_made_again_after_EINTR),
        TEST(test_a_kernel_without_random_numbers_stops_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
