/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_outstanding MODE COUNT: so many events under way at once, each of a container of its own,
 * while a plugin does not answer.
 *
 * MODE is what it does not answer: "event", of which it has one at a time; then it goes on, and
 * each event is answered in its turn. "sync", its Synchronize: creations wait for it, and of
 * starts it is told later. "pod": as "event", with all containers in one pod sandbox and an event
 * of that among them.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nri/nri.h>

struct bench {
    nri_runtime *runtime;
    nri_request *held; /* what the plugin does not answer */
    const char *mode;
    size_t called, done, failed;
    bool ready, closed;
};

static int hold(nri_request *request, void *user)
{
    struct bench *bench = user;

    bench->held = request;
    return NRI_PENDING;
}

static int synchronize(nri_request *request, void *user)
{
    const struct bench *bench = user;

    return strcmp(bench->mode, "sync") == 0 ? hold(request, user) : 0;
}

static void release(struct bench *bench)
{
    nri_request *request = bench->held;

    bench->held = NULL;
    if (nri_request_complete(request, 0) != 0)
        bench->failed++;
    nri_request_unref(request);
}

static void on_done(nri_runtime *runtime, nri_outcome *outcome, void *user)
{
    struct bench *bench = user;

    (void)runtime;
    bench->done++;
    bench->failed += nri_outcome_code(outcome) != 0;
}

static void on_ready(nri_runtime *runtime, void *user)
{
    struct bench *bench = user;

    (void)runtime;
    bench->ready = true;
}

static void on_closed(void *user)
{
    struct bench *bench = user;

    bench->closed = true;
}

static bool call(struct bench *bench, size_t number)
{
    const bool one_pod = strcmp(bench->mode, "pod") == 0;
    struct nri_runtime_event event;
    nri_pod *pod = NULL;
    nri_container *container = NULL;
    char id[32];

    nri_runtime_event_init(&event, sizeof event);
    (void)snprintf(id, sizeof id, "%zu", number);
    if (nri_pod_new(&pod, NULL) != 0 || nri_container_new(&container, NULL) != 0 ||
        nri_pod_set_id(pod, one_pod ? "pod" : id) != 0 ||
        nri_container_set_id(container, id) != 0 ||
        nri_container_set_pod_sandbox_id(container, one_pod ? "pod" : id) != 0)
        return false;
    event.event = number % 2 == 0 ? NRI_EVENT_CREATE_CONTAINER : NRI_EVENT_START_CONTAINER;
    event.pod = pod;
    event.container = container;
    if (one_pod && number == 1) {
        event.event = NRI_EVENT_UPDATE_POD_SANDBOX;
        event.container = NULL;
    }
    if (nri_runtime_call(bench->runtime, &event, on_done, bench) != 0)
        return false;
    bench->called++;
    /* Both are for as long as the event: the process ends with them. */
    return true;
}

static bool start(struct bench *bench)
{
    struct nri_runtime_ops ops;
    struct nri_runtime_options options;
    struct nri_plugin_ops plugin;

    nri_runtime_ops_init(&ops, sizeof ops);
    ops.ready = on_ready;
    nri_runtime_options_init(&options, sizeof options);
    options.no_external = options.no_launch = 1;
    options.max_calls = 65536;
    options.request_timeout_ms = 3600000;
    nri_plugin_ops_init(&plugin, sizeof plugin);
    plugin.on_synchronize = synchronize;
    plugin.on_update_pod_sandbox = plugin.on_create_container = plugin.on_start_container = hold;
    return nri_runtime_new(&bench->runtime, &ops, &options, bench, NULL) == 0 &&
           nri_runtime_add_builtin(bench->runtime, &plugin, "stuck", "10", NULL, bench) == 0 &&
           nri_runtime_start(bench->runtime, NULL, NULL, NULL) == 0;
}

/* A turn after each call, as in a runtime that is told one thing after another. */
static bool measure(struct bench *bench, size_t count)
{
    const bool sync = strcmp(bench->mode, "sync") == 0;

    while (sync ? bench->held == NULL : !bench->ready)
        (void)nri_runtime_dispatch(bench->runtime);
    for (size_t i = 0; i < count; i++) {
        if (!call(bench, i))
            return false;
        (void)nri_runtime_dispatch(bench->runtime);
    }
    while (bench->done < bench->called) {
        if (bench->held != NULL)
            release(bench);
        (void)nri_runtime_dispatch(bench->runtime);
    }
    return bench->failed == 0;
}

int main(int argc, char **argv)
{
    struct bench bench = {.mode = argc == 3 ? argv[1] : ""};
    char *end;
    const size_t count = argc == 3 ? strtoul(argv[2], &end, 10) : 0;

    if (count == 0 || !start(&bench) || !measure(&bench, count)) {
        fprintf(stderr, "%zu events called, %zu done, %zu failed\n", bench.called, bench.done,
                bench.failed);
        return 1;
    }
    nri_runtime_close(bench.runtime, on_closed, &bench);
    while (!bench.closed)
        (void)nri_runtime_dispatch(bench.runtime);
    return 0;
}
