/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of the shell that show something, and what operations came to. */
#include <inttypes.h>
#include <string.h>

#include "print.h"
#include "report.h"
#include "shell_inside.h"

/* What the library writes has names in it as plugins and people gave them. */
static void put_document(FILE *out, const char *text)
{
    print_document(out, text, strlen(text));
    (void)fputc('\n', out);
}

static void put_lines(FILE *out, const char *text)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        print_text(out, text, length);
        text += length;
        if (*text == '\n')
            (void)fputc(*text++, out);
    }
}

/* ---- results ---- */

/* An object a line: {"command": ..., "error": ..., "done": ..., "outcomes": [...]}. */
static void print_json_result(struct shell *shell, const struct node_result *result)
{
    FILE *out = shell->ctl->out;
    struct print_json json;
    print_json_begin(&json, 0);
    nri_json_begin_object(&json.writer);
    print_json_text(&json, "command", shell->command);
    print_json_text(&json, "error", result->code == 0 ? NULL : nri_error_name(result->code));
    print_json_text(&json, "text", result->text);
    print_json_bool(&json, "done", result->done);
    print_json_number(&json, "nanoseconds", result->nanoseconds);
    print_json_key(&json, "events");
    nri_json_begin_array(&json.writer);
    for (size_t i = 0; i < result->outcome_count; i++) {
        const char *name = nri_event_name(nri_outcome_event(result->outcomes[i]));
        nri_json_write_string(&json.writer, name, strlen(name));
    }
    nri_json_end_array(&json.writer);
    print_json_key(&json, "not_updated");
    nri_json_begin_array(&json.writer);
    for (size_t i = 0; i < result->not_updated_count; i++)
        nri_json_write_string(&json.writer, result->not_updated[i], strlen(result->not_updated[i]));
    nri_json_end_array(&json.writer);
    nri_json_end_object(&json.writer);
    (void)print_json_end(shell->ctl, &json);
    (void)fflush(out);
}

static void print_change(struct shell *shell, nri_outcome *outcome, size_t step, size_t change)
{
    static const char *const actions[] = {"sets", "replaces", "keeps", "removes", "drops"};
    enum nri_change_action action;
    const char *key, *container, *other;
    int field;
    (void)nri_outcome_change_at(outcome, step, change, &field, &key, &container, &other, &action);
    if (action == NRI_CHANGE_EVICTED) {
        shell_tell(shell, "  %s wants container %s evicted: %s",
                   nri_outcome_step_plugin(outcome, step), container, key);
        return;
    }
    shell_tell(shell, "  %s %s %s%s%s%s%s%s%s", nri_outcome_step_plugin(outcome, step),
               (size_t)action < sizeof actions / sizeof *actions ? actions[action] : "changes",
               report_field(field), key[0] == '\0' ? "" : " ", key,
               container[0] == '\0' ? "" : " of container ", container,
               other[0] == '\0' ? "" : ", which was set by ", other);
}

static void print_outcome(struct shell *shell, nri_outcome *outcome)
{
    for (size_t step = 0; step < nri_outcome_step_count(outcome); step++) {
        if (nri_outcome_step_code(outcome, step) != 0)
            shell_tell(shell, "  %s: %s", nri_outcome_step_plugin(outcome, step),
                       nri_outcome_step_text(outcome, step));
        for (size_t i = 0; i < nri_outcome_change_count(outcome, step); i++)
            print_change(shell, outcome, step, i);
    }
}

void shell_print_result(struct shell *shell, const struct node_result *result)
{
    if (result->code != 0)
        shell->failed = true;
    if (shell->ctl->json) {
        print_json_result(shell, result);
        return;
    }
    if (result->code == 0)
        shell_tell(shell, "%s: done, %zu event%s, %.1f ms", shell->command, result->outcome_count,
                   result->outcome_count == 1 ? "" : "s", (double)result->nanoseconds * 1e-6);
    else
        shell_fail(shell, "%s: %s%s", shell->command, result->done ? "done, but " : "",
                   result->text);
    for (size_t i = 0; i < result->outcome_count; i++)
        print_outcome(shell, result->outcomes[i]);
    for (size_t i = 0; i < result->not_updated_count; i++)
        shell_tell(shell, "  %s could not be updated", result->not_updated[i]);
}

/* ---- lists ---- */

/* A row of texts, in either form. */
struct list {
    struct shell *shell;
    const char *const *titles, *const *keys;
    size_t columns;
    struct print_table table;
    struct print_json json;
};

static void list_begin(struct list *list, struct shell *shell, size_t columns,
                       const char *const *titles, const char *const *keys)
{
    memset(list, 0, sizeof *list);
    list->shell = shell;
    list->columns = columns;
    list->titles = titles;
    list->keys = keys;
    if (shell->ctl->json) {
        print_json_begin(&list->json, 0);
        nri_json_begin_array(&list->json.writer);
    } else {
        print_table_begin(&list->table, columns, titles);
    }
}

static void list_row(struct list *list, const char *const *cells)
{
    if (!list->shell->ctl->json) {
        print_table_row(&list->table);
        for (size_t i = 0; i < list->columns; i++)
            print_table_cell(&list->table, i, PRINT_PLAIN, "%s", cells[i]);
        return;
    }
    nri_json_begin_object(&list->json.writer);
    for (size_t i = 0; i < list->columns; i++)
        print_json_text(&list->json, list->keys[i], cells[i]);
    nri_json_end_object(&list->json.writer);
}

static void list_end(struct list *list)
{
    if (list->shell->ctl->json) {
        nri_json_end_array(&list->json.writer);
        (void)print_json_end(list->shell->ctl, &list->json);
    } else {
        (void)print_table_end(list->shell->ctl, &list->table);
    }
}

void shell_pods(struct shell *shell, const struct words *words)
{
    static const char *const titles[] = {"POD", "NAME", "NAMESPACE", "STATE"};
    static const char *const keys[] = {"id", "name", "namespace", "state"};
    struct store *store = node_store(shell->node);
    struct list list;
    (void)words;
    list_begin(&list, shell, 4, titles, keys);
    for (struct store_pod *at = NULL; (at = store_next_pod(store, at)) != NULL;) {
        const nri_pod *pod = store_pod_get(at);
        const char *const cells[] = {nri_pod_id(pod), nri_pod_name(pod), nri_pod_namespace(pod),
                                     store_pod_state_name(store_pod_state(at))};
        list_row(&list, cells);
    }
    list_end(&list);
}

void shell_containers(struct shell *shell, const struct words *words)
{
    static const char *const titles[] = {"CONTAINER", "NAME", "POD", "STATE", "EXIT"};
    static const char *const keys[] = {"id", "name", "pod", "state", "exit_code"};
    struct store *store = node_store(shell->node);
    struct store_pod *pod = words->count < 2 ? NULL : store_find_pod(store, words->at[1]);
    struct list list;
    if (words->count > 1 && pod == NULL) {
        shell_fail(shell, "there is no pod sandbox %s", words->at[1]);
        return;
    }
    list_begin(&list, shell, 5, titles, keys);
    for (struct store_container *at = NULL; (at = store_next_container(store, pod, at)) != NULL;) {
        const nri_container *container = store_container_get(at);
        char exit_code[16] = "";
        if (store_container_state(at) == STORE_STOPPED)
            (void)snprintf(exit_code, sizeof exit_code, "%d", nri_container_exit_code(container));
        const char *const cells[] = {nri_container_id(container), nri_container_name(container),
                                     nri_pod_id(store_pod_get(store_container_pod(at))),
                                     store_container_state_name(store_container_state(at)),
                                     exit_code};
        list_row(&list, cells);
    }
    list_end(&list);
}

static const char *origin_name(enum nri_plugin_origin origin)
{
    static const char *const names[] = {"launched", "external", "attached", "builtin"};
    return (size_t)origin < sizeof names / sizeof *names ? names[origin] : "unknown";
}

void shell_plugins(struct shell *shell, const struct words *words)
{
    static const char *const titles[] = {"PLUGIN", "ORIGIN", "PID", "NRI", "EVENTS"};
    static const char *const keys[] = {"plugin", "origin", "pid", "nri_version", "events"};
    const nri_runtime *runtime = node_runtime(shell->node);
    nri_runtime_plugin *at = NULL;
    struct list list;
    (void)words;
    list_begin(&list, shell, 5, titles, keys);
    while (runtime != NULL && (at = nri_runtime_next_plugin(runtime, at)) != NULL) {
        char pid[24], events[512];
        (void)snprintf(pid, sizeof pid, "%" PRId64, nri_runtime_plugin_pid(at));
        (void)nri_event_mask_format(nri_runtime_plugin_events(at), events, sizeof events);
        if (!shell->ctl->json && nri_runtime_plugin_events(at) == NRI_EVENTS_ALL)
            memcpy(events, "all", sizeof "all");
        const char *const cells[] = {nri_runtime_plugin_id(at),
                                     origin_name(nri_runtime_plugin_origin(at)), pid,
                                     nri_runtime_plugin_nri_version(at), events};
        list_row(&list, cells);
    }
    list_end(&list);
}

/* ---- single things ---- */

void shell_show(struct shell *shell, const struct words *words)
{
    struct store *store = node_store(shell->node);
    const struct store_container *container = store_find_container(store, words->at[1]);
    const struct store_pod *pod = store_find_pod(store, words->at[1]);
    struct nri_json_options json;
    char *text = NULL;
    nri_json_options_init(&json, sizeof json);
    json.indent = shell->ctl->json ? 0 : 2;
    int code = NRI_E_NOT_FOUND;
    if (container != NULL)
        code = nri_container_to_json(store_container_get(container), &json, &text, NULL, NULL);
    else if (pod != NULL)
        code = nri_pod_to_json(store_pod_get(pod), &json, &text, NULL, NULL);
    if (code == NRI_E_NOT_FOUND)
        shell_fail(shell, "there is no pod sandbox or container %s", words->at[1]);
    else if (code != 0)
        shell_fail(shell, "%s: %s", words->at[1], nri_strerror(code));
    else
        put_document(shell->ctl->out, text);
    nri_json_free(text);
}

void shell_explain(struct shell *shell, const struct words *words)
{
    char *text = NULL;
    (void)words;
    if (shell->last == NULL) {
        shell_fail(shell, "there was no operation yet");
        return;
    }
    const int code = shell->ctl->json ? nri_outcome_json(shell->last, NULL, &text, NULL)
                                      : nri_outcome_table(shell->last, NULL, &text, NULL);
    if (code != 0)
        shell_fail(shell, "%s", nri_strerror(code));
    else
        (shell->ctl->json ? put_document : put_lines)(shell->ctl->out, text);
    nri_outcome_text_free(text);
}

void shell_metrics(struct shell *shell, const struct words *words)
{
    char *text = NULL;
    (void)words;
    if (node_runtime(shell->node) == NULL ||
        nri_runtime_metrics(node_runtime(shell->node), &text, NULL) != 0)
        shell_fail(shell, "there are no counters now");
    else
        put_lines(shell->ctl->out, text);
    nri_metrics_free(text);
}

void shell_help(struct shell *shell, const struct words *words)
{
    const struct shell_command *one = words->count < 2 ? NULL : shell_find_command(words->at[1]);
    if (words->count > 1 && one == NULL) {
        shell_wrong(shell, "there is no command '%s'; help lists them", words->at[1]);
        return;
    }
    for (const struct shell_command *at = shell_commands; at->name != NULL; at++) {
        char usage[96];
        (void)snprintf(usage, sizeof usage, "%s %s", at->name, at->arguments);
        if (one == NULL || one == at)
            (void)fprintf(shell->ctl->out, "%-36s %s\n", usage, at->help);
    }
    for (size_t i = 0; one != NULL && i < SHELL_KINDS; i++) {
        const char *const *keys = one->kinds[i] == SHELL_POD_SETTING        ? setting_pod_keys
                                  : one->kinds[i] == SHELL_SETTING          ? setting_container_keys
                                  : one->kinds[i] == SHELL_RESOURCE_SETTING ? setting_resource_keys
                                                                            : NULL;
        for (; keys != NULL && *keys != NULL; keys++)
            (void)fprintf(shell->ctl->out, "  %s%s\n", *keys,
                          strchr(*keys, '=') == NULL ? "NAME=VALUE" : "VALUE");
    }
}

void shell_quit(struct shell *shell, const struct words *words)
{
    (void)words;
    shell->leaving = true;
}
