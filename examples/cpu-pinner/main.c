/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nri-cpu-pinner: gives containers CPUs of their own, and keeps all others off these. README.md
 * here says how it is used.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "audit.h"
#include "cgroup.h"
#include "events.h"
#include "keeper.h"
#include "metrics.h"

static int check_config(const void *candidate, void *user)
{
    char text[POOL_TEXT];
    return keeper_check(user, candidate, text) == 0 ? 0 : nri_app_refuse(text);
}

static int prepare(struct nri_plugin_options *options, void *user)
{
    struct keeper *keeper = user;
    if (keeper_init(keeper) != 0) {
        keeper_fini(keeper);
        return NRI_E_IO;
    }
    options->state = keeper->state;
    return 0;
}

static int start(nri_plugin *plugin, void *user)
{
    struct keeper *keeper = user;
    keeper->plugin = plugin;
    /* Nothing is told in a dry run, so that every cgroup would be wrong. */
    return keeper->flags.dry_run || audit_start(keeper) == 0 ? 0 : NRI_E_IO;
}

static void stop(void *user)
{
    struct keeper *keeper = user;
    audit_stop(keeper);
    keeper_fini(keeper);
}

static void reload(nri_plugin *plugin, void *user)
{
    (void)plugin;
    keeper_configure(user);
}

static char *metrics(void *user)
{
    return metrics_text(user);
}

/* systemd's directory for what outlives a run, as the unit's StateDirectory= names it. */
static const char *find_checkpoint(char *path, size_t size)
{
    const char *directory = getenv("STATE_DIRECTORY");
    if (directory == NULL || directory[0] != '/')
        return NULL;
    const int length = snprintf(path, size, "%s/checkpoint", directory);
    return length > 0 && (size_t)length < size ? path : NULL;
}

int main(int argc, char **argv)
{
    char path[PATH_MAX];
    struct keeper keeper = {.flags = {.sysfs = TOPOLOGY_DEFAULT_SYSFS,
                                      .cgroup_root = CGROUP_DEFAULT_ROOT,
                                      .checkpoint = find_checkpoint(path, sizeof path)}};
    /* A container that went on without the CPUs that it asks for would be worse than none. */
    const struct nri_plugin_options plugin = {
        .size = sizeof plugin, .refuse_late_events = NRI_EVENT_BIT(NRI_EVENT_CREATE_CONTAINER)};
    const struct nri_app_options app = {
        .size = sizeof app,
        .name = "cpu-pinner",
        .index = "20",
        .version = nri_version(),
        .summary = "gives containers CPUs of their own, and keeps all others off these",
        .ops = &events_ops,
        .plugin = &plugin,
        .fields = config_fields,
        .field_count = config_field_count,
        .field_size = sizeof config_fields[0],
        .config = &keeper.config,
        .config_size = sizeof keeper.config,
        .check_config = check_config,
        .on_reload = reload,
        .on_prepare = prepare,
        .on_start = start,
        .on_stop = stop,
        .flags = config_flags,
        .flag_count = config_flag_count,
        .flag_size = sizeof config_flags[0],
        .metrics = metrics,
        .user = &keeper,
    };
    return nri_app_main(argc, argv, &app);
}
