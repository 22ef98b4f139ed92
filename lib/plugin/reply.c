/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies: what a request's builders hold becomes the response message, or its refusal a status.
 *
 * The happy path: no failure anywhere -> the message of the method's response type. Failure modes:
 * the handler's refusal, a builder's sticky error, a feature that the runtime lacks (strict), a
 * Configure that cannot be: refused with the text. A refused ValidateContainerAdjustment is a
 * success that says "reject", which is what runtimes understand as a veto.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "plugin/internal.h"

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type

/* "NN-name refused EVENT: " and the longest text that the library makes: nothing is cut. */
#define NAMED_SIZE (NRI_LABEL_SIZE + 64 + NRI_ERROR_TEXT_SIZE)

/* Room for any response message of the service. */
union response {
    ProtobufCMessage base;
    MESSAGE(ConfigureResponse) configure;
    MESSAGE(SynchronizeResponse) synchronize;
    MESSAGE(CreateContainerResponse) create;
    MESSAGE(UpdateContainerResponse) update;
    MESSAGE(StopContainerResponse) stop;
    MESSAGE(ValidateContainerAdjustmentResponse) validate;
};

static void response_init(union response *response, const struct nri_rpc_call *call)
{
    const ProtobufCMessageDescriptor *type =
        nri__pkg__api__v1alpha1__plugin__descriptor.methods[nri_rpc_call_method(call)].output;

    protobuf_c_message_init(type, &response->base);
}

/* ---- what speaks against a success ---- */

struct verdict {
    int code;
    const char *text;
    bool is_own;            /* the text is the library's, not the plugin's author's */
    bool is_bare;           /* there was none but the code's */
    bool is_after;          /* the library's own, after a handler that succeeded */
    struct nri_error error; /* where the text is made */
};

static void builder_error(const nri_request *request, int code, struct verdict *verdict)
{
    const int adjustment = request->adjustment_error;
    const int updates = request->updates_error;

    /* A handler that ends in `return nri_adjustment_add_env(...)` hands on the code; the builder
     * has the text. */
    if (adjustment != 0 && (code == 0 || code == adjustment)) {
        verdict->code = adjustment;
        verdict->text = nri_adjustment_error_text(request->adjustment);
    } else if (updates != 0 && (code == 0 || code == updates)) {
        verdict->code = updates;
        verdict->text = nri_updates_error_text(request->updates);
    }
    verdict->is_own = verdict->code != 0;
}

/* What the runtime ignores, or may ignore: an error when that is known and is to be one, or said
 * once a connection. */
static void missing_features(struct nri_core *core, const nri_request *request,
                             struct verdict *verdict)
{
    const nri_feature_check check =
        nri_adjustment_feature_check(request->adjustment, core->settled_features);
    const struct nri_told *told = atomic_load(&core->told);
    const struct nri_feature_place place = {told->runtime_name, told->runtime_version,
                                            told->nri_version, core->config.strict_features};

    while (check != NULL &&
           check(request->adjustment, &place, &core->settled_features, &verdict->error)) {
        verdict->code = verdict->error.code;
        if (verdict->code != 0) {
            verdict->text = verdict->error.text;
            verdict->is_own = true;
            return;
        }
        nri_core_log(core, NRI_LOG_WARN, "%s", verdict->error.text);
    }
}

static void judge(struct nri_core *core, const nri_request *request, int code,
                  struct verdict *verdict)
{
    verdict->code = 0;
    verdict->text = "";
    verdict->is_own = verdict->is_bare = verdict->is_after = false;
    if (request->failure != 0) {
        verdict->code = request->failure;
        verdict->text = request->failure_text;
        verdict->is_own = request->failure_is_own;
    } else {
        builder_error(request, code, verdict);
        if (verdict->code == 0 && code != 0)
            *verdict = (struct verdict){.code = code, .text = NULL};
    }
    if (verdict->code == 0)
        missing_features(core, request, verdict);
    if (verdict->text == NULL || (verdict->code != 0 && verdict->text[0] == '\0')) {
        verdict->text = nri_strerror(verdict->code);
        verdict->is_bare = true;
    }
}

/* ---- sending ---- */

static struct nri_log_about about(const nri_request *request)
{
    return (struct nri_log_about){
        .event = nri_event_name(request->event),
        .pod = nri_pod_id(request->pod),
        .container = nri_container_id(request->container),
    };
}

/* A reply that did not go out as it is: rpc sent an error in its place, or the connection is
 * ending. */
static void reply_failed(struct nri_core *core, const struct nri_log_about *what, int code,
                         const struct nri_error *error)
{
    if (code != 0 && code != NRI_E_CLOSED)
        nri_log_write(core->log, core->now, NRI_LOG_WARN, what, "the reply could not be sent: %s",
                      error->text);
}

static void fill(union response *response, const struct nri_core *core, const nri_request *request,
                 uint32_t mask)
{
    switch (request->method->reply) {
    case NRI_REPLY_CONFIGURE:
        response->configure.events = (int32_t)mask;
        break;
    case NRI_REPLY_SYNCHRONIZE:
        response->synchronize.more = request->more;
        if (!nri_core_bypass(core))
            response->synchronize.n_update =
                nri_updates_messages(request->updates, &response->synchronize.update);
        break;
    case NRI_REPLY_CREATE:
        /* Packing only reads. */
        response->create.adjust =
            (MESSAGE(ContainerAdjustment) *)(uintptr_t)nri_adjustment_message(request->adjustment);
        response->create.n_update =
            nri_updates_messages(request->updates, &response->create.update);
        response->create.n_evict = nri_updates_evictions(request->updates, &response->create.evict);
        break;
    case NRI_REPLY_UPDATE:
        response->update.n_update =
            nri_updates_messages(request->updates, &response->update.update);
        response->update.n_evict = nri_updates_evictions(request->updates, &response->update.evict);
        break;
    case NRI_REPLY_STOP:
        response->stop.n_update = nri_updates_messages(request->updates, &response->stop.update);
        break;
    case NRI_REPLY_VALIDATE:
    case NRI_REPLY_EMPTY:
        break;
    }
}

/* 0 when the success is on its way. */
static int send_success(struct nri_core *core, const nri_request *request, uint32_t mask)
{
    const struct nri_log_about what = about(request);
    union response response;
    struct nri_error error;

    error.text[0] = '\0';
    response_init(&response, request->call);
    fill(&response, core, request, mask);
    const int code = nri_rpc_call_reply(request->call, &response.base, &error);
    reply_failed(core, &what, code, &error);
    return code;
}

/* The reason of a veto whose own text found no memory: a text of base/text.h made by hand. */
static const struct {
    uint32_t length;
    char text[sizeof "rejected (no memory for the reason)"];
} no_reason = {sizeof "rejected (no memory for the reason)" - 1,
               "rejected (no memory for the reason)"};

static int send_veto(struct nri_core *core, const nri_request *request, const char *text)
{
    const struct nri_log_about what = about(request);
    union response response;
    struct nri_error error;

    error.text[0] = '\0';
    response_init(&response, request->call);
    response.validate.reject = 1;
    response.validate.reason = nri_request_text(request->arena, text);
    if (response.validate.reason == NULL)
        response.validate.reason = (char *)(uintptr_t)no_reason.text;
    const int code = nri_rpc_call_reply(request->call, &response.base, &error);
    reply_failed(core, &what, code, &error);
    return code;
}

void nri_reply_refuse(struct nri_core *core, struct nri_rpc_call *call, int code, const char *text)
{
    const struct nri_log_about what = {.event = nri_methods[nri_rpc_call_method(call)].name};

    char named[NAMED_SIZE];

    nri_stats_count(&core->stats, nri_methods[nri_rpc_call_method(call)].event, NRI_COUNT_REQUESTS);
    nri_stats_count(&core->stats, nri_methods[nri_rpc_call_method(call)].event, NRI_COUNT_ERRORS);
    nri_log_write(core->log, core->now, NRI_LOG_WARN, &what, "refused by the library: %s", text);
    (void)snprintf(named, sizeof named, "%s: %s", core->label, text);
    (void)nri_rpc_call_refuse(call, nri_error_grpc(code),
                              named); /* what goes wrong is in nri_rpc_failure() */
}

static void mark_synchronized(struct nri_core *core)
{
    nri_core_add(core, NRI_COUNT_SYNCHRONIZATIONS, 1);
    atomic_store(&core->synchronized, true);
}

void nri_reply_empty(struct nri_core *core, struct nri_rpc_call *call)
{
    const enum nri_event event = nri_methods[nri_rpc_call_method(call)].event;
    const struct nri_log_about what = {.event = nri_methods[nri_rpc_call_method(call)].name};
    union response response;
    struct nri_error error;

    error.text[0] = '\0';
    nri_log_write(core->log, core->now, NRI_LOG_DEBUG, &what, "%s received; no handler",
                  what.event);
    response_init(&response, call);
    const bool synchronize = nri_rpc_call_method(call) == NRI_METHOD_SYNCHRONIZE;
    if (synchronize)
        response.synchronize.more =
            ((const MESSAGE(SynchronizeRequest) *)nri_rpc_call_message(call))->more;
    nri_stats_count(&core->stats, event, NRI_COUNT_REQUESTS);
    const int code = nri_rpc_call_reply(call, &response.base, &error);
    reply_failed(core, &what, code, &error);
    nri_stats_count(&core->stats, event, code == 0 ? NRI_COUNT_REPLIES : NRI_COUNT_ERRORS);
    if (code == 0 && synchronize && !response.synchronize.more)
        mark_synchronized(core);
}

/* What a peer can read, without a copy where that goes: the request's memory may be used up, and
 * that may be what the text says. */
static const char *readable(const nri_request *request, int code, const char *text)
{
    const size_t length = strlen(text);

    if (length <= NRI_REFUSAL_MAX && nri_utf8_valid(text, length, NULL))
        return text;
    const char *copy = nri_request_text(request->arena, text);
    return copy == NULL ? nri_strerror(code) : copy;
}

/* Whoever reads a refusal in the runtime's log must learn whose it is. Words of the plugin's author
 * are left as they are. */
static const char *name_plugin(const struct nri_core *core, const nri_request *request,
                               const struct verdict *verdict, char named[NAMED_SIZE])
{
    if (verdict->is_bare)
        (void)snprintf(named, NAMED_SIZE, "%s refused %s: %s", core->label,
                       nri_event_name(request->event), verdict->text);
    else if (verdict->is_own)
        (void)snprintf(named, NAMED_SIZE, "%s: %s", core->label, verdict->text);
    else
        return verdict->text;
    return named;
}

/* 0 when it is on its way. */
static int send_refusal(struct nri_core *core, const nri_request *request,
                        const struct verdict *verdict)
{
    const struct nri_log_about what = about(request);
    char named[NAMED_SIZE];
    const char *text = name_plugin(core, request, verdict, named);

    nri_log_write(core->log, core->now, NRI_LOG_DEBUG, &what, "%s refused: %s", what.event,
                  verdict->text);
    if (request->method->reply == NRI_REPLY_VALIDATE)
        return send_veto(core, request, text);
    /* What goes wrong is in nri_rpc_failure() too. */
    return nri_rpc_call_refuse(request->call, nri_error_grpc(verdict->code),
                               readable(request, verdict->code, text));
}

static void unlink_open(struct nri_core *core, nri_request *request)
{
    atomic_fetch_sub(&core->open_count, 1);
    *request->open_link = request->open_next;
    if (request->open_next != NULL)
        request->open_next->open_link = request->open_link;
}

/* By what became of the answer: `sent` is 0 when it is on its way. */
static void count(struct nri_core *core, const nri_request *request, const struct verdict *verdict,
                  int sent)
{
    enum nri_event_counter counter = NRI_COUNT_REPLIES;

    if (sent != 0 || (verdict->is_own && (verdict->code == NRI_E_INTERNAL || verdict->is_after)))
        counter = NRI_COUNT_ERRORS;
    else if (verdict->code != 0)
        counter = NRI_COUNT_REFUSED;
    nri_stats_count(&core->stats, request->event, counter);
    if (counter == NRI_COUNT_REPLIES && request->method->reply == NRI_REPLY_SYNCHRONIZE &&
        !request->more)
        mark_synchronized(core);
}

/* The reason of a veto in the plugin's place: a text of base/text.h made by hand. */
#define LATE_REASON "the plugin has not answered in time"
static const struct {
    uint32_t length;
    char text[sizeof LATE_REASON];
} late_reason = {sizeof LATE_REASON - 1, LATE_REASON};

static void refuse_in_place(struct nri_core *core, const nri_request *request,
                            union response *response)
{
    char named[NAMED_SIZE];
    struct nri_error error;

    error.text[0] = '\0';
    (void)snprintf(named, sizeof named, "%s: %s", core->label, LATE_REASON);
    if (request->method->reply != NRI_REPLY_VALIDATE) {
        (void)nri_rpc_call_refuse(request->call, nri_error_grpc(NRI_E_TIMEOUT), named);
        return;
    }
    response->validate.reject = 1;
    response->validate.reason = (char *)(uintptr_t)late_reason.text;
    (void)nri_rpc_call_reply(request->call, &response->base, &error);
}

void nri_reply_in_place(struct nri_core *core, nri_request *request, bool refused)
{
    const struct nri_log_about what = about(request);
    union response response;
    struct nri_error error;

    error.text[0] = '\0';
    unlink_open(core, request);
    response_init(&response, request->call);
    if (refused) {
        refuse_in_place(core, request, &response);
        return;
    }
    const bool synchronize = request->method->reply == NRI_REPLY_SYNCHRONIZE;
    if (synchronize)
        response.synchronize.more = request->more;
    const int code = nri_rpc_call_reply(request->call, &response.base, &error);
    reply_failed(core, &what, code, &error);
    if (code == 0 && synchronize && !request->more) /* the runtime goes on as after any other */
        mark_synchronized(core);
}

void nri_reply_send(struct nri_core *core, nri_request *request, int code)
{
    const bool configure = request->method->reply == NRI_REPLY_CONFIGURE;
    struct verdict verdict;
    uint32_t mask = 0;
    int end = NRI_E_REJECTED; /* of the plugin, when Configure is refused by its handler */

    unlink_open(core, request);
    nri_missed_reply(core, request);
    judge(core, request, code, &verdict);
    if (configure && verdict.code == 0) {
        verdict.code = nri_configure_mask(core, request, &mask, &verdict.error);
        verdict.text = verdict.error.text;
        verdict.is_own = verdict.is_after = true;
        end = verdict.code;
    }
    const int sent = verdict.code != 0 ? send_refusal(core, request, &verdict)
                                       : send_success(core, request, mask);
    count(core, request, &verdict, sent);
    if (configure && verdict.code == 0 && sent == 0)
        nri_configure_done(core, request, mask);
    if (configure && verdict.code != 0)
        nri_configure_refused(core, end, verdict.text);
}
