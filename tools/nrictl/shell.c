/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Happy path: shell_start() -> the input is readable -> a line -> its command begins -> the node's
 * callback -> its result -> the next line -> the end of the input -> `done`. Failure modes: a
 * command is wrong (told, and the next line is read), an operation fails (the same), a line is too
 * long (it is skipped), the node is freed first (the callbacks that come then find nobody).
 */
#include "shell.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "print.h"
#include "shell_inside.h"

#define LINE_MOST ((size_t)64 * 1024)

static void go_on(struct shell *shell);

/* ---- messages ---- */

static void hide(struct shell *shell)
{
    if (shell->editor != NULL && !shell->busy)
        editor_hide(shell->editor);
}

static void show(struct shell *shell)
{
    if (shell->editor != NULL && !shell->busy && !shell->leaving)
        editor_show(shell->editor);
}

/* Text of plugins may be in it: no byte of it is for the terminal to obey. */
static void put(struct shell *shell, FILE *out, const char *format, va_list arguments)
{
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        return;
    if (out == shell->ctl->err && shell->editor == NULL)
        (void)fprintf(out, "nrictl %s: line %zu: ", shell->ctl->command, shell->line);
    print_text(out, text, strlen(text));
    (void)fputc('\n', out);
    (void)fflush(out);
    free(text);
}

/* On a terminal they stand where they are read, among the results. */
static FILE *messages(const struct shell *shell)
{
    return shell->editor != NULL ? shell->ctl->out : shell->ctl->err;
}

void shell_wrong(struct shell *shell, const char *format, ...)
{
    va_list arguments;
    shell->wrong = true;
    va_start(arguments, format);
    put(shell, messages(shell), format, arguments);
    va_end(arguments);
}

void shell_fail(struct shell *shell, const char *format, ...)
{
    va_list arguments;
    shell->failed = true;
    va_start(arguments, format);
    put(shell, messages(shell), format, arguments);
    va_end(arguments);
}

void shell_tell(struct shell *shell, const char *format, ...)
{
    va_list arguments;
    if (shell == NULL || shell->ctl->json)
        return;
    hide(shell);
    va_start(arguments, format);
    put(shell, shell->ctl->out, format, arguments);
    va_end(arguments);
    show(shell);
}

/* ---- lines ---- */

/* Its name and up to two words, for messages: "create pod app". */
static void name_command(struct shell *shell, const struct words *words)
{
    const size_t count = words->count < 3 ? words->count : 3;
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof shell->command; i++) {
        if (i > 0 && strchr(words->at[i], '=') != NULL)
            break;
        used += (size_t)snprintf(shell->command + used, sizeof shell->command - used, "%s%s",
                                 i == 0 ? "" : " ", words->at[i]);
    }
}

static void run_line(struct shell *shell, const char *line, size_t length)
{
    struct words words;
    shell->line++;
    words_split(&words, line, length);
    const struct shell_command *command = words.count == 0 ? NULL : shell_find_command(words.at[0]);
    if (words.error != NULL)
        shell_wrong(shell, "%s", words.error);
    else if (words.count > 0 && command == NULL)
        shell_wrong(shell, "there is no command '%s'; help lists them", words.at[0]);
    else if (command != NULL &&
             (words.count - 1 < command->least || words.count - 1 > command->most))
        shell_wrong(shell, "usage: %s %s", command->name, command->arguments);
    else if (command != NULL) {
        name_command(shell, &words);
        command->run(shell, &words);
    }
    words_free(&words);
    (void)fflush(shell->ctl->out);
}

/* A whole line out of what was read; at the end of the input also one without a line break. */
static bool take_line(struct shell *shell)
{
    char *end = memchr(shell->bytes, '\n', shell->have);
    size_t length = end == NULL ? shell->have : (size_t)(end - shell->bytes);
    if (end == NULL && (!shell->at_end || shell->have == 0))
        return false;
    char *line = malloc(length + 1);
    if (line != NULL)
        memcpy(line, shell->bytes, length);
    shell->have -= end == NULL ? length : length + 1;
    if (end != NULL)
        memmove(shell->bytes, end + 1, shell->have);
    if (line == NULL)
        shell_fail(shell, "out of memory for a command");
    else
        run_line(shell, line, length);
    free(line);
    return true;
}

static void read_more(struct shell *shell)
{
    if (shell->have == LINE_MOST) {
        shell_wrong(shell, "a line is longer than %zu bytes", LINE_MOST);
        shell->have = 0;
    }
    const ssize_t got = read(shell->input, shell->bytes + shell->have, LINE_MOST - shell->have);
    if (got > 0)
        shell->have += (size_t)got;
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        shell->at_end = true;
}

static void read_editor(struct shell *shell)
{
    bool end = false;
    const char *line = editor_read(shell->editor, &end);
    shell->at_end = shell->at_end || end;
    if (line == NULL)
        return;
    run_line(shell, line, strlen(line));
    show(shell);
}

static void finish(struct shell *shell)
{
    const int code = shell->editor != NULL ? NRICTL_OK
                     : shell->wrong        ? NRICTL_USAGE
                     : shell->failed       ? NRICTL_FINDING
                                           : NRICTL_OK;
    shell->over = true;
    shell->done(shell, code, shell->user);
}

static void on_readable(struct shell *shell)
{
    if (shell->editor != NULL)
        read_editor(shell);
    else
        read_more(shell);
    go_on(shell);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    on_readable(poll->data);
}

static void on_timer(uv_timer_t *timer)
{
    on_readable(timer->data);
}

/* Lines that are there, then whatever brings more. */
static void go_on(struct shell *shell)
{
    while (!shell->busy && !shell->leaving && !shell->freed && shell->editor == NULL &&
           take_line(shell))
        continue;
    if (shell->freed || shell->over)
        return;
    if (!shell->is_file)
        (void)uv_poll_stop(&shell->poll);
    if (shell->busy)
        return;
    if (shell->leaving || (shell->at_end && shell->have == 0)) {
        shell->leaving = true;
        finish(shell);
    } else if (shell->is_file) {
        (void)uv_timer_start(&shell->timer, on_timer, 0, 0);
    } else {
        (void)uv_poll_start(&shell->poll, UV_READABLE, on_poll);
    }
}

void shell_next(struct shell *shell)
{
    shell->busy = false;
    show(shell);
    go_on(shell);
}

void shell_began(struct shell *shell, int code)
{
    if (code == 0)
        shell->busy = true;
    else
        shell_fail(shell, "%s: %s", shell->command,
                   node_error(shell->node)[0] != '\0' ? node_error(shell->node)
                                                      : nri_strerror(code));
}

static void unref(struct shell *shell);

void shell_operation_done(struct node *node, const struct node_result *result, void *user)
{
    struct shell *shell = user;
    (void)node;
    if (shell->freed) {
        shell->busy = false;
        unref(shell);
        return;
    }
    if (result->outcome_count > 0) {
        nri_outcome_unref(shell->last);
        shell->last = nri_outcome_ref(result->outcomes[0]);
    }
    shell_print_result(shell, result);
    shell_next(shell);
}

/* ---- its life ---- */

struct shell *shell_start(struct nrictl *ctl, struct node *node, int input,
                          void (*done)(struct shell *shell, int code, void *user), void *user)
{
    struct shell *shell = calloc(1, sizeof *shell);
    char *bytes = malloc(LINE_MOST);
    if (shell == NULL || bytes == NULL) {
        free(shell);
        free(bytes);
        (void)nrictl_fail(ctl, NRICTL_ENVIRONMENT, "out of memory for a shell");
        return NULL;
    }
    shell->ctl = ctl;
    shell->node = node;
    shell->input = input;
    shell->done = done;
    shell->user = user;
    shell->bytes = bytes;
    (void)uv_timer_init(node_loop(node), &shell->timer);
    shell->timer.data = shell;
    shell->is_file = uv_poll_init(node_loop(node), &shell->poll, input) != 0;
    shell->poll.data = shell;
    shell->open = shell->is_file ? 1 : 2;
    if (isatty(input) == 1 && isatty(fileno(ctl->out)) == 1)
        shell->editor = editor_new(node, input, ctl->out, ctl->err);
    show(shell);
    if (shell->is_file)
        (void)uv_timer_start(&shell->timer, on_timer, 0, 0);
    else
        (void)uv_poll_start(&shell->poll, UV_READABLE, on_poll);
    return shell;
}

/* An operation that is under way still names it. */
static void unref(struct shell *shell)
{
    if (shell->open > 0 || shell->busy)
        return;
    nri_outcome_unref(shell->last);
    free(shell->bytes);
    free(shell);
}

static void on_closed(uv_handle_t *handle)
{
    struct shell *shell = handle->data;
    shell->open--;
    unref(shell);
}

void shell_free(struct shell *shell)
{
    if (shell == NULL)
        return;
    shell->freed = true;
    editor_free(shell->editor);
    shell->editor = NULL;
    uv_close((uv_handle_t *)&shell->timer, on_closed);
    if (!shell->is_file)
        uv_close((uv_handle_t *)&shell->poll, on_closed);
}

/* ---- what happens beside commands ---- */

void shell_connected(struct shell *shell, const nri_runtime_plugin *plugin)
{
    shell_tell(shell, "+ plugin %s", nri_runtime_plugin_id(plugin));
}

void shell_lost(struct shell *shell, const nri_runtime_plugin *plugin, int code, const char *text)
{
    shell_tell(shell, "- plugin %s%s%s", nri_runtime_plugin_id(plugin), code == 0 ? "" : ": ",
               code == 0 ? "" : text);
}

void shell_updated(struct shell *shell, const char *plugin, const nri_updates *list,
                   const char *const *failed, size_t failed_count, bool sync)
{
    for (size_t i = 0; i < nri_updates_count(list); i++) {
        const char *id = nri_update_container_id(nri_updates_at(list, i));
        bool bad = false;
        for (size_t k = 0; k < failed_count; k++)
            bad = bad || strcmp(failed[k], id) == 0;
        shell_tell(shell, "* plugin %s %s %s%s", plugin, bad ? "cannot update" : "updated", id,
                   sync ? ", in its answer to Synchronize" : "");
    }
}

void shell_evicted(struct shell *shell, const char *container_id, const char *plugin,
                   const char *reason)
{
    shell_tell(shell, "* %s%s evicts %s: %s", plugin[0] == '\0' ? "a plugin" : "plugin ", plugin,
               container_id, reason);
}

void shell_child_ended(struct shell *shell, const struct child *child, int status)
{
    char end[48];
    shell_tell(shell, "- process %d (%s) %s", (int)child_pid(child), child_name(child),
               child_end_text(status, end));
}
