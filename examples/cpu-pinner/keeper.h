/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper of the ledger while the program runs: one lock for the three threads that want it (the
 * handlers', the loop's, the audit's), and what goes out to the runtime.
 */
#ifndef PINNER_KEEPER_H
#define PINNER_KEEPER_H

#include <nri/nri.h>
#include <pthread.h>

#include "config.h"
#include "pinner.h"

/* Room for the list of any set of CPUs of one machine. */
#define KEEPER_LIST 131072

/* After how long an update that has failed is sent again, in nanoseconds: at first, and at most. */
#define KEEPER_RETRY_FIRST UINT64_C(1000000000)
#define KEEPER_RETRY_MOST  UINT64_C(30000000000)

/* What the audits have seen. */
struct audits {
    uint64_t rounds, unreadable;
    uint64_t absent; /* containers without a cgroup, in the last round */
    size_t offline;  /* CPUs that were online at the start, and were not in the last round */
    size_t added;    /* the other way round */
};

struct keeper {
    struct config config; /* nri-app's: to be read on the thread of the handlers alone */
    struct flags flags;
    nri_state *state; /* of the thread of the handlers */
    nri_plugin *plugin;
    struct topology topology; /* never changes */

    pthread_mutex_t lock; /* of all that follows */
    struct ledger ledger;
    struct rules rules;
    bool by_limit, pin_memory;
    bool connected; /* the plugin has a connection, so that it may be posted to */
    bool calling;   /* an unsolicited update is under way */
    bool missed;    /* events went by while the bypass was on */
    struct audits audits;
    nri_cpuset *online;  /* the CPUs that were online when it was last said */
    uint64_t retry_at;   /* when what has failed is told again, on keeper_now(); 0: nothing has */
    uint64_t retry_wait; /* the last wait before that; 0: the last update went well */
    char *list;          /* KEEPER_LIST bytes, for one list */

    /* The audit's thread. */
    pthread_t thread;
    pthread_cond_t wake;
    bool has_thread, ending;
    uint64_t audit_interval; /* nanoseconds; 0: none */
};

/* Reads the machine, and the checkpoint. 0, or -1 after it was logged. keeper_fini() is needed in
 * any case. */
int keeper_init(struct keeper *keeper);
void keeper_fini(struct keeper *keeper);
/* Takes over the configuration; on the thread of the handlers. */
void keeper_configure(struct keeper *keeper);
/* Whether a configuration fits the machine: 0, or -1 with a text. */
int keeper_check(const struct keeper *keeper, const struct config *config, char text[POOL_TEXT]);

/* CLOCK_MONOTONIC, in nanoseconds. */
uint64_t keeper_now(void);
void keeper_say(const struct keeper *keeper, enum nri_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* With the lock held: */

/* The CPUs of a container as a list, in the keeper's `list`. */
const char *keeper_list(struct keeper *keeper, const struct container *container);
/* Sets a container's CPUs, and memory nodes if those are to be set. */
void keeper_adjust(struct keeper *keeper, nri_resources *resources,
                   const struct container *container);
/* Writes all that is to be told into a reply, but for the container that it creates. */
void keeper_reply(struct keeper *keeper, nri_request *request, const char *but);
/* Tells it unasked, if there is something to tell and no such call is under way. On the loop's
 * thread, or in a handler. */
void keeper_flush(struct keeper *keeper);

#endif
