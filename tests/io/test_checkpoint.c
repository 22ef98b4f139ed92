/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state's checkpoint as a file: made, replaced, read, damaged, in places where it cannot be, on a
 * disk that is full, and by a process that is killed while it writes.
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
#include "fixture.h"
#include "plugin/state.h"
#include "state_place.h"

#define NOBODY 65534u

struct place {
    char directory[96], path[128], other[160];
    struct state_place base;
    char log[1024];
    int fds;
};

static void take_log(void *user, const nri_log_record *record)
{
    struct place *place = user;
    (void)snprintf(place->log, sizeof place->log, "%s", nri_log_record_text(record));
}

static int setup(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    const char *base = getenv("TMPDIR");
    if (place == NULL)
        return -1;
    place->fds = fixture_count_fds();
    (void)snprintf(place->directory, sizeof place->directory, "%.40s/nri-checkpoint-XXXXXX",
                   base != NULL && strlen(base) <= 40 ? base : "/tmp");
    if (mkdtemp(place->directory) == NULL)
        return -1;
    (void)snprintf(place->path, sizeof place->path, "%s/notes", place->directory);
    state_place_init(&place->base);
    place->base.options.checkpoint_path = place->path;
    place->base.options.log = take_log;
    place->base.options.log_user = place;
    *state = place;
    return 0;
}

static const char *beside(struct place *place, const char *suffix)
{
    (void)snprintf(place->other, sizeof place->other, "%s%s", place->path, suffix);
    return place->other;
}

static int teardown(void **state)
{
    static const char *const suffixes[] = {"", ".tmp", ".damaged", ".newer"};
    struct place *place = *state;
    state_place_fini(&place->base);
    assert_int_equal(fixture_count_fds(), place->fds);
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        const char *path = beside(place, suffixes[i]);
        if (unlink(path) != 0)
            (void)rmdir(path);
    }
    assert_int_equal(rmdir(place->directory), 0); /* nothing else was left */
    free(place);
    return 0;
}

#define place_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* A container, put there as the hooks do. */
static nri_state_container *add(nri_state *state, const char *id)
{
    nri_container *container;
    assert_int_equal(nri_container_new(&container, NULL), 0);
    assert_int_equal(nri_container_set_id(container, id), 0);
    assert_int_equal(
        nri_state_put_container(state, container, NULL, NRI_STATE_ADD, NRI_STATE_EVENT), 0);
    nri_container_free(container);
    return nri_state_find_container(state, id);
}

static int note(struct place *place, const char *text)
{
    assert_int_equal(nri_state_container_set_note(add(place->base.state, "c1"), text), 0);
    place->base.error = nri_error_free(place->base.error);
    return nri_state_save(place->base.state, &place->base.error);
}

/* The plugin crashes: what is not in the file is lost. */
static void crash(struct place *place)
{
    place->base.state->changed = false;
    place->base.state = nri_state_free(place->base.state);
}

static void expect_note(struct place *place, const char *text)
{
    if (place->base.state != NULL)
        crash(place);
    assert_int_equal(state_place_open(&place->base), 0);
    assert_string_equal(nri_state_container_note(add(place->base.state, "c1")), text);
}

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
    struct place *place = *state;
    struct stat status;
    char bytes[256];
    assert_int_equal(state_place_open(&place->base), 0);
    assert_int_not_equal(access(place->path, F_OK), 0); /* nothing to keep, no file */
    const mode_t mask = umask(0);
    assert_int_equal(note(place, "cpus=4-7"), 0);
    (void)umask(mask);
    assert_int_equal(stat(place->path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_not_equal(access(beside(place, ".tmp"), F_OK), 0);
    assert_int_equal(read_file(place->path, bytes, sizeof bytes), 68);
    assert_memory_equal(bytes + 40, "{\"notes\":{\"c1\":\"cpus=4-7\"}}\n", 28);
    expect_note(place, "cpus=4-7");
    assert_string_equal(nri_state_checkpoint_error(place->base.state), "");
    /* Another file each time, never the same one written to. */
    assert_int_equal(note(place, "cpus=2"), 0);
    struct stat again;
    assert_int_equal(stat(place->path, &again), 0);
    assert_int_not_equal(status.st_ino, again.st_ino);
    expect_note(place, "cpus=2");
    assert_string_equal(place->log, "");
}

static void test_path_without_directory(void **state)
{
    struct place *place = *state;
    const int home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(home >= 0);
    assert_int_equal(chdir(place->directory), 0);
    place->base.options.checkpoint_path = "notes";
    assert_int_equal(state_place_open(&place->base), 0);
    assert_int_equal(note(place, "a"), 0);
    expect_note(place, "a");
    crash(place);
    assert_int_equal(fchdir(home), 0);
    close(home);
    place->base.options.checkpoint_path = place->path;
    expect_note(place, "a");
}

/* What a crash left is neither read nor written through. */
static void test_stale_temporary(void **state)
{
    struct place *place = *state;
    struct stat status;
    char bytes[8];
    assert_int_equal(state_place_open(&place->base), 0);
    assert_int_equal(note(place, "old"), 0);
    write_file(beside(place, ".tmp"), "nri-state 1 half", 16);
    assert_int_equal(chmod(place->other, 0666), 0);
    expect_note(place, "old");
    assert_int_equal(note(place, "new"), 0);
    assert_int_equal(stat(place->path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    expect_note(place, "new");
    /* A link in its place leads nowhere. */
    char target[160];
    (void)snprintf(target, sizeof target, "%s/target", place->directory);
    write_file(target, "keep me", 7);
    assert_int_equal(symlink(target, beside(place, ".tmp")), 0);
    assert_int_equal(note(place, "newer"), 0);
    assert_int_equal(read_file(target, bytes, sizeof bytes), 7);
    assert_memory_equal(bytes, "keep me", 7);
    assert_int_equal(unlink(target), 0);
    expect_note(place, "newer");
}

/* ---- damage ---- */

static void test_damaged_is_set_aside(void **state)
{
    struct place *place = *state;
    char good[256], bytes[256];
    assert_int_equal(state_place_open(&place->base), 0);
    assert_int_equal(note(place, "a"), 0);
    crash(place);
    const size_t count = read_file(place->path, good, sizeof good);
    for (size_t i = 0; i < count; i++) {
        good[i] ^= 1;
        write_file(place->path, good, count);
        assert_int_equal(state_place_open(&place->base), 0);
        /* The version's digit makes it one of a later version, if any. */
        const char *suffix = access(beside(place, ".newer"), F_OK) == 0 ? ".newer" : ".damaged";
        assert_true(i == 10 || i == 11 || strcmp(suffix, ".damaged") == 0);
        assert_int_equal(read_file(beside(place, suffix), bytes, sizeof bytes), count);
        assert_memory_equal(bytes, good, count);
        assert_int_not_equal(access(place->path, F_OK), 0);
        assert_string_not_equal(nri_state_checkpoint_error(place->base.state), "");
        assert_string_equal(place->log, nri_state_checkpoint_error(place->base.state));
        assert_string_equal(nri_state_container_note(add(place->base.state, "c1")), "");
        crash(place);
        assert_int_equal(unlink(beside(place, suffix)), 0);
        good[i] ^= 1;
    }
    write_file(place->path, good, count);
    expect_note(place, "a");
}

static void test_later_version_is_set_aside(void **state)
{
    struct place *place = *state;
    char bytes[64];
    write_file(place->path, "nri-state 2 anything\n", 21);
    assert_int_equal(state_place_open(&place->base), 0);
    assert_non_null(strstr(nri_state_checkpoint_error(place->base.state), "has version 2"));
    assert_int_equal(note(place, "a"), 0);
    assert_string_equal(nri_state_checkpoint_error(place->base.state), "");
    assert_int_equal(read_file(beside(place, ".newer"), bytes, sizeof bytes), 21);
}

static void test_too_large_is_set_aside(void **state)
{
    struct place *place = *state;
    char bytes[1025];
    memset(bytes, 'x', sizeof bytes);
    place->base.options.max_checkpoint_bytes = 1024;
    write_file(place->path, bytes, sizeof bytes);
    assert_int_equal(state_place_open(&place->base), 0);
    assert_non_null(strstr(nri_state_checkpoint_error(place->base.state),
                           "it is larger than 1024 bytes (max_checkpoint_bytes)"));
    assert_int_equal(access(beside(place, ".damaged"), F_OK), 0);
    /* Nor is one written. */
    bytes[1000] = '\0';
    assert_int_equal(note(place, bytes), NRI_E_LIMIT);
    assert_int_not_equal(access(place->path, F_OK), 0);
    /* As large as may be is fine. */
    bytes[1024 - 40 - 20] = '\0';
    assert_int_equal(note(place, bytes), 0);
    struct stat status;
    assert_int_equal(stat(place->path, &status), 0);
    assert_int_equal(status.st_size, 1024);
    expect_note(place, bytes);
}

/* It would be overwritten: better no state than that. */
static void test_cannot_be_set_aside(void **state)
{
    struct place *place = *state;
    char inside[192], bytes[64];
    write_file(place->path, "garbage", 7);
    assert_int_equal(mkdir(beside(place, ".damaged"), 0700), 0);
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
    struct place *place = *state;
    char path[192];
    (void)snprintf(path, sizeof path, "%s/none/notes", place->directory);
    place->base.options.checkpoint_path = path;
    state_place_refuses(&place->base, NRI_E_NOT_FOUND, "/none: No such file or directory");
    place->base.options.checkpoint_path = place->path;
    /* It may go later. */
    assert_int_equal(state_place_open(&place->base), 0);
    assert_int_equal(rmdir(place->directory), 0);
    assert_int_equal(note(place, "a"), NRI_E_NOT_FOUND);
    assert_string_equal(nri_state_checkpoint_error(place->base.state),
                        nri_error_get_text(place->base.error));
    assert_int_equal(mkdir(place->directory, 0700), 0);
    assert_int_equal(nri_state_save(place->base.state, NULL), 0);
    assert_string_equal(nri_state_checkpoint_error(place->base.state), "");
    expect_note(place, "a");
}

static void test_no_regular_file(void **state)
{
    struct place *place = *state;
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
    struct place *place = *state;
    static const char *const paths[] = {"", "/", "/tmp/", ".", "..", "/tmp/."};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        place->base.options.checkpoint_path = paths[i];
        state_place_refuses(&place->base, NRI_E_INVALID, "must be the path of a file");
    }
}

static void test_unwritable_directory(void **state)
{
    struct place *place = *state;
    const bool root = geteuid() == 0;
    assert_int_equal(state_place_open(&place->base), 0);
    assert_int_equal(note(place, "old"), 0);
    assert_int_equal(chmod(place->path, 0644), 0);
    assert_int_equal(chmod(place->directory, 0555), 0);
    if (root)
        assert_int_equal(seteuid(NOBODY), 0);
    const int code = note(place, "new");
    /* What is there can be read. */
    nri_state *reader = NULL;
    const int reading = nri_state_new(&reader, NULL, &place->base.options, NULL, NULL);
    if (root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(code, NRI_E_PERMISSION);
    assert_non_null(strstr(nri_error_get_text(place->base.error), "notes.tmp: Permission denied"));
    assert_int_equal(reading, 0);
    assert_string_equal(nri_state_container_note(add(reader, "c1")), "old");
    nri_state_free(reader);
    assert_int_equal(chmod(place->directory, 0700), 0);
    assert_int_equal(nri_state_save(place->base.state, NULL), 0);
    expect_note(place, "new");
    /* One that may not even be read. */
    if (root)
        return;
    crash(place);
    assert_int_equal(chmod(place->path, 0), 0);
    state_place_refuses(&place->base, NRI_E_PERMISSION, "notes: Permission denied");
}

/* ---- a disk that is full ---- */

static void fill_and_recover(struct place *place, void (*allow)(struct place *place, bool more))
{
    char text[4097];
    memset(text, 'x', sizeof text - 1);
    text[4096] = '\0';
    allow(place, false);
    const int code = note(place, text);
    allow(place, true);
    assert_int_equal(code, NRI_E_IO);
    assert_non_null(strstr(nri_error_get_text(place->base.error), "cannot be written"));
    assert_int_not_equal(access(beside(place, ".tmp"), F_OK), 0);
    /* The old one is whole. */
    nri_state *reader = NULL;
    assert_int_equal(nri_state_new(&reader, NULL, &place->base.options, NULL, NULL), 0);
    assert_string_equal(nri_state_container_note(add(reader, "c1")), "old");
    nri_state_free(reader);
    assert_int_equal(nri_state_save(place->base.state, NULL), 0);
    expect_note(place, text);
}

/* Half of it can be written: the limit of a file's size ends it as a full disk does. */
static void limit_size(struct place *place, bool more)
{
    struct rlimit limit;
    (void)place;
    (void)signal(SIGXFSZ, more ? SIG_DFL : SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = more ? limit.rlim_max : 2048;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void test_cut_in_the_middle(void **state)
{
    struct place *place = *state;
    assert_int_equal(state_place_open(&place->base), 0);
    assert_int_equal(note(place, "old"), 0);
    fill_and_recover(place, limit_size);
}

static void fill_disk(struct place *place, bool more)
{
    char path[192], block[4096] = "";
    (void)snprintf(path, sizeof path, "%s/filler", place->directory);
    if (more) {
        assert_int_equal(unlink(path), 0);
        return;
    }
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    while (write(fd, block, sizeof block) > 0)
        continue;
    assert_int_equal(errno, ENOSPC);
    close(fd);
}

static void test_full_disk(void **state)
{
    struct place *place = *state;
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", place->directory, "tmpfs", 0, "size=64k") != 0) {
        print_message("a file system of its own takes root: %s\n", strerror(errno));
        skip();
    }
    assert_int_equal(state_place_open(&place->base), 0);
    assert_int_equal(note(place, "old"), 0);
    fill_and_recover(place, fill_disk);
    crash(place);
    assert_int_equal(umount(place->directory), 0);
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
    nri_state_container *container = add(state, "c1");
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
    struct place *place = *state;
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
        const char *text = nri_state_container_note(add(place->base.state, "c1"));
        assert_true(strlen(text) > 0);
        assert_int_equal(strspn(text, (const char[]){text[0], '\0'}), strlen(text));
        crash(place);
    }
}

static void test_allocation_failures(void **state)
{
    struct place *place = *state;
    assert_int_equal(state_place_open(&place->base), 0);
    assert_int_equal(note(place, "a"), 0);
    crash(place);
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
    expect_note(place, "a");
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
        place_test(test_unwritable_directory),
        place_test(test_cut_in_the_middle),
        place_test(test_killed),
        place_test(test_allocation_failures),
        place_test(test_full_disk), /* last: from then on the mounts are this process's own */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
