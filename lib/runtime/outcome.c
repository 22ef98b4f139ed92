/* SPDX-License-Identifier: Apache-2.0 */
/* Reading what became of an event. */
#include <string.h>

#include "model/model.h"
#include "model/reader.h"
#include "runtime/internal.h"

enum nri_event nri_outcome_event(const nri_outcome *outcome)
{
    return outcome == NULL ? NRI_EVENT_UNKNOWN : outcome->subject.event;
}

int nri_outcome_code(const nri_outcome *outcome)
{
    return outcome == NULL ? 0 : outcome->code;
}

const char *nri_outcome_text(const nri_outcome *outcome)
{
    return outcome == NULL ? "" : outcome->text;
}

const char *nri_outcome_plugin(const nri_outcome *outcome)
{
    return outcome == NULL ? "" : outcome->plugin;
}

static bool succeeded(const nri_outcome *outcome)
{
    return outcome != NULL && outcome->code == 0;
}

const nri_adjustment *nri_outcome_adjustment(const nri_outcome *outcome)
{
    return succeeded(outcome) ? outcome->adjustment : NULL;
}

const nri_updates *nri_outcome_updates(const nri_outcome *outcome)
{
    return succeeded(outcome) ? outcome->updates : NULL;
}

const nri_resources *nri_outcome_resources(const nri_outcome *outcome)
{
    return nri_resources_view(succeeded(outcome) ? outcome->resources_result : NULL);
}

/* ---- owners ---- */

static const NRI_RT_MESSAGE(FieldOwners) * owners_of(const nri_outcome *outcome)
{
    if (!succeeded(outcome) || outcome->owners == NULL)
        return NULL;
    for (size_t i = 0; i < outcome->owners->n_owners; i++) {
        if (strcmp(nri_reader_text(outcome->owners->owners[i]->key), outcome->about.container) == 0)
            return outcome->owners->owners[i]->value;
    }
    return NULL;
}

/* What a plugin took away nobody has set: "-NN-name". */
static const char *owner_text(const char *owner)
{
    const char *text = nri_reader_text(owner);

    return text[0] == '-' ? "" : text;
}

static const char *owner_of_key(const NRI_RT_MESSAGE(CompoundFieldOwners) * keys, const char *key)
{
    for (size_t i = 0; keys != NULL && i < keys->n_owners; i++) {
        if (strcmp(nri_reader_text(keys->owners[i]->key), key) == 0)
            return owner_text(keys->owners[i]->value);
    }
    return "";
}

const char *nri_outcome_owner(const nri_outcome *outcome, int field, const char *key)
{
    const NRI_RT_MESSAGE(FieldOwners) *owners = owners_of(outcome);

    for (size_t i = 0; owners != NULL && i < owners->n_simple; i++) {
        if ((int)owners->simple[i]->key == field)
            return owner_text(owners->simple[i]->value);
    }
    for (size_t i = 0; owners != NULL && i < owners->n_compound; i++) {
        if ((int)owners->compound[i]->key == field)
            return owner_of_key(owners->compound[i]->value, key == NULL ? "" : key);
    }
    return "";
}

/* ---- the record ---- */

size_t nri_outcome_step_count(const nri_outcome *outcome)
{
    return outcome == NULL ? 0 : outcome->step_count;
}

static const struct nri_rt_step *step_at(const nri_outcome *outcome, size_t index)
{
    const struct nri_rt_step *step = outcome == NULL ? NULL : outcome->steps;

    while (step != NULL && index-- > 0)
        step = step->next;
    return step;
}

const char *nri_outcome_step_plugin(const nri_outcome *outcome, size_t step)
{
    const struct nri_rt_step *at = step_at(outcome, step);

    return at == NULL ? "" : at->plugin;
}

enum nri_event nri_outcome_step_event(const nri_outcome *outcome, size_t step)
{
    const struct nri_rt_step *at = step_at(outcome, step);

    return at == NULL ? NRI_EVENT_UNKNOWN : at->event;
}

enum nri_step_result nri_outcome_step_result(const nri_outcome *outcome, size_t step)
{
    const struct nri_rt_step *at = step_at(outcome, step);

    return at == NULL ? NRI_STEP_ANSWERED : at->result;
}

int nri_outcome_step_code(const nri_outcome *outcome, size_t step)
{
    const struct nri_rt_step *at = step_at(outcome, step);

    return at == NULL ? 0 : at->code;
}

const char *nri_outcome_step_text(const nri_outcome *outcome, size_t step)
{
    const struct nri_rt_step *at = step_at(outcome, step);

    return at == NULL ? "" : at->text;
}

uint64_t nri_outcome_step_latency(const nri_outcome *outcome, size_t step)
{
    const struct nri_rt_step *at = step_at(outcome, step);

    return at == NULL ? 0 : at->latency;
}

uint64_t nri_outcome_step_wait(const nri_outcome *outcome, size_t step)
{
    const struct nri_rt_step *at = step_at(outcome, step);

    return at == NULL ? 0 : at->wait;
}

const ProtobufCMessage *nri_rt_outcome_reply(const nri_outcome *outcome, size_t step)
{
    const struct nri_rt_step *at = step_at(outcome, step);

    return at == NULL ? NULL : at->reply;
}

const char *nri_rt_outcome_container(const nri_outcome *outcome)
{
    return outcome == NULL || outcome->about.container == NULL ? "" : outcome->about.container;
}

size_t nri_outcome_change_count(const nri_outcome *outcome, size_t step)
{
    const struct nri_rt_step *at = step_at(outcome, step);

    return at == NULL ? 0 : at->change_count;
}

bool nri_outcome_change_at(const nri_outcome *outcome, size_t step, size_t change, int *field,
                           const char **key, const char **container, const char **other,
                           enum nri_change_action *action)
{
    static const struct nri_rt_change none = {.key = "", .container = "", .other = ""};
    const struct nri_rt_step *at = step_at(outcome, step);
    const struct nri_rt_change *found =
        at == NULL || change >= at->change_count ? NULL : &at->changes[change];
    const struct nri_rt_change *give = found == NULL ? &none : found;
    if (field != NULL)
        *field = give->field;
    if (key != NULL)
        *key = give->key;
    if (container != NULL)
        *container = give->container;
    if (other != NULL)
        *other = give->other;
    if (action != NULL)
        *action = give->action;
    return found != NULL;
}
