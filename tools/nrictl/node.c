/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node's life.
 *
 * Happy path: node_new() -> node_start() -> `ready` -> operations -> node_close(): the runtime is
 * stopped, operations end, plugins' processes end, libuv closes the handles, `closed`. Failure
 * modes: the runtime cannot start (node_start() says so, or `failed` at a restart), or ends by
 * itself (`failed`); then only node_close() is of use.
 */
#include "node.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "node_inside.h"
#include "nrictl.h"

/* Beyond any real process, so that no plugin looks at a process that has nothing to do with it. */
#define FIRST_PID 5000000u

int64_t node_now(void)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- making ---- */

static bool copy_text(char **to, const char *from)
{
    *to = from == NULL ? NULL : strdup(from);
    return from == NULL || *to != NULL;
}

static int take_options(struct node *node, const struct node_options *options)
{
    if (options->imitate != NULL) {
        node->imitate = *options->imitate;
        node->imitates = true;
    }
    if (options->failure != NULL) {
        node->failure = *options->failure;
        node->has_failure = true;
    }
    node->registration_timeout_ms = options->registration_timeout_ms;
    node->request_timeout_ms = options->request_timeout_ms;
    node->log = options->log;
    node->log_user = options->log_user;
    node->log_level = options->log_level;
    if (!copy_text(&node->plugin_directory, options->plugin_directory) ||
        !copy_text(&node->config_directory, options->config_directory != NULL
                                                ? options->config_directory
                                                : "/nonexistent") ||
        !copy_text(&node->validator_config, options->validator_config) ||
        !copy_text(&node->socket, options->socket_path))
        return NRI_E_NOMEM;
    if (node->socket != NULL)
        return 0;
    const int code = socket_directory_make(&node->directory, &node->error);
    if (code == 0 && !copy_text(&node->socket, node->directory.socket))
        return NRI_E_NOMEM;
    return code;
}

static void free_node(struct node *node)
{
    store_fini(&node->store);
    socket_directory_remove(&node->directory);
    free(node->socket);
    free(node->plugin_directory);
    free(node->config_directory);
    free(node->validator_config);
    free(node);
}

static void export_error(const struct nri_error *from, nri_error **error)
{
    struct nri_alloc alloc;
    (void)nri_alloc_resolve(&alloc, NULL);
    nri_error_export(from, &alloc, error);
}

int node_new(struct node **node, uv_loop_t *loop, const struct node_options *options,
             const struct node_watch *watch, void *user, nri_error **error)
{
    struct node *made = calloc(1, sizeof *made);
    int code = NRI_E_NOMEM;
    if (made == NULL)
        return code;
    made->loop = loop;
    made->user = user;
    made->next_pid = FIRST_PID;
    if (watch != NULL)
        made->watch = *watch;
    store_init(&made->store);
    code = take_options(made, options);
    if (code == 0)
        code = node_make_runtime(made, error);
    else
        export_error(&made->error, error);
    if (code != 0) {
        free_node(made);
        return code;
    }
    (void)uv_timer_init(loop, &made->kick);
    (void)uv_timer_init(loop, &made->away);
    made->kick.data = made->away.data = made;
    made->open = 2;
    *node = made;
    return 0;
}

/* ---- the runtime's end ---- */

static void close_all(struct node *node);
static void come_back(struct node *node);

static void fail_node(struct node *node, int code, const char *text)
{
    const struct node_result result = {.code = code, .text = text};
    const node_done restarted = node->restarted;
    node->phase = NODE_FAILED;
    node->restarted = NULL;
    (void)nri_error_set(&node->error, code, "%s", text);
    if (restarted != NULL)
        restarted(node, &result, node->restarted_user);
    if (node->watch.failed != NULL && node->phase == NODE_FAILED)
        node->watch.failed(node, code, node->error.text, node->user);
}

static void on_away(uv_timer_t *timer)
{
    come_back(timer->data);
}

static void runtime_closed(void *user)
{
    struct node *node = user;
    if (node->phase == NODE_CLOSING) {
        close_all(node);
    } else if (node->phase == NODE_LEAVING) {
        node->phase = NODE_AWAY;
        (void)uv_timer_start(&node->away, on_away, node->away_ms, 0);
    }
}

/* Its memory goes with a turn of the loop. */
static void drop_runtime(struct node *node)
{
    nri_runtime *runtime = node->runtime;
    node->runtime = NULL;
    nri_runtime_close(runtime, runtime_closed, node);
}

static void on_ended(nri_runtime *runtime, int code, void *user)
{
    struct node *node = user;
    if (node->phase == NODE_LEAVING || node->phase == NODE_CLOSING)
        drop_runtime(node);
    else
        fail_node(node, code != 0 ? code : NRI_E_STATE,
                  nri_error_get_text(nri_runtime_last_error(runtime)));
}

int node_start(struct node *node)
{
    if (node->phase != NODE_NEW && node->phase != NODE_AWAY)
        return nri_error_set(&node->error, NRI_E_STATE, "the node has been started");
    const int code = nri_runtime_start(node->runtime, node->loop, on_ended, node);
    if (code != 0)
        return nri_error_set(&node->error, code, "%s",
                             nri_error_get_text(nri_runtime_last_error(node->runtime)));
    node->phase = NODE_STARTING;
    return 0;
}

/* ---- restart ---- */

static void come_back(struct node *node)
{
    nri_error *error = NULL;
    int code = node_make_runtime(node, &error);
    if (code != 0) {
        fail_node(node, code, nri_error_get_text(error));
        nri_error_free(error);
        return;
    }
    if ((code = node_start(node)) != 0)
        fail_node(node, code, node->error.text);
}

int node_restart(struct node *node, uint64_t away_ms, node_done done, void *user)
{
    if (node->phase != NODE_READY)
        return nri_error_set(&node->error, NRI_E_STATE, "the runtime is away already");
    node->phase = NODE_LEAVING;
    node->away_ms = away_ms;
    node->restarted = done;
    node->restarted_user = user;
    nri_runtime_stop(node->runtime);
    return 0;
}

/* ---- the end ---- */

void node_one_closed(struct node *node)
{
    if (--node->open > 0)
        return;
    void (*const closed)(void *user) = node->closed;
    void *user = node->closed_user;
    free_node(node);
    if (closed != NULL)
        closed(user);
}

static void timer_closed(uv_handle_t *handle)
{
    node_one_closed(handle->data);
}

/* The runtime is gone. */
static void close_all(struct node *node)
{
    const struct node_result result = {.code = NRI_E_CLOSED, .text = "the node is closed"};
    const node_done restarted = node->restarted;
    node->restarted = NULL;
    if (restarted != NULL)
        restarted(node, &result, node->restarted_user);
    operation_end_all(node);
    slow_reader_end_all(node);
    child_end_all(node);
    uv_close((uv_handle_t *)&node->kick, timer_closed);
    uv_close((uv_handle_t *)&node->away, timer_closed);
}

void node_close(struct node *node, void (*closed)(void *user), void *user)
{
    if (node == NULL || node->phase == NODE_CLOSING)
        return;
    const enum node_phase phase = node->phase;
    node->phase = NODE_CLOSING;
    node->closed = closed;
    node->closed_user = user;
    (void)uv_timer_stop(&node->kick);
    (void)uv_timer_stop(&node->away);
    if (phase == NODE_READY || phase == NODE_STARTING)
        nri_runtime_stop(node->runtime); /* on_ended() closes it */
    else if (phase == NODE_LEAVING)
        return; /* that is under way */
    else if (node->runtime != NULL)
        drop_runtime(node);
    else
        close_all(node);
}

/* ---- reading ---- */

const char *node_error(const struct node *node)
{
    return node->error.text;
}

uv_loop_t *node_loop(const struct node *node)
{
    return node->loop;
}

const char *node_socket(const struct node *node)
{
    return node->socket;
}

struct store *node_store(struct node *node)
{
    return &node->store;
}

nri_runtime *node_runtime(const struct node *node)
{
    return node->runtime;
}

const struct imitate *node_imitate(const struct node *node)
{
    return node->imitates ? &node->imitate : NULL;
}

nri_runtime_plugin *node_find_plugin(const struct node *node, const char *name)
{
    nri_runtime_plugin *at = NULL;
    if (node->runtime == NULL)
        return NULL;
    while ((at = nri_runtime_next_plugin(node->runtime, at)) != NULL) {
        if (strcmp(nri_runtime_plugin_id(at), name) == 0 ||
            strcmp(nri_runtime_plugin_name(at), name) == 0)
            return at;
    }
    return NULL;
}

uint64_t node_event_nanoseconds(const struct node *node)
{
    return node->event_nanoseconds;
}

size_t node_pending(const struct node *node)
{
    return node->pending;
}

int node_signal_plugin(struct node *node, const nri_runtime_plugin *plugin, int number)
{
    const int64_t known = nri_runtime_plugin_pid(plugin);
    const pid_t pid = (pid_t)known;
    if (known <= 1 || pid == getpid())
        return nri_error_set(&node->error, NRI_E_NOT_FOUND,
                             "plugin %s is no process of its own, or its process is not known",
                             nri_runtime_plugin_id(plugin));
    struct child *child = node_child_of(node, plugin);
    if (child != NULL)
        return child_signal(child, number);
    if (kill(pid, number) != 0)
        return nri_error_set(&node->error, NRI_E_PERMISSION, "process %d of plugin %s: %m",
                             (int)pid, nri_runtime_plugin_id(plugin));
    return 0;
}

int node_keep_output(struct nrictl *ctl)
{
    (void)fflush(ctl->out);
    const int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    FILE *out = kept < 0 ? NULL : fdopen(kept, "w");
    if (out == NULL || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        if (out != NULL)
            (void)fclose(out);
        else if (kept >= 0)
            (void)close(kept);
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "standard output cannot be set aside: %m");
    }
    ctl->out = out;
    return NRICTL_OK;
}
