/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor_finding.h"

#include <nri/error.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FINDINGS 2000

const struct doctor_description *doctor_describe(enum doctor_kind kind)
{
    static const struct doctor_description descriptions[] = {
#define X(name, id, severity, what, why) [DOCTOR_##name] = {id, DOCTOR_##severity, what, why},
        DOCTOR_FINDINGS(X)
#undef X
    };
    return &descriptions[kind];
}

const char *doctor_severity_name(enum doctor_severity severity)
{
    static const char *const names[] = {[DOCTOR_FINE] = "fine",
                                        [DOCTOR_NOTE] = "note",
                                        [DOCTOR_WARNING] = "warning",
                                        [DOCTOR_PROBLEM] = "problem"};
    return names[severity];
}

/* Takes what vasprintf() made into the arena. */
static const char *keep(struct nri_arena *arena, char *text)
{
    if (text == NULL)
        arena->failure = NRI_E_NOMEM;
    const char *kept = text == NULL ? NULL : nri_arena_text(arena, text, strlen(text));
    free(text);
    return kept == NULL ? "" : kept;
}

const char *doctor_text(struct nri_arena *arena, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    return keep(arena, text);
}

static bool has_room(struct doctor_findings *findings)
{
    if (findings->count < findings->room)
        return true;
    findings->full = findings->count == MOST_FINDINGS;
    if (findings->full)
        return false;
    const size_t room = findings->room == 0 ? 32 : 2 * findings->room;
    struct doctor_finding *list = nri_arena_array(findings->arena, room, sizeof *list);
    if (list == NULL)
        return false;
    if (findings->count > 0)
        memcpy(list, findings->list, findings->count * sizeof *list);
    findings->list = list;
    findings->room = room < MOST_FINDINGS ? room : MOST_FINDINGS;
    return true;
}

static bool is_same(const char *one, const char *other)
{
    return one == NULL || other == NULL ? one == other : strcmp(one, other) == 0;
}

/* Two runtimes with the same directories have the same findings there. */
static bool is_known(const struct doctor_findings *findings, const struct doctor_finding *finding)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct doctor_finding *at = &findings->list[i];
        if (at->kind == finding->kind && is_same(at->where, finding->where) &&
            is_same(at->what, finding->what))
            return true;
    }
    return false;
}

void doctor_find(struct doctor_findings *findings, enum doctor_kind kind, const char *where,
                 const char *fix, const char *format, ...)
{
    va_list arguments;
    struct doctor_finding finding = {.kind = kind, .where = where, .fix = fix};
    char *text = NULL;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    finding.what = keep(findings->arena, text);
    if (!is_known(findings, &finding) && has_room(findings))
        findings->list[findings->count++] = finding;
}

bool doctor_found(const struct doctor_findings *findings, enum doctor_kind kind)
{
    for (size_t i = 0; i < findings->count; i++) {
        if (findings->list[i].kind == kind)
            return true;
    }
    return false;
}

size_t doctor_count(const struct doctor_findings *findings, enum doctor_severity severity)
{
    size_t count = 0;
    for (size_t i = 0; i < findings->count; i++)
        count += doctor_describe(findings->list[i].kind)->severity == severity;
    return count;
}
