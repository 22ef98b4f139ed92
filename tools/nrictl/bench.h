/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nrictl bench: what a plugin costs, beside what the machine costs without one.
 *
 * Everything is measured in turns: some calls to a child that only echoes bytes of the same sizes
 * (the floor), some to each plugin, and again. What disturbs the machine disturbs all of them, so
 * that the ratios hold where the times do not.
 *
 * Everything that waits ends at bench->timeout, or when SIGINT or SIGTERM comes. The first failure
 * is kept in bench->why; functions that fail return false, and everything that was started is ended
 * by bench_plugin_stop() and bench_echo_stop().
 */
#ifndef NRICTL_BENCH_H
#define NRICTL_BENCH_H

#include "base/arena.h"
#include "bench_link.h"
#include "nrictl.h"
#include "scenario.h"

#define BENCH_PLUGINS 7 /* that a table has room for */
#define BENCH_WHY     600

/* What is sent. */
enum bench_event { BENCH_CREATE, BENCH_START, BENCH_EVENTS };
extern const char *const bench_event_names[BENCH_EVENTS];

/* Nanoseconds, each kept: a median is exact. */
struct bench_samples {
    uint64_t *ns; /* owned */
    size_t count, room;
};

/* Of one event, for a plugin or the floor. */
struct bench_speed {
    struct bench_samples trips;
    uint64_t cpu_ns, cpu_calls; /* the other side's CPU time, and for how many calls */
    uint64_t wide_ns;           /* for as many calls with several under way */
    uint64_t wide_calls;
};

struct bench_memory {
    uint64_t rss, peak; /* bytes */
};

struct bench_plugin {
    struct scenario_plugin of;
    char title[160]; /* "NN-NAME", as it registered */
    uint32_t events; /* that it subscribes to; bit 0 is RunPodSandbox */
    struct bench_samples registered, synchronised;
    struct bench_memory idle, loaded;
    struct bench_speed speed[BENCH_EVENTS];
    size_t reply[BENCH_EVENTS]; /* bytes */

    /* While it runs. */
    pid_t pid; /* of the process that was started; 0: none */
    char socket[108];
    int listener, output; /* -1: none; what it prints goes to a file without a name */
    struct bench_link link;
};

struct bench {
    struct nrictl *ctl;
    uint64_t rounds, calls, warm_up, starts, outstanding, size, timeout_ms;
    int cpu;           /* that all is pinned to; -1: none */
    const char *chart; /* a file; NULL: none */
    struct bench_plugin plugins[BENCH_PLUGINS];
    size_t plugin_count;
    struct bench_samples floor_start; /* of a process that does nothing */
    uint64_t floor_rss;               /* of a shell that has stopped */
    struct bench_speed floor[BENCH_EVENTS];
    struct bench_frame frames[BENCH_EVENTS]; /* the requests */

    char directory[64];
    int signals; /* signalfd: SIGINT, SIGTERM, SIGCHLD */
    bool interrupted;
    int code; /* of enum nrictl_exit */
    char why[BENCH_WHY];
    struct nri_arena arena;
};

/* The first failure counts. False. */
bool bench_fail(struct bench *bench, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
uint64_t bench_now(void); /* nanoseconds of the monotonic clock */
enum bench_wait { BENCH_READY, BENCH_CHILD, BENCH_LATE, BENCH_STOPPED };
/* Waits until a descriptor can be read (-1: none), a child has changed, or the time has come. */
enum bench_wait bench_wait(struct bench *bench, int fd, uint64_t deadline_ns);
uint64_t bench_deadline(const struct bench *bench);

bool bench_sample(struct bench *bench, struct bench_samples *samples, uint64_t ns);
/* The value that so many per mille are not above; 0 for none. Sorts them. */
uint64_t bench_at(struct bench_samples *samples, unsigned per_mille);

/* ---- bench_plugin.c ---- */

/* Starts it, and takes it to its first event: both times are added to its samples. */
bool bench_plugin_start(struct bench *bench, struct bench_plugin *plugin, bool measure);
void bench_plugin_stop(struct bench *bench, struct bench_plugin *plugin);
bool bench_plugin_memory(struct bench *bench, const struct bench_plugin *plugin,
                         struct bench_memory *memory);

/* ---- bench_floor.c ---- */

/* The child that echoes: it reads `request` bytes and writes `reply`, until the end. */
struct bench_echo {
    pid_t pid;
    int fd;
    size_t request, reply;
};
bool bench_echo_start(struct bench *bench, struct bench_echo *echo, size_t request, size_t reply);
void bench_echo_stop(struct bench_echo *echo);
bool bench_echo_send(struct bench *bench, const struct bench_echo *echo,
                     const struct bench_frame *frame);
bool bench_echo_receive(struct bench *bench, const struct bench_echo *echo);
/* Starts `true`, and waits for its end. */
bool bench_floor_start(struct bench *bench);
/* What a shell has that has stopped. */
bool bench_floor_memory(struct bench *bench);
bool bench_memory_of(struct bench *bench, pid_t pid, struct bench_memory *memory);
bool bench_cpu_of(struct bench *bench, pid_t pid, uint64_t *ns);

/* ---- bench_run.c, bench_report.c, bench_chart.c ---- */

bool bench_run(struct bench *bench);
bool bench_wants(const struct bench_plugin *plugin, enum bench_event event);
int bench_report(struct bench *bench);
/* Calls, with several under way. */
uint64_t bench_per_second(const struct bench_speed *speed);
/* As SVG, or as a page when the file's name ends in .html. */
bool bench_chart(struct bench *bench);

extern const struct nrictl_command nrictl_bench;

#endif
