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

static const struct nri_told nothing = {
    .runtime_name = protobuf_c_empty_string,
    .runtime_version = protobuf_c_empty_string,
    .nri_version = NRI_UNKNOWN_VERSION,
};

static void free_told(struct nri_task *task)
{
    struct nri_told *told = (void *)task;
    const struct nri_alloc alloc = told->alloc;

    nri_arena_fini(&told->arena);
    nri_alloc_release(&alloc, told);
}

static struct nri_told *make_told(const struct nri_core *core)
{
    struct nri_told *told = nri_alloc_zero(&core->alloc, sizeof *told);

    if (told == NULL)
        return NULL;
    told->task.run = free_told;
    told->alloc = core->alloc;
    /* Three texts of one message, whose size is limited. */
    nri_arena_init(&told->arena, &core->alloc, 256, SIZE_MAX);
    return told;
}

/* A handler that runs on its own thread may have the texts in its hands: they go when that thread
 * has come to this task. */
static void publish(struct nri_core *core, const struct nri_told *told)
{
    const struct nri_told *before = atomic_exchange(&core->told, told);

    if (before == &nothing)
        return;
    struct nri_task *task = (struct nri_task *)(uintptr_t)&before->task; /* made by make_told() */
    if (core->config.queue != NULL)
        core->config.queue(core->config.queue_user, task);
    else
        free_told(task);
}

void nri_configure_init(struct nri_core *core)
{
    atomic_init(&core->told, &nothing);
    nri_configure_reset(core);
}

void nri_configure_reset(struct nri_core *core)
{
    publish(core, &nothing);
    core->registration_timeout_ms = 0;
    core->request_timeout_ms = 0;
    core->wanted = core->derived;
    core->events = core->derived | core->state_events;
}

void nri_configure_fini(struct nri_core *core)
{
    const struct nri_told *told = atomic_exchange(&core->told, &nothing);

    if (told != &nothing)
        free_told((struct nri_task *)(uintptr_t)&told->task);
}

static uint64_t milliseconds(int64_t value)
{
    /* What does not fit into nanoseconds is as good as none. */
    return value > 0 && (uint64_t)value < NRI_NEVER / NRI_MSEC ? (uint64_t)value : 0;
}

static const char *keep(struct nri_told *told, const char *text)
{
    return nri_arena_text(&told->arena, text, nri_message_text_length(text));
}

static int take_told(struct nri_core *core, const MESSAGE(ConfigureRequest) * message)
{
    nri_configure_reset(core);
    struct nri_told *told = make_told(core);
    if (told == NULL)
        return NRI_E_NOMEM;
    told->runtime_name = keep(told, message->runtime_name);
    told->runtime_version = keep(told, message->runtime_version);
    const char *nri_version = keep(told, message->nri_version);
    if (told->runtime_name == NULL || told->runtime_version == NULL || nri_version == NULL) {
        free_told(&told->task);
        return NRI_E_NOMEM;
    }
    const char *known = nri_version_of(nri_version, told->runtime_name, told->runtime_version);
    told->nri_version = known != NULL ? known : NRI_UNKNOWN_VERSION;
    told->version_inferred = known != NULL && known != nri_version;
    core->registration_timeout_ms = milliseconds(message->registration_timeout);
    core->request_timeout_ms = milliseconds(message->request_timeout);
    publish(core, told);
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

static const char *version_origin(const struct nri_told *told)
{
    return told->version_inferred ? ", inferred" : "";
}

int nri_configure_mask(struct nri_core *core, const nri_request *request, uint32_t *mask,
                       struct nri_error *error)
{
    const struct nri_told *told = atomic_load(&core->told);
    const uint32_t validate = nri_event_bit(NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT);
    const uint32_t clipped = request->events & ~nri_version_events(told->nri_version);
    char names[MASK_TEXT];

    /* The state cache does without what the runtime does not know. */
    *mask = (request->events | core->state_events) & nri_version_events(told->nri_version);
    if (clipped == 0)
        return 0;
    (void)nri_event_mask_format(clipped, names, sizeof names);
    if ((clipped & validate) != 0 && !core->config.allow_missing_validate)
        return nri_error_set(
            error, NRI_E_UNSUPPORTED,
            "ValidateContainerAdjustment needs NRI 0.10; %s %s has NRI %s%s and would never ask "
            "(allow_missing_validate goes on without)",
            told->runtime_name, told->runtime_version, told->nri_version, version_origin(told));
    if (*mask == 0)
        return nri_error_set(error, NRI_E_UNSUPPORTED,
                             "%s %s has NRI %s%s and knows none of the plugin's events: %s",
                             told->runtime_name, told->runtime_version, told->nri_version,
                             version_origin(told), names);
    nri_core_log(core, NRI_LOG_WARN,
                 "%s %s has NRI %s%s and does not know these events, which will not come: %s",
                 told->runtime_name, told->runtime_version, told->nri_version, version_origin(told),
                 names);
    return 0;
}

void nri_configure_done(struct nri_core *core, const nri_request *request, uint32_t mask)
{
    const struct nri_told *told = atomic_load(&core->told);
    char names[MASK_TEXT];

    core->wanted = request->events;
    core->events = mask;
    core->configured = true;
    atomic_store(&core->serves, core->failure.code == 0);
    (void)nri_event_mask_format(mask, names, sizeof names);
    nri_core_log(core, NRI_LOG_INFO, "configured by %s %s, NRI %s%s; events: %s",
                 told->runtime_name, told->runtime_version, told->nri_version, version_origin(told),
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
