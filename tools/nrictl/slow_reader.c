/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin that answers, but does not get around to reading: libnri's own plugin, and between it
 * and the runtime two pipes, of which that to the plugin lets through so many bytes a second.
 *
 * Happy path: node_add_slow_reader() -> connected -> registered -> events, slowly -> the runtime
 * closes the connection -> all closes. Failure modes: none of its own; whatever ends, ends the
 * other, too.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/socket.h"
#include "node_inside.h"

#define TICK_MS 20
#define ROOM    65536

struct slow_reader {
    struct slow_reader *next;
    struct node *node;
    nri_plugin *plugin;
    uv_pipe_t near, far; /* near the plugin; far is the runtime */
    uv_timer_t timer;
    unsigned open; /* of these three, and the plugin */
    bool closing;
    uint64_t rate;
    uint64_t allowance; /* bytes that may be read now */
    char id[140];
    node_done done;
    void *user;
    uint64_t began;
    char bytes[ROOM];
};

struct write {
    uv_write_t request;
    char *bytes;
};

/* ---- the end ---- */

static void one_closed(struct slow_reader *reader)
{
    struct node *node = reader->node;
    if (--reader->open > 0)
        return;
    free(reader);
    node_one_closed(node);
}

static void handle_closed(uv_handle_t *handle)
{
    one_closed(handle->data);
}

static void plugin_closed(void *user)
{
    one_closed(user);
}

static void answer(struct slow_reader *reader, int code, const char *text)
{
    const struct node_result result = {
        .code = code, .text = text, .done = code == 0, .nanoseconds = uv_hrtime() - reader->began};
    const node_done done = reader->done;
    reader->done = NULL;
    if (done != NULL)
        done(reader->node, &result, reader->user);
}

static void end(struct slow_reader *reader)
{
    struct slow_reader **at = &reader->node->slow_readers;
    if (reader->closing)
        return;
    reader->closing = true;
    while (*at != NULL && *at != reader)
        at = &(*at)->next;
    if (*at != NULL)
        *at = reader->next;
    answer(reader, NRI_E_CLOSED, "the connection ended before the plugin was registered");
    uv_close((uv_handle_t *)&reader->near, handle_closed);
    uv_close((uv_handle_t *)&reader->far, handle_closed);
    uv_close((uv_handle_t *)&reader->timer, handle_closed);
    nri_plugin_close(reader->plugin, plugin_closed, reader);
}

void slow_reader_end_all(struct node *node)
{
    while (node->slow_readers != NULL)
        end(node->slow_readers);
}

/* ---- bytes ---- */

static void written(uv_write_t *request, int status)
{
    struct write *write = request->data;
    (void)status;
    free(write->bytes);
    free(write);
}

static void pass_on(struct slow_reader *reader, uv_pipe_t *to, const char *bytes, size_t count)
{
    struct write *write = malloc(sizeof *write);
    char *copy = malloc(count);
    if (write == NULL || copy == NULL) {
        free(write);
        free(copy);
        end(reader);
        return;
    }
    memcpy(copy, bytes, count);
    write->bytes = copy;
    write->request.data = write;
    const uv_buf_t buffer = uv_buf_init(copy, (unsigned)count);
    if (uv_write(&write->request, (uv_stream_t *)to, &buffer, 1, written) != 0) {
        written(&write->request, 0);
        end(reader);
    }
}

static void near_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    struct slow_reader *reader = handle->data;
    (void)suggested;
    *buffer = uv_buf_init(reader->bytes, ROOM);
}

static void far_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    struct slow_reader *reader = handle->data;
    (void)suggested;
    *buffer =
        uv_buf_init(reader->bytes, (unsigned)(reader->allowance < ROOM ? reader->allowance : ROOM));
}

static void near_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    struct slow_reader *reader = stream->data;
    if (count < 0)
        end(reader);
    else if (count > 0)
        pass_on(reader, &reader->far, buffer->base, (size_t)count);
}

static void far_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    struct slow_reader *reader = stream->data;
    if (count < 0) {
        end(reader);
        return;
    }
    reader->allowance -= (uint64_t)count;
    if (reader->allowance == 0)
        (void)uv_read_stop(stream);
    if (count > 0)
        pass_on(reader, &reader->near, buffer->base, (size_t)count);
}

/* At least a byte a tick, so that it gets on; no saving up for later. */
static void on_tick(uv_timer_t *timer)
{
    struct slow_reader *reader = timer->data;
    const uint64_t share = reader->rate * TICK_MS / 1000;
    reader->allowance = share == 0 ? 1 : share;
    (void)uv_read_start((uv_stream_t *)&reader->far, far_room, far_read);
}

/* ---- the start ---- */

static int pass(nri_request *request, void *user)
{
    (void)request;
    (void)user;
    return 0;
}

static void fill(struct nri_plugin_ops *ops)
{
    nri_plugin_ops_init(ops, sizeof *ops);
    ops->on_run_pod_sandbox = ops->on_update_pod_sandbox = ops->on_post_update_pod_sandbox = pass;
    ops->on_stop_pod_sandbox = ops->on_remove_pod_sandbox = ops->on_create_container = pass;
    ops->on_post_create_container = ops->on_start_container = ops->on_post_start_container = pass;
    ops->on_update_container = ops->on_post_update_container = ops->on_stop_container = pass;
    ops->on_remove_container = ops->on_synchronize = pass;
}

static int make_plugin(struct slow_reader *reader, const char *name, const char *index, int fd)
{
    struct nri_plugin_ops ops;
    struct nri_plugin_options options;
    nri_error *error = NULL;
    fill(&ops);
    nri_plugin_options_init(&options, sizeof options);
    options.name = name;
    options.index = index;
    options.ignore_environment = 1;
    options.use_fd = 1;
    options.fd = fd;
    options.no_slow_warning = 1;
    const int code = nri_plugin_new(&reader->plugin, &ops, &options, reader, &error);
    if (code != 0)
        (void)nri_error_set(&reader->node->error, code, "%s", nri_error_get_text(error));
    nri_error_free(error);
    return code;
}

static void open_handles(struct slow_reader *reader, int near, int far)
{
    struct node *node = reader->node;
    (void)uv_pipe_init(node->loop, &reader->near, 0);
    (void)uv_pipe_init(node->loop, &reader->far, 0);
    (void)uv_timer_init(node->loop, &reader->timer);
    reader->near.data = reader->far.data = reader->timer.data = reader;
    reader->open = 4;
    node->open++;
    reader->next = node->slow_readers;
    node->slow_readers = reader;
    if (uv_pipe_open(&reader->near, near) != 0)
        nri_socket_close(near);
    if (uv_pipe_open(&reader->far, far) != 0)
        nri_socket_close(far);
    (void)uv_read_start((uv_stream_t *)&reader->near, near_room, near_read);
    (void)uv_timer_start(&reader->timer, on_tick, 0, TICK_MS);
}

int node_add_slow_reader(struct node *node, const char *name, const char *index,
                         uint64_t bytes_per_second, node_done done, void *user)
{
    int pair[2] = {-1, -1}, far = -1, code;
    if (node->phase != NODE_READY)
        return nri_error_set(&node->error, NRI_E_STATE, "the runtime is not ready");
    struct slow_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL)
        return nri_error_set(&node->error, NRI_E_NOMEM, "out of memory for a plugin");
    reader->node = node;
    reader->rate = bytes_per_second;
    reader->began = uv_hrtime();
    (void)snprintf(reader->id, sizeof reader->id, "%s-%s", index, name);
    code = nri_socket_connect(node->socket, &far, &node->error);
    if (code == 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        code = nri_error_set(&node->error, NRI_E_IO, "socketpair: %m");
    if (code == 0)
        code = make_plugin(reader, name, index, pair[0]);
    if (code != 0) {
        const int fds[] = {far, pair[0], pair[1]};
        for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
            if (fds[i] >= 0)
                nri_socket_close(fds[i]);
        }
        free(reader);
        return code;
    }
    open_handles(reader, pair[1], far);
    code = nri_plugin_start(reader->plugin, node->loop, NULL, NULL);
    reader->done = code == 0 ? done : NULL;
    reader->user = user;
    if (code != 0)
        end(reader);
    return code;
}

void slow_reader_connected(struct node *node, const nri_runtime_plugin *plugin)
{
    for (struct slow_reader *at = node->slow_readers; at != NULL; at = at->next) {
        if (at->done != NULL && strcmp(at->id, nri_runtime_plugin_id(plugin)) == 0) {
            answer(at, 0, "");
            return;
        }
    }
}
