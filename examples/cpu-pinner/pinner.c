/* SPDX-License-Identifier: Apache-2.0 */
#include "pinner.h"

#include <stdio.h>
#include <string.h>

#include "adopt.h"
#include "pending.h"

static const char note_exclusive[] = "exclusive=";

void pinner_note(const struct container *container, char *text, size_t size)
{
    const size_t length = sizeof note_exclusive - 1;
    switch (container->kind) {
    case KIND_EXCLUSIVE:
        snprintf(text, size, "%s", note_exclusive);
        if (size > length)
            nri_cpuset_format(container->cpus, text + length, size - length);
        return;
    case KIND_KEPT:
        snprintf(text, size, "kept");
        return;
    default:
        snprintf(text, size, "shared");
        return;
    }
}

const char *pinner_mark(const struct container *container)
{
    return container->kind == KIND_EXCLUSIVE ? "exclusive"
           : container->kind == KIND_SHARED  ? "shared"
                                             : "";
}

static void end(struct ledger *ledger, struct container *container)
{
    ledger_share(ledger, container);
    container->stage = STAGE_ENDED;
}

/* ---- creating ---- */

/* Another attempt at the same container: a pod has one of a name at a time, so the one before has
 * failed, and nobody has told. */
static void supersede(struct ledger *ledger, const struct told *told)
{
    struct container *next;
    for (struct container *one = ledger_next(ledger, NULL); one != NULL; one = next) {
        next = ledger_next(ledger, one);
        if (one->stage == STAGE_CREATING && told->name[0] != '\0' &&
            strcmp(one->id, told->id) != 0 && strcmp(one->pod, told->pod) == 0 &&
            strcmp(one->name, told->name) == 0) {
            ledger->counts.expired++;
            ledger_drop(ledger, one);
        }
    }
}

static int place_exclusive(struct ledger *ledger, const struct rules *rules,
                           struct container *container, size_t wanted, uint64_t now,
                           char text[PINNER_TEXT])
{
    int code = ledger_take(ledger, container, wanted);
    if (code == POOL_SHORT && pinner_expire(ledger, rules, now) > 0)
        code = ledger_take(ledger, container, wanted);
    if (code == 0)
        return 0;
    if (code == POOL_SHORT && rules->share) {
        container->denied = true;
        ledger->counts.denied++;
        return 0;
    }
    ledger->counts.refused++;
    if (code == POOL_SHORT)
        snprintf(text, PINNER_TEXT, "%zu exclusive CPUs are wanted, and %zu can be had", wanted,
                 pool_available(ledger->pool));
    else
        snprintf(text, PINNER_TEXT, "out of memory");
    return PINNER_REFUSED;
}

/* A container that comes with CPUs of somebody's choice has them, but for those of others. */
static int place_kept(struct ledger *ledger, struct container *container, const char *cpus,
                      char text[PINNER_TEXT])
{
    nri_cpuset *wanted = NULL;
    int code = PINNER_REFUSED;
    snprintf(text, PINNER_TEXT, "out of memory");
    if (nri_cpuset_new(&wanted, NULL) != 0)
        return code;
    if (nri_cpuset_parse(wanted, cpus, NULL) != 0) {
        snprintf(text, PINNER_TEXT, "its cpuset \"%s\" is no list of CPUs", cpus);
        goto out;
    }
    nri_cpuset_minus(wanted, pool_exclusive(ledger->pool));
    if (nri_cpuset_count(wanted) == 0)
        snprintf(text, PINNER_TEXT, "all CPUs of its cpuset %s are exclusive to others", cpus);
    else if (ledger_keep(ledger, container, wanted) == 0)
        code = 0;
out:
    nri_cpuset_free(wanted);
    return code;
}

static int place(struct ledger *ledger, const struct rules *rules, struct container *container,
                 const struct told *told, uint64_t now, char text[PINNER_TEXT])
{
    if (told->wanted > 0)
        return place_exclusive(ledger, rules, container, told->wanted, now, text);
    return told->cpus[0] != '\0' ? place_kept(ledger, container, told->cpus, text) : 0;
}

/* Whether it has what a repeated CreateContainer asks for. */
static bool has_wanted(const struct container *container, const struct told *told)
{
    return container->stage != STAGE_ENDED && container->kind == KIND_EXCLUSIVE &&
           nri_cpuset_count(container->cpus) == told->wanted;
}

/* The container of CreateContainer, as if it were new. One that is there keeps its place in the
 * ledger, since an update of it may be under way. */
static struct container *renew(struct ledger *ledger, struct container *container,
                               const struct told *told, uint64_t now)
{
    if (container == NULL)
        container = ledger_add(ledger, told->id, told->pod, told->name, told->cgroup);
    else
        ledger_share(ledger, container);
    if (container == NULL)
        return NULL;
    if (container->stage == STAGE_ENDED)
        container->stage = STAGE_CREATING;
    container->denied = false;
    container->since = now;
    return container;
}

int pinner_create(struct ledger *ledger, const struct rules *rules, const struct told *told,
                  uint64_t now, struct container **result, char text[PINNER_TEXT])
{
    struct container *container = ledger_find(ledger, told->id);
    const bool is_known = container != NULL;
    *result = NULL;
    ledger_unbury(ledger, told->id);
    supersede(ledger, told);
    if (container == NULL || !has_wanted(container, told)) {
        container = renew(ledger, container, told, now);
        snprintf(text, PINNER_TEXT, "out of memory");
        if (container == NULL)
            return PINNER_REFUSED;
        if (place(ledger, rules, container, told, now, text) != 0) {
            if (is_known)
                end(ledger, container);
            else
                ledger_drop(ledger, container);
            return PINNER_REFUSED;
        }
    }
    text[0] = '\0';
    pending_told(ledger, container);
    *result = container;
    return 0;
}

/* ---- living ---- */

/* The container of an event that says it is there; NULL when it does not count. *is_new: it was not
 * known to be there before, so what the event tells of it counts. */
static struct container *arrive(struct ledger *ledger, const struct told *told, bool starting,
                                uint64_t now, bool *is_new)
{
    struct container *container = ledger_find(ledger, told->id);
    *is_new = false;
    if (container != NULL && container->stage == STAGE_ENDED) {
        /* Only a start brings back what has ended; anything else is late. */
        if (!starting)
            return NULL;
        return adopt_one(ledger, container, told, now);
    }
    if (container == NULL)
        return ledger_is_buried(ledger, told->id) ? NULL : adopt_one(ledger, NULL, told, now);
    *is_new = container->stage == STAGE_CREATING;
    container->stage = STAGE_LIVE;
    if (container->cgroup[0] == '\0')
        ledger_set_cgroup(container, told->cgroup);
    return container;
}

int pinner_confirm(struct ledger *ledger, const struct rules *rules, const struct told *told,
                   bool starting, uint64_t now, char text[PINNER_TEXT])
{
    bool is_new;
    struct container *container = arrive(ledger, told, starting, now, &is_new);
    text[0] = '\0';
    if (container == NULL)
        return 0;
    if (is_new)
        pending_heard(container, told->cpus);
    if (starting && container->denied && !rules->share) {
        snprintf(text, PINNER_TEXT, "its exclusive CPUs cannot be had: %zu can",
                 pool_available(ledger->pool));
        ledger->counts.refused++;
        return PINNER_REFUSED;
    }
    return 0;
}

static void keep_others(struct ledger *ledger, struct container *container, const char *cpus)
{
    nri_cpuset *asked = NULL;
    if (nri_cpuset_new(&asked, NULL) == 0 && nri_cpuset_parse(asked, cpus, NULL) == 0) {
        nri_cpuset_minus(asked, pool_exclusive(ledger->pool));
        if (nri_cpuset_count(asked) > 0)
            ledger_keep(ledger, container, asked);
    }
    nri_cpuset_free(asked);
}

void pinner_update(struct ledger *ledger, const struct rules *rules, const struct told *told,
                   const char *cpus, uint64_t now)
{
    char text[PINNER_TEXT];
    pinner_confirm(ledger, rules, told, false, now, text);
    struct container *container = ledger_find(ledger, told->id);
    if (container == NULL || container->stage != STAGE_LIVE || cpus[0] == '\0')
        return;
    if (container->kind == KIND_KEPT)
        keep_others(ledger, container, cpus);
    pending_asked(container, cpus);
}

/* ---- more or fewer CPUs ---- */

static int fit(struct ledger *ledger, struct container *container, size_t wanted)
{
    return container->kind == KIND_EXCLUSIVE ? ledger_resize(ledger, container, wanted)
                                             : ledger_take(ledger, container, wanted);
}

/* It asks for more than can be had. */
static int fall_short(struct ledger *ledger, const struct rules *rules, const struct told *told,
                      struct container *container, size_t wanted, char text[PINNER_TEXT])
{
    if (container->denied && told->wanted == wanted)
        return 0; /* as before: the update is about something else */
    if (rules->share) {
        ledger_share(ledger, container);
        container->denied = true;
        ledger->counts.denied++;
        return 0;
    }
    ledger->counts.refused++;
    snprintf(text, PINNER_TEXT, "%zu exclusive CPUs are wanted, and %zu can be had", wanted,
             nri_cpuset_count(container->cpus) + pool_available(ledger->pool));
    return PINNER_REFUSED;
}

int pinner_resize(struct ledger *ledger, const struct rules *rules, const struct told *told,
                  size_t wanted, uint64_t now, char text[PINNER_TEXT])
{
    pinner_confirm(ledger, rules, told, false, now, text);
    text[0] = '\0';
    struct container *container = ledger_find(ledger, told->id);
    if (container == NULL || container->stage != STAGE_LIVE || container->kind == KIND_KEPT)
        return 0;
    if (wanted == 0) {
        ledger_share(ledger, container);
        container->denied = false;
        return 0;
    }
    if (container->kind == KIND_EXCLUSIVE && nri_cpuset_count(container->cpus) == wanted)
        return 0;
    int code = fit(ledger, container, wanted);
    if (code == POOL_SHORT && pinner_expire(ledger, rules, now) > 0)
        code = fit(ledger, container, wanted);
    if (code == 0)
        container->denied = false;
    else if (code == POOL_SHORT)
        return fall_short(ledger, rules, told, container, wanted, text);
    else
        snprintf(text, PINNER_TEXT, "out of memory");
    return code == 0 ? 0 : PINNER_REFUSED;
}

/* ---- ending ---- */

void pinner_stop(struct ledger *ledger, const char *id)
{
    struct container *container = ledger_find(ledger, id);
    if (container != NULL && container->stage != STAGE_ENDED)
        end(ledger, container);
}

void pinner_remove(struct ledger *ledger, const char *id)
{
    struct container *container = ledger_find(ledger, id);
    if (container != NULL)
        ledger_drop(ledger, container);
    ledger_bury(ledger, id);
}

void pinner_stop_pod(struct ledger *ledger, const char *pod)
{
    struct container *next;
    for (struct container *one = ledger_next(ledger, NULL); one != NULL; one = next) {
        next = ledger_next(ledger, one);
        if (one->stage != STAGE_CREATING || strcmp(one->pod, pod) != 0)
            continue;
        ledger->counts.expired++;
        ledger_drop(ledger, one);
    }
}

void pinner_remove_pod(struct ledger *ledger, const char *pod)
{
    struct container *next;
    for (struct container *one = ledger_next(ledger, NULL); one != NULL; one = next) {
        next = ledger_next(ledger, one);
        if (strcmp(one->pod, pod) != 0)
            continue;
        ledger_bury(ledger, one->id);
        ledger_drop(ledger, one);
    }
}

size_t pinner_expire(struct ledger *ledger, const struct rules *rules, uint64_t now)
{
    size_t count = 0;
    struct container *next;
    for (struct container *one = ledger_next(ledger, NULL); one != NULL; one = next) {
        next = ledger_next(ledger, one);
        if (one->stage != STAGE_CREATING || now < one->since ||
            now - one->since < rules->confirm_ns)
            continue;
        ledger_say(ledger, NRI_LOG_WARN, "container %s never came to be: its CPUs are free again",
                   one->id);
        count += one->kind == KIND_EXCLUSIVE;
        ledger->counts.expired++;
        ledger_drop(ledger, one);
    }
    return count;
}
