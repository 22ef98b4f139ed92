/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of the test plugin, from the command line and, for a pre-installed plugin, from its
 * configuration text.
 */
#ifndef E2E_OPTIONS_H
#define E2E_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define LIST_MAX 16

/* A repeated option: the values in their order. */
struct list {
    const char *item[LIST_MAX];
    int count;
};

struct options {
    /* who and where */
    const char *name;
    const char *index;
    const char *socket;
    const char *output; /* a file to write records to instead of standard output */
    const char *events; /* the events that have a handler; the 11 classic ones by default */
    bool sync_parts;    /* take each part of a Synchronize as it comes */

    /* CreateContainer */
    struct list add_env;        /* NAME=VALUE */
    struct list remove_env;     /* NAME */
    struct list replace_env;    /* NAME=VALUE */
    struct list add_annotation; /* KEY=VALUE */
    struct list add_mount;      /* SOURCE:DESTINATION, bind-mounted read-only */
    struct list inject_device;  /* PATH:ACCESS */
    const char *adjust;         /* an adjustment in JSON, before all else */
    struct list arg;            /* the arguments, one each */
    int64_t cpu_shares;         /* 0: left alone, likewise below */
    int64_t cpu_quota;
    int64_t memory_limit;
    int64_t fat_annotation; /* bytes */

    /* the reply to UpdateContainer, and the update sent on SIGUSR1 */
    int64_t update_cpu_shares;
    int64_t update_cpu_quota;
    int64_t update_memory_limit;
    int64_t fat_update; /* bytes; SIGUSR1 only */

    /* any event */
    struct list refuse; /* EVENT=TEXT */
    struct list later;  /* EVENT=MILLISECONDS */
};

/* Reads argv. Returns 0, 1 after --help, or -1 with a message on standard error. */
int options_from_arguments(struct options *options, int argc, char **argv);

/*
 * Reads configuration text: lines of NAME=VALUE, named like the options. Values point into `text`,
 * which is cut up at the line ends and must live as long as the options. Returns 0, or -1 with a
 * message on standard error.
 */
int options_from_text(struct options *options, char *text);

/* The text behind "WORD=" in a list of such pairs, or NULL when no item begins so. */
const char *list_value(const struct list *list, const char *word);

#endif
