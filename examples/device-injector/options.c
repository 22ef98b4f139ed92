/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <getopt.h>
#include <nri/nri.h>
#include <stdio.h>

static const char usage[] =
    "usage: nri-device-injector [OPTION]...\n"
    "Injects into containers what their pods' annotations ask for: devices, CDI devices, mounts, "
    "network devices,\n"
    "I/O priority, scheduling policy, sysctls, memory policy.\n"
    "\n"
    "  -n, --name NAME     plugin name (else NRI_PLUGIN_NAME, else from the program's name "
    "NN-NAME)\n"
    "  -i, --idx NN        plugin index, two digits (else NRI_PLUGIN_IDX, else from the program's "
    "name)\n"
    "  -s, --socket PATH   the runtime's NRI socket (default " NRI_DEFAULT_SOCKET_PATH ")\n"
    "  -v, --verbose       log what is injected, too; warnings are always logged\n"
    "  -V, --version       print the version and exit\n"
    "  -h, --help          print this and exit\n"
    "\n"
    "Exit status: 0 after SIGTERM or SIGINT, 1 after an error, 2 after a wrong command line.\n";

static const struct option names[] = {{"name", required_argument, NULL, 'n'},
                                      {"idx", required_argument, NULL, 'i'},
                                      {"socket", required_argument, NULL, 's'},
                                      {"verbose", no_argument, NULL, 'v'},
                                      {"version", no_argument, NULL, 'V'},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

static int take(struct options *options, int option, const char *argument)
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
    case 'v':
        options->verbose = true;
        return -1;
    case 'V':
        printf("nri-device-injector %s\n", nri_version());
        return fflush(stdout) != 0;
    case 'h':
        fputs(usage, stdout);
        return fflush(stdout) != 0;
    default:
        fputs("Try 'nri-device-injector --help'.\n", stderr);
        return 2;
    }
}

int options_parse(struct options *options, int argc, char **argv)
{
    *options = (struct options){0};
    for (int option; (option = getopt_long(argc, argv, "n:i:s:vVh", names, NULL)) != -1;) {
        int code = take(options, option, optarg);
        if (code >= 0)
            return code;
    }
    if (optind < argc) {
        fprintf(stderr, "nri-device-injector: '%s': takes no such argument\n", argv[optind]);
        return 2;
    }
    return -1;
}
