/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watch for a socket that is to appear. The delays are an hour in here, so that nothing but the
 * watch brings the plugin to its runtime.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

#include "io/watch.h"
#include "story.h"

/* uv_fs_event_start() goes through here. */
static int watch_status;   /* not 0: what it returns */
static atomic_int watches; /* how often it was called */
static pthread_mutex_t watched_lock = PTHREAD_MUTEX_INITIALIZER;
static char watched[128]; /* the path of the last one that succeeded */
static int refusals;      /* so many of the first calls fail as well */

int __real_uv_fs_event_start(uv_fs_event_t *handle, uv_fs_event_cb cb, const char *path,
                             unsigned flags);
int __wrap_uv_fs_event_start(uv_fs_event_t *handle, uv_fs_event_cb cb, const char *path,
                             unsigned flags);
int __wrap_uv_fs_event_start(uv_fs_event_t *handle, uv_fs_event_cb cb, const char *path,
                             unsigned flags)
{
    int status = atomic_load(&watches) < refusals ? UV_EMFILE : watch_status;
    if (status == 0)
        status = __real_uv_fs_event_start(handle, cb, path, flags);
    if (status == 0) {
        (void)pthread_mutex_lock(&watched_lock);
        (void)snprintf(watched, sizeof watched, "%s", path);
        (void)pthread_mutex_unlock(&watched_lock);
    }
    count_up(&watches);
    return status;
}

/* Waits until this directory is the one that is watched. */
static bool is_watched(const char *path)
{
    for (;;) {
        const int before = atomic_load(&watches);
        (void)pthread_mutex_lock(&watched_lock);
        const bool found = strcmp(watched, path) == 0;
        (void)pthread_mutex_unlock(&watched_lock);
        if (found)
            return true;
        if (!count_reaches(&watches, before + 1)) {
            print_error("%s is not watched\n", path);
            return false;
        }
    }
}

static int setup(void **state)
{
    watch_status = refusals = 0;
    atomic_store(&watches, 0);
    watched[0] = '\0';
    return fixture_setup(state);
}

/* So many failed attempts were logged: the plugin waits. Logged on the loop's thread. */
static void count_failures(void *user, const nri_log_record *record)
{
    struct story *story = user;
    if (strstr(nri_log_record_text(record), "not connected") != NULL)
        count_up(&story->witness.posted);
    if (strstr(nri_log_record_text(record), "cannot be watched") != NULL)
        atomic_fetch_add(&story->witness.updated, 1);
}

static bool wait_for_failures(struct story *story, int count)
{
    return count_reaches(&story->witness.posted, count);
}

static void begin(struct story *story, struct fixture *fixture, bool (*script)(struct story *))
{
    story_init(story, fixture, script);
    story->options.log = count_failures;
}

static bool meet_and_end(struct story *story)
{
    struct peer peer;
    return story_meet(story, &peer) && story_end(story, &peer);
}

/* ---- the socket ---- */

static bool appear(struct story *story)
{
    return wait_for_failures(story, 1) && story_listen(story) && meet_and_end(story);
}

static void test_a_socket_that_appears(void **state)
{
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        struct story story;
        begin(&story, *state, appear);
        story_vanish(&story);
        assert_int_equal(story_play(&story, drive), 0);
        assert_true(story.good);
    }
}

/* A file that a runtime left when it was killed, and the one that replaces it. */
static void test_a_stale_socket_that_is_replaced(void **state)
{
    struct story story;
    begin(&story, *state, appear);
    story_silence(&story);
    assert_int_equal(story_play(&story, DRIVE_RUN), 0);
    assert_true(story.good);
}

static bool bind_socket(struct story *story)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", story->fixture->path);
    story->fixture->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return bind(story->fixture->listener, (struct sockaddr *)&address, sizeof address) == 0;
}

/* bind() and listen() are two calls, and the second makes no event. */
static bool bind_then_listen(struct story *story)
{
    /* The first attempt by event, and another, found nobody. */
    return wait_for_failures(story, 1) && bind_socket(story) && wait_for_failures(story, 3) &&
           listen(story->fixture->listener, 16) == 0 && meet_and_end(story);
}

static void test_a_socket_that_is_bound_before_it_listens(void **state)
{
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        struct story story;
        begin(&story, *state, bind_then_listen);
        story_vanish(&story);
        assert_int_equal(story_play(&story, drive), 0);
        assert_true(story.good);
    }
}

/* Nobody ever listens: the attempts stop after a second, of at most one each 20 ms. What is waited
 * for is the hour to the next one by delay. */
static void test_attempts_by_event_end_and_keep_their_distance(void **state)
{
    struct story story;
    struct nri_plugin_ops ops = witness_ops();
    begin(&story, *state, NULL);
    story_vanish(&story);
    assert_int_equal(nri_plugin_new(&story.plugin, &ops, &story.options, &story.witness, NULL), 0);
    assert_int_equal(nri_plugin_start(story.plugin, NULL, witness_ended, &story.witness), 0);
    while (atomic_load(&story.witness.posted) < 1)
        assert_int_equal(drive_turn(story.plugin), 1);
    assert_true(bind_socket(&story));
    while (atomic_load(&story.witness.posted) < 2)
        assert_int_equal(drive_turn(story.plugin), 1);
    const uint64_t began = fixture_now_ms();
    while (nri_plugin_timeout(story.plugin) < (int)(STORY_LONG / 10))
        assert_int_equal(drive_turn(story.plugin), 1);
    assert_in_range(fixture_now_ms() - began, 900, 10000);
    assert_in_range(atomic_load(&story.witness.posted), 3, 1 + 52);
    nri_plugin_stop(story.plugin);
    while (drive_turn(story.plugin) == 1)
        continue;
    assert_int_equal(story.witness.result, 0);
    nri_plugin_close(story.plugin, NULL, NULL);
}

/* Files come and go beside the socket: no attempt. */
static bool make_noise(struct story *story)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/noise", story->fixture->directory);
    if (!wait_for_failures(story, 1))
        return false;
    /* As long as some looks take, which keep a distance of 20 ms. */
    const uint64_t began = fixture_now_ms();
    for (int i = 0; i < 300 || fixture_now_ms() - began < 300; i++) {
        if (mkdir(path, 0700) != 0 || rmdir(path) != 0 || !story_turn(story))
            return false;
    }
    return atomic_load(&story->witness.posted) == 1 && story_listen(story) && meet_and_end(story);
}

static void test_other_files_are_no_reason_for_an_attempt(void **state)
{
    struct story story;
    begin(&story, *state, make_noise);
    story_vanish(&story);
    assert_int_equal(story_play(&story, DRIVE_RUN), 0);
    assert_true(story.good);
    assert_in_range(atomic_load(&watches), 1, 3);
}

/* ---- the directory ---- */

struct deep {
    char upper[80], lower[96], other[80], path[107];
};

static void make_deep(struct deep *deep, struct story *story)
{
    (void)snprintf(deep->upper, sizeof deep->upper, "%s/a", story->fixture->directory);
    (void)snprintf(deep->other, sizeof deep->other, "%s/x", story->fixture->directory);
    (void)snprintf(deep->lower, sizeof deep->lower, "%s/b", deep->upper);
    (void)snprintf(deep->path, sizeof deep->path, "%s/nri.sock", deep->lower);
    story->options.socket_path = deep->path;
    story->user = deep;
}

static bool listen_deep(struct story *story)
{
    const struct deep *deep = story->user;
    if (story->fixture->listener >= 0)
        (void)close(story->fixture->listener);
    story->fixture->listener = fixture_listen(deep->path, 16);
    return story->fixture->listener >= 0;
}

static void remove_deep(const struct deep *deep)
{
    (void)unlink(deep->path);
    (void)rmdir(deep->lower);
    (void)rmdir(deep->upper);
}

static bool make_and_listen(struct story *story)
{
    const struct deep *deep = story->user;
    return mkdir(deep->upper, 0700) == 0 && mkdir(deep->lower, 0700) == 0 && listen_deep(story) &&
           meet_and_end(story);
}

/* Both are there, and the lower one is watched. */
static bool make_and_watch(struct story *story)
{
    const struct deep *deep = story->user;
    return wait_for_failures(story, 1) && mkdir(deep->upper, 0700) == 0 &&
           mkdir(deep->lower, 0700) == 0 && is_watched(deep->lower);
}

static bool make_directories(struct story *story)
{
    return wait_for_failures(story, 1) && make_and_listen(story);
}

static bool make_directories_slowly(struct story *story)
{
    const struct deep *deep = story->user;
    return wait_for_failures(story, 1) && mkdir(deep->upper, 0700) == 0 &&
           is_watched(deep->upper) && mkdir(deep->lower, 0700) == 0 && is_watched(deep->lower) &&
           listen_deep(story) && meet_and_end(story);
}

/* Made, watched, removed, and made again. */
static bool remake_directories(struct story *story)
{
    const struct deep *deep = story->user;
    return make_and_watch(story) && rmdir(deep->lower) == 0 && is_watched(deep->upper) &&
           rmdir(deep->upper) == 0 && is_watched(story->fixture->directory) &&
           make_and_listen(story);
}

/* The directory that is watched is renamed, and another made in its place. */
static bool rename_directory(struct story *story)
{
    const struct deep *deep = story->user;
    const bool good = make_and_watch(story) && rename(deep->lower, deep->other) == 0 &&
                      is_watched(deep->upper) && mkdir(deep->lower, 0700) == 0 &&
                      listen_deep(story) && meet_and_end(story);
    (void)rmdir(deep->other);
    return good;
}

/* A directory comes with the socket in it: one event, above. */
static bool move_directory_in(struct story *story)
{
    const struct deep *deep = story->user;
    char path[107];
    if (!wait_for_failures(story, 1) || mkdir(deep->other, 0700) != 0)
        return false;
    (void)snprintf(path, sizeof path, "%s/b", deep->other);
    if (mkdir(path, 0700) != 0)
        return false;
    (void)snprintf(path, sizeof path, "%s/b/nri.sock", deep->other);
    story->fixture->listener = fixture_listen(path, 16);
    return story->fixture->listener >= 0 && rename(deep->other, deep->upper) == 0 &&
           meet_and_end(story);
}

static void check_deep(struct fixture *fixture, enum drive drive, bool (*script)(struct story *))
{
    struct story story;
    struct deep deep;
    begin(&story, fixture, script);
    make_deep(&deep, &story);
    story_vanish(&story);
    assert_int_equal(story_play(&story, drive), 0);
    remove_deep(&deep);
    story_silence(&story);
    assert_true(story.good);
}

static void test_directories_that_are_made(void **state)
{
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        check_deep(*state, drive, make_directories);
        check_deep(*state, drive, make_directories_slowly);
    }
}

static void test_directories_that_are_removed_and_made_again(void **state)
{
    check_deep(*state, DRIVE_RUN, remake_directories);
}

static void tell_watch(uv_fs_event_t *handle, const char *name, int events, int status)
{
    (void)status;
    nri_watch_changed(handle->data, name, events, NRI_SEC);
}

/* Removed and made again between two looks, and the file system gives the new one the inode of the
 * old one: the kernel's watch went with that. */
static void test_a_directory_that_is_made_again_with_the_same_inode(void **state)
{
    const struct fixture *fixture = *state;
    struct nri_watch watch;
    struct nri_error error;
    struct stat status;
    uv_loop_t loop;
    char directory[96], path[107];
    (void)snprintf(directory, sizeof directory, "%s/a", fixture->directory);
    (void)snprintf(path, sizeof path, "%s/nri.sock", directory);
    assert_int_equal(mkdir(directory, 0700), 0);
    assert_int_equal(uv_loop_init(&loop), 0);
    nri_watch_init(&watch);
    assert_int_equal(nri_watch_on(&watch, &loop, path, tell_watch, &watch, NRI_SEC, &error), 0);
    assert_int_equal(atomic_load(&watches), 1);
    assert_int_equal(rmdir(directory), 0);
    assert_int_equal(mkdir(directory, 0700), 0);
    assert_int_equal(stat(directory, &status), 0);
    watch.watched.inode = status.st_ino; /* as file systems do that use inodes again */
    (void)uv_run(&loop, UV_RUN_NOWAIT);
    assert_int_equal(nri_watch_deadline(&watch), NRI_SEC + NRI_WATCH_INTERVAL);
    assert_int_equal(nri_watch_look(&watch, path, 2 * NRI_SEC, &error), 0);
    assert_int_equal(atomic_load(&watches), 2);
    /* It is this one that is watched now. */
    const int listener = fixture_listen(path, 1);
    (void)uv_run(&loop, UV_RUN_NOWAIT);
    assert_int_equal(nri_watch_look(&watch, path, 3 * NRI_SEC, &error), 0);
    assert_true(nri_watch_is_due(&watch, 3 * NRI_SEC));
    assert_int_equal(atomic_load(&watches), 2);
    (void)close(listener);
    (void)unlink(path);
    (void)rmdir(directory);
    assert_true(nri_watch_close(&watch, NULL));
    assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&loop), 0);
}

static void test_a_directory_that_is_renamed(void **state)
{
    check_deep(*state, DRIVE_RUN, rename_directory);
}

static void test_a_directory_that_is_moved_in(void **state)
{
    check_deep(*state, DRIVE_RUN, move_directory_in);
}

/* A runtime that goes with its directory, as a package's upgrade does it, and comes back. */
static bool go_with_the_directory(struct story *story)
{
    const struct deep *deep = story->user;
    struct peer peer;
    if (!story_meet(story, &peer))
        return false;
    remove_deep(deep);
    (void)close(story->fixture->listener);
    story->fixture->listener = -1;
    peer_close(&peer);
    return is_watched(story->fixture->directory) && make_and_listen(story);
}

static void test_a_runtime_that_goes_with_its_directory(void **state)
{
    struct story story;
    struct deep deep;
    begin(&story, *state, go_with_the_directory);
    make_deep(&deep, &story);
    story_vanish(&story);
    assert_int_equal(mkdir(deep.upper, 0700), 0);
    assert_int_equal(mkdir(deep.lower, 0700), 0);
    assert_true(listen_deep(&story));
    assert_int_equal(story_play(&story, DRIVE_RUN), 0);
    remove_deep(&deep);
    story_silence(&story);
    assert_true(story.good);
}

static void test_a_relative_path(void **state)
{
    struct fixture *fixture = *state;
    struct story story;
    char before[512];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(fixture->directory), 0);
    begin(&story, fixture, appear);
    story.options.socket_path = "nri.sock";
    story_vanish(&story);
    assert_int_equal(story_play(&story, DRIVE_RUN), 0);
    assert_int_equal(chdir(before), 0);
    assert_true(story.good);
}

/* ---- no watch ---- */

static void test_no_room_for_a_watch_is_said_once_and_the_delays_count(void **state)
{
    static const int statuses[] = {UV_ENOSPC, UV_EMFILE, UV_EACCES, UV_ENOMEM};
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        struct story story;
        begin(&story, *state, appear);
        story_vanish(&story);
        story.options.reconnect_min_ms = 1;
        story.options.reconnect_max_ms = 20;
        watch_status = statuses[i];
        assert_int_equal(story_play(&story, DRIVE_RUN), 0);
        assert_true(story.good);
        assert_int_equal(atomic_load(&story.witness.updated), 1);
    }
}

static bool fail_thrice_then_appear(struct story *story)
{
    return wait_for_failures(story, 3) && story_listen(story) && meet_and_end(story);
}

/* A plugin that was out of descriptors for a moment need not wait for delays ever after. */
static void test_a_watch_that_failed_is_tried_again(void **state)
{
    struct story story;
    begin(&story, *state, fail_thrice_then_appear);
    story_vanish(&story);
    story.options.reconnect_min_ms = 1;
    refusals = 2;
    assert_int_equal(story_play(&story, DRIVE_RUN), 0);
    assert_true(story.good);
    assert_true(atomic_load(&watches) > refusals);
    assert_int_equal(atomic_load(&story.witness.updated), 1);
}

static void test_without_the_option_nothing_is_watched(void **state)
{
    struct story story;
    begin(&story, *state, appear);
    story_vanish(&story);
    story.options.no_socket_watch = 1;
    story.options.reconnect_min_ms = 1;
    story.options.reconnect_max_ms = 20;
    assert_int_equal(story_play(&story, DRIVE_RUN), 0);
    assert_true(story.good);
    assert_int_equal(atomic_load(&watches), 0);
}

/* A connection needs no watch, and nor does a plugin that does not come back. */
static void test_nothing_is_watched_before_there_is_need(void **state)
{
    struct story story;
    begin(&story, *state, meet_and_end);
    assert_int_equal(story_play(&story, DRIVE_RUN), 0);
    assert_true(story.good);
    assert_int_equal(atomic_load(&watches), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)
        TEST(test_a_socket_that_appears),
        TEST(test_a_stale_socket_that_is_replaced),
        TEST(test_a_socket_that_is_bound_before_it_listens),
        TEST(test_attempts_by_event_end_and_keep_their_distance),
        TEST(test_other_files_are_no_reason_for_an_attempt),
        TEST(test_directories_that_are_made),
        TEST(test_directories_that_are_removed_and_made_again),
        TEST(test_a_directory_that_is_made_again_with_the_same_inode),
        TEST(test_a_directory_that_is_renamed),
        TEST(test_a_directory_that_is_moved_in),
        TEST(test_a_runtime_that_goes_with_its_directory),
        TEST(test_a_relative_path),
        TEST(test_no_room_for_a_watch_is_said_once_and_the_delays_count),
        TEST(test_a_watch_that_failed_is_tried_again),
        TEST(test_without_the_option_nothing_is_watched),
        TEST(test_nothing_is_watched_before_there_is_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
