/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One of several plugins in a chain: each creation gets a variable and an annotation that are
 * called after the plugin. tests/interop/chain is the same with the Go stub.
 */
#include <nri/nri.h>
#include <stdio.h>

static int create(nri_request *request, void *user)
{
    nri_adjustment *adjustment = nri_request_adjustment(request);
    const char *name = nri_plugin_name(nri_request_plugin(request));
    (void)user;
    nri_adjustment_add_env(adjustment, name, nri_pod_name(nri_request_pod(request)));
    return nri_adjustment_add_annotation(adjustment, name,
                                         nri_container_name(nri_request_container(request)));
}

int main(void)
{
    struct nri_plugin_ops ops = {.size = sizeof ops, .on_create_container = create};
    nri_plugin *plugin;
    nri_error *error = NULL;
    if (nri_plugin_new(&plugin, &ops, NULL, NULL, &error) != 0) {
        fprintf(stderr, "bench_chain_plugin: %s\n", nri_error_get_text(error));
        return 1;
    }
    int code = nri_plugin_run(plugin);
    nri_plugin_close(plugin, NULL, NULL);
    return code == NRI_E_CLOSED || code == 0 ? 0 : 1;
}
