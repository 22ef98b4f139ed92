/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plugins of a command line.
 *
 * Happy path: node_start_child() -> the process runs -> it registers -> child_connected() -> `done`
 * -> node_close() -> child_end_all(): SIGTERM -> SIGCHLD -> reaped. Failure modes: it ends before
 * it registers, it never registers (the timer), it does not end after SIGTERM (the timer again,
 * then SIGKILL).
 */
#include "child.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/model.h"
#include "node_inside.h"
#include "process.h"

#define DEFAULT_TIMEOUT 30000 /* ms */
#define END_TIME        2000  /* ms, from SIGTERM to SIGKILL */

struct child {
    struct child *next;
    struct node *node;
    pid_t pid;
    char *name;
    bool paused, ended;
    uv_signal_t signal; /* SIGCHLD */
    uv_timer_t timer;   /* for the registration, then for the end */
    unsigned open;      /* of these two */
    node_done done;     /* NULL: it was called */
    bool waits;         /* for its registration */
    void *user;
    uint64_t began;    /* ns */
    uint64_t patience; /* ms, for the registration */
};

/* ---- its end ---- */

static void handle_closed(uv_handle_t *handle)
{
    struct child *child = handle->data;
    struct node *node = child->node;
    if (--child->open > 0)
        return;
    free(child->name);
    free(child);
    node_one_closed(node);
}

/* What libuv has of it goes, then the child; the node waits for that. */
static void forget(struct child *child)
{
    struct child **at = &child->node->children;
    while (*at != NULL && *at != child)
        at = &(*at)->next;
    if (*at != NULL)
        *at = child->next;
    uv_close((uv_handle_t *)&child->signal, handle_closed);
    uv_close((uv_handle_t *)&child->timer, handle_closed);
}

/* The callback of its start, once. */
static void answer(struct child *child, int code, const char *text)
{
    const struct node_result result = {
        .code = code,
        .text = text,
        .done = code == 0,
        .nanoseconds = uv_hrtime() - child->began,
    };
    const node_done done = child->done;
    if (!child->waits)
        return;
    child->waits = false;
    child->done = NULL;
    (void)uv_timer_stop(&child->timer);
    if (done != NULL)
        done(child->node, &result, child->user);
}

const char *child_end_text(int status, char text[48])
{
    if (WIFEXITED(status))
        (void)snprintf(text, 48, "ended with status %d", WEXITSTATUS(status));
    else
        (void)snprintf(text, 48, "was ended by signal %d", WTERMSIG(status));
    return text;
}

static void tell_early_end(struct child *child, int status)
{
    struct nri_error error;
    char end[48];
    (void)nri_error_set(&error, NRI_E_CLOSED, "it %s before it was registered",
                        child_end_text(status, end));
    answer(child, NRI_E_CLOSED, error.text);
}

static void on_sigchld(uv_signal_t *signal, int number)
{
    struct child *child = signal->data;
    struct node *node = child->node;
    int status = 0;
    (void)number;
    if (child->ended || waitpid(child->pid, &status, WNOHANG) != child->pid)
        return;
    child->ended = true;
    (void)uv_signal_stop(&child->signal);
    (void)uv_timer_stop(&child->timer);
    tell_early_end(child, status);
    if (node->watch.child_ended != NULL)
        node->watch.child_ended(node, child, status, node->user);
    forget(child);
}

static void on_end_time(uv_timer_t *timer)
{
    const struct child *child = timer->data;
    (void)kill(-child->pid, SIGKILL);
}

void child_end_all(struct node *node)
{
    for (struct child *at = node->children; at != NULL; at = at->next) {
        if (at->ended)
            continue;
        answer(at, NRI_E_CLOSED, "the node is closed");
        (void)kill(-at->pid, SIGTERM);
        (void)kill(-at->pid, SIGCONT);
        (void)uv_timer_start(&at->timer, on_end_time, END_TIME, 0);
    }
}

/* ---- its start ---- */

static void on_timeout(uv_timer_t *timer)
{
    struct child *child = timer->data;
    struct nri_error error;
    (void)nri_error_set(&error, NRI_E_TIMEOUT, "it was not registered in %llu ms",
                        (unsigned long long)child->patience);
    answer(child, NRI_E_TIMEOUT, error.text);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static struct child *make(struct node *node, const struct child_options *options)
{
    struct child *child = calloc(1, sizeof *child);
    if (child == NULL)
        return NULL;
    child->name = strdup(base_name(options->argv[0]));
    if (child->name == NULL || uv_signal_init(node->loop, &child->signal) != 0) {
        free(child->name);
        free(child);
        return NULL;
    }
    (void)uv_timer_init(node->loop, &child->timer);
    child->node = node;
    child->signal.data = child->timer.data = child;
    child->open = 2;
    node->open++;
    child->next = node->children;
    node->children = child;
    return child;
}

/* "NN-name" of the program, unless it is given. */
static int start(struct child *child, const struct child_options *options)
{
    struct node *node = child->node;
    char index[3];
    const char *name;
    if (!nri_identity_from_program(child->name, index, &name))
        memcpy(index, "00", sizeof index);
    return process_start(options, options->name != NULL ? options->name : name,
                         options->index != NULL ? options->index : index, node->socket, &child->pid,
                         &node->error);
}

int node_start_child(struct node *node, const struct child_options *options, struct child **child,
                     node_done done, void *user)
{
    if (node->phase != NODE_READY)
        return nri_error_set(&node->error, NRI_E_STATE, "the runtime is not ready");
    struct child *made = make(node, options);
    if (made == NULL)
        return nri_error_set(&node->error, NRI_E_NOMEM, "out of memory for a plugin");
    made->began = uv_hrtime();
    int code = 0;
    if (uv_signal_start(&made->signal, on_sigchld, SIGCHLD) != 0)
        code = nri_error_set(&node->error, NRI_E_IO, "SIGCHLD cannot be watched");
    else
        code = start(made, options);
    if (code != 0) {
        made->ended = true;
        forget(made);
        return code;
    }
    made->waits = true;
    made->done = done;
    made->user = user;
    made->patience = options->timeout_ms != 0 ? options->timeout_ms : DEFAULT_TIMEOUT;
    (void)uv_timer_start(&made->timer, on_timeout, made->patience, 0);
    if (child != NULL)
        *child = made;
    return 0;
}

/* ---- which is which ---- */

/* What a plugin's program starts is in its process group. */
struct child *node_child_of(const struct node *node, const nri_runtime_plugin *plugin)
{
    const int64_t pid = nri_runtime_plugin_pid(plugin);
    const pid_t group = pid > 0 ? getpgid((pid_t)pid) : -1;
    for (struct child *at = node->children; group > 0 && at != NULL; at = at->next) {
        if (!at->ended && at->pid == group)
            return at;
    }
    return NULL;
}

void child_connected(struct node *node, const nri_runtime_plugin *plugin)
{
    struct child *child = node_child_of(node, plugin);
    if (child != NULL)
        answer(child, 0, "");
}

/* ---- reading and signals ---- */

pid_t child_pid(const struct child *child)
{
    return child->pid;
}

const char *child_name(const struct child *child)
{
    return child->name;
}

bool child_is_paused(const struct child *child)
{
    return child->paused;
}

int child_signal(struct child *child, int number)
{
    if (child->ended || kill(-child->pid, number) != 0)
        return nri_error_set(&child->node->error, NRI_E_NOT_FOUND, "plugin %s has ended",
                             child->name);
    if (number == SIGSTOP || number == SIGCONT)
        child->paused = number == SIGSTOP;
    return 0;
}
