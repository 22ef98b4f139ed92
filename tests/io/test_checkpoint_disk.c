/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state's checkpoint on a disk that is full, in a directory that is gone or may not be written,
 * while the plugin runs: said once, tried again, and whole when it can be written.
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

#include "checkpoint_place.h"
#include "plugin/state.h"

#define NOBODY 65534u

static void test_unwritable_directory(void **state)
{
    struct checkpoint_place *place = *state;
    const bool root = geteuid() == 0;
    assert_int_equal(state_place_open(&place->base), 0);
    assert_int_equal(checkpoint_note(place, "old"), 0);
    assert_int_equal(chmod(place->path, 0644), 0);
    assert_int_equal(chmod(place->directory, 0555), 0);
    if (root)
        assert_int_equal(seteuid(NOBODY), 0);
    const int code = checkpoint_note(place, "new");
    /* What is there can be read. */
    nri_state *reader = NULL;
    const int reading = nri_state_new(&reader, NULL, &place->base.options, NULL, NULL);
    if (root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(code, NRI_E_PERMISSION);
    assert_non_null(strstr(nri_error_get_text(place->base.error), "notes.tmp: Permission denied"));
    assert_int_equal(reading, 0);
    assert_string_equal(nri_state_container_note(checkpoint_add(reader, "c1")), "old");
    nri_state_free(reader);
    assert_int_equal(chmod(place->directory, 0700), 0);
    assert_int_equal(nri_state_save(place->base.state, NULL), 0);
    checkpoint_expect_note(place, "new");
    /* One that may not even be read. */
    if (root)
        return;
    checkpoint_crash(place);
    assert_int_equal(chmod(place->path, 0), 0);
    state_place_refuses(&place->base, NRI_E_PERMISSION, "notes: Permission denied");
}

/* A directory that is gone, then no directory at all, again and again: each is said once, the notes
 * stay in the state, and are there when they can be written. */
static void test_said_once(void **state)
{
    struct checkpoint_place *place = *state;
    char moved[112], text[16] = "";
    (void)snprintf(moved, sizeof moved, "%s.gone", place->directory);
    assert_int_equal(state_place_open(&place->base), 0);
    for (size_t episode = 1; episode <= 2; episode++) {
        (void)snprintf(text, sizeof text, "old %zu", episode);
        assert_int_equal(checkpoint_note(place, text), 0);
        assert_int_equal(rename(place->directory, moved), 0);
        for (size_t i = 0; i < 20; i++) {
            (void)snprintf(text, sizeof text, "new %zu %zu", episode, i);
            assert_int_equal(checkpoint_note(place, text), NRI_E_NOT_FOUND);
            /* The temporary file's place is taken by a directory: another reason. */
            assert_int_equal(mkdir(place->directory, 0700), 0);
            assert_int_equal(mkdir(checkpoint_beside(place, ".tmp"), 0700), 0);
            assert_int_equal(nri_state_save(place->base.state, NULL), NRI_E_IO);
            assert_int_equal(rmdir(checkpoint_beside(place, ".tmp")), 0);
            assert_int_equal(rmdir(place->directory), 0);
        }
        assert_int_equal(place->errors, 2 * episode);
        assert_int_equal(place->written_again, episode - 1);
        assert_int_equal(rename(moved, place->directory), 0);
        assert_string_equal(
            nri_state_container_note(nri_state_find_container(place->base.state, "c1")), text);
        assert_int_equal(nri_state_save(place->base.state, NULL), 0);
        assert_string_equal(nri_state_checkpoint_error(place->base.state), "");
        assert_int_equal(place->written_again, episode);
    }
    checkpoint_expect_note(place, text);
}

/* ---- a disk that is full ---- */

static void fill_and_recover(struct checkpoint_place *place,
                             void (*allow)(struct checkpoint_place *place, bool more))
{
    char text[4097];
    memset(text, 'x', sizeof text - 1);
    text[4096] = '\0';
    allow(place, false);
    const int code = checkpoint_note(place, text);
    for (size_t i = 0; i < 5; i++)
        (void)nri_state_save(place->base.state, NULL);
    allow(place, true);
    assert_int_equal(place->errors, 1);
    assert_int_equal(code, NRI_E_IO);
    assert_non_null(strstr(nri_error_get_text(place->base.error), "cannot be written"));
    assert_int_not_equal(access(checkpoint_beside(place, ".tmp"), F_OK), 0);
    /* The old one is whole. */
    nri_state *reader = NULL;
    assert_int_equal(nri_state_new(&reader, NULL, &place->base.options, NULL, NULL), 0);
    assert_string_equal(nri_state_container_note(checkpoint_add(reader, "c1")), "old");
    nri_state_free(reader);
    assert_int_equal(nri_state_save(place->base.state, NULL), 0);
    checkpoint_expect_note(place, text);
}

/* Half of it can be written: the limit of a file's size ends it as a full disk does. */
static void limit_size(struct checkpoint_place *place, bool more)
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
    struct checkpoint_place *place = *state;
    assert_int_equal(state_place_open(&place->base), 0);
    assert_int_equal(checkpoint_note(place, "old"), 0);
    fill_and_recover(place, limit_size);
}

static void fill_disk(struct checkpoint_place *place, bool more)
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

/* A small one, in a mount namespace that nobody else sees. */
static void open_on_own_disk(struct checkpoint_place *place)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", place->directory, "tmpfs", 0, "size=64k") != 0) {
        print_message("a file system of its own takes root: %s\n", strerror(errno));
        skip();
    }
    assert_int_equal(state_place_open(&place->base), 0);
    assert_int_equal(checkpoint_note(place, "old"), 0);
}

static void close_own_disk(struct checkpoint_place *place)
{
    checkpoint_crash(place);
    assert_int_equal(umount(place->directory), 0);
}

static void test_full_disk(void **state)
{
    struct checkpoint_place *place = *state;
    open_on_own_disk(place);
    fill_and_recover(place, fill_disk);
    close_own_disk(place);
}

/* As a disk with faults is by Linux, while the plugin runs. */
static void test_disk_that_becomes_read_only(void **state)
{
    struct checkpoint_place *place = *state;
    open_on_own_disk(place);
    assert_int_equal(mount("none", place->directory, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(checkpoint_note(place, i % 2 == 0 ? "new" : "newer"), NRI_E_PERMISSION);
    assert_non_null(strstr(nri_error_get_text(place->base.error), "Read-only file system"));
    assert_int_equal(place->errors, 1);
    assert_int_equal(mount("none", place->directory, NULL, MS_REMOUNT, NULL), 0);
    assert_int_equal(nri_state_save(place->base.state, NULL), 0);
    checkpoint_expect_note(place, "new");
    close_own_disk(place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(test_unwritable_directory),        place_test(test_said_once),
        place_test(test_cut_in_the_middle),           place_test(test_full_disk),
        place_test(test_disk_that_becomes_read_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
