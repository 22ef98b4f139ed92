/* SPDX-License-Identifier: Apache-2.0 */
/* What the runtime asks of the node, and tells it. */
#include <stdlib.h>
#include <string.h>

#include "node_inside.h"
#include "revision.h"

bool node_sends(const struct node *node, enum nri_event event)
{
    return !node->imitates || (node->imitate.sends & (1u << ((unsigned)event - 1))) != 0;
}

bool node_tells_status(const struct node *node)
{
    return !node->imitate.no_status;
}

/* ---- Synchronize ---- */

/* Go's runtimes leave out containers that have ended, and pod sandboxes that do not yet run. */
static int enumerate(nri_runtime *runtime, nri_enumeration *list, void *user)
{
    struct node *node = user;
    int code = 0;
    (void)runtime;
    for (struct store_pod *at = node->store.first; code == 0 && at != NULL; at = at->next) {
        if (at->state != STORE_POD_STARTING && node_sends(node, NRI_EVENT_RUN_POD_SANDBOX))
            code = nri_enumeration_add_pod(list, at->pod);
    }
    struct store_container *at = NULL;
    while (code == 0 && (at = store_next_container(&node->store, NULL, at)) != NULL) {
        if (at->state == STORE_CREATED || at->state == STORE_RUNNING)
            code = nri_enumeration_add_container(list, at->now->container);
    }
    return code;
}

/* ---- updates and evictions ---- */

bool node_apply_update(struct node *node, const nri_update *update)
{
    const char *id = nri_update_container_id(update);
    struct store_container *container = nri_map_get(&node->store.containers, id, strlen(id));
    nri_container *next = NULL;
    if (container == NULL ||
        (container->state != STORE_CREATED && container->state != STORE_RUNNING))
        return false;
    if (revision_update(container->now->container, nri_update_resources(update), &next, NULL) != 0)
        return false;
    return store_replace(container, next) == 0;
}

static const char *plugin_of(const nri_runtime_update *wish)
{
    return nri_runtime_plugin_id(nri_runtime_update_plugin(wish));
}

static int on_update(nri_runtime *runtime, nri_runtime_update *wish, void *user)
{
    struct node *node = user;
    const nri_updates *list = nri_runtime_update_list(wish);
    const size_t count = nri_updates_count(list);
    const char **failed = count == 0 ? NULL : calloc(count, sizeof *failed);
    size_t failed_count = 0;
    (void)runtime;
    if (count > 0 && failed == NULL)
        return NRI_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const nri_update *update = nri_updates_at(list, i);
        if (node_apply_update(node, update))
            continue;
        failed[failed_count++] = nri_update_container_id(update);
        (void)nri_runtime_update_fail(wish, nri_update_container_id(update));
    }
    if (node->watch.updated != NULL)
        node->watch.updated(node, plugin_of(wish), list, failed, failed_count,
                            nri_runtime_update_is_sync(wish), node->user);
    free(failed);
    return 0;
}

static void on_evict(nri_runtime *runtime, nri_runtime_plugin *plugin, const char *container_id,
                     const char *reason, void *user)
{
    (void)runtime;
    node_evict(user, container_id, nri_runtime_plugin_id(plugin), reason);
}

/* ---- plugins ---- */

static void on_connected(nri_runtime *runtime, nri_runtime_plugin *plugin, void *user)
{
    struct node *node = user;
    (void)runtime;
    if (node->watch.connected != NULL)
        node->watch.connected(node, plugin, node->user);
    child_connected(node, plugin);
    slow_reader_connected(node, plugin);
}

static void on_lost(nri_runtime *runtime, nri_runtime_plugin *plugin, int code, const char *text,
                    void *user)
{
    struct node *node = user;
    (void)runtime;
    if (node->watch.lost != NULL)
        node->watch.lost(node, plugin, code, text, node->user);
}

static void on_ready(nri_runtime *runtime, void *user)
{
    struct node *node = user;
    const struct node_result result = {.text = "", .done = true};
    const node_done restarted = node->restarted;
    (void)runtime;
    if (node->phase != NODE_STARTING)
        return;
    node->phase = NODE_READY;
    node->restarted = NULL;
    if (node->watch.ready != NULL)
        node->watch.ready(node, node->user);
    if (restarted != NULL)
        restarted(node, &result, node->restarted_user);
    if (node->phase == NODE_READY)
        operation_resume(node);
}

/* ---- making it ---- */

static uint64_t either(uint64_t given, uint64_t imitated)
{
    return given != 0 ? given : imitated;
}

static void fill_imitated(const struct node *node, struct nri_runtime_options *options)
{
    const struct imitate *imitate = &node->imitate;
    options->registration_timeout_ms =
        either(node->registration_timeout_ms, imitate->registration_timeout_ms);
    options->request_timeout_ms = either(node->request_timeout_ms, imitate->request_timeout_ms);
    if (!node->imitates)
        return;
    options->name = imitate->name;
    options->version = imitate->version;
    options->nri_version = imitate->nri;
    options->go_compatible = imitate->go_compatible;
    memcpy(options->merge_policy, imitate->merge_policy, sizeof options->merge_policy);
}

int node_make_runtime(struct node *node, nri_error **error)
{
    struct nri_runtime_ops ops;
    struct nri_runtime_options options;
    nri_runtime_ops_init(&ops, sizeof ops);
    ops.enumerate = enumerate;
    if (!node->imitate.no_updates) {
        ops.update = on_update;
        ops.evict = on_evict;
    }
    ops.plugin_connected = on_connected;
    ops.plugin_lost = on_lost;
    ops.ready = on_ready;
    nri_runtime_options_init(&options, sizeof options);
    fill_imitated(node, &options);
    options.socket_path = node->socket;
    options.no_launch = node->plugin_directory == NULL;
    options.plugin_directory = node->plugin_directory;
    options.config_directory = node->config_directory;
    options.validator_config = node->validator_config;
    options.failure = node->has_failure ? &node->failure : NULL;
    options.log = node->log;
    options.log_user = node->log_user;
    options.log_level = node->log_level;
    options.max_plugins = 1024;
    options.max_calls = 65536;
    return nri_runtime_new(&node->runtime, &ops, &options, node, error);
}
