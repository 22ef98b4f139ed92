/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nri-device-injector: injects into containers what annotations of their pods ask for. The
 * annotations are those of the Go plugin of the same name; README.md here lists them.
 */
#include <fcntl.h>
#include <nri/nri.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "inject.h"
#include "options.h"

static nri_plugin *plugin; /* for the signal handler */

static int create_container(nri_request *request, void *user)
{
    const struct options *options = user;
    return inject_all(request, options->verbose);
}

static void log_record(void *user, const nri_log_record *record)
{
    (void)user;
    fprintf(stderr, "nri-device-injector: %s: %s\n",
            nri_log_level_name(nri_log_record_level(record)), nri_log_record_text(record));
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

static int make_plugin(struct options *given, const char *program)
{
    const struct nri_plugin_ops ops = {.size = sizeof ops, .on_create_container = create_container};
    const struct nri_plugin_options options = {.size = sizeof options,
                                               .name = given->name,
                                               .index = given->index,
                                               .socket_path = given->socket,
                                               .program = program,
                                               .log = log_record,
                                               .log_level =
                                                   given->verbose ? NRI_LOG_INFO : NRI_LOG_WARN};
    nri_error *error = NULL;
    const int code = nri_plugin_new(&plugin, &ops, &options, given, &error);
    if (code != 0)
        fprintf(stderr, "nri-device-injector: %s\n", nri_error_get_text(error));
    nri_error_free(error);
    return code;
}

int main(int argc, char **argv)
{
    struct options options;
    int code = options_parse(&options, argc, argv);
    if (code >= 0)
        return code;
    if (!occupy_standard_descriptors()) {
        perror("nri-device-injector: /dev/null");
        return 1;
    }
    code = make_plugin(&options, argv[0]);
    if (code != 0)
        return code == NRI_E_INVALID ? 2 : 1;
    set_signal(SIGTERM, on_signal);
    set_signal(SIGINT, on_signal);
    set_signal(SIGPIPE, SIG_IGN);  /* the log may have lost its reader */
    code = nri_plugin_run(plugin); /* the library has logged why it ended */
    /* The handler must not stop a plugin that is gone, and a second SIGTERM must not change the
     * exit status. */
    set_signal(SIGTERM, SIG_IGN);
    set_signal(SIGINT, SIG_IGN);
    nri_plugin_close(plugin, NULL, NULL);
    return code == 0 ? 0 : 1;
}
