/* SPDX-License-Identifier: Apache-2.0 */
#include "events.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "keeper.h"
#include "wanted.h"

static_assert((int)WANTED_TEXT <= (int)PINNER_TEXT, "one text is enough for both");

/* ---- what an event tells ---- */

/* What is wrong with what it asks for is in `text`; then it asks for nothing. */
static struct told tell(const struct keeper *keeper, const nri_pod *pod,
                        const nri_container *container, char text[WANTED_TEXT])
{
    struct told told = {.id = nri_container_id(container),
                        .pod = nri_container_pod_sandbox_id(container),
                        .name = nri_container_name(container),
                        .cgroup = nri_container_cgroups_path(container),
                        .note = ""};
    const nri_state_container *kept = nri_state_find_container(keeper->state, told.id);
    nri_resources_cpuset_cpus(nri_container_resources(container), &told.cpus);
    nri_container_annotation(container, EVENTS_MARK, &told.mark);
    if (kept != NULL)
        told.note = nri_state_container_note(kept);
    (void)wanted_read(pod, container, keeper->by_limit, &told.wanted, text);
    return told;
}

static struct told tell_request(const struct keeper *keeper, const nri_request *request,
                                char text[WANTED_TEXT])
{
    return tell(keeper, nri_request_pod(request), nri_request_container(request), text);
}

/* Notes what the ledger has for a container, for after a restart. */
static int note(struct keeper *keeper, const struct container *container)
{
    nri_state_container *kept = nri_state_find_container(keeper->state, container->id);
    if (keeper->flags.dry_run || kept == NULL)
        return 0;
    pinner_note(container, keeper->list, KEEPER_LIST);
    return strcmp(nri_state_container_note(kept), keeper->list) == 0
               ? 0
               : nri_state_container_set_note(kept, keeper->list);
}

/* As note(), for one that may be adopted just now. Without the note the mark must do. */
static void note_id(struct keeper *keeper, const char *id)
{
    const struct container *container = ledger_find(&keeper->ledger, id);
    if (container != NULL && container->stage != STAGE_ENDED && note(keeper, container) != 0)
        keeper_say(keeper, NRI_LOG_WARN, "container %s: what it has could not be noted", id);
}

/* Brings the ledger in line with the state cache: it knows the containers of the node. */
static int reconcile(struct keeper *keeper)
{
    nri_state *state = keeper->state;
    const size_t most = nri_state_container_count(state);
    struct told *told = calloc(most + 1, sizeof *told);
    char text[WANTED_TEXT];
    size_t count = 0;
    if (told == NULL)
        return NRI_E_NOMEM;
    for (nri_state_container *one = NULL; (one = nri_state_next_container(state, one)) != NULL;) {
        const nri_state_pod *pod = nri_state_container_pod(one);
        const nri_container *container = nri_state_container_get(one);
        if (count < most && nri_container_get_state(container) != NRI_CONTAINER_STOPPED)
            told[count++] =
                tell(keeper, pod != NULL ? nri_state_pod_get(pod) : NULL, container, text);
    }
    pinner_synchronize(&keeper->ledger, told, count, keeper_now());
    for (size_t i = 0; i < count; i++)
        note_id(keeper, told[i].id);
    free(told);
    return 0;
}

/* ---- handlers ---- */

/* Each handler begins with the first and ends with the second of these. */
static void enter(struct keeper *keeper)
{
    pthread_mutex_lock(&keeper->lock);
    keeper->connected = true;
    if (!keeper->missed || nri_plugin_bypass(keeper->plugin))
        return;
    keeper_say(keeper, NRI_LOG_INFO, "the bypass is off: what went by is made good");
    keeper->missed = reconcile(keeper) != 0;
}

static void leave(struct keeper *keeper)
{
    pthread_mutex_unlock(&keeper->lock);
}

/* Refuses a request, unless nothing is to be changed. */
static int refuse(const struct keeper *keeper, nri_request *request, const char *text)
{
    char whole[PINNER_TEXT + 128];
    const nri_plugin *plugin = nri_request_plugin(request);
    snprintf(whole, sizeof whole, "%s-%s: container %s: %s", nri_plugin_index(plugin),
             nri_plugin_name(plugin), nri_container_name(nri_request_container(request)), text);
    keeper_say(keeper, NRI_LOG_WARN, "%s refused: %s", nri_event_name(nri_request_event(request)),
               whole);
    return keeper->flags.dry_run ? 0 : nri_request_fail(request, NRI_E_REJECTED, whole);
}

static void say_given(struct keeper *keeper, const struct container *container)
{
    static const char *const what[KINDS] = {"shares", "has, exclusively,", "keeps"};
    const enum nri_log_level level =
        container->kind == KIND_EXCLUSIVE || keeper->flags.dry_run ? NRI_LOG_INFO : NRI_LOG_DEBUG;
    keeper_say(keeper, container->denied ? NRI_LOG_WARN : level,
               "container %s (%s) %s the CPUs "
               "%.256s%s",
               container->id, container->name, what[container->kind],
               keeper_list(keeper, container),
               container->denied ? ": the exclusive ones that it asks for cannot be had" : "");
}

static int give(struct keeper *keeper, nri_request *request, const struct container *container)
{
    nri_adjustment *adjustment = nri_request_adjustment(request);
    const char *mark = pinner_mark(container);
    say_given(keeper, container);
    if (!keeper->flags.dry_run) {
        keeper_adjust(keeper, nri_adjustment_edit_resources(adjustment), container);
        if (mark[0] != '\0')
            nri_adjustment_add_annotation(adjustment, EVENTS_MARK, mark);
    }
    keeper_reply(keeper, request, container->id);
    return note(keeper, container);
}

static int create_container(nri_request *request, void *user)
{
    struct keeper *keeper = user;
    struct container *container = NULL;
    char text[PINNER_TEXT];
    int code;
    enter(keeper);
    const struct told told = tell_request(keeper, request, text);
    if (text[0] != '\0' ||
        pinner_create(&keeper->ledger, &keeper->rules, &told, keeper_now(), &container, text) != 0)
        code = refuse(keeper, request, text);
    else
        code = give(keeper, request, container);
    leave(keeper);
    return code;
}

/* What a container that is there may still have to be told is told unasked. */
static int confirm(nri_request *request, struct keeper *keeper, bool starting)
{
    char text[PINNER_TEXT];
    int code = 0;
    enter(keeper);
    const struct told told = tell_request(keeper, request, text);
    if (pinner_confirm(&keeper->ledger, &keeper->rules, &told, starting, keeper_now(), text) != 0)
        code = refuse(keeper, request, text);
    note_id(keeper, told.id);
    keeper_flush(keeper);
    leave(keeper);
    return code;
}

static int see_container(nri_request *request, void *user)
{
    return confirm(request, user, false);
}

static int start_container(nri_request *request, void *user)
{
    return confirm(request, user, true);
}

/* What a new CPU limit asks for, if it does. 0, or the code that the update is refused with. */
static int resize(struct keeper *keeper, nri_request *request, const struct told *told)
{
    size_t wanted;
    char text[PINNER_TEXT];
    struct ledger *ledger = &keeper->ledger;
    if (!wanted_update(nri_request_pod(request), nri_request_container(request),
                       nri_request_resources(request), keeper->by_limit, &wanted))
        return 0;
    const struct counts before = ledger->counts;
    if (pinner_resize(ledger, &keeper->rules, told, wanted, keeper_now(), text) != 0)
        return refuse(keeper, request, text);
    const struct container *container = ledger_find(ledger, told->id);
    if (container != NULL &&
        (before.given != ledger->counts.given || before.returned != ledger->counts.returned ||
         before.resized != ledger->counts.resized || before.denied != ledger->counts.denied))
        say_given(keeper, container);
    return 0;
}

static int update_container(nri_request *request, void *user)
{
    struct keeper *keeper = user;
    const char *cpus;
    char text[PINNER_TEXT];
    enter(keeper);
    const struct told told = tell_request(keeper, request, text);
    const int code = resize(keeper, request, &told);
    if (code != 0) {
        keeper_flush(keeper); /* something may have expired for it */
    } else {
        nri_resources_cpuset_cpus(nri_request_resources(request), &cpus);
        pinner_update(&keeper->ledger, &keeper->rules, &told, cpus, keeper_now());
        keeper_reply(keeper, request, "");
    }
    note_id(keeper, told.id);
    leave(keeper);
    return code;
}

static void say_returned(struct keeper *keeper, const char *id)
{
    const struct container *container = ledger_find(&keeper->ledger, id);
    if (container != NULL && container->kind == KIND_EXCLUSIVE)
        keeper_say(keeper, NRI_LOG_INFO, "container %s (%s) gives back the CPUs %.256s", id,
                   container->name, keeper_list(keeper, container));
}

static int stop_container(nri_request *request, void *user)
{
    struct keeper *keeper = user;
    const char *id = nri_container_id(nri_request_container(request));
    enter(keeper);
    say_returned(keeper, id);
    pinner_stop(&keeper->ledger, id);
    keeper_reply(keeper, request, "");
    leave(keeper);
    return 0;
}

static int remove_container(nri_request *request, void *user)
{
    struct keeper *keeper = user;
    const char *id = nri_container_id(nri_request_container(request));
    enter(keeper);
    say_returned(keeper, id);
    pinner_remove(&keeper->ledger, id);
    keeper_flush(keeper);
    leave(keeper);
    return 0;
}

static int stop_pod_sandbox(nri_request *request, void *user)
{
    struct keeper *keeper = user;
    enter(keeper);
    pinner_stop_pod(&keeper->ledger, nri_pod_id(nri_request_pod(request)));
    keeper_flush(keeper);
    leave(keeper);
    return 0;
}

static int remove_pod_sandbox(nri_request *request, void *user)
{
    struct keeper *keeper = user;
    enter(keeper);
    pinner_remove_pod(&keeper->ledger, nri_pod_id(nri_request_pod(request)));
    keeper_flush(keeper);
    leave(keeper);
    return 0;
}

static int synchronize(nri_request *request, void *user)
{
    struct keeper *keeper = user;
    enter(keeper);
    const int code = reconcile(keeper);
    /* With the bypass on, the library sends no updates. */
    if (!nri_plugin_bypass(keeper->plugin))
        keeper_reply(keeper, request, "");
    keeper_say(keeper, NRI_LOG_INFO, "%zu containers are there, %zu CPUs are exclusive",
               nri_state_container_count(keeper->state),
               nri_cpuset_count(pool_exclusive(keeper->ledger.pool)));
    leave(keeper);
    return code;
}

static int disconnected(nri_request *request, void *user)
{
    struct keeper *keeper = user;
    (void)request;
    pthread_mutex_lock(&keeper->lock);
    keeper->connected = false;
    pthread_mutex_unlock(&keeper->lock);
    return 0;
}

const struct nri_plugin_ops events_ops = {
    .size = sizeof events_ops,
    .on_synchronize = synchronize,
    .on_stop_pod_sandbox = stop_pod_sandbox,
    .on_remove_pod_sandbox = remove_pod_sandbox,
    .on_create_container = create_container,
    .on_post_create_container = see_container,
    .on_start_container = start_container,
    .on_post_start_container = see_container,
    .on_update_container = update_container,
    .on_post_update_container = see_container,
    .on_stop_container = stop_container,
    .on_remove_container = remove_container,
    .on_disconnected = disconnected,
};
