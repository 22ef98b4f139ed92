/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Scheduler attributes (sched_setattr(2)) and I/O priority classes. The rules of nri/pod.h hold. A
 * newer runtime may send numbers that are not listed here.
 */
#ifndef NRI_SCHEDULER_H
#define NRI_SCHEDULER_H

#include <nri/api.h>

NRI_BEGIN_DECLS

/** Policies (NRI enum LinuxSchedulerPolicy). Since 0.1.0. */
enum nri_scheduler_policy {
    NRI_SCHED_NONE = 0,
    NRI_SCHED_OTHER = 1,
    NRI_SCHED_FIFO = 2,
    NRI_SCHED_RR = 3,
    NRI_SCHED_BATCH = 4,
    NRI_SCHED_ISO = 5,
    NRI_SCHED_IDLE = 6,
    NRI_SCHED_DEADLINE = 7
};

/** Flags (NRI enum LinuxSchedulerFlag). Since 0.1.0. */
enum nri_scheduler_flag {
    NRI_SCHED_FLAG_RESET_ON_FORK = 0,
    NRI_SCHED_FLAG_RECLAIM = 1,
    NRI_SCHED_FLAG_DL_OVERRUN = 2,
    NRI_SCHED_FLAG_KEEP_POLICY = 3,
    NRI_SCHED_FLAG_KEEP_PARAMS = 4,
    NRI_SCHED_FLAG_UTIL_CLAMP_MIN = 5,
    NRI_SCHED_FLAG_UTIL_CLAMP_MAX = 6
};

/** I/O priority classes (NRI enum IOPrioClass). Since 0.1.0. */
enum nri_ioprio_class {
    NRI_IOPRIO_CLASS_NONE = 0,
    NRI_IOPRIO_CLASS_RT = 1,
    NRI_IOPRIO_CLASS_BE = 2,
    NRI_IOPRIO_CLASS_IDLE = 3
};

/** The name of a policy as NRI spells it, such as "SCHED_FIFO"; "?" for none such. Static text.
 * Thread-safe. Since 0.1.0. */
NRI_API const char *nri_scheduler_policy_name(int policy);
/** The policy of a name such as "SCHED_FIFO", exactly; -1 for none such. Thread-safe. Since 0.1.0.
 */
NRI_API int nri_scheduler_policy_from_name(const char *name);
/** The name of a flag, such as "SCHED_FLAG_RECLAIM"; "?" for none such. Thread-safe. Since 0.1.0.
 */
NRI_API const char *nri_scheduler_flag_name(int flag);
/** The flag of a name; -1 for none such. Thread-safe. Since 0.1.0. */
NRI_API int nri_scheduler_flag_from_name(const char *name);
/** The name of an I/O priority class, such as "IOPRIO_CLASS_BE"; "?" for none such. Thread-safe.
 * Since 0.1.0. */
NRI_API const char *nri_ioprio_class_name(int ioprio_class);
/** The I/O priority class of a name; -1 for none such. Thread-safe. Since 0.1.0. */
NRI_API int nri_ioprio_class_from_name(const char *name);

/** The policy (LinuxScheduler.policy): enum nri_scheduler_policy or a newer number. Since 0.1.0. */
NRI_API int nri_scheduler_get_policy(const nri_scheduler *scheduler);
/** The nice value, -20 to 19 (LinuxScheduler.nice). Since 0.1.0. */
NRI_API int32_t nri_scheduler_nice(const nri_scheduler *scheduler);
/** The static priority (LinuxScheduler.priority). Since 0.1.0. */
NRI_API int32_t nri_scheduler_priority(const nri_scheduler *scheduler);
/** How many flags (LinuxScheduler.flags). Since 0.1.0. */
NRI_API size_t nri_scheduler_flag_count(const nri_scheduler *scheduler);
/** One flag: enum nri_scheduler_flag or a newer number; -1 past the end. Since 0.1.0. */
NRI_API int nri_scheduler_flag_at(const nri_scheduler *scheduler, size_t index);
/** The runtime in nanoseconds (LinuxScheduler.runtime). Since 0.1.0. */
NRI_API uint64_t nri_scheduler_runtime(const nri_scheduler *scheduler);
/** The deadline in nanoseconds (LinuxScheduler.deadline). Since 0.1.0. */
NRI_API uint64_t nri_scheduler_deadline(const nri_scheduler *scheduler);
/** The period in nanoseconds (LinuxScheduler.period). Since 0.1.0. */
NRI_API uint64_t nri_scheduler_period(const nri_scheduler *scheduler);

NRI_END_DECLS

#endif
