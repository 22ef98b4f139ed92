/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A runtime's core with plugins, without sockets: each plugin is the plugin side's own core at the
 * other end of a link whose every byte passes the model of the strict Go reader; the clock is the
 * test's.
 *
 * The usual test: setup, rt_plugin() for each plugin with what it answers, rt_settle(), rt_create()
 * and other events, rt_settle(), checks of the outcome, teardown.
 */
#ifndef NRI_TESTS_RUNTIME_FIXTURE_H
#define NRI_TESTS_RUNTIME_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fail_alloc.h"
#include "nri/nri.h"
#include "plugin/core.h"
#include "rpc_pair.h"
#include "runtime/core.h"

#define RT_PLUGINS 8
#define RT_HELD    16

struct rt_fixture;

/* What a plugin does with each event. */
typedef int (*rt_handler)(nri_request *request, struct rt_fixture *fixture);

struct rt_plugin {
    struct rt_fixture *fixture;
    struct nri_core *core;
    nri_runtime_plugin *peer; /* NULL once it ended */
    struct rpc_link link;
    struct go_reader *tap; /* reads along what the runtime sends; NULL: nobody does */
    struct nri_plugin_ops ops;
    struct nri_log log;
    const char *name;
    rt_handler handler;         /* of all events; NULL: 0 */
    bool gone;                  /* rt_kill() */
    bool stalled;               /* it reads and writes nothing */
    bool deaf;                  /* it holds Shutdown as well */
    nri_request *held[RT_HELD]; /* that it answered NRI_PENDING, in order */
    size_t held_count;
    char seen[1024]; /* "EVENT(id) " for each, in order */
    size_t configured, synced_pods, synced_containers, syncs;
};

/* What `done` was called with. */
struct rt_done {
    size_t count;
    nri_outcome *outcome; /* a reference */
    int code;
};

struct rt_fixture {
    struct fail_alloc alloc;
    struct nri_host host;
    struct nri_rt_config config; /* may be changed before rt_start() */
    struct nri_rt *rt;
    struct nri_log log;
    char log_text[8192]; /* all records, one a line */
    uint64_t now;
    struct rt_plugin plugins[RT_PLUGINS];
    size_t plugin_count;
    struct rt_plugin *current; /* whose handler runs */
    struct rt_done done[64];
    size_t called;
    /* What there is to enumerate. */
    nri_pod *pods[160];
    nri_container *containers[160];
    size_t pod_count, container_count;
    size_t enumerations;
    int enumerate_code;
    /* What plugins asked for. */
    char updated[256], evicted[256], lost[512], connected[256];
    int update_code;
    const char *update_fails; /* an id */
    nri_runtime_update *pending_update;
};

int rt_setup(void **state);
int rt_teardown(void **state);
#define rt_test(name) cmocka_unit_test_setup_teardown(name, rt_setup, rt_teardown)

void rt_start(struct rt_fixture *fixture);
/* A plugin "INDEX-NAME" that subscribes to `events` and connects; its handler may be NULL. */
struct rt_plugin *rt_plugin(struct rt_fixture *fixture, const char *index, const char *name,
                            uint32_t events, rt_handler handler);
/* The same of another origin: one that was launched is called so before it registers. */
struct rt_plugin *rt_plugin_of(struct rt_fixture *fixture, enum nri_plugin_origin origin,
                               const char *index, const char *name, uint32_t events,
                               rt_handler handler);
/* Lets all that can move move. */
void rt_settle(struct rt_fixture *fixture);
/* Lets time pass, in steps of 10 ms. */
void rt_pass(struct rt_fixture *fixture, uint64_t milliseconds);
/* The peer closes. */
void rt_kill(struct rt_plugin *plugin);
/* Completes the first request that the plugin holds. */
void rt_release(struct rt_plugin *plugin, int code);

nri_pod *rt_pod(const char *id);
nri_container *rt_container(const char *id, const char *pod);
/* Calls an event; the place of what `done` will tell. */
struct rt_done *rt_call(struct rt_fixture *fixture, enum nri_event event, const nri_pod *pod,
                        const nri_container *container);
struct rt_done *rt_call_with(struct rt_fixture *fixture, const struct nri_runtime_event *event);

#define assert_done(done_, code_)                                                                  \
    do {                                                                                           \
        const struct rt_done *once_ = (done_);                                                     \
        assert_int_equal(once_->count, 1);                                                         \
        if (once_->code != (code_))                                                                \
            fail_msg("%s: %s", nri_error_name(once_->code), nri_outcome_text(once_->outcome));     \
    } while (0)
#define assert_contains(text, part)                                                                \
    do {                                                                                           \
        if (strstr((text), (part)) == NULL)                                                        \
            fail_msg("\"%s\" does not hold \"%s\"", (text), (part));                               \
    } while (0)

#endif
