/* SPDX-License-Identifier: Apache-2.0 */
/* What both containers and adjustments hold. */
#include "model_read.h"

#include <string.h>

/* The wrappers of optional values: NULL when there is none. A macro a type would hide what is
 * read; so the value is stored by its field's offset. */
static void *optional(struct model_reading *reading, const ProtobufCMessageDescriptor *type,
                      bool present, const void *value, size_t size)
{
    if (!present)
        return NULL;
    char *message = model_read_new(reading, type);
    memcpy(message + type->fields[0].offset, value, size);
    return message;
}

static void *optional_int64(struct model_reading *reading, bool present, int64_t value)
{
    return optional(reading, &nri__pkg__api__v1alpha1__optional_int64__descriptor, present, &value,
                    sizeof value);
}

static void *optional_uint64(struct model_reading *reading, bool present, uint64_t value)
{
    return optional(reading, &nri__pkg__api__v1alpha1__optional_uint64__descriptor, present, &value,
                    sizeof value);
}

static void *optional_uint32(struct model_reading *reading, bool present, uint32_t value)
{
    return optional(reading, &nri__pkg__api__v1alpha1__optional_uint32__descriptor, present, &value,
                    sizeof value);
}

static void *optional_bool(struct model_reading *reading, bool present, bool value)
{
    const protobuf_c_boolean boolean = value;
    return optional(reading, &nri__pkg__api__v1alpha1__optional_bool__descriptor, present, &boolean,
                    sizeof boolean);
}

static void *optional_text(struct model_reading *reading, bool present, const char *value)
{
    char *text = model_read_text(reading, value);
    MODEL_PROMISE(reading, present || *value == '\0');
    return optional(reading, &nri__pkg__api__v1alpha1__optional_string__descriptor, present, &text,
                    sizeof text);
}

MODEL(OptionalInt) * model_read_int(struct model_reading *reading, int64_t value)
{
    return optional(reading, &nri__pkg__api__v1alpha1__optional_int__descriptor, true, &value,
                    sizeof value);
}

MODEL(Mount) * model_read_mount(struct model_reading *reading, const nri_mount *mount)
{
    MODEL(Mount) *to = model_read_new(reading, &nri__pkg__api__v1alpha1__mount__descriptor);
    to->destination = model_read_text(reading, nri_mount_destination(mount));
    to->type = model_read_text(reading, nri_mount_type(mount));
    to->source = model_read_text(reading, nri_mount_source(mount));
    MODEL_READ_TEXTS(reading, to, options, nri_mount_option_count, nri_mount_option, mount);
    return to;
}

MODEL(Hook) * model_read_hook(struct model_reading *reading, const nri_hook *hook)
{
    MODEL(Hook) *to = model_read_new(reading, &nri__pkg__api__v1alpha1__hook__descriptor);
    int64_t seconds;
    to->path = model_read_text(reading, nri_hook_path(hook));
    MODEL_READ_TEXTS(reading, to, args, nri_hook_arg_count, nri_hook_arg, hook);
    MODEL_READ_TEXTS(reading, to, env, nri_hook_env_count, nri_hook_env_at, hook);
    if (nri_hook_timeout(hook, &seconds))
        to->timeout = model_read_int(reading, seconds);
    return to;
}

MODEL(LinuxDevice) * model_read_device(struct model_reading *reading, const nri_device *device)
{
    MODEL(LinuxDevice) *to =
        model_read_new(reading, &nri__pkg__api__v1alpha1__linux_device__descriptor);
    uint32_t number;
    bool present;
    to->path = model_read_text(reading, nri_device_path(device));
    to->type = model_read_text(reading, nri_device_type(device));
    to->major = nri_device_major(device);
    to->minor = nri_device_minor(device);
    present = nri_device_file_mode(device, &number);
    to->file_mode = optional(reading, &nri__pkg__api__v1alpha1__optional_file_mode__descriptor,
                             present, &number, sizeof number);
    present = nri_device_uid(device, &number);
    to->uid = optional_uint32(reading, present, number);
    present = nri_device_gid(device, &number);
    to->gid = optional_uint32(reading, present, number);
    return to;
}

MODEL(POSIXRlimit) *
    model_read_rlimit(struct model_reading *reading, const char *type, uint64_t hard, uint64_t soft)
{
    MODEL(POSIXRlimit) *to =
        model_read_new(reading, &nri__pkg__api__v1alpha1__posixrlimit__descriptor);
    to->type = model_read_text(reading, type);
    to->hard = hard;
    to->soft = soft;
    return to;
}

MODEL(CDIDevice) * model_read_cdi_device(struct model_reading *reading, const char *name)
{
    MODEL(CDIDevice) *to = model_read_new(reading, &nri__pkg__api__v1alpha1__cdidevice__descriptor);
    to->name = model_read_text(reading, name);
    return to;
}

MODEL(LinuxNamespace) *
    model_read_namespace(struct model_reading *reading, const char *type, const char *path)
{
    MODEL(LinuxNamespace) *to =
        model_read_new(reading, &nri__pkg__api__v1alpha1__linux_namespace__descriptor);
    to->type = model_read_text(reading, type);
    to->path = model_read_text(reading, path);
    return to;
}

MODEL(LinuxIOPriority) *
    model_read_io_priority(struct model_reading *reading, int ioprio_class, int32_t priority)
{
    MODEL(LinuxIOPriority) *to =
        model_read_new(reading, &nri__pkg__api__v1alpha1__linux_iopriority__descriptor);
    memcpy(&to->class_, &ioprio_class, sizeof ioprio_class);
    to->priority = priority;
    return to;
}

MODEL(LinuxScheduler) *
    model_read_scheduler(struct model_reading *reading, const nri_scheduler *scheduler)
{
    MODEL(LinuxScheduler) *to =
        model_read_new(reading, &nri__pkg__api__v1alpha1__linux_scheduler__descriptor);
    const int policy = nri_scheduler_get_policy(scheduler);
    memcpy(&to->policy, &policy, sizeof policy); /* it may be a number that C's enum has not */
    to->nice = nri_scheduler_nice(scheduler);
    to->priority = nri_scheduler_priority(scheduler);
    to->n_flags = nri_scheduler_flag_count(scheduler);
    to->flags = model_read_array(reading, to->n_flags, sizeof *to->flags);
    for (size_t i = 0; i < to->n_flags; i++) {
        const int flag = nri_scheduler_flag_at(scheduler, i);
        memcpy(&to->flags[i], &flag, sizeof flag);
    }
    MODEL_PROMISE(reading, nri_scheduler_flag_at(scheduler, to->n_flags) == -1);
    to->runtime = nri_scheduler_runtime(scheduler);
    to->deadline = nri_scheduler_deadline(scheduler);
    to->period = nri_scheduler_period(scheduler);
    return to;
}

MODEL(LinuxRdt) * model_read_rdt(struct model_reading *reading, const nri_rdt *rdt)
{
    MODEL(LinuxRdt) *to = model_read_new(reading, &nri__pkg__api__v1alpha1__linux_rdt__descriptor);
    const char *text;
    size_t count;
    bool flag, present = nri_rdt_clos_id(rdt, &text);
    to->clos_id = optional_text(reading, present, text);
    if (nri_rdt_schemata(rdt, &count)) {
        to->schemata =
            model_read_new(reading, &nri__pkg__api__v1alpha1__optional_repeated_string__descriptor);
        to->schemata->n_value = count;
        to->schemata->value = model_read_array(reading, count, sizeof(char *));
        for (size_t i = 0; i < count; i++)
            to->schemata->value[i] = model_read_text(reading, nri_rdt_schema(rdt, i));
    }
    MODEL_PROMISE(reading, *nri_rdt_schema(rdt, count) == '\0');
    present = nri_rdt_enable_monitoring(rdt, &flag);
    to->enable_monitoring = optional_bool(reading, present, flag);
    to->remove = nri_rdt_remove(rdt);
    return to;
}

MODEL(LinuxMemoryPolicy) *
    model_read_memory_policy(struct model_reading *reading, const nri_memory_policy *policy)
{
    MODEL(LinuxMemoryPolicy) *to =
        model_read_new(reading, &nri__pkg__api__v1alpha1__linux_memory_policy__descriptor);
    const int mode = nri_memory_policy_mode(policy);
    memcpy(&to->mode, &mode, sizeof mode);
    to->nodes = model_read_text(reading, nri_memory_policy_nodes(policy));
    to->n_flags = nri_memory_policy_flag_count(policy);
    to->flags = model_read_array(reading, to->n_flags, sizeof *to->flags);
    for (size_t i = 0; i < to->n_flags; i++) {
        const int flag = nri_memory_policy_flag_at(policy, i);
        memcpy(&to->flags[i], &flag, sizeof flag);
    }
    MODEL_PROMISE(reading, nri_memory_policy_flag_at(policy, to->n_flags) == -1);
    return to;
}

/* ---- seccomp ---- */

static MODEL(LinuxSyscall) * read_syscall(struct model_reading *reading, const nri_syscall *syscall)
{
    MODEL(LinuxSyscall) *to =
        model_read_new(reading, &nri__pkg__api__v1alpha1__linux_syscall__descriptor);
    uint32_t number;
    const char *op;
    bool present = nri_syscall_errno(syscall, &number);
    MODEL_READ_TEXTS(reading, to, names, nri_syscall_name_count, nri_syscall_name, syscall);
    to->action = model_read_text(reading, nri_syscall_action(syscall));
    to->errno_ret = optional_uint32(reading, present, number);
    to->n_args = nri_syscall_arg_count(syscall);
    to->args = model_read_array(reading, to->n_args, sizeof(void *));
    for (size_t i = 0; i < to->n_args; i++) {
        MODEL(LinuxSeccompArg) *arg =
            model_read_new(reading, &nri__pkg__api__v1alpha1__linux_seccomp_arg__descriptor);
        MODEL_PROMISE(reading, nri_syscall_arg_at(syscall, i, &arg->index, &arg->value,
                                                  &arg->value_two, &op));
        arg->op = model_read_text(reading, op);
        to->args[i] = arg;
    }
    MODEL_PROMISE(reading, !nri_syscall_arg_at(syscall, to->n_args, NULL, NULL, NULL, &op));
    return to;
}

MODEL(LinuxSeccomp) * model_read_seccomp(struct model_reading *reading, const nri_seccomp *seccomp)
{
    MODEL(LinuxSeccomp) *to =
        model_read_new(reading, &nri__pkg__api__v1alpha1__linux_seccomp__descriptor);
    uint32_t number;
    bool present = nri_seccomp_default_errno(seccomp, &number);
    to->default_action = model_read_text(reading, nri_seccomp_default_action(seccomp));
    to->default_errno = optional_uint32(reading, present, number);
    MODEL_READ_TEXTS(reading, to, architectures, nri_seccomp_architecture_count,
                     nri_seccomp_architecture, seccomp);
    MODEL_READ_TEXTS(reading, to, flags, nri_seccomp_flag_count, nri_seccomp_flag, seccomp);
    to->listener_path = model_read_text(reading, nri_seccomp_listener_path(seccomp));
    to->listener_metadata = model_read_text(reading, nri_seccomp_listener_metadata(seccomp));
    to->n_syscalls = nri_seccomp_syscall_count(seccomp);
    to->syscalls = model_read_array(reading, to->n_syscalls, sizeof(void *));
    for (size_t i = 0; i < to->n_syscalls; i++)
        to->syscalls[i] = read_syscall(reading, nri_seccomp_syscall_at(seccomp, i));
    MODEL_PROMISE(reading, nri_seccomp_syscall_at(seccomp, to->n_syscalls) != NULL);
    return to;
}

/* ---- resources ---- */

static MODEL(LinuxMemory) *
    read_memory(struct model_reading *reading, const nri_resources *resources)
{
    MODEL(LinuxMemory) *to =
        model_read_new(reading, &nri__pkg__api__v1alpha1__linux_memory__descriptor);
    int64_t bytes;
    uint64_t swappiness;
    bool flag, present = nri_resources_memory_limit(resources, &bytes);
    to->limit = optional_int64(reading, present, bytes);
    present = nri_resources_memory_reservation(resources, &bytes);
    to->reservation = optional_int64(reading, present, bytes);
    present = nri_resources_memory_swap(resources, &bytes);
    to->swap = optional_int64(reading, present, bytes);
    present = nri_resources_memory_kernel(resources, &bytes);
    to->kernel = optional_int64(reading, present, bytes);
    present = nri_resources_memory_kernel_tcp(resources, &bytes);
    to->kernel_tcp = optional_int64(reading, present, bytes);
    present = nri_resources_memory_swappiness(resources, &swappiness);
    to->swappiness = optional_uint64(reading, present, swappiness);
    present = nri_resources_memory_disable_oom_killer(resources, &flag);
    to->disable_oom_killer = optional_bool(reading, present, flag);
    present = nri_resources_memory_use_hierarchy(resources, &flag);
    to->use_hierarchy = optional_bool(reading, present, flag);
    return to;
}

static MODEL(LinuxCPU) * read_cpu(struct model_reading *reading, const nri_resources *resources)
{
    MODEL(LinuxCPU) *to = model_read_new(reading, &nri__pkg__api__v1alpha1__linux_cpu__descriptor);
    int64_t number;
    uint64_t natural;
    const char *text;
    bool present = nri_resources_cpu_shares(resources, &natural);
    to->shares = optional_uint64(reading, present, natural);
    present = nri_resources_cpu_quota(resources, &number);
    to->quota = optional_int64(reading, present, number);
    present = nri_resources_cpu_period(resources, &natural);
    to->period = optional_uint64(reading, present, natural);
    present = nri_resources_cpu_realtime_runtime(resources, &number);
    to->realtime_runtime = optional_int64(reading, present, number);
    present = nri_resources_cpu_realtime_period(resources, &natural);
    to->realtime_period = optional_uint64(reading, present, natural);
    present = nri_resources_cpuset_cpus(resources, &text);
    MODEL_PROMISE(reading, present == (nri_text_length(text) > 0));
    to->cpus = model_read_text(reading, text);
    present = nri_resources_cpuset_mems(resources, &text);
    MODEL_PROMISE(reading, present == (nri_text_length(text) > 0));
    to->mems = model_read_text(reading, text);
    return to;
}

static MODEL(LinuxDeviceCgroup) *
    read_device_rule(struct model_reading *reading, const nri_device_rule *rule)
{
    MODEL(LinuxDeviceCgroup) *to =
        model_read_new(reading, &nri__pkg__api__v1alpha1__linux_device_cgroup__descriptor);
    int64_t number;
    bool present = nri_device_rule_major(rule, &number);
    to->allow = nri_device_rule_allow(rule);
    to->type = model_read_text(reading, nri_device_rule_type(rule));
    to->major = optional_int64(reading, present, number);
    present = nri_device_rule_minor(rule, &number);
    to->minor = optional_int64(reading, present, number);
    to->access = model_read_text(reading, nri_device_rule_access(rule));
    return to;
}

static void read_hugepages(struct model_reading *reading, const nri_resources *resources,
                           MODEL(LinuxResources) * to)
{
    const char *page_size;
    uint64_t found;
    to->n_hugepage_limits = nri_resources_hugepage_limit_count(resources);
    to->hugepage_limits = model_read_array(reading, to->n_hugepage_limits, sizeof(void *));
    for (size_t i = 0; i < to->n_hugepage_limits; i++) {
        MODEL(HugepageLimit) *limit =
            model_read_new(reading, &nri__pkg__api__v1alpha1__hugepage_limit__descriptor);
        MODEL_PROMISE(reading,
                      nri_resources_hugepage_limit_at(resources, i, &page_size, &limit->limit));
        limit->page_size = model_read_text(reading, page_size);
        MODEL_PROMISE(reading, !model_read_is_plain(page_size) ||
                                   nri_resources_hugepage_limit(resources, page_size, &found));
        to->hugepage_limits[i] = limit;
    }
    MODEL_PROMISE(reading, !nri_resources_hugepage_limit_at(resources, to->n_hugepage_limits,
                                                            &page_size, &found));
}

MODEL(LinuxResources) *
    model_read_resources(struct model_reading *reading, const nri_resources *resources)
{
    const char *text;
    int64_t limit;
    if (!nri_resources_is_present(resources))
        return NULL;
    MODEL(LinuxResources) *to =
        model_read_new(reading, &nri__pkg__api__v1alpha1__linux_resources__descriptor);
    to->memory = read_memory(reading, resources);
    to->cpu = read_cpu(reading, resources);
    read_hugepages(reading, resources, to);
    bool present = nri_resources_blockio_class(resources, &text);
    to->blockio_class = optional_text(reading, present, text);
    present = nri_resources_rdt_class(resources, &text);
    to->rdt_class = optional_text(reading, present, text);
    MODEL_READ_PAIRS(reading, to, unified,
                     &nri__pkg__api__v1alpha1__linux_resources__unified_entry__descriptor,
                     nri_resources_unified, resources);
    to->n_devices = nri_resources_device_rule_count(resources);
    to->devices = model_read_array(reading, to->n_devices, sizeof(void *));
    for (size_t i = 0; i < to->n_devices; i++)
        to->devices[i] = read_device_rule(reading, nri_resources_device_rule_at(resources, i));
    MODEL_PROMISE(reading, nri_resources_device_rule_at(resources, to->n_devices) != NULL);
    if (nri_resources_pids_limit(resources, &limit)) {
        to->pids = model_read_new(reading, &nri__pkg__api__v1alpha1__linux_pids__descriptor);
        to->pids->limit = limit;
    }
    return to;
}
