/* SPDX-License-Identifier: Apache-2.0 */
/* Without memory a container is not added: uthash tells by leaving `hh.tbl` NULL. */
#define HASH_NONFATAL_OOM 1
#include "ledger.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ledger_init(struct ledger *ledger, struct pool *pool)
{
    *ledger = (struct ledger){.pool = pool};
    return nri_cpuset_new(&ledger->scratch, NULL) == 0 &&
                   nri_cpuset_copy(ledger->scratch, pool_usable(pool)) == 0
               ? 0
               : -1;
}

struct container *ledger_find(const struct ledger *ledger, const char *id)
{
    struct container *found = NULL;
    HASH_FIND_STR(ledger->containers, id, found);
    return found;
}

struct container *ledger_next(const struct ledger *ledger, const struct container *container)
{
    return container == NULL ? ledger->containers : container->hh.next;
}

static void free_container(struct container *container)
{
    free(container->id);
    free(container->pod);
    free(container->name);
    free(container->cgroup);
    nri_cpuset_free(container->cpus);
    nri_cpuset_free(container->has);
    free(container);
}

void ledger_fini(struct ledger *ledger)
{
    struct container *next, *first = ledger->containers;
    HASH_CLEAR(hh, ledger->containers);
    for (struct container *one = first; one != NULL; one = next) {
        next = one->hh.next; /* clearing leaves the list */
        free_container(one);
    }
    for (size_t i = 0; i < LEDGER_GRAVES; i++)
        free(ledger->graves[i]);
    nri_cpuset_free(ledger->scratch);
    pool_free(ledger->pool);
    *ledger = (struct ledger){0};
}

struct container *ledger_add(struct ledger *ledger, const char *id, const char *pod,
                             const char *name, const char *cgroup)
{
    struct container *container = calloc(1, sizeof *container);
    if (container == NULL)
        return NULL;
    container->id = strdup(id);
    container->pod = strdup(pod);
    container->name = strdup(name);
    container->cgroup = strdup(cgroup);
    if (container->id == NULL || container->pod == NULL || container->name == NULL ||
        container->cgroup == NULL || nri_cpuset_new(&container->cpus, NULL) != 0 ||
        nri_cpuset_new(&container->has, NULL) != 0)
        goto fail;
    HASH_ADD_KEYPTR(hh, ledger->containers, container->id, strlen(container->id), container);
    if (container->hh.tbl == NULL)
        goto fail;
    return container;
fail:
    free_container(container);
    return NULL;
}

void ledger_set_cgroup(struct container *container, const char *cgroup)
{
    char *copy = strdup(cgroup);
    if (copy == NULL)
        return;
    free(container->cgroup);
    container->cgroup = copy;
}

/* What all those that keep their CPUs keep together. Without memory the pool passes over those of
 * before, and the container that is new is none that keeps: see ledger_keep(). */
static int count_kept(struct ledger *ledger)
{
    nri_cpuset *kept = ledger->scratch;
    int code = 0;
    nri_cpuset_clear(kept);
    for (struct container *one = NULL; (one = ledger_next(ledger, one)) != NULL;) {
        if (one->kind == KIND_KEPT && nri_cpuset_union(kept, one->cpus) != 0)
            code = POOL_NO_MEMORY;
    }
    return code == 0 ? pool_set_kept(ledger->pool, kept) : code;
}

void ledger_share(struct ledger *ledger, struct container *container)
{
    const enum kind before = container->kind;
    if (before == KIND_EXCLUSIVE) {
        pool_give(ledger->pool, container->cpus);
        ledger->counts.returned++;
        container->had_own = true;
    }
    container->kind = KIND_SHARED;
    nri_cpuset_clear(container->cpus);
    if (before == KIND_KEPT)
        count_kept(ledger);
}

void ledger_drop(struct ledger *ledger, struct container *container)
{
    ledger_share(ledger, container);
    HASH_DELETE(hh, ledger->containers, container);
    free_container(container);
}

int ledger_take(struct ledger *ledger, struct container *container, size_t count)
{
    const int code = pool_take(ledger->pool, count, container->cpus);
    if (code == 0) {
        container->kind = KIND_EXCLUSIVE;
        ledger->counts.given++;
    }
    return code;
}

int ledger_resize(struct ledger *ledger, struct container *container, size_t count)
{
    const int code = pool_resize(ledger->pool, container->cpus, count);
    if (code == 0)
        ledger->counts.resized++;
    return code;
}

int ledger_claim(struct ledger *ledger, struct container *container, const nri_cpuset *cpus)
{
    if (nri_cpuset_copy(container->cpus, cpus) != 0)
        return POOL_NO_MEMORY;
    const int code = pool_claim(ledger->pool, cpus);
    if (code != 0) {
        nri_cpuset_clear(container->cpus);
        return code;
    }
    container->kind = KIND_EXCLUSIVE;
    ledger->counts.given++;
    return 0;
}

int ledger_keep(struct ledger *ledger, struct container *container, const nri_cpuset *cpus)
{
    if (nri_cpuset_copy(container->cpus, cpus) != 0)
        return POOL_NO_MEMORY;
    container->kind = KIND_KEPT;
    const int code = count_kept(ledger);
    if (code != 0)
        ledger_share(ledger, container);
    return code;
}

const nri_cpuset *ledger_cpus(const struct ledger *ledger, const struct container *container)
{
    return container->kind == KIND_SHARED ? pool_shared(ledger->pool) : container->cpus;
}

/* ---- those that were removed ---- */

void ledger_bury(struct ledger *ledger, const char *id)
{
    if (ledger_is_buried(ledger, id))
        return;
    free(ledger->graves[ledger->next_grave]);
    ledger->graves[ledger->next_grave] = strdup(id);
    ledger->next_grave = (ledger->next_grave + 1) % LEDGER_GRAVES;
}

void ledger_unbury(struct ledger *ledger, const char *id)
{
    for (size_t i = 0; i < LEDGER_GRAVES; i++) {
        if (ledger->graves[i] == NULL || strcmp(ledger->graves[i], id) != 0)
            continue;
        free(ledger->graves[i]);
        ledger->graves[i] = NULL;
    }
}

bool ledger_is_buried(const struct ledger *ledger, const char *id)
{
    for (size_t i = 0; i < LEDGER_GRAVES; i++) {
        if (ledger->graves[i] != NULL && strcmp(ledger->graves[i], id) == 0)
            return true;
    }
    return false;
}

/* ---- what is told ---- */

void ledger_say(const struct ledger *ledger, enum nri_log_level level, const char *format, ...)
{
    char text[1024];
    va_list args;
    if (ledger->log == NULL)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ledger->log(ledger->log_user, level, text);
}

const char *ledger_fault(struct ledger *ledger)
{
    const struct pool *pool = ledger->pool;
    nri_cpuset *hands = ledger->scratch;
    size_t sum = 0;
    nri_cpuset_clear(hands);
    for (struct container *one = NULL; (one = ledger_next(ledger, one)) != NULL;) {
        if (one->kind != KIND_EXCLUSIVE)
            continue;
        if (one->stage == STAGE_ENDED)
            return "a container that has ended has CPUs";
        sum += nri_cpuset_count(one->cpus);
        if (nri_cpuset_union(hands, one->cpus) != 0)
            return "out of memory";
    }
    if (sum != nri_cpuset_count(hands))
        return "a CPU was given twice";
    if (!nri_cpuset_equal(hands, pool_exclusive(pool)))
        return "a CPU is exclusive and nobody has it, or the other way round";
    if (!nri_cpuset_includes(pool_usable(pool), hands))
        return "a CPU that is reserved or offline was given";
    if (nri_cpuset_count(pool_shared(pool)) == 0)
        return "no CPU is shared";
    nri_cpuset_union(hands, pool_shared(pool));
    if (!nri_cpuset_equal(hands, pool_usable(pool)) ||
        sum + nri_cpuset_count(pool_shared(pool)) != nri_cpuset_count(pool_usable(pool)))
        return "a CPU is neither shared nor exclusive, or both";
    return NULL;
}
