/* SPDX-License-Identifier: Apache-2.0 */
/* What became of a step: success or failure, and whose doing it was. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "field_key.h"
#include "form.h"
#include "judge.h"
#include "match.h"

#define TEXT_ROOM 1400

/* "success", or code and text. */
static const char *seen_of(const struct judge *judge, char seen[TEXT_ROOM])
{
    if (judge->result->code == 0)
        return "success";
    (void)snprintf(seen, TEXT_ROOM, "%s: %s", nri_error_name(judge->result->code),
                   judge->result->text);
    return seen;
}

static void judge_ok(const struct judge *judge, const struct nri_json *member)
{
    char seen[TEXT_ROOM];
    const bool ok = nri_json_bool(member);
    judge_say(judge, member, ok == (judge->result->code == 0), "ok", ok ? "success" : "a failure",
              seen_of(judge, seen));
}

static void judge_code(const struct judge *judge, const struct nri_json *member)
{
    char seen[TEXT_ROOM];
    const char *code = nri_json_string(member, NULL);
    judge_say(judge, member, strcmp(nri_error_name(judge->result->code), code) == 0, "code", code,
              seen_of(judge, seen));
}

static void judge_error(const struct judge *judge, const struct nri_json *member)
{
    char seen[TEXT_ROOM];
    const char *text = judge->result->text;
    const bool failed = judge->result->code != 0;
    bool held;
    if (nri_json_type(member) == NRI_JSON_STRING) {
        held = failed && strstr(text, nri_json_string(member, NULL)) != NULL;
    } else {
        const struct nri_json *value =
            failed ? nri_json_new_string(judge->arena, text, strlen(text)) : NULL;
        held = match_value(member, value);
    }
    judge_say(judge, member, held, "error", judge_text(judge, member), seen_of(judge, seen));
}

/* The plugin that made an event of the step fail. */
static const char *refuser(const struct judge *judge)
{
    for (size_t i = 0; i < judge->result->outcome_count; i++) {
        if (nri_outcome_code(judge->result->outcomes[i]) != 0)
            return nri_outcome_plugin(judge->result->outcomes[i]);
    }
    return "";
}

static void judge_refused(const struct judge *judge, const struct nri_json *member)
{
    const char *plugin = nri_json_string(member, NULL), *by = refuser(judge);
    judge_say(judge, member, judge_is_plugin(by, plugin), "refused_by", plugin,
              *by != '\0' ? by : "nobody");
}

/* ---- conflicts ---- */

/* Whether a conflict's text names a field and its key: "... both tried to set Env PATH". */
static bool is_about(const char *text, int field, const char *key)
{
    char wanted[400];
    (void)snprintf(wanted, sizeof wanted, " set %s%s%.300s", nri_field_name(field),
                   *key != '\0' ? " " : "", key);
    for (const char *at = text; (at = strstr(at, wanted)) != NULL; at++) {
        const char after = at[strlen(wanted)];
        if (*key != '\0' ? after == '\0' || after == ' ' || after == ','
                         : !isalnum((unsigned char)after))
            return true;
    }
    return false;
}

static bool names_all(const char *text, const struct nri_json *plugins)
{
    for (size_t i = 0; i < nri_json_count(plugins); i++) {
        const char *name = nri_json_string(nri_json_at(plugins, i), NULL);
        char quoted[160];
        (void)snprintf(quoted, sizeof quoted, "\"%.140s\"", name);
        const char *at = strstr(text, quoted);
        (void)snprintf(quoted, sizeof quoted, "-%.140s\"", name);
        if (at == NULL && strstr(text, quoted) == NULL)
            return false;
    }
    return true;
}

static void judge_conflict(const struct judge *judge, const struct nri_json *member)
{
    char seen[TEXT_ROOM];
    const bool conflict = judge->result->code == NRI_E_CONFLICT;
    const struct nri_json *on =
        nri_json_type(member) == NRI_JSON_OBJECT ? nri_json_get(member, "on") : member;
    bool held;
    if (nri_json_type(member) == NRI_JSON_BOOL) {
        held = nri_json_bool(member) == conflict;
    } else {
        const char *key, *meant;
        const int field = field_key_parse(nri_json_string(on, NULL), &key, &meant);
        held = conflict && is_about(judge->result->text, field, key) &&
               names_all(judge->result->text, nri_json_get(member, "between"));
    }
    judge_say(judge, member, held, "conflict", judge_text(judge, member), seen_of(judge, seen));
}

/* ---- plugins that were left out, containers that were not updated ---- */

static void judge_skipped(const struct judge *judge, const struct nri_json *member)
{
    struct nri_json *seen = judge_list(judge, NULL, 0);
    bool held = true;
    size_t count = 0;
    for (size_t i = 0; i < judge->result->outcome_count; i++) {
        const nri_outcome *outcome = judge->result->outcomes[i];
        for (size_t j = 0; j < nri_outcome_step_count(outcome); j++) {
            if (nri_outcome_step_result(outcome, j) != NRI_STEP_SKIPPED)
                continue;
            const char *plugin = nri_outcome_step_plugin(outcome, j);
            const struct nri_json *expected = nri_json_at(member, count++);
            struct nri_json *text = nri_json_new_string(judge->arena, plugin, strlen(plugin));
            if (seen == NULL || text == NULL || nri_json_append(judge->arena, seen, text) != 0)
                held = false;
            held = held && expected != NULL &&
                   judge_is_plugin(plugin, nri_json_string(expected, NULL));
        }
    }
    judge_say(judge, member, held && count == nri_json_count(member), "skipped",
              judge_text(judge, member), judge_text(judge, seen));
}

static void judge_not_updated(const struct judge *judge, const struct nri_json *member)
{
    const struct nri_json *seen =
        judge_list(judge, judge->result->not_updated, judge->result->not_updated_count);
    judge_say(judge, member, seen != NULL && match_equal(member, seen), "not_updated",
              judge_text(judge, member), judge_text(judge, seen));
}

/* ---- latency ---- */

/* The slowest answer that a bound is about; false: there is none. */
static bool slowest(const struct judge *judge, const char *plugin, const char *event,
                    uint64_t *nanoseconds)
{
    bool found = false;
    *nanoseconds = 0;
    for (size_t i = 0; i < judge->result->outcome_count; i++) {
        const nri_outcome *outcome = judge->result->outcomes[i];
        for (size_t j = 0; j < nri_outcome_step_count(outcome); j++) {
            if (!judge_is_plugin(nri_outcome_step_plugin(outcome, j), plugin) ||
                (event != NULL &&
                 strcmp(nri_event_name(nri_outcome_step_event(outcome, j)), event) != 0))
                continue;
            found = true;
            if (nri_outcome_step_latency(outcome, j) > *nanoseconds)
                *nanoseconds = nri_outcome_step_latency(outcome, j);
        }
    }
    return found;
}

static void judge_bound(const struct judge *judge, const struct nri_json *bound)
{
    const struct nri_json *plugin = nri_json_get(bound, "plugin");
    const struct nri_json *event = nri_json_get(bound, "event");
    uint64_t most = 0, nanoseconds = judge->result->nanoseconds;
    bool found = true;
    char what[200], seen[64], expected[64];
    (void)form_time(nri_json_string(nri_json_get(bound, "below"), NULL), &most);
    if (plugin != NULL)
        found = slowest(judge, nri_json_string(plugin, NULL),
                        event != NULL ? nri_json_string(event, NULL) : NULL, &nanoseconds);
    (void)snprintf(what, sizeof what, "latency%s%.120s", plugin != NULL ? " of " : "",
                   plugin != NULL ? nri_json_string(plugin, NULL) : "");
    (void)snprintf(expected, sizeof expected, "below %" PRIu64 " ms", most);
    (void)snprintf(seen, sizeof seen, "%" PRIu64 ".%03u ms", nanoseconds / 1000000,
                   (unsigned)(nanoseconds / 1000 % 1000));
    judge_say(judge, bound, found && nanoseconds < most * 1000000, what, expected,
              found ? seen : "no answer of it");
}

static void judge_latency(const struct judge *judge, const struct nri_json *member)
{
    if (nri_json_type(member) == NRI_JSON_OBJECT)
        judge_bound(judge, member);
    for (size_t i = 0; nri_json_type(member) == NRI_JSON_ARRAY && i < nri_json_count(member); i++)
        judge_bound(judge, nri_json_at(member, i));
}

void judge_outcomes(const struct judge *judge)
{
    static const struct {
        const char *key;
        void (*look)(const struct judge *judge, const struct nri_json *member);
    } parts[] = {{"ok", judge_ok},
                 {"code", judge_code},
                 {"error", judge_error},
                 {"refused_by", judge_refused},
                 {"conflict", judge_conflict},
                 {"skipped", judge_skipped},
                 {"not_updated", judge_not_updated},
                 {"latency", judge_latency}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const struct nri_json *member = nri_json_get(judge->value, parts[i].key);
        if (member != NULL)
            parts[i].look(judge, member);
    }
}
