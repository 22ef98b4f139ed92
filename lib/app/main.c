/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nri_app_main(): from the command line to a plugin that is ready to run, and what comes after.
 */
#include <errno.h>
#include <fcntl.h>
#include <nri/error.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "complain.h"
#include "last_resort.h"
#include "program.h"
#include "rows.h"

enum { ENDED = 0, FAILED = 1, WRONG = 2 };

void nri_app_options_init(struct nri_app_options *options, size_t size)
{
    if (options == NULL || size < sizeof options->size)
        return;
    memset(options, 0, size);
    options->size = size;
}

void nri_app_log_record(void *user, const nri_log_record *record)
{
    struct app_program *program = app_program_current();
    (void)user;
    if (program != NULL)
        app_log_sink(&program->log, record);
}

void nri_app_log(enum nri_log_level level, const char *text)
{
    struct app_program *program = app_program_current();
    if (program != NULL && text != NULL)
        app_log_write(&program->log,
                      &(struct app_record){.level = level == NRI_LOG_DEFAULT ? NRI_LOG_INFO : level,
                                           .text = text});
}

/* Before there is a log, and what is for whoever typed the command. */
static int complain(const struct app_program *program, int status, const char *text)
{
    app_complain(&program->command, "%s", text);
    return status;
}

/* Started with a closed standard error, the connection would get its number, and the log would be
 * sent to the runtime. */
static bool occupy_standard_descriptors(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    return fd >= 0 && close(fd) == 0;
}

static void ignore_broken_pipes(void)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGPIPE, &action, NULL);
}

/* ---- the plugin ---- */

static const char *first(const char *one, const char *other)
{
    return one != NULL ? one : other;
}

/* The command line, then what the runtime says in the environment, which the library reads where
 * nothing is given, then the program. */
static const char *identity(const char *command, const char *variable, bool ignore_environment,
                            const char *program)
{
    const char *environment = ignore_environment ? NULL : getenv(variable);
    if (command != NULL)
        return command;
    return environment != NULL && environment[0] != '\0' ? NULL : program;
}

/* What the program gives, brought to the size known here. */
static int copy_given(const struct app_program *program, struct nri_plugin_ops *ops,
                      struct nri_plugin_options *plugin)
{
    const struct nri_app_options *options = program->options;
    nri_plugin_options_init(plugin, sizeof *plugin);
    if (options->ops == NULL)
        return complain(program, FAILED, "the program has no callback table");
    if (app_options_copy(ops, sizeof *ops, options->ops, options->ops->size) != 0)
        return complain(program, FAILED, "the program's callback table is not of this version");
    if (options->plugin != NULL &&
        app_options_copy(plugin, sizeof *plugin, options->plugin, options->plugin->size) != 0)
        return complain(program, FAILED, "the program's plugin options are not of this version");
    return ENDED;
}

static void complete(const struct app_program *program, struct nri_plugin_options *plugin)
{
    const struct nri_app_options *options = program->options;
    const struct app_command *command = &program->command;
    const bool alone = plugin->ignore_environment != 0;
    plugin->name =
        identity(command->name, "NRI_PLUGIN_NAME", alone, first(options->name, plugin->name));
    plugin->index =
        identity(command->index, "NRI_PLUGIN_IDX", alone, first(options->index, plugin->index));
    plugin->socket_path = first(command->socket, plugin->socket_path);
    plugin->program = first(plugin->program, command->program);
    if (plugin->log == NULL) {
        plugin->log = app_log_sink;
        plugin->log_user = (void *)(uintptr_t)&program->log;
    }
    plugin->log_level = program->log.level;
    if (plugin->dispatch == NRI_DISPATCH_DEFAULT)
        plugin->dispatch = NRI_DISPATCH_WORKER;
    if (plugin->stop_grace_ms == 0 || plugin->stop_grace_ms > APP_FINISH_MS)
        plugin->stop_grace_ms = APP_FINISH_MS;
    plugin->reconnect = !command->no_reconnect;
    if (command->bypass)
        plugin->bypass = 1;
}

static int make_plugin(struct app_program *program, struct nri_plugin_ops *ops,
                       const struct nri_plugin_options *plugin)
{
    nri_error *error = NULL;
    program->on_configure = ops->on_configure;
    ops->on_configure = app_program_configure;
    const int code = nri_plugin_new(&program->plugin, ops, plugin, program->options->user, &error);
    if (code != 0)
        (void)complain(program, code, nri_error_get_text(error));
    nri_error_free(error);
    return code == NRI_E_INVALID || code == NRI_E_PATH_TOO_LONG ? WRONG
           : code != 0                                          ? FAILED
                                                                : ENDED;
}

/* ---- the way there ---- */

static int print_config(const struct app_program *program)
{
    if (program->command.print_config)
        app_config_print(program->settings.current, stdout);
    else
        (void)puts("the configuration is valid");
    if (fflush(stdout) != 0 || ferror(stdout))
        return complain(program, FAILED, "standard output cannot be written");
    return ENDED;
}

static int listen_http(struct app_program *program)
{
    char text[APP_LISTENER_TEXT], all[APP_LISTENER_TEXT + 16];
    if (program->command.http == NULL ||
        app_http_open(&program->http, program->command.http, text) == 0)
        return ENDED;
    (void)snprintf(all, sizeof all, "--http: %s", text);
    return complain(program, FAILED, all);
}

/* From the plugin to its end. */
static int run(struct app_program *program, struct nri_plugin_ops *ops,
               struct nri_plugin_options *plugin)
{
    complete(program, plugin);
    int status = make_plugin(program, ops, plugin);
    if (status != ENDED)
        return status;
    status = listen_http(program);
    if (status != ENDED) {
        nri_plugin_close(program->plugin, NULL, NULL);
        return status;
    }
    program->endpoint.plugin = program->plugin;
    program->worker = plugin->dispatch == NRI_DISPATCH_WORKER;
    return app_program_run(program) == 0 ? ENDED : FAILED;
}

/* By its runtime, which gives it a socket and sends its configuration with Configure. Who wants to
 * have it checked or printed wants all of it now. */
static bool is_launched(const struct app_program *program, const struct nri_plugin_options *plugin)
{
    const char *socket = plugin->ignore_environment != 0 ? NULL : getenv("NRI_PLUGIN_SOCKET");
    return socket != NULL && socket[0] != '\0' && !program->command.print_config &&
           !program->command.check_config;
}

static int prepare_and_run(struct app_program *program)
{
    const struct nri_app_options *options = program->options;
    char text[APP_CONFIG_TEXT];
    struct nri_plugin_ops ops;
    struct nri_plugin_options plugin;
    int status = copy_given(program, &ops, &plugin);
    if (status != ENDED)
        return status;
    const enum app_settings_fault fault =
        app_settings_load(&program->settings, is_launched(program, &plugin), text);
    if (fault != APP_SETTINGS_FINE)
        return complain(program, fault == APP_SETTINGS_PROGRAM ? FAILED : WRONG, text);
    if (program->command.print_config || program->command.check_config)
        return print_config(program);
    app_log_init(&program->log, program->command.program, program->command.json,
                 program->command.level != 0 ? program->command.level
                 : plugin.log_level != 0     ? plugin.log_level
                                             : NRI_LOG_INFO);
    app_program_set_current(program);
    app_signals_begin();
    const int code = options->on_prepare != NULL ? options->on_prepare(&plugin, options->user) : 0;
    if (code != 0) {
        app_log_say(&program->log, NRI_LOG_ERROR, "the program cannot start: %s",
                    nri_strerror(code));
        status = FAILED;
    } else {
        status = run(program, &ops, &plugin);
        if (options->on_stop != NULL)
            options->on_stop(options->user);
    }
    app_notify_fini(&program->notify);
    app_last_resort_fini();
    app_program_set_current(NULL);
    app_log_fini(&program->log);
    return status;
}

static bool reserved_is_zero(const struct nri_app_options *options)
{
    for (size_t i = 0; i < sizeof options->reserved / sizeof *options->reserved; i++) {
        if (options->reserved[i] != 0)
            return false;
    }
    return true;
}

/* `known` becomes what the program gives; 0, or why not. app_rows_free() is needed in any case. */
static const char *take_options(const struct nri_app_options *options,
                                struct nri_app_options *known)
{
    static const char other[] = "the options are not of this version of nri-app";
    memset(known, 0, sizeof *known);
    if (options == NULL || app_options_copy(known, sizeof *known, options, options->size) != 0 ||
        known->reserved_pointer != NULL || !reserved_is_zero(known)) {
        memset(known, 0, sizeof *known);
        return other;
    }
    switch (app_rows_copy(known)) {
    case 0:
        return NULL;
    case NRI_E_NOMEM:
        return "out of memory";
    default:
        return "the fields or flags are not of this version of nri-app, or their size is not given";
    }
}

int nri_app_main(int argc, char **argv, const struct nri_app_options *options)
{
    struct nri_app_options known;
    if (!occupy_standard_descriptors())
        return FAILED;
    const char *why = take_options(options, &known);
    struct app_program *program = why == NULL ? calloc(1, sizeof *program) : NULL;
    if (program == NULL) {
        (void)fprintf(stderr, "nri_app_main: %s\n", why != NULL ? why : "out of memory");
        app_rows_free(&known);
        return FAILED;
    }
    program->options = &known;
    program->endpoint.options = &known;
    program->endpoint.log = &program->log;
    program->endpoint.http = &program->http;
    program->http.listener.fd = -1;
    program->notify.fd = -1;
    ignore_broken_pipes(); /* the log, and whoever asks over HTTP, may be gone */
    int status = app_options_parse(&program->command, &known, argc, argv);
    if (status < 0) {
        app_settings_init(&program->settings, &known, program->command.config);
        status = prepare_and_run(program);
        app_settings_fini(&program->settings);
    }
    free(program);
    app_rows_free(&known);
    return status;
}
