/* SPDX-License-Identifier: Apache-2.0 */
#include "io/connection.h"

#include <stdio.h>

#include "io/host.h"
#include "io/runtime_handle.h"
#include "io/socket.h"

#define READS_A_TURN  4 /* of NRI_RUNTIME_INPUT: then others get their turn */
#define WRITES_A_TURN 16
#define FLUSH_TIME    (1 * NRI_SEC)

void nri_connection_peer(int fd, int64_t *pid, char peer[NRI_CONNECTION_PEER_SIZE])
{
    struct nri_socket_peer who;
    const bool known = nri_socket_peer(fd, &who, NULL) == 0 && who.pid > 0;
    *pid = known ? who.pid : 0;
    if (known)
        (void)snprintf(peer, NRI_CONNECTION_PEER_SIZE, "of pid %lld", (long long)who.pid);
    else
        (void)snprintf(peer, NRI_CONNECTION_PEER_SIZE, "on descriptor %d", fd);
}

/* ---- libuv ---- */

static void on_socket(uv_poll_t *handle, int status, int events)
{
    struct nri_connection *connection = handle->data;
    /* An error condition of the socket: libuv has stopped polling; recv() says what it is, after
     * what there is to read. */
    if (status < 0)
        connection->interest = 0;
    if (status < 0 || (events & UV_READABLE) != 0)
        connection->readable = true;
    nri_runtime_service(connection->runtime);
}

static void handle_closed(uv_handle_t *handle)
{
    struct nri_connection *connection = handle->data;
    nri_runtime *runtime = connection->runtime;
    nri_alloc_release(&runtime->settings.alloc, connection);
    nri_runtime_handle_closed(runtime);
}

/* ---- the beginning and the end ---- */

static void link_connection(struct nri_connection *connection)
{
    struct nri_connections *all = &connection->runtime->connections;
    connection->next = all->first;
    if (all->first != NULL)
        all->first->previous = connection;
    all->first = connection;
    all->count++;
}

static void unlink_connection(struct nri_connection *connection)
{
    struct nri_connections *all = &connection->runtime->connections;
    if (connection->previous != NULL)
        connection->previous->next = connection->next;
    else
        all->first = connection->next;
    if (connection->next != NULL)
        connection->next->previous = connection->previous;
    all->count--;
}

int nri_connection_open(nri_runtime *runtime, int fd, struct nri_rt_origin *origin,
                        struct nri_child *child, struct nri_error *error)
{
    const struct nri_alloc *alloc = &runtime->settings.alloc;
    struct nri_connection *connection = nri_alloc_zero(alloc, sizeof *connection);
    if (connection == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "out of memory for a connection");
    int status = uv_poll_init(runtime->loop, &connection->poll, fd);
    if (status != 0) {
        nri_alloc_release(alloc, connection);
        return nri_socket_error(error, -status, "polling a plugin's socket");
    }
    runtime->open++;
    connection->poll.data = connection;
    connection->runtime = runtime;
    connection->fd = -1;
    origin->driver = connection;
    int rc = nri_rt_attach(runtime->rt, origin, nri_host_now(), &connection->plugin, error);
    if (rc != 0) {
        uv_close((uv_handle_t *)&connection->poll, handle_closed);
        runtime->changed = true;
        return rc;
    }
    connection->fd = fd;
    connection->child = child;
    link_connection(connection);
    nri_mailbox_ring(&runtime->mailbox);
    return 0;
}

static void end(struct nri_connection *connection, int code, const char *text)
{
    nri_runtime *runtime = connection->runtime;
    const uint64_t now = nri_host_now();
    unlink_connection(connection);
    uv_close((uv_handle_t *)&connection->poll, handle_closed);
    nri_socket_close(connection->fd);
    connection->fd = -1;
    runtime->changed = true;
    if (connection->child != NULL)
        nri_child_disconnected(connection->child, code == 0, now);
    connection->child = NULL;
    nri_rt_ended(connection->plugin, code, text, now);
    connection->plugin = NULL;
}

static void end_closed_by_peer(struct nri_connection *connection)
{
    end(connection, NRI_E_CLOSED,
        nri_rt_in_message(connection->plugin)
            ? "the plugin closed the connection in the middle of a message"
            : "the plugin closed the connection");
}

/* ---- bytes ---- */

/* False: there is no more to be read now, or the connection is gone. */
static bool read_once(struct nri_connection *connection)
{
    nri_runtime *runtime = connection->runtime;
    struct nri_error error;
    size_t moved = 0;
    nri_error_clear(&error);
    switch (nri_socket_receive(connection->fd, runtime->input, NRI_RUNTIME_INPUT, &moved, &error)) {
    case NRI_SOCKET_MOVED:
        break;
    case NRI_SOCKET_AGAIN:
        if (connection->mute)
            end_closed_by_peer(connection);
        return false;
    case NRI_SOCKET_ENDED:
        end_closed_by_peer(connection);
        return false;
    case NRI_SOCKET_FAILED:
        end(connection, error.code, error.text);
        return false;
    }
    if (!nri_rt_should_close(connection->plugin))
        nri_rt_input(connection->plugin, runtime->input, moved, nri_host_now());
    /* A short read has emptied the socket, mostly; when not, it polls readable again. While the
     * peer is gone, its EOF follows. */
    return moved == NRI_RUNTIME_INPUT || connection->mute;
}

void nri_connections_read(nri_runtime *runtime, bool all)
{
    struct nri_connection *next;
    for (struct nri_connection *connection = runtime->connections.first; connection != NULL;
         connection = next) {
        next = connection->next;
        if (!connection->readable && !all)
            continue;
        connection->readable = false;
        for (int i = 0; i < READS_A_TURN && read_once(connection); i++)
            continue;
    }
}

static bool has_output(const struct nri_connection *connection)
{
    const uint8_t *bytes;
    size_t count;
    nri_rt_output(connection->plugin, &bytes, &count);
    return count > 0;
}

/* False: the connection is gone. */
static bool write_output(struct nri_connection *connection)
{
    for (int i = 0; i < WRITES_A_TURN; i++) {
        struct nri_error error;
        const uint8_t *bytes;
        size_t count, moved = 0;
        nri_rt_output(connection->plugin, &bytes, &count);
        if (count == 0)
            return true;
        if (connection->mute) {
            nri_rt_written(connection->plugin, count);
            continue;
        }
        nri_error_clear(&error);
        switch (nri_socket_send(connection->fd, bytes, count, &moved, &error)) {
        case NRI_SOCKET_MOVED:
            nri_rt_written(connection->plugin, moved);
            break;
        case NRI_SOCKET_AGAIN:
            return true;
        case NRI_SOCKET_ENDED:
            /* The peer's last words may still be there to be read. */
            connection->mute = true;
            connection->readable = true;
            nri_mailbox_ring(&connection->runtime->mailbox);
            break;
        case NRI_SOCKET_FAILED:
            end(connection, error.code, error.text);
            return false;
        }
    }
    return true;
}

static void flush(struct nri_connection *connection)
{
    if (!nri_rt_should_close(connection->plugin))
        return; /* the usual case, for each connection at each turn */
    const uint64_t now = nri_host_now();
    if (!connection->flushing) {
        connection->flushing = true;
        connection->flush_until = now + FLUSH_TIME;
    }
    if (!has_output(connection) || connection->mute || now >= connection->flush_until)
        end(connection, 0, "");
}

void nri_connections_write(nri_runtime *runtime)
{
    struct nri_connection *next;
    for (struct nri_connection *connection = runtime->connections.first; connection != NULL;
         connection = next) {
        next = connection->next;
        if (write_output(connection))
            flush(connection);
    }
}

void nri_connections_end(nri_runtime *runtime)
{
    while (runtime->connections.first != NULL) {
        struct nri_connection *connection = runtime->connections.first;
        if (write_output(connection))
            end(connection, 0, "the runtime was closed");
    }
}

/* ---- polling ---- */

void nri_connections_arm(nri_runtime *runtime)
{
    for (struct nri_connection *connection = runtime->connections.first; connection != NULL;
         connection = connection->next) {
        int interest = UV_READABLE;
        if (!connection->mute && has_output(connection))
            interest |= UV_WRITABLE;
        if (interest == connection->interest)
            continue;
        connection->interest = interest;
        runtime->changed = true;
        /* Fails only for a closing handle. */
        (void)uv_poll_start(&connection->poll, interest, on_socket);
    }
}

uint64_t nri_connections_deadline(const nri_runtime *runtime)
{
    uint64_t at = NRI_NEVER;
    for (const struct nri_connection *connection = runtime->connections.first; connection != NULL;
         connection = connection->next) {
        if (connection->flushing && connection->flush_until < at)
            at = connection->flush_until;
    }
    return at;
}
