/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each kind of step does, and until when it waits.
 */
#include <signal.h>
#include <string.h>

#include "base/error.h"
#include "rehearsal.h"

/* ---- operations ---- */

static const struct scenario_pod *pod_of(const struct rehearsal *rehearsal, const char *id)
{
    const struct scenario *scenario = rehearsal->scenario;
    for (size_t i = 0; i < scenario->pod_count; i++) {
        if (strcmp(scenario->pods[i].id, id) == 0)
            return &scenario->pods[i];
    }
    return NULL;
}

static const struct scenario_container *container_of(const struct rehearsal *rehearsal,
                                                     const char *id)
{
    const struct scenario *scenario = rehearsal->scenario;
    for (size_t i = 0; i < scenario->container_count; i++) {
        if (strcmp(scenario->containers[i].id, id) == 0)
            return &scenario->containers[i];
    }
    return NULL;
}

static int run_pod(struct rehearsal *rehearsal, const struct scenario_step *step, void *token)
{
    nri_pod *pod = NULL;
    int rc = nri_pod_dup(pod_of(rehearsal, step->subject)->pod, NULL, &pod);
    if (rc == 0)
        rc = node_run_pod(rehearsal->node, pod, rehearsal_step_done, token);
    if (rc != 0)
        nri_pod_free(pod);
    return rc;
}

static int create(struct rehearsal *rehearsal, const struct scenario_step *step, void *token)
{
    const struct scenario_container *given = container_of(rehearsal, step->subject);
    nri_container *container = NULL;
    int rc = nri_container_dup(given->container, NULL, &container);
    if (rc == 0)
        rc = node_create(rehearsal->node, rehearsal->scenario->pods[given->pod].id, container,
                         rehearsal_step_done, token);
    if (rc != 0)
        nri_container_free(container);
    return rc;
}

static int signal_plugin(struct rehearsal *rehearsal, const struct scenario_step *step, int number)
{
    nri_runtime_plugin *plugin = node_find_plugin(rehearsal->node, step->subject);
    return plugin == NULL ? NRI_E_NOT_FOUND : node_signal_plugin(rehearsal->node, plugin, number);
}

static int connect_plugin(struct rehearsal *rehearsal, const struct scenario_step *step,
                          void *token)
{
    const struct scenario *scenario = rehearsal->scenario;
    for (size_t i = 0; i < scenario->plugin_count; i++) {
        const struct scenario_plugin *plugin = &scenario->plugins[i];
        if (plugin->later && strcmp(plugin->name, step->subject) == 0)
            return rehearsal_start_plugin(rehearsal, plugin, rehearsal_step_done, token);
    }
    return NRI_E_NOT_FOUND;
}

/* Of a container or a pod sandbox. */
static int operate(struct rehearsal *rehearsal, const struct scenario_step *step, void *token)
{
    struct node *node = rehearsal->node;
    const char *subject = step->subject;
    const node_done done = rehearsal_step_done;
    switch (step->verb) {
    case STEP_RUN:
        return run_pod(rehearsal, step, token);
    case STEP_CREATE:
        return create(rehearsal, step, token);
    case STEP_START:
        return node_start_container(node, subject, done, token);
    case STEP_UPDATE:
        return step->is_pod
                   ? node_update_pod(node, subject, step->overhead, step->resources, done, token)
                   : node_update_container(node, subject, step->resources, done, token);
    case STEP_STOP:
        return step->is_pod ? node_stop_pod(node, subject, done, token)
                            : node_stop_container(node, subject, done, token);
    case STEP_EXIT:
        return node_exit_container(node, subject, step->exit_code, done, token);
    case STEP_REMOVE:
        return step->is_pod ? node_remove_pod(node, subject, done, token)
                            : node_remove_container(node, subject, done, token);
    case STEP_RESTART:
        return node_restart(node, step->ms, done, token);
    case STEP_CONNECT:
        return connect_plugin(rehearsal, step, token);
    default:
        return node_add_slow_reader(node, subject, step->index, step->rate, done, token);
    }
}

static void begin_operation(struct rehearsal *rehearsal, size_t number)
{
    const struct scenario_step *step = &rehearsal->scenario->steps[number];
    const int rc = operate(rehearsal, step, &rehearsal->tokens[number]);
    if (rc != 0) {
        const char *text = node_error(rehearsal->node);
        rehearsal_step_over(rehearsal, number, rc, *text != '\0' ? text : nri_strerror(rc));
    }
}

static void begin_signal(struct rehearsal *rehearsal, size_t number, int signal_number)
{
    const int rc = signal_plugin(rehearsal, &rehearsal->scenario->steps[number], signal_number);
    rehearsal_step_over(rehearsal, number, rc,
                        rc == NRI_E_NOT_FOUND
                            ? "no plugin of this name, with a process of its own, "
                              "is connected"
                        : rc != 0 ? nri_strerror(rc)
                                  : "");
}

/* ---- what waits ---- */

static bool is_over(const struct rehearsal *rehearsal, const struct nri_json *name)
{
    const struct scenario *scenario = rehearsal->scenario;
    for (size_t i = 0; name != NULL && i < scenario->step_count; i++) {
        if (scenario->steps[i].name != NULL &&
            strcmp(scenario->steps[i].name, nri_json_string(name, NULL)) == 0)
            return rehearsal->results[i].state == RESULT_OVER;
    }
    return true;
}

/* What an event, or an update, has to be newer than: the beginning of the operation before. */
static const struct step_result *before(const struct rehearsal *rehearsal, size_t number)
{
    static const struct step_result none = {.events_before = 0};
    while (number-- > 0) {
        const enum step_verb verb = rehearsal->scenario->steps[number].verb;
        if (verb != STEP_WAIT && verb != STEP_EXPECT && verb != STEP_SLEEP)
            return &rehearsal->results[number];
    }
    return &none;
}

static bool came(const struct rehearsal *rehearsal, size_t number, const char *said)
{
    const struct trail *trail = &rehearsal->trail;
    for (size_t i = before(rehearsal, number)->events_before; i < trail->event_count; i++) {
        if (trail_event_is(&trail->events[i], trail->events[i].event, said))
            return true;
    }
    return false;
}

static bool is_plugin(const char *id, const char *name)
{
    return strcmp(id, name) == 0 || (strlen(id) > 3 && strcmp(id + 3, name) == 0);
}

static bool updated(const struct rehearsal *rehearsal, size_t number, const char *plugin)
{
    const struct trail *trail = &rehearsal->trail;
    for (size_t i = before(rehearsal, number)->updates_before; i < trail->update_count; i++) {
        if (!trail->updates[i].sync && is_plugin(trail->updates[i].plugin, plugin))
            return true;
    }
    return false;
}

static bool wait_is_over(const struct rehearsal *rehearsal, size_t number)
{
    const struct nri_json *wait = rehearsal->scenario->steps[number].value;
    const struct nri_json *member;
    if ((member = nri_json_get(wait, "plugin")) != NULL &&
        node_find_plugin(rehearsal->node, nri_json_string(member, NULL)) == NULL)
        return false;
    if ((member = nri_json_get(wait, "gone")) != NULL &&
        node_find_plugin(rehearsal->node, nri_json_string(member, NULL)) != NULL)
        return false;
    if ((member = nri_json_get(wait, "event")) != NULL &&
        !came(rehearsal, number, nri_json_string(member, NULL)))
        return false;
    if ((member = nri_json_get(wait, "updated")) != NULL &&
        !updated(rehearsal, number, nri_json_string(member, NULL)))
        return false;
    return is_over(rehearsal, nri_json_get(wait, "step"));
}

/* Whether the steps that an expectation is about are over. */
static bool may_judge(const struct rehearsal *rehearsal, size_t number)
{
    const struct nri_json *value = rehearsal->scenario->steps[number].value;
    if (nri_json_type(value) == NRI_JSON_OBJECT)
        return is_over(rehearsal, nri_json_get(value, "step"));
    for (size_t i = 0; i < nri_json_count(value); i++) {
        if (!is_over(rehearsal, nri_json_get(nri_json_at(value, i), "step")))
            return false;
    }
    return true;
}

/* A plugin that cannot come any more is not waited for. */
static bool is_in_vain(struct rehearsal *rehearsal, size_t number)
{
    const struct nri_json *plugin =
        nri_json_get(rehearsal->scenario->steps[number].value, "plugin");
    const struct started *ended =
        plugin == NULL ? NULL : rehearsal_ended(rehearsal, nri_json_string(plugin, NULL));
    char end[48];
    struct nri_error error;
    if (ended == NULL)
        return false;
    (void)nri_error_set(&error, NRI_E_CLOSED, "it does not come: its process %s",
                        child_end_text(ended->status, end));
    rehearsal_step_over(rehearsal, number, NRI_E_CLOSED, error.text);
    return true;
}

void step_look(struct rehearsal *rehearsal, size_t number)
{
    const enum step_verb verb = rehearsal->scenario->steps[number].verb;
    if (verb == STEP_WAIT && wait_is_over(rehearsal, number))
        rehearsal_step_over(rehearsal, number, 0, "");
    else if (verb == STEP_WAIT && is_in_vain(rehearsal, number))
        return;
    else if (verb == STEP_EXPECT && may_judge(rehearsal, number))
        rehearsal_step_over(rehearsal, number, 0, "");
    else if (verb == STEP_SLEEP && rehearsal->out_of_patience)
        rehearsal_step_over(rehearsal, number, 0, "");
    else if (rehearsal->out_of_patience && (verb == STEP_WAIT || verb == STEP_EXPECT))
        rehearsal_step_over(rehearsal, number, NRI_E_TIMEOUT,
                            verb == STEP_WAIT ? "it did not come in time"
                                              : "the step that it is about is not over");
}

void step_begin(struct rehearsal *rehearsal, size_t number)
{
    const struct scenario_step *step = &rehearsal->scenario->steps[number];
    switch (step->verb) {
    case STEP_PAUSE:
        begin_signal(rehearsal, number, SIGSTOP);
        break;
    case STEP_CONTINUE:
        begin_signal(rehearsal, number, SIGCONT);
        break;
    case STEP_KILL:
        begin_signal(rehearsal, number, step->signal);
        break;
    case STEP_SLEEP:
    case STEP_WAIT:
    case STEP_EXPECT:
        step_look(rehearsal, number);
        break;
    default:
        begin_operation(rehearsal, number);
        break;
    }
}
