/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was found, for people and for programs: by group, the worst first.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "doctor_finding.h"
#include "print.h"

static enum print_colour colour_of(enum doctor_severity severity)
{
    static const enum print_colour colours[] = {[DOCTOR_FINE] = PRINT_GREEN,
                                                [DOCTOR_NOTE] = PRINT_BLUE,
                                                [DOCTOR_WARNING] = PRINT_YELLOW,
                                                [DOCTOR_PROBLEM] = PRINT_RED};
    return colours[severity];
}

static size_t group_length(const char *id)
{
    return strcspn(id, ".");
}

static bool is_in_group(const struct doctor_finding *finding, const char *id)
{
    const size_t length = group_length(id);
    return strncmp(doctor_describe(finding->kind)->id, id, length + 1) == 0;
}

/* ---- text ---- */

/* Lines of a fix are commands or lines of a file: each has a line of its own. */
static void print_lines(const struct nrictl *ctl, const char *title, const char *text)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        (void)fprintf(ctl->out, "    %s%s%s", print_colour(ctl, PRINT_DIM), title,
                      print_colour(ctl, PRINT_PLAIN));
        print_text(ctl->out, text, length);
        (void)fputc('\n', ctl->out);
        title = "     ";
        text += length + (text[length] == '\n');
    }
}

static void print_finding(const struct nrictl *ctl, const struct doctor_finding *finding)
{
    const struct doctor_description *description = doctor_describe(finding->kind);
    (void)fprintf(ctl->out, "  %s%-7s%s ", print_colour(ctl, colour_of(description->severity)),
                  doctor_severity_name(description->severity), print_colour(ctl, PRINT_PLAIN));
    print_text(ctl->out, finding->what, strlen(finding->what));
    (void)fprintf(ctl->out, "  %s[%s]%s\n", print_colour(ctl, PRINT_DIM), description->id,
                  print_colour(ctl, PRINT_PLAIN));
    if (finding->where != NULL)
        print_lines(ctl, "at:  ", finding->where);
    if (description->severity == DOCTOR_FINE)
        return;
    print_lines(ctl, "why: ", description->why);
    if (finding->fix != NULL)
        print_lines(ctl, "fix: ", finding->fix);
}

static void print_group(const struct nrictl *ctl, const struct doctor_findings *findings,
                        const char *id, bool all)
{
    bool begun = false;
    for (int severity = DOCTOR_PROBLEM; severity >= (all ? DOCTOR_FINE : DOCTOR_NOTE); severity--) {
        for (size_t i = 0; i < findings->count; i++) {
            const struct doctor_finding *at = &findings->list[i];
            if ((int)doctor_describe(at->kind)->severity != severity || !is_in_group(at, id))
                continue;
            if (!begun)
                (void)fprintf(ctl->out, "%s%.*s%s\n", print_colour(ctl, PRINT_BOLD),
                              (int)group_length(id), id, print_colour(ctl, PRINT_PLAIN));
            begun = true;
            print_finding(ctl, at);
        }
    }
}

static void print_sum(const struct nrictl *ctl, const struct doctor_findings *findings)
{
    const size_t problems = doctor_count(findings, DOCTOR_PROBLEM);
    const size_t warnings = doctor_count(findings, DOCTOR_WARNING);
    const size_t notes = doctor_count(findings, DOCTOR_NOTE);
    const enum print_colour colour = problems > 0   ? PRINT_RED
                                     : warnings > 0 ? PRINT_YELLOW
                                                    : PRINT_GREEN;
    (void)fprintf(ctl->out, "%s%zu problem%s, %zu warning%s, %zu note%s%s\n",
                  print_colour(ctl, colour), problems, problems == 1 ? "" : "s", warnings,
                  warnings == 1 ? "" : "s", notes, notes == 1 ? "" : "s",
                  print_colour(ctl, PRINT_PLAIN));
    if (findings->full)
        (void)fputs("There was more than is told here.\n", ctl->out);
}

/* The first kind of each group, in the order of the table. */
static bool begins_group(int kind)
{
    const char *id = doctor_describe((enum doctor_kind)kind)->id;
    if (kind == 0)
        return true;
    const char *before = doctor_describe((enum doctor_kind)(kind - 1))->id;
    return strncmp(id, before, group_length(id) + 1) != 0;
}

static void print_all(const struct nrictl *ctl, const struct doctor_findings *findings, bool all)
{
    for (int kind = 0; kind < DOCTOR_KINDS; kind++) {
        if (begins_group(kind))
            print_group(ctl, findings, doctor_describe((enum doctor_kind)kind)->id, all);
    }
    print_sum(ctl, findings);
}

/* ---- JSON ---- */

/* What others wrote need not be UTF-8, which JSON is. */
static void json_text(struct print_json *json, const char *key, const char *value)
{
    char *line = value == NULL ? NULL : strdup(value);
    if (line != NULL && !nri_utf8_valid(line, strlen(line), NULL))
        nri_text_make_line(line, strlen(line));
    print_json_text(json, key, line);
    free(line);
}

static void json_finding(struct print_json *json, const struct doctor_finding *finding)
{
    const struct doctor_description *description = doctor_describe(finding->kind);
    nri_json_begin_object(&json->writer);
    print_json_text(json, "id", description->id);
    print_json_text(json, "severity", doctor_severity_name(description->severity));
    json_text(json, "what", finding->what);
    json_text(json, "where", finding->where);
    print_json_text(json, "why", description->why);
    json_text(json, "fix", finding->fix);
    nri_json_end_object(&json->writer);
}

static int json_all(struct nrictl *ctl, const struct doctor_findings *findings)
{
    struct print_json json;
    print_json_begin(&json, 2);
    nri_json_begin_object(&json.writer);
    print_json_number(&json, "problems", doctor_count(findings, DOCTOR_PROBLEM));
    print_json_number(&json, "warnings", doctor_count(findings, DOCTOR_WARNING));
    print_json_number(&json, "notes", doctor_count(findings, DOCTOR_NOTE));
    print_json_key(&json, "findings");
    nri_json_begin_array(&json.writer);
    for (size_t i = 0; i < findings->count; i++)
        json_finding(&json, &findings->list[i]);
    nri_json_end_array(&json.writer);
    nri_json_end_object(&json.writer);
    return print_json_end(ctl, &json);
}

int doctor_report(struct nrictl *ctl, const struct doctor_findings *findings, bool all)
{
    if (ctl->json)
        return json_all(ctl, findings);
    print_all(ctl, findings, all);
    return NRICTL_OK;
}

/* ---- what there is to be found ---- */

static int list_json(struct nrictl *ctl)
{
    struct print_json json;
    print_json_begin(&json, 2);
    nri_json_begin_array(&json.writer);
    for (int kind = 0; kind < DOCTOR_KINDS; kind++) {
        const struct doctor_description *at = doctor_describe((enum doctor_kind)kind);
        nri_json_begin_object(&json.writer);
        print_json_text(&json, "id", at->id);
        print_json_text(&json, "severity", doctor_severity_name(at->severity));
        print_json_text(&json, "what", at->what);
        print_json_text(&json, "why", at->why);
        nri_json_end_object(&json.writer);
    }
    nri_json_end_array(&json.writer);
    return print_json_end(ctl, &json);
}

int doctor_list(struct nrictl *ctl)
{
    static const char *const titles[] = {"finding", "severity", "what it is"};
    struct print_table table;
    if (ctl->json)
        return list_json(ctl);
    print_table_begin(&table, 3, titles);
    for (int kind = 0; kind < DOCTOR_KINDS; kind++) {
        const struct doctor_description *at = doctor_describe((enum doctor_kind)kind);
        print_table_row(&table);
        print_table_cell(&table, 0, PRINT_PLAIN, "%s", at->id);
        print_table_cell(&table, 1, colour_of(at->severity), "%s",
                         doctor_severity_name(at->severity));
        print_table_cell(&table, 2, PRINT_PLAIN, "%s", at->what);
    }
    return print_table_end(ctl, &table);
}
