/* SPDX-License-Identifier: Apache-2.0 */
/* LinuxScheduler: the rules are those of sched_setattr(2). */
#include <inttypes.h>
#include <nri/scheduler.h>
#include <stdio.h>

#include "model/make.h"

#define LEAST_RUNTIME 1024 /* the kernel's, in ns */

static const struct nri_where flags_field = {.name = "scheduler flags"};

static int check_nice(struct nri_builder *builder, int policy, int32_t nice)
{
    const struct nri_where field = {.name = "scheduler nice"};
    bool has_nice = policy == NRI_SCHED_OTHER || policy == NRI_SCHED_BATCH;
    int code =
        nri_check_signed(builder, &field, nice, nice >= -20 && nice <= 19, "must be -20 to 19");
    if (code == 0)
        code = nri_check_signed(builder, &field, nice, has_nice || nice == 0,
                                "must be 0 unless the policy is SCHED_OTHER or SCHED_BATCH");
    return code;
}

static int check_priority(struct nri_builder *builder, int policy, int32_t priority)
{
    const struct nri_where field = {.name = "scheduler priority"};
    if (policy == NRI_SCHED_FIFO || policy == NRI_SCHED_RR)
        return nri_check_signed(builder, &field, priority, priority >= 1 && priority <= 99,
                                "must be 1 to 99 with SCHED_FIFO and SCHED_RR");
    return nri_check_signed(builder, &field, priority, priority == 0,
                            "must be 0 unless the policy is SCHED_FIFO or SCHED_RR");
}

static int check_no_times(struct nri_builder *builder, uint64_t runtime, uint64_t deadline,
                          uint64_t period)
{
    static const char rule[] = "must be 0 unless the policy is SCHED_DEADLINE";
    const struct nri_where runtime_field = {.name = "scheduler runtime"};
    const struct nri_where deadline_field = {.name = "scheduler deadline"};
    const struct nri_where period_field = {.name = "scheduler period"};
    int code = nri_check_unsigned(builder, &runtime_field, runtime, runtime == 0, rule);
    if (code == 0)
        code = nri_check_unsigned(builder, &deadline_field, deadline, deadline == 0, rule);
    if (code == 0)
        code = nri_check_unsigned(builder, &period_field, period, period == 0, rule);
    return code;
}

/* How long a deadline and a period may be is the administrator's (sched_deadline_period_max_us). No
 * kernel takes the highest bit. */
static int check_time(struct nri_builder *builder, const struct nri_where *field, uint64_t time,
                      bool fits, const char *rule)
{
    int code = nri_check_unsigned(builder, field, time, fits, rule);
    return code != 0 ? code
                     : nri_check_unsigned(builder, field, time, time <= INT64_MAX,
                                          "must be below 2^63 nanoseconds");
}

static int check_times(struct nri_builder *builder, uint64_t runtime, uint64_t deadline,
                       uint64_t period)
{
    const struct nri_where runtime_field = {.name = "scheduler runtime"};
    const struct nri_where deadline_field = {.name = "scheduler deadline"};
    const struct nri_where period_field = {.name = "scheduler period"};
    char rule[80];
    int code = nri_check_unsigned(builder, &runtime_field, runtime, runtime >= LEAST_RUNTIME,
                                  "must be 1024 nanoseconds or more with SCHED_DEADLINE");
    if (code != 0)
        return code;
    snprintf(rule, sizeof rule, "must not be below the runtime, %" PRIu64, runtime);
    code = check_time(builder, &deadline_field, deadline, deadline >= runtime, rule);
    if (code != 0)
        return code;
    snprintf(rule, sizeof rule, "must be 0, or not below the deadline, %" PRIu64, deadline);
    return check_time(builder, &period_field, period, period == 0 || period >= deadline, rule);
}

static int check(struct nri_builder *builder, int policy, int32_t nice, int32_t priority)
{
    const struct nri_where field = {.name = "scheduler policy"};
    int code = nri_check_signed(builder, &field, policy,
                                policy >= NRI_SCHED_NONE && policy <= NRI_SCHED_DEADLINE,
                                "must be 0 to 7");
    if (code == 0)
        code = check_nice(builder, policy, nice);
    return code == 0 ? check_priority(builder, policy, priority) : code;
}

static bool copy_flags(struct nri_builder *builder, NRI_MESSAGE(LinuxScheduler) * scheduler,
                       const int *flags, size_t flag_count)
{
    if (flag_count == 0)
        return true;
    scheduler->flags = nri_arena_array(builder->arena, flag_count, sizeof scheduler->flags[0]);
    if (scheduler->flags == NULL)
        return false;
    for (size_t i = 0; i < flag_count; i++)
        scheduler->flags[i] = (NRI_MESSAGE(LinuxSchedulerFlag))flags[i];
    scheduler->n_flags = flag_count;
    return true;
}

int nri_make_scheduler(struct nri_builder *builder, int policy, int32_t nice, int32_t priority,
                       const int *flags, size_t flag_count, uint64_t runtime, uint64_t deadline,
                       uint64_t period, NRI_MESSAGE(LinuxScheduler) * *message)
{
    int code = check(builder, policy, nice, priority);
    if (code == 0)
        code = nri_check_numbers(builder, &flags_field, flags, flag_count,
                                 NRI_SCHED_FLAG_UTIL_CLAMP_MAX);
    if (code == 0 && policy == NRI_SCHED_DEADLINE)
        code = check_times(builder, runtime, deadline, period);
    else if (code == 0)
        code = check_no_times(builder, runtime, deadline, period);
    if (code != 0)
        return code;
    NRI_MESSAGE(LinuxScheduler) *made =
        nri_make_empty(builder, &nri__pkg__api__v1alpha1__linux_scheduler__descriptor);
    if (made == NULL || !copy_flags(builder, made, flags, flag_count)) {
        const struct nri_where field = {.name = "scheduler"};
        return nri_builder_refuse_memory(builder, &field);
    }
    made->policy = (NRI_MESSAGE(LinuxSchedulerPolicy))policy;
    made->nice = nice;
    made->priority = priority;
    made->runtime = runtime;
    made->deadline = deadline;
    made->period = period;
    *message = made;
    return 0;
}
