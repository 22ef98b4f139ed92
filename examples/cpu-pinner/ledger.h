/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger: every container that is known, and the CPUs that are its own. Only here CPUs leave
 * the pool and come back to it, so that each is in the hands of one container at most.
 */
#ifndef PINNER_LEDGER_H
#define PINNER_LEDGER_H

#include <nri/log.h>
#include <stdint.h>
#include <uthash.h>

#include "pool.h"

/* What a container runs on. */
enum kind {
    KIND_SHARED = 0,    /* the shared CPUs, whatever they are */
    KIND_EXCLUSIVE = 1, /* CPUs of its own */
    KIND_KEPT = 2       /* CPUs that somebody else chose, and that are left as they are */
};
#define KINDS 3

enum stage {
    STAGE_CREATING = 0, /* CreateContainer was answered; whether it came to be is not known */
    STAGE_LIVE = 1,
    STAGE_ENDED = 2 /* it has no CPUs any more, and waits to be removed */
};

struct container {
    char *id, *pod, *name, *cgroup;
    enum kind kind;
    enum stage stage;
    bool denied;      /* it asked for exclusive CPUs, could not be given them, and runs shared */
    bool had_own;     /* it was exclusive, and its memory may have been pinned with it */
    nri_cpuset *cpus; /* its own or kept ones; empty while it shares */
    uint64_t since;   /* when it was created, on the caller's clock, in nanoseconds */

    /* What the runtime has, as far as can be told (pending.h). */
    nri_cpuset *has;
    bool known;      /* `has` is what it has, or will have when the answer is there */
    bool in_call;    /* an unsolicited update of it is under way */
    bool stale;      /* and something else was told since */
    bool suspect;    /* the last audit saw something else */
    uint64_t serial; /* changes with `has` */

    /* While it is being adopted. */
    bool seen, fresh; /* the Synchronize that is being taken in tells of it; as the first one */
    size_t missed;    /* exclusive CPUs that it had, and could not be left */
    UT_hash_handle hh;
};

/* What was done since the start. */
struct counts {
    uint64_t given, returned; /* exclusive allocations */
    uint64_t resized;         /* exclusive allocations that became larger or smaller */
    uint64_t refused;         /* containers that could not have theirs, and were refused */
    uint64_t denied;          /* likewise, and share */
    uint64_t adopted;         /* exclusive allocations that were found, not made */
    uint64_t conflicts;       /* CPUs that were found in two hands, or could not be kept */
    uint64_t expired;         /* containers that never came to be */
    uint64_t updates;         /* containers whose CPUs the runtime was told anew */
    uint64_t failures;        /* updates that failed */
    uint64_t drifts;          /* containers that the audit found on other CPUs */
};

#define LEDGER_GRAVES 256

struct ledger {
    struct pool *pool;
    struct container *containers; /* in the order of adding */
    struct counts counts;
    nri_cpuset *scratch;
    char *graves[LEDGER_GRAVES]; /* ids of the last that were removed: late events of theirs */
    size_t next_grave;
    void (*log)(void *user, enum nri_log_level level, const char *text);
    void *log_user;
};

/* 0, or -1 without memory. The pool belongs to the ledger in any case. ledger_fini() is needed in
 * any case. */
int ledger_init(struct ledger *ledger, struct pool *pool);
void ledger_fini(struct ledger *ledger);

struct container *ledger_find(const struct ledger *ledger, const char *id);
/* The one after another, in the order of adding; the first for NULL. */
struct container *ledger_next(const struct ledger *ledger, const struct container *container);
/* A new one, which shares; NULL without memory. */
struct container *ledger_add(struct ledger *ledger, const char *id, const char *pod,
                             const char *name, const char *cgroup);
/* Its cgroup, which may be known only when it is there. Without memory there is none to audit. */
void ledger_set_cgroup(struct container *container, const char *cgroup);
/* Gives its CPUs back, and takes it out. */
void ledger_drop(struct ledger *ledger, struct container *container);

/* Makes it exclusive on so many, or on exactly these CPUs; as pool_take() and pool_claim(). The
 * container must share. */
int ledger_take(struct ledger *ledger, struct container *container, size_t count);
/* Makes an exclusive one so large; as pool_resize(). */
int ledger_resize(struct ledger *ledger, struct container *container, size_t count);
int ledger_claim(struct ledger *ledger, struct container *container, const nri_cpuset *cpus);
/* Makes it keep these CPUs. The container must not be exclusive. 0 or POOL_NO_MEMORY. */
int ledger_keep(struct ledger *ledger, struct container *container, const nri_cpuset *cpus);
/* Makes it share: what it had of its own goes back. */
void ledger_share(struct ledger *ledger, struct container *container);
/* The CPUs that it is to run on. */
const nri_cpuset *ledger_cpus(const struct ledger *ledger, const struct container *container);

/* Remembers that this id was removed, for a while; forgets it; asks. */
void ledger_bury(struct ledger *ledger, const char *id);
void ledger_unbury(struct ledger *ledger, const char *id);
bool ledger_is_buried(const struct ledger *ledger, const char *id);

/* A line for the log. */
void ledger_say(const struct ledger *ledger, enum nri_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Checks the books: no CPU in two hands, none lost, none reserved in a hand, some shared. NULL, or
 * what is wrong. For tests and the audit. */
const char *ledger_fault(struct ledger *ledger);

#endif
