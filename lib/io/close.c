/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nri_plugin_close(): the end of the handle.
 *
 * Happy path: the connection ends (pending calls complete, on_disconnected) -> libuv closes the
 * handles -> `ended` -> what was posted is called -> the core goes -> `closed` -> the memory goes.
 * Failure modes: called by one of the user's functions, all this waits until the outermost of them
 * has returned, in nri_plugin_settle().
 */
#include "io/handle.h"

#include "io/host.h"
#include "io/socket.h"
#include "io/stream.h"

static void destroy(nri_plugin *plugin)
{
    struct nri_settings *settings = &plugin->settings;
    plugin->depth++; /* a close or run in here is refused or ignored */
    nri_core_end_updates(plugin->core, nri_host_now());
    nri_core_end_offload(plugin->core);
    nri_plugin_end_workers(plugin);
    nri_mailbox_close(&plugin->mailbox, plugin);
    nri_core_free(plugin->core);
    if (settings->fd >= 0 && !plugin->fd_used)
        nri_socket_close(settings->fd);
    if (plugin->closed != NULL)
        plugin->closed(plugin->closed_user);
    nri_mailbox_fini(&plugin->mailbox);
    struct nri_alloc alloc = settings->alloc;
    nri_alloc_release(&alloc, plugin->input);
    nri_settings_fini(settings);
    nri_alloc_release(&alloc, plugin);
}

/* A handler on a thread of its own closes the plugin: the loop's thread does it. */
static void wish_to_close(nri_plugin *plugin, void (*closed)(void *user), void *user)
{
    if (plugin->closing || atomic_load(&plugin->close_wished))
        return;
    plugin->closed = closed;
    plugin->closed_user = user;
    atomic_store(&plugin->close_wished, true);
    nri_mailbox_ring(&plugin->mailbox);
}

void nri_plugin_settle(nri_plugin *plugin)
{
    if (plugin->depth == 0 && atomic_load(&plugin->close_wished))
        plugin->closing = true;
    if (!plugin->closing || plugin->depth > 0)
        return;
    if (nri_stream_is_live(&plugin->stream)) {
        plugin->depth++;
        nri_stream_end(plugin, 0, "");
        plugin->depth--;
    }
    /* Else the last handle's closing goes on from here. */
    if (plugin->stream.phase == NRI_PHASE_IDLE)
        destroy(plugin);
}

void nri_plugin_close(nri_plugin *plugin, void (*closed)(void *user), void *user)
{
    if (plugin == NULL)
        return;
    if (nri_worker_is_mine(plugin->worker)) {
        wish_to_close(plugin, closed, user);
        return;
    }
    if (plugin->closing || atomic_load(&plugin->close_wished))
        return;
    plugin->closing = true;
    plugin->closed = closed;
    plugin->closed_user = user;
    /* Nobody else turns the plugin's own loop now, if this is not one of its handlers. */
    if (plugin->depth == 0 && plugin->turner == NRI_TURNER_DISPATCH &&
        plugin->stream.phase != NRI_PHASE_IDLE) {
        nri_stream_end(plugin, 0, "");
        nri_plugin_close_own_loop(plugin);
        (void)nri_plugin_finished(plugin);
        return;
    }
    nri_plugin_settle(plugin);
}
