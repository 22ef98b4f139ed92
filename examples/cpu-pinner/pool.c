/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include <stdio.h>
#include <stdlib.h>

/* What is free of a core, in the place of its lowest CPU. */
struct core {
    unsigned size; /* CPUs online */
    unsigned free;
};

struct pool {
    const struct topology *topology;
    size_t minimum;
    nri_cpuset *reserved, *usable, *exclusive, *shared, *kept;
    nri_cpuset *free;   /* those that may be taken, while some are taken */
    nri_cpuset *wanted; /* those taken so far */
    struct core *cores; /* of the topology's CPUs, likewise */
    size_t *core_of;    /* for each of them the place of its core */
};

static int wrong(char text[POOL_TEXT], const nri_cpuset *reserved, size_t usable, size_t minimum)
{
    char list[256];
    nri_cpuset_format(reserved, list, sizeof list);
    snprintf(text, POOL_TEXT,
             "with the CPUs %s reserved %zu of those online are left to share, and at least %zu "
             "must be",
             list[0] == '\0' ? "(none)" : list, usable, minimum);
    return POOL_WRONG;
}

static int make_sets(struct pool *pool)
{
    nri_cpuset **const sets[] = {&pool->reserved, &pool->usable, &pool->exclusive, &pool->shared,
                                 &pool->kept,     &pool->free,   &pool->wanted};
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        /* A set that has held all CPUs has the memory for any of them. */
        if (nri_cpuset_new(sets[i], NULL) != 0 ||
            nri_cpuset_copy(*sets[i], pool->topology->online) != 0)
            return POOL_NO_MEMORY;
        nri_cpuset_clear(*sets[i]);
    }
    return 0;
}

static int make_cores(struct pool *pool)
{
    const struct topology *topology = pool->topology;
    pool->cores = calloc(topology->count, sizeof *pool->cores);
    pool->core_of = calloc(topology->count, sizeof *pool->core_of);
    if (pool->cores == NULL || pool->core_of == NULL)
        return POOL_NO_MEMORY;
    for (size_t i = 0; i < topology->count; i++) {
        const struct topology_cpu *core = topology_cpu(topology, topology->cpus[i].core);
        pool->core_of[i] = core != NULL ? (size_t)(core - topology->cpus) : i;
        pool->cores[pool->core_of[i]].size++;
    }
    return 0;
}

int pool_new(struct pool **result, const struct topology *topology, const nri_cpuset *reserved,
             size_t minimum, char text[POOL_TEXT])
{
    struct pool *pool = calloc(1, sizeof *pool);
    int code = POOL_NO_MEMORY;
    *result = NULL;
    snprintf(text, POOL_TEXT, "out of memory");
    if (pool == NULL)
        return code;
    pool->topology = topology;
    pool->minimum = minimum > 0 ? minimum : 1;
    code = make_sets(pool);
    if (code == 0)
        code = make_cores(pool);
    if (code != 0)
        goto fail;
    nri_cpuset_copy(pool->reserved, topology->online);
    nri_cpuset_intersect(pool->reserved, reserved);
    nri_cpuset_copy(pool->usable, topology->online);
    nri_cpuset_minus(pool->usable, reserved);
    nri_cpuset_copy(pool->shared, pool->usable);
    if (nri_cpuset_count(pool->usable) < pool->minimum) {
        code = wrong(text, reserved, nri_cpuset_count(pool->usable), pool->minimum);
        goto fail;
    }
    text[0] = '\0';
    *result = pool;
    return 0;
fail:
    pool_free(pool);
    return code;
}

void pool_free(struct pool *pool)
{
    if (pool == NULL)
        return;
    nri_cpuset_free(pool->reserved);
    nri_cpuset_free(pool->usable);
    nri_cpuset_free(pool->exclusive);
    nri_cpuset_free(pool->shared);
    nri_cpuset_free(pool->kept);
    nri_cpuset_free(pool->free);
    nri_cpuset_free(pool->wanted);
    free(pool->cores);
    free(pool->core_of);
    free(pool);
}

/* ---- taking ---- */

/* These are free, for the choice that follows; count_cores() comes next. */
static void look(struct pool *pool, const nri_cpuset *cpus)
{
    nri_cpuset_copy(pool->free, cpus); /* has the memory: see make_sets() */
    nri_cpuset_clear(pool->wanted);
}

static void count_cores(struct pool *pool)
{
    for (size_t i = 0; i < pool->topology->count; i++)
        pool->cores[i].free = 0;
    for (size_t i = 0; i < pool->topology->count; i++) {
        if (nri_cpuset_contains(pool->free, pool->topology->cpus[i].number))
            pool->cores[pool->core_of[i]].free++;
    }
}

static bool is_core_of(const struct pool *pool, size_t i, unsigned node)
{
    return pool->cores[i].free > 0 && pool->topology->cpus[i].node == node;
}

static bool is_whole(const struct core *core)
{
    return core->free == core->size;
}

/* How many of `count` CPUs a node could give in whole cores. */
static size_t whole_of(const struct pool *pool, unsigned node, size_t count)
{
    size_t whole = 0;
    for (size_t i = 0; i < pool->topology->count; i++) {
        const struct core *core = &pool->cores[i];
        if (is_core_of(pool, i, node) && is_whole(core) && core->size <= count - whole)
            whole += core->size;
    }
    return whole;
}

/* Moves at most `count` free CPUs of a core to those wanted; how many. */
static size_t take_core(struct pool *pool, size_t core, size_t count)
{
    size_t taken = 0;
    for (size_t i = core; i < pool->topology->count && taken < count; i++) {
        const unsigned number = pool->topology->cpus[i].number;
        if (pool->core_of[i] != core || !nri_cpuset_contains(pool->free, number))
            continue;
        nri_cpuset_remove(pool->free, number);
        nri_cpuset_add(pool->wanted, number); /* has the memory: see make_sets() */
        pool->cores[core].free--;
        taken++;
    }
    return taken;
}

/* In what order a node's cores are taken. */
enum pass {
    PASS_WHOLE,  /* cores that are whole and wanted whole */
    PASS_BROKEN, /* what is left of cores that others have a part of */
    PASS_ANY     /* a part of a whole core */
};

static size_t take_pass(struct pool *pool, unsigned node, size_t count, enum pass pass)
{
    size_t taken = 0;
    for (size_t i = 0; i < pool->topology->count && taken < count; i++) {
        const struct core *core = &pool->cores[i];
        if (!is_core_of(pool, i, node))
            continue;
        if (pass == PASS_WHOLE && (!is_whole(core) || core->size > count - taken))
            continue;
        if (pass == PASS_BROKEN && is_whole(core))
            continue;
        taken += take_core(pool, i, count - taken);
    }
    return taken;
}

static void take_node(struct pool *pool, unsigned node, size_t count)
{
    for (int pass = PASS_WHOLE; pass <= PASS_ANY && count > 0; pass++)
        count -= take_pass(pool, node, count, (enum pass)pass);
}

static size_t free_of(const struct pool *pool, unsigned node)
{
    size_t count = 0;
    for (size_t i = 0; i < pool->topology->count; i++) {
        if (is_core_of(pool, i, node))
            count += pool->cores[i].free;
    }
    return count;
}

/* The node to take `count` CPUs from: of those that have so many, the one that gives the most in
 * whole cores, then the one that has the fewest free, so that others stay whole. If none has so
 * many, the one with the most, so that they come from few nodes. */
static unsigned choose_node(const struct pool *pool, size_t count, size_t *has)
{
    unsigned best = 0;
    size_t best_whole = 0;
    *has = 0;
    for (size_t i = 0; i < pool->topology->node_count; i++) {
        const unsigned node = pool->topology->nodes[i];
        const size_t free_here = free_of(pool, node), whole = whole_of(pool, node, count);
        bool better;
        if (free_here < count || *has < count)
            better = free_here > *has;
        else
            better = whole != best_whole ? whole > best_whole : free_here < *has;
        if (better) {
            best = node;
            best_whole = whole;
            *has = free_here;
        }
    }
    return best;
}

size_t pool_available(const struct pool *pool)
{
    size_t kept = 0;
    const size_t shared = nri_cpuset_count(pool->shared);
    for (unsigned number = 0; nri_cpuset_next(pool->kept, number, &number); number++)
        kept += nri_cpuset_contains(pool->shared, number);
    const size_t above = shared > pool->minimum ? shared - pool->minimum : 0;
    return above < shared - kept ? above : shared - kept;
}

size_t pool_available_on(const struct pool *pool, unsigned node)
{
    size_t count = 0;
    for (size_t i = 0; i < pool->topology->count; i++) {
        const struct topology_cpu *cpu = &pool->topology->cpus[i];
        count += cpu->node == node && nri_cpuset_contains(pool->shared, cpu->number) &&
                 !nri_cpuset_contains(pool->kept, cpu->number);
    }
    return count;
}

/* What may be taken of the shared CPUs. */
static void look_at_shared(struct pool *pool)
{
    look(pool, pool->shared);
    nri_cpuset_minus(pool->free, pool->kept);
    count_cores(pool);
}

/* Moves `count` of those that are free to those wanted. */
static int choose(struct pool *pool, size_t count)
{
    for (size_t left = count; left > 0;) {
        size_t has;
        const unsigned node = choose_node(pool, left, &has);
        const size_t part = has < left ? has : left;
        if (part == 0)
            return POOL_SHORT;
        take_node(pool, node, part);
        left -= part;
    }
    return 0;
}

static void take_wanted(struct pool *pool)
{
    nri_cpuset_union(pool->exclusive, pool->wanted);
    nri_cpuset_minus(pool->shared, pool->wanted);
}

int pool_take(struct pool *pool, size_t count, nri_cpuset *taken)
{
    if (count == 0 || count > pool_available(pool))
        return POOL_SHORT;
    look_at_shared(pool);
    if (choose(pool, count) != 0)
        return POOL_SHORT;
    if (nri_cpuset_copy(taken, pool->wanted) != 0)
        return POOL_NO_MEMORY;
    take_wanted(pool);
    return 0;
}

/* ---- more or fewer ---- */

static bool is_on(const struct pool *pool, const nri_cpuset *cpus, unsigned node)
{
    for (size_t i = 0; i < pool->topology->count; i++) {
        if (pool->topology->cpus[i].node == node &&
            nri_cpuset_contains(cpus, pool->topology->cpus[i].number))
            return true;
    }
    return false;
}

static int grow(struct pool *pool, nri_cpuset *cpus, size_t more)
{
    if (more > pool_available(pool))
        return POOL_SHORT;
    look_at_shared(pool);
    for (size_t i = 0; i < pool->topology->node_count && more > 0; i++) {
        const unsigned node = pool->topology->nodes[i];
        const size_t has = is_on(pool, cpus, node) ? free_of(pool, node) : 0;
        const size_t part = has < more ? has : more;
        take_node(pool, node, part);
        more -= part;
    }
    if (choose(pool, more) != 0)
        return POOL_SHORT;
    if (nri_cpuset_union(cpus, pool->wanted) != 0)
        return POOL_NO_MEMORY;
    take_wanted(pool);
    return 0;
}

static int shrink(struct pool *pool, nri_cpuset *cpus, size_t count)
{
    look(pool, cpus);
    count_cores(pool);
    if (choose(pool, count) != 0)
        return POOL_SHORT;
    if (nri_cpuset_copy(cpus, pool->wanted) != 0)
        return POOL_NO_MEMORY;
    pool_give(pool, pool->free); /* what was not chosen */
    return 0;
}

int pool_resize(struct pool *pool, nri_cpuset *cpus, size_t count)
{
    const size_t has = nri_cpuset_count(cpus);
    if (count == 0)
        return POOL_SHORT;
    return count > has ? grow(pool, cpus, count - has) : shrink(pool, cpus, count);
}

int pool_claim(struct pool *pool, const nri_cpuset *cpus)
{
    if (!nri_cpuset_includes(pool->shared, cpus) || nri_cpuset_count(cpus) == 0 ||
        nri_cpuset_equal(pool->shared, cpus))
        return POOL_CONFLICT;
    if (nri_cpuset_union(pool->exclusive, cpus) != 0)
        return POOL_NO_MEMORY;
    nri_cpuset_minus(pool->shared, cpus);
    return 0;
}

void pool_give(struct pool *pool, const nri_cpuset *cpus)
{
    nri_cpuset_minus(pool->exclusive, cpus);
    nri_cpuset_copy(pool->shared, pool->usable);
    nri_cpuset_minus(pool->shared, pool->exclusive);
}

int pool_set_kept(struct pool *pool, const nri_cpuset *cpus)
{
    return nri_cpuset_copy(pool->kept, cpus) != 0 ? POOL_NO_MEMORY : 0;
}

void pool_set_minimum(struct pool *pool, size_t minimum)
{
    pool->minimum = minimum > 0 ? minimum : 1;
}

const nri_cpuset *pool_shared(const struct pool *pool)
{
    return pool->shared;
}

const nri_cpuset *pool_exclusive(const struct pool *pool)
{
    return pool->exclusive;
}

const nri_cpuset *pool_reserved(const struct pool *pool)
{
    return pool->reserved;
}

const nri_cpuset *pool_usable(const struct pool *pool)
{
    return pool->usable;
}
