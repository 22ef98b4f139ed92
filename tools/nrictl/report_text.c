/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"
#include "report.h"

static void put(const struct rehearsal *rehearsal, const char *text)
{
    print_text(rehearsal->ctl->out, text, strlen(text));
}

static void heading(const struct rehearsal *rehearsal, const char *text)
{
    (void)fprintf(rehearsal->ctl->out, "\n%s", print_colour(rehearsal->ctl, PRINT_BOLD));
    put(rehearsal, text);
    (void)fprintf(rehearsal->ctl->out, "%s\n", print_colour(rehearsal->ctl, PRINT_PLAIN));
}

/* ---- the adjustments ---- */

/* A text with line breaks of the library's own: JSON that is indented. */
static void put_lines(const struct rehearsal *rehearsal, const char *text)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        (void)fputs("    ", rehearsal->ctl->out);
        print_text(rehearsal->ctl->out, text, length);
        (void)fputc('\n', rehearsal->ctl->out);
        text += length + (text[length] == '\n' ? 1 : 0);
    }
}

static void put_adjustment(const struct rehearsal *rehearsal, const nri_outcome *outcome)
{
    struct nri_json_options options;
    char *text = NULL;
    nri_json_options_init(&options, sizeof options);
    options.indent = 2;
    if (nri_adjustment_to_json(nri_outcome_adjustment(outcome), &options, &text, NULL, NULL) == 0)
        put_lines(rehearsal, text);
    nri_json_free(text);
}

static void add_owner(const struct report_owner *owner, void *user)
{
    struct print_table *table = user;
    print_table_row(table);
    print_table_cell(table, 0, PRINT_PLAIN, "%s", report_field(owner->field));
    print_table_cell(table, 1, PRINT_PLAIN, "%s", owner->key);
    print_table_cell(table, 2, owner->removed ? PRINT_RED : PRINT_GREEN, "%s",
                     owner->removed ? "removed" : "set");
    print_table_cell(table, 3, PRINT_BLUE, "%s", owner->plugin);
}

static int put_container(const struct rehearsal *rehearsal, const struct trail_event *event)
{
    static const char *const titles[] = {"FIELD", "KEY", "WAS", "BY"};
    struct print_table table;
    char title[200];
    (void)snprintf(title, sizeof title, "container %.80s of pod %.80s", event->container_name,
                   event->pod_name);
    heading(rehearsal, title);
    if (nri_outcome_code(event->outcome) != 0) {
        (void)fputs("  not created: ", rehearsal->ctl->out);
        put(rehearsal, nri_outcome_text(event->outcome));
        (void)fputc('\n', rehearsal->ctl->out);
        return NRICTL_OK;
    }
    if (nri_adjustment_is_empty(nri_outcome_adjustment(event->outcome))) {
        (void)fputs("  no plugin adjusts it\n", rehearsal->ctl->out);
        return NRICTL_OK;
    }
    put_adjustment(rehearsal, event->outcome);
    (void)fputc('\n', rehearsal->ctl->out);
    print_table_begin(&table, 4, titles);
    report_owners(event->outcome, add_owner, &table);
    return print_table_end(rehearsal->ctl, &table);
}

static int put_containers(const struct rehearsal *rehearsal)
{
    const struct trail *trail = &rehearsal->trail;
    int code = NRICTL_OK;
    for (size_t i = 0; code == NRICTL_OK && i < trail->event_count; i++) {
        if (trail->events[i].event == NRI_EVENT_CREATE_CONTAINER)
            code = put_container(rehearsal, &trail->events[i]);
    }
    return code;
}

/* ---- what plugins did besides ---- */

static void put_names(const struct rehearsal *rehearsal, const char *before,
                      const char *const *names, size_t count)
{
    if (count > 0)
        (void)fputs(before, rehearsal->ctl->out);
    for (size_t i = 0; i < count; i++) {
        (void)fputc(' ', rehearsal->ctl->out);
        put(rehearsal, names[i]);
    }
}

static void put_others(const struct rehearsal *rehearsal)
{
    const struct trail *trail = &rehearsal->trail;
    FILE *out = rehearsal->ctl->out;
    if (trail->update_count + trail->eviction_count > 0)
        heading(rehearsal, "of plugins' own accord");
    for (size_t i = 0; i < trail->update_count; i++) {
        const struct trail_update *update = &trail->updates[i];
        (void)fputs("  ", out);
        put(rehearsal, update->plugin);
        (void)fputs(update->sync ? " updated after Synchronize:" : " updated:", out);
        put_names(rehearsal, "", update->done, update->done_count);
        put_names(rehearsal, "; not possible:", update->failed, update->failed_count);
        put_names(rehearsal, "; not possible, and to be ignored:", update->ignored,
                  update->ignored_count);
        (void)fputc('\n', out);
    }
    for (size_t i = 0; i < trail->eviction_count; i++) {
        (void)fputs("  ", out);
        put(rehearsal, trail->evictions[i].plugin);
        (void)fputs(" evicted ", out);
        put(rehearsal, trail->evictions[i].container);
        (void)fputs(": ", out);
        put(rehearsal, trail->evictions[i].reason);
        (void)fputc('\n', out);
    }
}

static void put_conflicts(const struct rehearsal *rehearsal)
{
    const struct trail *trail = &rehearsal->trail;
    bool first = true;
    for (size_t i = 0; i < trail->event_count; i++) {
        char text[300];
        if (nri_outcome_code(trail->events[i].outcome) != NRI_E_CONFLICT)
            continue;
        if (first)
            heading(rehearsal, "conflicts");
        first = false;
        (void)fputs("  ", rehearsal->ctl->out);
        put(rehearsal, trail_event_text(&trail->events[i], text, sizeof text));
        (void)fputs(": ", rehearsal->ctl->out);
        put(rehearsal, nri_outcome_text(trail->events[i].outcome));
        (void)fputc('\n', rehearsal->ctl->out);
    }
}

static int put_latencies(const struct rehearsal *rehearsal)
{
    static const char *const titles[] = {"PLUGIN", "ASKED", "FAILED", "MEAN us", "LONGEST us"};
    struct report_latency *list;
    struct print_table table;
    size_t count;
    int code = NRICTL_OK;
    if (!report_latencies(rehearsal, &list, &count)) {
        free(list);
        return nrictl_fail(rehearsal->ctl, NRICTL_ENVIRONMENT, "no memory");
    }
    if (count > 0) {
        heading(rehearsal, "plugins");
        print_table_begin(&table, 5, titles);
        for (size_t i = 1; i < 5; i++)
            table.right[i] = true;
        for (size_t i = 0; i < count; i++) {
            print_table_row(&table);
            print_table_cell(&table, 0, PRINT_BLUE, "%s", list[i].plugin);
            print_table_cell(&table, 1, PRINT_PLAIN, "%" PRIu64, list[i].answers);
            print_table_cell(&table, 2, list[i].failures > 0 ? PRINT_RED : PRINT_PLAIN, "%" PRIu64,
                             list[i].failures);
            print_table_cell(&table, 3, PRINT_PLAIN, "%" PRIu64,
                             list[i].sum / list[i].answers / 1000);
            print_table_cell(&table, 4, PRINT_PLAIN, "%" PRIu64, list[i].longest / 1000);
        }
        code = print_table_end(rehearsal->ctl, &table);
    }
    free(list);
    return code;
}

/* ---- expectations ---- */

static void put_failure(const struct rehearsal *rehearsal, const struct finding *finding)
{
    const struct nrictl *ctl = rehearsal->ctl;
    (void)fprintf(ctl->out, "  %sfailed%s ", print_colour(ctl, PRINT_RED),
                  print_colour(ctl, PRINT_PLAIN));
    put(rehearsal, rehearsal->scenario->file);
    (void)fprintf(ctl->out, ":%zu: ", finding->line);
    put(rehearsal, rehearsal->scenario->steps[finding->step].title);
    (void)fputs(": ", ctl->out);
    put(rehearsal, finding->what);
    (void)fputs("\n    expected ", ctl->out);
    put(rehearsal, finding->expected);
    (void)fputs("\n    seen     ", ctl->out);
    put(rehearsal, finding->seen);
    (void)fputc('\n', ctl->out);
}

static void put_findings(const struct rehearsal *rehearsal)
{
    const struct findings *findings = &rehearsal->findings;
    if (findings->failed > 0)
        heading(rehearsal, "expectations");
    for (size_t i = 0; i < findings->count; i++) {
        if (!findings->list[i].held)
            put_failure(rehearsal, &findings->list[i]);
    }
}

static void put_end(const struct rehearsal *rehearsal)
{
    const struct nrictl *ctl = rehearsal->ctl;
    const struct findings *findings = &rehearsal->findings;
    const char *why = report_end_text(rehearsal);
    const bool passed = report_passed(rehearsal);
    (void)fprintf(ctl->out, "\n%s%s%s: %zu of %zu steps, %zu events, %zu of %zu expectations held",
                  print_colour(ctl, passed ? PRINT_GREEN : PRINT_RED), passed ? "passed" : "failed",
                  print_colour(ctl, PRINT_PLAIN), rehearsal->begun, rehearsal->scenario->step_count,
                  rehearsal->trail.event_count, findings->count + findings->lost - findings->failed,
                  findings->count + findings->lost);
    if (why != NULL) {
        (void)fputs("; ", ctl->out);
        print_text(ctl->out, why, strlen(why));
    }
    if (findings->lost + rehearsal->trail.lost > 0)
        (void)fprintf(ctl->out, "; %zu entries more than are kept",
                      findings->lost + rehearsal->trail.lost);
    (void)fputc('\n', ctl->out);
}

int report_text(const struct rehearsal *rehearsal)
{
    const struct nrictl *ctl = rehearsal->ctl;
    (void)fprintf(ctl->out, "%s", print_colour(ctl, PRINT_BOLD));
    put(rehearsal, rehearsal->scenario->name);
    (void)fprintf(ctl->out, "%s, plugins:", print_colour(ctl, PRINT_PLAIN));
    for (size_t i = 0; i < rehearsal->plugin_count; i++) {
        (void)fputc(' ', ctl->out);
        put(rehearsal, rehearsal->plugins[i]);
    }
    (void)fputs(rehearsal->plugin_count == 0 ? " none\n" : "\n", ctl->out);
    int code = put_containers(rehearsal);
    put_others(rehearsal);
    put_conflicts(rehearsal);
    if (code == NRICTL_OK)
        code = put_latencies(rehearsal);
    put_findings(rehearsal);
    put_end(rehearsal);
    return code;
}
