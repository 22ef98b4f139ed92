/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What events and Synchronize do to a state cache.
 *
 * The happy path: connected -> a Synchronize, whole or in parts: what it tells is taken in and
 * marked, and with the last part all without the mark goes -> events. Failure modes: the connection
 * goes between two parts (the next one starts anew, and nothing goes for the half that came); an
 * object finds no memory (the request is refused; what is known of the object stays; a Synchronize
 * with such a part removes nothing, and is refused to its end); an event comes twice, late or out
 * of order (see the table).
 */
#include "plugin/request.h"
#include "plugin/state.h"

#define TELLS (NRI_STATE_ADD | NRI_STATE_CHANGE)
#define MAKES (NRI_STATE_ADD | NRI_STATE_CHANGE | NRI_STATE_REVIVE)
#define ENDS  NRI_STATE_CHANGE /* it is on its way out: nothing to take in any more */

/*
 * What an event may do with the pod and the container that it tells of. A late one must not bring
 * back what was removed; only what makes an object says that it is there for certain. What is to be
 * validated is the container as it was before its adjustment, so that it changes nothing.
 */
static const struct nri_state_effect effects[] = {
    [NRI_EVENT_RUN_POD_SANDBOX] = {.pod = MAKES},
    [NRI_EVENT_UPDATE_POD_SANDBOX] = {.pod = TELLS},
    [NRI_EVENT_POST_UPDATE_POD_SANDBOX] = {.pod = TELLS},
    [NRI_EVENT_STOP_POD_SANDBOX] = {.pod = ENDS},
    [NRI_EVENT_REMOVE_POD_SANDBOX] = {.pod = ENDS},
    [NRI_EVENT_CREATE_CONTAINER] = {.pod = MAKES, .container = MAKES},
    [NRI_EVENT_POST_CREATE_CONTAINER] = {.pod = TELLS, .container = TELLS},
    [NRI_EVENT_START_CONTAINER] = {.pod = TELLS, .container = TELLS},
    [NRI_EVENT_POST_START_CONTAINER] = {.pod = TELLS, .container = TELLS},
    [NRI_EVENT_UPDATE_CONTAINER] = {.pod = TELLS, .container = TELLS},
    [NRI_EVENT_POST_UPDATE_CONTAINER] = {.pod = TELLS, .container = TELLS},
    [NRI_EVENT_STOP_CONTAINER] = {.pod = ENDS, .container = ENDS},
    [NRI_EVENT_REMOVE_CONTAINER] = {.pod = ENDS, .container = ENDS},
    [NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT] = {.pod = NRI_STATE_ADD, .container = NRI_STATE_ADD},
};

/* What keeps the objects' data as the runtime has it, without asking for calls that tell nothing
 * new. */
#define NEEDED                                                                                     \
    (NRI_EVENT_BIT(NRI_EVENT_RUN_POD_SANDBOX) | NRI_EVENT_BIT(NRI_EVENT_POST_UPDATE_POD_SANDBOX) | \
     NRI_EVENT_BIT(NRI_EVENT_REMOVE_POD_SANDBOX) | NRI_EVENT_BIT(NRI_EVENT_CREATE_CONTAINER) |     \
     NRI_EVENT_BIT(NRI_EVENT_POST_CREATE_CONTAINER) |                                              \
     NRI_EVENT_BIT(NRI_EVENT_POST_START_CONTAINER) |                                               \
     NRI_EVENT_BIT(NRI_EVENT_POST_UPDATE_CONTAINER) | NRI_EVENT_BIT(NRI_EVENT_STOP_CONTAINER) |    \
     NRI_EVENT_BIT(NRI_EVENT_REMOVE_CONTAINER))

struct nri_state_effect nri_state_effect_of(enum nri_event event)
{
    const size_t index = (size_t)event;
    return index < sizeof effects / sizeof effects[0] ? effects[index]
                                                      : (struct nri_state_effect){0};
}

static void connected(nri_state *state)
{
    atomic_store(&state->lost, false);
    state->collecting = state->spoiled = state->synchronized = false;
    /* Nothing late can come from a connection that is gone. */
    nri_state_forget_gone(state);
}

static int take_event(nri_state *state, nri_request *request)
{
    const nri_pod *pod = nri_request_pod(request);
    const struct nri_state_effect effect = nri_state_effect_of(nri_request_event(request));
    int code = 0;
    if (effect.pod != 0)
        code = nri_state_put_pod(state, pod, effect.pod, NRI_STATE_EVENT);
    if (code == 0 && effect.container != 0)
        code = nri_state_put_container(state, nri_request_container(request), pod, effect.container,
                                       NRI_STATE_EVENT);
    if (code != 0)
        nri_request_failf(request, code, "the state cache has no memory for what %s tells",
                          nri_event_name(nri_request_event(request)));
    return code;
}

/* ---- Synchronize ---- */

static int take_objects(nri_state *state, const nri_request *request)
{
    const size_t pods = nri_request_pod_count(request);
    const size_t containers = nri_request_container_count(request);
    int code = 0;
    for (size_t i = 0; i < pods && code == 0; i++)
        code =
            nri_state_put_pod(state, nri_request_pod_at(request, i), MAKES, NRI_STATE_SYNCHRONIZE);
    for (size_t i = 0; i < containers && code == 0; i++)
        code = nri_state_put_container(state, nri_request_container_at(request, i), NULL, MAKES,
                                       NRI_STATE_SYNCHRONIZE);
    return code;
}

static void finish(nri_state *state)
{
    nri_state_sweep(state);
    nri_state_note_expire_all(state);
    state->synchronized = true;
    if (state->config.ops.synchronized != NULL)
        state->config.ops.synchronized(state, state->config.user);
}

static int take_synchronize(nri_state *state, nri_request *request)
{
    const bool was_spoiled = state->collecting && state->spoiled;
    int code = was_spoiled ? NRI_E_NOMEM : 0;
    if (!state->collecting) {
        state->generation++;
        state->spoiled = false;
    }
    state->collecting = nri_request_more(request);
    if (code == 0)
        code = take_objects(state, request);
    if (code != 0) {
        state->spoiled = true;
        nri_request_failf(request, code, "the state cache had no memory for %s of Synchronize",
                          was_spoiled ? "an earlier part" : "the pods and containers");
    } else if (!state->collecting) {
        finish(state);
    }
    return code;
}

static int before(nri_state *state, nri_request *request)
{
    const enum nri_event event = nri_request_event(request);
    if (event == NRI_EVENT_SYNCHRONIZE || event == NRI_EVENT_SYNCHRONIZE_PART)
        return take_synchronize(state, request);
    return take_event(state, request);
}

/* ---- after the handler ---- */

static void after(nri_state *state, nri_request *request)
{
    const enum nri_event event = nri_request_event(request);
    if (event == NRI_EVENT_REMOVE_CONTAINER) {
        const char *id = nri_container_id(nri_request_container(request));
        nri_state_remove_container(state, id, nri_text_length(id));
    } else if (event == NRI_EVENT_REMOVE_POD_SANDBOX) {
        const char *id = nri_pod_id(nri_request_pod(request));
        nri_state_remove_pod(state, id, nri_text_length(id));
    }
    /* The event goes on without a checkpoint: that was logged, and the next one tries again. */
    (void)nri_state_save(state, NULL);
}

const struct nri_state_hooks nri_state_hooks = {
    .events = NEEDED,
    .connected = connected,
    .before = before,
    .after = after,
    .missed = nri_state_missed,
    .missed_end = nri_state_missed_end,
    .lose = nri_state_lose,
};
