/* SPDX-License-Identifier: Apache-2.0 */
/*
 * growth.*: what a plugin keeps of each event and each connection, as the slope of its memory and
 * its descriptors.
 *
 * Memory is the process's resident set, sampled at even distances; the slope is the median of the
 * slopes between samples of the first and the second half (Theil and Sen's estimate over half the
 * pairs), so that a heap that grows once does not count.
 */
#include <stdlib.h>

#include "check_group.h"
#include "check_step.h"

#define MOST_SAMPLES 64

struct samples {
    uint64_t memory[MOST_SAMPLES], descriptors[MOST_SAMPLES];
    size_t count;
};

static bool sample(struct run *run, struct samples *samples)
{
    const size_t at = samples->count;
    if (at == MOST_SAMPLES)
        return true;
    if (!subject_memory(&run->subject, &samples->memory[at]) ||
        !subject_descriptors(&run->subject, &samples->descriptors[at]))
        return run_skip(run, "the system does not tell what it takes");
    samples->count++;
    return true;
}

static int compare(const void *a, const void *b)
{
    const double one = *(const double *)a, two = *(const double *)b;
    return (one > two) - (one < two);
}

/* A sample's growth a step. */
static double slope(const uint64_t *values, size_t count)
{
    double slopes[MOST_SAMPLES];
    const size_t half = count / 2;
    for (size_t i = 0; i < half; i++)
        slopes[i] = ((double)values[half + i] - (double)values[i]) / (double)half;
    qsort(slopes, half, sizeof *slopes, compare);
    return half == 0 ? 0 : slopes[half / 2];
}

/* `steps` lie between two samples. */
static void judge(struct run *run, const struct samples *samples, unsigned steps, const char *what)
{
    const double memory = slope(samples->memory, samples->count) / steps;
    const double descriptors = slope(samples->descriptors, samples->count) / steps;
    if (memory > (double)run->suite->tolerance)
        (void)run_fail(run, "%.0f bytes of memory %s; the limit is %llu (--tolerance)", memory,
                       what, (unsigned long long)run->suite->tolerance);
    else if (descriptors > 1.0 / 16)
        (void)run_fail(run, "%.2f descriptors %s", descriptors, what);
}

/* A container that comes and goes, so that a cache of containers does not grow. */
static bool cycle(struct run *run)
{
    enum { CREATE = 4, REMOVE = 11 };
    return (!step_wants(run, CREATE) || step_event(run, CREATE)) &&
           (!step_wants(run, REMOVE) || step_event(run, REMOVE)) &&
           (step_wants(run, CREATE) || step_wants(run, REMOVE) || step_alive(run));
}

static void events(struct run *run, int count)
{
    enum { SAMPLES = 20, A_CYCLE = 2 };
    struct samples samples = {.count = 0};
    const int steps = count / A_CYCLE / SAMPLES;
    if (!step_join(run))
        return;
    for (int i = 0; i < SAMPLES; i++) {
        for (int j = 0; j < steps; j++) {
            if (!cycle(run))
                return;
        }
        if (!sample(run, &samples))
            return;
    }
    judge(run, &samples, (unsigned)(steps * A_CYCLE), "an event");
}

static bool restart(struct run *run)
{
    subject_unlisten(&run->subject);
    peer_close(&run->peer);
    return subject_listen(run) && step_accept(run);
}

/* A plugin with long delays makes fewer connections in the time that the check has. */
static void connections(struct run *run, int count)
{
    enum { LEAST = 6, PATIENCES = 4 };
    struct samples samples = {.count = 0};
    if (!run->suite->known.reconnects) {
        (void)run_skip(run, "it does not come back");
        return;
    }
    const uint64_t end = run_now() + PATIENCES * run->suite->patience;
    if (!step_join(run))
        return;
    for (int i = 0; i < count && (i < LEAST || run_now() < end); i++) {
        if (!restart(run) || !step_handshake(run) || !step_alive(run) || !sample(run, &samples))
            return;
    }
    judge(run, &samples, 1, "a connection");
}

static const struct check checks[] = {
    {.id = "growth.events",
     .title = "measure its memory and its descriptors over 2000 events",
     .expected = "a slope of --tolerance bytes an event at most, and no descriptors",
     .why = "a plugin lives as long as its node",
     .run = events,
     .argument = 2000},
    {.id = "growth.connections",
     .title = "measure its memory and its descriptors over 50 connections",
     .expected = "a slope of --tolerance bytes a connection at most, and no descriptors",
     .why = "descriptors that are not closed (nri #66)",
     .run = connections,
     .argument = 50},
};
const struct check_group check_growth = CHECK_GROUP("growth", checks);
