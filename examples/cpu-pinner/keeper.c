/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cgroup.h"
#include "pending.h"

uint64_t keeper_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

void keeper_say(const struct keeper *keeper, enum nri_log_level level, const char *format, ...)
{
    char text[1024];
    va_list args;
    const int start = snprintf(text, sizeof text, "%s", keeper->flags.dry_run ? "dry run: " : "");
    va_start(args, format);
    vsnprintf(text + start, sizeof text - (size_t)start, format, args);
    va_end(args);
    nri_app_log(level, text);
}

static void say_ledger(void *user, enum nri_log_level level, const char *text)
{
    keeper_say(user, level, "%s", text);
}

const char *keeper_list(struct keeper *keeper, const struct container *container)
{
    nri_cpuset_format(ledger_cpus(&keeper->ledger, container), keeper->list, KEEPER_LIST);
    return keeper->list;
}

/* ---- setting up ---- */

static int make_pool(const struct config *config, const struct topology *topology,
                     struct pool **pool, char text[POOL_TEXT])
{
    nri_cpuset *reserved = NULL;
    int code = -1;
    snprintf(text, POOL_TEXT, "out of memory");
    if (nri_cpuset_new(&reserved, NULL) == 0 &&
        nri_cpuset_parse(reserved, config->reserved, NULL) == 0)
        code = pool_new(pool, topology, reserved, (size_t)config->minimum_shared, text);
    nri_cpuset_free(reserved);
    return code == 0 ? 0 : -1;
}

int keeper_check(const struct keeper *keeper, const struct config *config, char text[POOL_TEXT])
{
    struct topology topology;
    struct pool *pool = NULL;
    char fault[TOPOLOGY_TEXT];
    const char *sysfs = keeper->flags.sysfs;
    int code = topology_read(&topology, sysfs, fault);
    if (code != 0)
        snprintf(text, POOL_TEXT, "%s", fault);
    else
        code = make_pool(config, &topology, &pool, text);
    pool_free(pool);
    topology_free(&topology);
    return code;
}

static int make_ledger(struct keeper *keeper)
{
    char text[POOL_TEXT];
    struct pool *pool = NULL;
    if (topology_read(&keeper->topology, keeper->flags.sysfs, text) != 0 ||
        make_pool(&keeper->config, &keeper->topology, &pool, text) != 0) {
        keeper_say(keeper, NRI_LOG_ERROR, "%s", text);
        return -1;
    }
    if (ledger_init(&keeper->ledger, pool) != 0) {
        keeper_say(keeper, NRI_LOG_ERROR, "out of memory");
        return -1;
    }
    keeper->ledger.log = say_ledger;
    keeper->ledger.log_user = keeper;
    return 0;
}

/* While the bypass is on the state cache is the only one that sees events. */
static void see_pass(nri_state *state, nri_state_container *container, enum nri_state_cause cause,
                     void *user)
{
    struct keeper *keeper = user;
    (void)state, (void)container;
    if (cause != NRI_STATE_EVENT || !nri_plugin_bypass(keeper->plugin))
        return;
    pthread_mutex_lock(&keeper->lock);
    keeper->missed = true;
    pthread_mutex_unlock(&keeper->lock);
}

static int make_state(struct keeper *keeper)
{
    const struct nri_state_ops ops = {.size = sizeof ops,
                                      .container_added = see_pass,
                                      .container_changed = see_pass,
                                      .container_removed = see_pass};
    const struct nri_state_options options = {
        .size = sizeof options,
        .checkpoint_path = keeper->flags.dry_run ? NULL : keeper->flags.checkpoint,
        .log = nri_app_log_record,
        .max_note_bytes = KEEPER_LIST};
    nri_error *error = NULL;
    const int code = nri_state_new(&keeper->state, &ops, &options, keeper, &error);
    if (code != 0)
        keeper_say(keeper, NRI_LOG_ERROR, "%s",
                   error != NULL ? nri_error_get_text(error) : nri_strerror(code));
    nri_error_free(error);
    return code == 0 ? 0 : -1;
}

int keeper_init(struct keeper *keeper)
{
    pthread_condattr_t monotonic;
    pthread_mutex_init(&keeper->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&keeper->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    keeper->list = malloc(KEEPER_LIST);
    if (keeper->list == NULL) {
        keeper_say(keeper, NRI_LOG_ERROR, "out of memory");
        return -1;
    }
    if (make_ledger(keeper) != 0 || make_state(keeper) != 0)
        return -1;
    if (nri_cpuset_new(&keeper->online, NULL) != 0 ||
        nri_cpuset_copy(keeper->online, keeper->topology.online) != 0) {
        keeper_say(keeper, NRI_LOG_ERROR, "out of memory");
        return -1;
    }
    keeper_configure(keeper);
    const size_t usable = nri_cpuset_count(pool_usable(keeper->ledger.pool));
    keeper_say(keeper, NRI_LOG_INFO,
               "%zu CPUs of %zu NUMA nodes are online, %zu of them for containers",
               keeper->topology.count, keeper->topology.node_count, usable);
    if (keeper->flags.checkpoint == NULL)
        keeper_say(keeper, NRI_LOG_WARN,
                   "there is no checkpoint: what was given is known after a restart only from what "
                   "the runtime tells");
    return 0;
}

void keeper_fini(struct keeper *keeper)
{
    keeper->state = nri_state_free(keeper->state);
    ledger_fini(&keeper->ledger);
    topology_free(&keeper->topology);
    keeper->online = nri_cpuset_free(keeper->online);
    free(keeper->list);
    keeper->list = NULL;
    pthread_cond_destroy(&keeper->wake);
    pthread_mutex_destroy(&keeper->lock);
}

void keeper_configure(struct keeper *keeper)
{
    const struct config *config = &keeper->config;
    pthread_mutex_lock(&keeper->lock);
    keeper->rules.share = config->unsatisfied == UNSATISFIED_SHARE;
    keeper->rules.confirm_ns = (uint64_t)config->confirm_timeout;
    keeper->by_limit = config->by_limit;
    keeper->pin_memory = config->pin_memory;
    keeper->audit_interval = (uint64_t)config->audit_interval;
    pool_set_minimum(keeper->ledger.pool, (size_t)config->minimum_shared);
    pthread_cond_signal(&keeper->wake);
    pthread_mutex_unlock(&keeper->lock);
}

/* ---- telling the runtime ---- */

/* The memory nodes of an exclusive container's CPUs as a list, in the keeper's `list`; all for one
 * that was exclusive; "" for none to be set. */
static const char *list_nodes(struct keeper *keeper, const struct container *container)
{
    nri_cpuset *nodes = NULL;
    const bool own = container->kind == KIND_EXCLUSIVE;
    keeper->list[0] = '\0';
    if (keeper->pin_memory && (own || container->had_own) && nri_cpuset_new(&nodes, NULL) == 0 &&
        topology_nodes(&keeper->topology, own ? container->cpus : keeper->topology.online, nodes) ==
            0)
        nri_cpuset_format(nodes, keeper->list, KEEPER_LIST);
    nri_cpuset_free(nodes);
    return keeper->list;
}

void keeper_adjust(struct keeper *keeper, nri_resources *resources,
                   const struct container *container)
{
    nri_resources_set_cpuset_cpus(resources, keeper_list(keeper, container));
    const char *nodes = list_nodes(keeper, container);
    if (nodes[0] != '\0')
        nri_resources_set_cpuset_mems(resources, nodes);
}

/* One that is gone meanwhile must not fail the others, nor the container that is being created:
 * whether all went well the audit sees. */
static void add_update(struct keeper *keeper, nri_updates *updates,
                       const struct container *container)
{
    nri_update *update = nri_updates_container(updates, container->id);
    nri_update_set_ignore_failure(update, true);
    keeper_adjust(keeper, nri_update_edit_resources(update), container);
}

/* In a dry run it is said instead. */
static void tell(struct keeper *keeper, nri_updates *updates, struct container *container)
{
    keeper->ledger.counts.updates++;
    keeper_say(keeper, keeper->flags.dry_run ? NRI_LOG_INFO : NRI_LOG_DEBUG,
               "container %s runs on the %s CPUs %.256s", container->id,
               container->kind == KIND_SHARED ? "shared" : "own", keeper_list(keeper, container));
    if (!keeper->flags.dry_run)
        add_update(keeper, updates, container);
    pending_told(&keeper->ledger, container);
}

void keeper_reply(struct keeper *keeper, nri_request *request, const char *but)
{
    struct ledger *ledger = &keeper->ledger;
    for (struct container *one = NULL; (one = pending_next(ledger, one)) != NULL;) {
        if (strcmp(one->id, but) != 0)
            tell(keeper, nri_request_updates(request), one);
    }
}

/* What was not told is told again soon, and later each time; the audit's thread sees to it. */
static void note_outcome(struct keeper *keeper, bool well)
{
    if (well) {
        keeper->retry_at = keeper->retry_wait = 0;
        return;
    }
    const uint64_t twice = 2 * keeper->retry_wait;
    keeper->retry_wait = twice < KEEPER_RETRY_FIRST  ? KEEPER_RETRY_FIRST
                         : twice > KEEPER_RETRY_MOST ? KEEPER_RETRY_MOST
                                                     : twice;
    keeper->retry_at = keeper_now() + keeper->retry_wait;
    pthread_cond_signal(&keeper->wake);
}

static void end_call(nri_plugin *plugin, const nri_update_result *result, void *user)
{
    struct keeper *keeper = user;
    const int code = nri_update_result_code(result);
    (void)plugin;
    pthread_mutex_lock(&keeper->lock);
    if (code != 0)
        keeper_say(keeper, NRI_LOG_WARN, "the runtime could not be told of other CPUs: %s",
                   nri_update_result_text(result));
    for (size_t i = 0; i < nri_update_result_failed_count(result); i++)
        pending_failed(&keeper->ledger, nri_update_result_failed_id(result, i));
    keeper->calling = false;
    note_outcome(keeper, code == 0 && nri_update_result_failed_count(result) == 0);
    if (pending_end(&keeper->ledger, code == 0))
        keeper_flush(keeper);
    pthread_mutex_unlock(&keeper->lock);
}

static void call(struct keeper *keeper, nri_updates *updates)
{
    int code = nri_updates_error(updates);
    if (code == 0)
        code = nri_plugin_update_containers(keeper->plugin, updates, NULL, end_call, keeper);
    keeper->calling = code == 0;
    if (code == 0)
        return;
    keeper_say(keeper, NRI_LOG_WARN, "the runtime could not be told of other CPUs: %s",
               nri_strerror(code));
    pending_end(&keeper->ledger, false);
    note_outcome(keeper, false);
}

void keeper_flush(struct keeper *keeper)
{
    struct ledger *ledger = &keeper->ledger;
    nri_updates *updates = NULL;
    if (keeper->calling || !keeper->connected || nri_plugin_bypass(keeper->plugin) ||
        pending_next(ledger, NULL) == NULL)
        return;
    if (nri_updates_new(&updates, NULL) != 0) {
        keeper_say(keeper, NRI_LOG_WARN, "out of memory: containers are told of other CPUs later");
        return;
    }
    for (struct container *one = NULL; (one = pending_next(ledger, one)) != NULL;) {
        tell(keeper, updates, one);
        if (!keeper->flags.dry_run)
            pending_begin(one);
    }
    if (!keeper->flags.dry_run)
        call(keeper, updates);
    nri_updates_free(updates);
}
