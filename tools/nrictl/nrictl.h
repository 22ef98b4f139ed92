/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the subcommands of nrictl share: how one is described, what it runs with, what it ends with.
 *
 * A subcommand is a file with one struct nrictl_command, listed in commands.c. Its help, its manual
 * page and its completion are made of that structure, so they cannot differ.
 */
#ifndef NRICTL_NRICTL_H
#define NRICTL_NRICTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Documented in the manual page; scripts rely on them. */
enum nrictl_exit {
    NRICTL_OK = 0,
    NRICTL_FINDING = 1, /* an expectation failed, a check or a finding: the answer is "no" */
    NRICTL_USAGE = 2,   /* the command line, or a file that it names, is wrong */
    NRICTL_ENVIRONMENT =
        3, /* this machine: a file, a socket, memory, a plugin that does not start */
};

/* What a subcommand runs with. */
struct nrictl {
    const char *command; /* "sim": for messages */
    FILE *out;           /* results */
    FILE *err;           /* messages and progress */
    bool json;           /* --output json: results are JSON, and nothing but */
    bool colour;         /* results may have colours */
    bool progress;       /* messages go to a terminal: a progress line may be drawn */
};

/* Options without a letter have values from here on. */
#define NRICTL_LONG 256

struct nrictl_option {
    int value;            /* its letter, or from NRICTL_LONG on */
    const char *name;     /* without the dashes */
    const char *argument; /* "FILE"; NULL when it takes none */
    const char *help;     /* a sentence or two, without a full stop at the end */
};

struct nrictl_example {
    const char
        *command; /* a line of shell that runs as it stands in tests/nrictl's example directory */
    const char *what; /* what it does; a sentence */
};

struct nrictl_command {
    const char *name;
    const char *summary;                 /* a line */
    const char *arguments;               /* "CONFIG.json ADJUSTMENT.json"; "" for none */
    const char *description;             /* paragraphs, an empty line between them */
    const struct nrictl_option *options; /* ends with a NULL name; those of all commands left out */
    const struct nrictl_example *examples; /* ends with a NULL command */
    /* argv[0] is the subcommand's name; one of enum nrictl_exit comes back. */
    int (*run)(struct nrictl *ctl, const struct nrictl_command *self, int argc, char **argv);
};

extern const struct nrictl_command *const nrictl_commands[]; /* ends with NULL */
const struct nrictl_command *nrictl_command_find(const char *name);

/* An option was given; 0, or one of enum nrictl_exit after a message. */
typedef int (*nrictl_take)(struct nrictl *ctl, int value, const char *argument, void *user);

/*
 * Parses the options: those of all commands (--output, --color, --help) and the command's own,
 * which `take` gets. -1 to go on, then *first is the first argument that is none; else what to end
 * with. A
 * `--` ends the options; with `plus` the first argument does.
 */
int nrictl_parse(struct nrictl *ctl, const struct nrictl_command *command, int argc, char **argv,
                 bool plus, nrictl_take take, void *user, int *first);

/* "nrictl COMMAND: TEXT" on ctl->err, a line; returns `code` for the caller to return. */
int nrictl_fail(struct nrictl *ctl, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whole numbers and times of options: "250", "250ms", "2s", "1m30s". False after a message. */
bool nrictl_number(struct nrictl *ctl, const char *option, const char *text, uint64_t least,
                   uint64_t most, uint64_t *number);
bool nrictl_milliseconds(struct nrictl *ctl, const char *option, const char *text, uint64_t least,
                         uint64_t most, uint64_t *milliseconds);

#endif
