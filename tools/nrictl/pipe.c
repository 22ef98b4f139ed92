/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Happy path: an end is readable and its flow empty: bytes are read, told, sent. What the other end
 * does not take stays in the flow, whose end is not read before it is gone. EOF comes through as a
 * half-close behind all bytes. Failure modes: a receiver is gone (its sender is shut, so that it
 * sees what it would have seen), a socket fails (both are closed).
 */
#include "pipe.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/socket.h"

static void handle_closed(uv_handle_t *handle)
{
    struct pipe_end *end = handle->data;
    struct pipe *pipe = end->pipe;
    nri_socket_close(end->fd);
    if (--pipe->open == 0)
        pipe->gone(pipe);
}

void pipe_end(struct pipe *pipe, const char *why)
{
    if (pipe->over)
        return;
    pipe->over = true;
    (void)snprintf(pipe->why, sizeof pipe->why, "%s", why);
    for (size_t i = 0; i < 2; i++)
        uv_close((uv_handle_t *)&pipe->ends[i].poll, handle_closed);
}

static bool is_empty(const struct pipe_flow *flow)
{
    return flow->start == flow->end;
}

/* ---- what is read and written ---- */

static void tell_closed(struct pipe_flow *flow)
{
    const struct pipe *pipe = flow->from->pipe;
    if (flow->ended)
        return;
    flow->ended = true;
    if (pipe->watch->closed != NULL)
        pipe->watch->closed(pipe->user, pipe->number, flow->direction);
}

/* The receiver is gone: the sender's next write fails, as without a proxy. */
static void give_up(struct pipe_flow *flow)
{
    (void)shutdown(flow->from->fd, SHUT_RD);
    flow->start = flow->end = 0;
    flow->ended = true;
    flow->done = true;
}

/* What its sender sent before it could know is recorded still. */
static void drain(struct pipe *pipe, struct pipe_flow *flow)
{
    struct nri_error error;
    size_t moved;
    for (int i = 0; i < 64 && is_empty(flow) && !flow->ended; i++) {
        if (nri_socket_receive(flow->from->fd, flow->bytes, PIPE_ROOM, &moved, &error) !=
            NRI_SOCKET_MOVED)
            break;
        if (pipe->watch->bytes != NULL)
            pipe->watch->bytes(pipe->user, pipe->number, flow->direction, flow->bytes, moved);
    }
    give_up(flow);
}

/* Whether an end that sends no more does not read either: closed, not half-closed. */
static bool is_gone(const struct pipe_end *end)
{
    struct pollfd look = {.fd = end->fd};
    return poll(&look, 1, 0) > 0 && (look.revents & POLLHUP) != 0;
}

static void flush(struct pipe *pipe, struct pipe_flow *flow)
{
    struct nri_error error;
    size_t moved;
    while (!is_empty(flow)) {
        switch (nri_socket_send(flow->to->fd, flow->bytes + flow->start, flow->end - flow->start,
                                &moved, &error)) {
        case NRI_SOCKET_MOVED:
            flow->start += moved;
            break;
        case NRI_SOCKET_AGAIN:
            return;
        case NRI_SOCKET_ENDED:
            give_up(flow);
            return;
        default:
            pipe_end(pipe, error.text);
            return;
        }
    }
    flow->start = flow->end = 0;
    if (flow->ended && !flow->done) {
        (void)shutdown(flow->to->fd, SHUT_WR);
        flow->done = true;
    }
}

static void fill(struct pipe *pipe, struct pipe_flow *flow)
{
    struct nri_error error;
    size_t moved;
    switch (nri_socket_receive(flow->from->fd, flow->bytes, PIPE_ROOM, &moved, &error)) {
    case NRI_SOCKET_MOVED:
        flow->end = moved;
        /* On its way before it is told: recording costs no time of the message's. */
        flush(pipe, flow);
        if (pipe->watch->bytes != NULL && !pipe->over)
            pipe->watch->bytes(pipe->user, pipe->number, flow->direction, flow->bytes, moved);
        break;
    case NRI_SOCKET_AGAIN:
        break;
    case NRI_SOCKET_ENDED:
        tell_closed(flow);
        flush(pipe, flow);
        break;
    default:
        pipe_end(pipe, error.text);
        break;
    }
}

/* ---- turns ---- */

static void turn(uv_poll_t *poll, int status, int events);

/* The flow that an end is the source of, and the one that goes to it. */
static struct pipe_flow *from(struct pipe_end *end)
{
    struct pipe *pipe = end->pipe;
    return end == &pipe->ends[0] ? &pipe->flows[0] : &pipe->flows[1];
}

static struct pipe_flow *to(struct pipe_end *end)
{
    struct pipe *pipe = end->pipe;
    return end == &pipe->ends[0] ? &pipe->flows[1] : &pipe->flows[0];
}

static void watch_end(struct pipe_end *end)
{
    const struct pipe_flow *out = from(end), *in = to(end);
    const int events = (is_empty(out) && !out->ended ? UV_READABLE : 0) |
                       (!is_empty(in) && !in->done ? UV_WRITABLE : 0);
    if (events == end->events)
        return;
    end->events = events;
    const int code =
        events != 0 ? uv_poll_start(&end->poll, events, turn) : uv_poll_stop(&end->poll);
    if (code != 0)
        pipe_end(end->pipe, uv_strerror(code));
}

static void settle(struct pipe *pipe)
{
    for (size_t i = 0; i < 2 && !pipe->over; i++) {
        struct pipe_flow *flow = &pipe->flows[i];
        /* Who sends no more and does not read any more takes nothing of the other flow. */
        if (flow->ended && !to(flow->from)->done && is_gone(flow->from))
            drain(pipe, to(flow->from));
    }
    if (pipe->flows[0].done && pipe->flows[1].done)
        pipe_end(pipe, "");
    for (size_t i = 0; i < 2 && !pipe->over; i++)
        watch_end(&pipe->ends[i]);
}

static void turn(uv_poll_t *poll, int status, int events)
{
    struct pipe_end *end = poll->data;
    struct pipe *pipe = end->pipe;
    (void)status; /* reading and writing say what is wrong */
    if (status < 0)
        events = end->events;
    if ((events & UV_WRITABLE) != 0)
        flush(pipe, to(end));
    if (!pipe->over && (events & UV_READABLE) != 0 && is_empty(from(end)) && !from(end)->ended)
        fill(pipe, from(end));
    if (!pipe->over)
        settle(pipe);
}

/* ---- beginning ---- */

static void abandoned(uv_handle_t *handle)
{
    const struct pipe_end *end = handle->data;
    pipe_free(end->pipe);
}

static int abandon(struct pipe *pipe, int number, struct nri_error *error)
{
    /* What is libuv's goes with a turn of the loop. */
    if (pipe->open > 0)
        uv_close((uv_handle_t *)&pipe->ends[0].poll, abandoned);
    else
        pipe_free(pipe);
    return nri_error_set(error, number == UV_ENOMEM ? NRI_E_NOMEM : NRI_E_IO, "a connection: %s",
                         uv_strerror(number));
}

int pipe_start(struct pipe *pipe, uv_loop_t *loop, int plugin, int runtime, struct nri_error *error)
{
    const int fds[2] = {plugin, runtime};
    for (size_t i = 0; i < 2; i++) {
        struct pipe_flow *flow = &pipe->flows[i];
        flow->direction = i == 0 ? RECORDING_TO_RUNTIME : RECORDING_TO_PLUGIN;
        flow->from = &pipe->ends[i];
        flow->to = &pipe->ends[1 - i];
        pipe->ends[i].pipe = pipe;
        pipe->ends[i].poll.data = &pipe->ends[i];
        if ((flow->bytes = malloc(PIPE_ROOM)) == NULL)
            return abandon(pipe, UV_ENOMEM, error);
    }
    for (size_t i = 0; i < 2; i++) {
        const int code = uv_poll_init(loop, &pipe->ends[i].poll, fds[i]);
        if (code != 0)
            return abandon(pipe, code, error);
        pipe->open++;
        pipe->ends[i].fd = fds[i];
    }
    for (size_t i = 0; i < 2 && !pipe->over; i++)
        watch_end(&pipe->ends[i]);
    return 0;
}

void pipe_free(struct pipe *pipe)
{
    for (size_t i = 0; i < 2; i++)
        free(pipe->flows[i].bytes);
    free(pipe);
}

void pipe_peer(int fd, int64_t pid, struct proxy_peer *peer)
{
    struct nri_socket_peer found;
    char path[64], name[64] = "";
    *peer = (struct proxy_peer){.pid = -1, .uid = -1};
    if (nri_socket_peer(fd, &found, NULL) != 0)
        return;
    peer->pid = pid >= 0 ? pid : found.pid;
    peer->uid = found.uid;
    if (peer->pid <= 0)
        return;
    (void)snprintf(path, sizeof path, "/proc/%lld/exe", (long long)peer->pid);
    const ssize_t length = readlink(path, peer->program, sizeof peer->program - 1);
    if (length > 0) {
        peer->program[length] = '\0';
        return;
    }
    (void)snprintf(path, sizeof path, "/proc/%lld/comm", (long long)peer->pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    if (fgets(name, sizeof name, file) != NULL && name[0] != '\0') {
        name[strcspn(name, "\n")] = '\0';
        (void)snprintf(peer->program, sizeof peer->program, "[%s]", name);
    }
    (void)fclose(file);
}
