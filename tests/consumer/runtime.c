/* SPDX-License-Identifier: Apache-2.0 */
/* A container manager of somebody else's in C99 and nothing else, built against an installed libnri
 * by pkg-config alone: a plugin of its own and one over a socketpair adjust a container. With
 * CONSUMER_UV both are on a libuv loop, else on poll(). */
#include <nri/nri.h>

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#ifdef CONSUMER_UV
#include <uv.h>
#endif

struct manager {
    nri_runtime *runtime;
    nri_plugin *guest;
    nri_pod *pod;
    nri_container *container;
    int connected, created, bad;
};

static int complain(struct manager *manager, const char *what, int code, const char *text)
{
    fprintf(stderr, "runtime: %s: %s: %s\n", what, nri_error_name(code), text);
    manager->bad = 1;
    return 1;
}

static int add_builtin(nri_request *request, void *user)
{
    (void)user;
    return nri_adjustment_add_env(nri_request_adjustment(request), "BUILTIN", "1");
}

static int add_guest(nri_request *request, void *user)
{
    nri_adjustment *adjustment = nri_request_adjustment(request);
    (void)user;
    (void)nri_adjustment_add_env(adjustment, "GUEST", "2");
    return nri_adjustment_set_cpu_shares(adjustment, 77);
}

static int enumerate(nri_runtime *runtime, nri_enumeration *list, void *user)
{
    (void)runtime;
    return nri_enumeration_add_pod(list, ((struct manager *)user)->pod);
}

static void check(struct manager *manager, const nri_outcome *outcome)
{
    const char *wanted = "{\"env\":[{\"key\":\"BUILTIN\",\"value\":\"1\"},"
                         "{\"key\":\"GUEST\",\"value\":\"2\"}],"
                         "\"linux\":{\"resources\":{\"cpu\":{\"shares\":77}}}}";
    char *text = NULL;
    if (nri_outcome_code(outcome) != 0)
        complain(manager, "created", nri_outcome_code(outcome), nri_outcome_text(outcome));
    else if (nri_adjustment_to_json(nri_outcome_adjustment(outcome), NULL, &text, NULL, NULL) != 0)
        complain(manager, "nri_adjustment_to_json", NRI_E_NOMEM, "");
    else if (strcmp(text, wanted) != 0)
        complain(manager, "merged", NRI_E_INVALID, text);
    if (strcmp(nri_outcome_owner(outcome, NRI_FIELD_ENV, "BUILTIN"), "10-builtin") != 0 ||
        strcmp(nri_outcome_owner(outcome, NRI_FIELD_CPU_SHARES, NULL), "20-guest") != 0)
        complain(manager, "owners", NRI_E_INVALID, "");
    nri_json_free(text);
}

static void created(nri_runtime *runtime, nri_outcome *outcome, void *user)
{
    struct manager *manager = user;
    manager->created++;
    check(manager, outcome);
    nri_plugin_stop(manager->guest);
    nri_runtime_stop(runtime);
}

static void connected(nri_runtime *runtime, nri_runtime_plugin *plugin, void *user)
{
    struct manager *manager = user;
    struct nri_runtime_event event;
    (void)plugin;
    if (++manager->connected < 2)
        return;
    nri_runtime_event_init(&event, sizeof event);
    event.event = NRI_EVENT_CREATE_CONTAINER;
    event.pod = manager->pod;
    event.container = manager->container;
    if (nri_runtime_call(runtime, &event, created, manager) != 0) {
        complain(manager, "nri_runtime_call", NRI_E_INVALID, "");
        nri_runtime_stop(runtime);
    }
}

static int make_runtime(struct manager *manager)
{
    struct nri_runtime_ops ops;
    struct nri_runtime_options options;
    struct nri_plugin_ops builtin;
    nri_error *error = NULL;
    int code;

    nri_runtime_ops_init(&ops, sizeof ops);
    ops.enumerate = enumerate;
    ops.plugin_connected = connected;
    nri_runtime_options_init(&options, sizeof options);
    options.no_external = 1;
    options.no_launch = 1;
    nri_plugin_ops_init(&builtin, sizeof builtin);
    builtin.on_create_container = add_builtin;
    code = nri_runtime_new(&manager->runtime, &ops, &options, manager, &error);
    if (code == 0)
        code = nri_runtime_add_builtin(manager->runtime, &builtin, "builtin", "10", NULL, NULL);
    if (code != 0)
        complain(manager, "a runtime", code, nri_error_get_text(error));
    nri_error_free(error);
    return code;
}

static int make_guest(struct manager *manager, int fd)
{
    struct nri_plugin_ops ops;
    struct nri_plugin_options options;
    nri_error *error = NULL;
    int code;

    nri_plugin_ops_init(&ops, sizeof ops);
    ops.on_create_container = add_guest;
    nri_plugin_options_init(&options, sizeof options);
    options.name = "guest";
    options.index = "20";
    options.fd = fd;
    options.use_fd = 1;
    code = nri_plugin_new(&manager->guest, &ops, &options, NULL, &error);
    if (code != 0)
        complain(manager, "a plugin", code, nri_error_get_text(error));
    nri_error_free(error);
    return code;
}

static int make_objects(struct manager *manager)
{
    int code = nri_pod_new(&manager->pod, NULL);
    if (code == 0)
        code = nri_container_new(&manager->container, NULL);
    if (code == 0)
        code = nri_pod_set_id(manager->pod, "pod0");
    if (code == 0)
        code = nri_container_set_id(manager->container, "ctr0");
    if (code != 0)
        complain(manager, "a pod sandbox", code, "");
    return code;
}

#ifdef CONSUMER_UV

static void runtime_ended(nri_runtime *runtime, int code, void *user)
{
    *(int *)user = code;
    nri_runtime_close(runtime, NULL, NULL);
}

static void guest_ended(nri_plugin *plugin, int code, void *user)
{
    (void)code;
    (void)user;
    nri_plugin_close(plugin, NULL, NULL);
}

/* Both on a loop that the program has anyway. */
static int serve(nri_runtime *runtime, nri_plugin *guest, int fd)
{
    uv_loop_t loop;
    int ended = NRI_E_STATE, code;

    if (uv_loop_init(&loop) != 0)
        return NRI_E_NOMEM;
    code = nri_runtime_start(runtime, &loop, runtime_ended, &ended);
    if (code == 0)
        code = nri_runtime_attach_fd(runtime, fd);
    if (code == 0)
        code = nri_plugin_start(guest, &loop, guest_ended, NULL);
    if (code != 0)
        return code;
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    return uv_loop_close(&loop) == 0 ? ended : NRI_E_BUSY;
}

#else

/* -1 is no limit. */
static int shorter(int one, int other)
{
    return one < 0 || (other >= 0 && other < one) ? other : one;
}

/* Both driven by poll(). */
static int serve(nri_runtime *runtime, nri_plugin *guest, int fd)
{
    int runs = 1, guest_runs = 1;
    int code = nri_runtime_start(runtime, NULL, NULL, NULL);

    if (code == 0)
        code = nri_runtime_attach_fd(runtime, fd);
    if (code == 0)
        code = nri_plugin_start(guest, NULL, NULL, NULL);
    while (code == 0) {
        struct pollfd fds[2];
        int wait = -1;
        if (runs)
            runs = nri_runtime_dispatch(runtime) == 1;
        if (guest_runs)
            guest_runs = nri_plugin_dispatch(guest) == 1;
        if (!runs && !guest_runs)
            break;
        if (runs)
            wait = shorter(wait, nri_runtime_timeout(runtime));
        if (guest_runs)
            wait = shorter(wait, nri_plugin_timeout(guest));
        memset(fds, 0, sizeof fds);
        fds[0].fd = runs ? nri_runtime_fd(runtime) : -1;
        fds[1].fd = guest_runs ? nri_plugin_fd(guest) : -1;
        fds[0].events = fds[1].events = POLLIN;
        (void)poll(fds, 2, wait);
    }
    nri_plugin_close(guest, NULL, NULL);
    nri_runtime_close(runtime, NULL, NULL);
    return code;
}

#endif

int main(void)
{
    struct manager manager;
    int ends[2], code;

    memset(&manager, 0, sizeof manager);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        perror("runtime: socketpair");
        return 1;
    }
    if (make_objects(&manager) == 0 && make_runtime(&manager) == 0 &&
        make_guest(&manager, ends[0]) == 0) {
        code = serve(manager.runtime, manager.guest, ends[1]);
        if (code != 0)
            complain(&manager, "the loop", code, nri_strerror(code));
    }
    nri_container_free(manager.container);
    nri_pod_free(manager.pod);
    if (manager.bad == 0 && manager.created != 1)
        complain(&manager, "created", NRI_E_STATE, "not once");
    if (manager.bad == 0)
        printf("runtime: libnri %s, %d plugins\n", nri_version(), manager.connected);
    return manager.bad;
}
