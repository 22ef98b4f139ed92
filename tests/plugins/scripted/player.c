/* SPDX-License-Identifier: Apache-2.0 */
#include "player.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A request on its way to its answer. */
struct answer {
    struct alarm alarm; /* must be first: it is turned back into this */
    struct player *player;
    nri_request *request;
    uint64_t began;
    int code;
};

/* ---- the report ---- */

static void put_ids(struct report_line *line, const nri_request *request)
{
    report_open_list(line, "pods");
    for (size_t i = 0; i < nri_request_pod_count(request); i++)
        report_element(line, nri_pod_id(nri_request_pod_at(request, i)));
    report_close_list(line);
    report_open_list(line, "containers");
    for (size_t i = 0; i < nri_request_container_count(request); i++)
        report_element(line, nri_container_id(nri_request_container_at(request, i)));
    report_close_list(line);
}

static void put_timeouts(struct report_line *line, const nri_plugin *plugin)
{
    report_integer(line, "registration_timeout_ms",
                   (int64_t)nri_plugin_registration_timeout_ms(plugin));
    report_integer(line, "request_timeout_ms", (int64_t)nri_plugin_request_timeout_ms(plugin));
}

static void tell(const struct answer *answer, const char *what, const char *code)
{
    nri_request *request = answer->request;
    const enum nri_event event = nri_request_event(request);
    struct report_line line;
    report_begin(&line, what);
    report_text(&line, "event", nri_event_name(event));
    report_text(&line, "pod", nri_pod_id(nri_request_pod(request)));
    report_text(&line, "container", nri_container_id(nri_request_container(request)));
    report_ms(&line, "ms", report_now() - answer->began);
    if (event == NRI_EVENT_SYNCHRONIZE && code == NULL)
        put_ids(&line, request);
    if (event == NRI_EVENT_STOP_CONTAINER && code == NULL)
        report_integer(&line, "exit_code", nri_container_exit_code(nri_request_container(request)));
    if (event == NRI_EVENT_CONFIGURE && code == NULL)
        put_timeouts(&line, nri_request_plugin(request));
    if (code != NULL)
        report_text(&line, "code", code);
    report_end(&answer->player->report, &line);
}

/* ---- the answer ---- */

/* The line comes before the reply, so that who has the reply finds it. Completing tells what a
 * handler's return would not: that the answer came too late. */
static void give(struct answer *answer)
{
    tell(answer, "event", NULL);
    const int rc = nri_request_complete(answer->request, answer->code);
    if (rc != 0)
        tell(answer, "late", nri_error_name(rc));
    nri_request_unref(answer->request);
}

static void give_later(struct alarm *alarm)
{
    struct answer *answer = (struct answer *)alarm;
    give(answer);
    free(answer);
}

static int defer(const struct answer *answer, int64_t delay_ms)
{
    struct answer *kept = malloc(sizeof *kept);
    if (kept == NULL)
        return NRI_E_NOMEM;
    *kept = *answer;
    kept->alarm.fn = give_later;
    if (alarms_set(&answer->player->alarms, &kept->alarm, (uint64_t)delay_ms) != 0) {
        free(kept);
        return NRI_E_IO;
    }
    return 0;
}

/* ---- what a rule does ---- */

static void block(int64_t ms)
{
    struct timespec left = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000 * 1000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
    }
}

static int echo(nri_request *request)
{
    const nri_container *container = nri_request_container(request);
    nri_adjustment *adjustment = nri_request_adjustment(request);
    const char *key, *value;
    int rc = 0;
    for (size_t i = 0; rc == 0 && nri_container_annotation_at(container, i, &key, &value); i++)
        rc = nri_adjustment_add_annotation(adjustment, key, value);
    return rc;
}

/* Builds the reply. An error of the builders sticks to the request, and refuses it. */
static int build(const struct script_rule *rule, nri_request *request)
{
    int rc = 0;
    if (rule->echo_annotations)
        rc = echo(request);
    if (rc == 0 && rule->adjust != NULL)
        rc = nri_adjustment_merge_json(nri_request_adjustment(request), rule->adjust,
                                       strlen(rule->adjust), NULL, NULL);
    if (rc == 0 && rule->update != NULL)
        rc = nri_updates_merge_json(nri_request_updates(request), rule->update,
                                    strlen(rule->update), NULL, NULL);
    if (rc == 0 && rule->update_all != NULL)
        rc = script_update_all(rule, request);
    if (rc == 0 && rule->error != NULL)
        rc = nri_request_fail(request, NRI_E_REJECTED, rule->error);
    return rc;
}

static int on_event(nri_request *request, void *user)
{
    struct player *player = user;
    nri_plugin *plugin = nri_request_plugin(request);
    struct answer answer = {.player = player, .request = request, .began = report_now()};
    const struct script_rule *rule = script_match(&player->script, nri_request_event(request),
                                                  nri_container_id(nri_request_container(request)));
    if (rule != NULL) {
        block(rule->sleep_ms);
        answer.code = build(rule, request);
        calls_make(&player->calls, plugin, rule);
        if (rule->stop)
            nri_plugin_stop(plugin);
        if (rule->defer_ms >= 0) {
            const int rc = defer(&answer, rule->defer_ms);
            if (rc == 0)
                return NRI_PENDING;
            answer.code = rc;
        }
    }
    give(&answer);
    return NRI_PENDING;
}

static int on_connected(nri_request *request, void *user)
{
    struct player *player = user;
    (void)request;
    calls_connected(&player->calls);
    return 0;
}

static int on_disconnected(nri_request *request, void *user)
{
    struct player *player = user;
    struct report_line line;
    calls_disconnected(&player->calls);
    report_begin(&line, "close");
    report_text(&line, "reason", nri_request_reason_text(request));
    report_text(&line, "code", nri_error_name(nri_request_reason(request)));
    report_end(&player->report, &line);
    return 0;
}

void player_fill_ops(struct nri_plugin_ops *ops)
{
    nri_plugin_ops_init(ops, sizeof *ops);
    ops->on_configure = on_event;
    ops->on_synchronize = on_event;
    ops->on_shutdown = on_event;
    ops->on_run_pod_sandbox = on_event;
    ops->on_update_pod_sandbox = on_event;
    ops->on_post_update_pod_sandbox = on_event;
    ops->on_stop_pod_sandbox = on_event;
    ops->on_remove_pod_sandbox = on_event;
    ops->on_create_container = on_event;
    ops->on_post_create_container = on_event;
    ops->on_start_container = on_event;
    ops->on_post_start_container = on_event;
    ops->on_update_container = on_event;
    ops->on_post_update_container = on_event;
    ops->on_stop_container = on_event;
    ops->on_remove_container = on_event;
    ops->on_validate_adjustment = on_event;
    ops->on_connected = on_connected;
    ops->on_disconnected = on_disconnected;
}
