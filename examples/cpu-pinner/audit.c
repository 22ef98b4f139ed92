/* SPDX-License-Identifier: Apache-2.0 */
#include "audit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup.h"
#include "pending.h"

/* A container as it is looked at: files are read without the lock. */
struct look {
    char *id, *cgroup;
    uint64_t serial;
    nri_cpuset *seen;
    int code; /* of cgroup_read_cpus() */
};

struct round {
    struct look *looks;
    size_t count;
    nri_cpuset *online; /* the CPUs that are; NULL when that could not be read */
};

static void free_round(struct round *round)
{
    for (size_t i = 0; i < round->count; i++) {
        free(round->looks[i].id);
        free(round->looks[i].cgroup);
        nri_cpuset_free(round->looks[i].seen);
    }
    free(round->looks);
    nri_cpuset_free(round->online);
}

/* ---- CPUs that come and go ---- */

static void read_online(struct round *round, const char *sysfs)
{
    char text[TOPOLOGY_TEXT];
    if (nri_cpuset_new(&round->online, NULL) == 0 &&
        topology_read_online(round->online, sysfs, text) == 0)
        return;
    round->online = nri_cpuset_free(round->online);
}

/* How many CPUs one set has that the other has not. `list` gets them. */
static size_t difference(const nri_cpuset *one, const nri_cpuset *other, char *list)
{
    nri_cpuset *set = NULL;
    size_t count = 0;
    list[0] = '\0';
    if (nri_cpuset_new(&set, NULL) == 0 && nri_cpuset_copy(set, one) == 0) {
        nri_cpuset_minus(set, other);
        count = nri_cpuset_count(set);
        nri_cpuset_format(set, list, KEEPER_LIST);
    }
    nri_cpuset_free(set);
    return count;
}

/* Whose CPUs went away. */
static void name_losers(struct keeper *keeper, const nri_cpuset *online)
{
    const struct ledger *ledger = &keeper->ledger;
    for (struct container *one = NULL; (one = ledger_next(ledger, one)) != NULL;) {
        if (one->kind == KIND_EXCLUSIVE && difference(one->cpus, online, keeper->list) > 0)
            keeper_say(keeper, NRI_LOG_WARN,
                       "audit: container %s (%s) has, exclusively, the CPUs %.256s, which are "
                       "offline",
                       one->id, one->name, keeper->list);
    }
}

/* The pool is as it was at the start: said once for each change. */
static void judge_online(struct keeper *keeper, const nri_cpuset *online)
{
    const nri_cpuset *start = keeper->topology.online;
    if (online == NULL)
        return;
    keeper->audits.offline = difference(start, online, keeper->list);
    const bool is_new = !nri_cpuset_equal(online, keeper->online);
    if (is_new && keeper->audits.offline > 0)
        keeper_say(keeper, NRI_LOG_WARN,
                   "audit: the CPUs %.256s went offline; whoever has them has too few",
                   keeper->list);
    keeper->audits.added = difference(online, start, keeper->list);
    if (is_new && keeper->audits.added > 0)
        keeper_say(keeper, NRI_LOG_WARN,
                   "audit: the CPUs %.256s came online, and are not used before a restart",
                   keeper->list);
    if (is_new && keeper->audits.offline + keeper->audits.added == 0)
        keeper_say(keeper, NRI_LOG_INFO, "audit: the CPUs of the start are online again");
    if (is_new && keeper->audits.offline > 0)
        name_losers(keeper, online);
    if (is_new)
        (void)nri_cpuset_copy(keeper->online, online); /* without memory it is said again */
}

/* ---- cgroups ---- */

static bool is_looked_at(const struct container *container)
{
    return container->stage == STAGE_LIVE && container->known && !container->in_call;
}

static int list(const struct ledger *ledger, struct round *round)
{
    size_t most = 0;
    for (struct container *one = NULL; (one = ledger_next(ledger, one)) != NULL;)
        most += is_looked_at(one);
    round->looks = calloc(most + 1, sizeof *round->looks);
    if (round->looks == NULL)
        return -1;
    for (struct container *one = NULL; (one = ledger_next(ledger, one)) != NULL;) {
        if (!is_looked_at(one))
            continue;
        struct look *look = &round->looks[round->count++];
        look->serial = one->serial;
        look->id = strdup(one->id);
        look->cgroup = strdup(one->cgroup);
        if (look->id == NULL || look->cgroup == NULL || nri_cpuset_new(&look->seen, NULL) != 0)
            return -1;
    }
    return 0;
}

static int judge(struct keeper *keeper, const struct round *round)
{
    struct ledger *ledger = &keeper->ledger;
    int found = 0;
    keeper->audits.rounds++;
    keeper->audits.absent = 0;
    for (size_t i = 0; i < round->count; i++) {
        const struct look *look = &round->looks[i];
        keeper->audits.absent += look->code > 0;
        keeper->audits.unreadable += look->code < 0;
        if (look->code != 0 || !pending_audited(ledger, look->id, look->serial, look->seen))
            continue;
        found++;
        nri_cpuset_format(look->seen, keeper->list, KEEPER_LIST);
        keeper_say(keeper, NRI_LOG_WARN,
                   "audit: container %s has the CPUs \"%.256s\" in its cgroup, and should not",
                   look->id, keeper->list);
    }
    judge_online(keeper, round->online);
    const char *fault = ledger_fault(ledger);
    if (fault != NULL)
        keeper_say(keeper, NRI_LOG_ERROR, "audit: %s", fault);
    pinner_expire(ledger, &keeper->rules, keeper_now());
    return found;
}

static void flush(nri_plugin *plugin, void *user)
{
    struct keeper *keeper = user;
    (void)plugin;
    pthread_mutex_lock(&keeper->lock);
    keeper_flush(keeper);
    pthread_mutex_unlock(&keeper->lock);
}

/* A plugin that has a connection is not closed before disconnected() has had the lock. */
static void ask_for_flush(struct keeper *keeper)
{
    if (keeper->connected && pending_next(&keeper->ledger, NULL) != NULL)
        (void)nri_plugin_post(keeper->plugin, flush, keeper);
}

int audit_round(struct keeper *keeper)
{
    struct round round = {0};
    pthread_mutex_lock(&keeper->lock);
    int code = list(&keeper->ledger, &round);
    pthread_mutex_unlock(&keeper->lock);
    for (size_t i = 0; code == 0 && i < round.count; i++) {
        struct look *look = &round.looks[i];
        look->code = cgroup_read_cpus(keeper->flags.cgroup_root, look->cgroup, look->seen);
    }
    read_online(&round, keeper->flags.sysfs);
    pthread_mutex_lock(&keeper->lock);
    if (code == 0)
        code = judge(keeper, &round);
    ask_for_flush(keeper);
    pthread_mutex_unlock(&keeper->lock);
    free_round(&round);
    return code;
}

/* ---- the thread ---- */

enum due { DUE_END, DUE_ROUND, DUE_RETRY };

/* Waits until there is something to do; the lock is held. `last` is when the last round was. */
static enum due wait_for_due(struct keeper *keeper, uint64_t last)
{
    while (!keeper->ending) {
        const uint64_t now = keeper_now(), interval = keeper->audit_interval;
        const uint64_t round_at = interval > 0 ? last + interval : UINT64_MAX;
        const uint64_t retry_at = keeper->retry_at > 0 ? keeper->retry_at : UINT64_MAX;
        const uint64_t end = round_at < retry_at ? round_at : retry_at;
        if (round_at <= now)
            return DUE_ROUND;
        if (retry_at <= now)
            return DUE_RETRY;
        if (end == UINT64_MAX) {
            pthread_cond_wait(&keeper->wake, &keeper->lock);
            continue;
        }
        const struct timespec until = {.tv_sec = (time_t)(end / UINT64_C(1000000000)),
                                       .tv_nsec = (long)(end % UINT64_C(1000000000))};
        pthread_cond_timedwait(&keeper->wake, &keeper->lock, &until);
    }
    return DUE_END;
}

static void *run(void *user)
{
    struct keeper *keeper = user;
    uint64_t last = keeper_now();
    for (;;) {
        pthread_mutex_lock(&keeper->lock);
        const enum due due = wait_for_due(keeper, last);
        if (due == DUE_RETRY) {
            keeper->retry_at = 0;
            ask_for_flush(keeper);
        }
        pthread_mutex_unlock(&keeper->lock);
        if (due == DUE_END)
            return NULL;
        if (due == DUE_RETRY)
            continue;
        if (audit_round(keeper) < 0)
            keeper_say(keeper, NRI_LOG_WARN, "audit: out of memory");
        last = keeper_now();
    }
}

int audit_start(struct keeper *keeper)
{
    const int code = pthread_create(&keeper->thread, NULL, run, keeper);
    if (code != 0) {
        keeper_say(keeper, NRI_LOG_ERROR, "no thread for the audit: %s", strerror(code));
        return -1;
    }
    keeper->has_thread = true;
    return 0;
}

void audit_stop(struct keeper *keeper)
{
    if (!keeper->has_thread)
        return;
    pthread_mutex_lock(&keeper->lock);
    keeper->ending = true;
    pthread_cond_signal(&keeper->wake);
    pthread_mutex_unlock(&keeper->lock);
    pthread_join(keeper->thread, NULL);
    keeper->has_thread = false;
}
