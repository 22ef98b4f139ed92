/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin's calls to the runtime, and how it gets into the chain: RegisterPlugin comes in,
 * Configure goes out, its reply has the events.
 *
 * Failure modes, each of which ends the connection: a name or an index that is none, a second
 * registration, events that no NRI has, a refused or late Configure. One plugin's registration
 * delays no other's.
 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "model/model.h"
#include "runtime/internal.h"
#include "wire/message.h"

#define METHOD_REGISTER_PLUGIN 0u
#define MAX_VERSION            256u /* bytes */

/* The methods of their own for notifications came with this version. */
static bool knows_dedicated(const char *version)
{
    unsigned number[3];

    if (!nri_version_parse(version, number))
        return false;
    return number[0] > 0 || number[1] >= 12;
}

/* Whether the runtime is one of that minor version of NRI, or newer. */
static bool is_since(const struct nri_rt *rt, unsigned minor)
{
    unsigned number[3];

    if (!nri_version_parse(rt->config.nri_version, number))
        return true;
    return number[0] > 0 || number[1] >= minor;
}

/* ---- Configure ---- */

static void enter_chain(nri_runtime_plugin *plugin, uint32_t events)
{
    struct nri_rt *rt = plugin->rt;
    char names[512];

    plugin->events = events;
    plugin->state = NRI_RT_READY_TO_SYNC;
    plugin->since = rt->now;
    plugin->first_event = rt->next_event + 1;
    nri_rt_plugin_insert(plugin);
    (void)nri_event_mask_format(events, names, sizeof names);
    nri_rt_plugin_log(plugin, NULL, NRI_LOG_INFO, "plugin %s: configured; events: %s", plugin->id,
                      names);
}

static uint32_t known_events(const struct nri_rt *rt)
{
    /* As of a version that cannot be read. */
    return is_since(rt, 12) ? NRI_EVENTS_ALL : nri_version_events(rt->config.nri_version);
}

static void configured(void *user, const struct nri_rpc_result *result)
{
    nri_runtime_plugin *plugin = user;

    if (plugin->closing || plugin->state != NRI_RT_CONFIGURING)
        return;
    if (result->code != 0) {
        nri_rt_drop(plugin, result->code, "Configure: %s", result->text);
        return;
    }
    const NRI_RT_MESSAGE(ConfigureResponse) *reply =
        (const NRI_RT_MESSAGE(ConfigureResponse) *)result->message;
    const uint32_t events = (uint32_t)reply->events, known = known_events(plugin->rt);
    if ((events & ~known) != 0) {
        nri_rt_drop(plugin, NRI_E_PROTOCOL, "invalid plugin events: 0x%" PRIx32, events & ~known);
        return;
    }
    enter_chain(plugin, events == 0 ? known : events);
}

static void configure(nri_runtime_plugin *plugin)
{
    const struct nri_rt *rt = plugin->rt;
    struct nri_error error;
    NRI_RT_MESSAGE(ConfigureRequest) request;

    /* Packing only reads. */
    nri__pkg__api__v1alpha1__configure_request__init(&request);
    request.config = (char *)(uintptr_t)plugin->config;
    request.runtime_name = (char *)(uintptr_t)rt->config.name;
    request.runtime_version = (char *)(uintptr_t)rt->config.version;
    if (is_since(rt, 12))
        request.nri_version = (char *)(uintptr_t)rt->config.nri_version;
    if (is_since(rt, 7)) {
        request.registration_timeout = (int64_t)(rt->config.registration_timeout / NRI_MSEC);
        request.request_timeout = (int64_t)(rt->config.request_timeout / NRI_MSEC);
    }
    plugin->state = NRI_RT_CONFIGURING;
    const uint64_t left =
        plugin->registration_deadline > rt->now ? plugin->registration_deadline - rt->now : 1;
    const int code =
        nri_rpc_invoke(plugin->rpc, nri_rt_method(NRI_EVENT_CONFIGURE, false), &request.base,
                       rt->now, left, NULL, 0, configured, plugin, &error);
    if (code != 0)
        nri_rt_drop(plugin, code, "Configure: %s", error.text);
}

/* ---- RegisterPlugin ---- */

static int take_identity(nri_runtime_plugin *plugin,
                         const NRI_RT_MESSAGE(RegisterPluginRequest) * request,
                         struct nri_error *error)
{
    if (plugin->named)
        return 0; /* a launched plugin is called what its file is called */
    int code = nri_identity_check_name(request->plugin_name, error);
    if (code == 0)
        code = nri_identity_check_index(request->plugin_idx, error);
    if (code != 0)
        return code;
    const size_t length = nri_message_text_length(request->plugin_name);
    memcpy(plugin->index, request->plugin_idx, sizeof plugin->index);
    const char *name = nri_arena_text(&plugin->arena, request->plugin_name, length);
    const char *prefix = nri_arena_text2(&plugin->arena, plugin->index, 2, "-", 1);
    const char *id = name == NULL || prefix == NULL
                         ? NULL
                         : nri_arena_text2(&plugin->arena, prefix, 3, name, length);
    if (id == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "out of memory for a plugin's name");
    plugin->name = name;
    plugin->id = id;
    return 0;
}

static int take_version(nri_runtime_plugin *plugin, const char *version, struct nri_error *error)
{
    const size_t length = nri_message_text_length(version);

    if (length > MAX_VERSION)
        return nri_error_set(error, NRI_E_INVALID,
                             "NRI version has %zu bytes: must be at most %u, as \"v0.12.2\"",
                             length, MAX_VERSION);
    const char *kept = nri_arena_text(&plugin->arena, version, length);

    if (kept == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "out of memory for a plugin's version");
    plugin->nri_version = kept;
    plugin->dedicated = knows_dedicated(kept) && is_since(plugin->rt, 12);
    return 0;
}

static void register_plugin(nri_runtime_plugin *plugin, struct nri_rpc_call *call)
{
    const NRI_RT_MESSAGE(RegisterPluginRequest) *request =
        (const NRI_RT_MESSAGE(RegisterPluginRequest) *)nri_rpc_call_message(call);
    NRI_RT_MESSAGE(Empty) empty;
    struct nri_error error;
    int code = 0;

    if (plugin->state != NRI_RT_REGISTERING)
        code = nri_error_set(&error, NRI_E_STATE, "RegisterPlugin: registered already");
    if (code == 0)
        code = take_identity(plugin, request, &error);
    if (code == 0)
        code = take_version(plugin, request->nri_version, &error);
    if (code != 0) {
        (void)nri_rpc_call_refuse(call, nri_error_grpc(code), error.text);
        nri_rt_drop(plugin, code, "refused to register it: %s", error.text);
        return;
    }
    nri__pkg__api__v1alpha1__empty__init(&empty);
    (void)nri_rpc_call_reply(call, &empty.base, NULL);
    nri_rt_plugin_log(plugin, NULL, NRI_LOG_INFO, "plugin %s: registered, pid %lld, NRI %s",
                      plugin->id, (long long)plugin->pid,
                      plugin->nri_version[0] == '\0' ? "not told" : plugin->nri_version);
    configure(plugin);
}

void nri_rt_request(void *user, struct nri_rpc_call *call)
{
    nri_runtime_plugin *plugin = user;

    if (plugin->closing) {
        (void)nri_rpc_call_refuse(call, nri_error_grpc(NRI_E_CLOSED), "the connection is closing");
        nri_rpc_call_release(call);
    } else if (nri_rpc_call_method(call) == METHOD_REGISTER_PLUGIN) {
        register_plugin(plugin, call);
        nri_rpc_call_release(call);
    } else {
        nri_rt_update_request(plugin, call);
    }
}
