/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugin that is measured: it answers CreateContainer with an environment variable, an
 * annotation and CPU shares, as a user would write it. The runtime's end is NRI_PLUGIN_SOCKET.
 */
#include <nri/nri.h>
#include <stdio.h>

static int create(nri_request *request, void *user)
{
    (void)user;
    nri_adjustment *adjustment = nri_request_adjustment(request);
    nri_adjustment_add_env(adjustment, "BENCH", nri_pod_name(nri_request_pod(request)));
    nri_adjustment_add_annotation(adjustment, "bench.example/container",
                                  nri_container_name(nri_request_container(request)));
    return nri_adjustment_set_cpu_shares(adjustment, 512);
}

int main(void)
{
    struct nri_plugin_ops ops = {.size = sizeof ops, .on_create_container = create};
    struct nri_plugin_options options = {.size = sizeof options, .name = "bench", .index = "10"};
    nri_plugin *plugin;
    nri_error *error = NULL;
    if (nri_plugin_new(&plugin, &ops, &options, NULL, &error) != 0) {
        fprintf(stderr, "bench_plugin: %s\n", nri_error_get_text(error));
        return 1;
    }
    int code = nri_plugin_run(plugin);
    if (code != 0 && code != NRI_E_CLOSED)
        fprintf(stderr, "bench_plugin: %s\n", nri_error_get_text(nri_plugin_last_error(plugin)));
    nri_plugin_close(plugin, NULL, NULL);
    return code == NRI_E_CLOSED || code == 0 ? 0 : 1;
}
