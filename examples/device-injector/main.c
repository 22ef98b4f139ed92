/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nri-device-injector: injects into containers what annotations of their pods ask for. The
 * annotations are those of the Go plugin of the same name; README.md here lists them.
 */
#include <nri/app.h>

#include "inject.h"

static int create_container(nri_request *request, void *user)
{
    (void)user;
    return inject_all(request);
}

static int set_verbose(void *user, const char *given, const char **text)
{
    struct nri_plugin_options *plugin = user;
    (void)given;
    (void)text;
    plugin->log_level = NRI_LOG_INFO;
    return 0;
}

int main(int argc, char **argv)
{
    const struct nri_plugin_ops ops = {.size = sizeof ops, .on_create_container = create_container};
    const struct nri_app_flag flags[] = {
        {.name = "verbose",
         .letter = 'v',
         .set = set_verbose,
         .help = "log what is injected, too: --log-level info instead of warn"},
    };
    struct nri_plugin_options plugin = {.size = sizeof plugin, .log_level = NRI_LOG_WARN};
    const struct nri_app_options app = {
        .size = sizeof app,
        .version = nri_version(),
        .summary = "Injects into containers what their pods' annotations ask for: devices, CDI "
                   "devices, mounts, network devices,\n"
                   "I/O priority, scheduling policy, sysctls, memory policy.",
        .ops = &ops,
        .plugin = &plugin,
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags,
        .flag_size = sizeof *flags,
        .user = &plugin,
    };
    return nri_app_main(argc, argv, &app);
}
