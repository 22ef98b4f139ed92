/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugin that is checked, as a process: started in one of the forms in which runtimes and
 * people start plugins, with a socket and an output file of its own.
 *
 * Placeholders in its arguments: {socket}, {name}, {index}, and {directory}, which is its own and
 * empty. Where a form gives one of the first three in another way, the argument that has it is left
 * out, and with it the one in front when that is an option ("--name {name}").
 */
#ifndef NRICTL_SUBJECT_H
#define NRICTL_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SUBJECT_NAME  "checked"
#define SUBJECT_INDEX "42"
/* What a launched one is called, so that each can be told from the other. */
#define SUBJECT_LAUNCHED_NAME  "launched"
#define SUBJECT_LAUNCHED_INDEX "07"

enum subject_form {
    SUBJECT_EXTERNAL,    /* {socket}, {name}, {index} in its arguments */
    SUBJECT_ENVIRONMENT, /* {socket} in its arguments, name and index in its environment */
    SUBJECT_LAUNCHED     /* as a runtime launches it: descriptor 3, and nothing but NRI_PLUGIN_* */
};

struct subject {
    char directory[96]; /* its own */
    char socket[108];
    int listener, output; /* -1: none */
    int pair;             /* the runtime's end of a launched one's connection; -1: none */
    pid_t pid;            /* 0: not started */
    bool ended;
    int status; /* of waitpid() */
};

struct run;

void subject_init(struct subject *subject);
/* Whether the command line has a placeholder. */
bool subject_has(const char *const *argv, const char *placeholder);
/* Its directory, the listening socket. */
bool subject_place(struct run *run);
bool subject_listen(struct run *run);
void subject_unlisten(struct subject *subject); /* the socket file is gone then */
bool subject_start(struct run *run, enum subject_form form);
/* Takes note of its end, when it has ended. */
void subject_reap(struct subject *subject);
void subject_signal(const struct subject *subject, int number); /* to its process group */
/* Stops it; true when it has stopped. SIGCONT lets it go on. */
bool subject_pause(struct run *run);
/* Ends it, by force if need be, and reaps it. */
void subject_kill(struct subject *subject);
/* Removes what was made. */
void subject_clear(struct run *run);
/* "ended with status 1", "was killed by signal 11 (Segmentation fault)". */
void subject_tell_end(const struct subject *subject, char *text, size_t size);
/* With status 0, or by that signal. */
bool subject_ended_well(const struct subject *subject, int number);
/* Killed by a signal that a fault causes. */
bool subject_crashed(const struct subject *subject);

/* What it takes: false when the system does not tell. */
/* Time in which it ran or would have, had the machine had a processor for it: of all its threads
 * that are there now. */
bool subject_busy(const struct subject *subject, uint64_t *milliseconds);
bool subject_memory(const struct subject *subject, uint64_t *bytes);
bool subject_descriptors(const struct subject *subject, uint64_t *count);

#endif
