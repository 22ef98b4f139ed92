/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Happy path: the node starts, then the plugins one after the other, then the steps; when the last
 * one is over and none in the background is left, the report is made, the node closed, and the loop
 * ends. Whatever happens pokes; all that goes on goes on in on_poke(), never inside a callback of
 * the node's.
 *
 * Failures: what does not start ends it with a message; a wait that runs out, the time-out of the
 * whole and a signal end the steps, and what was found so far is reported.
 */
#include "rehearsal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "print.h"

/* Of an expectation about a step that is not over. */
#define EXPECT_MS 30000

const char *rehearsal_keep(struct rehearsal *rehearsal, const char *text)
{
    const char *kept = nri_arena_text(&rehearsal->arena, text, strlen(text));
    return kept != NULL ? kept : "";
}

void rehearsal_find(struct rehearsal *rehearsal, const struct finding *finding)
{
    struct findings *findings = &rehearsal->findings;
    if (!finding->held)
        findings->failed++;
    if (findings->count == findings->room) {
        const size_t room = findings->room == 0 ? 64 : 2 * findings->room;
        struct finding *list =
            room <= FINDINGS_MOST ? realloc(findings->list, room * sizeof *list) : NULL;
        if (list == NULL) {
            findings->lost++;
            return;
        }
        findings->list = list;
        findings->room = room;
    }
    struct finding *kept = &findings->list[findings->count++];
    *kept = *finding;
    kept->what = rehearsal_keep(rehearsal, finding->what);
    kept->expected = rehearsal_keep(rehearsal, finding->expected);
    kept->seen = rehearsal_keep(rehearsal, finding->seen);
}

/* ---- the end ---- */

/* Those that are over and have not been looked at; false: one is not over yet. */
static bool judge_all(struct rehearsal *rehearsal)
{
    bool all = true;
    for (size_t i = 0; i < rehearsal->begun; i++) {
        struct step_result *result = &rehearsal->results[i];
        if (result->state != RESULT_OVER) {
            all = false;
        } else if (!result->judged) {
            result->judged = true;
            judge_step(rehearsal, i);
        }
    }
    return all;
}

static void closed_handle(uv_handle_t *handle)
{
    (void)handle;
}

static void closed_node(void *user)
{
    struct rehearsal *rehearsal = user;
    rehearsal->node = NULL;
    load_free(rehearsal->load); /* its handles are the loop's */
    rehearsal->load = NULL;
    uv_close((uv_handle_t *)&rehearsal->poke, closed_handle);
    uv_close((uv_handle_t *)&rehearsal->limit, closed_handle);
    uv_close((uv_handle_t *)&rehearsal->patience, closed_handle);
    for (size_t i = 0; i < 2; i++)
        uv_close((uv_handle_t *)&rehearsal->signals[i], closed_handle);
}

static void report(struct rehearsal *rehearsal)
{
    if (rehearsal->reported)
        return;
    rehearsal->reported = true;
    if (rehearsal->ctl->progress && !rehearsal->options.verbose)
        (void)fputs("\r\033[K", rehearsal->ctl->err);
    if (rehearsal->over != NULL && rehearsal->end != END_BROKEN)
        rehearsal->over(rehearsal, rehearsal->user);
}

static void close_all(struct rehearsal *rehearsal)
{
    if (rehearsal->ending)
        return;
    rehearsal->ending = true;
    (void)uv_timer_stop(&rehearsal->limit);
    (void)uv_timer_stop(&rehearsal->patience);
    shell_free(rehearsal->shell);
    rehearsal->shell = NULL;
    if (rehearsal->load != NULL)
        load_stop(rehearsal->load);
    if (rehearsal->node != NULL)
        node_close(rehearsal->node, closed_node, rehearsal);
    else
        closed_node(rehearsal);
}

static void shell_over(struct shell *shell, int code, void *user)
{
    struct rehearsal *rehearsal = user;
    (void)shell;
    rehearsal->after = code;
    close_all(rehearsal);
}

static void start_shell(struct rehearsal *rehearsal)
{
    rehearsal->shell =
        shell_start(rehearsal->ctl, rehearsal->node, STDIN_FILENO, shell_over, rehearsal);
    if (rehearsal->shell == NULL) {
        rehearsal->after = NRICTL_ENVIRONMENT;
        close_all(rehearsal);
    }
}

void rehearsal_finish(struct rehearsal *rehearsal, enum rehearsal_end end)
{
    if (rehearsal->reported) {
        close_all(rehearsal);
        return;
    }
    rehearsal->end = end;
    (void)judge_all(rehearsal);
    report(rehearsal);
    (void)uv_timer_stop(&rehearsal->limit);
    if (end == END_INTERRUPTED || end == END_BROKEN)
        close_all(rehearsal);
    else if (rehearsal->options.shell)
        start_shell(rehearsal);
    else if (!rehearsal->options.keep)
        close_all(rehearsal);
    else
        (void)fprintf(rehearsal->ctl->err, "nrictl sim: the node stays, at %s, until Ctrl-C\n",
                      node_socket(rehearsal->node));
}

void rehearsal_break(struct rehearsal *rehearsal, int code)
{
    rehearsal->code = code;
    rehearsal_finish(rehearsal, END_BROKEN);
}

/* ---- plugins ---- */

static struct child_options child_options(const struct scenario_plugin *plugin)
{
    return (struct child_options){.argv = plugin->argv,
                                  .way = plugin->connects ? CHILD_CONNECTS : CHILD_CONNECTED,
                                  .name = plugin->name,
                                  .index = plugin->index,
                                  .timeout_ms = plugin->timeout_ms};
}

int rehearsal_start_plugin(struct rehearsal *rehearsal, const struct scenario_plugin *plugin,
                           node_done done, void *user)
{
    struct child_options options = child_options(plugin);
    struct started *started = nri_arena_alloc(&rehearsal->arena, sizeof *started);
    struct child *child = NULL;
    if (started == NULL)
        return NRI_E_NOMEM;
    options.output = rehearsal->options.plugin_output;
    const int code = node_start_child(rehearsal->node, &options, &child, done, user);
    if (code != 0)
        return code;
    *started =
        (struct started){.next = rehearsal->started, .plugin = plugin, .child = child, .status = 0};
    rehearsal->started = started;
    return 0;
}

/* Status 0 says nothing: what it has left behind may be the plugin. */
const struct started *rehearsal_ended(const struct rehearsal *rehearsal, const char *plugin)
{
    const size_t length = strlen(plugin);
    for (const struct started *at = rehearsal->started; at != NULL; at = at->next) {
        const char *name = at->plugin->name, *index = at->plugin->index;
        if (name == NULL || (strcmp(name, plugin) != 0 &&
                             (index == NULL || length < 4 || strcmp(name, plugin + 3) != 0)))
            continue;
        return at->child == NULL && at->status != 0 ? at : NULL;
    }
    return NULL;
}

/* The plugin of the command line, or of the scenario, that is next; NULL: no more. */
static const struct scenario_plugin *next_plugin(struct rehearsal *rehearsal)
{
    const struct rehearsal_options *options = &rehearsal->options;
    const struct scenario *scenario = rehearsal->scenario;
    size_t at = rehearsal->plugins_started;
    if (at < options->plugin_count)
        return &options->plugins[at];
    while (at - options->plugin_count < scenario->plugin_count &&
           scenario->plugins[at - options->plugin_count].later)
        at++;
    rehearsal->plugins_started = at;
    return at - options->plugin_count < scenario->plugin_count
               ? &scenario->plugins[at - options->plugin_count]
               : NULL;
}

static void plugin_failed(struct rehearsal *rehearsal, const char *program, const char *text)
{
    rehearsal_break(
        rehearsal, nrictl_fail(rehearsal->ctl, NRICTL_ENVIRONMENT, "plugin %s: %s", program, text));
}

static void plugin_started(struct node *node, const struct node_result *result, void *user)
{
    struct rehearsal *rehearsal = user;
    (void)node;
    rehearsal->starting = false;
    if (result->code != 0 && !rehearsal->ending)
        plugin_failed(rehearsal, next_plugin(rehearsal)->argv[0], result->text);
    rehearsal->plugins_started++;
    (void)uv_async_send(&rehearsal->poke);
}

/* False: one is being started, or it has failed. */
static bool plugins_are_there(struct rehearsal *rehearsal)
{
    const struct scenario_plugin *plugin;
    if (rehearsal->starting)
        return false;
    if ((plugin = next_plugin(rehearsal)) == NULL) {
        for (size_t i = 0; i < rehearsal->options.wait_count; i++) {
            if (node_find_plugin(rehearsal->node, rehearsal->options.wait_for[i]) == NULL)
                return false;
        }
        return true;
    }
    rehearsal->starting = true;
    if (rehearsal_start_plugin(rehearsal, plugin, plugin_started, rehearsal) != 0)
        plugin_failed(rehearsal, plugin->argv[0], node_error(rehearsal->node));
    return false;
}

/* ---- steps ---- */

static void show_progress(const struct rehearsal *rehearsal)
{
    const struct scenario *scenario = rehearsal->scenario;
    const char *title = scenario->steps[rehearsal->begun - 1].title;
    FILE *err = rehearsal->ctl->err;
    if (!rehearsal->options.verbose && !rehearsal->ctl->progress)
        return;
    (void)fprintf(err, "%sstep %zu of %zu: ", rehearsal->options.verbose ? "" : "\r\033[K",
                  rehearsal->begun, scenario->step_count);
    print_text(err, title, strlen(title));
    (void)fputs(rehearsal->options.verbose ? "\n" : "", err);
    (void)fflush(err);
}

void rehearsal_step_over(struct rehearsal *rehearsal, size_t number, int code, const char *text)
{
    struct step_result *result = &rehearsal->results[number];
    result->state = RESULT_OVER;
    result->code = code;
    result->text = rehearsal_keep(rehearsal, text);
    trace_node_step(rehearsal->timeline, rehearsal->scenario->steps[number].title, result->began,
                    code, text);
    (void)uv_async_send(&rehearsal->poke);
}

static void keep_outcomes(struct rehearsal *rehearsal, struct step_result *kept,
                          const struct node_result *result)
{
    kept->outcomes =
        nri_arena_array(&rehearsal->arena, result->outcome_count + 1, sizeof(nri_outcome *));
    kept->not_updated =
        nri_arena_array(&rehearsal->arena, result->not_updated_count + 1, sizeof(const char *));
    for (size_t i = 0; kept->outcomes != NULL && i < result->outcome_count; i++)
        kept->outcomes[kept->outcome_count++] = nri_outcome_ref(result->outcomes[i]);
    for (size_t i = 0; kept->not_updated != NULL && i < result->not_updated_count; i++)
        kept->not_updated[kept->not_updated_count++] =
            rehearsal_keep(rehearsal, result->not_updated[i]);
    kept->nanoseconds = result->nanoseconds;
}

void rehearsal_step_done(struct node *node, const struct node_result *result, void *token)
{
    const struct step_token *step = token;
    (void)node;
    keep_outcomes(step->rehearsal, &step->rehearsal->results[step->number], result);
    rehearsal_step_over(step->rehearsal, step->number, result->code, result->text);
}

static void on_patience(uv_timer_t *timer)
{
    struct rehearsal *rehearsal = timer->data;
    rehearsal->out_of_patience = true;
    (void)uv_async_send(&rehearsal->poke);
}

static bool waits(const struct scenario_step *step)
{
    return step->verb == STEP_SLEEP || step->verb == STEP_WAIT || step->verb == STEP_EXPECT;
}

static void begin_step(struct rehearsal *rehearsal, size_t number)
{
    const struct scenario_step *step = &rehearsal->scenario->steps[number];
    struct step_result *result = &rehearsal->results[number];
    *result = (struct step_result){.state = RESULT_UNDER_WAY,
                                   .text = "",
                                   .began = uv_hrtime(),
                                   .events_before = rehearsal->trail.event_count,
                                   .updates_before = rehearsal->trail.update_count};
    rehearsal->begun = number + 1;
    rehearsal->out_of_patience = false;
    show_progress(rehearsal);
    step_begin(rehearsal, number);
    if (result->state == RESULT_UNDER_WAY && waits(step))
        (void)uv_timer_start(&rehearsal->patience, on_patience,
                             step->verb == STEP_EXPECT ? EXPECT_MS : step->ms, 0);
}

/* Whether the step that was begun last lets the next one begin. */
static bool may_go_on(struct rehearsal *rehearsal)
{
    if (rehearsal->begun == 0)
        return true;
    const size_t last = rehearsal->begun - 1;
    if (rehearsal->results[last].state == RESULT_UNDER_WAY)
        step_look(rehearsal, last);
    return rehearsal->results[last].state == RESULT_OVER ||
           rehearsal->scenario->steps[last].background;
}

static bool has_waited_in_vain(const struct rehearsal *rehearsal)
{
    const size_t last = rehearsal->begun - 1;
    return rehearsal->begun > 0 && rehearsal->scenario->steps[last].verb == STEP_WAIT &&
           rehearsal->results[last].code != 0;
}

/* Load, in place of steps. */
static void load_over(struct load *load, void *user)
{
    (void)load;
    rehearsal_finish(user, END_WHOLE);
}

static void start_load(struct rehearsal *rehearsal)
{
    if (rehearsal->load != NULL)
        return;
    rehearsal->load =
        load_start(rehearsal->ctl, rehearsal->node, rehearsal->options.load, load_over, rehearsal);
    if (rehearsal->load == NULL)
        rehearsal_break(rehearsal, nrictl_fail(rehearsal->ctl, NRICTL_ENVIRONMENT, "no memory"));
}

static void on_poke(uv_async_t *poke)
{
    struct rehearsal *rehearsal = poke->data;
    if (rehearsal->ending || rehearsal->reported || !rehearsal->ready ||
        !plugins_are_there(rehearsal))
        return;
    if (rehearsal->options.load != NULL) {
        start_load(rehearsal);
        return;
    }
    while (!rehearsal->ending && !rehearsal->reported && may_go_on(rehearsal)) {
        (void)judge_all(rehearsal);
        if (has_waited_in_vain(rehearsal))
            rehearsal_finish(rehearsal, END_WAIT);
        else if (rehearsal->begun < rehearsal->scenario->step_count)
            begin_step(rehearsal, rehearsal->begun);
        else
            break;
    }
    if (rehearsal->ending || rehearsal->reported)
        return;
    if (judge_all(rehearsal) && rehearsal->begun == rehearsal->scenario->step_count)
        rehearsal_finish(rehearsal, END_WHOLE);
}

/* ---- what happens ---- */

static void on_limit(uv_timer_t *timer)
{
    rehearsal_finish(timer->data, END_TIMEOUT);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct rehearsal *rehearsal = handle->data;
    (void)number;
    /* What of a load is under way goes on to its end, unless another signal comes. */
    if (rehearsal->load != NULL && !rehearsal->stopping && !rehearsal->reported) {
        rehearsal->stopping = true;
        load_stop(rehearsal->load);
    } else {
        if (rehearsal->shell != NULL)
            rehearsal->after = NRICTL_ENVIRONMENT; /* its commands were not all done */
        rehearsal_finish(rehearsal, END_INTERRUPTED);
    }
}

/* ---- the beginning ---- */

static int make_handles(struct rehearsal *rehearsal)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    int rc = uv_loop_init(&rehearsal->loop);
    if (rc != 0)
        return rc;
    (void)uv_async_init(&rehearsal->loop, &rehearsal->poke, on_poke);
    (void)uv_timer_init(&rehearsal->loop, &rehearsal->limit);
    (void)uv_timer_init(&rehearsal->loop, &rehearsal->patience);
    rehearsal->poke.data = rehearsal->limit.data = rehearsal->patience.data = rehearsal;
    for (size_t i = 0; i < 2; i++) {
        (void)uv_signal_init(&rehearsal->loop, &rehearsal->signals[i]);
        rehearsal->signals[i].data = rehearsal;
        rc = rc != 0 ? rc : uv_signal_start(&rehearsal->signals[i], on_signal, numbers[i]);
    }
    return rc;
}

static bool make_results(struct rehearsal *rehearsal)
{
    const size_t count = rehearsal->scenario->step_count;
    rehearsal->results = nri_arena_array(&rehearsal->arena, count + 1, sizeof *rehearsal->results);
    rehearsal->tokens = nri_arena_array(&rehearsal->arena, count + 1, sizeof *rehearsal->tokens);
    if (rehearsal->results == NULL || rehearsal->tokens == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        rehearsal->results[i] = (struct step_result){.text = ""};
        rehearsal->tokens[i] = (struct step_token){rehearsal, i};
    }
    return true;
}

int rehearsal_run(struct rehearsal *rehearsal)
{
    memory_arena(&rehearsal->arena, SIZE_MAX);
    trail_begin(&rehearsal->trail);
    rehearsal->end = END_BROKEN;
    if (!make_results(rehearsal))
        return nrictl_fail(rehearsal->ctl, NRICTL_ENVIRONMENT, "no memory");
    int rc = make_handles(rehearsal);
    if (rc != 0)
        return nrictl_fail(rehearsal->ctl, NRICTL_ENVIRONMENT, "no event loop: %s",
                           uv_strerror(rc));
    int code = rehearsal_make_node(rehearsal);
    if (code != NRICTL_OK)
        rehearsal_break(rehearsal, code);
    else if (rehearsal->options.timeout_ms != 0)
        (void)uv_timer_start(&rehearsal->limit, on_limit, rehearsal->options.timeout_ms, 0);
    (void)uv_run(&rehearsal->loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&rehearsal->loop);
    return rehearsal->end == END_BROKEN ? rehearsal->code : NRICTL_OK;
}

void rehearsal_free(struct rehearsal *rehearsal)
{
    for (size_t i = 0; rehearsal->results != NULL && i < rehearsal->scenario->step_count; i++) {
        for (size_t j = 0; j < rehearsal->results[i].outcome_count; j++)
            nri_outcome_unref(rehearsal->results[i].outcomes[j]);
    }
    free(rehearsal->findings.list);
    free(rehearsal->plugins);
    trail_free(&rehearsal->trail);
    nri_arena_fini(&rehearsal->arena);
}
