/* SPDX-License-Identifier: Apache-2.0 */
#include "expectation_forms.h"

#define DAY 86400000

static const struct form_key text_item = {.types = FORM_TEXT};

static const char *const codes[] = {
    "NRI_E_INVALID",  "NRI_E_STATE",    "NRI_E_NOT_FOUND",   "NRI_E_CLOSED",   "NRI_E_TIMEOUT",
    "NRI_E_LIMIT",    "NRI_E_PROTOCOL", "NRI_E_UNSUPPORTED", "NRI_E_REJECTED", "NRI_E_RANGE",
    "NRI_E_CONFLICT", "NRI_E_INTERNAL", "NRI_E_BUSY",        "NRI_E_NOMEM",    NULL};
static const char *const states[] = {"starting", "ready",   "creating", "created",
                                     "running",  "stopped", "removed",  NULL};

/* ---- how a value has to be ---- */

static const struct form_key match_keys[] = {
    {.name = "equal", .types = FORM_ANY, .help = "It is this value; the order of members is free"},
    {.name = "contains",
     .types = FORM_ANY,
     .help =
         "A text has this text in it, a list this element (or all of a list of them), an object "
         "these members"},
    {.name = "matches", .types = FORM_PATTERN, .help = "A text, or a number's digits, match it"},
    {.name = "absent", .types = FORM_FLAG, .help = "true: there is no such value; false: there is"},
    {.name = "count",
     .types = FORM_NUMBER,
     .most = 1000000,
     .help = "A list has so many elements, an object so many members"},
    {.name = NULL},
};
const struct form match_form = {
    .name = "a match",
    .help = "How a value has to be; all that is said has to hold",
    .keys = match_keys,
    .some = true,
};
static const struct form_key path_value = {
    .types = FORM_PLAIN | FORM_OBJECT,
    .form = &match_form,
    .help = "The value itself (null: absent), or an object with equal, contains, matches, absent, "
            "count",
};

/* ---- events ---- */

static const struct form_key events_keys[] = {
    {.name = "equal", .types = FORM_LIST, .item = &text_item, .help = "Exactly these, in order"},
    {.name = "contains",
     .types = FORM_LIST,
     .item = &text_item,
     .help = "These, in order; others may stand between them"},
    {.name = "absent", .types = FORM_LIST, .item = &text_item, .help = "None of these"},
    {.name = "plugin",
     .types = FORM_TEXT,
     .help = "What this plugin was asked, not the node's own"},
    {.name = "about", .types = FORM_TEXT, .help = "Only events of this pod sandbox, or container"},
    {.name = "since",
     .types = FORM_CHOICE,
     .choices = (const char *const[]){"start", "step", NULL},
     .help = "start: all since the beginning; step: of the step that the expectation is about "
             "(default)"},
    {.name = NULL},
};
const struct form events_form = {
    .name = "events",
    .help = "The events, as EVENT or EVENT NAME with the name of the pod sandbox or container",
    .keys = events_keys,
    .some = true,
};

/* ---- latency, conflict, updates ---- */

static const struct form_key latency_keys[] = {
    {.name = "below",
     .types = FORM_TIME,
     .least = 1,
     .most = DAY,
     .required = true,
     .help = "The upper bound"},
    {.name = "plugin",
     .types = FORM_TEXT,
     .help = "Of this plugin's answers, each; else of the whole step"},
    {.name = "event", .types = FORM_TEXT, .help = "Only the answers to this event"},
    {.name = NULL},
};
const struct form latency_form = {
    .name = "latency", .help = "An upper bound of how long something took", .keys = latency_keys};

static const struct form_key conflict_keys[] = {
    {.name = "on",
     .types = FORM_TEXT,
     .required = true,
     .help = "The field, and its key where it has one: env PATH"},
    {.name = "between",
     .types = FORM_LIST,
     .item = &text_item,
     .help = "The plugins that both set it"},
    {.name = NULL},
};
const struct form conflict_form = {
    .name = "conflict", .help = "Two plugins set the same", .keys = conflict_keys};

static const struct form_key updated_keys[] = {
    {.name = "plugin", .types = FORM_TEXT, .required = true, .help = "The plugin that updated"},
    {.name = "done",
     .types = FORM_LIST,
     .item = &text_item,
     .help = "The containers whose update was applied, in order"},
    {.name = "failed",
     .types = FORM_LIST,
     .item = &text_item,
     .help = "The ids that the plugin was told could not be updated, in order"},
    {.name = "ignored",
     .types = FORM_LIST,
     .item = &text_item,
     .help = "The ids that could not be updated, which the plugin wanted to be ignored"},
    {.name = NULL},
};
const struct form updated_form = {
    .name = "updated",
    .help = "The last update of containers that a plugin made of its own accord",
    .keys = updated_keys};

/* ---- an expectation ---- */

static const struct form_key expectation_keys[] = {
    {.name = "step",
     .types = FORM_TEXT,
     .help = "The name of the step that it is about; the last operation when it is left out"},
    {.name = "of",
     .types = FORM_TEXT,
     .help =
         "The pod sandbox or container that container, pod, oci and state are about; the one of "
         "the step when it is left out"},
    {.name = "ok",
     .types = FORM_FLAG,
     .help = "true: the step succeeded; false: it failed, whatever the reason"},
    {.name = "code",
     .types = FORM_CHOICE,
     .choices = codes,
     .help = "The step failed with this code of nri/error.h"},
    {.name = "error",
     .types = FORM_TEXT | FORM_OBJECT,
     .form = &match_form,
     .help = "The step failed with a text that has this in it, or is as the match says"},
    {.name = "refused_by", .types = FORM_TEXT, .help = "The plugin that made the step fail"},
    {.name = "conflict",
     .types = FORM_TEXT | FORM_FLAG | FORM_OBJECT,
     .form = &conflict_form,
     .help = "The step failed because two plugins set the same: env PATH; false: it did not"},
    {.name = "skipped",
     .types = FORM_LIST,
     .item = &text_item,
     .help = "The plugins without whose answer the step went on, in order"},
    {.name = "events",
     .types = FORM_LIST | FORM_OBJECT,
     .item = &text_item,
     .form = &events_form,
     .help = "The events of the step, exactly these and in this order, or as the object says"},
    {.name = "adjustment",
     .types = FORM_MAP,
     .item = &path_value,
     .help = "Of the merged adjustment: path to what is there"},
    {.name = "resources",
     .types = FORM_MAP,
     .item = &path_value,
     .help = "Of the resources that an update came to: path to what is there"},
    {.name = "updates",
     .types = FORM_MAP,
     .item = &path_value,
     .help = "Of the updates of other containers, and evictions, that plugins answered with: path "
             "to what is there"},
    {.name = "not_updated",
     .types = FORM_LIST,
     .item = &text_item,
     .help = "The ids of containers whose update, asked for in an answer, was not possible"},
    {.name = "container",
     .types = FORM_MAP,
     .item = &path_value,
     .help = "Of the container as it is now, in NRI's JSON form: path to what is there"},
    {.name = "pod",
     .types = FORM_MAP,
     .item = &path_value,
     .help = "Of the pod sandbox as it is now: path to what is there"},
    {.name = "oci",
     .types = FORM_MAP,
     .item = &path_value,
     .help = "Of the container's OCI config.json as it is now: JSON pointer, or path, to what is "
             "there"},
    {.name = "state",
     .types = FORM_CHOICE,
     .choices = states,
     .help = "The state of the pod sandbox or container"},
    {.name = "owners",
     .types = FORM_MAP,
     .item = &(const struct form_key){.types = FORM_TEXT | FORM_NULL},
     .help =
         "Field, and its key where it has one, to the plugin that set it: env PATH: 10-a; null: "
         "nobody did"},
    {.name = "latency",
     .types = FORM_OBJECT | FORM_LIST,
     .form = &latency_form,
     .item = &(const struct form_key){.types = FORM_OBJECT, .form = &latency_form},
     .help = "Upper bounds of how long it took"},
    {.name = "updated",
     .types = FORM_OBJECT,
     .form = &updated_form,
     .help = "What a plugin updated of its own accord"},
    {.name = "plugins",
     .types = FORM_LIST,
     .item = &text_item,
     .help = "The plugins that are connected, in the order in which they are asked"},
    {.name = NULL},
};

const struct form expectation_form = {
    .name = "expectation",
    .help = "What has to hold; all that is said has to",
    .keys = expectation_keys,
    .some = true,
};
