/* SPDX-License-Identifier: Apache-2.0 */
/* An OCI runtime configuration (config.json) as a container: which member is which field. */
#include <nri/container_build.h>

#include "model/dup.h"
#include "model/json_reading.h"
#include "model/oci_read.h"

/* An object's table, of the rows of `name`_members. */
#define OBJECT(name)                                                                               \
    static const struct nri_oci_object name = {name##_members,                                     \
                                               sizeof name##_members / sizeof name##_members[0]}

static const struct nri_oci_member hook_members[] = {
    {.key = "path", .field = "path"},
    {.key = "args", .field = "args"},
    {.key = "env", .field = "env"},
    {.key = "timeout", .field = "timeout"},
};
OBJECT(hook);

static const struct nri_oci_member hooks_members[] = {
    {.key = "prestart", .field = "prestart", .object = &hook},
    {.key = "createRuntime", .field = "create_runtime", .object = &hook},
    {.key = "createContainer", .field = "create_container", .object = &hook},
    {.key = "startContainer", .field = "start_container", .object = &hook},
    {.key = "poststart", .field = "poststart", .object = &hook},
    {.key = "poststop", .field = "poststop", .object = &hook},
};
OBJECT(hooks);

static const struct nri_oci_member mount_members[] = {
    {.key = "destination", .field = "destination"},
    {.key = "type", .field = "type"},
    {.key = "source", .field = "source"},
    {.key = "options", .field = "options"},
};
OBJECT(mount);

/* ---- process ---- */

static const struct nri_oci_member user_members[] = {
    {.key = "uid", .field = "uid", .how = NRI_OCI_ALWAYS},
    {.key = "gid", .field = "gid", .how = NRI_OCI_ALWAYS},
    {.key = "additionalGids", .field = "additional_gids"},
};
OBJECT(user);

static const struct nri_oci_member rlimit_members[] = {
    {.key = "type", .field = "type"},
    {.key = "hard", .field = "hard", .how = NRI_OCI_ALWAYS},
    {.key = "soft", .field = "soft", .how = NRI_OCI_ALWAYS},
};
OBJECT(rlimit);

static const struct nri_oci_member io_priority_members[] = {
    {.key = "class", .field = "class"},
    {.key = "priority", .field = "priority", .how = NRI_OCI_ALWAYS},
};
OBJECT(io_priority);

static const struct nri_oci_member scheduler_members[] = {
    {.key = "policy", .field = "policy"},     {.key = "nice", .field = "nice"},
    {.key = "priority", .field = "priority"}, {.key = "flags", .field = "flags"},
    {.key = "runtime", .field = "runtime"},   {.key = "deadline", .field = "deadline"},
    {.key = "period", .field = "period"},
};
OBJECT(scheduler);

/* What NRI has in Container, and what it has in LinuxContainer. */
static const struct nri_oci_member process_members[] = {
    {.key = "args", .field = "args"},
    {.key = "env", .field = "env"},
    {.key = "user", .field = "user", .object = &user},
    {.key = "rlimits", .field = "rlimits", .object = &rlimit},
};
OBJECT(process);

static const struct nri_oci_member process_linux_members[] = {
    {.key = "oomScoreAdj", .field = "oom_score_adj"},
    {.key = "ioPriority", .field = "io_priority", .object = &io_priority},
    {.key = "scheduler", .field = "scheduler", .object = &scheduler},
};
OBJECT(process_linux);

/* ---- linux.resources ---- */

static const struct nri_oci_member memory_members[] = {
    {.key = "limit", .field = "limit"},
    {.key = "reservation", .field = "reservation"},
    {.key = "swap", .field = "swap"},
    {.key = "kernel", .field = "kernel"},
    {.key = "kernelTCP", .field = "kernel_tcp"},
    {.key = "swappiness", .field = "swappiness"},
    {.key = "disableOOMKiller", .field = "disable_oom_killer"},
    {.key = "useHierarchy", .field = "use_hierarchy"},
};
OBJECT(memory);

static const struct nri_oci_member cpu_members[] = {
    {.key = "shares", .field = "shares"},
    {.key = "quota", .field = "quota"},
    {.key = "period", .field = "period"},
    {.key = "realtimeRuntime", .field = "realtime_runtime"},
    {.key = "realtimePeriod", .field = "realtime_period"},
    {.key = "cpus", .field = "cpus"},
    {.key = "mems", .field = "mems"},
};
OBJECT(cpu);

static const struct nri_oci_member hugepage_limit_members[] = {
    {.key = "pageSize", .field = "page_size"},
    {.key = "limit", .field = "limit", .how = NRI_OCI_ALWAYS},
};
OBJECT(hugepage_limit);

static const struct nri_oci_member device_rule_members[] = {
    {.key = "allow", .field = "allow", .how = NRI_OCI_ALWAYS},
    {.key = "type", .field = "type"},
    {.key = "major", .field = "major"},
    {.key = "minor", .field = "minor"},
    {.key = "access", .field = "access"},
};
OBJECT(device_rule);

static const struct nri_oci_member pids_members[] = {
    {.key = "limit", .field = "limit", .how = NRI_OCI_ALWAYS},
};
OBJECT(pids);

static const struct nri_oci_member resources_members[] = {
    {.key = "memory", .field = "memory", .object = &memory},
    {.key = "cpu", .field = "cpu", .object = &cpu},
    {.key = "hugepageLimits", .field = "hugepage_limits", .object = &hugepage_limit},
    {.key = "unified", .field = "unified"},
    {.key = "devices", .field = "devices", .object = &device_rule},
    {.key = "pids", .field = "pids", .object = &pids},
};
OBJECT(resources);

int nri_oci_read_resources(const struct nri_json_source *source, const struct nri_json_place *place,
                           const struct nri_json *value,
                           Nri__Pkg__Api__V1alpha1__LinuxResources *message)
{
    return nri_oci_read(source, place, &resources, value, &message->base);
}

/* ---- linux.seccomp ---- */

static const struct nri_oci_member seccomp_arg_members[] = {
    {.key = "index", .field = "index", .how = NRI_OCI_ALWAYS},
    {.key = "value", .field = "value", .how = NRI_OCI_ALWAYS},
    {.key = "valueTwo", .field = "value_two"},
    {.key = "op", .field = "op"},
};
OBJECT(seccomp_arg);

static const struct nri_oci_member syscall_members[] = {
    {.key = "names", .field = "names"},
    {.key = "action", .field = "action"},
    {.key = "errnoRet", .field = "errno_ret"},
    {.key = "args", .field = "args", .object = &seccomp_arg},
};
OBJECT(syscall);

static const struct nri_oci_member seccomp_members[] = {
    {.key = "defaultAction", .field = "default_action"},
    {.key = "defaultErrnoRet", .field = "default_errno"},
    {.key = "architectures", .field = "architectures"},
    {.key = "flags", .field = "flags"},
    {.key = "listenerPath", .field = "listener_path"},
    {.key = "listenerMetadata", .field = "listener_metadata"},
    {.key = "syscalls", .field = "syscalls", .object = &syscall},
};
OBJECT(seccomp);

/* ---- linux ---- */

static const struct nri_oci_member namespace_members[] = {
    {.key = "type", .field = "type"},
    {.key = "path", .field = "path"},
};
OBJECT(namespace);

static const struct nri_oci_member device_members[] = {
    {.key = "path", .field = "path"},
    {.key = "type", .field = "type"},
    {.key = "major", .field = "major", .how = NRI_OCI_ALWAYS},
    {.key = "minor", .field = "minor", .how = NRI_OCI_ALWAYS},
    {.key = "fileMode", .field = "file_mode"},
    {.key = "uid", .field = "uid"},
    {.key = "gid", .field = "gid"},
};
OBJECT(device);

static const struct nri_oci_member net_device_members[] = {
    {.key = "name", .field = "name"},
};
OBJECT(net_device);

/* A runtime writes the lines of the two older members first, those of the cache before those of the
 * bandwidth; each is put in front of what is there. */
static const struct nri_oci_member rdt_members[] = {
    {.key = "closID", .field = "clos_id"},
    {.key = "enableMonitoring", .field = "enable_monitoring"},
    {.key = "schemata", .field = "schemata"},
    {.key = "memBwSchema", .field = "schemata", .how = NRI_OCI_LINES},
    {.key = "l3CacheSchema", .field = "schemata", .how = NRI_OCI_LINES},
};
OBJECT(rdt);

static const struct nri_oci_member linux_part_members[] = {
    {.key = "namespaces", .field = "namespaces", .object = &namespace},
    {.key = "devices", .field = "devices", .object = &device},
    {.key = "resources", .field = "resources", .object = &resources},
    {.key = "cgroupsPath", .field = "cgroups_path"},
    {.key = "seccomp", .field = "seccomp_policy", .object = &seccomp},
    {.key = "sysctl", .field = "sysctl"},
    {.key = "netDevices", .field = "net_devices", .object = &net_device},
    {.key = "intelRdt", .field = "rdt", .object = &rdt},
};
OBJECT(linux_part);

static const struct nri_oci_member config_members[] = {
    {.key = "process", .object = &process},
    {.key = "process", .field = "linux", .object = &process_linux, .how = NRI_OCI_PART},
    {.key = "mounts", .field = "mounts", .object = &mount},
    {.key = "hooks", .field = "hooks", .object = &hooks},
    {.key = "annotations", .field = "annotations"},
    {.key = "linux", .field = "linux", .object = &linux_part},
};
const struct nri_oci_object nri_oci_config = {config_members,
                                              sizeof config_members / sizeof config_members[0]};

/* ---- reading ---- */

static int read_config(struct nri_json_reading *reading, const char *json, size_t length,
                       nri_container **container)
{
    Nri__Pkg__Api__V1alpha1__Container message = NRI__PKG__API__V1ALPHA1__CONTAINER__INIT;
    const struct nri_json_limits limits = nri_json_settings_limits(&reading->settings);
    struct nri_json *document;
    int code = nri_json_parse(&reading->arena, json, length, &limits, reading->source.name,
                              &document, &reading->error);
    if (code == 0)
        code = nri_oci_read(&reading->source, NULL, &nri_oci_config, document, &message.base);
    if (code != 0)
        return code;
    return nri_container_dup_with(nri_container_view(&message), &reading->settings.alloc,
                                  container);
}

int nri_container_from_oci(const char *json, size_t length, const struct nri_json_options *options,
                           nri_container **container, nri_error **error)
{
    struct nri_json_reading reading;
    int code = nri_json_reading_begin(&reading, options);
    if (container != NULL)
        *container = NULL;
    else if (code == 0)
        code = nri_error_set(&reading.error, NRI_E_INVALID, "container: must not be NULL");
    if (code == 0 && json == NULL && length > 0)
        code = nri_error_set(&reading.error, NRI_E_INVALID, "json: must not be NULL");
    if (code == 0)
        code = read_config(&reading, json, length, container);
    return nri_json_reading_end(&reading, code, error);
}
