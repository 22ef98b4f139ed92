/* SPDX-License-Identifier: Apache-2.0 */
#include "calls.h"

#include <stdlib.h>

/* One entry that runs, or the call made in a handler. */
struct running {
    struct alarm alarm; /* must be first: it is turned back into this */
    struct calls *calls;
    nri_plugin *plugin;
    const struct script_entry *entry;
    int64_t number, left;
    uint64_t connection, began;
};

void calls_init(struct calls *calls, struct report *report, struct alarms *alarms)
{
    *calls = (struct calls){.report = report, .alarms = alarms};
    (void)pthread_mutex_init(&calls->lock, NULL);
}

void calls_fini(struct calls *calls)
{
    (void)pthread_mutex_destroy(&calls->lock);
}

static void change_connection(struct calls *calls, bool stands)
{
    (void)pthread_mutex_lock(&calls->lock);
    calls->connection = (calls->connection + 2) / 2 * 2 - (stands ? 1 : 0);
    (void)pthread_mutex_unlock(&calls->lock);
}

void calls_connected(struct calls *calls)
{
    change_connection(calls, true);
}

void calls_disconnected(struct calls *calls)
{
    change_connection(calls, false);
}

static void tell(struct running *running, int code, const char *text,
                 const nri_update_result *result)
{
    struct report_line line;
    report_begin(&line, "update");
    report_integer(&line, "entry", running->number);
    report_flag(&line, "ok", code == 0);
    report_text(&line, "code", nri_error_name(code));
    report_text(&line, "error", text);
    report_open_list(&line, "failed");
    for (size_t i = 0; i < nri_update_result_failed_count(result); i++)
        report_element(&line, nri_update_result_failed_id(result, i));
    report_close_list(&line);
    report_ms(&line, "ms", report_now() - running->began);
    report_end(running->calls->report, &line);
}

static void next_call(struct running *running);

static void on_outcome(nri_plugin *plugin, const nri_update_result *result, void *user)
{
    struct running *running = user;
    const int code = nri_update_result_code(result);
    (void)plugin;
    tell(running, code, nri_update_result_text(result), result);
    if (code == NRI_E_CLOSED)
        free(running);
    else
        next_call(running);
}

static void make_call(nri_plugin *plugin, struct running *running)
{
    struct nri_call_options options;
    nri_call_options_init(&options, sizeof options);
    options.timeout_ms = (uint64_t)running->entry->timeout_ms;
    running->left--;
    running->began = report_now();
    const int rc = nri_plugin_update_containers(plugin, running->entry->updates, &options,
                                                on_outcome, running);
    if (rc != 0) {
        tell(running, rc, nri_strerror(rc), NULL);
        next_call(running);
    }
}

/* Between two handlers. */
static void on_turn(nri_plugin *plugin, void *user)
{
    struct running *running = user;
    (void)pthread_mutex_lock(&running->calls->lock);
    const bool stands = running->connection == running->calls->connection;
    (void)pthread_mutex_unlock(&running->calls->lock);
    if (stands)
        make_call(plugin, running);
    else
        free(running);
}

/* Posting is safe while the connection stands: its end is told before the plugin's. */
static void ask_for_turn(struct running *running)
{
    struct calls *calls = running->calls;
    (void)pthread_mutex_lock(&calls->lock);
    const bool posted = running->connection == calls->connection &&
                        nri_plugin_post_handler(running->plugin, on_turn, running) == 0;
    (void)pthread_mutex_unlock(&calls->lock);
    if (!posted)
        free(running);
}

static void on_alarm(struct alarm *alarm)
{
    ask_for_turn((struct running *)alarm);
}

static void next_call(struct running *running)
{
    if (running->left <= 0) {
        free(running);
    } else if (running->entry->delay_ms == 0) {
        ask_for_turn(running);
    } else {
        running->alarm.fn = on_alarm;
        if (alarms_set(running->calls->alarms, &running->alarm,
                       (uint64_t)running->entry->delay_ms) != 0)
            free(running);
    }
}

static struct running *start(struct calls *calls, nri_plugin *plugin,
                             const struct script_entry *entry, int64_t number)
{
    struct running *running = malloc(sizeof *running);
    if (running != NULL)
        *running = (struct running){.calls = calls,
                                    .plugin = plugin,
                                    .entry = entry,
                                    .number = number,
                                    .left = entry->count,
                                    .connection = calls->connection};
    return running;
}

void calls_make(struct calls *calls, nri_plugin *plugin, const struct script_rule *rule)
{
    struct running *running;
    if (rule->call.updates != NULL && (running = start(calls, plugin, &rule->call, -1)) != NULL)
        make_call(plugin, running);
    for (size_t i = 0; i < rule->entry_count; i++) {
        running = start(calls, plugin, &rule->entries[i], (int64_t)i);
        if (running != NULL)
            next_call(running);
    }
}
