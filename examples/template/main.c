/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nri-template: an NRI plugin with every handler. Copy this file, keep the handlers that you need:
 * a NULL in the table means that the runtime is not asked to call the plugin for that event.
 */
#include <getopt.h>
#include <nri/nri.h>
#include <signal.h>
#include <stdio.h>

static nri_plugin *plugin; /* for the signal handler alone: what handlers need comes as `user` */

static int configure(nri_request *req, void *user)
{
    /* The plugin's configuration is nri_request_config(req); a negative result refuses it. */
    fprintf(user, "configured by %s %s\n", nri_plugin_runtime_name(nri_request_plugin(req)),
            nri_plugin_runtime_version(nri_request_plugin(req)));
    return 0;
}

static int synchronize(nri_request *req, void *user)
{
    /* What runs already; nri_request_updates(req) may change it. */
    fprintf(user, "%zu pods and %zu containers are there\n", nri_request_pod_count(req),
            nri_request_container_count(req));
    return 0;
}

static int observe(nri_request *req, void *user)
{
    fprintf(user, "%s: pod '%s' container '%s'\n", nri_event_name(nri_request_event(req)),
            nri_pod_name(nri_request_pod(req)), nri_container_name(nri_request_container(req)));
    return 0;
}

static int create_container(nri_request *req, void *user)
{
    /* The one event that can change everything about a container. */
    nri_adjustment *adjustment = nri_request_adjustment(req);
    nri_adjustment_add_env(adjustment, "NRI_TEMPLATE", "1");
    nri_adjustment_add_annotation(adjustment, "nri-template.example/seen", "yes");
    return observe(req, user); /* what could not be added refuses the container by itself */
}

static int update_container(nri_request *req, void *user)
{
    /* nri_request_resources(req) is what was asked for, nri_request_updates(req) overrides it. A
     * limit of 0 is what containerd sends for one that stays. */
    int64_t limit;
    if (nri_resources_memory_limit(nri_request_resources(req), &limit) && limit > 0 &&
        limit < 1 << 20)
        return nri_request_fail(req, NRI_E_REJECTED, "nothing runs in less than 1 MiB");
    return observe(req, user);
}

static void on_signal(int number)
{
    (void)number;
    nri_plugin_stop(plugin);
}

/* Before on_validate_adjustment all plugins have had their say: refusing there vetoes the
 * container. */
static const struct nri_plugin_ops ops = {.size = sizeof ops,
                                          .on_configure = configure,
                                          .on_synchronize = synchronize,
                                          .on_shutdown = observe,
                                          .on_run_pod_sandbox = observe,
                                          .on_update_pod_sandbox = observe,
                                          .on_post_update_pod_sandbox = observe,
                                          .on_stop_pod_sandbox = observe,
                                          .on_remove_pod_sandbox = observe,
                                          .on_create_container = create_container,
                                          .on_post_create_container = observe,
                                          .on_start_container = observe,
                                          .on_post_start_container = observe,
                                          .on_update_container = update_container,
                                          .on_post_update_container = observe,
                                          .on_stop_container = observe,
                                          .on_remove_container = observe,
                                          .on_validate_adjustment = observe};

static int usage(FILE *to, int status)
{
    fprintf(to, "usage: nri-template [--name NAME] [--idx NN] [--socket PATH] [--version]\n");
    return status;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {{"name", 1, NULL, 'n'},   {"idx", 1, NULL, 'i'},
                                          {"socket", 1, NULL, 's'}, {"version", 0, NULL, 'V'},
                                          {"help", 0, NULL, 'h'},   {NULL, 0, NULL, 0}};
    struct nri_plugin_options options = {
        .size = sizeof options, .program = argv[0], .allow_missing_validate = 1};
    for (int o; (o = getopt_long(argc, argv, "n:i:s:Vh", names, NULL)) != -1;) {
        if (o == 'n')
            options.name = optarg;
        else if (o == 'i')
            options.index = optarg;
        else if (o == 's')
            options.socket_path = optarg;
        else if (o == 'V')
            return printf("nri-template %s\n", nri_version()) < 0;
        else
            return o == 'h' ? usage(stdout, 0) : usage(stderr, 2);
    }
    if (optind < argc)
        return usage(stderr, 2);

    nri_error *error = NULL;
    int rc = nri_plugin_new(&plugin, &ops, &options, stderr, &error);
    if (rc != 0) {
        fprintf(stderr, "nri-template: %s\n", nri_error_get_text(error));
        nri_error_free(error);
        return rc == NRI_E_INVALID ? 2 : 1;
    }
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    signal(SIGPIPE, SIG_IGN); /* who reads our output must not be able to end the plugin */
    rc = nri_plugin_run(plugin);
    if (rc != 0)
        fprintf(stderr, "nri-template: %s\n", nri_error_get_text(nri_plugin_last_error(plugin)));
    /* A signal from here on would find no plugin to stop. */
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    nri_plugin_close(plugin, NULL, NULL);
    return rc == 0 ? 0 : 1;
}
