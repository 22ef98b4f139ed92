/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nri_plugin_new() and what a plugin tells about itself.
 */
#include "io/handle.h"

#include <string.h>

#include "io/host.h"
#include "io/socket.h"
#include "io/stream.h"

static void wake(void *user)
{
    nri_mailbox_ring(user);
}

static void call_letter(void *owner, union nri_letter_fn fn, void *arg)
{
    fn.plugin(owner, arg);
}

static bool wanted(void *user)
{
    return nri_stream_is_wanted(user);
}

static void queue(void *user, struct nri_task *task)
{
    nri_worker_queue(user, task);
}

static int offload(void *user, struct nri_task *task)
{
    return nri_worker_offer(user, task);
}

static int make_worker(const nri_plugin *plugin, unsigned threads, struct nri_worker **made,
                       struct nri_error *error)
{
    const struct nri_alloc *alloc = &plugin->settings.alloc;
    struct nri_worker *worker = nri_alloc_raw(alloc, sizeof *worker);
    if (worker == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "out of memory");
    int rc = nri_worker_init(worker, threads, plugin->settings.limits.max_in_flight, wake,
                             (void *)(uintptr_t)&plugin->mailbox, error);
    if (rc != 0)
        nri_alloc_release(alloc, worker);
    else
        *made = worker;
    return rc;
}

static void end_worker(const nri_plugin *plugin, struct nri_worker *worker)
{
    if (worker != NULL)
        nri_worker_fini(worker);
    nri_alloc_release(&plugin->settings.alloc, worker);
}

void nri_plugin_end_workers(nri_plugin *plugin)
{
    /* Offloaded work may post to the thread of handlers to its end; handlers cannot offload now. */
    end_worker(plugin, plugin->offload);
    end_worker(plugin, plugin->worker);
    plugin->worker = plugin->offload = NULL;
}

static int make_workers(nri_plugin *plugin, struct nri_error *error)
{
    int rc = make_worker(plugin, plugin->settings.offload_threads, &plugin->offload, error);
    if (rc == 0 && plugin->settings.worker)
        rc = make_worker(plugin, 1, &plugin->worker, error);
    if (rc == 0 && plugin->worker != NULL)
        rc = nri_worker_start(plugin->worker, error);
    return rc;
}

static int make_core(nri_plugin *plugin, struct nri_error *error)
{
    const struct nri_settings *settings = &plugin->settings;
    struct nri_core_config config = {
        .ops = &settings->ops,
        .name = settings->name,
        .index = settings->index,
        .peer = settings->peer,
        .user = plugin->user,
        .plugin = plugin,
        .alloc = settings->alloc,
        .host = nri_host_system(),
        .log = &plugin->log,
        .limits = settings->limits,
        .registration_timeout = settings->registration_timeout,
        .call_timeout = settings->call_timeout,
        .max_sync_bytes = settings->max_sync_bytes,
        .max_sync_parts = settings->max_sync_parts,
        .max_queued_updates = settings->max_queued_updates,
        .allow_missing_validate = settings->allow_missing_validate,
        .strict_features = settings->strict_features,
        .deadlines = settings->deadlines,
        .bypass = settings->bypass,
        .state = settings->state,
        .queue = plugin->worker != NULL ? queue : NULL,
        .queue_user = plugin->worker,
        .offload = offload,
        .offload_user = plugin->offload,
        .wake = wake,
        .wake_user = &plugin->mailbox,
        .wanted = wanted,
        .wanted_user = plugin,
    };
    return nri_core_new(&plugin->core, &config, error);
}

/* Takes the settings over on success. */
static int make_plugin(nri_plugin **made, struct nri_settings *settings, void *user,
                       struct nri_error *error)
{
    nri_plugin *plugin = nri_alloc_zero(&settings->alloc, sizeof *plugin);
    if (plugin == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "out of memory");
    plugin->settings = *settings;
    plugin->user = user;
    plugin->stream.fd = -1;
    atomic_init(&plugin->peer_code, NRI_E_STATE);
    nri_log_init(&plugin->log, settings->log, settings->log_user, settings->log_level);
    plugin->log.plugin = settings->label;
    plugin->input = nri_alloc_raw(&settings->alloc, NRI_INPUT_SIZE);
    int rc = plugin->input != NULL ? 0 : nri_error_set(error, NRI_E_NOMEM, "out of memory");
    if (rc != 0)
        goto fail_input;
    rc = nri_mailbox_init(&plugin->mailbox, &settings->alloc, call_letter, error);
    if (rc != 0)
        goto fail_mailbox;
    rc = make_workers(plugin, error);
    if (rc == 0)
        rc = make_core(plugin, error);
    if (rc != 0)
        goto fail_core;
    /* Last: on an error a given descriptor is to be as it was. */
    if (settings->fd >= 0)
        rc = nri_socket_adopt(settings->fd, error);
    if (rc != 0)
        goto fail_adopt;
    *made = plugin;
    return 0;

fail_adopt:
    nri_core_free(plugin->core);
fail_core:
    nri_plugin_end_workers(plugin);
    nri_mailbox_fini(&plugin->mailbox);
fail_mailbox:
    nri_alloc_release(&settings->alloc, plugin->input);
fail_input:
    nri_alloc_release(&settings->alloc, plugin);
    return rc;
}

int nri_plugin_new(nri_plugin **plugin, const struct nri_plugin_ops *ops,
                   const struct nri_plugin_options *options, void *user, nri_error **error)
{
    struct nri_settings settings;
    struct nri_error why;
    if (plugin == NULL)
        return NRI_E_INVALID;
    nri_error_clear(&why);
    int rc = nri_settings_resolve(&settings, ops, options, &why);
    if (rc == 0) {
        rc = make_plugin(plugin, &settings, user, &why);
        if (rc != 0)
            nri_settings_fini(&settings);
    }
    if (rc != 0)
        nri_error_export(&why, &settings.alloc, error);
    return rc;
}

int nri_plugin_update_containers(nri_plugin *plugin, const nri_updates *updates,
                                 const struct nri_call_options *options, nri_update_fn callback,
                                 void *user)
{
    struct nri_call_options known;
    uint64_t timeout = 0;
    if (plugin == NULL)
        return NRI_E_INVALID;
    struct nri_error *error = nri_plugin_error_place(plugin);
    if (updates == NULL)
        return nri_error_set(error, NRI_E_INVALID, "there is no list of updates");
    int rc = nri_settings_call(&known, options, &timeout, error);
    if (rc != 0)
        return rc;
    const struct nri_update_options checked = {.timeout = timeout,
                                               .metadata = known.metadata,
                                               .metadata_count = (size_t)known.metadata_count,
                                               .waits = known.queue != 0};
    if (plugin->worker != NULL || (checked.waits && !nri_core_serves(plugin->core)))
        return nri_core_update_later(plugin->core, updates, &checked, callback, user,
                                     nri_host_now(), error);
    return nri_core_update_containers(plugin->core, updates, timeout, checked.metadata,
                                      checked.metadata_count, callback, user, nri_host_now(),
                                      error);
}

enum nri_plugin_state nri_plugin_get_state(const nri_plugin *plugin)
{
    if (plugin == NULL)
        return NRI_PLUGIN_IDLE;
    const enum nri_phase phase = plugin->stream.phase;
    switch (phase) {
    case NRI_PHASE_CONNECTING:
        return NRI_PLUGIN_CONNECTING;
    case NRI_PHASE_CONNECTED:
        return nri_core_state(plugin->core);
    case NRI_PHASE_DRAINING:
        return plugin->stream.again ? NRI_PLUGIN_CONNECTING : NRI_PLUGIN_STOPPING;
    case NRI_PHASE_FLUSHING:
    case NRI_PHASE_CLOSING:
        return NRI_PLUGIN_STOPPING;
    case NRI_PHASE_IDLE:
        break;
    }
    return NRI_PLUGIN_IDLE;
}

int nri_plugin_peer(const nri_plugin *plugin, int64_t *pid, int64_t *uid, int64_t *gid)
{
    if (plugin == NULL)
        return NRI_E_INVALID;
    int code = atomic_load(&plugin->peer_code);
    if (code != 0)
        return code;
    if (pid != NULL)
        *pid = atomic_load(&plugin->peer_pid);
    if (uid != NULL)
        *uid = atomic_load(&plugin->peer_uid);
    if (gid != NULL)
        *gid = atomic_load(&plugin->peer_gid);
    return 0;
}

const char *nri_plugin_name(const nri_plugin *plugin)
{
    return plugin == NULL ? "" : plugin->settings.name;
}

const char *nri_plugin_index(const nri_plugin *plugin)
{
    return plugin == NULL ? "" : plugin->settings.index;
}

void *nri_plugin_user(const nri_plugin *plugin)
{
    return plugin == NULL ? NULL : plugin->user;
}

uint32_t nri_plugin_events(const nri_plugin *plugin)
{
    return plugin == NULL ? 0 : nri_core_events(plugin->core);
}

const char *nri_plugin_runtime_name(const nri_plugin *plugin)
{
    return plugin == NULL ? "" : nri_core_runtime_name(plugin->core);
}

const char *nri_plugin_runtime_version(const nri_plugin *plugin)
{
    return plugin == NULL ? "" : nri_core_runtime_version(plugin->core);
}

const char *nri_plugin_runtime_nri_version(const nri_plugin *plugin)
{
    return plugin == NULL ? "" : nri_core_nri_version(plugin->core);
}

bool nri_plugin_nri_version_is_inferred(const nri_plugin *plugin)
{
    return plugin != NULL && nri_core_nri_version_inferred(plugin->core);
}

uint64_t nri_plugin_registration_timeout_ms(const nri_plugin *plugin)
{
    return plugin == NULL ? 0 : nri_core_registration_timeout_ms(plugin->core);
}

uint64_t nri_plugin_request_timeout_ms(const nri_plugin *plugin)
{
    return plugin == NULL ? 0 : nri_core_request_timeout_ms(plugin->core);
}

bool nri_plugin_supports(const nri_plugin *plugin, enum nri_feature feature)
{
    return plugin != NULL && nri_core_supports(plugin->core, feature);
}

/* A handler's thread has an error of its own: the loop goes on meanwhile. */
struct nri_error *nri_plugin_error_place(nri_plugin *plugin)
{
    return nri_worker_is_mine(plugin->worker) ? &plugin->handler_error : &plugin->error;
}

const nri_error *nri_plugin_last_error(const nri_plugin *plugin)
{
    if (plugin == NULL)
        return NULL;
    const struct nri_error *error =
        nri_worker_is_mine(plugin->worker) ? &plugin->handler_error : &plugin->error;
    return error->code != 0 ? error : NULL;
}

struct handler_letter {
    struct nri_task task; /* first */
    nri_plugin *plugin;
    void (*fn)(nri_plugin *plugin, void *arg);
    void *arg;
};

static void run_letter(struct nri_task *task)
{
    struct handler_letter *letter = (void *)task;
    letter->fn(letter->plugin, letter->arg);
    nri_alloc_release(&letter->plugin->settings.alloc, letter);
}

int nri_plugin_post_handler(nri_plugin *plugin, void (*fn)(nri_plugin *plugin, void *arg),
                            void *arg)
{
    if (plugin == NULL || fn == NULL)
        return NRI_E_INVALID;
    if (plugin->worker == NULL)
        return nri_plugin_post(plugin, fn, arg);
    struct handler_letter *letter = nri_alloc_raw(&plugin->settings.alloc, sizeof *letter);
    if (letter == NULL)
        return NRI_E_NOMEM;
    *letter = (struct handler_letter){
        .task = {.run = run_letter}, .plugin = plugin, .fn = fn, .arg = arg};
    nri_worker_queue(plugin->worker, &letter->task);
    return 0;
}

void nri_plugin_set_bypass(nri_plugin *plugin, bool bypass)
{
    if (plugin != NULL)
        nri_core_set_bypass(plugin->core, bypass);
}

bool nri_plugin_bypass(const nri_plugin *plugin)
{
    return plugin != NULL && nri_core_bypass(plugin->core);
}

bool nri_plugin_is_wedged(const nri_plugin *plugin)
{
    return plugin != NULL && nri_core_is_wedged(plugin->core, nri_host_now());
}

bool nri_plugin_is_synchronized(const nri_plugin *plugin)
{
    return plugin != NULL && nri_core_is_synchronized(plugin->core);
}
