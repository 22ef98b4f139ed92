/* SPDX-License-Identifier: Apache-2.0 */
/* The node of a rehearsal, and what it tells. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/discovery.h"
#include "print.h"
#include "rehearsal.h"

static const char *plugin_directory(const struct rehearsal *rehearsal)
{
    const char *given = rehearsal->options.plugin_directory;
    return given != NULL ? given : rehearsal->scenario->plugin_directory;
}

/* A runtime goes on without a plugin of its directory that does not start; here somebody wants to
 * see what it does. */
static void check_launched(struct rehearsal *rehearsal)
{
    struct nri_found found = {.count = 0};
    struct nri_log silent;
    struct nri_error error;
    if (plugin_directory(rehearsal) == NULL)
        return;
    nri_log_init(&silent, NULL, NULL, NRI_LOG_ERROR);
    (void)nri_alloc_resolve(&found.alloc, NULL);
    int code = nri_found_look(&found, &found.alloc, plugin_directory(rehearsal), &silent, &error);
    for (size_t i = 0; code == 0 && i < found.count; i++) {
        if (node_find_plugin(rehearsal->node, found.plugins[i].file) != NULL)
            continue;
        code = nrictl_fail(rehearsal->ctl, NRICTL_ENVIRONMENT, "%s: it did not start%s%s",
                           found.plugins[i].path, rehearsal->warning[0] == '\0' ? "" : "; ",
                           rehearsal->warning);
        rehearsal_break(rehearsal, code);
    }
    nri_found_fini(&found);
}

static void on_ready(struct node *node, void *user)
{
    struct rehearsal *rehearsal = user;
    (void)node;
    if (!rehearsal->ready)
        check_launched(rehearsal);
    rehearsal->ready = true;
    trace_node_ready(rehearsal->timeline);
    (void)uv_async_send(&rehearsal->poke);
}

static bool is_known(const struct rehearsal *rehearsal, const char *id)
{
    for (size_t i = 0; i < rehearsal->plugin_count; i++) {
        if (strcmp(rehearsal->plugins[i], id) == 0)
            return true;
    }
    return false;
}

static void on_connected(struct node *node, nri_runtime_plugin *plugin, void *user)
{
    struct rehearsal *rehearsal = user;
    const char *id = nri_runtime_plugin_id(plugin);
    (void)node;
    (void)uv_async_send(&rehearsal->poke);
    trace_node_connected(rehearsal->timeline, id);
    if (rehearsal->shell != NULL)
        shell_connected(rehearsal->shell, plugin);
    if (is_known(rehearsal, id) || rehearsal->plugin_count >= TRAIL_MOST)
        return;
    if (rehearsal->plugin_count == rehearsal->plugin_room) {
        const size_t room = rehearsal->plugin_room == 0 ? 16 : 2 * rehearsal->plugin_room;
        const char **list = realloc(rehearsal->plugins, room * sizeof *list);
        if (list == NULL)
            return;
        rehearsal->plugins = list;
        rehearsal->plugin_room = room;
    }
    rehearsal->plugins[rehearsal->plugin_count++] = rehearsal_keep(rehearsal, id);
}

static void on_lost(struct node *node, nri_runtime_plugin *plugin, int code, const char *text,
                    void *user)
{
    struct rehearsal *rehearsal = user;
    (void)node;
    trace_node_lost(rehearsal->timeline, nri_runtime_plugin_id(plugin), code, text);
    if (rehearsal->shell != NULL)
        shell_lost(rehearsal->shell, plugin, code, text);
    (void)uv_async_send(&rehearsal->poke);
}

static void on_asked(struct node *node, const struct nri_runtime_event *event, void *user)
{
    struct rehearsal *rehearsal = user;
    (void)node;
    if (rehearsal->asked != NULL)
        rehearsal->asked(event, rehearsal->user);
}

static void on_outcome(struct node *node, nri_outcome *outcome, void *user)
{
    struct rehearsal *rehearsal = user;
    trace_node_outcome(rehearsal->timeline, outcome, node_event_nanoseconds(node));
    if (rehearsal->load != NULL)
        load_outcome(rehearsal->load, outcome);
    else if (!rehearsal->reported)
        trail_add_event(&rehearsal->trail, outcome);
    if (rehearsal->outcome != NULL)
        rehearsal->outcome(outcome, rehearsal->user);
    (void)uv_async_send(&rehearsal->poke);
}

static void on_updated(struct node *node, const char *plugin, const nri_updates *list,
                       const char *const *failed, size_t failed_count, bool sync, void *user)
{
    struct rehearsal *rehearsal = user;
    (void)node;
    trace_node_updated(rehearsal->timeline, plugin, list, failed, failed_count, sync);
    if (rehearsal->shell != NULL)
        shell_updated(rehearsal->shell, plugin, list, failed, failed_count, sync);
    else if (!rehearsal->reported)
        trail_add_update(&rehearsal->trail, plugin, list, failed, failed_count, sync);
    (void)uv_async_send(&rehearsal->poke);
}

static void on_evicted(struct node *node, const char *container, const char *plugin,
                       const char *reason, void *user)
{
    struct rehearsal *rehearsal = user;
    (void)node;
    trace_node_evicted(rehearsal->timeline, container, plugin, reason);
    if (rehearsal->shell != NULL)
        shell_evicted(rehearsal->shell, container, plugin, reason);
    else if (!rehearsal->reported)
        trail_add_eviction(&rehearsal->trail, container, plugin, reason);
    (void)uv_async_send(&rehearsal->poke);
}

static void on_child_ended(struct node *node, struct child *child, int status, void *user)
{
    struct rehearsal *rehearsal = user;
    (void)node;
    for (struct started *at = rehearsal->started; at != NULL; at = at->next) {
        if (at->child != child)
            continue;
        at->child = NULL;
        at->status = status;
    }
    (void)uv_async_send(&rehearsal->poke); /* a step may wait for it */
    trace_node_child_ended(rehearsal->timeline, child_name(child), status);
    if (rehearsal->shell != NULL)
        shell_child_ended(rehearsal->shell, child, status);
}

static void on_failed(struct node *node, int code, const char *text, void *user)
{
    struct rehearsal *rehearsal = user;
    (void)node;
    (void)code;
    if (!rehearsal->ending)
        rehearsal_break(rehearsal, nrictl_fail(rehearsal->ctl, NRICTL_ENVIRONMENT,
                                               "the runtime ended: %s", text));
}

static void on_log(void *user, const nri_log_record *record)
{
    struct rehearsal *rehearsal = user;
    FILE *err = rehearsal->ctl->err;
    const char *text = nri_log_record_text(record);
    const enum nri_log_level level = nri_log_record_level(record);
    if (!rehearsal->ready && level <= NRI_LOG_WARN)
        (void)snprintf(rehearsal->warning, sizeof rehearsal->warning, "%s", text);
    /* Why it does not start is told anyway. */
    if (!rehearsal->options.verbose && (!rehearsal->ready || level > NRI_LOG_ERROR))
        return;
    (void)fprintf(err, "runtime: %s: ", nri_log_level_name(level));
    print_text(err, text, strlen(text));
    (void)fputc('\n', err);
}

/* A runtime passes over a directory that is not there; here it was asked for. */
static int check_directory(struct rehearsal *rehearsal, const char *what, const char *path)
{
    struct stat status;
    if (path == NULL)
        return NRICTL_OK;
    if (stat(path, &status) != 0)
        return nrictl_fail(rehearsal->ctl, NRICTL_USAGE, "%s %s: %s", what, path, strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return nrictl_fail(rehearsal->ctl, NRICTL_USAGE, "%s %s: it is a file, not a directory",
                           what, path);
    return NRICTL_OK;
}

static int check_directories(struct rehearsal *rehearsal, const struct node_options *options)
{
    const struct rehearsal_options *given = &rehearsal->options;
    const int code = check_directory(
        rehearsal, given->plugin_directory != NULL ? "--plugin-dir" : "plugin_directory",
        options->plugin_directory);
    return code != NRICTL_OK ? code
                             : check_directory(rehearsal,
                                               given->config_directory != NULL ? "--config-dir"
                                                                               : "config_directory",
                                               options->config_directory);
}

int rehearsal_make_node(struct rehearsal *rehearsal)
{
    static const struct node_watch watch = {.ready = on_ready,
                                            .connected = on_connected,
                                            .lost = on_lost,
                                            .asked = on_asked,
                                            .outcome = on_outcome,
                                            .updated = on_updated,
                                            .evicted = on_evicted,
                                            .child_ended = on_child_ended,
                                            .failed = on_failed};
    const struct scenario *scenario = rehearsal->scenario;
    const struct rehearsal_options *given = &rehearsal->options;
    const struct node_options options = {
        .imitate = given->imitate,
        .socket_path = given->socket,
        .plugin_directory = plugin_directory(rehearsal),
        .config_directory =
            given->config_directory != NULL ? given->config_directory : scenario->config_directory,
        .validator_config = scenario->validator_config,
        .failure = &scenario->failure,
        .registration_timeout_ms = scenario->registration_timeout_ms,
        .request_timeout_ms = scenario->request_timeout_ms,
        .log = on_log,
        .log_user = rehearsal,
        .log_level = given->verbose ? NRI_LOG_INFO : NRI_LOG_WARN};
    nri_error *error = NULL;
    if (check_directories(rehearsal, &options) != NRICTL_OK)
        return NRICTL_USAGE;
    const int rc =
        node_new(&rehearsal->node, &rehearsal->loop, &options, &watch, rehearsal, &error);
    if (rc != 0) {
        const int code = rc == NRI_E_SYNTAX || rc == NRI_E_RANGE || rc == NRI_E_PATH_TOO_LONG
                             ? NRICTL_USAGE
                             : NRICTL_ENVIRONMENT;
        (void)nrictl_fail(rehearsal->ctl, code, "%s",
                          error != NULL ? nri_error_get_text(error) : nri_strerror(rc));
        nri_error_free(error);
        return code;
    }
    if (node_start(rehearsal->node) != 0)
        return nrictl_fail(rehearsal->ctl, NRICTL_ENVIRONMENT, "%s", node_error(rehearsal->node));
    return NRICTL_OK;
}
