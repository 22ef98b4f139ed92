/* SPDX-License-Identifier: Apache-2.0 */
/* Notes of containers, and when their checkpoint is read and written. */
#include "state_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int store_setup(void **state)
{
    struct state_fixture *f = malloc(sizeof *f);
    if (f == NULL)
        return 1;
    state_fixture_init(f);
    state_fixture_use_store(f);
    assert_int_equal(state_fixture_open(f, NULL), 0);
    *state = f;
    return 0;
}

#define store_test(name) cmocka_unit_test_setup_teardown(name, store_setup, state_fixture_teardown)

static int set_note(struct state_fixture *f, nri_request *request)
{
    const char *id = nri_container_id(nri_request_container(request));
    return nri_state_container_set_note(nri_state_find_container(f->state, id), f->data);
}

static void create(struct state_fixture *f, const char *id, const char *note)
{
    char text[64];
    (void)snprintf(text, sizeof text, "%s", note);
    f->handler = set_note;
    f->data = text;
    assert_int_equal(state_fixture_event(f, NRI_EVENT_CREATE_CONTAINER, "p1", id, 0), 0);
    f->handler = NULL;
}

static const char *note_of(struct state_fixture *f, const char *id)
{
    return nri_state_container_note(nri_state_find_container(f->state, id));
}

/* The plugin crashes: nothing is saved, and another one starts. */
static void restart(struct state_fixture *f)
{
    const int code = f->store.save_code;
    f->store.save_code = NRI_E_IO;
    state_fixture_close(f);
    f->store.save_code = code;
    assert_int_equal(state_fixture_open(f, NULL), 0);
    f->journal[0] = '\0';
}

static void expect_content(struct state_fixture *f, const char *json)
{
    assert_true(f->store.exists);
    assert_int_equal(f->store.count, 40 + strlen(json) + 1);
    assert_memory_equal(f->store.bytes + 40, json, strlen(json));
}

/* ---- notes ---- */

static void test_note(void **state)
{
    struct state_fixture *f = *state;
    char long_text[4098];
    create(f, "c1", "");
    nri_state_container *c1 = nri_state_find_container(f->state, "c1");
    assert_string_equal(nri_state_container_note(c1), "");
    assert_int_equal(nri_state_container_set_note(c1, "cpus=4-7"), 0);
    assert_string_equal(nri_state_container_note(c1), "cpus=4-7");
    memset(long_text, 'x', sizeof long_text);
    long_text[4097] = '\0';
    assert_int_equal(nri_state_container_set_note(c1, long_text), NRI_E_LIMIT);
    assert_int_equal(nri_state_container_set_note(c1, "a\xff"), NRI_E_UTF8);
    assert_string_equal(nri_state_container_note(c1), "cpus=4-7");
    long_text[4096] = '\0';
    assert_int_equal(nri_state_container_set_note(c1, long_text), 0);
    assert_string_equal(nri_state_container_note(c1), long_text);
    assert_int_equal(nri_state_container_set_note(c1, NULL), 0);
    assert_string_equal(nri_state_container_note(c1), "");
    assert_int_equal(nri_state_container_set_note(NULL, "a"), NRI_E_INVALID);
    /* It goes with its container. */
    assert_int_equal(nri_state_container_set_note(c1, "a"), 0);
    state_fixture_event(f, NRI_EVENT_REMOVE_CONTAINER, "p1", "c1", 0);
    create(f, "c1", "");
    assert_string_equal(note_of(f, "c1"), "");
}

/* ---- when it is written ---- */

static void test_saved_after_the_handler(void **state)
{
    struct state_fixture *f = *state;
    assert_int_equal(f->store.loads, 1);
    create(f, "c1", "cpus=4-7");
    assert_int_equal(f->store.saves, 1);
    expect_content(f, "{\"notes\":{\"c1\":\"cpus=4-7\"}}");
    create(f, "c2", "say \"\xc3\xa4\"\n");
    expect_content(f, "{\"notes\":{\"c1\":\"cpus=4-7\",\"c2\":\"say \\\"\xc3\xa4\\\"\\n\"}}");
    /* Nothing new, nothing written. */
    create(f, "c2", "say \"\xc3\xa4\"\n");
    state_fixture_event(f, NRI_EVENT_START_CONTAINER, "p1", "c2", 1);
    create(f, "c3", "");
    state_fixture_event(f, NRI_EVENT_REMOVE_CONTAINER, "p1", "c3", 0);
    assert_int_equal(f->store.saves, 2);
    state_fixture_event(f, NRI_EVENT_REMOVE_CONTAINER, "p1", "c1", 0);
    assert_int_equal(f->store.saves, 3);
    state_fixture_event(f, NRI_EVENT_REMOVE_POD_SANDBOX, "p1", NULL, 0);
    assert_int_equal(f->store.saves, 4);
    expect_content(f, "{\"notes\":{}}");
    assert_int_equal(nri_state_save(f->state, NULL), 0);
    assert_int_equal(f->store.saves, 4);
}

static void test_freed_state_keeps_its_checkpoint(void **state)
{
    struct state_fixture *f = *state;
    create(f, "c1", "a");
    /* Set outside of any handler: written at the end. */
    assert_int_equal(nri_state_container_set_note(nri_state_find_container(f->state, "c1"), "b"),
                     0);
    state_fixture_close(f);
    assert_int_equal(f->store.releases, 1);
    expect_content(f, "{\"notes\":{\"c1\":\"b\"}}");
}

static void test_failed_save(void **state)
{
    struct state_fixture *f = *state;
    nri_error *error = NULL;
    f->store.save_code = NRI_E_IO;
    create(f, "c1", "a");
    assert_false(f->store.exists);
    assert_string_equal(nri_state_checkpoint_error(f->state), "save failed");
    assert_string_equal(f->log,
                        "save failed; notes are not safe from a crash until it can be written");
    assert_int_equal(f->logged, 1);
    /* Tried again with each event, and said once. */
    state_fixture_event(f, NRI_EVENT_START_CONTAINER, "p1", "c1", 0);
    assert_int_equal(f->store.saves, 2);
    assert_int_equal(f->logged, 1);
    assert_int_equal(nri_state_save(f->state, &error), NRI_E_IO);
    assert_int_equal(nri_error_get_code(error), NRI_E_IO);
    assert_string_equal(nri_error_get_text(error), "save failed");
    nri_error_free(error);
    f->store.save_code = 0;
    state_fixture_event(f, NRI_EVENT_START_CONTAINER, "p1", "c1", 0);
    assert_string_equal(nri_state_checkpoint_error(f->state), "");
    assert_string_equal(f->log, "the checkpoint /memory is written again");
    assert_int_equal(f->logged, 2);
    expect_content(f, "{\"notes\":{\"c1\":\"a\"}}");
}

static void test_too_large_to_save(void **state)
{
    struct state_fixture *f = *state;
    nri_error *error = NULL;
    f->state->content.limit = 64;
    create(f, "c1", "12345678");
    assert_int_equal(f->store.saves, 0);
    assert_int_equal(nri_state_save(f->state, &error), NRI_E_LIMIT);
    assert_string_equal(nri_error_get_text(error), "the checkpoint /memory would be larger than "
                                                   "262144 bytes (max_checkpoint_bytes)");
    nri_error_free(error);
    create(f, "c1", "1234567");
    assert_int_equal(f->store.saves, 0);
    create(f, "c1", "");
    assert_int_equal(f->store.saves, 1);
    expect_content(f, "{\"notes\":{}}");
}

/* ---- after a crash ---- */

static const char *found_note;

static void note_when_added(nri_state *state, nri_state_container *container,
                            enum nri_state_cause cause, void *user)
{
    (void)state;
    (void)cause;
    (void)user;
    found_note = nri_state_container_note(container);
}

static void test_notes_wait_for_their_containers(void **state)
{
    struct state_fixture *f = *state;
    create(f, "c1", "one");
    create(f, "c2", "two");
    create(f, "c3", "three");
    restart(f);
    state_fixture_connected(f);
    f->state->config.ops.container_added = note_when_added;
    /* By an event, before any Synchronize. */
    found_note = NULL;
    state_fixture_event(f, NRI_EVENT_START_CONTAINER, "p1", "c2", 0);
    assert_string_equal(found_note, "two");
    /* Those that still wait are written too. */
    create(f, "c4", "four");
    expect_content(f,
                   "{\"notes\":{\"c2\":\"two\",\"c4\":\"four\",\"c1\":\"one\",\"c3\":\"three\"}}");
    state_fixture_sync(f, "p1", "c1/p1 c2/p1", 0, true);
    assert_string_equal(found_note, "one");
    expect_content(f,
                   "{\"notes\":{\"c2\":\"two\",\"c4\":\"four\",\"c1\":\"one\",\"c3\":\"three\"}}");
    /* c3 is gone, and so is its note, once all is told. c4 as well. */
    const size_t saves = f->store.saves;
    state_fixture_sync(f, "", "", 0, false);
    assert_int_equal(f->store.saves, saves + 1);
    expect_content(f, "{\"notes\":{\"c2\":\"two\",\"c1\":\"one\"}}");
    create(f, "c3", "");
    assert_string_equal(note_of(f, "c3"), "");
}

/* A runtime that never synchronises: notes wait, and go with what is removed. */
static void test_never_synchronized(void **state)
{
    struct state_fixture *f = *state;
    create(f, "c1", "one");
    create(f, "c2", "two");
    restart(f);
    state_fixture_connected(f);
    state_fixture_event(f, NRI_EVENT_STOP_CONTAINER, "p1", "c1", 0);
    state_fixture_event(f, NRI_EVENT_REMOVE_CONTAINER, "p1", "c1", 0);
    expect_content(f, "{\"notes\":{\"c2\":\"two\"}}");
    restart(f);
    restart(f);
    create(f, "c2", "two");
    assert_int_equal(f->state->waiting.head == NULL, 1);
    assert_string_equal(note_of(f, "c2"), "two");
}

static void test_half_a_synchronize_keeps_notes(void **state)
{
    struct state_fixture *f = *state;
    create(f, "c1", "one");
    restart(f);
    state_fixture_connected(f);
    state_fixture_sync(f, "", "", 0, true);
    state_fixture_connected(f);
    state_fixture_sync(f, "p1", "c1/p1", 0, false);
    assert_string_equal(note_of(f, "c1"), "one");
}

/* ---- what cannot be read ---- */

static void test_damaged(void **state)
{
    struct state_fixture *f = *state;
    create(f, "c1", "one");
    f->store.bytes[50] ^= 1;
    restart(f);
    assert_string_equal(f->store.aside, ".damaged");
    assert_string_equal(
        nri_state_checkpoint_error(f->state),
        "the checkpoint /memory is damaged: its length or checksum is not what its first line "
        "says; it was renamed to /memory.damaged, and there are no notes");
    assert_string_equal(f->log, nri_state_checkpoint_error(f->state));
    state_fixture_sync(f, "p1", "c1/p1", 0, false);
    assert_string_equal(note_of(f, "c1"), "");
    create(f, "c1", "again");
    assert_string_equal(nri_state_checkpoint_error(f->state), "");
    expect_content(f, "{\"notes\":{\"c1\":\"again\"}}");
}

static void test_of_a_later_version(void **state)
{
    struct state_fixture *f = *state;
    static const char later[] = "nri-state 2 whatever that has\n";
    memcpy(f->store.bytes, later, sizeof later);
    f->store.count = sizeof later - 1;
    f->store.exists = true;
    restart(f);
    assert_string_equal(f->store.aside, ".newer");
    assert_string_equal(
        nri_state_checkpoint_error(f->state),
        "the checkpoint /memory is of a later version: it has version 2; this libnri knows 1; it "
        "was renamed to /memory.newer, and there are no notes");
}

static void expect_no_state(struct state_fixture *f, int code, const char *text)
{
    struct nri_error error;
    const size_t releases = f->store.releases;
    nri_error_clear(&error);
    state_fixture_close(f);
    assert_int_equal(state_fixture_open(f, &error), code);
    assert_int_equal(error.code, code);
    assert_string_equal(error.text, text);
    assert_null(f->state);
    assert_int_equal(f->store.releases, releases + 1); /* of the one that was closed */
}

/* It would be overwritten: better no state. */
static void test_cannot_be_set_aside(void **state)
{
    struct state_fixture *f = *state;
    create(f, "c1", "one");
    f->store.bytes[0] ^= 1;
    f->store.aside_code = NRI_E_PERMISSION;
    expect_no_state(f, NRI_E_PERMISSION,
                    "the checkpoint /memory is damaged (it does not begin with \"nri-state \") and "
                    "cannot be set aside: rename failed");
    assert_true(f->store.exists);
}

static void test_cannot_be_read(void **state)
{
    struct state_fixture *f = *state;
    f->store.load_code = NRI_E_IO;
    expect_no_state(f, NRI_E_IO, "load failed");
}

static void test_too_large_to_read(void **state)
{
    struct state_fixture *f = *state;
    f->store.load_code = NRI_E_LIMIT;
    restart(f);
    assert_string_equal(f->store.aside, ".damaged");
    assert_string_equal(nri_state_checkpoint_error(f->state),
                        "the checkpoint /memory is damaged: load failed; it was renamed to "
                        "/memory.damaged, and there are no notes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        state_test(test_note),
        store_test(test_saved_after_the_handler),
        store_test(test_freed_state_keeps_its_checkpoint),
        store_test(test_failed_save),
        store_test(test_too_large_to_save),
        store_test(test_notes_wait_for_their_containers),
        store_test(test_never_synchronized),
        store_test(test_half_a_synchronize_keeps_notes),
        store_test(test_damaged),
        store_test(test_of_a_later_version),
        store_test(test_cannot_be_set_aside),
        store_test(test_cannot_be_read),
        store_test(test_too_large_to_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
