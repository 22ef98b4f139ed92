/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of lib/io share: a directory with a listener, an allocator that counts, a witness
 * that all handlers report to, a polite runtime on a thread of its own, and the three ways to drive
 * a plugin.
 */
#ifndef NRI_TESTS_IO_FIXTURE_H
#define NRI_TESTS_IO_FIXTURE_H

#include <pthread.h>
#include <stdatomic.h>

#include <nri/nri.h>

#include "fail_alloc.h"
#include "peer.h"

/* ---- surroundings ---- */

struct fixture {
    struct fail_alloc heap;
    struct nri_allocator allocator;
    char directory[64];
    char path[96]; /* of the socket */
    int listener;  /* -1 when nobody listens */
    int fds;       /* open before all this */
};

/* cmocka's setup and teardown: a listener on `path`; at the end no descriptor more is open than
 * before and no block of the heap lives; and a Go peer would have taken all that the plugins
 * sent. */
int fixture_setup(void **state);
int fixture_teardown(void **state);
int fixture_listen(const char *path, int backlog); /* a descriptor, or -1 */
/* A listener of its own whose backlog is full; returns how many of `fds` were opened for that. */
int fixture_fill_backlog(struct fixture *fixture, int *fds, int room);
int fixture_count_fds(void);
uint64_t fixture_now_ms(void);

/* ---- counters that other threads wait for ---- */

void count_up(atomic_int *count); /* and wakes whoever waits */
/* Waits until it is that high; false after PEER_PATIENCE seconds. Only count_up() is heard. */
bool count_reaches(atomic_int *count, int number);

/* ---- a plugin whose handlers report ---- */

struct witness {
    atomic_int count[NRI_EVENT_DISCONNECTED + 1]; /* by event */
    atomic_int ended, closed, posted, updated;    /* callbacks */
    atomic_int update_codes[64];                  /* of the updates, in order of completion */
    int reason;                                   /* of the last on_disconnected */
    char reason_text[512];
    int result; /* what `ended` was told */
    /* What to do in the handler of one event; its result is the handler's. */
    enum nri_event act_in;
    int (*act)(nri_request *request, struct witness *witness);
    void *user;
    nri_request *held;
    nri_plugin *plugin;
};

/* Options for the fixture's socket and heap: 10-test, the environment ignored. */
struct nri_plugin_options fixture_options(struct fixture *fixture);
/* Gives one end of a new socketpair to the plugin, and returns the other, for the peer. */
int fixture_pair(struct nri_plugin_options *options);
/* A callback table of Configure, Synchronize, CreateContainer, RunPodSandbox, Shutdown, connected
 * and disconnected. */
struct nri_plugin_ops witness_ops(void);
/* Fails the test when there is an error. */
nri_plugin *witness_plugin(struct witness *witness, const struct nri_plugin_options *options);
void witness_ended(nri_plugin *plugin, int code, void *witness);
void witness_closed(void *witness);
void witness_posted(nri_plugin *plugin, void *witness);
void witness_updated(nri_plugin *plugin, const nri_update_result *result, void *witness);
/* nri_plugin_update_containers() of one container's CPU shares; reports to witness_updated(). */
int witness_update(struct witness *witness, nri_plugin *plugin);

/* ---- a log ---- */

struct log_book { /* what nri_plugin_options.log_user is for log_book_write() */
    int records, errors;
    int strangers;   /* records of another plugin than the first one */
    char plugin[32]; /* of the first record */
    char text[1024]; /* of the last one */
};
void log_book_write(void *book, const nri_log_record *record);

/* ---- a runtime ---- */

enum runtime_step {
    RUNTIME_ACCEPT,
    RUNTIME_REGISTER, /* RegisterPlugin came */
    RUNTIME_ANSWER,   /* and was answered */
    RUNTIME_CONFIGURE,
    RUNTIME_SYNCHRONIZE,
    RUNTIME_CREATE /* one CreateContainer; a held one has no answer */
};

struct runtime {
    int listener; /* used when `fd` is -1 */
    int fd;
    enum runtime_step last; /* where the script ends */
    bool hang_up;           /* then: close; else wait for the plugin's EOF */
    bool answers_updates;
    bool no_answer; /* the last step's answer is not waited for */
    /* out */
    bool good; /* everything went as it should */
    pthread_t thread;
};
void runtime_start(struct runtime *runtime);
bool runtime_join(struct runtime *runtime); /* whether it was good */

/* The handlers that a plugin may close itself in, and the last step that brings them. */
#define FIXTURE_STAGES 5
extern const struct fixture_stage {
    enum nri_event event;
    enum runtime_step last;
} fixture_stages[FIXTURE_STAGES];

/* ---- driving ---- */

enum drive { DRIVE_RUN, DRIVE_LOOP, DRIVE_DISPATCH, DRIVES };
/* Starts and drives a plugin to its end; the result is the witness's for LOOP and DISPATCH as well.
 */
int drive_to_end(enum drive drive, nri_plugin *plugin, struct witness *witness);
/* One turn of a plugin that was started with no loop: waits for its descriptor as poll() users do.
 */
int drive_turn(nri_plugin *plugin);

#endif
