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
};

static void free_round(struct round *round)
{
    for (size_t i = 0; i < round->count; i++) {
        free(round->looks[i].id);
        free(round->looks[i].cgroup);
        nri_cpuset_free(round->looks[i].seen);
    }
    free(round->looks);
}

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
    pthread_mutex_lock(&keeper->lock);
    if (code == 0)
        code = judge(keeper, &round);
    /* A plugin that has a connection is not closed before disconnected() has had the lock. */
    if (keeper->connected && pending_next(&keeper->ledger, NULL) != NULL)
        (void)nri_plugin_post(keeper->plugin, flush, keeper);
    pthread_mutex_unlock(&keeper->lock);
    free_round(&round);
    return code;
}

/* ---- the thread ---- */

/* Waits until it is time for a round; the lock is held. Whether there is one to be made. */
static bool wait_for_round(struct keeper *keeper)
{
    const uint64_t begun = keeper_now();
    while (!keeper->ending) {
        const uint64_t interval = keeper->audit_interval;
        if (interval == 0) {
            pthread_cond_wait(&keeper->wake, &keeper->lock);
            continue;
        }
        if (keeper_now() - begun >= interval)
            return true;
        const uint64_t end = begun + interval;
        const struct timespec until = {.tv_sec = (time_t)(end / UINT64_C(1000000000)),
                                       .tv_nsec = (long)(end % UINT64_C(1000000000))};
        pthread_cond_timedwait(&keeper->wake, &keeper->lock, &until);
    }
    return false;
}

static void *run(void *user)
{
    struct keeper *keeper = user;
    for (;;) {
        pthread_mutex_lock(&keeper->lock);
        const bool goes_on = wait_for_round(keeper);
        pthread_mutex_unlock(&keeper->lock);
        if (!goes_on)
            return NULL;
        if (audit_round(keeper) < 0)
            keeper_say(keeper, NRI_LOG_WARN, "audit: out of memory");
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
