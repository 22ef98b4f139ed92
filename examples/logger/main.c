/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nri-logger: prints each NRI event as one line of JSON. With options it also sets environment
 * variables and annotations in the containers created, so that chains of plugins can be tried out.
 */
#include <errno.h>
#include <fcntl.h>
#include <nri/nri.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "line.h"
#include "options.h"
#include "output.h"

struct logger { /* what handlers get as `user` */
    struct options options;
    struct output output;
};

static nri_plugin *plugin; /* for the signal handler */

static int print_line(struct output *output, const nri_request *request)
{
    const unsigned char *bytes;
    size_t length;
    int code = ENOMEM;
    yajl_gen line = line_make(request);
    if (line == NULL)
        return code;
    if (yajl_gen_get_buf(line, &bytes, &length) == yajl_gen_status_ok)
        code = output_line(output, (const char *)bytes, length);
    yajl_gen_free(line);
    return code;
}

/* A log that cannot be written must not stop containers: say so, once until it works again, and let
 * the event pass. */
static int print_event(nri_request *request, void *user)
{
    struct logger *logger = user;
    const bool was_failing = logger->output.failing;
    const int code = print_line(&logger->output, request);
    if (code != 0 && !was_failing)
        fprintf(stderr, "nri-logger: cannot print events from %s on: %s\n",
                nri_event_name(nri_request_event(request)), strerror(code));
    else if (code == 0 && was_failing)
        fprintf(stderr, "nri-logger: printing again, from %s on\n",
                nri_event_name(nri_request_event(request)));
    return 0;
}

static int create_container(nri_request *request, void *user)
{
    const struct options *options = &((const struct logger *)user)->options;
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

static void set_signal(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

/* Started with a closed standard output, the connection would get its number, and events would be
 * printed to the runtime. */
static bool occupy_standard_descriptors(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    return fd >= 0 && close(fd) == 0;
}

static int make_plugin(struct logger *logger, const char *program)
{
    struct nri_plugin_ops ops = {.size = sizeof ops,
                                 .on_configure = print_event,
                                 .on_synchronize = print_event,
                                 .on_shutdown = print_event};
    const struct nri_plugin_options options = {.size = sizeof options,
                                               .name = logger->options.name,
                                               .index = logger->options.index,
                                               .socket_path = logger->options.socket,
                                               .program = program,
                                               .log = log_line,
                                               .log_level = NRI_LOG_WARN,
                                               .allow_missing_validate = 1};
    nri_error *error = NULL;
    choose_handlers(&ops, &logger->options);
    const int code = nri_plugin_new(&plugin, &ops, &options, logger, &error);
    if (code != 0)
        fprintf(stderr, "nri-logger: %s\n", nri_error_get_text(error));
    nri_error_free(error);
    return code;
}

int main(int argc, char **argv)
{
    struct logger logger = {0};
    int code = options_parse(&logger.options, argc, argv);
    if (code >= 0)
        return code;
    if (!occupy_standard_descriptors()) {
        perror("nri-logger: /dev/null");
        return 1;
    }
    code = make_plugin(&logger, argv[0]);
    if (code != 0)
        return code == NRI_E_INVALID ? 2 : 1;
    set_signal(SIGTERM, on_signal);
    set_signal(SIGINT, on_signal);
    set_signal(SIGPIPE, SIG_IGN);  /* EPIPE is enough when nobody reads the output any more */
    code = nri_plugin_run(plugin); /* the library has logged why it ended */
    /* The handler must not stop a plugin that is gone, and a second SIGTERM must not change the
     * exit status. */
    set_signal(SIGTERM, SIG_IGN);
    set_signal(SIGINT, SIG_IGN);
    nri_plugin_close(plugin, NULL, NULL);
    return code == 0 ? 0 : 1;
}
