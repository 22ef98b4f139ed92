/* SPDX-License-Identifier: Apache-2.0 */
#include "check_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "print.h"
#include "xml.h"

static const char *const result_names[] = {"pass", "fail", "not applicable"};

static const char *severity_name(const struct check *check)
{
    return check->severity == CHECK_MUST ? "must" : "should";
}

/* ---- text ---- */

void report_progress(const struct report *report, const struct check *check)
{
    const struct nrictl *ctl = report->suite->ctl;
    if (ctl->progress)
        (void)fprintf(ctl->err, "\r\033[K[%zu/%zu] %s", report->count + 1, report->planned,
                      check->id);
}

static void end_progress(const struct report *report)
{
    if (report->suite->ctl->progress)
        (void)fputs("\r\033[K", report->suite->ctl->err);
}

static void print_said(FILE *out, const char *what, const char *text)
{
    (void)fprintf(out, "        %s: ", what);
    print_text(out, text, strlen(text));
    (void)fputc('\n', out);
}

static void print_output(struct nrictl *ctl, const struct run *run)
{
    const char *at = run->output, *end = at + run->output_length;
    if (at == end)
        return;
    (void)fputs("        what it printed:\n", ctl->out);
    while (at < end) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        const size_t length = line != NULL ? (size_t)(line - at) : (size_t)(end - at);
        (void)fprintf(ctl->out, "        %s| ", print_colour(ctl, PRINT_DIM));
        print_text(ctl->out, at, length);
        (void)fprintf(ctl->out, "%s\n", print_colour(ctl, PRINT_PLAIN));
        at += length + 1;
    }
}

static void print_run(struct nrictl *ctl, const struct run *run)
{
    static const enum print_colour colours[] = {PRINT_GREEN, PRINT_RED, PRINT_YELLOW};
    static const char *const words[] = {"pass", "FAIL", "n/a "};
    const bool mild = run->result == CHECK_FAIL && run->check->severity == CHECK_SHOULD;
    (void)fprintf(ctl->out, "%s%s%s  %-26s %s%s\n",
                  print_colour(ctl, mild ? PRINT_YELLOW : colours[run->result]),
                  mild ? "fail" : words[run->result], print_colour(ctl, PRINT_PLAIN),
                  run->check->id, run->check->title, mild ? " (should)" : "");
    if (run->result == CHECK_NOT_APPLICABLE)
        print_said(ctl->out, "because", run->seen);
    if (run->result != CHECK_FAIL)
        return;
    print_said(ctl->out, "expected", run->check->expected);
    print_said(ctl->out, "seen", run->seen);
    print_said(ctl->out, "why it matters", run->check->why);
    print_output(ctl, run);
}

static void print_known(struct nrictl *ctl, const struct known *known)
{
    unsigned events = 0;
    for (unsigned bit = 0; bit < 32; bit++)
        events += known->events >> bit & 1;
    (void)fputs("plugin ", ctl->out);
    print_text(ctl->out, known->index, strlen(known->index));
    (void)fputc('-', ctl->out);
    print_text(ctl->out, known->name, strlen(known->name));
    if (known->version[0] != '\0') {
        (void)fputs(", made for NRI ", ctl->out);
        print_text(ctl->out, known->version, strlen(known->version));
    }
    (void)fprintf(ctl->out, ", %u events, %s\n", events,
                  known->reconnects ? "comes back" : "does not come back");
}

static void print_summary(const struct report *report)
{
    struct nrictl *ctl = report->suite->ctl;
    if (report->suite->known.registered)
        print_known(ctl, &report->suite->known);
    (void)fprintf(ctl->out,
                  "%zu checks: %zu passed, %zu failed (%zu must, %zu should), %zu not applicable\n",
                  report->count, report->passed, report->failed, report->failed_must,
                  report->failed - report->failed_must, report->skipped);
}

/* ---- JSON ---- */

static void json_check(struct print_json *json, const struct check *check)
{
    print_json_text(json, "id", check->id);
    print_json_text(json, "severity", severity_name(check));
    print_json_text(json, "title", check->title);
    print_json_text(json, "expected", check->expected);
    print_json_text(json, "why", check->why);
}

/* What plugins print may be anything. */
static void json_output(struct print_json *json, const struct run *run)
{
    char *text = malloc(run->output_length + 1);
    if (text == NULL || run->output == NULL) {
        free(text);
        print_json_text(json, "output", NULL);
        return;
    }
    memcpy(text, run->output, run->output_length);
    for (size_t i = 0; i < run->output_length; i++) {
        const unsigned char byte = (unsigned char)text[i];
        text[i] = byte == '\n' || (byte >= 0x20 && byte < 0x7f) ? text[i] : '?';
    }
    text[run->output_length] = '\0';
    print_json_text(json, "output", text);
    free(text);
}

static void json_run(struct print_json *json, const struct run *run)
{
    char seen[RUN_TEXT];
    memcpy(seen, run->seen, sizeof seen);
    nri_text_make_line(seen, strlen(seen));
    nri_json_begin_object(&json->writer);
    json_check(json, run->check);
    print_json_text(json, "result", result_names[run->result]);
    print_json_text(json, "seen", seen[0] != '\0' ? seen : NULL);
    print_json_number(json, "milliseconds", run->took);
    if (run->result == CHECK_FAIL)
        json_output(json, run);
    nri_json_end_object(&json->writer);
}

static void json_known(struct print_json *json, const struct known *known)
{
    print_json_key(json, "plugin");
    if (!known->registered) {
        nri_json_write_null(&json->writer);
        return;
    }
    nri_json_begin_object(&json->writer);
    print_json_text(json, "name", known->name);
    print_json_text(json, "index", known->index);
    print_json_text(json, "nri_version", known->version);
    print_json_number(json, "events", known->events);
    print_json_number(json, "refused", known->refused);
    print_json_bool(json, "reconnects", known->reconnects);
    nri_json_end_object(&json->writer);
}

static int print_json(const struct report *report)
{
    struct print_json json;
    print_json_begin(&json, 2);
    nri_json_begin_object(&json.writer);
    json_known(&json, &report->suite->known);
    print_json_number(&json, "passed", report->passed);
    print_json_number(&json, "failed", report->failed);
    print_json_number(&json, "failed_must", report->failed_must);
    print_json_number(&json, "not_applicable", report->skipped);
    print_json_key(&json, "checks");
    nri_json_begin_array(&json.writer);
    for (size_t i = 0; i < report->count; i++)
        json_run(&json, &report->runs[i]);
    nri_json_end_array(&json.writer);
    nri_json_end_object(&json.writer);
    return print_json_end(report->suite->ctl, &json);
}

int report_list(struct nrictl *ctl, bool (*wanted)(const struct check *check, void *user),
                void *user)
{
    static const char *const titles[] = {"CHECK", "SEVERITY", "WHAT IS DONE"};
    struct print_json json;
    struct print_table table;
    if (ctl->json) {
        print_json_begin(&json, 2);
        nri_json_begin_array(&json.writer);
    } else {
        print_table_begin(&table, 3, titles);
    }
    for (size_t i = 0; check_groups[i] != NULL; i++) {
        for (size_t j = 0; j < check_groups[i]->count; j++) {
            const struct check *check = &check_groups[i]->checks[j];
            if (!wanted(check, user))
                continue;
            if (ctl->json) {
                nri_json_begin_object(&json.writer);
                json_check(&json, check);
                print_json_bool(&json, "optional", check->optional);
                nri_json_end_object(&json.writer);
                continue;
            }
            print_table_row(&table);
            print_table_cell(&table, 0, PRINT_PLAIN, "%s", check->id);
            print_table_cell(&table, 1, PRINT_PLAIN, "%s", severity_name(check));
            print_table_cell(&table, 2, PRINT_PLAIN, "%s", check->title);
        }
    }
    if (!ctl->json)
        return print_table_end(ctl, &table);
    nri_json_end_array(&json.writer);
    return print_json_end(ctl, &json);
}

/* ---- JUnit ---- */

/* A `should` that fails is no failure of the suite: it is told as skipped, as JUnit has no third.
 */
static void junit_run(FILE *out, const struct run *run)
{
    enum { MILLIS = 1000 };
    const bool failure = run->result == CHECK_FAIL && run->check->severity == CHECK_MUST;
    const char *dot = strchr(run->check->id, '.');
    (void)fprintf(out, "  <testcase classname=\"%.*s\"", (int)(dot - run->check->id),
                  run->check->id);
    xml_attribute(out, "name", run->check->id);
    (void)fprintf(out, " time=\"%llu.%03llu\"", (unsigned long long)run->took / MILLIS,
                  (unsigned long long)run->took % MILLIS);
    if (run->result == CHECK_PASS) {
        (void)fputs("/>\n", out);
        return;
    }
    (void)fprintf(out, ">\n    <%s", failure ? "failure" : "skipped");
    xml_attribute(out, "message", run->seen);
    (void)fputs("/>\n", out);
    if (run->output_length > 0) {
        (void)fputs("    <system-out>", out);
        xml_text(out, run->output, run->output_length);
        (void)fputs("</system-out>\n", out);
    }
    (void)fputs("  </testcase>\n", out);
}

static void print_junit(const struct report *report)
{
    FILE *out = report->suite->ctl->out;
    (void)fprintf(out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<testsuite name=\"nrictl check\" tests=\"%zu\" failures=\"%zu\" "
                  "skipped=\"%zu\" errors=\"0\">\n",
                  report->count, report->failed_must,
                  report->skipped + report->failed - report->failed_must);
    for (size_t i = 0; i < report->count; i++)
        junit_run(out, &report->runs[i]);
    (void)fputs("</testsuite>\n", out);
}

/* ---- TAP ---- */

static void tap_said(FILE *out, const char *what, const char *text)
{
    (void)fprintf(out, "  %s: '", what);
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            (void)fputc('\'', out);
        print_text(out, text, 1);
    }
    (void)fputs("'\n", out);
}

static void print_tap(const struct report *report)
{
    FILE *out = report->suite->ctl->out;
    (void)fprintf(out, "TAP version 13\n1..%zu\n", report->count);
    for (size_t i = 0; i < report->count; i++) {
        const struct run *run = &report->runs[i];
        const bool failed = run->result == CHECK_FAIL;
        (void)fprintf(out, "%s %zu - %s", failed ? "not ok" : "ok", i + 1, run->check->id);
        if (run->result == CHECK_NOT_APPLICABLE) {
            (void)fputs(" # SKIP ", out);
            print_text(out, run->seen, strlen(run->seen));
        } else if (failed && run->check->severity == CHECK_SHOULD) {
            (void)fputs(" # TODO should", out);
        }
        (void)fputc('\n', out);
        if (!failed)
            continue;
        (void)fputs("  ---\n", out);
        tap_said(out, "expected", run->check->expected);
        tap_said(out, "seen", run->seen);
        (void)fputs("  ...\n", out);
    }
}

/* ---- the report ---- */

void report_add(struct report *report, const struct run *run)
{
    report->runs[report->count++] = *run;
    report->passed += run->result == CHECK_PASS;
    report->failed += run->result == CHECK_FAIL;
    report->failed_must += run->result == CHECK_FAIL && run->check->severity == CHECK_MUST;
    report->skipped += run->result == CHECK_NOT_APPLICABLE;
    end_progress(report);
    if (report->format == REPORT_TEXT) {
        print_run(report->suite->ctl, run);
        (void)fflush(report->suite->ctl->out);
    }
}

int report_end(struct report *report)
{
    switch (report->format) {
    case REPORT_JSON:
        return print_json(report);
    case REPORT_JUNIT:
        print_junit(report);
        break;
    case REPORT_TAP:
        print_tap(report);
        break;
    default:
        print_summary(report);
    }
    return NRICTL_OK;
}

void report_free(struct report *report)
{
    for (size_t i = 0; i < report->count; i++)
        run_free(&report->runs[i]);
    free(report->runs);
}
