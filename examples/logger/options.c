/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <getopt.h>
#include <nri/nri.h>
#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: nri-logger [OPTION]...\n"
    "Prints each NRI event as one line of JSON on standard output, and changes containers if asked "
    "to.\n"
    "\n"
    "  -n, --name NAME               plugin name (else NRI_PLUGIN_NAME, else from the program's "
    "name NN-NAME)\n"
    "  -i, --idx NN                  plugin index, two digits (else NRI_PLUGIN_IDX, else from the "
    "program's name)\n"
    "  -s, --socket PATH             the runtime's NRI socket (default " NRI_DEFAULT_SOCKET_PATH
    ")\n"
    "  -e, --events LIST             events to print: names separated by commas, or all, pod, "
    "container (default all);\n"
    "                                Configure, Synchronize and Shutdown are always printed\n"
    "      --add-env NAME=VALUE      set an environment variable in each container created\n"
    "      --set-env NAME=VALUE      the same, replacing what another plugin set\n"
    "      --add-annotation KEY=VALUE, --set-annotation KEY=VALUE\n"
    "                                likewise for annotations of the container\n"
    "  -V, --version                 print the version and exit\n"
    "  -h, --help                    print this and exit\n"
    "\n"
    "Options that change containers may be given many times. Exit status: 0 after SIGTERM or "
    "SIGINT, 1 after an error,\n"
    "2 after a wrong command line.\n";

enum { OPT_ADD_ENV = 256, OPT_SET_ENV, OPT_ADD_ANNOTATION, OPT_SET_ANNOTATION };

static const struct option names[] = {
    {"name", required_argument, NULL, 'n'},
    {"idx", required_argument, NULL, 'i'},
    {"socket", required_argument, NULL, 's'},
    {"events", required_argument, NULL, 'e'},
    {"add-env", required_argument, NULL, OPT_ADD_ENV},
    {"set-env", required_argument, NULL, OPT_SET_ENV},
    {"add-annotation", required_argument, NULL, OPT_ADD_ANNOTATION},
    {"set-annotation", required_argument, NULL, OPT_SET_ANNOTATION},
    {"version", no_argument, NULL, 'V'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

static int add_change(struct options *options, int option, char *text)
{
    char *equals = strchr(text, '=');
    if (equals == NULL || equals == text) {
        fprintf(stderr, "nri-logger: '%s': must have the form KEY=VALUE\n", text);
        return 2;
    }
    if (options->change_count == MAX_CHANGES) {
        fprintf(stderr, "nri-logger: more than %d changes\n", MAX_CHANGES);
        return 2;
    }
    struct change *change = &options->changes[options->change_count++];
    *equals = '\0';
    change->key = text;
    change->value = equals + 1;
    switch (option) {
    case OPT_ADD_ENV:
        change->kind = ADD_ENV;
        break;
    case OPT_SET_ENV:
        change->kind = SET_ENV;
        break;
    case OPT_ADD_ANNOTATION:
        change->kind = ADD_ANNOTATION;
        break;
    default:
        change->kind = SET_ANNOTATION;
        break;
    }
    return -1;
}

static int set_events(struct options *options, const char *text)
{
    nri_error *error = NULL;
    if (nri_event_mask_parse(text, &options->events, &error) == 0)
        return -1;
    fprintf(stderr, "nri-logger: --events: %s\n", nri_error_get_text(error));
    nri_error_free(error);
    return 2;
}

static int take(struct options *options, int option, char *argument)
{
    switch (option) {
    case 'n':
        options->name = argument;
        return -1;
    case 'i':
        options->index = argument;
        return -1;
    case 's':
        options->socket = argument;
        return -1;
    case 'e':
        return set_events(options, argument);
    case OPT_ADD_ENV:
    case OPT_SET_ENV:
    case OPT_ADD_ANNOTATION:
    case OPT_SET_ANNOTATION:
        return add_change(options, option, argument);
    case 'V':
        printf("nri-logger %s\n", nri_version());
        return fflush(stdout) != 0;
    case 'h':
        fputs(usage, stdout);
        return fflush(stdout) != 0;
    default:
        fputs("Try 'nri-logger --help'.\n", stderr);
        return 2;
    }
}

int options_parse(struct options *options, int argc, char **argv)
{
    *options = (struct options){.events = NRI_EVENTS_ALL};
    for (int option; (option = getopt_long(argc, argv, "n:i:s:e:Vh", names, NULL)) != -1;) {
        int code = take(options, option, optarg);
        if (code >= 0)
            return code;
    }
    if (optind < argc) {
        fprintf(stderr, "nri-logger: '%s': takes no such argument\n", argv[optind]);
        return 2;
    }
    return -1;
}
