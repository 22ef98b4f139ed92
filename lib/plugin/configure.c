/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configure: what the runtime tells of itself, and which events the plugin gets.
 *
 * The happy path: texts and time-outs are taken over -> on_configure, which may narrow the events
 * -> they are clipped to what the runtime's NRI version knows, because an unknown bit makes a
 * runtime drop the plugin -> the mask goes out. Failure modes: on_configure refuses, nothing is
 * left after clipping (0 would mean "all" on the wire), or a validator would never be asked: the
 * refusal goes out, then the plugin ends with the same text.
 */
#include <string.h>

#include "plugin/internal.h"
#include "wire/message.h"

/* Names of all events fit. */
#define MASK_TEXT     512

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type

void nri_configure_reset(struct nri_core *core)
{
    nri_arena_fini(&core->told);
    core->runtime_name = protobuf_c_empty_string;
    core->runtime_version = protobuf_c_empty_string;
    core->nri_version = NRI_UNKNOWN_VERSION;
    core->version_inferred = false;
    core->registration_timeout_ms = 0;
    core->request_timeout_ms = 0;
    core->wanted = core->derived;
    core->events = core->derived | core->state_events;
}

static uint64_t milliseconds(int64_t value)
{
    /* What does not fit into nanoseconds is as good as none. */
    return value > 0 && (uint64_t)value < NRI_NEVER / NRI_MSEC ? (uint64_t)value : 0;
}

static const char *keep(struct nri_core *core, const char *text)
{
    return nri_arena_text(&core->told, text, nri_message_text_length(text));
}

static int take_told(struct nri_core *core, const MESSAGE(ConfigureRequest) * message)
{
    nri_configure_reset(core);
    const char *name = keep(core, message->runtime_name);
    const char *version = keep(core, message->runtime_version);
    const char *nri_version = keep(core, message->nri_version);
    if (name == NULL || version == NULL || nri_version == NULL)
        return NRI_E_NOMEM;
    core->runtime_name = name;
    core->runtime_version = version;
    core->registration_timeout_ms = milliseconds(message->registration_timeout);
    core->request_timeout_ms = milliseconds(message->request_timeout);
    const char *known = nri_version_of(nri_version, name, version);
    if (known != NULL) {
        core->nri_version = known;
        core->version_inferred = known != nri_version;
    }
    return 0;
}

void nri_configure_request(struct nri_core *core, struct nri_rpc_call *call)
{
    static const char nomem[] = "no memory for Configure";
    const struct nri_method *method = &nri_methods[NRI_METHOD_CONFIGURE];

    core->configure_came = true;
    nri_request *request = NULL;
    if (take_told(core, (const MESSAGE(ConfigureRequest) *)nri_rpc_call_message(call)) == 0)
        request = nri_request_make(core, call, NRI_EVENT_CONFIGURE, method, method);
    if (request == NULL) {
        nri_reply_refuse(core, call, NRI_E_NOMEM, nomem);
        nri_core_fail(core, NRI_E_NOMEM, "%s", nomem);
        nri_rpc_call_release(call);
        return;
    }
    request->derived = core->derived;
    request->events = core->derived;
    nri_dispatch_run(core, request, core->ops.on_configure);
}

int nri_request_set_events(nri_request *request, uint32_t mask)
{
    char names[MASK_TEXT];
    int code = 0;

    if (request == NULL)
        return NRI_E_INVALID;
    if (request->event != NRI_EVENT_CONFIGURE) {
        code = NRI_E_EVENT;
        nri_request_failf(request, code, "nri_request_set_events() is for on_configure");
    } else if (mask == 0) {
        code = NRI_E_INVALID;
        nri_request_failf(request, code,
                          "an event mask of 0 means all events on the wire; name one at least");
    } else if ((mask & ~request->derived) != 0) {
        code = NRI_E_INVALID;
        (void)nri_event_mask_format(mask & ~request->derived, names, sizeof names);
        nri_request_failf(request, code, "events without a handler: %s", names);
    } else {
        request->events = mask;
    }
    return code;
}

static const char *version_origin(const struct nri_core *core)
{
    return core->version_inferred ? ", inferred" : "";
}

int nri_configure_mask(struct nri_core *core, const nri_request *request, uint32_t *mask,
                       struct nri_error *error)
{
    const uint32_t validate = nri_event_bit(NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT);
    const uint32_t clipped = request->events & ~nri_version_events(core->nri_version);
    char names[MASK_TEXT];

    /* The state cache does without what the runtime does not know. */
    *mask = (request->events | core->state_events) & nri_version_events(core->nri_version);
    if (clipped == 0)
        return 0;
    (void)nri_event_mask_format(clipped, names, sizeof names);
    if ((clipped & validate) != 0 && !core->config.allow_missing_validate)
        return nri_error_set(
            error, NRI_E_UNSUPPORTED,
            "ValidateContainerAdjustment needs NRI 0.10; %s %s has NRI %s%s and would never ask "
            "(allow_missing_validate goes on without)",
            core->runtime_name, core->runtime_version, core->nri_version, version_origin(core));
    if (*mask == 0)
        return nri_error_set(error, NRI_E_UNSUPPORTED,
                             "%s %s has NRI %s%s and knows none of the plugin's events: %s",
                             core->runtime_name, core->runtime_version, core->nri_version,
                             version_origin(core), names);
    nri_core_log(core, NRI_LOG_WARN,
                 "%s %s has NRI %s%s and does not know these events, which will not come: %s",
                 core->runtime_name, core->runtime_version, core->nri_version, version_origin(core),
                 names);
    return 0;
}

void nri_configure_done(struct nri_core *core, const nri_request *request, uint32_t mask)
{
    char names[MASK_TEXT];

    core->wanted = request->events;
    core->events = mask;
    core->configured = true;
    atomic_store(&core->serves, core->failure.code == 0);
    (void)nri_event_mask_format(mask, names, sizeof names);
    nri_core_log(core, NRI_LOG_INFO, "configured by %s %s, NRI %s%s; events: %s",
                 core->runtime_name, core->runtime_version, core->nri_version, version_origin(core),
                 names);
    nri_core_become_ready(core);
}

void nri_configure_refused(struct nri_core *core, int code, const char *text)
{
    if (code == NRI_E_REJECTED)
        nri_core_fail(core, code, "on_configure refused: %s", text);
    else
        nri_core_fail(core, code, "%s", text);
}
