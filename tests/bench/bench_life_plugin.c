/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_life_plugin loop|worker|state: a plugin with a handler for every event of a pod sandbox and
 * its containers, that counts what libnri allocates: with handlers on the loop, on the library's
 * thread, or on the loop with a state cache. At its end it writes "events N" and "allocations N".
 */
#include <nri/nri.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Handlers may run on another thread. */
static atomic_ulong allocations, events;

static void *allocate(size_t bytes, void *user)
{
    (void)user;
    atomic_fetch_add(&allocations, 1);
    return malloc(bytes);
}

static void *resize(void *block, size_t bytes, void *user)
{
    (void)user;
    atomic_fetch_add(&allocations, 1);
    return realloc(block, bytes);
}

static void release(void *block, void *user)
{
    (void)user;
    free(block);
}

static int see(nri_request *request, void *user)
{
    size_t *bytes = user;
    *bytes += strlen(nri_pod_name(nri_request_pod(request)));
    *bytes += strlen(nri_container_name(nri_request_container(request)));
    atomic_fetch_add(&events, 1);
    return 0;
}

static int create(nri_request *request, void *user)
{
    nri_adjustment *adjustment = nri_request_adjustment(request);
    nri_adjustment_add_env(adjustment, "BENCH", nri_pod_name(nri_request_pod(request)));
    nri_adjustment_add_annotation(adjustment, "bench.example/container",
                                  nri_container_name(nri_request_container(request)));
    nri_adjustment_set_cpu_shares(adjustment, 512);
    return see(request, user);
}

int main(int argc, char **argv)
{
    const struct nri_allocator counting = {
        .size = sizeof counting, .allocate = allocate, .resize = resize, .release = release};
    struct nri_state_options keep = {.size = sizeof keep, .allocator = &counting};
    struct nri_plugin_ops ops = {
        .size = sizeof ops,
        .on_run_pod_sandbox = see,
        .on_stop_pod_sandbox = see,
        .on_remove_pod_sandbox = see,
        .on_create_container = create,
        .on_post_create_container = see,
        .on_start_container = see,
        .on_post_start_container = see,
        .on_update_container = see,
        .on_post_update_container = see,
        .on_stop_container = see,
        .on_remove_container = see,
    };
    struct nri_plugin_options options = {
        .size = sizeof options, .name = "life", .index = "10", .allocator = &counting};
    const char *mode = argc == 2 ? argv[1] : "";
    size_t bytes = 0;
    nri_state *state = NULL;
    nri_plugin *plugin = NULL;
    nri_error *error = NULL;
    int code = 0;
    if (strcmp(mode, "worker") == 0) {
        options.dispatch = NRI_DISPATCH_WORKER;
    } else if (strcmp(mode, "state") == 0) {
        code = nri_state_new(&state, NULL, &keep, NULL, &error);
        options.state = state;
    } else if (strcmp(mode, "loop") != 0) {
        fputs("usage: bench_life_plugin loop|worker|state\n", stderr);
        return 2;
    }
    if (code == 0)
        code = nri_plugin_new(&plugin, &ops, &options, &bytes, &error);
    if (code == 0)
        code = nri_plugin_run(plugin);
    if (error != NULL)
        fprintf(stderr, "bench_life_plugin: %s\n", nri_error_get_text(error));
    nri_error_free(error);
    printf("events %lu\nallocations %lu\n", atomic_load(&events), atomic_load(&allocations));
    nri_plugin_close(plugin, NULL, NULL);
    nri_state_free(state);
    return code == 0 || code == NRI_E_CLOSED ? 0 : 1;
}
