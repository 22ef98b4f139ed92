/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event's record has how long each plugin's turn took and how long it had to wait, one behind
 * the other, in the time of the runtime's own clock: from the event's begin these make the places
 * of the plugins' slices. Validators are asked side by side; so they get one slice inside the
 * event's, from the first question to the last answer, and each has its own in its plugin's row.
 */
#include "trace_node.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <uv.h>

#include "memory.h"
#include "payload.h"

/* Plugins that come under ever new names share the last row. */
#define MOST_PLUGINS 1024

struct plugin {
    struct plugin *next;
    struct trace_row row;
    char id[];
};

struct trace_node {
    struct trace *trace;
    uint64_t began;               /* uv_hrtime() of the trace's 0 */
    uint64_t runtime, of_plugins; /* processes */
    struct trace_row events, steps;
    struct plugin *plugins;
    size_t plugin_count;
    uint64_t number; /* of the last event */
};

/* ---- its life ---- */

struct trace_node *trace_node_new(struct trace *trace, const char *runtime)
{
    struct trace_node *node = calloc(1, sizeof *node);
    if (node == NULL)
        return NULL;
    node->trace = trace;
    node->began = uv_hrtime();
    node->runtime = trace_id(trace);
    node->of_plugins = trace_id(trace);
    trace_name_process(trace, node->runtime, runtime, 0);
    trace_name_process(trace, node->of_plugins, "plugins", 1);
    trace_row_init(&node->steps, node->runtime, "scenario", 0);
    trace_row_init(&node->events, node->runtime, "events", 1);
    node->events.in_order = true;
    return node;
}

void trace_node_free(struct trace_node *node)
{
    if (node == NULL)
        return;
    trace_row_fini(&node->events);
    trace_row_fini(&node->steps);
    while (node->plugins != NULL) {
        struct plugin *plugin = node->plugins;
        node->plugins = plugin->next;
        trace_row_fini(&plugin->row);
        free(plugin);
    }
    free(node);
}

/* ---- rows ---- */

static uint64_t since(const struct trace_node *node, uint64_t hrtime)
{
    return hrtime > node->began ? hrtime - node->began : 0;
}

/* NULL: no memory, and that plugin is not shown. */
static struct trace_row *row_of(struct trace_node *node, const char *id)
{
    struct plugin *plugin;
    for (plugin = node->plugins; plugin != NULL; plugin = plugin->next) {
        if (strcmp(plugin->id, id) == 0)
            return &plugin->row;
    }
    if (node->plugin_count == MOST_PLUGINS)
        return &node->plugins->row;
    const size_t size = strlen(id) + 1;
    if ((plugin = calloc(1, sizeof *plugin + size)) == NULL)
        return NULL;
    memcpy(plugin->id, id, size);
    plugin->next = node->plugins;
    node->plugins = plugin;
    node->plugin_count++;
    /* Rows stand in the order in which plugins are asked. */
    trace_row_init(&plugin->row, node->of_plugins, id, (uint64_t)strtoul(id, NULL, 10));
    return &plugin->row;
}

/* An instant of a plugin, or, without one, of the runtime; the caller ends it. NULL: no memory. */
static struct nri_json_writer *tell_at(struct trace_node *node, const char *plugin, uint64_t at,
                                       const char *category, const char *name)
{
    struct trace_row *row = plugin[0] == '\0' ? &node->events : row_of(node, plugin);
    const uint64_t thread = row == NULL ? 0 : trace_row_first(node->trace, row);
    const struct trace_place place = {row == NULL ? 0 : row->process, thread, at, at};
    return thread == 0 ? NULL : trace_instant(node->trace, &place, category, name);
}

static struct nri_json_writer *tell(struct trace_node *node, const char *plugin,
                                    const char *category, const char *name)
{
    return tell_at(node, plugin, since(node, uv_hrtime()), category, name);
}

/* ---- events ---- */

static const char *text_of(const struct nri_json *object, const char *key)
{
    return nri_json_string(nri_json_get(object, key), NULL);
}

static uint64_t number_of(const struct nri_json *object, const char *key)
{
    uint64_t number = 0;
    return nri_json_uint64(nri_json_get(object, key), &number) == 0 ? number : 0;
}

/* All members but the list of steps. */
static void put_members(struct nri_json_writer *writer, const struct nri_json *object)
{
    for (size_t i = 0; i < nri_json_count(object); i++) {
        const char *key;
        size_t length;
        const struct nri_json *value = nri_json_member_at(object, i, &key, &length);
        if (strcmp(key, "steps") == 0)
            continue;
        nri_json_write_key(writer, key, length);
        payload_write_value(value, writer);
    }
}

struct event {
    struct trace_node *node;
    const struct nri_json *record;
    char name[300];
    struct trace_place place;
    uint64_t at; /* up to where its steps are shown */
};

static void name_event(struct event *event)
{
    static const char *const keys[] = {"container_name", "container", "pod_name", "pod"};
    const char *about = "";
    for (size_t i = 0; i < sizeof keys / sizeof *keys && about[0] == '\0'; i++)
        about = text_of(event->record, keys[i]);
    (void)snprintf(event->name, sizeof event->name, "%s %s", text_of(event->record, "event"),
                   about);
}

static uint64_t within(const struct event *event, uint64_t at)
{
    return at < event->place.end ? at : event->place.end;
}

static void put_slice(const struct event *event, const struct trace_place *place,
                      const char *category, const char *name, const struct nri_json *step)
{
    struct trace *trace = event->node->trace;
    struct nri_json_writer *writer = trace_slice(trace, place, category, name);
    trace_number(writer, "number", event->node->number);
    put_members(writer, step);
    trace_end(trace);
}

/* In the plugin's row; `begin` to `end` is from the question to the answer. */
static void put_turn(const struct event *event, const struct nri_json *step, uint64_t begin,
                     uint64_t end)
{
    struct trace_node *node = event->node;
    const char *plugin = text_of(step, "plugin");
    struct trace_row *row = row_of(node, plugin);
    const uint64_t thread = row == NULL ? 0 : trace_row_thread(node->trace, row, begin, end);
    const struct trace_place place = {node->of_plugins, thread, begin, end};
    if (thread == 0)
        return;
    put_slice(event, &place, "request", event->name, step);
    if (strcmp(text_of(step, "code"), "NRI_E_TIMEOUT") != 0)
        return;
    struct nri_json_writer *writer = tell_at(node, plugin, end, "time-out", "time-out");
    if (writer != NULL) {
        trace_text(writer, "event", event->name);
        trace_end(node->trace);
    }
}

static bool is_queued(const struct nri_json *step)
{
    return strcmp(text_of(step, "result"), "queued") == 0;
}

static bool is_validation(const struct event *event, const struct nri_json *step)
{
    return strcmp(text_of(step, "event"), text_of(event->record, "event")) != 0;
}

/* What a plugin is told later has no time yet. */
static void put_queued(const struct event *event, const struct nri_json *step)
{
    struct nri_json_writer *writer =
        tell_at(event->node, text_of(step, "plugin"), event->at, "queued", event->name);
    if (writer == NULL)
        return;
    put_members(writer, step);
    trace_end(event->node->trace);
}

static void put_step(struct event *event, const struct nri_json *step)
{
    struct trace_place place = event->place;
    place.begin = within(event, event->at + number_of(step, "wait_ns"));
    place.end = within(event, place.begin + number_of(step, "latency_ns"));
    event->at = place.end;
    put_slice(event, &place, "plugin", text_of(step, "plugin"), step);
    put_turn(event, step, place.begin, place.end);
}

/* The steps from `at` on are validations. */
static void put_validations(const struct event *event, const struct nri_json *steps, size_t at)
{
    struct trace *trace = event->node->trace;
    struct trace_place place = {event->place.process, event->place.thread, event->place.end,
                                event->at};
    for (size_t i = at; i < nri_json_count(steps); i++) {
        const struct nri_json *step = nri_json_at(steps, i);
        const uint64_t begin = within(event, event->at + number_of(step, "wait_ns"));
        const uint64_t end = within(event, begin + number_of(step, "latency_ns"));
        place.begin = begin < place.begin ? begin : place.begin;
        place.end = end > place.end ? end : place.end;
        put_turn(event, step, begin, end);
    }
    struct nri_json_writer *writer =
        trace_slice(trace, &place, "plugin", "ValidateContainerAdjustment");
    trace_number(writer, "number", event->node->number);
    nri_json_write_key(writer, "validators", strlen("validators"));
    nri_json_begin_array(writer);
    for (size_t i = at; i < nri_json_count(steps); i++) {
        const char *plugin = text_of(nri_json_at(steps, i), "plugin");
        nri_json_write_string(writer, plugin, strlen(plugin));
    }
    nri_json_end_array(writer);
    trace_end(trace);
}

static void put_event(struct event *event)
{
    const struct nri_json *steps = nri_json_get(event->record, "steps");
    name_event(event);
    event->node->number++;
    put_slice(event, &event->place, "event", event->name, event->record);
    for (size_t i = 0; i < nri_json_count(steps); i++) {
        const struct nri_json *step = nri_json_at(steps, i);
        if (is_queued(step)) {
            put_queued(event, step);
        } else if (is_validation(event, step)) {
            put_validations(event, steps, i);
            return;
        } else {
            put_step(event, step);
        }
    }
}

void trace_node_outcome(struct trace_node *node, const nri_outcome *outcome, uint64_t nanoseconds)
{
    struct nri_arena arena;
    struct nri_json *record = NULL;
    char *text = NULL;
    size_t length = 0;
    if (node == NULL)
        return;
    memory_arena(&arena, SIZE_MAX);
    if (nri_outcome_json(outcome, NULL, &text, &length) == 0 &&
        nri_json_parse(&arena, text, length, NULL, NULL, &record, NULL) == 0) {
        struct event event = {.node = node, .record = record};
        event.place.end = since(node, uv_hrtime());
        event.place.begin = event.place.end > nanoseconds ? event.place.end - nanoseconds : 0;
        event.at = event.place.begin;
        event.place.process = node->runtime;
        event.place.thread =
            trace_row_thread(node->trace, &node->events, event.place.begin, event.place.end);
        if (event.place.thread != 0)
            put_event(&event);
    }
    nri_outcome_text_free(text);
    nri_arena_fini(&arena);
}

/* ---- what else happens ---- */

void trace_node_ready(struct trace_node *node)
{
    if (node != NULL && tell(node, "", "runtime", "runtime is ready") != NULL)
        trace_end(node->trace);
}

void trace_node_connected(struct trace_node *node, const char *plugin)
{
    if (node != NULL && tell(node, plugin, "connection", "connected") != NULL)
        trace_end(node->trace);
}

void trace_node_lost(struct trace_node *node, const char *plugin, int code, const char *text)
{
    struct nri_json_writer *writer = node == NULL ? NULL : tell(node, plugin, "connection", "lost");
    if (writer == NULL)
        return;
    trace_text(writer, "code", nri_error_name(code));
    trace_text(writer, "text", code == 0 ? "the runtime dropped it" : text);
    trace_end(node->trace);
}

void trace_node_updated(struct trace_node *node, const char *plugin, const nri_updates *list,
                        const char *const *failed, size_t failed_count, bool sync)
{
    struct nri_json_writer *writer = node == NULL ? NULL : tell(node, plugin, "update", "updates");
    if (writer == NULL)
        return;
    nri_json_write_key(writer, "containers", strlen("containers"));
    nri_json_begin_array(writer);
    for (size_t i = 0; i < nri_updates_count(list); i++) {
        const char *id = nri_update_container_id(nri_updates_at(list, i));
        nri_json_write_string(writer, id, strlen(id));
    }
    nri_json_end_array(writer);
    nri_json_write_key(writer, "failed", strlen("failed"));
    nri_json_begin_array(writer);
    for (size_t i = 0; i < failed_count; i++)
        nri_json_write_string(writer, failed[i], strlen(failed[i]));
    nri_json_end_array(writer);
    nri_json_write_key(writer, "synchronize", strlen("synchronize"));
    nri_json_write_bool(writer, sync);
    trace_end(node->trace);
}

void trace_node_evicted(struct trace_node *node, const char *container, const char *plugin,
                        const char *reason)
{
    struct nri_json_writer *writer = node == NULL ? NULL : tell(node, plugin, "eviction", "evicts");
    if (writer == NULL)
        return;
    trace_text(writer, "container", container);
    trace_text(writer, "reason", reason);
    trace_end(node->trace);
}

void trace_node_child_ended(struct trace_node *node, const char *program, int status)
{
    struct nri_json_writer *writer =
        node == NULL ? NULL : tell(node, "", "process", "a plugin's process ended");
    if (writer == NULL)
        return;
    trace_text(writer, "program", program);
    if (WIFEXITED(status))
        trace_number(writer, "status", (uint64_t)WEXITSTATUS(status));
    else
        trace_number(writer, "signal", (uint64_t)WTERMSIG(status));
    trace_end(node->trace);
}

void trace_node_step(struct trace_node *node, const char *title, uint64_t began, int code,
                     const char *text)
{
    if (node == NULL)
        return;
    struct trace_place place = {.process = node->runtime, .begin = since(node, began)};
    place.end = since(node, uv_hrtime());
    place.thread = trace_row_thread(node->trace, &node->steps, place.begin, place.end);
    if (place.thread == 0)
        return;
    struct nri_json_writer *writer = trace_slice(node->trace, &place, "step", title);
    trace_text(writer, "code", nri_error_name(code));
    trace_text(writer, "text", text);
    trace_end(node->trace);
}
