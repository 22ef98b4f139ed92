/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nri-logger: prints each NRI event as one line of JSON. With options it also sets environment
 * variables and annotations in the containers created, so that chains of plugins can be tried out.
 */
#include <nri/nri.h>
#include <signal.h>
#include <stdio.h>

#include "line.h"
#include "options.h"

static nri_plugin *plugin;

static int print_event(nri_request *request, void *user)
{
    (void)user;
    /* A log that cannot be written must not stop containers: say so, and let the event pass. */
    if (line_print(request) != 0)
        fprintf(stderr, "nri-logger: cannot print %s\n",
                nri_event_name(nri_request_event(request)));
    return 0;
}

static int create_container(nri_request *request, void *user)
{
    const struct options *options = user;
    nri_adjustment *adjustment = nri_request_adjustment(request);
    if ((options->events & NRI_EVENT_BIT(NRI_EVENT_CREATE_CONTAINER)) != 0)
        print_event(request, user);
    for (size_t i = 0; i < options->change_count; i++) {
        const struct change *change = &options->changes[i];
        switch (change->kind) {
        case ADD_ENV:
            nri_adjustment_add_env(adjustment, change->key, change->value);
            break;
        case SET_ENV:
            nri_adjustment_replace_env(adjustment, change->key, change->value);
            break;
        case ADD_ANNOTATION:
            nri_adjustment_add_annotation(adjustment, change->key, change->value);
            break;
        case SET_ANNOTATION:
            nri_adjustment_replace_annotation(adjustment, change->key, change->value);
            break;
        }
    }
    return 0; /* a change that failed sticks to the adjustment and refuses the container, with its
                 text */
}

/* The handlers of the events that are wanted; the rest stays NULL, so that the runtime does not
 * even send them. */
static void choose_handlers(struct nri_plugin_ops *ops, const struct options *options)
{
    struct {
        enum nri_event event;
        nri_handler *slot;
    } table[] = {{NRI_EVENT_RUN_POD_SANDBOX, &ops->on_run_pod_sandbox},
                 {NRI_EVENT_UPDATE_POD_SANDBOX, &ops->on_update_pod_sandbox},
                 {NRI_EVENT_POST_UPDATE_POD_SANDBOX, &ops->on_post_update_pod_sandbox},
                 {NRI_EVENT_STOP_POD_SANDBOX, &ops->on_stop_pod_sandbox},
                 {NRI_EVENT_REMOVE_POD_SANDBOX, &ops->on_remove_pod_sandbox},
                 {NRI_EVENT_POST_CREATE_CONTAINER, &ops->on_post_create_container},
                 {NRI_EVENT_START_CONTAINER, &ops->on_start_container},
                 {NRI_EVENT_POST_START_CONTAINER, &ops->on_post_start_container},
                 {NRI_EVENT_UPDATE_CONTAINER, &ops->on_update_container},
                 {NRI_EVENT_POST_UPDATE_CONTAINER, &ops->on_post_update_container},
                 {NRI_EVENT_STOP_CONTAINER, &ops->on_stop_container},
                 {NRI_EVENT_REMOVE_CONTAINER, &ops->on_remove_container},
                 {NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT, &ops->on_validate_adjustment}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if ((options->events & nri_event_bit(table[i].event)) != 0)
            *table[i].slot = print_event;
    if (options->change_count != 0 ||
        (options->events & NRI_EVENT_BIT(NRI_EVENT_CREATE_CONTAINER)) != 0)
        ops->on_create_container = create_container;
}

static void log_line(void *user, const nri_log_record *record)
{
    (void)user;
    fprintf(stderr, "nri-logger: %s: %s\n", nri_log_level_name(nri_log_record_level(record)),
            nri_log_record_text(record));
}

static void on_signal(int number)
{
    (void)number;
    nri_plugin_stop(plugin);
}

static void stop_on_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
}

int main(int argc, char **argv)
{
    struct options options;
    int code = options_parse(&options, argc, argv);
    if (code >= 0)
        return code;
    if (options.events == 0)
        options.events = NRI_EVENTS_ALL;

    struct nri_plugin_ops ops = {
        .size = sizeof ops, .on_configure = print_event, .on_synchronize = print_event};
    ops.on_shutdown = print_event;
    choose_handlers(&ops, &options);
    const struct nri_plugin_options plugin_options = {.size = sizeof plugin_options,
                                                      .name = options.name,
                                                      .index = options.index,
                                                      .socket_path = options.socket,
                                                      .program = argv[0],
                                                      .log = log_line,
                                                      .log_level = NRI_LOG_ERROR,
                                                      .allow_missing_validate = 1};
    nri_error *error = NULL;
    code = nri_plugin_new(&plugin, &ops, &plugin_options, &options, &error);
    if (code != 0) {
        fprintf(stderr, "nri-logger: %s\n", nri_error_get_text(error));
        nri_error_free(error);
        return code == NRI_E_INVALID ? 2 : 1;
    }
    stop_on_signals();
    code = nri_plugin_run(plugin);
    if (code != 0)
        fprintf(stderr, "nri-logger: %s\n", nri_error_get_text(nri_plugin_last_error(plugin)));
    nri_plugin_close(plugin, NULL, NULL);
    return code == 0 ? 0 : 1;
}
