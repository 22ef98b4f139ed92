/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nrictl COMMAND [OPTIONS] [ARGUMENTS]: see, rehearse and diagnose NRI.
 */
#include <string.h>
#include <unistd.h>

#include <nri/version.h>

#include "help.h"
#include "nrictl.h"
#include "print.h"
#include "surroundings.h"

static int unknown(const char *name)
{
    const char *meant = help_meant(name);
    (void)fputs("nrictl: there is no command '", stderr);
    print_text(stderr, name, strlen(name));
    (void)fprintf(stderr, "'%s%s%s\n", meant != NULL ? "; is '" : "; see nrictl --help",
                  meant != NULL ? meant : "", meant != NULL ? "' meant?" : "");
    return NRICTL_USAGE;
}

/* What was printed is lost when standard output cannot take it: a full disk is no success. */
static int flushed(FILE *out, int code)
{
    if (fflush(out) == 0 && !ferror(out))
        return code;
    (void)fputs("nrictl: standard output does not take the result\n", stderr);
    return code == NRICTL_OK ? NRICTL_ENVIRONMENT : code;
}

int main(int argc, char **argv)
{
    struct nrictl ctl = {
        .out = stdout,
        .err = stderr,
        .colour = isatty(STDOUT_FILENO) == 1,
        .progress = isatty(STDERR_FILENO) == 1,
    };
    if (!surroundings_prepare())
        return NRICTL_ENVIRONMENT;
    if (argc < 2) {
        help_overview(stderr);
        return NRICTL_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        help_overview(stdout);
        return flushed(stdout, NRICTL_OK);
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        (void)printf("nrictl %s\n", nri_version());
        return flushed(stdout, NRICTL_OK);
    }
    const struct nrictl_command *command = nrictl_command_find(argv[1]);
    if (command == NULL)
        return unknown(argv[1]);
    ctl.command = command->name;
    const int code = command->run(&ctl, command, argc - 1, argv + 1);
    return flushed(ctl.out, code);
}
