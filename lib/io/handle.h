/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugin handle, as the files of lib/io share it.
 */
#ifndef NRI_IO_HANDLE_H
#define NRI_IO_HANDLE_H

#include <uv.h>

#include "base/log.h"
#include "io/mailbox.h"
#include "io/settings.h"
#include "io/watch.h"
#include "io/worker.h"
#include "plugin/core.h"
#include "plugin/reconnect.h"

/* stream.c moves through these in this order; FLUSHING may be left out. When the plugin connects
 * again, DRAINING is followed by CONNECTING. */
enum nri_phase {
    NRI_PHASE_IDLE,       /* no handle of libuv is open, no socket of a path */
    NRI_PHASE_CONNECTING, /* waiting for the first turn of the loop, for the next attempt, or for
                             room in the listener's backlog */
    NRI_PHASE_CONNECTED,
    NRI_PHASE_FLUSHING, /* the core wants the end: what is queued is written, what comes is thrown
                           away */
    NRI_PHASE_DRAINING, /* over for the core; handlers on another thread have yet to return */
    NRI_PHASE_CLOSING   /* over for the core; libuv has yet to close its handles */
};

struct nri_stream {
    _Atomic enum nri_phase phase; /* written on the loop's thread */
    uv_loop_t *loop;              /* NULL when idle */
    uv_poll_t bell;               /* the mailbox's eventfd */
    uv_poll_t socket;
    uv_timer_t timer;
    struct nri_watch watch;
    struct nri_reconnect policy;
    unsigned open;       /* handles of these four that libuv has not closed */
    bool socket_polled;  /* `socket` is one of them */
    bool socket_closing; /* still one of them, and not to be used before libuv has closed it */
    int fd;              /* -1 for none */
    int interest;        /* events that `socket` is polled for */
    bool changed;        /* since the loop last ran: libuv tells the kernel on its next turn only */
    bool arming;         /* the loop runs for that alone: no work now */
    bool mute;           /* the peer takes no more bytes; what it has sent is still read */
    bool core_connected;
    bool backlog_full; /* CONNECTING: the attempt goes on */
    atomic_bool again; /* DRAINING: another attempt follows; written on the loop's thread */
    uint64_t began;    /* when connecting began, in ns; 0 before the loop's first turn */
    uint64_t retry_at; /* CONNECTING: the next attempt */
    uint64_t flush_until;
    uint64_t stop_until; /* a stop waits for pending requests; 0: none has come */
    uint64_t timer_at;   /* what the timer is set to; NRI_NEVER when it is off */
    int result;
};

/* Who turns the loop, and so who sees to what comes after the end. */
enum nri_turner {
    NRI_TURNER_NONE,    /* never started */
    NRI_TURNER_RUN,     /* nri_plugin_run(), the plugin's own loop */
    NRI_TURNER_CALLER,  /* a given loop */
    NRI_TURNER_DISPATCH /* nri_plugin_dispatch(), the plugin's own loop */
};

struct nri_plugin {
    struct nri_settings settings;
    struct nri_log log;
    struct nri_core *core;
    void *user;
    struct nri_error error;         /* nri_plugin_last_error() */
    struct nri_error handler_error; /* the same on the thread of handlers */
    struct nri_worker *worker;      /* that thread; NULL: the loop's */
    struct nri_worker *offload;     /* of nri_request_offload() */
    uint8_t *input;                 /* NRI_INPUT_SIZE bytes */
    struct nri_mailbox mailbox;
    struct nri_stream stream;
    uv_loop_t own_loop;
    enum nri_turner turner;
    /* Of the peer, as nri_plugin_peer() tells; for any thread. */
    atomic_int peer_code;
    _Atomic int64_t peer_pid, peer_uid, peer_gid;
    bool fd_used;   /* the given descriptor had its run */
    unsigned depth; /* of calls to the user's functions */
    void (*ended)(nri_plugin *plugin, int code, void *user);
    void *ended_user;
    atomic_bool closing;      /* nri_plugin_close() was called */
    atomic_bool close_wished; /* on the thread of handlers */
    void (*closed)(void *user);
    void *closed_user;
};

#define NRI_INPUT_SIZE ((size_t)64 * 1024)

/* handle.c: waits for what their tasks do. */
void nri_plugin_end_workers(nri_plugin *plugin);
/* handle.c: where a call on this thread leaves its error. */
struct nri_error *nri_plugin_error_place(nri_plugin *plugin);
/* close.c: goes on with a close that waited for the outermost call to return. The plugin may be
 * gone then, but not while its handles are open. */
void nri_plugin_settle(nri_plugin *plugin);
/* run.c: the last handle is closed; called on the loop. */
void nri_plugin_handles_closed(nri_plugin *plugin);
/* run.c: the run is over, and so is the plugin's own loop: `ended`, then nri_plugin_settle(). True:
 * `ended` started it again, to be dispatched. Else it may be gone. */
bool nri_plugin_finished(nri_plugin *plugin);
/* run.c: for a plugin's own loop, outside of it: turns it until its handles are closed, then closes
 * it. */
void nri_plugin_close_own_loop(nri_plugin *plugin);

#endif
