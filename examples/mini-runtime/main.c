/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mini-runtime: runs one container with NRI plugins, and shows what embeds libnri's runtime side.
 *
 *     mini-runtime [-r runc|crun] [-p PLUGINS] [-c CONFIGS] BUNDLE [ID]
 *
 * The plugins of PLUGINS are started and asked about the container of BUNDLE. What they adjust goes
 * into the bundle's config.json, which `run` of runc or crun then reads. What each plugin did is
 * told on stderr. It ends with the container's exit code.
 */
#include <nri/nri.h>

#include <errno.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct mini {
    char *oci_runtime, *bundle, *id, config[4096];
    nri_runtime *runtime;
    nri_pod *pod;
    nri_container *container;
    size_t next;  /* of its life */
    pid_t child;  /* the OCI runtime */
    int pidfd;    /* of it, while it runs; else -1 */
    bool waiting; /* for its end */
    int exit_code;
};

static const enum nri_event life[] = {
    NRI_EVENT_RUN_POD_SANDBOX,  NRI_EVENT_CREATE_CONTAINER,     NRI_EVENT_POST_CREATE_CONTAINER,
    NRI_EVENT_START_CONTAINER,  NRI_EVENT_POST_START_CONTAINER, NRI_EVENT_STOP_CONTAINER,
    NRI_EVENT_REMOVE_CONTAINER, NRI_EVENT_STOP_POD_SANDBOX,     NRI_EVENT_REMOVE_POD_SANDBOX,
};

static void tell(const char *what, const char *text)
{
    (void)fprintf(stderr, "mini-runtime: %s: %s\n", what, text);
}

/* What the plugins adjusted goes into the bundle; what was not created is removed, as anything. */
static void create(struct mini *mini, const nri_outcome *outcome)
{
    nri_error *error = NULL;
    char *table = NULL;

    if (nri_outcome_table(outcome, NULL, &table, NULL) == 0)
        (void)fputs(table, stderr);
    nri_outcome_text_free(table);
    int code = nri_outcome_code(outcome);
    if (code == 0)
        code = nri_oci_apply_adjustment_file(mini->config, mini->config,
                                             nri_outcome_adjustment(outcome), NULL, &error);
    if (error != NULL)
        tell("the bundle", nri_error_get_text(error));
    nri_error_free(error);
    if (code != 0)
        mini->next += 3; /* to StopContainer */
}

/* Callbacks must not block: main() polls for the end of it. */
static void start(struct mini *mini)
{
    char run[] = "run", bundle[] = "--bundle";
    char *const argv[] = {mini->oci_runtime, run, bundle, mini->bundle, mini->id, NULL};
    const int failed = posix_spawnp(&mini->child, mini->oci_runtime, NULL, NULL, argv, environ);

    if (failed != 0)
        tell(mini->oci_runtime, strerror(failed));
    else if ((mini->pidfd = (int)syscall(SYS_pidfd_open, mini->child, 0)) < 0)
        tell("pidfd_open", strerror(errno));
}

static void next_event(nri_runtime *runtime, struct mini *mini);

static void done(nri_runtime *runtime, nri_outcome *outcome, void *user)
{
    struct mini *mini = user;
    const enum nri_event event = nri_outcome_event(outcome);

    if (event == NRI_EVENT_CREATE_CONTAINER)
        create(mini, outcome);
    else if (event == NRI_EVENT_START_CONTAINER)
        start(mini);
    mini->waiting = event == NRI_EVENT_POST_START_CONTAINER && mini->pidfd >= 0;
    if (!mini->waiting)
        next_event(runtime, mini);
}

static void next_event(nri_runtime *runtime, struct mini *mini)
{
    struct nri_runtime_event event = {.size = sizeof event, .pod = mini->pod};

    if (mini->next < sizeof life / sizeof *life) {
        event.event = life[mini->next++];
        if (event.event >= NRI_EVENT_CREATE_CONTAINER && event.event <= NRI_EVENT_REMOVE_CONTAINER)
            event.container = mini->container;
        if (nri_runtime_call(runtime, &event, done, mini) == 0)
            return;
        tell("the event", nri_error_get_text(nri_runtime_last_error(runtime)));
    }
    nri_runtime_stop(runtime);
}

static void on_log(void *user, const nri_log_record *record)
{
    (void)user;
    tell(nri_log_level_name(nri_log_record_level(record)), nri_log_record_text(record));
}

/* The container, as plugins are to see it, and a pod sandbox around it. */
static int describe(struct mini *mini, nri_error **error)
{
    int code = nri_container_from_oci_file(mini->config, NULL, &mini->container, error);

    if (code != 0 || (code = nri_pod_new(&mini->pod, NULL)) != 0)
        return code;
    /* The first failed call sticks. */
    (void)nri_pod_set_id(mini->pod, mini->id);
    (void)nri_pod_set_name(mini->pod, mini->id);
    (void)nri_pod_set_namespace(mini->pod, "default");
    (void)nri_container_set_id(mini->container, mini->id);
    (void)nri_container_set_pod_sandbox_id(mini->container, mini->id);
    (void)nri_container_set_name(mini->container, mini->id);
    (void)nri_container_set_state(mini->container, NRI_CONTAINER_CREATED);
    code = nri_pod_error(mini->pod);
    return code != 0 ? code : nri_container_error(mini->container);
}

/* Turns the runtime and waits for the container, whichever has something to do. */
static void serve(struct mini *mini)
{
    while (nri_runtime_dispatch(mini->runtime) == 1) {
        struct pollfd fds[] = {{.fd = nri_runtime_fd(mini->runtime), .events = POLLIN},
                               {.fd = mini->waiting ? mini->pidfd : -1, .events = POLLIN}};
        int status;

        (void)poll(fds, 2, nri_runtime_timeout(mini->runtime));
        if (!mini->waiting || waitpid(mini->child, &status, WNOHANG) != mini->child)
            continue;
        mini->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        (void)close(mini->pidfd);
        mini->pidfd = -1;
        mini->waiting = false;
        next_event(mini->runtime, mini);
    }
}

static void ready(nri_runtime *runtime, void *user)
{
    next_event(runtime, user);
}

static int run(struct mini *mini, const struct nri_runtime_options *options)
{
    const struct nri_runtime_ops ops = {.size = sizeof ops, .ready = ready};
    nri_error *error = NULL;
    int code = describe(mini, &error);

    if (code == 0)
        code = nri_runtime_new(&mini->runtime, &ops, options, mini, &error);
    if (code != 0)
        tell(mini->bundle, error != NULL ? nri_error_get_text(error) : nri_strerror(code));
    else if (nri_runtime_start(mini->runtime, NULL, NULL, NULL) == 0)
        serve(mini);
    else
        tell("the runtime", nri_error_get_text(nri_runtime_last_error(mini->runtime)));
    nri_error_free(error);
    nri_runtime_close(mini->runtime, NULL, NULL);
    nri_container_free(mini->container);
    nri_pod_free(mini->pod);
    return mini->exit_code;
}

int main(int argc, char **argv)
{
    char runc[] = "runc", id[] = "mini";
    struct mini mini = {.oci_runtime = runc, .id = id, .pidfd = -1, .exit_code = 1};
    struct nri_runtime_options options = {.size = sizeof options,
                                          .name = "mini-runtime",
                                          .log = on_log,
                                          .log_level = NRI_LOG_WARN,
                                          .no_external = 1,
                                          .no_launch = 1};
    int option;

    while ((option = getopt(argc, argv, "r:p:c:")) != -1) {
        if (option == 'r')
            mini.oci_runtime = optarg;
        else if (option == 'p')
            options.plugin_directory = optarg, options.no_launch = 0;
        else if (option == 'c')
            options.config_directory = optarg;
        else
            return 2;
    }
    if (optind == argc || argc - optind > 2) {
        tell("usage", "mini-runtime [-r runc|crun] [-p PLUGINS] [-c CONFIGS] BUNDLE [ID]");
        return 2;
    }
    mini.bundle = argv[optind];
    if (argc - optind == 2)
        mini.id = argv[optind + 1];
    (void)snprintf(mini.config, sizeof mini.config, "%s/config.json", mini.bundle);
    return run(&mini, &options);
}
