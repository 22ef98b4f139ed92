/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mini-runtime: runs one container with NRI plugins, and shows what an embedder of libnri's runtime
 * side has to do.
 *
 *     mini-runtime [-r runc|crun] [-p PLUGINS] [-c CONFIGS] [-s SOCKET] [-w COUNT] BUNDLE [ID]
 *
 * The plugins of PLUGINS are started, and asked about the container of BUNDLE; with -s others may
 * connect, and -w waits for so many. What they adjust is applied to the bundle's config.json, which
 * `run` of runc or crun then reads. What each plugin did is told on stderr. It ends with the
 * container's exit code.
 */
#include <nri/nri.h>

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bundle.h"

extern char **environ;

struct mini {
    char *oci_runtime, *bundle, *id;
    unsigned wanted, connected; /* plugins */
    bool ready, begun;
    nri_runtime *runtime;
    nri_pod *pod;
    nri_container *container;
    size_t next; /* of the container's life */
    int exit_code;
};

/* The container's life: after each event the next one, and between them what the event is about. */
static const enum nri_event life[] = {
    NRI_EVENT_RUN_POD_SANDBOX,  NRI_EVENT_CREATE_CONTAINER,     NRI_EVENT_POST_CREATE_CONTAINER,
    NRI_EVENT_START_CONTAINER,  NRI_EVENT_POST_START_CONTAINER, NRI_EVENT_STOP_CONTAINER,
    NRI_EVENT_REMOVE_CONTAINER, NRI_EVENT_STOP_POD_SANDBOX,     NRI_EVENT_REMOVE_POD_SANDBOX,
};

static void tell(const char *what, const char *text)
{
    (void)fprintf(stderr, "mini-runtime: %s: %s\n", what, text);
}

static void run_container(struct mini *mini)
{
    char run[] = "run", bundle[] = "--bundle";
    char *const argv[] = {mini->oci_runtime, run, bundle, mini->bundle, mini->id, NULL};
    pid_t child;
    int status;

    const int failed = posix_spawnp(&child, mini->oci_runtime, NULL, NULL, argv, environ);
    if (failed != 0) {
        tell(mini->oci_runtime, strerror(failed));
        return;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    mini->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* What plugins adjusted goes into the bundle. A failed creation ends the container here. */
static bool apply(struct mini *mini, nri_outcome *outcome)
{
    nri_error *error = NULL;
    char *table = NULL;

    if (nri_outcome_table(outcome, NULL, &table, NULL) == 0)
        (void)fputs(table, stderr);
    nri_outcome_text_free(table);
    if (nri_outcome_code(outcome) != 0)
        return false;
    if (bundle_apply(mini->bundle, nri_outcome_adjustment(outcome), &error) == 0)
        return true;
    tell("the bundle", nri_error_get_text(error));
    nri_error_free(error);
    return false;
}

static void next_event(struct mini *mini);

static void done(nri_runtime *runtime, nri_outcome *outcome, void *user)
{
    struct mini *mini = user;

    (void)runtime;
    switch (nri_outcome_event(outcome)) {
    case NRI_EVENT_CREATE_CONTAINER:
        /* What was not created is removed like anything else. */
        if (!apply(mini, outcome))
            mini->next += 3;
        break;
    case NRI_EVENT_START_CONTAINER:
        /* Notifications cannot refuse; this program waits for the container's end. */
        run_container(mini);
        break;
    default:
        break;
    }
    next_event(mini);
}

static void next_event(struct mini *mini)
{
    struct nri_runtime_event event;

    if (mini->next == sizeof life / sizeof *life) {
        nri_runtime_stop(mini->runtime);
        return;
    }
    nri_runtime_event_init(&event, sizeof event);
    event.event = life[mini->next++];
    event.pod = mini->pod;
    if (event.event >= NRI_EVENT_CREATE_CONTAINER && event.event <= NRI_EVENT_REMOVE_CONTAINER)
        event.container = mini->container;
    if (nri_runtime_call(mini->runtime, &event, done, mini) != 0) {
        tell(nri_event_name((enum nri_event)event.event),
             nri_error_get_text(nri_runtime_last_error(mini->runtime)));
        nri_runtime_stop(mini->runtime);
    }
}

static void begin(struct mini *mini)
{
    if (mini->begun || !mini->ready || mini->connected < mini->wanted)
        return;
    mini->begun = true;
    next_event(mini);
}

static void on_ready(nri_runtime *runtime, void *user)
{
    struct mini *mini = user;

    (void)runtime;
    mini->ready = true;
    begin(mini);
}

static void on_connected(nri_runtime *runtime, nri_runtime_plugin *plugin, void *user)
{
    struct mini *mini = user;

    (void)runtime;
    tell("plugin", nri_runtime_plugin_id(plugin));
    mini->connected++;
    begin(mini);
}

static void on_log(void *user, const nri_log_record *record)
{
    (void)user;
    tell(nri_log_level_name(nri_log_record_level(record)), nri_log_record_text(record));
}

static int run(struct mini *mini, struct nri_runtime_options *options)
{
    struct nri_runtime_ops ops;
    nri_error *error = NULL;

    nri_runtime_ops_init(&ops, sizeof ops);
    ops.ready = on_ready;
    ops.plugin_connected = on_connected;
    options->name = "mini-runtime";
    options->log = on_log;
    options->log_level = NRI_LOG_WARN;
    int code = bundle_read(mini->bundle, mini->id, &mini->pod, &mini->container, &error);
    if (code == 0)
        code = nri_runtime_new(&mini->runtime, &ops, options, mini, &error);
    if (code != 0) {
        tell(mini->bundle, nri_error_get_text(error));
        nri_error_free(error);
        return code;
    }
    code = nri_runtime_run(mini->runtime);
    if (code != 0)
        tell("the runtime", nri_error_get_text(nri_runtime_last_error(mini->runtime)));
    nri_runtime_close(mini->runtime, NULL, NULL);
    return code;
}

int main(int argc, char **argv)
{
    char runc[] = "runc", id[] = "mini";
    struct mini mini = {.oci_runtime = runc, .id = id, .exit_code = 1};
    struct nri_runtime_options options;
    int option;

    nri_runtime_options_init(&options, sizeof options);
    options.no_external = 1;
    options.no_launch = 1;
    while ((option = getopt(argc, argv, "r:p:c:s:w:")) != -1) {
        switch (option) {
        case 'r':
            mini.oci_runtime = optarg;
            break;
        case 'p':
            options.plugin_directory = optarg;
            options.no_launch = 0;
            break;
        case 'c':
            options.config_directory = optarg;
            break;
        case 's':
            options.socket_path = optarg;
            options.no_external = 0;
            break;
        case 'w':
            mini.wanted = (unsigned)strtoul(optarg, NULL, 10);
            break;
        default:
            return 2;
        }
    }
    if (optind == argc || argc - optind > 2) {
        tell("usage",
             "mini-runtime [-r runc|crun] [-p PLUGINS] [-c CONFIGS] [-s SOCKET] [-w COUNT] "
             "BUNDLE [ID]");
        return 2;
    }
    mini.bundle = argv[optind];
    if (argc - optind == 2)
        mini.id = argv[optind + 1];
    const int code = run(&mini, &options);
    nri_container_free(mini.container);
    nri_pod_free(mini.pod);
    return code != 0 ? 1 : mini.exit_code;
}
