/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stddef.h>

#include "cgroup.h"
#include "keeper.h"

static const char *const unsatisfied[] = {"refuse", "share", NULL};

#define AT(member) offsetof(struct config, member)

const struct nri_app_field config_fields[] = {
    {.name = "reserved-cpus",
     .type = NRI_APP_CPUS,
     .offset = AT(reserved),
     .fixed = 1,
     .help = "CPUs that no container is given"},
    {.name = "minimum-shared",
     .type = NRI_APP_INTEGER,
     .offset = AT(minimum_shared),
     .standard = "1",
     .minimum = "1",
     .maximum = "16384",
     .help = "how many CPUs stay shared, whatever containers ask for"},
    {.name = "by-limit",
     .type = NRI_APP_BOOL,
     .offset = AT(by_limit),
     .help = "a CPU limit that is a whole number asks for as many exclusive CPUs"},
    {.name = "unsatisfied",
     .type = NRI_APP_CHOICE,
     .offset = AT(unsatisfied),
     .choices = unsatisfied,
     .standard = "refuse",
     .help = "what a container gets whose exclusive CPUs cannot be had"},
    {.name = "pin-memory",
     .type = NRI_APP_BOOL,
     .offset = AT(pin_memory),
     .help = "exclusive containers get memory of their CPUs' NUMA nodes alone"},
    {.name = "confirm-timeout",
     .type = NRI_APP_DURATION,
     .offset = AT(confirm_timeout),
     .standard = "2m",
     .minimum = "1s",
     .help = "how long a container that is being created holds its CPUs"},
    {.name = "audit-interval",
     .type = NRI_APP_DURATION,
     .offset = AT(audit_interval),
     .standard = "30s",
     .minimum = "0s",
     .maximum = "24h",
     .help = "how often the cgroups are looked at; 0s: never"},
};
const size_t config_field_count = sizeof config_fields / sizeof config_fields[0];

static int set_sysfs(void *user, const char *value, const char **text)
{
    struct keeper *keeper = user;
    (void)text;
    keeper->flags.sysfs = value;
    return 0;
}

static int set_cgroup_root(void *user, const char *value, const char **text)
{
    struct keeper *keeper = user;
    (void)text;
    keeper->flags.cgroup_root = value;
    return 0;
}

static int set_checkpoint(void *user, const char *value, const char **text)
{
    struct keeper *keeper = user;
    *text = "must be the path of a file";
    if (value[0] == '\0')
        return -1;
    keeper->flags.checkpoint = value;
    return 0;
}

static int set_dry_run(void *user, const char *value, const char **text)
{
    struct keeper *keeper = user;
    (void)value, (void)text;
    keeper->flags.dry_run = true;
    return 0;
}

const struct nri_app_flag config_flags[] = {
    {.name = "checkpoint",
     .argument = "FILE",
     .set = set_checkpoint,
     .help = "where it is kept who has which CPUs (default: $STATE_DIRECTORY/checkpoint, else "
             "none)"},
    {.name = "cgroup-root",
     .argument = "PATH",
     .set = set_cgroup_root,
     .help = "where the cgroup file systems are (default " CGROUP_DEFAULT_ROOT ")"},
    {.name = "sysfs",
     .argument = "PATH",
     .set = set_sysfs,
     .help = "a tree to take for sysfs (default " TOPOLOGY_DEFAULT_SYSFS ")"},
    {.name = "dry-run", .set = set_dry_run, .help = "say what would be done, and change nothing"},
};
const size_t config_flag_count = sizeof config_flags / sizeof config_flags[0];
