/* SPDX-License-Identifier: Apache-2.0 */
#include "account.h"

#include <stdlib.h>
#include <string.h>

#include "brief.h"
#include "difference.h"

/* Of a value in a table, in bytes. */
#define MOST_SHOWN 48u

enum {
    COLUMN_PLUGIN,
    COLUMN_TIME,
    COLUMN_FIELD,
    COLUMN_WHAT,
    COLUMN_BEFORE,
    COLUMN_AFTER,
    COLUMNS
};

static const char *const titles[COLUMNS] = {"PLUGIN", "TIME", "FIELD", "WHAT", "BEFORE", "AFTER"};

/* What is to be freed, of a text that is to be safe for a terminal. */
static char *safe(const char *text, size_t length)
{
    char *made = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&made, &size);
    if (stream == NULL)
        return NULL;
    print_text(stream, text, length);
    (void)fclose(stream);
    return made;
}

static void cell(struct print_table *table, unsigned column, enum print_colour colour,
                 const char *text, size_t length)
{
    size_t cut = length <= MOST_SHOWN ? length : MOST_SHOWN - 3;
    while (cut < length && cut > 0 && ((unsigned char)text[cut] & 0xc0) == 0x80)
        cut--;
    char *shown = safe(text, cut);
    if (shown == NULL)
        table->failed = true;
    print_table_cell(table, column, colour, "%s%s", shown != NULL ? shown : "",
                     cut < length ? "..." : "");
    free(shown);
}

static void text_cell(struct print_table *table, unsigned column, enum print_colour colour,
                      const char *text)
{
    cell(table, column, colour, text, strlen(text));
}

static void value_cell(struct print_table *table, unsigned column, enum print_colour colour,
                       const struct history_change *change, const struct nri_json *value)
{
    char text[MOST_SHOWN + 1];
    if (value == NULL)
        return;
    brief_value(value, change->key, text, sizeof text);
    cell(table, column, colour, text, strlen(text));
}

/* ---- a plugin's lines ---- */

static const char *const action_names[] = {"set",     "replaced", "same",
                                           "removed", "dropped",  "evicted"};

static void what_cell(struct print_table *table, const struct history_change *change)
{
    char text[160];
    const char *name = action_names[change->action];
    const bool of_other = change->from[0] != '\0';
    const enum print_colour colour = change->action == NRI_CHANGE_SET ? PRINT_GREEN : PRINT_YELLOW;
    (void)snprintf(text, sizeof text, "%s%s%s%s", name, of_other ? " " : "", change->from,
                   change->no_effect ? ", no effect" : "");
    text_cell(table, COLUMN_WHAT, change->no_effect ? PRINT_DIM : colour, text);
}

static void field_cell(struct print_table *table, const struct history_change *change)
{
    char text[512];
    const char *none = change->action == NRI_CHANGE_EVICTED ? "eviction" : "device rules";
    const char *path = change->field == NRI_FIELD_NONE ? none : view_field_path(change->field);
    const bool key = change->key[0] != '\0';
    (void)snprintf(text, sizeof text, "%s%s%s%s%s%s%s", path != NULL ? path : "",
                   path == NULL ? nri_field_name(change->field) : "", key ? "[" : "", change->key,
                   key ? "]" : "", change->container[0] != '\0' ? " of " : "", change->container);
    /* It is the path's end that tells. */
    const char *shown = strncmp(text, "linux.resources.", 16) == 0 ? text + 16 : text;
    text_cell(table, COLUMN_FIELD, PRINT_PLAIN, shown);
}

static void time_cell(struct print_table *table, const struct history_turn *turn)
{
    if (turn->timed)
        print_table_cell(table, COLUMN_TIME, PRINT_DIM, "%.2f ms", (double)turn->latency / 1e6);
}

/* What to say of a plugin that changed nothing. */
static const char *silence(const struct history_turn *turn)
{
    switch (turn->result) {
    case NRI_STEP_SKIPPED:
        return "no answer";
    case NRI_STEP_FAILED:
        return "refused";
    case NRI_STEP_QUEUED:
        return "not asked";
    case NRI_STEP_ANSWERED:
        break;
    }
    return turn->event == NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT ? "approved" : "nothing";
}

static void turn_rows(struct print_table *table, const struct history_turn *turn)
{
    bool first = true;
    for (const struct history_change *at = turn->changes; at != NULL; at = at->next) {
        print_table_row(table);
        if (first) {
            text_cell(table, COLUMN_PLUGIN, PRINT_BLUE, turn->plugin);
            time_cell(table, turn);
        }
        first = false;
        field_cell(table, at);
        what_cell(table, at);
        value_cell(table, COLUMN_BEFORE, PRINT_RED, at, at->before);
        value_cell(table, COLUMN_AFTER, PRINT_GREEN, at, at->after);
    }
    if (turn->code == 0 && !first)
        return;
    print_table_row(table);
    if (first) {
        text_cell(table, COLUMN_PLUGIN, PRINT_BLUE, turn->plugin);
        time_cell(table, turn);
    }
    text_cell(table, COLUMN_WHAT, turn->code != 0 ? PRINT_RED : PRINT_DIM,
              turn->code == NRI_E_CONFLICT ? "conflict" : silence(turn));
}

/* ---- an event ---- */

static void print_safe(struct nrictl *ctl, const char *text)
{
    print_text(ctl->out, text, strlen(text));
}

static void print_heading(struct nrictl *ctl, const struct history_event *event)
{
    (void)fprintf(ctl->out, "%s%s of ", print_colour(ctl, PRINT_BOLD),
                  nri_event_name(event->event));
    print_safe(ctl, event->name[0] != '\0' ? event->name : event->id);
    if (event->pod[0] != '\0') {
        (void)fputs(" in ", ctl->out);
        print_safe(ctl, event->pod);
    }
    (void)fprintf(ctl->out, "%s\n", print_colour(ctl, PRINT_PLAIN));
}

static void print_texts(struct nrictl *ctl, const struct history_event *event)
{
    for (const struct history_turn *at = event->turns; at != NULL; at = at->next) {
        if (at->text[0] == '\0' || strstr(event->text, at->text) != NULL)
            continue;
        print_safe(ctl, at->plugin);
        (void)fputs(": ", ctl->out);
        print_safe(ctl, at->text);
        (void)fputc('\n', ctl->out);
    }
    if (event->code == 0)
        return;
    (void)fprintf(ctl->out, "%srefused", print_colour(ctl, PRINT_RED));
    if (event->refused_by[0] != '\0') {
        (void)fputs(" by ", ctl->out);
        print_safe(ctl, event->refused_by);
    }
    (void)fputs(": ", ctl->out);
    print_safe(ctl, event->text);
    (void)fprintf(ctl->out, "%s\n", print_colour(ctl, PRINT_PLAIN));
}

static int finding(const struct history *history)
{
    for (const struct history_event *at = history->events; at != NULL; at = at->next) {
        if (at->code != 0)
            return NRICTL_FINDING;
    }
    return NRICTL_OK;
}

static int event_table(struct nrictl *ctl, const struct history_event *event)
{
    struct print_table table;
    print_table_begin(&table, COLUMNS, titles);
    table.right[COLUMN_TIME] = true;
    for (const struct history_turn *at = event->turns; at != NULL; at = at->next)
        turn_rows(&table, at);
    const bool none = event->turns == NULL;
    const int code = print_table_end(ctl, &table);
    if (none)
        (void)fputs("(no plugin was asked)\n", ctl->out);
    return code;
}

/* What all plugins together did, for lack of anything better. */
static int event_differences(struct nrictl *ctl, struct history *history,
                             const struct history_event *event)
{
    struct difference_list list;
    if (difference_make(&history->arena, history->view.seed, event->given.root, event->last.root,
                        &list) != 0)
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no memory for differences");
    if (list.count == 0)
        (void)fputs("(nothing was changed)\n", ctl->out);
    return difference_print(ctl, &list, "as the runtime made it", "after all plugins");
}

int account_table(struct nrictl *ctl, struct history *history)
{
    int code = NRICTL_OK;
    for (const struct history_event *at = history->events; code == NRICTL_OK && at != NULL;
         at = at->next) {
        if (at != history->events)
            (void)fputc('\n', ctl->out);
        print_heading(ctl, at);
        code = at->unattributed ? event_differences(ctl, history, at) : event_table(ctl, at);
        print_texts(ctl, at);
    }
    return code != NRICTL_OK ? code : finding(history);
}

/* ---- step by step ---- */

static int print_step(struct nrictl *ctl, struct history *history,
                      const struct view_document *before, const struct view_document *after,
                      const char *title_before, const char *title_after)
{
    struct difference_list list;
    if (difference_make(&history->arena, history->view.seed, before->root, after->root, &list) != 0)
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no memory for differences");
    return difference_print(ctl, &list, title_before, title_after);
}

static int event_steps(struct nrictl *ctl, struct history *history,
                       const struct history_event *event)
{
    static const char given[] = "as the runtime made it";
    const bool update = event->event == NRI_EVENT_UPDATE_CONTAINER;
    const char *last = update ? "before the update" : given;
    const struct view_document *before = &event->asked;
    char title[2][256];
    unsigned changed = 0;
    int code = update ? print_step(ctl, history, &event->given, before, last, "as the runtime asks")
                      : NRICTL_OK;
    if (update)
        last = "as the runtime asks";
    for (const struct history_turn *at = event->turns; code == NRICTL_OK && at != NULL;
         at = at->next) {
        if (difference_none(before->root, at->after.root))
            continue;
        char *to = title[changed++ % 2];
        (void)snprintf(to, sizeof title[0], "after %s", at->plugin);
        code = print_step(ctl, history, before, &at->after, last, to);
        before = &at->after;
        last = to;
    }
    if (code == NRICTL_OK && changed > 1) {
        (void)fputs("\n", ctl->out);
        code = print_step(ctl, history, &event->given, &event->last, given, "at the end");
    }
    if (changed == 0)
        (void)fputs("(no plugin changed it)\n", ctl->out);
    return code;
}

int account_steps(struct nrictl *ctl, struct history *history)
{
    int code = NRICTL_OK;
    for (const struct history_event *at = history->events; code == NRICTL_OK && at != NULL;
         at = at->next) {
        if (at != history->events)
            (void)fputc('\n', ctl->out);
        print_heading(ctl, at);
        code =
            at->unattributed ? event_differences(ctl, history, at) : event_steps(ctl, history, at);
        print_texts(ctl, at);
    }
    return code != NRICTL_OK ? code : finding(history);
}
