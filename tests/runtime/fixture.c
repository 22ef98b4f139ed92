/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"

#define STEP (10 * NRI_MSEC)

static uint64_t host_now(void *context)
{
    const struct rt_fixture *fixture = context;

    return fixture->now;
}

static int host_random(void *context, void *bytes, size_t count)
{
    (void)context;
    memset(bytes, 7, count);
    return 0;
}

static void log_record(void *user, const nri_log_record *record)
{
    struct rt_fixture *fixture = user;
    const size_t used = strlen(fixture->log_text);

    (void)snprintf(fixture->log_text + used, sizeof fixture->log_text - used, "%s\n",
                   nri_log_record_text(record));
}

static void append(char *text, size_t size, const char *more)
{
    const size_t used = strlen(text);

    (void)snprintf(text + used, size - used, "%s ", more);
}

/* ---- the runtime's operations ---- */

static int enumerate(nri_runtime *runtime, nri_enumeration *list, void *user)
{
    struct rt_fixture *fixture = user;

    (void)runtime;
    fixture->enumerations++;
    for (size_t i = 0; i < fixture->pod_count; i++) {
        if (nri_enumeration_add_pod(list, fixture->pods[i]) != 0)
            return NRI_E_LIMIT;
    }
    for (size_t i = 0; i < fixture->container_count; i++) {
        if (nri_enumeration_add_container(list, fixture->containers[i]) != 0)
            return NRI_E_LIMIT;
    }
    return fixture->enumerate_code;
}

static int update(nri_runtime *runtime, nri_runtime_update *update, void *user)
{
    struct rt_fixture *fixture = user;
    const nri_updates *list = nri_runtime_update_list(update);

    (void)runtime;
    for (size_t i = 0; i < nri_updates_count(list); i++)
        append(fixture->updated, sizeof fixture->updated,
               nri_update_container_id(nri_updates_at(list, i)));
    if (fixture->update_fails != NULL)
        assert_int_equal(nri_runtime_update_fail(update, fixture->update_fails), 0);
    if (fixture->update_code == NRI_PENDING)
        fixture->pending_update = update;
    return fixture->update_code;
}

static void evict(nri_runtime *runtime, nri_runtime_plugin *plugin, const char *id,
                  const char *reason, void *user)
{
    struct rt_fixture *fixture = user;
    char text[128];

    (void)runtime;
    (void)snprintf(text, sizeof text, "%s:%s:%s", nri_runtime_plugin_id(plugin), id, reason);
    append(fixture->evicted, sizeof fixture->evicted, text);
}

static void connected(nri_runtime *runtime, nri_runtime_plugin *plugin, void *user)
{
    struct rt_fixture *fixture = user;

    (void)runtime;
    append(fixture->connected, sizeof fixture->connected, nri_runtime_plugin_id(plugin));
}

static void lost(nri_runtime *runtime, nri_runtime_plugin *plugin, int code, const char *text,
                 void *user)
{
    struct rt_fixture *fixture = user;
    char line[256];

    (void)runtime;
    (void)snprintf(line, sizeof line, "%s:%s:%s", nri_runtime_plugin_id(plugin),
                   nri_error_name(code), text);
    append(fixture->lost, sizeof fixture->lost, line);
}

/* ---- setup ---- */

int rt_setup(void **state)
{
    struct rt_fixture *fixture = calloc(1, sizeof *fixture);

    if (fixture == NULL)
        return -1;
    fail_alloc_init(&fixture->alloc, NULL);
    fixture->now = NRI_SEC;
    fixture->host = (struct nri_host){fixture, host_now, host_random};
    nri_log_init(&fixture->log, log_record, fixture, NRI_LOG_INFO);
    fixture->config = (struct nri_rt_config){
        .name = "testing",
        .version = "1.0",
        .nri_version = "v0.12.2",
        .ops = {.size = sizeof fixture->config.ops,
                .enumerate = enumerate,
                .update = update,
                .evict = evict,
                .plugin_connected = connected,
                .plugin_lost = lost},
        .user = fixture,
        .alloc = fail_alloc_resolved(&fixture->alloc),
        .host = &fixture->host,
        .log = &fixture->log,
        .registration_timeout = 5 * NRI_SEC,
        .request_timeout = 2 * NRI_SEC,
        .max_outstanding = 1,
        .max_plugins = RT_PLUGINS,
        .max_calls = 32,
        .max_merge_bytes = (size_t)16 << 20,
        .max_sync_bytes = (size_t)64 << 20,
    };
    nri_rpc_limits_default(&fixture->config.limits);
    *state = fixture;
    return 0;
}

static void end_plugin(struct rt_plugin *plugin)
{
    while (plugin->held_count > 0)
        nri_request_unref(plugin->held[--plugin->held_count]);
    if (plugin->peer != NULL)
        nri_rt_ended(plugin->peer, NRI_E_CLOSED, "the test ends", plugin->fixture->now);
    plugin->peer = NULL;
    if (!plugin->gone)
        nri_core_disconnected(plugin->core, NRI_E_CLOSED, "the test ends", NRI_NO_ATTEMPT,
                              plugin->fixture->now);
    nri_core_free(plugin->core);
    rpc_link_fini(&plugin->link);
}

int rt_teardown(void **state)
{
    struct rt_fixture *fixture = *state;

    for (size_t i = 0; i < fixture->plugin_count; i++)
        end_plugin(&fixture->plugins[i]);
    if (fixture->rt != NULL) {
        nri_rt_shutdown(fixture->rt, NRI_SEC, fixture->now);
        nri_rt_process(fixture->rt, fixture->now);
    }
    for (size_t i = 0; i < fixture->called; i++)
        nri_outcome_unref(fixture->done[i].outcome);
    nri_rt_free(fixture->rt);
    for (size_t i = 0; i < fixture->pod_count; i++)
        nri_pod_free(fixture->pods[i]);
    for (size_t i = 0; i < fixture->container_count; i++)
        nri_container_free(fixture->containers[i]);
    const size_t live = fixture->alloc.live_blocks;
    free(fixture);
    return live == 0 ? 0 : -1;
}

void rt_start(struct rt_fixture *fixture)
{
    assert_int_equal(nri_rt_new(&fixture->rt, &fixture->config, NULL), 0);
}

/* ---- plugins ---- */

static void note(struct rt_plugin *plugin, nri_request *request)
{
    const char *id = nri_container_id(nri_request_container(request));
    char text[128];

    if (id[0] == '\0')
        id = nri_pod_id(nri_request_pod(request));
    (void)snprintf(text, sizeof text, "%s(%s)", nri_event_name(nri_request_event(request)), id);
    append(plugin->seen, sizeof plugin->seen, text);
}

static int on_event(nri_request *request, void *user)
{
    struct rt_plugin *plugin = user;

    note(plugin, request);
    plugin->fixture->current = plugin;
    const int code = plugin->handler == NULL ? 0 : plugin->handler(request, plugin->fixture);
    if (code == NRI_PENDING)
        plugin->held[plugin->held_count++] = request;
    return code;
}

static int on_configure(nri_request *request, void *user)
{
    struct rt_plugin *plugin = user;

    (void)request;
    plugin->configured++;
    return 0;
}

static int on_synchronize(nri_request *request, void *user)
{
    struct rt_plugin *plugin = user;

    plugin->syncs++;
    plugin->synced_pods = nri_request_pod_count(request);
    plugin->synced_containers = nri_request_container_count(request);
    return on_event(request, user);
}

static int on_shutdown(nri_request *request, void *user)
{
    struct rt_plugin *plugin = user;

    note(plugin, request);
    if (plugin->deaf)
        plugin->held[plugin->held_count++] = request;
    return plugin->deaf ? NRI_PENDING : 0;
}

static void set_handlers(struct nri_plugin_ops *ops, uint32_t events)
{
    const struct {
        enum nri_event event;
        nri_handler *handler;
    } table[] = {
        {NRI_EVENT_RUN_POD_SANDBOX, &ops->on_run_pod_sandbox},
        {NRI_EVENT_UPDATE_POD_SANDBOX, &ops->on_update_pod_sandbox},
        {NRI_EVENT_POST_UPDATE_POD_SANDBOX, &ops->on_post_update_pod_sandbox},
        {NRI_EVENT_STOP_POD_SANDBOX, &ops->on_stop_pod_sandbox},
        {NRI_EVENT_REMOVE_POD_SANDBOX, &ops->on_remove_pod_sandbox},
        {NRI_EVENT_CREATE_CONTAINER, &ops->on_create_container},
        {NRI_EVENT_POST_CREATE_CONTAINER, &ops->on_post_create_container},
        {NRI_EVENT_START_CONTAINER, &ops->on_start_container},
        {NRI_EVENT_POST_START_CONTAINER, &ops->on_post_start_container},
        {NRI_EVENT_UPDATE_CONTAINER, &ops->on_update_container},
        {NRI_EVENT_POST_UPDATE_CONTAINER, &ops->on_post_update_container},
        {NRI_EVENT_STOP_CONTAINER, &ops->on_stop_container},
        {NRI_EVENT_REMOVE_CONTAINER, &ops->on_remove_container},
        {NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT, &ops->on_validate_adjustment},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if ((events & nri_event_bit(table[i].event)) != 0)
            *table[i].handler = on_event;
    }
}

/* The ends of a link. */
static int peer_input(void *context, const uint8_t *bytes, size_t count, uint64_t now)
{
    const struct rt_plugin *plugin = context;

    if (plugin->peer != NULL)
        nri_rt_input(plugin->peer, bytes, count, now);
    return 0;
}

static void peer_output(void *context, const uint8_t **bytes, size_t *count)
{
    const struct rt_plugin *plugin = context;

    *count = 0;
    if (plugin->peer != NULL)
        nri_rt_output(plugin->peer, bytes, count);
}

static void peer_written(void *context, size_t count)
{
    const struct rt_plugin *plugin = context;

    nri_rt_written(plugin->peer, count);
}

static int core_input(void *context, const uint8_t *bytes, size_t count, uint64_t now)
{
    const struct rt_plugin *plugin = context;

    if (plugin->tap != NULL)
        assert_int_equal(go_reader_feed(plugin->tap, bytes, count), 0);
    nri_core_input(plugin->core, bytes, count, now);
    return 0;
}

static void core_output(void *context, const uint8_t **bytes, size_t *count)
{
    const struct rt_plugin *plugin = context;

    nri_core_output(plugin->core, bytes, count);
}

static void core_written(void *context, size_t count)
{
    const struct rt_plugin *plugin = context;

    nri_core_written(plugin->core, count);
}

struct rt_plugin *rt_plugin(struct rt_fixture *fixture, const char *index, const char *name,
                            uint32_t events, rt_handler handler)
{
    return rt_plugin_of(fixture, NRI_ORIGIN_EXTERNAL, index, name, events, handler);
}

struct rt_plugin *rt_plugin_of(struct rt_fixture *fixture, enum nri_plugin_origin kind,
                               const char *index, const char *name, uint32_t events,
                               rt_handler handler)
{
    struct rt_plugin *plugin = &fixture->plugins[fixture->plugin_count++];
    const bool launched = kind == NRI_ORIGIN_LAUNCHED;
    const struct nri_rt_origin origin = {.kind = kind,
                                         .name = launched ? name : NULL,
                                         .index = launched ? index : NULL,
                                         .peer = "a test"};
    struct nri_core_config config = {
        .ops = &plugin->ops,
        .name = name,
        .index = index,
        .peer = "a test",
        .user = plugin,
        .alloc = fail_alloc_resolved(&fixture->alloc),
        .host = &fixture->host,
        .log = &plugin->log,
        .registration_timeout = 5 * NRI_SEC,
        .max_sync_bytes = (size_t)256 << 20,
        .max_sync_parts = 65536,
        .max_queued_updates = 4,
    };

    nri_rpc_limits_default(&config.limits);
    plugin->fixture = fixture;
    plugin->name = name;
    plugin->handler = handler;
    plugin->ops = (struct nri_plugin_ops){.size = sizeof plugin->ops,
                                          .on_configure = on_configure,
                                          .on_synchronize = on_synchronize,
                                          .on_shutdown = on_shutdown};
    set_handlers(&plugin->ops, events);
    assert_int_equal(nri_core_new(&plugin->core, &config, NULL), 0);
    assert_int_equal(nri_core_connected(plugin->core, fixture->now, NULL), 0);
    assert_int_equal(nri_rt_attach(fixture->rt, &origin, fixture->now, &plugin->peer, NULL), 0);
    rpc_link_init(&plugin->link, (struct rpc_end){plugin, peer_input, peer_output, peer_written},
                  (struct rpc_end){plugin, core_input, core_output, core_written});
    return plugin;
}

/* What lib/io does for each connection. */
static bool turn(struct rt_plugin *plugin)
{
    struct rt_fixture *fixture = plugin->fixture;
    bool moved = false;

    if (!plugin->gone)
        nri_core_drain(plugin->core, fixture->now);
    if (plugin->peer != NULL && !plugin->stalled) {
        plugin->link.now = fixture->now;
        moved = rpc_link_run(&plugin->link) > 0;
    }
    if (plugin->peer != NULL && nri_rt_should_close(plugin->peer)) {
        nri_rt_ended(plugin->peer, 0, "", fixture->now);
        plugin->peer = NULL;
        moved = true;
    }
    return moved;
}

void rt_settle(struct rt_fixture *fixture)
{
    bool moved = true;

    while (moved) {
        nri_rt_process(fixture->rt, fixture->now);
        moved = false;
        for (size_t i = 0; i < fixture->plugin_count; i++)
            moved = turn(&fixture->plugins[i]) || moved;
    }
}

void rt_pass(struct rt_fixture *fixture, uint64_t milliseconds)
{
    const uint64_t end = fixture->now + milliseconds * NRI_MSEC;

    while (fixture->now < end) {
        fixture->now += STEP;
        if (nri_rt_deadline(fixture->rt) <= fixture->now)
            nri_rt_tick(fixture->rt, fixture->now);
        rt_settle(fixture);
    }
}

void rt_kill(struct rt_plugin *plugin)
{
    nri_rt_ended(plugin->peer, NRI_E_CLOSED, "the peer closed", plugin->fixture->now);
    plugin->peer = NULL;
    nri_core_disconnected(plugin->core, NRI_E_CLOSED, "the test closed", NRI_NO_ATTEMPT,
                          plugin->fixture->now);
    plugin->gone = true;
}

void rt_release(struct rt_plugin *plugin, int code)
{
    nri_request *request = plugin->held[0];

    plugin->held_count--;
    memmove(plugin->held, plugin->held + 1, plugin->held_count * sizeof *plugin->held);
    (void)nri_request_complete(request, code);
    nri_request_unref(request);
}

/* ---- events ---- */

nri_pod *rt_pod(const char *id)
{
    nri_pod *pod;

    assert_int_equal(nri_pod_new(&pod, NULL), 0);
    assert_int_equal(nri_pod_set_id(pod, id), 0);
    return pod;
}

nri_container *rt_container(const char *id, const char *pod)
{
    nri_container *container;

    assert_int_equal(nri_container_new(&container, NULL), 0);
    assert_int_equal(nri_container_set_id(container, id), 0);
    assert_int_equal(nri_container_set_pod_sandbox_id(container, pod), 0);
    return container;
}

static void on_done(nri_runtime *runtime, nri_outcome *outcome, void *user)
{
    struct rt_done *done = user;

    (void)runtime;
    done->count++;
    done->outcome = nri_outcome_ref(outcome);
    done->code = nri_outcome_code(outcome);
}

struct rt_done *rt_call_with(struct rt_fixture *fixture, const struct nri_runtime_event *event)
{
    struct rt_done *done = &fixture->done[fixture->called++];

    assert_int_equal(nri_rt_call(fixture->rt, event, on_done, done, fixture->now, NULL), 0);
    return done;
}

struct rt_done *rt_call(struct rt_fixture *fixture, enum nri_event event, const nri_pod *pod,
                        const nri_container *container)
{
    const struct nri_runtime_event e = {
        .size = sizeof e, .event = event, .pod = pod, .container = container};

    return rt_call_with(fixture, &e);
}
