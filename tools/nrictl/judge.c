/* SPDX-License-Identifier: Apache-2.0 */
#include "judge.h"

#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "scenario_inside.h"

/* Of a value in a report; more is cut. */
#define MOST_TEXT 2000

/* ---- what its parts share ---- */

void judge_say(const struct judge *judge, const struct nri_json *member, bool held,
               const char *what, const char *expected, const char *seen)
{
    const struct finding finding = {.step = judge->number,
                                    .line = nri_json_line(member),
                                    .held = held,
                                    .what = what,
                                    .expected = expected,
                                    .seen = seen};
    rehearsal_find(judge->rehearsal, &finding);
}

const char *judge_text(const struct judge *judge, const struct nri_json *value)
{
    struct nri_buf out;
    const char *text = NULL;
    if (value == NULL)
        return "absent";
    memory_buf(&out, SIZE_MAX);
    if (nri_json_write(value, 0, &out) == 0) {
        const size_t length = nri_buf_size(&out);
        text = length <= MOST_TEXT
                   ? nri_arena_text(judge->arena, memory_text(&out), length)
                   : nri_arena_text2(judge->arena, memory_text(&out), MOST_TEXT - 3, "...", 3);
    }
    nri_buf_fini(&out);
    return text != NULL ? text : "(no memory)";
}

struct nri_json *judge_list(const struct judge *judge, const char *const *texts, size_t count)
{
    struct nri_json *list = nri_json_new(judge->arena, NRI_JSON_ARRAY);
    for (size_t i = 0; list != NULL && i < count; i++) {
        struct nri_json *text = nri_json_new_string(judge->arena, texts[i], strlen(texts[i]));
        if (text == NULL || nri_json_append(judge->arena, list, text) != 0)
            return NULL;
    }
    return list;
}

nri_outcome *judge_outcome(const struct judge *judge, enum nri_event event)
{
    for (size_t i = judge->result->outcome_count; i-- > 0;) {
        if (nri_outcome_event(judge->result->outcomes[i]) == event)
            return judge->result->outcomes[i];
    }
    return NULL;
}

bool judge_is_plugin(const char *id, const char *name)
{
    return strcmp(id, name) == 0 || (strlen(id) > 3 && strcmp(id + 3, name) == 0);
}

/* ---- what an expectation is about ---- */

static bool is_operation(enum step_verb verb)
{
    return verb != STEP_WAIT && verb != STEP_EXPECT && verb != STEP_SLEEP;
}

static size_t find_step(const struct rehearsal *rehearsal, const struct nri_json *name,
                        size_t number)
{
    const struct scenario_step *steps = rehearsal->scenario->steps;
    if (name == NULL) {
        for (size_t i = number + 1; i-- > 0;) {
            if (is_operation(steps[i].verb))
                return i;
        }
        return number;
    }
    for (size_t i = 0; i < number; i++) {
        if (steps[i].name != NULL && strcmp(steps[i].name, nri_json_string(name, NULL)) == 0)
            return i;
    }
    return number;
}

/* The names of the file as ids. */
static void find_subject(struct judge *judge)
{
    const struct scenario *scenario = judge->rehearsal->scenario;
    const struct nri_json *of = nri_json_get(judge->value, "of");
    bool twice;
    judge->subject = scenario->steps[judge->about].subject;
    judge->is_pod = scenario->steps[judge->about].is_pod;
    if (of == NULL)
        return;
    const size_t pod = scenario_find_pod(scenario, nri_json_string(of, NULL), &twice);
    const size_t container = scenario_find_container(scenario, nri_json_string(of, NULL), &twice);
    judge->is_pod = pod != SIZE_MAX;
    judge->subject = judge->is_pod ? scenario->pods[pod].id : scenario->containers[container].id;
}

static void judge_one(struct rehearsal *rehearsal, size_t number, const struct nri_json *value)
{
    struct nri_arena arena;
    memory_arena(&arena, SIZE_MAX);
    struct judge judge = {
        .rehearsal = rehearsal, .number = number, .value = value, .arena = &arena};
    judge.about = find_step(rehearsal, nri_json_get(value, "step"), number);
    judge.result = &rehearsal->results[judge.about];
    find_subject(&judge);
    judge_outcomes(&judge);
    judge_events(&judge);
    judge_values(&judge);
    nri_arena_fini(&arena);
}

/* ---- a step ---- */

static bool says_outcome(const struct nri_json *value)
{
    static const char *const keys[] = {"ok", "code", "error", "refused_by", "conflict"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct nri_json *member = nri_json_get(value, keys[i]);
        if (member != NULL && nri_json_get(value, "step") == NULL)
            return true;
    }
    return false;
}

/* Whether the step's own expectation says what becomes of it. */
static bool is_said(const struct nri_json *expect)
{
    if (nri_json_type(expect) == NRI_JSON_OBJECT)
        return says_outcome(expect);
    for (size_t i = 0; i < nri_json_count(expect); i++) {
        if (says_outcome(nri_json_at(expect, i)))
            return true;
    }
    return false;
}

void judge_step(struct rehearsal *rehearsal, size_t number)
{
    const struct scenario_step *step = &rehearsal->scenario->steps[number];
    const struct step_result *result = &rehearsal->results[number];
    const struct nri_json *expect = step->expect;
    char seen[1200];
    if (result->code != 0 && (step->verb == STEP_EXPECT || !is_said(expect))) {
        (void)snprintf(seen, sizeof seen, "%s: %s", nri_error_name(result->code), result->text);
        rehearsal_find(rehearsal, &(struct finding){.step = number,
                                                    .line = step->line,
                                                    .what = "the step",
                                                    .expected = "success",
                                                    .seen = seen});
    }
    if (step->verb == STEP_EXPECT && result->code != 0)
        return; /* what it is about is not over */
    if (nri_json_type(expect) == NRI_JSON_OBJECT)
        judge_one(rehearsal, number, expect);
    for (size_t i = 0; nri_json_type(expect) == NRI_JSON_ARRAY && i < nri_json_count(expect); i++)
        judge_one(rehearsal, number, nri_json_at(expect, i));
}
