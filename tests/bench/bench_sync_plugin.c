/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_sync_plugin parts|whole|none|state: a plugin that takes a large Synchronize as its parts
 * come, all at once, not at all, or into a state cache. It refuses one that was not the node of
 * bench_node.h, so that no figure is that of a plugin that saw less.
 */
#include <nri/nri.h>
#include <stdio.h>
#include <string.h>

#include "bench_node.h"

struct seen {
    size_t pods, containers, bytes;
    nri_state *state; /* or NULL */
};

static int judge(nri_request *request, size_t pods, size_t containers)
{
    if (pods == NODE_PODS && containers == NODE_PODS * NODE_CONTAINERS)
        return 0;
    return nri_request_fail(request, NRI_E_INVALID, "not the node that was expected");
}

/* Of each object its name is read. */
static int take(nri_request *request, void *user)
{
    struct seen *seen = user;
    const size_t pods = nri_request_pod_count(request);
    const size_t containers = nri_request_container_count(request);
    for (size_t i = 0; i < pods; i++)
        seen->bytes += strlen(nri_pod_name(nri_request_pod_at(request, i)));
    for (size_t i = 0; i < containers; i++)
        seen->bytes += strlen(nri_container_name(nri_request_container_at(request, i)));
    seen->pods += pods;
    seen->containers += containers;
    return nri_request_more(request) ? 0 : judge(request, seen->pods, seen->containers);
}

static int ask_state(nri_request *request, void *user)
{
    const struct seen *seen = user;
    if (nri_request_more(request))
        return 0;
    return judge(request, nri_state_pod_count(seen->state), nri_state_container_count(seen->state));
}

static int create(nri_request *request, void *user)
{
    (void)request;
    (void)user;
    return 0;
}

int main(int argc, char **argv)
{
    struct seen seen = {0};
    struct nri_plugin_ops ops = {.size = sizeof ops, .on_create_container = create};
    struct nri_plugin_options options = {.size = sizeof options, .name = "sync", .index = "10"};
    const char *mode = argc == 2 ? argv[1] : "";
    nri_plugin *plugin = NULL;
    nri_error *error = NULL;
    int code = 0;
    if (strcmp(mode, "parts") == 0) {
        ops.on_synchronize_part = take;
    } else if (strcmp(mode, "whole") == 0) {
        ops.on_synchronize = take;
    } else if (strcmp(mode, "state") == 0) {
        ops.on_synchronize_part = ask_state;
        code = nri_state_new(&seen.state, NULL, NULL, NULL, &error);
        options.state = seen.state;
    } else if (strcmp(mode, "none") != 0) {
        fputs("usage: bench_sync_plugin parts|whole|none|state\n", stderr);
        return 2;
    }
    if (code == 0)
        code = nri_plugin_new(&plugin, &ops, &options, &seen, &error);
    if (code == 0)
        code = nri_plugin_run(plugin);
    if (error != NULL)
        fprintf(stderr, "bench_sync_plugin: %s\n", nri_error_get_text(error));
    nri_error_free(error);
    nri_plugin_close(plugin, NULL, NULL);
    nri_state_free(seen.state);
    return code == 0 || code == NRI_E_CLOSED ? 0 : 1;
}
