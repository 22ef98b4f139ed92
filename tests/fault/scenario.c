/* SPDX-License-Identifier: Apache-2.0 */
#include "scenario.h"

#include <stdio.h>
#include <string.h>

static int own_event(nri_request *request, void *user)
{
    struct scenario *s = user;
    if (nri_request_event(request) == NRI_EVENT_CONNECTED)
        s->connected++;
    else
        s->disconnected++;
    /* Building where nothing can be built fails, and takes no memory. */
    (void)nri_adjustment_add_env(nri_request_adjustment(request), "A", "1");
    return 0;
}

static int event(nri_request *request, void *user)
{
    (void)request;
    ((struct scenario *)user)->events++;
    return 0;
}

static int configure(nri_request *request, void *user)
{
    (void)event(request, user);
    return nri_request_set_events(request, NRI_EVENTS_ALL);
}

static int synchronize(nri_request *request, void *user)
{
    (void)event(request, user);
    for (size_t i = 0; i < nri_request_container_count(request); i += 10) {
        const char *id = nri_container_id(nri_request_container_at(request, i));
        (void)nri_update_set_cpu_shares(nri_updates_container(nri_request_updates(request), id), 9);
    }
    return 0;
}

static int create(nri_request *request, void *user)
{
    static const char *const options[] = {"rbind", "ro"};
    nri_adjustment *adjustment = nri_request_adjustment(request);
    (void)event(request, user);
    char name[16];
    for (int i = 0; i < 60; i++) { /* more than the first piece of the request's memory */
        (void)snprintf(name, sizeof name, "NAME%d", i);
        (void)nri_adjustment_add_env(adjustment, name, "a value that takes some room");
        (void)nri_adjustment_add_annotation(adjustment, name, "a value that takes some room");
    }
    (void)nri_adjustment_add_mount(adjustment, "/data", "bind", "/srv", options, 2);
    (void)nri_adjustment_set_memory_limit(adjustment, 1 << 20);
    (void)nri_update_set_cpu_shares(nri_updates_container(nri_request_updates(request), "x"), 7);
    (void)nri_updates_evict(nri_request_updates(request), "y", "why not");
    return nri_adjustment_add_env(adjustment, "HELLO", "nri");
}

static int hold(nri_request *request, void *user)
{
    struct scenario *s = user;
    (void)event(request, user);
    if (s->held != NULL)
        return 0;
    s->held = request;
    return NRI_PENDING;
}

static int refuse(nri_request *request, void *user)
{
    (void)event(request, user);
    return nri_request_fail(request, NRI_E_REJECTED, "no, thank you");
}

static void updated(nri_plugin *plugin, const nri_update_result *result, void *user)
{
    const int code = nri_update_result_code(result);
    (void)plugin;
    fake_require(code <= 0);
    fake_require(code == 0 || nri_update_result_failed_count(result) == 0);
    ((struct scenario *)user)->calls_told++;
}

/* ---- steps ---- */

static void keep(struct scenario *s, struct rpc_outcome *outcome)
{
    fake_require(s->outcome_count < sizeof s->outcomes / sizeof s->outcomes[0]);
    s->outcomes[s->outcome_count++] = outcome;
}

static void connect_step(struct scenario *s)
{
    (void)fake_runtime_connect(&s->fr);
}

static void configure_step(struct scenario *s)
{
    keep(s, fake_runtime_configure(&s->fr));
}

static void first_part_step(struct scenario *s)
{
    keep(s, fake_runtime_sync(&s->fr, 0, 3, 0, 300, true));
}

static void last_part_step(struct scenario *s)
{
    keep(s, fake_runtime_sync(&s->fr, 3, 2, 300, 200, false));
}

static void events_step(struct scenario *s)
{
    for (int number = 1; number <= 14; number++)
        keep(s, fake_runtime_event(&s->fr, (enum nri_event)number));
    keep(s, fake_runtime_state_change(&s->fr, NRI_EVENT_RUN_POD_SANDBOX));
}

static void complete_step(struct scenario *s)
{
    if (s->held == NULL)
        return;
    (void)nri_request_fail(s->held, NRI_E_REJECTED, "later");
    (void)nri_request_complete(s->held, 0);
    s->held = nri_request_unref(s->held);
    fake_runtime_run(&s->fr);
}

static void drop_step(struct scenario *s)
{
    keep(s, fake_runtime_event(&s->fr, NRI_EVENT_START_CONTAINER));
    s->held = nri_request_unref(s->held);
    fake_runtime_run(&s->fr);
}

static void update_step(struct scenario *s)
{
    static const char *const failed[] = {"ctr0"};
    static const char *const metadata[] = {"key", "value"};
    nri_updates *updates;
    /* The list is the caller's, and not what this scenario starves. */
    fake_require(nri_updates_new(&updates, NULL) == 0);
    (void)nri_update_set_cpu_shares(nri_updates_container(updates, "ctr0"), 99);
    s->fr.fail_updates = failed;
    s->fr.fail_updates_count = 1;
    for (int i = 0; i < 3; i++) { /* the third one is one too many */
        if (nri_core_update_containers(s->fr.core, updates, 0, metadata, 1, updated, s, s->fr.now,
                                       &s->fr.error) == 0)
            s->calls_sent++;
        if (i == 0)
            fake_runtime_run(&s->fr);
        s->fr.hold_updates = true; /* the second one is pending at the end */
    }
    fake_runtime_run(&s->fr);
    nri_updates_free(updates);
}

static void hold_step(struct scenario *s)
{
    keep(s, fake_runtime_event(&s->fr, NRI_EVENT_START_CONTAINER));
}

static void shutdown_step(struct scenario *s)
{
    Nri__Pkg__Api__V1alpha1__Empty empty;
    nri__pkg__api__v1alpha1__empty__init(&empty);
    keep(s, fake_runtime_call(&s->fr, "Shutdown", &empty.base));
}

static void (*const steps[])(struct scenario *s) = {
    connect_step,  configure_step, first_part_step, last_part_step, events_step,
    complete_step, drop_step,      update_step,     hold_step,      shutdown_step,
};

size_t scenario_steps(void)
{
    return sizeof steps / sizeof steps[0];
}

static void set_handlers(struct nri_plugin_ops *ops)
{
    ops->on_connected = own_event;
    ops->on_disconnected = own_event;
    ops->on_configure = configure;
    ops->on_synchronize = synchronize;
    ops->on_shutdown = event;
    ops->on_run_pod_sandbox = event;
    ops->on_update_pod_sandbox = event;
    ops->on_post_update_pod_sandbox = event;
    ops->on_stop_pod_sandbox = refuse;
    ops->on_remove_pod_sandbox = event;
    ops->on_create_container = create;
    ops->on_post_create_container = event;
    ops->on_start_container = hold;
    ops->on_post_start_container = event;
    ops->on_update_container = event;
    ops->on_post_update_container = event;
    ops->on_stop_container = event;
    ops->on_remove_container = event;
    ops->on_validate_adjustment = refuse;
}

/* What the driver does when the core asks for it. */
static int end_reason(const struct scenario *s, int reason)
{
    if (!nri_core_should_close(s->fr.core))
        return reason;
    struct nri_error error;
    const int code = nri_core_close_reason(s->fr.core, &error);
    fake_require(code < 0 && error.text[0] != '\0');
    return code;
}

/* ---- memory: fail_alloc's, that can also run out for good ---- */

static bool starving(struct scenario *s)
{
    return ++s->asked >= s->starve_at && s->starve_at != 0;
}

static void *allocate(size_t bytes, void *user)
{
    struct scenario *s = user;
    const struct nri_alloc alloc = fail_alloc_resolved(&s->memory);
    return starving(s) ? NULL : alloc.allocate(bytes, alloc.user);
}

static void *resize(void *block, size_t bytes, void *user)
{
    struct scenario *s = user;
    const struct nri_alloc alloc = fail_alloc_resolved(&s->memory);
    return starving(s) ? NULL : alloc.resize(block, bytes, alloc.user);
}

static void release(void *block, void *user)
{
    struct scenario *s = user;
    const struct nri_alloc alloc = fail_alloc_resolved(&s->memory);
    alloc.release(block, alloc.user);
}

static void count_outcomes(struct scenario *s)
{
    for (size_t i = 0; i < s->outcome_count; i++) {
        const struct rpc_outcome *outcome = s->outcomes[i];
        fake_require(outcome->count == 1); /* when the connection is gone at the latest */
        fake_require(outcome->code == 0 || outcome->text[0] != '\0');
        s->succeeded += outcome->code == 0;
        s->refused += outcome->grpc != 0;
        s->lost += outcome->code != 0 && outcome->grpc == 0;
    }
}

void scenario_run(struct scenario *s, size_t count, size_t fail_at, size_t starve_at, int reason)
{
    memset(s, 0, sizeof *s);
    s->starve_at = starve_at;
    fail_alloc_init(&s->memory, NULL);
    fake_runtime_init(&s->fr, s);
    s->fr.config.alloc = (struct nri_alloc){s, allocate, resize, release};
    s->fr.config.limits.max_pending_calls = 1;
    set_handlers(&s->fr.ops);
    fail_alloc_arm(&s->memory, fail_at);
    for (size_t i = 0; i < count; i++) {
        steps[i](s);
        if (!s->fr.connected)
            break; /* not even connected: nothing to go on with */
    }
    if (s->fr.connected)
        fake_runtime_disconnect(&s->fr, end_reason(s, reason), "");
    count_outcomes(s);
    nri_core_free(s->fr.core);
    s->fr.core = NULL;
    s->held = nri_request_unref(s->held); /* a request outlives its core */
    fake_runtime_fini(&s->fr);
}
