/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin for tests, made with libnri's public headers only. It writes one JSON record an event to
 * standard output and does to containers what its options say; see e2e-options.h.
 *
 * Threads: the main thread runs the plugin. One thread takes the signals: SIGTERM and SIGINT stop
 * the plugin, SIGUSR1 has an unsolicited update sent. A request that is to be answered later is
 * given to a thread of its own.
 */
#include "e2e-options.h"
#include "e2e-record.h"
#include "e2e-reply.h"

#include <nri/nri.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct state {
    struct options options;
    FILE *out;
    char *config; /* the configuration text, which options point into */
    nri_plugin *plugin;

    /* the running containers, for unsolicited updates; the loop's thread only */
    char **ids;
    size_t id_count;

    /* threads that hold a request; main waits for them */
    pthread_mutex_t lock;
    pthread_cond_t idle;
    unsigned waiting;
};

/* A request that is answered later. */
struct later {
    struct state *state;
    nri_request *request;
    long milliseconds;
};

/* ---- the containers known ------------------------------------------------------------------- */

static int remember(struct state *state, const char *id)
{
    char **ids = realloc(state->ids, (state->id_count + 1) * sizeof *ids);
    if (ids == NULL) {
        return NRI_E_NOMEM;
    }
    state->ids = ids;
    ids[state->id_count] = strdup(id);
    if (ids[state->id_count] == NULL) {
        return NRI_E_NOMEM;
    }
    state->id_count++;
    return 0;
}

static void forget(struct state *state, const char *id)
{
    for (size_t i = 0; i < state->id_count; i++) {
        if (strcmp(state->ids[i], id) == 0) {
            free(state->ids[i]);
            state->ids[i] = state->ids[--state->id_count];
            return;
        }
    }
}

/* ---- telling what came ---------------------------------------------------------------------- */

static void tell_container(FILE *out, const nri_container *container)
{
    record_text(out, "container", nri_container_name(container));
    record_text(out, "id", nri_container_id(container));
    record_text(out, "state", nri_container_state_name(nri_container_get_state(container)));
    record_open(out, "env", '[');
    for (size_t i = 0; i < nri_container_env_count(container); i++) {
        record_item(out, nri_container_env_at(container, i));
    }
    record_close(out, ']');
    record_open(out, "args", '[');
    for (size_t i = 0; i < nri_container_arg_count(container); i++) {
        record_item(out, nri_container_arg(container, i));
    }
    record_close(out, ']');
}

static void tell_resources(FILE *out, const nri_resources *resources)
{
    uint64_t shares = 0;
    int64_t bytes = 0;
    if (nri_resources_cpu_shares(resources, &shares)) {
        record_number(out, "cpu_shares", (int64_t)shares);
    }
    if (nri_resources_memory_limit(resources, &bytes)) {
        record_number(out, "memory_limit", bytes);
    }
}

static void tell(struct state *state, nri_request *request)
{
    FILE *out = state->out;
    const nri_container *container = nri_request_container(request);
    record_begin(out, nri_event_name(nri_request_event(request)));
    record_text(out, "pod", nri_pod_name(nri_request_pod(request)));
    if (nri_container_id(container)[0] != '\0') {
        tell_container(out, container);
    }
    tell_resources(out, nri_request_resources(request));
    record_number(out, "time_left_ms", (int64_t)(nri_request_time_left(request) / 1000000));
    record_open(out, "metadata", '{');
    const char *key = NULL;
    const char *value = NULL;
    for (size_t i = 0; nri_request_metadata_at(request, i, &key, &value); i++) {
        record_text(out, key, value);
    }
    record_close(out, '}');
    record_open(out, "plugins", '[');
    for (size_t i = 0; nri_request_plugin_at(request, i, &key, &value); i++) {
        record_item(out, key);
    }
    record_close(out, ']');
    record_end(out);
}

/* ---- replies
 * -------------------------------------------------------------------------------------- */

/* Fills the reply; the result is a handler's. */
static int answer(struct state *state, nri_request *request)
{
    const struct options *options = &state->options;
    enum nri_event event = nri_request_event(request);
    const char *text = list_value(&options->refuse, nri_event_name(event));
    if (text != NULL) {
        return nri_request_fail(request, NRI_E_REJECTED, text);
    }
    if (event == NRI_EVENT_CREATE_CONTAINER) {
        return reply_adjust(options, nri_request_adjustment(request));
    }
    if (event == NRI_EVENT_UPDATE_CONTAINER && reply_wants_update(options)) {
        const char *id = nri_container_id(nri_request_container(request));
        reply_update(options, nri_updates_container(nri_request_updates(request), id));
    }
    return 0;
}

static void *answer_later(void *arg)
{
    struct later *later = arg;
    struct state *state = later->state;
    struct timespec delay = {later->milliseconds / 1000, later->milliseconds % 1000 * 1000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &delay, &delay) == EINTR) {
    }
    int rc = nri_request_complete(later->request, answer(state, later->request));
    record_begin(state->out, "Completed");
    record_text(state->out, "error", nri_error_name(rc));
    record_end(state->out);
    nri_request_unref(later->request);
    free(later);
    pthread_mutex_lock(&state->lock);
    state->waiting--;
    pthread_cond_broadcast(&state->idle);
    pthread_mutex_unlock(&state->lock);
    return NULL;
}

static int start_later(struct state *state, nri_request *request, const char *milliseconds)
{
    struct later *later = malloc(sizeof *later);
    if (later == NULL) {
        return NRI_E_NOMEM;
    }
    *later = (struct later){state, request, strtol(milliseconds, NULL, 10)};
    pthread_mutex_lock(&state->lock);
    state->waiting++;
    pthread_mutex_unlock(&state->lock);
    pthread_t thread;
    if (pthread_create(&thread, NULL, answer_later, later) != 0) {
        pthread_mutex_lock(&state->lock);
        state->waiting--;
        pthread_mutex_unlock(&state->lock);
        free(later);
        return NRI_E_NOMEM;
    }
    pthread_detach(thread);
    return NRI_PENDING;
}

/* ---- handlers ------------------------------------------------------------------------------- */

static int on_event(nri_request *request, void *user)
{
    struct state *state = user;
    enum nri_event event = nri_request_event(request);
    const char *id = nri_container_id(nri_request_container(request));
    tell(state, request);
    if (event == NRI_EVENT_POST_START_CONTAINER && remember(state, id) != 0) {
        return NRI_E_NOMEM;
    }
    if (event == NRI_EVENT_STOP_CONTAINER) {
        forget(state, id);
    }
    const char *later = list_value(&state->options.later, nri_event_name(event));
    return later != NULL ? start_later(state, request, later) : answer(state, request);
}

static int on_configure(nri_request *request, void *user)
{
    struct state *state = user;
    const nri_plugin *plugin = nri_request_plugin(request);
    free(state->config);
    state->config = strdup(nri_request_config(request));
    if (state->config == NULL) {
        return NRI_E_NOMEM;
    }
    if (options_from_text(&state->options, state->config) != 0) {
        return nri_request_fail(request, NRI_E_SYNTAX, "e2e-plugin: bad configuration");
    }
    if (state->options.output != NULL && state->out == stdout) {
        FILE *file = fopen(state->options.output, "ae");
        if (file == NULL) {
            return nri_request_fail(request, NRI_E_IO,
                                    "e2e-plugin: the output file cannot be opened");
        }
        state->out = file;
    }
    FILE *out = state->out;
    record_begin(out, "Configure");
    record_text(out, "config", nri_request_config(request));
    record_text(out, "name", nri_plugin_name(plugin));
    record_text(out, "index", nri_plugin_index(plugin));
    record_text(out, "runtime", nri_plugin_runtime_name(plugin));
    record_text(out, "version", nri_plugin_runtime_version(plugin));
    record_text(out, "nri_version", nri_plugin_runtime_nri_version(plugin));
    record_flag(out, "inferred", nri_plugin_nri_version_is_inferred(plugin));
    record_number(out, "request_timeout_ms", (int64_t)nri_plugin_request_timeout_ms(plugin));
    record_end(out);
    return 0;
}

static int on_synchronize(nri_request *request, void *user)
{
    struct state *state = user;
    int rc = 0;
    record_begin(state->out, nri_event_name(nri_request_event(request)));
    record_number(state->out, "pods", (int64_t)nri_request_pod_count(request));
    record_number(state->out, "containers", (int64_t)nri_request_container_count(request));
    record_flag(state->out, "more", nri_request_more(request));
    record_end(state->out);
    for (size_t i = 0; rc == 0 && i < nri_request_container_count(request); i++) {
        const nri_container *container = nri_request_container_at(request, i);
        if (nri_container_get_state(container) == NRI_CONTAINER_RUNNING) {
            rc = remember(state, nri_container_id(container));
        }
    }
    return rc;
}

static int on_shutdown(nri_request *request, void *user)
{
    struct state *state = user;
    record_begin(state->out, nri_event_name(nri_request_event(request)));
    record_end(state->out);
    return 0;
}

static int on_disconnected(nri_request *request, void *user)
{
    struct state *state = user;
    record_begin(state->out, "Disconnected");
    record_text(state->out, "error", nri_error_name(nri_request_reason(request)));
    record_text(state->out, "text", nri_request_reason_text(request));
    record_end(state->out);
    return 0;
}

/* ---- the unsolicited update ----------------------------------------------------------------- */

static void record_update(struct state *state, int code, const char *text, size_t failed_count)
{
    record_begin(state->out, "UpdateContainers");
    record_text(state->out, "error", code == 0 ? "" : nri_error_name(code));
    record_text(state->out, "text", text);
    record_number(state->out, "failed", (int64_t)failed_count);
    record_end(state->out);
}

static void on_updated(nri_plugin *plugin, const nri_update_result *result, void *user)
{
    (void)plugin;
    record_update(user, nri_update_result_code(result), nri_update_result_text(result),
                  nri_update_result_failed_count(result)); /* ids of 3 MiB are among the failed */
}

static void send_update(nri_plugin *plugin, void *arg)
{
    struct state *state = arg;
    nri_updates *updates = NULL;
    int rc = nri_updates_new(&updates, NULL);
    if (rc == 0) {
        rc = reply_unsolicited(&state->options, state->ids, state->id_count, updates);
    }
    if (rc == 0) {
        rc = nri_plugin_update_containers(plugin, updates, NULL, on_updated, state);
    }
    if (rc != 0) {
        record_update(state, rc, nri_strerror(rc), 0);
    }
    nri_updates_free(updates);
}

/* ---- process -------------------------------------------------------------------------------- */

static void *take_signals(void *arg)
{
    struct state *state = arg;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    for (;;) {
        int number = 0;
        if (sigwait(&set, &number) != 0 || number == SIGUSR2) {
            return NULL; /* SIGUSR2 comes from main, when the plugin has ended */
        }
        if (number == SIGUSR1) {
            nri_plugin_post(state->plugin, send_update, state);
        } else {
            nri_plugin_stop(state->plugin);
        }
    }
}

static void log_line(void *user, const nri_log_record *record)
{
    (void)user;
    fprintf(stderr, "e2e-plugin: %s: %s\n", nri_log_level_name(nri_log_record_level(record)),
            nri_log_record_text(record));
}

static void fill_ops(struct nri_plugin_ops *ops, uint32_t mask, bool sync_parts)
{
    nri_plugin_ops_init(ops, sizeof *ops);
    const struct {
        nri_handler *member;
        enum nri_event event;
    } table[] = {
        {&ops->on_run_pod_sandbox, NRI_EVENT_RUN_POD_SANDBOX},
        {&ops->on_update_pod_sandbox, NRI_EVENT_UPDATE_POD_SANDBOX},
        {&ops->on_post_update_pod_sandbox, NRI_EVENT_POST_UPDATE_POD_SANDBOX},
        {&ops->on_stop_pod_sandbox, NRI_EVENT_STOP_POD_SANDBOX},
        {&ops->on_remove_pod_sandbox, NRI_EVENT_REMOVE_POD_SANDBOX},
        {&ops->on_create_container, NRI_EVENT_CREATE_CONTAINER},
        {&ops->on_post_create_container, NRI_EVENT_POST_CREATE_CONTAINER},
        {&ops->on_start_container, NRI_EVENT_START_CONTAINER},
        {&ops->on_post_start_container, NRI_EVENT_POST_START_CONTAINER},
        {&ops->on_update_container, NRI_EVENT_UPDATE_CONTAINER},
        {&ops->on_post_update_container, NRI_EVENT_POST_UPDATE_CONTAINER},
        {&ops->on_stop_container, NRI_EVENT_STOP_CONTAINER},
        {&ops->on_remove_container, NRI_EVENT_REMOVE_CONTAINER},
        {&ops->on_validate_adjustment, NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if ((mask & nri_event_bit(table[i].event)) != 0) {
            *table[i].member = on_event;
        }
    }
    ops->on_configure = on_configure;
    if (sync_parts) {
        ops->on_synchronize_part = on_synchronize;
    } else {
        ops->on_synchronize = on_synchronize;
    }
    ops->on_shutdown = on_shutdown;
    ops->on_disconnected = on_disconnected;
}

static int make_plugin(struct state *state, nri_error **error)
{
    const struct options *options = &state->options;
    uint32_t mask = NRI_EVENTS_CLASSIC;
    if (options->events != NULL) {
        int rc = nri_event_mask_parse(options->events, &mask, error);
        if (rc != 0) {
            return rc;
        }
    }
    struct nri_plugin_ops ops;
    fill_ops(&ops, mask, options->sync_parts);
    struct nri_plugin_options plugin_options;
    nri_plugin_options_init(&plugin_options, sizeof plugin_options);
    plugin_options.name = options->name;
    plugin_options.index = options->index;
    plugin_options.socket_path = options->socket;
    plugin_options.log = log_line;
    plugin_options.log_level = NRI_LOG_WARN;
    plugin_options.allow_missing_validate = 1;
    return nri_plugin_new(&state->plugin, &ops, &plugin_options, state, error);
}

/* Runs the plugin with the signal thread beside it; returns what nri_plugin_run() returned. */
static int run(struct state *state)
{
    pthread_t signals;
    if (pthread_create(&signals, NULL, take_signals, state) != 0) {
        return NRI_E_NOMEM;
    }
    int rc = nri_plugin_run(state->plugin);
    pthread_kill(signals, SIGUSR2);
    pthread_join(signals, NULL);
    pthread_mutex_lock(&state->lock);
    while (state->waiting > 0) {
        pthread_cond_wait(&state->idle, &state->lock);
    }
    pthread_mutex_unlock(&state->lock);
    record_begin(state->out, "End");
    record_text(state->out, "error", nri_error_name(rc));
    if (rc != 0) {
        record_text(state->out, "text", nri_error_get_text(nri_plugin_last_error(state->plugin)));
    }
    record_end(state->out);
    return rc;
}

int main(int argc, char **argv)
{
    struct state state = {.out = stdout};
    nri_error *error = NULL;
    int rc = options_from_arguments(&state.options, argc, argv);
    if (rc != 0) {
        return rc < 0 ? 2 : 0;
    }
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_mutex_init(&state.lock, NULL);
    pthread_cond_init(&state.idle, NULL);

    rc = make_plugin(&state, &error);
    if (rc == 0) {
        rc = run(&state);
        nri_plugin_close(state.plugin, NULL, NULL);
    } else {
        fprintf(stderr, "e2e-plugin: %s: %s\n", nri_error_name(rc), nri_error_get_text(error));
        nri_error_free(error);
    }
    for (size_t i = 0; i < state.id_count; i++) {
        free(state.ids[i]);
    }
    free(state.ids);
    free(state.config);
    if (state.out != stdout) {
        fclose(state.out);
    }
    pthread_cond_destroy(&state.idle);
    pthread_mutex_destroy(&state.lock);
    return rc == 0 ? 0 : 1;
}
