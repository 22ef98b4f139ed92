/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state cache without a plugin: requests are made here and given to its hooks, what it tells is
 * written down in words, and its checkpoint lies in memory.
 *
 * Words of the journal: "+p1:event " added, "~p1:event " changed, "-p1:event " removed, "= "
 * synchronised, "!p1 " its data was destroyed; the cause behind the colon is event, sync, pod or
 * freed.
 */
#ifndef NRI_TESTS_STATE_FIXTURE_H
#define NRI_TESTS_STATE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fail_alloc.h"
#include "plugin/request.h"
#include "plugin/state.h"

#define JOURNAL_ROOM ((size_t)64 * 1024)
#define STORE_ROOM   ((size_t)256 * 1024)

/* A checkpoint in memory. */
struct memory_store {
    uint8_t bytes[STORE_ROOM];
    size_t count;
    bool exists;
    int load_code, save_code, aside_code; /* negative: fails so */
    size_t loads, saves;
    char aside[32]; /* the suffix of the last one */
    size_t releases;
};

struct state_fixture {
    struct fail_alloc memory;
    struct nri_state_config config; /* may be changed before state_fixture_open() */
    struct memory_store store;
    nri_state *state;
    struct nri_shared shared;
    struct nri_arena arena; /* of one request; reset for each */
    int (*handler)(struct state_fixture *f, nri_request *request); /* between the hooks */
    void *data;                                                    /* of the test */
    char failure[256]; /* text of the last request's failure */
    bool quiet;        /* no journal */
    char journal[JOURNAL_ROOM];
    char log[1024]; /* the last record */
    size_t logged;
};

/* For cmocka: the state is a struct state_fixture, opened; without a checkpoint. */
int state_fixture_setup(void **state);
int state_fixture_teardown(void **state); /* fails when memory is left */
#define state_test(name)                                                                           \
    cmocka_unit_test_setup_teardown(name, state_fixture_setup, state_fixture_teardown)

/* The parts of these, for tests that open several. */
void state_fixture_init(struct state_fixture *f);
int state_fixture_open(struct state_fixture *f, struct nri_error *error);
void state_fixture_close(struct state_fixture *f);
void state_fixture_fini(struct state_fixture *f);
void state_fixture_use_store(struct state_fixture *f);

/* An event goes through before(), the handler unless before() failed, and after(). Returns the code
 * that the request was failed with. NULL ids: the event has none. `version` is put into the names,
 * so that another one is a change. */
int state_fixture_event(struct state_fixture *f, enum nri_event event, const char *pod,
                        const char *container, unsigned version);
/* A Synchronize, or a part of one. Pods are "p1 p2", containers "c1/p1 c2/p1"; `version` as
 * above. */
int state_fixture_sync(struct state_fixture *f, const char *pods, const char *containers,
                       unsigned version, bool more);
void state_fixture_connected(struct state_fixture *f);

/* The journal since the last time, which is emptied. */
#define expect_journal(f_, expected_)                                                              \
    do {                                                                                           \
        assert_string_equal((f_)->journal, (expected_));                                           \
        (f_)->journal[0] = '\0';                                                                   \
    } while (0)

#endif
