/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state's checkpoint as a file: made, replaced, read, damaged, in places where it cannot be, and
 * by a process that is killed while it writes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <nri/nri.h>

#include "base/hash.h"
#include "checkpoint_place.h"
#include "fixture.h"
#include "plugin/state.h"

static size_t read_file(const char *path, char *bytes, size_t room)
{
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    const size_t count = fread(bytes, 1, room, file);
    assert_int_equal(fclose(file), 0);
    return count;
}

static void write_file(const char *path, const char *bytes, size_t count)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

/* ---- the way it should go ---- */

static void test_written_and_read(void **state)
{
    struct checkpoint_place *place = *state;
    struct stat status;
    char bytes[256];
    assert_int_equal(state_place_open(&place->base), 0);
    assert_int_not_equal(access(place->path, F_OK), 0); /* nothing to keep, no file */
    const mode_t mask = umask(0);
    assert_int_equal(checkpoint_note(place, "cpus=4-7"), 0);
    (void)umask(mask);
    assert_int_equal(stat(place->path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_not_equal(access(checkpoint_beside(place, ".tmp"), F_OK), 0);
    assert_int_equal(read_file(place->path, bytes, sizeof bytes), 68);
    assert_memory_equal(bytes + 40, "{\"notes\":{\"c1\":\"cpus=4-7\"}}\n", 28);
    checkpoint_expect_note(place, "cpus=4-7");
    assert_string_equal(nri_state_checkpoint_error(place->base.state), "");
    /* Another file each time, never the same one written to. */
    assert_int_equal(checkpoint_note(place, "cpus=2"), 0);
    struct stat again;
    assert_int_equal(stat(place->path, &again), 0);
    assert_int_not_equal(status.st_ino, again.st_ino);
    checkpoint_expect_note(place, "cpus=2");
    assert_string_equal(place->log, "");
}

static void test_path_without_directory(void **state)
{
    struct checkpoint_place *place = *state;
    const int home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(home >= 0);
    assert_int_equal(chdir(place->directory), 0);
    place->base.options.checkpoint_path = "notes";
    assert_int_equal(state_place_open(&place->base), 0);
    assert_int_equal(checkpoint_note(place, "a"), 0);
    checkpoint_expect_note(place, "a");
    checkpoint_crash(place);
    assert_int_equal(fchdir(home), 0);
    close(home);
    place->base.options.checkpoint_path = place->path;
    checkpoint_expect_note(place, "a");
}

/* What a crash left is neither read nor written through. */
static void test_stale_temporary(void **state)
{
    struct checkpoint_place *place = *state;
    struct stat status;
    char bytes[8];
    assert_int_equal(state_place_open(&place->base), 0);
    assert_int_equal(checkpoint_note(place, "old"), 0);
    write_file(checkpoint_beside(place, ".tmp"), "nri-state 1 half", 16);
    assert_int_equal(chmod(place->other, 0666), 0);
    checkpoint_expect_note(place, "old");
    assert_int_equal(checkpoint_note(place, "new"), 0);
    assert_int_equal(stat(place->path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    checkpoint_expect_note(place, "new");
    /* A link in its place leads nowhere. */
    char target[160];
    (void)snprintf(target, sizeof target, "%s/target", place->directory);
    write_file(target, "keep me", 7);
    assert_int_equal(symlink(target, checkpoint_beside(place, ".tmp")), 0);
    assert_int_equal(checkpoint_note(place, "newer"), 0);
    assert_int_equal(read_file(target, bytes, sizeof bytes), 7);
    assert_memory_equal(bytes, "keep me", 7);
    assert_int_equal(unlink(target), 0);
    checkpoint_expect_note(place, "newer");
}

/* ---- damage ---- */

static void test_damaged_is_set_aside(void **state)
{
    struct checkpoint_place *place = *state;
    char good[256], bytes[256];
    assert_int_equal(state_place_open(&place->base), 0);
    assert_int_equal(checkpoint_note(place, "a"), 0);
    checkpoint_crash(place);
    const size_t count = read_file(place->path, good, sizeof good);
    for (size_t i = 0; i < count; i++) {
        good[i] ^= 1;
        write_file(place->path, good, count);
        assert_int_equal(state_place_open(&place->base), 0);
        /* The version's digit makes it one of a later version, if any. */
        const char *suffix =
            access(checkpoint_beside(place, ".newer"), F_OK) == 0 ? ".newer" : ".damaged";
        assert_true(i == 10 || i == 11 || strcmp(suffix, ".damaged") == 0);
        assert_int_equal(read_file(checkpoint_beside(place, suffix), bytes, sizeof bytes), count);
        assert_memory_equal(bytes, good, count);
        assert_int_not_equal(access(place->path, F_OK), 0);
        assert_string_not_equal(nri_state_checkpoint_error(place->base.state), "");
        assert_string_equal(place->log, nri_state_checkpoint_error(place->base.state));
        assert_string_equal(nri_state_container_note(checkpoint_add(place->base.state, "c1")), "");
        checkpoint_crash(place);
        assert_int_equal(unlink(checkpoint_beside(place, suffix)), 0);
        good[i] ^= 1;
    }
    write_file(place->path, good, count);
    checkpoint_expect_note(place, "a");
}

static void test_later_version_is_set_aside(void **state)
{
    struct checkpoint_place *place = *state;
    char bytes[64];
    write_file(place->path, "nri-state 2 anything\n", 21);
    assert_int_equal(state_place_open(&place->base), 0);
    assert_non_null(strstr(nri_state_checkpoint_error(place->base.state), "has version 2"));
    assert_int_equal(checkpoint_note(place, "a"), 0);
    assert_string_equal(nri_state_checkpoint_error(place->base.state), "");
    assert_int_equal(read_file(checkpoint_beside(place, ".newer"), bytes, sizeof bytes), 21);
}

static void test_too_large_is_set_aside(void **state)
{
    struct checkpoint_place *place = *state;
    char bytes[1025];
    memset(bytes, 'x', sizeof bytes);
    place->base.options.max_checkpoint_bytes = 1024;
    write_file(place->path, bytes, sizeof bytes);
    assert_int_equal(state_place_open(&place->base), 0);
    assert_non_null(strstr(nri_state_checkpoint_error(place->base.state),
                           "it is larger than 1024 bytes (max_checkpoint_bytes)"));
    assert_int_equal(access(checkpoint_beside(place, ".damaged"), F_OK), 0);
    /* Nor is one written. */
    bytes[1000] = '\0';
    assert_int_equal(checkpoint_note(place, bytes), NRI_E_LIMIT);
    assert_int_not_equal(access(place->path, F_OK), 0);
    /* As large as may be is fine. */
    bytes[1024 - 40 - 20] = '\0';
    assert_int_equal(checkpoint_note(place, bytes), 0);
    struct stat status;
    assert_int_equal(stat(place->path, &status), 0);
    assert_int_equal(status.st_size, 1024);
    checkpoint_expect_note(place, bytes);
}

/* It would be overwritten: better no state than that. */
static void test_cannot_be_set_aside(void **state)
{
    struct checkpoint_place *place = *state;
    char inside[192], bytes[64];
    write_file(place->path, "garbage", 7);
    assert_int_equal(mkdir(checkpoint_beside(place, ".damaged"), 0700), 0);
    (void)snprintf(inside, sizeof inside, "%s/x", place->other);
    assert_int_equal(mkdir(inside, 0700), 0);
    state_place_refuses(&place->base, NRI_E_IO,
                        "is damaged (it does not begin with \"nri-state \") and cannot "
                        "be set aside");
    assert_int_equal(read_file(place->path, bytes, sizeof bytes), 7);
    assert_int_equal(rmdir(inside), 0);
}

/* ---- places ---- */

static void test_no_directory(void **state)
{
    struct checkpoint_place *place = *state;
    char path[192];
    (void)snprintf(path, sizeof path, "%s/none/notes", place->directory);
    place->base.options.checkpoint_path = path;
    state_place_refuses(&place->base, NRI_E_NOT_FOUND, "/none: No such file or directory");
    place->base.options.checkpoint_path = place->path;
    /* It may go later. */
    assert_int_equal(state_place_open(&place->base), 0);
    assert_int_equal(rmdir(place->directory), 0);
    assert_int_equal(checkpoint_note(place, "a"), NRI_E_NOT_FOUND);
    assert_string_equal(nri_state_checkpoint_error(place->base.state),
                        nri_error_get_text(place->base.error));
    assert_int_equal(mkdir(place->directory, 0700), 0);
    assert_int_equal(nri_state_save(place->base.state, NULL), 0);
    assert_string_equal(nri_state_checkpoint_error(place->base.state), "");
    checkpoint_expect_note(place, "a");
}

static void test_no_regular_file(void **state)
{
    struct checkpoint_place *place = *state;
    assert_int_equal(mkdir(place->path, 0700), 0);
    state_place_refuses(&place->base, NRI_E_IO, "is not a regular file");
    assert_int_equal(rmdir(place->path), 0);
    assert_int_equal(mkfifo(place->path, 0600), 0);
    state_place_refuses(&place->base, NRI_E_IO, "is not a regular file");
    assert_int_equal(unlink(place->path), 0);
    assert_int_equal(symlink("/dev/null", place->path), 0);
    state_place_refuses(&place->base, NRI_E_IO, "is a symbolic link");
}

static void test_paths_that_are_none(void **state)
{
    struct checkpoint_place *place = *state;
    static const char *const paths[] = {"", "/", "/tmp/", ".", "..", "/tmp/."};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        place->base.options.checkpoint_path = paths[i];
        state_place_refuses(&place->base, NRI_E_INVALID, "must be the path of a file");
    }
}

/* ---- killed while it writes ---- */

#define KILLS 40

/* Writes for ever, and says so each time. */
static void write_until_killed(const char *path, int pipe_end)
{
    struct nri_state_options options;
    nri_state *state;
    char text[2048];
    nri_state_options_init(&options, sizeof options);
    options.checkpoint_path = path;
    if (nri_state_new(&state, NULL, &options, NULL, NULL) != 0)
        _exit(1);
    nri_state_container *container = checkpoint_add(state, "c1");
    for (unsigned i = 0;; i++) {
        memset(text, 'a' + (int)(i % 26), sizeof text - 1);
        text[1 + i * 37 % (sizeof text - 1)] = '\0';
        if (nri_state_container_set_note(container, text) != 0 ||
            nri_state_save(state, NULL) != 0 || write(pipe_end, "x", 1) != 1)
            _exit(1);
    }
}

/* Whatever the moment, the file is one of those that were written. */
static void test_killed(void **state)
{
    struct checkpoint_place *place = *state;
    for (unsigned i = 0; i < KILLS; i++) {
        int ends[2], status;
        char byte;
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            write_until_killed(place->path, ends[1]);
        close(ends[1]);
        for (unsigned n = 0; n <= i % 7; n++)
            assert_int_equal(read(ends[0], &byte, 1), 1);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        close(ends[0]);
        assert_int_equal(state_place_open(&place->base), 0);
        assert_string_equal(nri_state_checkpoint_error(place->base.state), "");
        const char *text = nri_state_container_note(checkpoint_add(place->base.state, "c1"));
        assert_true(strlen(text) > 0);
        assert_int_equal(strspn(text, (const char[]){text[0], '\0'}), strlen(text));
        checkpoint_crash(place);
    }
}

static void test_allocation_failures(void **state)
{
    struct checkpoint_place *place = *state;
    assert_int_equal(state_place_open(&place->base), 0);
    assert_int_equal(checkpoint_note(place, "a"), 0);
    checkpoint_crash(place);
    for (size_t n = 1;; n++) {
        fail_alloc_arm(&place->base.memory, n);
        const int code = state_place_open(&place->base);
        if (!place->base.memory.fired) {
            assert_int_equal(code, 0);
            break;
        }
        assert_int_equal(code, NRI_E_NOMEM);
        assert_null(place->base.state);
        place->base.error = nri_error_free(place->base.error);
        assert_int_equal(place->base.memory.live_blocks, 0);
        assert_int_equal(fixture_count_fds(), place->fds);
    }
    fail_alloc_arm(&place->base.memory, 0);
    checkpoint_expect_note(place, "a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(test_written_and_read),
        place_test(test_path_without_directory),
        place_test(test_stale_temporary),
        place_test(test_damaged_is_set_aside),
        place_test(test_later_version_is_set_aside),
        place_test(test_too_large_is_set_aside),
        place_test(test_cannot_be_set_aside),
        place_test(test_no_directory),
        place_test(test_no_regular_file),
        place_test(test_paths_that_are_none),
        place_test(test_killed),
        place_test(test_allocation_failures),
        /* last: from then on the mounts are this
                                                                process's own */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
