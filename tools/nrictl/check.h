/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nrictl check: a conformance suite for plugins, whatever they are made with.
 *
 * The suite is a table of checks in groups (check_GROUP.c); each one is run on its own, with a
 * plugin of its own that is started for it. A check is straight-line code: it takes steps
 * (check_step.h) that send something as a runtime does and wait for what has to come; the first
 * step that fails has said what was seen, and returns false. No check sleeps: what must not come is
 * shown by something that comes behind it.
 */
#ifndef NRICTL_CHECK_H
#define NRICTL_CHECK_H

#include "nrictl.h"
#include "peer.h"
#include "subject.h"

enum check_result { CHECK_PASS, CHECK_FAIL, CHECK_NOT_APPLICABLE };
enum check_severity { CHECK_MUST, CHECK_SHOULD };

struct run;

struct check {
    const char *id;       /* "group.name" */
    const char *title;    /* what is done */
    const char *expected; /* of the plugin */
    const char *why;      /* what goes wrong otherwise, with the source */
    enum check_severity severity;
    bool optional; /* run only when --only names it, or with --all */
    void (*run)(struct run *run, int argument);
    int argument;
};

struct check_group {
    const char *name;
    const struct check *checks;
    size_t count;
};
extern const struct check_group *const check_groups[]; /* ends with NULL */

/* What the first run of the plugin showed. */
struct known {
    bool registered; /* it is a plugin: it came as far as an event */
    char name[128], index[16], version[64];
    uint32_t events;  /* what it subscribes to on a runtime of NRI 0.12; 0 was told as all */
    uint32_t refused; /* events that it refuses by policy */
    bool ends;        /* when the runtime closes */
    bool reconnects;
    bool ends_on_term;
};

struct suite {
    struct nrictl *ctl;
    const char *const *argv; /* of the plugin, with placeholders; ends with NULL */
    uint64_t patience;       /* milliseconds, for everything that has to come */
    uint64_t slow;           /* a factor for the limits that runtimes have */
    uint64_t tolerance;      /* bytes of growth an event or a connection */
    bool no_reconnect;
    const char *keep;   /* a directory for what plugins print; NULL: none */
    char directory[64]; /* of all sockets */
    int signals;        /* signalfd: SIGINT, SIGTERM, SIGCHLD */
    bool interrupted;   /* by one of the first two */
    bool broken;        /* this machine does not do it; said already */
    struct known known;
};

#define RUN_TEXT 700

/* One check as it runs. */
struct run {
    struct suite *suite;
    const struct check *check;
    enum check_result result;
    char seen[RUN_TEXT];
    struct subject subject;
    struct peer peer;
    unsigned serial;      /* of containers */
    unsigned release;     /* the NRI version that is played, its minor number */
    uint32_t events;      /* that were subscribed to in this run */
    uint64_t began, took; /* milliseconds */
    char *output;         /* of the plugin, when it failed; owned */
    size_t output_length;
};

extern const struct nrictl_command nrictl_check;

/* ---- check_known.c ---- */

/* The first run: what the plugin is, in suite->known. The run's result is of no check. */
void check_look(struct suite *suite, struct run *run);

/* ---- check_run.c ---- */

void run_begin(struct run *run, struct suite *suite, const struct check *check);
/* The plugin ends, faults of its bytes count, its output is read when the check failed. */
void run_end(struct run *run);
void run_free(struct run *run);

/* What was seen instead: the check has failed. False, so that a step may return it. */
bool run_fail(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The check says nothing about this plugin. */
bool run_skip(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* This machine does not do it: the suite ends. */
bool run_broken(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

enum run_wait { RUN_READY, RUN_ENDED, RUN_LATE, RUN_STOPPED };
/* Waits until a descriptor is ready (-1: none), the plugin has ended, or the time has come. */
enum run_wait run_wait(struct run *run, int fd, short events, uint64_t deadline);
uint64_t run_now(void); /* milliseconds of the monotonic clock */
/* When patience for something that begins now ends. */
uint64_t run_deadline(const struct run *run);

#endif
