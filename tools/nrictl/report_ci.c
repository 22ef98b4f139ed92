/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JUnit XML and TAP: a test for each step, in the order of the scenario; a step that was not begun
 * is a skipped one. No times and no names of this machine stand in them but the JUnit times, so
 * that two runs can be compared.
 */
#include <inttypes.h>
#include <string.h>

#include "report.h"
#include "xml.h"

/* ---- JUnit ---- */

/* "12 create app": names have to differ. */
static void step_name(const struct rehearsal *rehearsal, size_t number, char *text, size_t room)
{
    const struct scenario_step *step = &rehearsal->scenario->steps[number];
    (void)snprintf(text, room, "%zu %.200s%s%.200s", number + 1, step->title,
                   step->name != NULL ? ": " : "", step->name != NULL ? step->name : "");
}

static void junit_step(const struct rehearsal *rehearsal, FILE *out, size_t number)
{
    const struct step_result *result = &rehearsal->results[number];
    const struct finding *finding;
    char name[500];
    size_t at = 0;
    step_name(rehearsal, number, name, sizeof name);
    (void)fputs("    <testcase", out);
    xml_attribute(out, "classname", rehearsal->scenario->name);
    xml_attribute(out, "name", name);
    xml_attribute(out, "file", rehearsal->scenario->file);
    (void)fprintf(out, " line=\"%zu\" time=\"%" PRIu64 ".%06u\">\n",
                  rehearsal->scenario->steps[number].line, result->nanoseconds / 1000000000,
                  (unsigned)(result->nanoseconds / 1000 % 1000000));
    while ((finding = report_failure(rehearsal, number, &at)) != NULL) {
        (void)fputs("      <failure", out);
        xml_attribute(out, "message", finding->what);
        (void)fputs(">expected ", out);
        xml_text(out, finding->expected, strlen(finding->expected));
        (void)fputs("\nseen     ", out);
        xml_text(out, finding->seen, strlen(finding->seen));
        (void)fputs("</failure>\n", out);
    }
    if (result->state != RESULT_OVER)
        (void)fprintf(out, "      <skipped message=\"%s\"/>\n",
                      report_end_text(rehearsal) != NULL ? report_end_text(rehearsal) : "");
    (void)fputs("    </testcase>\n", out);
}

static void count_steps(const struct rehearsal *rehearsal, size_t *failed, size_t *skipped)
{
    *failed = *skipped = 0;
    for (size_t i = 0; i < rehearsal->scenario->step_count; i++) {
        size_t at = 0;
        *failed += report_failure(rehearsal, i, &at) != NULL ? 1 : 0;
        *skipped += rehearsal->results[i].state != RESULT_OVER ? 1 : 0;
    }
}

int report_junit(const struct rehearsal *rehearsal, FILE *out)
{
    const size_t count = rehearsal->scenario->step_count;
    size_t failed, skipped;
    count_steps(rehearsal, &failed, &skipped);
    (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite", out);
    xml_attribute(out, "name", rehearsal->scenario->name);
    /* What is not whole is an error, so that a run that was cut short is no success. */
    const bool cut = rehearsal->end != END_WHOLE && failed == 0;
    (void)fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%d\" skipped=\"%zu\">\n",
                  count + (cut ? 1 : 0), failed, cut ? 1 : 0, skipped);
    for (size_t i = 0; i < count; i++)
        junit_step(rehearsal, out, i);
    if (cut)
        (void)fprintf(out,
                      "    <testcase classname=\"nrictl\" name=\"the whole scenario\">\n"
                      "      <error message=\"%s\"/>\n    </testcase>\n",
                      report_end_text(rehearsal));
    (void)fputs("  </testsuite>\n</testsuites>\n", out);
    return NRICTL_OK;
}

/* ---- TAP ---- */

/* A description has no line breaks, and # begins a directive. */
static void put_tap(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        const unsigned char byte = (unsigned char)*text;
        if (byte == '#' || byte == '\\')
            (void)fprintf(out, "\\%c", byte);
        else
            (void)fputc(byte < 0x20 || byte == 0x7f ? ' ' : byte, out);
    }
}

static void tap_failure(FILE *out, const struct finding *finding)
{
    (void)fprintf(out, "# line %zu: ", finding->line);
    put_tap(out, finding->what);
    (void)fputs("\n#   expected ", out);
    put_tap(out, finding->expected);
    (void)fputs("\n#   seen     ", out);
    put_tap(out, finding->seen);
    (void)fputc('\n', out);
}

int report_tap(const struct rehearsal *rehearsal, FILE *out)
{
    (void)fprintf(out, "TAP version 13\n1..%zu\n", rehearsal->scenario->step_count);
    for (size_t i = 0; i < rehearsal->scenario->step_count; i++) {
        const struct finding *finding;
        const bool over = rehearsal->results[i].state == RESULT_OVER;
        char name[500];
        size_t at = 0;
        const bool failed = report_failure(rehearsal, i, &at) != NULL;
        step_name(rehearsal, i, name, sizeof name);
        /* A step that was not begun is no success either: the scenario was cut short. */
        (void)fputs(failed || !over ? "not ok " : "ok ", out);
        (void)fprintf(out, "%zu - ", i + 1);
        put_tap(out, strchr(name, ' ') + 1);
        (void)fputc('\n', out);
        if (!over)
            (void)fprintf(out, "# not done: %s\n",
                          report_end_text(rehearsal) != NULL ? report_end_text(rehearsal) : "");
        at = 0;
        while ((finding = report_failure(rehearsal, i, &at)) != NULL)
            tap_failure(out, finding);
    }
    return NRICTL_OK;
}
