/* SPDX-License-Identifier: Apache-2.0 */
#include "rig.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

uint64_t rig_now(void)
{
    return uv_hrtime() / 1000000;
}

static void on_alarm(uv_timer_t *timer)
{
    (void)timer;
}

/* One turn, which a timer ends when nothing comes. */
void rig_turn(struct rig *rig, uint64_t since, const char *what)
{
    uv_timer_t alarm;
    if (rig_now() - since > RIG_PATIENCE_MS)
        fail_msg("waited in vain for %s", what);
    assert_int_equal(uv_timer_init(&rig->loop, &alarm), 0);
    assert_int_equal(uv_timer_start(&alarm, on_alarm, 1000, 0), 0);
    (void)uv_run(&rig->loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&alarm, NULL);
    (void)uv_run(&rig->loop, UV_RUN_NOWAIT);
}

/* ---- what the node tells ---- */

static void on_ready(struct node *node, void *user)
{
    (void)node;
    ((struct rig *)user)->ready++;
}

static void on_connected(struct node *node, nri_runtime_plugin *plugin, void *user)
{
    struct rig *rig = user;
    (void)node;
    rig->connected++;
    if (rig->shell != NULL)
        shell_connected(rig->shell, plugin);
}

static void on_lost(struct node *node, nri_runtime_plugin *plugin, int code, const char *text,
                    void *user)
{
    struct rig *rig = user;
    (void)node;
    rig->lost++;
    if (rig->shell != NULL)
        shell_lost(rig->shell, plugin, code, text);
}

static void on_outcome(struct node *node, nri_outcome *outcome, void *user)
{
    struct rig *rig = user;
    assert_true(node_event_nanoseconds(node) > 0);
    rig->outcomes++;
    if (rig->load != NULL)
        load_outcome(rig->load, outcome);
}

static void on_updated(struct node *node, const char *plugin, const nri_updates *list,
                       const char *const *failed, size_t failed_count, bool sync, void *user)
{
    struct rig *rig = user;
    (void)node;
    rig->updated++;
    if (rig->shell != NULL)
        shell_updated(rig->shell, plugin, list, failed, failed_count, sync);
    rig->sync = sync;
    rig->failed_ids[0] = '\0';
    for (size_t i = 0; i < failed_count; i++) {
        const size_t used = strlen(rig->failed_ids);
        (void)snprintf(rig->failed_ids + used, sizeof rig->failed_ids - used, "%s%s",
                       i == 0 ? "" : ",", failed[i]);
    }
}

static void on_evicted(struct node *node, const char *container_id, const char *plugin,
                       const char *reason, void *user)
{
    struct rig *rig = user;
    (void)node;
    rig->evicted++;
    (void)snprintf(rig->evicted_id, sizeof rig->evicted_id, "%s", container_id);
    (void)snprintf(rig->evicted_by, sizeof rig->evicted_by, "%s", plugin);
    (void)snprintf(rig->evicted_reason, sizeof rig->evicted_reason, "%s", reason);
    if (rig->shell != NULL)
        shell_evicted(rig->shell, container_id, plugin, reason);
}

static void on_child_ended(struct node *node, struct child *child, int status, void *user)
{
    struct rig *rig = user;
    (void)node;
    rig->child_ended++;
    rig->child_status = status;
    if (rig->shell != NULL)
        shell_child_ended(rig->shell, child, status);
}

static void on_failed(struct node *node, int code, const char *text, void *user)
{
    (void)node;
    (void)code;
    (void)text;
    ((struct rig *)user)->failed++;
}

static void on_closed(void *user)
{
    ((struct rig *)user)->closed++;
}

/* ---- its life ---- */

int rig_setup(void **state)
{
    struct rig *rig = calloc(1, sizeof *rig);
    if (rig == NULL || uv_loop_init(&rig->loop) != 0)
        return -1;
    /* What a busy machine does not reach. */
    rig->options.request_timeout_ms = RIG_PATIENCE_MS;
    rig->options.registration_timeout_ms = RIG_PATIENCE_MS;
    *state = rig;
    return 0;
}

void rig_start(struct rig *rig)
{
    static const struct node_watch watch = {
        .ready = on_ready,
        .connected = on_connected,
        .lost = on_lost,
        .outcome = on_outcome,
        .updated = on_updated,
        .evicted = on_evicted,
        .child_ended = on_child_ended,
        .failed = on_failed,
    };
    nri_error *error = NULL;
    assert_int_equal(node_new(&rig->node, &rig->loop, &rig->options, &watch, rig, &error), 0);
    assert_int_equal(node_start(rig->node), 0);
    rig_wait(rig, rig->ready == 1);
}

void rig_close(struct rig *rig)
{
    char socket[256] = "";
    if (rig->node == NULL)
        return;
    (void)snprintf(socket, sizeof socket, "%s", node_socket(rig->node));
    node_close(rig->node, on_closed, rig);
    rig_wait(rig, rig->closed == 1);
    rig->node = NULL;
    assert_int_not_equal(access(socket, F_OK), 0); /* it is gone, and its directory */
    if (rig->options.socket_path == NULL) {
        *strrchr(socket, '/') = '\0';
        assert_int_not_equal(access(socket, F_OK), 0);
    }
}

int rig_teardown(void **state)
{
    struct rig *rig = *state;
    rig_close(rig);
    (void)uv_run(&rig->loop, UV_RUN_NOWAIT);
    assert_int_equal(uv_loop_close(&rig->loop), 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    free(rig);
    return 0;
}

/* ---- operations ---- */

void deed_done(struct node *node, const struct node_result *result, void *user)
{
    struct deed *deed = user;
    (void)node;
    assert_false(deed->over); /* exactly once */
    deed->over = true;
    deed->code = result->code;
    deed->done = result->done;
    (void)snprintf(deed->text, sizeof deed->text, "%s", result->text);
    deed->events[0] = deed->not_updated[0] = '\0';
    for (size_t i = 0; i < result->outcome_count; i++) {
        const size_t used = strlen(deed->events);
        (void)snprintf(deed->events + used, sizeof deed->events - used, "%s%s", i == 0 ? "" : " ",
                       nri_event_name(nri_outcome_event(result->outcomes[i])));
    }
    for (size_t i = 0; i < result->not_updated_count; i++) {
        const size_t used = strlen(deed->not_updated);
        (void)snprintf(deed->not_updated + used, sizeof deed->not_updated - used, "%s%s",
                       i == 0 ? "" : " ", result->not_updated[i]);
    }
}

void deed_good(struct rig *rig, struct deed *deed)
{
    rig_wait(rig, deed->over);
    assert_string_equal(deed->text, "");
    assert_int_equal(deed->code, 0);
    assert_true(deed->done);
}

void deed_bad(struct rig *rig, struct deed *deed, int code)
{
    rig_wait(rig, deed->over);
    assert_int_equal(deed->code, code);
    assert_string_not_equal(deed->text, "");
}

nri_pod *rig_pod(const char *id)
{
    nri_pod *pod = NULL;
    assert_int_equal(nri_pod_new(&pod, NULL), 0);
    assert_int_equal(nri_pod_set_id(pod, id), 0);
    assert_int_equal(nri_pod_set_name(pod, id), 0);
    assert_int_equal(nri_pod_set_uid(pod, id), 0);
    assert_int_equal(nri_pod_set_namespace(pod, "default"), 0);
    return pod;
}

nri_container *rig_container(const char *id)
{
    nri_container *container = NULL;
    char name[80];
    (void)snprintf(name, sizeof name, "name-%s", id);
    assert_int_equal(nri_container_new(&container, NULL), 0);
    assert_int_equal(nri_container_set_id(container, id), 0);
    assert_int_equal(nri_container_set_name(container, name), 0);
    assert_int_equal(nri_container_set_env(container, "PATH", "/bin"), 0);
    assert_int_equal(nri_resources_set_cpu_shares(nri_container_edit_resources(container), 100), 0);
    return container;
}

void rig_run_pod(struct rig *rig, const char *id)
{
    struct deed deed = {.over = false};
    assert_int_equal(node_run_pod(rig->node, rig_pod(id), deed_done, &deed), 0);
    deed_good(rig, &deed);
}

void rig_run(struct rig *rig, const char *pod, const char *container)
{
    struct deed created = {.over = false}, started = {.over = false};
    if (store_find_pod(node_store(rig->node), pod) == NULL)
        rig_run_pod(rig, pod);
    assert_int_equal(node_create(rig->node, pod, rig_container(container), deed_done, &created), 0);
    assert_int_equal(node_start_container(rig->node, container, deed_done, &started), 0);
    deed_good(rig, &created);
    deed_good(rig, &started);
}

const nri_container *rig_get(struct rig *rig, const char *container)
{
    struct store_container *found = store_find_container(node_store(rig->node), container);
    assert_non_null(found);
    return store_container_get(found);
}

uint64_t rig_shares(const nri_container *container)
{
    uint64_t shares = 0;
    (void)nri_resources_cpu_shares(nri_container_resources(container), &shares);
    return shares;
}

/* ---- plugins ---- */

static int on_event(nri_request *request, void *user)
{
    struct guest *guest = user;
    const enum nri_event event = nri_request_event(request);
    const nri_container *container = nri_request_container(request);
    assert_true(guest->count < RIG_LINES);
    if (nri_container_id(container)[0] != '\0')
        (void)snprintf(guest->lines[guest->count++], sizeof guest->lines[0], "%s %s %s %d",
                       nri_event_name(event), nri_container_id(container),
                       nri_container_state_name(nri_container_get_state(container)),
                       nri_container_exit_code(container));
    else
        (void)snprintf(guest->lines[guest->count++], sizeof guest->lines[0], "%s %s",
                       nri_event_name(event), nri_pod_id(nri_request_pod(request)));
    return guest->act == NULL ? 0 : guest->act(guest, request);
}

static int on_synchronize(nri_request *request, void *user)
{
    struct guest *guest = user;
    guest->synchronized++;
    return guest->act == NULL ? 0 : guest->act(guest, request);
}

static void guest_closed(void *user)
{
    ((struct guest *)user)->closed = true;
}

void guest_start(struct guest *guest, struct rig *rig, const char *index, const char *name)
{
    struct nri_plugin_ops ops;
    const int before = rig->connected;
    nri_plugin_ops_init(&ops, sizeof ops);
    ops.on_run_pod_sandbox = ops.on_update_pod_sandbox = ops.on_post_update_pod_sandbox = on_event;
    ops.on_stop_pod_sandbox = ops.on_remove_pod_sandbox = ops.on_create_container = on_event;
    ops.on_post_create_container = ops.on_start_container = ops.on_post_start_container = on_event;
    ops.on_update_container = ops.on_post_update_container = ops.on_stop_container = on_event;
    ops.on_remove_container = on_event;
    ops.on_synchronize = on_synchronize;
    if (guest->options.size == 0)
        nri_plugin_options_init(&guest->options, sizeof guest->options);
    guest->options.index = index;
    guest->options.name = name;
    guest->options.ignore_environment = 1;
    guest->options.no_deadline_guard = 1;
    guest->options.socket_path = node_socket(rig->node);
    assert_int_equal(nri_plugin_new(&guest->plugin, &ops, &guest->options, guest, NULL), 0);
    assert_int_equal(nri_plugin_start(guest->plugin, &rig->loop, NULL, NULL), 0);
    rig_wait(rig, rig->connected > before);
}

void guest_close(struct guest *guest, struct rig *rig)
{
    nri_plugin_close(guest->plugin, guest_closed, guest);
    rig_wait(rig, guest->closed);
}

int guest_count(const struct guest *guest, const char *begin)
{
    int count = 0;
    for (int i = 0; i < guest->count; i++)
        count += strncmp(guest->lines[i], begin, strlen(begin)) == 0;
    return count;
}

int guest_at(const struct guest *guest, const char *begin)
{
    for (int i = 0; i < guest->count; i++) {
        if (strncmp(guest->lines[i], begin, strlen(begin)) == 0)
            return i;
    }
    return -1;
}
