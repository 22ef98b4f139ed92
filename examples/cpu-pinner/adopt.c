/* SPDX-License-Identifier: Apache-2.0 */
#include "adopt.h"

#include <string.h>

#include "pending.h"

#define LIST_SHOWN 128 /* of a list of CPUs in the log */

/* In this order, over all containers that are taken in together: so that what somebody has is not
 * given to somebody who only asks. */
enum pass {
    PASS_CLAIM, /* exclusive CPUs that it was given before */
    PASS_KEEP,  /* CPUs that somebody else has chosen */
    PASS_TAKE   /* exclusive CPUs that it asks for */
};

/* The exclusive CPUs that a container was given before, by its note; by its mark and what it runs
 * on. */
static const char *noted(const struct told *told)
{
    return strncmp(told->note, "exclusive=", 10) == 0 ? told->note + 10 : "";
}

/* The mark is from the creation. An update may have made it share since: a note says so, and
 * without one a cpuset that is not as large as what it asks for. */
static const char *marked(const struct told *told)
{
    if (strcmp(told->mark, "exclusive") != 0 || (told->note[0] != '\0' && noted(told)[0] == '\0'))
        return "";
    nri_cpuset *cpus = NULL;
    const bool fits = nri_cpuset_new(&cpus, NULL) == 0 &&
                      nri_cpuset_parse(cpus, told->cpus, NULL) == 0 &&
                      nri_cpuset_count(cpus) == told->wanted;
    nri_cpuset_free(cpus);
    return fits ? told->cpus : "";
}

static bool is_foreign(const struct told *told)
{
    return told->mark[0] == '\0' && (told->note[0] == '\0' || strcmp(told->note, "kept") == 0);
}

/* Whether it was made to share, so that it is not to be moved now. */
static bool was_shared(const struct told *told)
{
    return strcmp(told->note, "shared") == 0 ||
           (told->note[0] == '\0' && strcmp(told->mark, "shared") == 0);
}

/* Claims the CPUs of a list. Returns how many it names if they cannot be had, else 0. */
static size_t claim_list(struct ledger *ledger, struct container *container, const char *list)
{
    nri_cpuset *cpus = NULL;
    size_t missed = 0;
    if (list[0] == '\0' || nri_cpuset_new(&cpus, NULL) != 0)
        return 0;
    if (nri_cpuset_parse(cpus, list, NULL) == 0 && ledger_claim(ledger, container, cpus) != 0) {
        missed = nri_cpuset_count(cpus);
        ledger->counts.conflicts++;
        ledger_say(ledger, NRI_LOG_ERROR,
                   "container %s had the CPUs %.*s, which are not free for it any more",
                   container->id, LIST_SHOWN, list);
    }
    nri_cpuset_free(cpus);
    return missed;
}

static void claim(struct ledger *ledger, struct container *container, const struct told *told)
{
    size_t missed = claim_list(ledger, container, noted(told));
    if (container->kind != KIND_EXCLUSIVE && strcmp(noted(told), marked(told)) != 0) {
        const size_t other = claim_list(ledger, container, marked(told));
        missed = missed > 0 ? missed : other;
    }
    if (container->kind == KIND_EXCLUSIVE)
        ledger->counts.adopted++;
    else
        container->missed = missed;
}

static void keep(struct ledger *ledger, struct container *container, const struct told *told)
{
    nri_cpuset *cpus = NULL;
    if (container->kind != KIND_SHARED || told->cpus[0] == '\0' || !is_foreign(told) ||
        nri_cpuset_new(&cpus, NULL) != 0)
        return;
    if (nri_cpuset_parse(cpus, told->cpus, NULL) == 0 && nri_cpuset_count(cpus) > 0 &&
        ledger_keep(ledger, container, cpus) == 0) {
        nri_cpuset_intersect(cpus, pool_exclusive(ledger->pool));
        if (nri_cpuset_count(cpus) > 0) {
            ledger->counts.conflicts++;
            ledger_say(ledger, NRI_LOG_ERROR,
                       "container %s runs on CPUs that are exclusive to others: its cpuset %.*s is "
                       "not this plugin's, and is left alone",
                       container->id, LIST_SHOWN, told->cpus);
        }
    }
    nri_cpuset_free(cpus);
}

static void take(struct ledger *ledger, struct container *container, const struct told *told)
{
    size_t count = container->missed;
    if (container->kind != KIND_SHARED)
        return;
    if (count == 0 && !was_shared(told))
        count = told->wanted;
    if (count == 0 || ledger_take(ledger, container, count) == 0)
        return;
    container->denied = true;
    ledger->counts.denied++;
    ledger_say(ledger, NRI_LOG_ERROR,
               "container %s should have %zu exclusive CPUs, and %zu can be had: it shares",
               container->id, count, pool_available(ledger->pool));
}

static void adopt(struct ledger *ledger, struct container *container, const struct told *told,
                  enum pass pass)
{
    switch (pass) {
    case PASS_CLAIM:
        claim(ledger, container, told);
        return;
    case PASS_KEEP:
        keep(ledger, container, told);
        return;
    default:
        take(ledger, container, told);
        return;
    }
}

/* One that is not known, or has ended. */
static struct container *enter(struct ledger *ledger, struct container *container,
                               const struct told *told, uint64_t now)
{
    if (container == NULL)
        container = ledger_add(ledger, told->id, told->pod, told->name, told->cgroup);
    if (container == NULL) {
        ledger_say(ledger, NRI_LOG_ERROR, "container %s is not looked after: out of memory",
                   told->id);
        return NULL;
    }
    container->stage = STAGE_LIVE;
    container->since = now;
    container->denied = container->known = false;
    container->stale = container->in_call;
    pending_heard(container, told->cpus);
    return container;
}

struct container *adopt_one(struct ledger *ledger, struct container *container,
                            const struct told *told, uint64_t now)
{
    container = enter(ledger, container, told, now);
    for (int pass = PASS_CLAIM; container != NULL && pass <= PASS_TAKE; pass++)
        adopt(ledger, container, told, (enum pass)pass);
    return container;
}

/* One that is known already: what the runtime says of it is true, and what the ledger has for it
 * counts. */
static void meet(struct ledger *ledger, struct container *container, const struct told *told)
{
    nri_cpuset *cpus = NULL;
    container->stage = STAGE_LIVE;
    container->seen = true;
    container->stale = container->in_call;
    pending_heard(container, told->cpus);
    /* What has no cpuset runs everywhere. */
    if (told->cpus[0] == '\0' && container->kind != KIND_KEPT)
        container->known = false;
    if (container->kind != KIND_KEPT || told->cpus[0] == '\0' || nri_cpuset_new(&cpus, NULL) != 0)
        return;
    if (nri_cpuset_parse(cpus, told->cpus, NULL) == 0 && nri_cpuset_count(cpus) > 0)
        ledger_keep(ledger, container, cpus);
    nri_cpuset_free(cpus);
}

static void drop_unseen(struct ledger *ledger)
{
    struct container *next;
    for (struct container *one = ledger_next(ledger, NULL); one != NULL; one = next) {
        next = ledger_next(ledger, one);
        if (!one->seen)
            ledger_drop(ledger, one);
    }
}

void pinner_synchronize(struct ledger *ledger, const struct told *told, size_t count, uint64_t now)
{
    for (struct container *one = NULL; (one = ledger_next(ledger, one)) != NULL;)
        one->seen = one->fresh = false;
    for (size_t i = 0; i < count; i++) {
        struct container *container = ledger_find(ledger, told[i].id);
        ledger_unbury(ledger, told[i].id);
        if (container != NULL && container->stage != STAGE_ENDED) {
            meet(ledger, container, &told[i]);
            continue;
        }
        container = enter(ledger, container, &told[i], now);
        if (container != NULL)
            container->seen = container->fresh = true;
    }
    drop_unseen(ledger);
    for (int pass = PASS_CLAIM; pass <= PASS_TAKE; pass++) {
        for (size_t i = 0; i < count; i++) {
            struct container *container = ledger_find(ledger, told[i].id);
            if (container != NULL && container->fresh)
                adopt(ledger, container, &told[i], (enum pass)pass);
        }
    }
}
