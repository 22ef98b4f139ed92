/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "print.h"
#include "report.h"

/* A text of the library's that is JSON, as a part of the result. Frees it. */
static void put_document(struct print_json *json, const char *key, int rc, char *text)
{
    print_json_key(json, key);
    if (rc != 0 || text == NULL) {
        nri_json_write_null(&json->writer);
    } else {
        struct nri_arena arena;
        struct nri_json *document = NULL;
        memory_arena(&arena, SIZE_MAX);
        if (nri_json_parse(&arena, text, strlen(text), NULL, NULL, &document, NULL) != 0)
            nri_json_write_null(&json->writer);
        else
            print_json_value(json, document);
        nri_arena_fini(&arena);
    }
    nri_json_free(text);
}

static void put_texts(struct print_json *json, const char *key, const char *const *texts,
                      size_t count)
{
    print_json_key(json, key);
    nri_json_begin_array(&json->writer);
    for (size_t i = 0; i < count; i++)
        nri_json_write_string(&json->writer, texts[i], strlen(texts[i]));
    nri_json_end_array(&json->writer);
}

/* ---- steps ---- */

static void put_finding(struct print_json *json, const struct finding *finding)
{
    nri_json_begin_object(&json->writer);
    print_json_text(json, "what", finding->what);
    print_json_number(json, "line", finding->line);
    print_json_bool(json, "held", finding->held);
    print_json_text(json, "expected", finding->expected);
    print_json_text(json, "seen", finding->seen);
    nri_json_end_object(&json->writer);
}

static void put_step_events(const struct rehearsal *rehearsal, struct print_json *json,
                            const struct step_result *result)
{
    print_json_key(json, "events");
    nri_json_begin_array(&json->writer);
    for (size_t i = 0; i < result->outcome_count; i++) {
        const struct trail_event *event = trail_find(&rehearsal->trail, result->outcomes[i]);
        char text[300];
        if (event == NULL)
            continue;
        (void)trail_event_text(event, text, sizeof text);
        nri_json_write_string(&json->writer, text, strlen(text));
    }
    nri_json_end_array(&json->writer);
}

static void put_step(const struct rehearsal *rehearsal, struct print_json *json, size_t number)
{
    const struct scenario_step *step = &rehearsal->scenario->steps[number];
    const struct step_result *result = &rehearsal->results[number];
    const bool over = result->state == RESULT_OVER;
    nri_json_begin_object(&json->writer);
    print_json_text(json, "step", step->title);
    if (step->name != NULL)
        print_json_text(json, "name", step->name);
    print_json_number(json, "line", step->line);
    print_json_text(json, "state",
                    over                              ? "over"
                    : result->state == RESULT_WAITING ? "not begun"
                                                      : "under way");
    if (over) {
        print_json_text(json, "code", nri_error_name(result->code));
        print_json_text(json, "text", result->text);
        put_step_events(rehearsal, json, result);
    }
    print_json_key(json, "expectations");
    nri_json_begin_array(&json->writer);
    for (size_t i = 0; i < rehearsal->findings.count; i++) {
        if (rehearsal->findings.list[i].step == number)
            put_finding(json, &rehearsal->findings.list[i]);
    }
    nri_json_end_array(&json->writer);
    nri_json_end_object(&json->writer);
}

/* ---- containers ---- */

static void put_owner(const struct report_owner *owner, void *user)
{
    struct print_json *json = user;
    nri_json_begin_object(&json->writer);
    print_json_text(json, "field", nri_field_name(owner->field));
    print_json_text(json, "key", owner->key);
    print_json_text(json, "action", owner->removed ? "removed" : "set");
    print_json_text(json, "plugin", owner->plugin);
    nri_json_end_object(&json->writer);
}

static void put_container(struct print_json *json, const struct trail_event *event)
{
    char *text = NULL;
    nri_json_begin_object(&json->writer);
    print_json_text(json, "id", event->container);
    print_json_text(json, "name", event->container_name);
    print_json_text(json, "pod", event->pod);
    print_json_text(json, "code", nri_error_name(nri_outcome_code(event->outcome)));
    print_json_text(json, "text", nri_outcome_text(event->outcome));
    const int rc =
        nri_adjustment_to_json(nri_outcome_adjustment(event->outcome), NULL, &text, NULL, NULL);
    put_document(json, "adjustment", rc, text);
    print_json_key(json, "owners");
    nri_json_begin_array(&json->writer);
    if (nri_outcome_code(event->outcome) == 0)
        report_owners(event->outcome, put_owner, json);
    nri_json_end_array(&json->writer);
    nri_json_end_object(&json->writer);
}

/* ---- what happened ---- */

static void put_events(const struct rehearsal *rehearsal, struct print_json *json)
{
    const struct trail *trail = &rehearsal->trail;
    print_json_key(json, "events");
    nri_json_begin_array(&json->writer);
    for (size_t i = 0; i < trail->event_count; i++) {
        char text[300];
        (void)trail_event_text(&trail->events[i], text, sizeof text);
        nri_json_write_string(&json->writer, text, strlen(text));
    }
    nri_json_end_array(&json->writer);
    print_json_key(json, "containers");
    nri_json_begin_array(&json->writer);
    for (size_t i = 0; i < trail->event_count; i++) {
        if (trail->events[i].event == NRI_EVENT_CREATE_CONTAINER)
            put_container(json, &trail->events[i]);
    }
    nri_json_end_array(&json->writer);
    print_json_key(json, "conflicts");
    nri_json_begin_array(&json->writer);
    for (size_t i = 0; i < trail->event_count; i++) {
        const struct trail_event *event = &trail->events[i];
        if (nri_outcome_code(event->outcome) != NRI_E_CONFLICT)
            continue;
        nri_json_begin_object(&json->writer);
        print_json_text(json, "event", nri_event_name(event->event));
        print_json_text(json, "container", event->container);
        print_json_text(json, "text", nri_outcome_text(event->outcome));
        nri_json_end_object(&json->writer);
    }
    nri_json_end_array(&json->writer);
}

static void put_others(const struct rehearsal *rehearsal, struct print_json *json)
{
    const struct trail *trail = &rehearsal->trail;
    print_json_key(json, "updates");
    nri_json_begin_array(&json->writer);
    for (size_t i = 0; i < trail->update_count; i++) {
        const struct trail_update *update = &trail->updates[i];
        nri_json_begin_object(&json->writer);
        print_json_text(json, "plugin", update->plugin);
        print_json_bool(json, "synchronize", update->sync);
        put_texts(json, "done", update->done, update->done_count);
        put_texts(json, "failed", update->failed, update->failed_count);
        put_texts(json, "ignored", update->ignored, update->ignored_count);
        nri_json_end_object(&json->writer);
    }
    nri_json_end_array(&json->writer);
    print_json_key(json, "evictions");
    nri_json_begin_array(&json->writer);
    for (size_t i = 0; i < trail->eviction_count; i++) {
        nri_json_begin_object(&json->writer);
        print_json_text(json, "container", trail->evictions[i].container);
        print_json_text(json, "plugin", trail->evictions[i].plugin);
        print_json_text(json, "reason", trail->evictions[i].reason);
        nri_json_end_object(&json->writer);
    }
    nri_json_end_array(&json->writer);
}

static bool put_latencies(const struct rehearsal *rehearsal, struct print_json *json)
{
    struct report_latency *list;
    size_t count;
    const bool made = report_latencies(rehearsal, &list, &count);
    print_json_key(json, "latencies");
    nri_json_begin_array(&json->writer);
    for (size_t i = 0; made && i < count; i++) {
        nri_json_begin_object(&json->writer);
        print_json_text(json, "plugin", list[i].plugin);
        print_json_number(json, "asked", list[i].answers);
        print_json_number(json, "failed", list[i].failures);
        print_json_number(json, "mean_ns", list[i].sum / list[i].answers);
        print_json_number(json, "longest_ns", list[i].longest);
        nri_json_end_object(&json->writer);
    }
    nri_json_end_array(&json->writer);
    free(list);
    return made;
}

int report_json(const struct rehearsal *rehearsal)
{
    const struct findings *findings = &rehearsal->findings;
    struct print_json json;
    print_json_begin(&json, 2);
    nri_json_begin_object(&json.writer);
    print_json_text(&json, "scenario", rehearsal->scenario->name);
    print_json_text(&json, "file", rehearsal->scenario->file);
    print_json_bool(&json, "passed", report_passed(rehearsal));
    print_json_text(&json, "incomplete", report_end_text(rehearsal));
    put_texts(&json, "plugins", rehearsal->plugins, rehearsal->plugin_count);
    print_json_key(&json, "expectations");
    nri_json_begin_object(&json.writer);
    print_json_number(&json, "total", findings->count + findings->lost);
    print_json_number(&json, "failed", findings->failed);
    nri_json_end_object(&json.writer);
    print_json_key(&json, "steps");
    nri_json_begin_array(&json.writer);
    for (size_t i = 0; i < rehearsal->scenario->step_count; i++)
        put_step(rehearsal, &json, i);
    nri_json_end_array(&json.writer);
    put_events(rehearsal, &json);
    put_others(rehearsal, &json);
    const bool made = put_latencies(rehearsal, &json);
    print_json_number(&json, "not_kept", findings->lost + rehearsal->trail.lost);
    nri_json_end_object(&json.writer);
    const int code = print_json_end(rehearsal->ctl, &json);
    return made ? code : nrictl_fail(rehearsal->ctl, NRICTL_ENVIRONMENT, "no memory");
}
