/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One check: what it has, how it waits, how it ends.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "check_step.h"
#include "message.h"

/* Of a failed check's plugin. */
#define MOST_OUTPUT 4000

uint64_t run_now(void)
{
    enum { MILLIS = 1000, NANOS = 1000000 };
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * MILLIS + (uint64_t)now.tv_nsec / NANOS;
}

uint64_t run_deadline(const struct run *run)
{
    return run_now() + run->suite->patience;
}

void run_begin(struct run *run, struct suite *suite, const struct check *check)
{
    memset(run, 0, sizeof *run);
    run->suite = suite;
    run->check = check;
    run->release = MESSAGE_0_12;
    run->began = run_now();
    subject_init(&run->subject);
    peer_init(&run->peer);
}

/* ---- results: the first one counts ---- */

static bool settle(struct run *run, enum check_result result, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
static bool settle(struct run *run, enum check_result result, const char *format, va_list arguments)
{
    if (run->result != CHECK_PASS)
        return false;
    run->result = result;
    (void)vsnprintf(run->seen, sizeof run->seen, format, arguments);
    return false;
}

bool run_fail(struct run *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const bool result = settle(run, CHECK_FAIL, format, arguments);
    va_end(arguments);
    return result;
}

bool run_skip(struct run *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const bool result = settle(run, CHECK_NOT_APPLICABLE, format, arguments);
    va_end(arguments);
    return result;
}

bool run_broken(struct run *run, const char *format, ...)
{
    char text[RUN_TEXT];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!run->suite->broken)
        (void)nrictl_fail(run->suite->ctl, NRICTL_ENVIRONMENT, "%s", text);
    run->suite->broken = true;
    return run_fail(run, "%s", text);
}

/* ---- waiting ---- */

static void take_signals(struct run *run)
{
    struct signalfd_siginfo info;
    while (read(run->suite->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo != SIGCHLD)
            run->suite->interrupted = true;
    }
    subject_reap(&run->subject);
}

static int time_left(uint64_t deadline)
{
    enum { LONGEST = 60000 };
    const uint64_t now = run_now();
    if (now >= deadline)
        return 0;
    return deadline - now < LONGEST ? (int)(deadline - now) : LONGEST;
}

enum run_wait run_wait(struct run *run, int fd, short events, uint64_t deadline)
{
    const bool had_ended = run->subject.ended;
    for (;;) {
        struct pollfd polled[2] = {{.fd = run->suite->signals, .events = POLLIN},
                                   {.fd = fd, .events = events}};
        const int ready = poll(polled, 2, time_left(deadline));
        if (polled[0].revents != 0)
            take_signals(run);
        if (run->suite->interrupted)
            return RUN_STOPPED;
        if (ready > 0 && polled[1].revents != 0)
            return RUN_READY;
        if (run->subject.ended && (!had_ended || fd < 0))
            return RUN_ENDED;
        if (ready == 0 && run_now() >= deadline)
            return RUN_LATE;
    }
}

/* ---- the end ---- */

/* What it still sends while it ends is looked at. */
static void wind_up(struct run *run)
{
    const uint64_t deadline = run_deadline(run);
    const bool gently = run->suite->known.ends_on_term && run->result == CHECK_PASS;
    if (!gently || run->subject.pid == 0)
        return;
    subject_signal(&run->subject, SIGCONT);
    subject_signal(&run->subject, SIGTERM);
    while (!run->peer.over || !run->subject.ended) {
        const enum run_wait why =
            run_wait(run, run->peer.over ? -1 : run->peer.fd, POLLIN, deadline);
        if (why == RUN_LATE)
            run->suite->known.ends_on_term = false; /* it will not be asked again */
        if (why == RUN_LATE || why == RUN_STOPPED)
            return;
        if (!run->peer.over)
            peer_look(run);
        if (run->subject.ended && why == RUN_ENDED && run->peer.over)
            return;
    }
}

/* All of it, in the directory that was asked for. */
static void store_output(struct run *run)
{
    enum { BLOCK = 65536 };
    char path[4096], block[BLOCK];
    ssize_t got;
    off_t at = 0;
    (void)snprintf(path, sizeof path, "%s/%s.output", run->suite->keep, run->check->id);
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        (void)run_broken(run, "%s: %s", path, strerror(errno));
        return;
    }
    while ((got = pread(run->subject.output, block, sizeof block, at)) > 0) {
        (void)fwrite(block, 1, (size_t)got, file);
        at += got;
    }
    if (fclose(file) != 0)
        (void)run_broken(run, "%s: %s", path, strerror(errno));
}

static void keep_output(struct run *run)
{
    struct stat status;
    if (run->subject.output < 0 || fstat(run->subject.output, &status) != 0)
        return;
    if (run->suite->keep != NULL)
        store_output(run);
    if (run->result != CHECK_FAIL)
        return;
    const off_t skipped = status.st_size > MOST_OUTPUT ? status.st_size - MOST_OUTPUT : 0;
    run->output = malloc(MOST_OUTPUT + 1);
    if (run->output == NULL)
        return;
    const ssize_t got = pread(run->subject.output, run->output, MOST_OUTPUT, skipped);
    run->output_length = got > 0 ? (size_t)got : 0;
}

void run_end(struct run *run)
{
    char end[100];
    step_fence(run);
    wind_up(run);
    if (run->peer.fault[0] != '\0') {
        if (run->result == CHECK_FAIL) {
            const size_t used = strlen(run->seen);
            (void)snprintf(run->seen + used, sizeof run->seen - used, "; before that %s",
                           run->peer.fault);
        } else {
            (void)run_fail(run, "%s", run->peer.fault);
        }
    }
    subject_reap(&run->subject);
    if (run->subject.ended && subject_crashed(&run->subject)) {
        subject_tell_end(&run->subject, end, sizeof end);
        (void)run_fail(run, "the plugin %s", end);
    }
    subject_kill(&run->subject);
    keep_output(run);
    peer_fini(&run->peer);
    subject_clear(run);
    run->took = run_now() - run->began;
}

void run_free(struct run *run)
{
    free(run->output);
    run->output = NULL;
}
