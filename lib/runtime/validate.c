/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validators: plugins that look at what all others adjusted, and may refuse the container.
 *
 * Happy path: all that are subscribed are asked at once, about the container as it was, the whole
 * adjustment, the updates, who owns what and who was asked -> none refuses -> the event is done.
 * Failure modes: a refusal, an error, no answer or a lost connection each fail the creation,
 * whatever the failure policy is: nobody vouched for the container.
 */
#include <string.h>

#include "model/model.h"
#include "model/reader.h"
#include "runtime/internal.h"

typedef NRI_RT_MESSAGE(ValidateContainerAdjustmentRequest) validate_request;
typedef NRI_RT_MESSAGE(PluginInstance) plugin_instance;

/* ---- the request ---- */

/* The plugins whose answers are in the adjustment. */
static size_t count_answers(const nri_outcome *event)
{
    size_t count = 0;

    for (const struct nri_rt_step *step = event->steps; step != NULL; step = step->next)
        count += step->result == NRI_STEP_ANSWERED ? 1 : 0;
    return count;
}

static bool make_instance(struct nri_arena *arena, const char *id, plugin_instance *instance)
{
    const size_t length = strlen(id);

    nri__pkg__api__v1alpha1__plugin_instance__init(instance);
    instance->index = nri_arena_text(arena, id, 2);
    instance->name = nri_arena_text(arena, id + 3, length - 3);
    return instance->index != NULL && instance->name != NULL;
}

static bool add_plugins(nri_outcome *event, validate_request *request)
{
    const size_t count = count_answers(event);
    plugin_instance *instances = nri_arena_array(&event->arena, count + 1, sizeof *instances);
    plugin_instance **list = nri_arena_array(&event->arena, count + 1, sizeof *list);

    if (instances == NULL || list == NULL)
        return false;
    for (const struct nri_rt_step *step = event->steps; step != NULL; step = step->next) {
        if (step->result != NRI_STEP_ANSWERED)
            continue;
        list[request->n_plugins] = &instances[request->n_plugins];
        if (!make_instance(&event->arena, step->plugin, &instances[request->n_plugins]))
            return false;
        request->n_plugins++;
    }
    request->plugins = list;
    return true;
}

static int make_request(nri_outcome *event, validate_request *request)
{
    const NRI_RT_MESSAGE(CreateContainerResponse) *whole = nri_merge_create_result(event->merge);

    /* It is only read. */
    nri__pkg__api__v1alpha1__validate_container_adjustment_request__init(request);
    request->pod = (void *)(uintptr_t)event->subject.pod;
    request->container = (void *)(uintptr_t)event->pristine;
    request->adjust = whole->adjust;
    request->n_update = whole->n_update;
    request->update = whole->update;
    request->owners = (void *)(uintptr_t)event->owners;
    if (add_plugins(event, request))
        return 0;
    return nri_rt_event_fail(event, event->arena.failure, NULL, "validation: %s",
                             nri_strerror(event->arena.failure));
}

static int encode(nri_outcome *event, const validate_request *request)
{
    struct nri_error error;
    const unsigned method = nri_rt_method(NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT, false);

    const int code = nri_rt_request_take(&event->request, method, &request->base, &error);
    return code == 0 ? 0 : nri_rt_event_fail(event, code, NULL, "validation: %s", error.text);
}

static int check_defaults(nri_outcome *event, const validate_request *request)
{
    struct nri_error error;

    if (event->rt->config.validator == NULL)
        return 0;
    const int code = nri_default_validator_check(event->rt->config.validator, request, &error);
    return code == 0 ? 0 : nri_rt_event_fail(event, code, NULL, "%s", error.text);
}

/* ---- asking ---- */

static bool is_validator(const nri_outcome *event, const nri_runtime_plugin *plugin)
{
    return nri_rt_plugin_is_in_chain(plugin) && event->number >= plugin->first_event &&
           (plugin->events & nri_event_bit(NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT)) != 0;
}

static size_t count_validators(const nri_outcome *event)
{
    size_t count = 0;

    for (const nri_runtime_plugin *plugin = event->rt->plugins; plugin != NULL;
         plugin = plugin->next)
        count += is_validator(event, plugin) ? 1 : 0;
    return count;
}

static void ask_all(nri_outcome *event)
{
    const struct nri_rt *rt = event->rt;

    for (nri_runtime_plugin *plugin = rt->plugins; plugin != NULL; plugin = plugin->next) {
        if (!is_validator(event, plugin))
            continue;
        struct nri_rt_ask *ask = &event->validators[event->validators_out++];
        *ask = (struct nri_rt_ask){.event = event};
        nri_rt_ask_queue(ask, plugin, NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT,
                         nri_rt_after(rt->now, rt->config.request_timeout));
    }
}

void nri_rt_validate_start(nri_outcome *event)
{
    const size_t count = count_validators(event);
    validate_request request;

    event->stage = NRI_RT_VALIDATING;
    if (count == 0 && event->rt->config.validator == NULL) {
        nri_rt_event_done(event);
        return;
    }
    if (make_request(event, &request) != 0 || check_defaults(event, &request) != 0)
        return;
    if (count == 0) {
        nri_rt_event_done(event);
        return;
    }
    event->validators = nri_arena_array(&event->arena, count, sizeof *event->validators);
    if (event->validators == NULL)
        (void)nri_rt_event_fail(event, event->arena.failure, NULL, "validation: %s",
                                nri_strerror(event->arena.failure));
    else if (encode(event, &request) == 0)
        ask_all(event);
}

/* ---- answers ---- */

static void take_verdict(nri_outcome *event, const struct nri_rt_ask *ask,
                         const nri_runtime_plugin *plugin, const struct nri_rpc_result *result)
{
    const NRI_RT_MESSAGE(ValidateContainerAdjustmentResponse) *verdict =
        (const void *)result->message;

    if (verdict->reject == 0) {
        (void)nri_rt_record(event, ask, plugin, NRI_STEP_ANSWERED, 0, "");
        return;
    }
    const char *reason = nri_reader_text(verdict->reason);
    (void)nri_rt_record(event, ask, plugin, NRI_STEP_FAILED, NRI_E_REJECTED, reason);
    (void)nri_rt_event_fail(event, NRI_E_REJECTED, plugin->id, "validator \"%s\" rejected: %s",
                            plugin->id, reason[0] == '\0' ? "it gave no reason" : reason);
}

static void take_failure(nri_outcome *event, const struct nri_rt_ask *ask,
                         nri_runtime_plugin *plugin, const struct nri_rpc_result *result)
{
    const struct nri_failure_policy *policy =
        nri_failures_of(&event->rt->failures, plugin->name, plugin->id);
    const enum nri_failure kind = result->code == NRI_E_TIMEOUT && result->grpc == 0
                                      ? NRI_FAILURE_TIMEOUT
                                      : NRI_FAILURE_ERROR;

    (void)nri_rt_record(event, ask, plugin, NRI_STEP_FAILED, result->code, result->text);
    nri_rt_log(event->rt, NRI_LOG_WARN, "validator %s: %s", plugin->id, result->text);
    if (ask->sent_at != 0 && (nri_failure_drops(policy, kind) || result->code == NRI_E_PROTOCOL))
        nri_rt_drop(plugin, result->code, "%s: %s", nri_event_name(ask->what), result->text);
    (void)nri_rt_event_fail(event, result->code, plugin->id, "validator \"%s\": %s", plugin->id,
                            result->text);
}

void nri_rt_validate_answer(struct nri_rt_ask *ask, const struct nri_rpc_result *result)
{
    nri_outcome *event = ask->event;
    nri_runtime_plugin *plugin = ask->plugin;

    ask->plugin = NULL;
    ask->out = false;
    event->validators_out--;
    if (event->code == 0) {
        if (result->code == 0)
            take_verdict(event, ask, plugin, result);
        else
            take_failure(event, ask, plugin, result);
    }
    if (event->validators_out == 0)
        nri_rt_event_done(event);
}
