/* SPDX-License-Identifier: Apache-2.0 */
#include "pending.h"

static bool is_pending(const struct ledger *ledger, const struct container *container)
{
    return container->stage == STAGE_LIVE &&
           !(container->known && nri_cpuset_equal(container->has, ledger_cpus(ledger, container)));
}

struct container *pending_next(const struct ledger *ledger, const struct container *container)
{
    struct container *next = ledger_next(ledger, container);
    while (next != NULL && !is_pending(ledger, next))
        next = ledger_next(ledger, next);
    return next;
}

void pending_told(struct ledger *ledger, struct container *container)
{
    /* Without memory for it, it counts as unknown and is told again. */
    container->known = nri_cpuset_copy(container->has, ledger_cpus(ledger, container)) == 0;
    container->stale = container->in_call;
    container->suspect = false;
    container->serial++;
}

void pending_heard(struct container *container, const char *cpus)
{
    if (cpus[0] == '\0' || container->in_call)
        return;
    container->known = nri_cpuset_parse(container->has, cpus, NULL) == 0;
    container->suspect = false;
    container->serial++;
}

void pending_asked(struct container *container, const char *cpus)
{
    container->known = nri_cpuset_parse(container->has, cpus, NULL) == 0;
    container->stale = container->in_call;
    container->suspect = false;
    container->serial++;
}

void pending_begin(struct container *container)
{
    container->in_call = true;
    container->stale = false;
}

void pending_failed(struct ledger *ledger, const char *id)
{
    struct container *container = ledger_find(ledger, id);
    ledger->counts.failures++;
    if (container != NULL && container->in_call)
        container->known = false;
}

bool pending_end(struct ledger *ledger, bool sent)
{
    bool again = false;
    for (struct container *one = NULL; (one = ledger_next(ledger, one)) != NULL;) {
        if (!one->in_call)
            continue;
        if (one->stale || !sent)
            one->known = false;
        again = again || (one->stale && sent);
        one->in_call = false;
        one->stale = false;
    }
    return again;
}

/* Somebody else has chosen other CPUs for a container that keeps them: then it keeps these, but for
 * what is exclusive to others. */
static void keep_seen(struct ledger *ledger, struct container *container, const nri_cpuset *seen)
{
    nri_cpuset *cpus = NULL;
    if (nri_cpuset_new(&cpus, NULL) != 0 || nri_cpuset_copy(cpus, seen) != 0)
        goto out;
    nri_cpuset_minus(cpus, pool_exclusive(ledger->pool));
    if (nri_cpuset_count(cpus) > 0)
        ledger_keep(ledger, container, cpus);
out:
    nri_cpuset_free(cpus);
}

bool pending_audited(struct ledger *ledger, const char *id, uint64_t serial, const nri_cpuset *seen)
{
    struct container *container = ledger_find(ledger, id);
    if (container == NULL || container->stage != STAGE_LIVE || container->in_call ||
        container->serial != serial)
        return false;
    if (nri_cpuset_equal(seen, ledger_cpus(ledger, container))) {
        container->suspect = false;
        return false;
    }
    if (!container->suspect) {
        container->suspect = true;
        return false;
    }
    container->suspect = false;
    container->known = nri_cpuset_copy(container->has, seen) == 0;
    if (container->kind == KIND_KEPT)
        keep_seen(ledger, container, seen);
    ledger->counts.drifts++;
    return true;
}
