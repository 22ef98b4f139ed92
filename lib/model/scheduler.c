/* SPDX-License-Identifier: Apache-2.0 */
#include "model/enum.h"
#include "model/model.h"
#include "model/reader.h"

typedef Nri__Pkg__Api__V1alpha1__LinuxScheduler scheduler_message;

static const scheduler_message empty_scheduler = NRI__PKG__API__V1ALPHA1__LINUX_SCHEDULER__INIT;

static const scheduler_message *message_of(const nri_scheduler *scheduler)
{
    return scheduler != NULL ? (const void *)scheduler : &empty_scheduler;
}

const nri_scheduler *nri_scheduler_view(const scheduler_message *message)
{
    return (const void *)(message != NULL ? message : &empty_scheduler);
}

const char *nri_scheduler_policy_name(int policy)
{
    return nri_enum_name(&nri__pkg__api__v1alpha1__linux_scheduler_policy__descriptor, policy);
}

int nri_scheduler_policy_from_name(const char *name)
{
    return nri_enum_number(&nri__pkg__api__v1alpha1__linux_scheduler_policy__descriptor, name);
}

const char *nri_scheduler_flag_name(int flag)
{
    return nri_enum_name(&nri__pkg__api__v1alpha1__linux_scheduler_flag__descriptor, flag);
}

int nri_scheduler_flag_from_name(const char *name)
{
    return nri_enum_number(&nri__pkg__api__v1alpha1__linux_scheduler_flag__descriptor, name);
}

const char *nri_ioprio_class_name(int ioprio_class)
{
    return nri_enum_name(&nri__pkg__api__v1alpha1__ioprio_class__descriptor, ioprio_class);
}

int nri_ioprio_class_from_name(const char *name)
{
    return nri_enum_number(&nri__pkg__api__v1alpha1__ioprio_class__descriptor, name);
}

int nri_scheduler_get_policy(const nri_scheduler *scheduler)
{
    return (int)message_of(scheduler)->policy;
}

int32_t nri_scheduler_nice(const nri_scheduler *scheduler)
{
    return message_of(scheduler)->nice;
}

int32_t nri_scheduler_priority(const nri_scheduler *scheduler)
{
    return message_of(scheduler)->priority;
}

size_t nri_scheduler_flag_count(const nri_scheduler *scheduler)
{
    return message_of(scheduler)->n_flags;
}

int nri_scheduler_flag_at(const nri_scheduler *scheduler, size_t index)
{
    const scheduler_message *message = message_of(scheduler);
    return index < message->n_flags ? (int)message->flags[index] : -1;
}

uint64_t nri_scheduler_runtime(const nri_scheduler *scheduler)
{
    return message_of(scheduler)->runtime;
}

uint64_t nri_scheduler_deadline(const nri_scheduler *scheduler)
{
    return message_of(scheduler)->deadline;
}

uint64_t nri_scheduler_period(const nri_scheduler *scheduler)
{
    return message_of(scheduler)->period;
}
