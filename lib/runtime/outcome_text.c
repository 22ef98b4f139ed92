/* SPDX-License-Identifier: Apache-2.0 */
/* The record of an event as JSON for programs, and as a table for people. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <nri/json.h>

#include "base/text.h"
#include "model/json_options.h"
#include "model/model.h"
#include "runtime/internal.h"
#include "json/json.h"

#define LINE_SIZE 512

static const char *const result_names[] = {"answered", "skipped", "failed", "queued"};
static const char *const action_names[] = {"set",     "replaced", "kept",
                                           "removed", "dropped",  "evicted"};

/* ---- JSON ---- */

static void member(struct nri_json_writer *writer, const char *key)
{
    nri_json_write_key(writer, key, strlen(key));
}

static void text_member(struct nri_json_writer *writer, const char *key, const char *text)
{
    if (text[0] == '\0')
        return;
    member(writer, key);
    nri_json_write_string(writer, text, strlen(text));
}

static void write_change(struct nri_json_writer *writer, const struct nri_rt_change *change)
{
    nri_json_begin_object(writer);
    text_member(writer, "action", action_names[change->action]);
    text_member(writer, "field", nri_field_name(change->field));
    text_member(writer, "key", change->key);
    text_member(writer, "container", change->container);
    text_member(writer, "other", change->other);
    nri_json_end_object(writer);
}

static void write_step(struct nri_json_writer *writer, const struct nri_rt_step *step)
{
    nri_json_begin_object(writer);
    text_member(writer, "plugin", step->plugin);
    text_member(writer, "event", nri_event_name(step->event));
    text_member(writer, "result", result_names[step->result]);
    if (step->code != 0)
        text_member(writer, "code", nri_error_name(step->code));
    text_member(writer, "text", step->text);
    member(writer, "wait_ns");
    nri_json_write_uint64(writer, step->wait);
    member(writer, "latency_ns");
    nri_json_write_uint64(writer, step->latency);
    member(writer, "changes");
    nri_json_begin_array(writer);
    for (size_t i = 0; i < step->change_count; i++)
        write_change(writer, &step->changes[i]);
    nri_json_end_array(writer);
    nri_json_end_object(writer);
}

static int write_json(const nri_outcome *outcome, struct nri_buf *out)
{
    struct nri_json_writer writer;
    const struct nri_rt_about *about = &outcome->about;

    nri_json_writer_init(&writer, out, 0);
    nri_json_begin_object(&writer);
    text_member(&writer, "event", nri_event_name(outcome->subject.event));
    text_member(&writer, "pod", about->pod);
    text_member(&writer, "pod_name", about->pod_name);
    text_member(&writer, "namespace", about->pod_namespace);
    if (about->container != NULL) {
        text_member(&writer, "container", about->container);
        text_member(&writer, "container_name", about->container_name);
    }
    text_member(&writer, "code", nri_error_name(outcome->code));
    text_member(&writer, "text", outcome->text);
    text_member(&writer, "plugin", outcome->plugin);
    member(&writer, "steps");
    nri_json_begin_array(&writer);
    for (const struct nri_rt_step *step = outcome->steps; step != NULL; step = step->next)
        write_step(&writer, step);
    nri_json_end_array(&writer);
    nri_json_end_object(&writer);
    return nri_json_writer_end(&writer);
}

/* ---- the table ---- */

static int put(struct nri_buf *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Plugins choose keys and texts, and people look at the table in a terminal. What a cut left of a
 * character goes too. */
static void blank_controls(char *line, size_t length)
{
    size_t at = 0, fault;

    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
            line[i] = ' ';
    }
    while (!nri_utf8_valid(line + at, length - at, &fault)) {
        at += fault;
        line[at++] = '?';
    }
}

static int put(struct nri_buf *out, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0)
        return NRI_E_INTERNAL;
    if ((size_t)length >= sizeof line) {
        length = (int)sizeof line - 1;
        line[length - 1] = '\n';
    }
    blank_controls(line, (size_t)length - 1);
    return nri_buf_append(out, line, (size_t)length);
}

static const char *what_changed(const struct nri_rt_change *change)
{
    if (change->action == NRI_CHANGE_EVICTED)
        return change->key[0] == '\0' ? "for no reason" : "for";
    return nri_field_name(change->field);
}

static int put_step(struct nri_buf *out, const struct nri_rt_step *step)
{
    const uint64_t us = step->latency / 1000;
    const bool validates = step->event == NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT;
    const bool answered = step->result == NRI_STEP_ANSWERED;
    int code = 0;

    if (step->change_count == 0 || step->text[0] != '\0')
        code = put(out, "%-20.40s %8" PRIu64 " us  %-9s %.200s\n", step->plugin, us,
                   validates && answered ? "validated" : result_names[step->result], step->text);
    for (size_t i = 0; code == 0 && i < step->change_count; i++) {
        const struct nri_rt_change *change = &step->changes[i];
        code = put(out, "%-20.40s %8" PRIu64 " us  %-9s %s%s%.100s%s%.40s%s%.64s\n", step->plugin,
                   us, action_names[change->action], what_changed(change),
                   change->key[0] == '\0' ? "" : " ", change->key,
                   change->other[0] == '\0' ? "" : ", of ", change->other,
                   change->container[0] == '\0' ? "" : ", container ", change->container);
    }
    return code;
}

static int write_table(const nri_outcome *outcome, struct nri_buf *out)
{
    const struct nri_rt_about *about = &outcome->about;
    int code =
        put(out, "%s, pod sandbox %.64s%s%.64s: %s\n", nri_event_name(outcome->subject.event),
            about->pod, about->container == NULL ? "" : ", container ",
            about->container == NULL ? "" : about->container,
            outcome->code == 0 ? "done" : outcome->text);

    for (const struct nri_rt_step *step = outcome->steps; code == 0 && step != NULL;
         step = step->next)
        code = put_step(out, step);
    return code;
}

/* ---- both ---- */

static int make(const nri_outcome *outcome, const struct nri_allocator *allocator,
                int (*fill)(const nri_outcome *outcome, struct nri_buf *out), char **text,
                size_t *length)
{
    struct nri_json_settings settings = {.max_bytes = SIZE_MAX};
    struct nri_buf out;

    if (text != NULL)
        *text = NULL;
    if (length != NULL)
        *length = 0;
    if (outcome == NULL || text == NULL)
        return NRI_E_INVALID;
    int code = nri_alloc_resolve(&settings.alloc, allocator);
    if (code == 0)
        code = nri_json_result_begin(&settings, &out);
    if (code != 0)
        return code;
    code = fill(outcome, &out);
    if (code == 0) {
        *text = nri_json_result_end(&out, length);
        code = *text != NULL ? 0 : NRI_E_NOMEM;
    }
    nri_buf_fini(&out);
    return code;
}

int nri_outcome_json(const nri_outcome *outcome, const struct nri_allocator *allocator, char **text,
                     size_t *length)
{
    return make(outcome, allocator, write_json, text, length);
}

int nri_outcome_table(const nri_outcome *outcome, const struct nri_allocator *allocator,
                      char **text, size_t *length)
{
    return make(outcome, allocator, write_table, text, length);
}

char *nri_outcome_text_free(char *text)
{
    return nri_json_free(text);
}
