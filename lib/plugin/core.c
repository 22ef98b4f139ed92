/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a connection, and what the driver calls. What each part does is in register.c,
 * configure.c, sync.c, dispatch.c and update.c.
 *
 * Whatever must end the connection goes through nri_core_fail(): the first reason stays, the driver
 * sees should_close(). Later requests are refused, and nri_core_disconnected() tells the plugin,
 * once.
 */
#include "plugin/core.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "plugin/internal.h"
#include "plugin/state_hooks.h"
#include "wire/reader.h"

/* Name, index, peer and version; a path is at most 107 bytes, names are not limited by NRI. */
#define TEXT_ARENA ((size_t)1024 * 1024)

/* ---- making ---- */

static int check_ops(const struct nri_plugin_ops *ops, struct nri_error *error)
{
    if (nri_method_derive_events(ops) == 0)
        return nri_error_set(
            error, NRI_E_INVALID,
            "no handler for any of NRI's 14 events: set one of the callback table's at least");
    if (ops->on_synchronize != NULL && ops->on_synchronize_part != NULL)
        return nri_error_set(
            error, NRI_E_INVALID,
            "on_synchronize and on_synchronize_part exclude each other: set one of them");
    return 0;
}

static const char *copy_text(struct nri_core *core, const char *text)
{
    return nri_arena_text(&core->arena, text, strlen(text));
}

static bool copy_config(struct nri_core *core, const struct nri_core_config *config)
{
    core->config = *config;
    core->ops = *config->ops;
    core->config.ops = &core->ops;
    core->config.name = copy_text(core, config->name);
    core->config.index = copy_text(core, config->index);
    core->config.peer = copy_text(core, config->peer);
    core->own_version = copy_text(core, NRI_OWN_VERSION);
    (void)snprintf(core->label, sizeof core->label, "%s-%s", config->index, config->name);
    return core->config.name != NULL && core->config.index != NULL && core->config.peer != NULL &&
           core->own_version != NULL;
}

int nri_core_new(struct nri_core **core, const struct nri_core_config *config,
                 struct nri_error *error)
{
    int code = check_ops(config->ops, error);
    if (code != 0)
        return code;
    struct nri_core *c = nri_alloc_zero(&config->alloc, sizeof *c);
    if (c == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "out of memory for a plugin");
    c->alloc = config->alloc;
    nri_arena_init(&c->arena, &c->alloc, 256, TEXT_ARENA);
    nri_configure_init(c);
    if (!copy_config(c, config) || nri_shared_new(&c->shared, config) != 0) {
        nri_core_free(c);
        return nri_error_set(error, NRI_E_NOMEM, "out of memory for a plugin");
    }
    c->log = config->log;
    c->derived = nri_method_derive_events(&c->ops);
    if (config->state != NULL)
        c->state_events = nri_state_hooks_of(config->state)->events;
    atomic_init(&c->bypass, config->bypass);
    atomic_init(&c->serves, false);
    nri_update_queue_init(&c->update_queue);
    nri_configure_reset(c); /* which knows of derived events only now */
    *core = c;
    return 0;
}

void nri_core_free(struct nri_core *core)
{
    if (core == NULL)
        return;
    const struct nri_alloc alloc = core->alloc;
    if (core->shared != NULL) {
        nri_core_end_updates(core, core->now);
        nri_shared_detach(core->shared);
        nri_shared_unref(core->shared);
    }
    nri_configure_fini(core);
    nri_arena_fini(&core->arena);
    nri_alloc_release(&alloc, core);
}

void nri_core_end_offload(struct nri_core *core)
{
    nri_shared_end_offload(core->shared);
}

/* ---- the connection ---- */

static void wake(void *user)
{
    struct nri_core *core = user;

    if (core->config.wake != NULL)
        core->config.wake(core->config.wake_user);
}

void nri_core_fail(struct nri_core *core, int code, const char *format, ...)
{
    char text[NRI_ERROR_TEXT_SIZE];
    va_list arguments;

    if (core->failure.code != 0 || core->rpc == NULL)
        return;
    va_start(arguments, format);
    (void)nri_error_format(text, format, arguments);
    va_end(arguments);
    nri_error_set(&core->failure, code, "%s", text);
    core->state = NRI_PLUGIN_STOPPING;
    atomic_store(&core->serves, false);
    wake(core);
}

/* What rpc could not tell by a result: a reply that found no room. */
static void check_rpc(struct nri_core *core)
{
    struct nri_error error;

    error.text[0] = '\0';
    const int code = nri_rpc_failure(core->rpc, &error);
    if (code != 0)
        nri_core_fail(core, code, "%s", error.text);
}

void nri_core_become_ready(struct nri_core *core)
{
    if (core->state != NRI_PLUGIN_REGISTERING || !core->registered || !core->configured)
        return;
    core->state = NRI_PLUGIN_READY;
    core->ready_since = core->now;
}

static void lost(void *user, const char *why)
{
    nri_handler_lost(user, why);
}

static int make_rpc(struct nri_core *core)
{
    const struct nri_rpc_config config = {
        .serve_id = NRI_MUX_PLUGIN_ID,
        .call_id = NRI_MUX_RUNTIME_ID,
        .serve = &nri__pkg__api__v1alpha1__plugin__descriptor,
        .call = &nri__pkg__api__v1alpha1__runtime__descriptor,
        .limits = core->config.limits,
        .alloc = &core->alloc,
        .host = core->config.host,
        .log = core->log,
        .label = core->label,
        .request = nri_dispatch_call,
        .lost = lost,
        .wake = wake,
        .user = core,
    };
    return nri_rpc_new(&core->rpc, &config);
}

static void drop_rpc(struct nri_core *core)
{
    nri_rpc_free(core->rpc);
    core->rpc = NULL;
}

int nri_core_connected(struct nri_core *core, uint64_t now, struct nri_error *error)
{
    const uint64_t timeout = core->config.registration_timeout;

    if (core->rpc != NULL)
        return nri_error_set(error, NRI_E_STATE, "connected already");
    core->now = now;
    int code = make_rpc(core);
    if (code != 0)
        return nri_error_set(error, code, "connection to %s: %s", core->config.peer,
                             nri_strerror(code));
    code = nri_register_send(core, error);
    if (code != 0) {
        drop_rpc(core);
        return code;
    }
    nri_configure_reset(core);
    nri_error_clear(&core->failure);
    core->registered = core->configure_came = core->configured = core->shutdown_came = false;
    core->settled_features = 0;
    core->ready_since = 0;
    core->missed.replied = 0;
    core->registration_deadline = timeout < NRI_NEVER - now ? now + timeout : NRI_NEVER;
    core->state = NRI_PLUGIN_REGISTERING;
    atomic_store(&core->synchronized, false);
    nri_core_add(core, NRI_COUNT_CONNECTIONS, 1);
    nri_core_log(core, NRI_LOG_INFO, "connected to %s", core->config.peer);
    nri_handler_own(core, core->shared->connected, core->ops.on_connected);
    return 0;
}

/* An end that is not the run's is no error. */
static enum nri_log_level level_of_end(const struct nri_core *core, int reason, bool again)
{
    if (reason == 0 || (reason == NRI_E_CLOSED && core->shutdown_came))
        return NRI_LOG_INFO;
    return reason == NRI_E_CLOSED || again ? NRI_LOG_WARN : NRI_LOG_ERROR;
}

static void log_end(struct nri_core *core, int reason, const char *text, uint64_t next_attempt)
{
    const bool again = next_attempt != NRI_NO_ATTEMPT;
    const bool named = strstr(text, core->config.peer) != NULL; /* by the reason already */
    char next[64] = "";

    if (again)
        (void)snprintf(next, sizeof next, "; next attempt in %llu ms",
                       (unsigned long long)next_attempt);
    nri_core_log(core, level_of_end(core, reason, again), "connection%s%s closed: %s%s",
                 named ? "" : " to ", named ? "" : core->config.peer, text, next);
}

/* Only the peer knows why it closed: what this side knows is added. */
static void set_reason(struct nri_core *core, int reason, const char *text)
{
    char missed[NRI_MISSED_SIZE] = "";
    struct nri_error whole;

    if (reason == NRI_E_CLOSED && !core->shutdown_came)
        nri_missed_explain(core, missed);
    nri_error_set(&whole, reason, "%s%s%s", text, missed[0] == '\0' ? "" : "; ", missed);
    nri_shared_set_reason(core->shared, whole.text);
}

void nri_core_disconnected(struct nri_core *core, int reason, const char *text,
                           uint64_t next_attempt, uint64_t now)
{
    if (core->rpc == NULL)
        return;
    core->now = now;
    core->state = NRI_PLUGIN_IDLE;
    atomic_store(&core->serves, false);
    if (text == NULL || text[0] == '\0')
        text = reason == 0 ? "stopped" : nri_strerror(reason);
    set_reason(core, reason, text);
    text = core->shared->reason.text; /* the given one may be part of what goes now */
    nri_rpc_close(core->rpc, NRI_E_CLOSED, text);
    nri_dispatch_close(core);
    nri_sync_drop(core);
    nri_update_turn(core);
    nri_core_add(core, NRI_COUNT_DISCONNECTIONS, 1);
    drop_rpc(core);
    log_end(core, reason, text, next_attempt);
    core->shared->disconnected->reason = reason;
    core->shared->disconnected->next_attempt = next_attempt;
    nri_handler_own(core, core->shared->disconnected, core->ops.on_disconnected);
}

/* ---- bytes and time ---- */

void nri_core_input(struct nri_core *core, const uint8_t *bytes, size_t count, uint64_t now)
{
    struct nri_error error;

    core->now = now;
    if (core->rpc == NULL || core->failure.code != 0)
        return;
    nri_core_add(core, NRI_COUNT_BYTES_IN, count);
    error.text[0] = '\0';
    const int code = nri_rpc_input(core->rpc, bytes, count, now, &error);
    if (code != 0)
        nri_core_fail(core, code, "%s", error.text);
    nri_core_drain(core, now);
}

void nri_core_output(struct nri_core *core, const uint8_t **bytes, size_t *count)
{
    *bytes = NULL;
    *count = 0;
    if (core->rpc != NULL)
        nri_rpc_output(core->rpc, bytes, count);
}

void nri_core_written(struct nri_core *core, size_t count)
{
    if (core->rpc == NULL)
        return;
    nri_rpc_written(core->rpc, count);
    nri_core_add(core, NRI_COUNT_BYTES_OUT, count);
    check_rpc(core);
}

uint64_t nri_core_deadline(const struct nri_core *core)
{
    const uint64_t waiting = nri_update_deadline(core);
    if (core->rpc == NULL || core->failure.code != 0)
        return waiting;
    uint64_t at = nri_rpc_deadline(core->rpc);
    if (waiting < at)
        at = waiting;
    if (core->open != NULL && core->guard_at < at)
        at = core->guard_at;
    if (core->state == NRI_PLUGIN_REGISTERING && core->registration_deadline < at)
        return core->registration_deadline;
    return at;
}

void nri_core_tick(struct nri_core *core, uint64_t now)
{
    core->now = now;
    if (core->rpc == NULL)
        return;
    nri_register_check_deadline(core);
    nri_guard_tick(core);
    nri_rpc_tick(core->rpc, now);
    check_rpc(core);
}

/* In a handler nothing is drained: the request at hand may be in the queue, completed before its
 * handler returned. */
void nri_core_drain(struct nri_core *core, uint64_t now)
{
    core->now = now;
    if (core->depth > 0)
        return;
    if (core->rpc != NULL)
        nri_dispatch_drain(core);
    nri_update_turn(core);
    if (core->rpc != NULL)
        check_rpc(core);
}

/* ---- what the driver and the plugin ask ---- */

bool nri_core_should_close(const struct nri_core *core)
{
    return core->rpc != NULL && core->failure.code != 0;
}

int nri_core_close_reason(const struct nri_core *core, struct nri_error *error)
{
    nri_error_copy(error, &core->failure);
    return core->failure.code;
}

const char *nri_core_end_text(const struct nri_core *core)
{
    return core->shared->reason.text;
}

bool nri_core_in_message(const struct nri_core *core)
{
    return core->rpc != NULL && nri_rpc_in_message(core->rpc);
}

enum nri_plugin_state nri_core_state(const struct nri_core *core)
{
    return core->state;
}

uint64_t nri_core_ready_since(const struct nri_core *core)
{
    return core->ready_since;
}

bool nri_core_in_handler(const struct nri_core *core)
{
    return core->depth > 0;
}

uint32_t nri_core_events(const struct nri_core *core)
{
    return core->events;
}

bool nri_core_has_open(const struct nri_core *core)
{
    return core->open != NULL;
}

bool nri_core_bypass(const struct nri_core *core)
{
    return atomic_load_explicit(&core->bypass, memory_order_relaxed);
}

void nri_core_set_bypass(struct nri_core *core, bool bypass)
{
    if (atomic_exchange(&core->bypass, bypass) == bypass)
        return;
    nri_log_write(core->log, core->config.host->now(core->config.host->context), NRI_LOG_WARN, NULL,
                  bypass ? "bypass on: events are answered unchanged, without their handlers"
                         : "bypass off: events come to their handlers again");
}

bool nri_core_is_wedged(const struct nri_core *core, uint64_t now)
{
    const uint64_t until = atomic_load_explicit(&core->busy_until, memory_order_relaxed);

    return until != 0 && now > until;
}

bool nri_core_is_synchronized(const struct nri_core *core)
{
    return atomic_load(&core->synchronized);
}

/* ---- counting ---- */

const struct nri_stats *nri_core_stats(const struct nri_core *core)
{
    return &core->stats;
}

void nri_core_add(struct nri_core *core, enum nri_plugin_counter counter, uint64_t more)
{
    nri_stats_add(&core->stats.totals[counter], more);
}

uint64_t nri_core_count(const struct nri_core *core, enum nri_plugin_counter counter)
{
    if ((size_t)counter >= NRI_STATS_TOTALS)
        return 0;
    return atomic_load_explicit(&core->stats.totals[counter], memory_order_relaxed);
}

uint64_t nri_core_count_event(const struct nri_core *core, enum nri_event event,
                              enum nri_event_counter counter)
{
    const size_t row = nri_stats_row_of(event);

    if (row == SIZE_MAX || (size_t)counter >= NRI_STATS_COUNTERS)
        return 0;
    uint64_t count =
        atomic_load_explicit(&core->stats.rows[row].counters[counter], memory_order_relaxed);
    if (counter == NRI_COUNT_LATE)
        count += atomic_load(&core->shared->late[row]);
    return count;
}

const char *nri_core_runtime_name(const struct nri_core *core)
{
    return atomic_load(&core->told)->runtime_name;
}

const char *nri_core_runtime_version(const struct nri_core *core)
{
    return atomic_load(&core->told)->runtime_version;
}

const char *nri_core_nri_version(const struct nri_core *core)
{
    return atomic_load(&core->told)->nri_version;
}

bool nri_core_nri_version_inferred(const struct nri_core *core)
{
    return atomic_load(&core->told)->version_inferred;
}

bool nri_core_supports(const struct nri_core *core, enum nri_feature feature)
{
    const struct nri_told *told = atomic_load(&core->told);

    return nri_feature_supported(told->runtime_name, told->runtime_version, told->nri_version,
                                 feature);
}

uint64_t nri_core_registration_timeout_ms(const struct nri_core *core)
{
    const uint64_t told = core->registration_timeout_ms;

    return told == 0 ? NRI_REGISTRATION_TIMEOUT_MS : told;
}

uint64_t nri_core_request_timeout_ms(const struct nri_core *core)
{
    const uint64_t told = core->request_timeout_ms;

    return told == 0 ? NRI_REQUEST_TIMEOUT_MS : told;
}
