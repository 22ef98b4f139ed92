/* SPDX-License-Identifier: Apache-2.0 */
/* What is set for a container's processes: I/O priority, scheduling, sysctls, memory policy. */
#include "inject.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* More than there are flags; the library refuses one that stands twice. */
#define MAX_FLAGS 32

/* The number of a name, which must be known and there. */
static int number_of(struct injection *injection, const value *item, const char *member,
                     int (*from_name)(const char *name))
{
    struct values *values = &injection->values;
    const value *name = values_member(values, item, member);
    if (name == NULL) {
        values_fail(values, item, "%s is missing", member);
        return -1;
    }
    const int number = from_name(values_text(values, name));
    if (number < 0)
        values_fail(values, name, "unknown %s \"%.64s\"", member, values_text(values, name));
    return number;
}

static size_t flags_of(struct injection *injection, const value *item, int flags[MAX_FLAGS],
                       int (*from_name)(const char *name))
{
    struct values *values = &injection->values;
    const value *list = values_member(values, item, "flags");
    const size_t count = values_count(values, list);
    if (count > MAX_FLAGS)
        values_fail(values, list, "%zu flags: there are not that many", count);
    for (size_t i = 0; i < count && values->error[0] == '\0'; i++) {
        const value *name = values_at(values, list, i);
        flags[i] = from_name(values_text(values, name));
        if (flags[i] < 0)
            values_fail(values, name == NULL ? list : name, "unknown flag \"%.64s\"",
                        values_text(values, name));
    }
    return values->error[0] == '\0' ? count : 0;
}

void inject_io_priority(struct injection *injection)
{
    static const char *const members[] = {"class", "priority"};
    struct values *values = &injection->values;
    const value *root = values_root(values);
    int64_t priority;
    if (root == NULL)
        return;
    values_check_members(values, root, members, COUNT(members));
    const int ioprio_class = number_of(injection, root, "class", nri_ioprio_class_from_name);
    values_int(values, values_member(values, root, "priority"), 0, 7, &priority);
    if (values->error[0] != '\0')
        return;
    const int code = nri_adjustment_set_io_priority(
        injection->adjustment, (enum nri_ioprio_class)ioprio_class, (int32_t)priority);
    if (inject_built(injection, code, root))
        inject_say(injection, "I/O priority %s %d", nri_ioprio_class_name(ioprio_class),
                   (int)priority);
}

void inject_scheduling_policy(struct injection *injection)
{
    static const char *const members[] = {"policy",  "nice",     "priority", "flags",
                                          "runtime", "deadline", "period"};
    struct values *values = &injection->values;
    const value *root = values_root(values);
    int flags[MAX_FLAGS];
    int64_t nice, priority;
    uint64_t runtime, deadline, period;
    if (root == NULL)
        return;
    values_check_members(values, root, members, COUNT(members));
    const int policy = number_of(injection, root, "policy", nri_scheduler_policy_from_name);
    const size_t flag_count = flags_of(injection, root, flags, nri_scheduler_flag_from_name);
    values_int(values, values_member(values, root, "nice"), INT32_MIN, INT32_MAX, &nice);
    values_int(values, values_member(values, root, "priority"), INT32_MIN, INT32_MAX, &priority);
    values_uint(values, values_member(values, root, "runtime"), &runtime);
    values_uint(values, values_member(values, root, "deadline"), &deadline);
    values_uint(values, values_member(values, root, "period"), &period);
    if (values->error[0] != '\0')
        return;
    const int code = nri_adjustment_set_scheduler(
        injection->adjustment, (enum nri_scheduler_policy)policy, (int32_t)nice, (int32_t)priority,
        flags, flag_count, runtime, deadline, period);
    if (inject_built(injection, code, root))
        inject_say(injection, "scheduling policy %s", nri_scheduler_policy_name(policy));
}

void inject_sysctls(struct injection *injection)
{
    struct values *values = &injection->values;
    const value *root = values_root(values);
    const size_t count = values_member_count(values, root);
    for (size_t i = 0; i < count && values->error[0] == '\0'; i++) {
        const char *key;
        const value *item = values_member_at(values, root, i, &key);
        const char *text = values_text(values, item);
        if (item == NULL)
            values_fail(values, root, "\"%.64s\" has no value", key);
        if (values->error[0] == '\0' &&
            inject_built(injection, nri_adjustment_set_sysctl(injection->adjustment, key, text),
                         item))
            inject_say(injection, "sysctl %s = %s", key, text);
    }
}

void inject_memory_policy(struct injection *injection)
{
    static const char *const members[] = {"mode", "nodes", "flags"};
    struct values *values = &injection->values;
    const value *root = values_root(values);
    int flags[MAX_FLAGS];
    if (root == NULL)
        return;
    values_check_members(values, root, members, COUNT(members));
    const int mode = number_of(injection, root, "mode", nri_mpol_mode_from_name);
    const size_t flag_count = flags_of(injection, root, flags, nri_mpol_flag_from_name);
    const char *nodes = values_text(values, values_member(values, root, "nodes"));
    if (values->error[0] != '\0')
        return;
    const int code = nri_adjustment_set_memory_policy(
        injection->adjustment, (enum nri_mpol_mode)mode, nodes, flags, flag_count);
    if (inject_built(injection, code, root))
        inject_say(injection, "memory policy %s %s", nri_mpol_mode_name(mode), nodes);
}
