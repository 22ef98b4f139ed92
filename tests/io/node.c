/* SPDX-License-Identifier: Apache-2.0 */
#include "node.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

uint64_t node_now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int count_fds(void)
{
    DIR *directory = opendir("/proc/self/fd");
    int count = 0;
    if (directory == NULL)
        return -1;
    while (readdir(directory) != NULL)
        count++;
    (void)closedir(directory);
    return count;
}

/* ---- operations ---- */

static int on_enumerate(nri_runtime *runtime, nri_enumeration *list, void *user)
{
    struct node *node = user;
    nri_pod *pod;
    nri_container *container;
    (void)runtime;
    node->enumerated++;
    if (node->on_enumerate != NULL)
        node->on_enumerate(node);
    int rc = nri_pod_new(&pod, &node->allocator);
    if (rc != 0)
        return rc;
    if ((rc = nri_pod_set_id(pod, "pod")) == 0)
        rc = nri_enumeration_add_pod(list, pod);
    nri_pod_free(pod);
    if (rc != 0 || (rc = nri_container_new(&container, &node->allocator)) != 0)
        return rc;
    if ((rc = nri_container_set_id(container, "old")) == 0 &&
        (rc = nri_container_set_pod_sandbox_id(container, "pod")) == 0)
        rc = nri_enumeration_add_container(list, container);
    nri_container_free(container);
    return rc;
}

static void on_connected(nri_runtime *runtime, nri_runtime_plugin *plugin, void *user)
{
    struct node *node = user;
    (void)runtime;
    node->connected++;
    node->pid = nri_runtime_plugin_pid(plugin);
    node->origin = nri_runtime_plugin_origin(plugin);
    if (node->origin == NRI_ORIGIN_LAUNCHED && access(node->socket, F_OK) == 0)
        node->early++;
    size_t length = strlen(node->order);
    (void)snprintf(node->order + length, sizeof node->order - length, "%s ",
                   nri_runtime_plugin_id(plugin));
}

static void on_lost(nri_runtime *runtime, nri_runtime_plugin *plugin, int code, const char *text,
                    void *user)
{
    struct node *node = user;
    (void)runtime;
    (void)plugin;
    node->lost++;
    node->lost_code = code;
    (void)snprintf(node->lost_text, sizeof node->lost_text, "%s", text);
    if (node->on_lost != NULL)
        node->on_lost(node);
}

static void on_audit(nri_runtime *runtime, nri_outcome *outcome, void *user)
{
    struct node *node = user;
    (void)runtime;
    (void)outcome;
    node->audited++;
}

static int on_update(nri_runtime *runtime, nri_runtime_update *update, void *user)
{
    struct node *node = user;
    (void)runtime;
    node->updates++;
    node->update = update;
    return node->on_update != NULL ? node->on_update(node) : NRI_PENDING;
}

static void on_ready(nri_runtime *runtime, void *user)
{
    struct node *node = user;
    (void)runtime;
    node->ready++;
    if (node->on_ready != NULL)
        node->on_ready(node);
}

static void on_ended(nri_runtime *runtime, int code, void *user)
{
    struct node *node = user;
    (void)runtime;
    node->ended++;
    node->end_code = code;
}

static void on_closed(void *user)
{
    struct node *node = user;
    node->closed++;
}

static void on_log(void *user, const nri_log_record *record)
{
    struct node *node = user;
    const char *text = nri_log_record_text(record), *plugin = nri_log_record_plugin(record);
    const bool names_one = strncmp(text, "plugin ", 7) == 0 && isdigit((unsigned char)text[7]);
    node->strangers +=
        names_one && (plugin[0] == '\0' || strncmp(text + 7, plugin, strlen(plugin)) != 0);
    if (node->line_count < NODE_LINES)
        (void)snprintf(node->lines[node->line_count++], sizeof node->lines[0], "%s", text);
}

bool node_logged(const struct node *node, const char *text)
{
    for (int i = 0; i < node->line_count; i++) {
        if (strstr(node->lines[i], text) != NULL)
            return true;
    }
    return false;
}

/* ---- surroundings ---- */

int node_setup(void **state)
{
    struct node *node = calloc(1, sizeof *node);
    if (node == NULL || uv_loop_init(&node->loop) != 0)
        return -1;
    fail_alloc_init(&node->heap, &node->allocator);
    node->fds = count_fds();
    (void)snprintf(node->directory, sizeof node->directory, "/tmp/nri-node-XXXXXX");
    if (mkdtemp(node->directory) == NULL)
        return -1;
    (void)snprintf(node->socket, sizeof node->socket, "%s/run/nri.sock", node->directory);
    (void)snprintf(node->plugins, sizeof node->plugins, "%s/plugins", node->directory);
    (void)snprintf(node->config, sizeof node->config, "%s/conf.d", node->directory);
    if (mkdir(node->plugins, 0700) != 0 || mkdir(node->config, 0700) != 0)
        return -1;
    nri_runtime_options_init(&node->options, sizeof node->options);
    node->options.socket_path = node->socket;
    node->options.plugin_directory = node->plugins;
    node->options.config_directory = node->config;
    node->options.allocator = &node->allocator;
    node->options.log = on_log;
    node->options.log_user = node;
    /* A test that is not about them has time-outs that a busy machine does not reach. */
    node->options.registration_timeout_ms = 10 * NODE_PATIENCE_MS;
    node->options.request_timeout_ms = 10 * NODE_PATIENCE_MS;
    *state = node;
    return 0;
}

static void empty(const char *path)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            char name[512];
            (void)snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
            struct stat status;
            if (lstat(name, &status) == 0 && S_ISDIR(status.st_mode))
                empty(name);
            else
                (void)unlink(name);
        }
    }
    if (directory != NULL)
        (void)closedir(directory);
    (void)rmdir(path);
}

int node_teardown(void **state)
{
    struct node *node = *state;
    const bool socket = access(node->socket, F_OK) == 0;
    const bool child = waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD;
    const int fds = count_fds();
    const bool busy = uv_loop_close(&node->loop) != 0;
    const bool clean = fds == node->fds && node->heap.live_blocks == 0 && !child && !busy &&
                       !socket && node->strangers == 0;
    if (!clean) {
        print_error("%d descriptors open, %d before; %zu blocks live; child left: %d; loop busy: "
                    "%d; socket left: %d; records about no plugin: %d\n",
                    fds, node->fds, (size_t)node->heap.live_blocks, child, busy, socket,
                    node->strangers);
        for (int i = 0; i < node->line_count; i++)
            print_error("  %s\n", node->lines[i]);
    }
    empty(node->directory);
    free(node);
    return clean ? 0 : -1;
}

/* ---- its life ---- */

int node_new(struct node *node)
{
    struct nri_runtime_ops ops;
    nri_error *error = NULL;
    nri_runtime_ops_init(&ops, sizeof ops);
    ops.enumerate = on_enumerate;
    ops.plugin_connected = on_connected;
    ops.plugin_lost = on_lost;
    ops.update = on_update;
    ops.audit = on_audit;
    ops.ready = on_ready;
    int rc = nri_runtime_new(&node->runtime, &ops, &node->options, node, &error);
    if (rc != 0)
        assert_int_equal(nri_error_get_code(error), rc);
    nri_error_free(error);
    return rc;
}

int node_begin(struct node *node)
{
    return nri_runtime_start(node->runtime, &node->loop, on_ended, node);
}

void node_start(struct node *node)
{
    assert_int_equal(node_new(node), 0);
    if (node_begin(node) != 0)
        fail_msg("not started: %s", nri_error_get_text(nri_runtime_last_error(node->runtime)));
}

static void on_patience(uv_timer_t *timer)
{
    (void)timer;
}

void node_turn(struct node *node, uint64_t since, const char *what)
{
    uv_timer_t timer;
    if (node_now_ms() - since > NODE_PATIENCE_MS) {
        for (int i = 0; i < node->line_count; i++)
            print_error("  %s\n", node->lines[i]);
        fail_msg("waited too long for: %s", what);
    }
    /* So that a turn ends when nothing comes; unreferenced, it does not count as work. */
    (void)uv_timer_init(&node->loop, &timer);
    (void)uv_timer_start(&timer, on_patience, 50, 0);
    (void)uv_run(&node->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&timer, NULL);
    (void)uv_run(&node->loop, UV_RUN_NOWAIT);
}

void node_wait(struct node *node, const int *counter, int count)
{
    node_wait_for(node, *counter >= count);
}

void node_stop(struct node *node)
{
    nri_runtime_stop(node->runtime);
    node_wait(node, &node->ended, 1);
}

void node_close(struct node *node)
{
    const int before = node->closed;
    nri_runtime_close(node->runtime, on_closed, node);
    node_wait(node, &node->closed, before + 1);
    node->runtime = NULL;
}

/* ---- files ---- */

void node_write(const char *directory, const char *name, const void *text, size_t size,
                unsigned mode)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, size), size);
    assert_int_equal(fchmod(fd, mode), 0);
    (void)close(fd);
}

void node_write_text(const char *directory, const char *name, const char *text, unsigned mode)
{
    node_write(directory, name, text, strlen(text), mode);
}

void node_link(const char *directory, const char *name, const char *target)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    assert_int_equal(symlink(target, path), 0);
}

void node_remove(const char *directory, const char *name)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    assert_int_equal(unlink(path), 0);
}

/* ---- events ---- */

struct call {
    struct node *node;
    nri_pod *pod;
    nri_container *container;
};

static void on_done(nri_runtime *runtime, nri_outcome *outcome, void *user)
{
    struct call *call = user;
    struct node *node = call->node;
    (void)runtime;
    node->called++;
    node->call_code = nri_outcome_code(outcome);
    (void)snprintf(node->call_text, sizeof node->call_text, "%s", nri_outcome_text(outcome));
    nri_pod_free(call->pod);
    nri_container_free(call->container);
    free(call);
}

int node_call(struct node *node, enum nri_event event)
{
    struct call *call = calloc(1, sizeof *call);
    struct nri_runtime_event what;
    assert_non_null(call);
    call->node = node;
    assert_int_equal(nri_pod_new(&call->pod, NULL), 0);
    assert_int_equal(nri_pod_set_id(call->pod, "pod"), 0);
    assert_int_equal(nri_container_new(&call->container, NULL), 0);
    assert_int_equal(nri_container_set_id(call->container, "new"), 0);
    nri_runtime_event_init(&what, sizeof what);
    what.event = (uint32_t)event;
    what.pod = call->pod;
    what.container = call->container;
    int rc = nri_runtime_call(node->runtime, &what, on_done, call);
    if (rc != 0) {
        nri_pod_free(call->pod);
        nri_container_free(call->container);
        free(call);
    }
    return rc;
}

/* ---- plugins ---- */

static int guest_configure(nri_request *request, void *user)
{
    struct guest *guest = user;
    guest->configured++;
    (void)snprintf(guest->config, sizeof guest->config, "%s", nri_request_config(request));
    return 0;
}

static int guest_synchronize(nri_request *request, void *user)
{
    struct guest *guest = user;
    guest->synchronized++;
    guest->pods = (int)nri_request_pod_count(request);
    guest->containers = (int)nri_request_container_count(request);
    return 0;
}

static int guest_create(nri_request *request, void *user)
{
    struct guest *guest = user;
    guest->created++;
    return nri_adjustment_add_env(nri_request_adjustment(request), "GUEST", "here");
}

static int guest_start_container(nri_request *request, void *user)
{
    (void)request;
    (void)user;
    return 0;
}

static int guest_shutdown(nri_request *request, void *user)
{
    struct guest *guest = user;
    (void)request;
    guest->shut_down++;
    return 0;
}

struct nri_plugin_ops guest_ops(void)
{
    struct nri_plugin_ops ops;
    nri_plugin_ops_init(&ops, sizeof ops);
    ops.on_configure = guest_configure;
    ops.on_synchronize = guest_synchronize;
    ops.on_create_container = guest_create;
    ops.on_start_container = guest_start_container;
    ops.on_shutdown = guest_shutdown;
    return ops;
}

static void guest_ended(nri_plugin *plugin, int code, void *user)
{
    struct guest *guest = user;
    (void)plugin;
    guest->ended++;
    guest->end_code = code;
}

static void guest_closed(void *user)
{
    struct guest *guest = user;
    guest->closed++;
}

static void start_guest(struct guest *guest, struct node *node, struct nri_plugin_options *options)
{
    struct nri_plugin_ops ops = guest_ops();
    nri_error *error = NULL;
    options->ignore_environment = 1;
    if (nri_plugin_new(&guest->plugin, &ops, options, guest, &error) != 0)
        fail_msg("nri_plugin_new: %s", nri_error_get_text(error));
    assert_int_equal(nri_plugin_start(guest->plugin, &node->loop, guest_ended, guest), 0);
}

void guest_start(struct guest *guest, struct node *node, const char *index, const char *name)
{
    struct nri_plugin_options options;
    nri_plugin_options_init(&options, sizeof options);
    options.index = index;
    options.name = name;
    options.socket_path = node->socket;
    start_guest(guest, node, &options);
}

int guest_start_fd(struct guest *guest, struct node *node, const char *index, const char *name)
{
    struct nri_plugin_options options;
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    nri_plugin_options_init(&options, sizeof options);
    options.index = index;
    options.name = name;
    options.fd = pair[0];
    options.use_fd = 1;
    start_guest(guest, node, &options);
    return pair[1];
}

void guest_close(struct guest *guest, struct node *node)
{
    nri_plugin_close(guest->plugin, guest_closed, guest);
    node_wait(node, &guest->closed, 1);
}

int node_connect(const struct node *node)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", node->socket);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}
