/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <nri/event.h>

#include "field_key.h"
#include "near.h"
#include "path.h"
#include "scenario_forms.h"
#include "scenario_inside.h"

#define WAIT_MS 30000

/* ---- what a step names ---- */

static int refuse_name(struct scenario_reader *reader, const struct nri_json *value,
                       const char *what, bool pods, bool containers)
{
    const struct scenario *scenario = reader->scenario;
    const char *name = nri_json_string(value, NULL);
    struct near near;
    near_begin(&near, name);
    for (size_t i = 0; pods && i < scenario->pod_count; i++)
        near_offer(&near, scenario->pods[i].name);
    for (size_t i = 0; containers && i < scenario->container_count; i++)
        near_offer(&near, scenario->containers[i].name);
    const char *meant = near_end(&near);
    return form_refuse(&reader->check, value, "there is no %s \"%.80s\" in pods%s%s%s", what, name,
                       meant != NULL ? "; is \"" : "", meant != NULL ? meant : "",
                       meant != NULL ? "\" meant?" : "");
}

static int find_subject(struct scenario_reader *reader, const struct nri_json *value, bool pods,
                        bool containers, const char **id, bool *is_pod)
{
    const struct scenario *scenario = reader->scenario;
    const char *name = nri_json_string(value, NULL);
    bool twice = false, twice_pod = false;
    const size_t pod = pods ? scenario_find_pod(scenario, name, &twice_pod) : SIZE_MAX;
    const size_t container =
        containers ? scenario_find_container(scenario, name, &twice) : SIZE_MAX;
    if (pod == SIZE_MAX && container == SIZE_MAX)
        return refuse_name(reader, value,
                           pods && containers ? "pod or container"
                           : pods             ? "pod"
                                              : "container",
                           pods, containers);
    if ((pod != SIZE_MAX && container != SIZE_MAX) || twice || twice_pod)
        return form_refuse(
            &reader->check, value,
            "\"%.80s\" is the name of several: write the id of the one that is meant", name);
    *is_pod = pod != SIZE_MAX;
    *id = *is_pod ? scenario->pods[pod].id : scenario->containers[container].id;
    return 0;
}

/* What kind of thing the verb's value is the name of. */
static int read_subject(struct scenario_reader *reader, const struct nri_json *value,
                        struct scenario_step *step)
{
    switch (step->verb) {
    case STEP_RUN:
        return find_subject(reader, value, true, false, &step->subject, &step->is_pod);
    case STEP_CREATE:
    case STEP_START:
    case STEP_EXIT:
        return find_subject(reader, value, false, true, &step->subject, &step->is_pod);
    case STEP_UPDATE:
    case STEP_STOP:
    case STEP_REMOVE:
        return find_subject(reader, value, true, true, &step->subject, &step->is_pod);
    case STEP_CONNECT:
    case STEP_PAUSE:
    case STEP_CONTINUE:
    case STEP_KILL:
    case STEP_SLOW_READER:
        step->subject = nri_json_string(value, NULL);
        return 0;
    default:
        return 0;
    }
}

/* ---- expectations and waits: what the forms cannot say ---- */

static int check_event(struct scenario_reader *reader, const struct nri_json *value)
{
    const char *text = nri_json_string(value, NULL);
    const size_t length = strcspn(text, " ");
    struct near near;
    char name[64];
    (void)snprintf(name, sizeof name, "%.*s", (int)(length < 60 ? length : 60), text);
    near_begin(&near, name);
    for (int event = 1; event <= NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT; event++) {
        const char *candidate = nri_event_name((enum nri_event)event);
        if (strcmp(candidate, name) == 0)
            return 0;
        near_offer(&near, candidate);
    }
    const char *meant = near_end(&near);
    return form_refuse(&reader->check, value, "\"%s\" is no event of NRI%s%s%s", name,
                       meant != NULL ? "; is \"" : "", meant != NULL ? meant : "",
                       meant != NULL ? "\" meant?" : "");
}

static int check_events(struct scenario_reader *reader, const struct nri_json *list)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < nri_json_count(list); i++)
        rc = check_event(reader, nri_json_at(list, i));
    return rc;
}

static int check_step_name(struct scenario_reader *reader, const struct nri_json *value,
                           size_t before)
{
    const struct scenario *scenario = reader->scenario;
    for (size_t i = 0; i < before; i++) {
        if (scenario->steps[i].name != NULL &&
            strcmp(scenario->steps[i].name, nri_json_string(value, NULL)) == 0)
            return 0;
    }
    return form_refuse(&reader->check, value, "no step before this one has the name \"%.80s\"",
                       nri_json_string(value, NULL));
}

static int check_subject(struct scenario_reader *reader, const struct nri_json *value)
{
    const char *id;
    bool is_pod;
    return find_subject(reader, value, true, true, &id, &is_pod);
}

static int check_field(struct scenario_reader *reader, const struct nri_json *value,
                       const char *text)
{
    const char *key, *meant;
    if (field_key_parse(text, &key, &meant) != 0)
        return 0;
    return form_refuse(&reader->check, value,
                       "\"%.80s\" begins with no field of NRI (doc/scenario.md has them)%s%s%s",
                       text, meant != NULL ? "; is \"" : "", meant != NULL ? meant : "",
                       meant != NULL ? "\" meant?" : "");
}

static int check_fields(struct scenario_reader *reader, const struct nri_json *value)
{
    const struct nri_json *owners = nri_json_get(value, "owners");
    const struct nri_json *conflict = nri_json_get(value, "conflict");
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < nri_json_count(owners); i++) {
        const char *text;
        const struct nri_json *owner = nri_json_member_at(owners, i, &text, NULL);
        rc = check_field(reader, owner, text);
    }
    if (nri_json_type(conflict) == NRI_JSON_OBJECT)
        conflict = nri_json_get(conflict, "on");
    if (rc == 0 && nri_json_type(conflict) == NRI_JSON_STRING)
        rc = check_field(reader, conflict, nri_json_string(conflict, NULL));
    return rc;
}

static int check_paths(struct scenario_reader *reader, const struct nri_json *value)
{
    static const char *const maps[] = {"adjustment", "resources", "updates",
                                       "container",  "pod",       "oci"};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        const struct nri_json *map = nri_json_get(value, maps[i]);
        for (size_t j = 0; j < nri_json_count(map); j++) {
            const char *path;
            const struct nri_json *member = nri_json_member_at(map, j, &path, NULL);
            if (path_fault(path) != NULL)
                return form_refuse(&reader->check, member, "%.80s is %s", path, path_fault(path));
        }
    }
    return 0;
}

static int check_expectation(struct scenario_reader *reader, const struct nri_json *value,
                             size_t before)
{
    const struct nri_json *events = nri_json_get(value, "events");
    static const char *const lists[] = {"equal", "contains", "absent"};
    const struct nri_json *member;
    int rc = 0;
    if ((member = nri_json_get(value, "step")) != NULL)
        rc = check_step_name(reader, member, before);
    if (rc == 0 && (member = nri_json_get(value, "of")) != NULL)
        rc = check_subject(reader, member);
    if (rc == 0 && nri_json_type(events) == NRI_JSON_ARRAY)
        rc = check_events(reader, events);
    for (size_t i = 0; rc == 0 && i < sizeof lists / sizeof *lists; i++)
        rc = check_events(reader, nri_json_get(events, lists[i]));
    if (rc == 0 && (member = nri_json_get(events, "about")) != NULL)
        rc = check_subject(reader, member);
    if (rc == 0)
        rc = check_fields(reader, value);
    return rc == 0 ? check_paths(reader, value) : rc;
}

static int check_expectations(struct scenario_reader *reader, const struct nri_json *value,
                              size_t before)
{
    int rc = 0;
    if (nri_json_type(value) == NRI_JSON_OBJECT)
        return check_expectation(reader, value, before);
    for (size_t i = 0; rc == 0 && i < nri_json_count(value); i++)
        rc = check_expectation(reader, nri_json_at(value, i), before);
    return rc;
}

static int check_wait(struct scenario_reader *reader, const struct nri_json *value, size_t before)
{
    const struct nri_json *member;
    int rc = 0;
    if ((member = nri_json_get(value, "event")) != NULL)
        rc = check_event(reader, member);
    if (rc == 0 && (member = nri_json_get(value, "step")) != NULL)
        rc = check_step_name(reader, member, before);
    return rc;
}

/* ---- one step ---- */

static int check_connect(struct scenario_reader *reader, const struct nri_json *value)
{
    const struct scenario *scenario = reader->scenario;
    const char *name = nri_json_string(value, NULL);
    for (size_t i = 0; i < scenario->plugin_count; i++) {
        if (scenario->plugins[i].later && strcmp(scenario->plugins[i].name, name) == 0)
            return 0;
    }
    return form_refuse(&reader->check, value,
                       "no plugin of the list that is marked as later has the name \"%.80s\"",
                       name);
}

static int read_slow_reader(struct scenario_reader *reader, const struct nri_json *value,
                            struct scenario_step *step)
{
    const struct nri_json *index = nri_json_get(value, "index");
    step->index = index != NULL ? nri_json_string(index, NULL) : "99";
    (void)nri_json_uint64(nri_json_get(value, "bytes_per_second"), &step->rate);
    if (strlen(step->index) != 2 || strspn(step->index, "0123456789") != 2)
        return form_refuse(&reader->check, index,
                           "index must be two digits in quotes, such as \"10\"");
    return 0;
}

static int read_update(struct scenario_reader *reader, const struct nri_json *value,
                       struct scenario_step *step)
{
    const struct nri_json *overhead = nri_json_get(value, "overhead");
    int rc = scenario_read_resources(reader, value, "resources", &step->resources);
    if (rc == 0)
        rc = scenario_read_resources(reader, value, "overhead", &step->overhead);
    if (rc == 0 && overhead != NULL && !step->is_pod)
        rc = form_refuse(&reader->check, overhead, "overhead is of a pod sandbox, not a container");
    if (rc == 0 && step->resources == NULL && !step->is_pod)
        rc = form_refuse(&reader->check, value, "step update needs \"resources\"");
    return rc;
}

static int read_rest(struct scenario_reader *reader, const struct nri_json *value,
                     struct scenario_step *step, size_t number)
{
    int64_t code = 0;
    switch (step->verb) {
    case STEP_UPDATE:
        return read_update(reader, value, step);
    case STEP_EXIT:
        (void)nri_json_int64(nri_json_get(value, "code"), &code);
        step->exit_code = (int32_t)code;
        return 0;
    case STEP_SLEEP:
        step->ms = scenario_time(value, "sleep", 0);
        return 0;
    case STEP_RESTART:
        step->ms = scenario_time(value, "away", 0);
        return 0;
    case STEP_CONNECT:
        return check_connect(reader, step->value);
    case STEP_KILL:
        step->signal = strcmp(nri_json_string(nri_json_get(value, "signal"), NULL), "TERM") == 0
                           ? SIGTERM
                           : SIGKILL;
        return 0;
    case STEP_SLOW_READER:
        return read_slow_reader(reader, value, step);
    case STEP_WAIT:
        step->ms = scenario_time(value, "timeout", WAIT_MS);
        return check_wait(reader, step->value, number);
    default:
        return 0;
    }
}

static int make_title(struct scenario_reader *reader, const struct form *form,
                      struct scenario_step *step)
{
    const char *verb = form->keys->name;
    char title[160];
    const char *what =
        nri_json_type(step->value) == NRI_JSON_STRING ? nri_json_string(step->value, NULL) : "";
    if (step->verb == STEP_WAIT) {
        (void)nri_json_member_at(step->value, 0, &what, NULL);
        (void)snprintf(title, sizeof title, "wait for %s %.100s", what,
                       nri_json_string(nri_json_get(step->value, what), NULL));
    } else {
        (void)snprintf(title, sizeof title, "%s%s%.100s", verb, *what != '\0' ? " " : "", what);
    }
    step->title = nri_arena_text(&reader->scenario->arena, title, strlen(title));
    return step->title == NULL ? scenario_no_memory(reader) : 0;
}

static int read_step(struct scenario_reader *reader, const struct nri_json *value, size_t number)
{
    struct scenario_step *step = &reader->scenario->steps[number];
    const struct nri_json *background = nri_json_get(value, "background");
    size_t verb = 0;
    int rc = 0;
    while (nri_json_get(value, scenario_step_forms[verb]->keys->name) == NULL)
        verb++; /* one of them is there: it is checked */
    *step =
        (struct scenario_step){.verb = (enum step_verb)verb,
                               .line = nri_json_line(value),
                               .subject = "",
                               .value = nri_json_get(value, scenario_step_forms[verb]->keys->name),
                               .expect = nri_json_get(value, "expect"),
                               .background = nri_json_bool(background)};
    step->name = scenario_text(reader, value, "name", false, &rc);
    if (rc == 0 && step->background && (step->verb == STEP_SLEEP || step->verb >= STEP_WAIT))
        rc = form_refuse(&reader->check, background, "%s cannot be in the background",
                         scenario_step_forms[verb]->name);
    if (rc == 0)
        rc = read_subject(reader, step->value, step);
    if (rc == 0)
        rc = read_rest(reader, value, step, number);
    if (rc == 0 && step->expect != NULL)
        rc = check_expectations(reader, step->expect, number);
    return rc == 0 ? make_title(reader, scenario_step_forms[verb], step) : rc;
}

int scenario_read_steps(struct scenario_reader *reader, const struct nri_json *list)
{
    struct scenario *scenario = reader->scenario;
    const size_t count = nri_json_count(list);
    int rc = 0;
    scenario->steps = scenario_room(reader, count, sizeof *scenario->steps, &rc);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = read_step(reader, nri_json_at(list, i), i);
        scenario->step_count = i + 1;
    }
    return rc;
}
