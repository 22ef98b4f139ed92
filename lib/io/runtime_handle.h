/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime handle, as the files of lib/io share it.
 */
#ifndef NRI_IO_RUNTIME_HANDLE_H
#define NRI_IO_RUNTIME_HANDLE_H

#include <uv.h>

#include "base/log.h"
#include "io/connection.h"
#include "io/discovery.h"
#include "io/launch.h"
#include "io/listener.h"
#include "io/mailbox.h"
#include "io/runtime_settings.h"
#include "runtime/core.h"

/* runtime_loop.c moves through these in this order. A stop goes on from any of them with STOPPING.
 */
enum nri_runtime_phase {
    NRI_RUNTIME_IDLE,        /* not started */
    NRI_RUNTIME_LAUNCHING,   /* waiting for the first turn of the loop */
    NRI_RUNTIME_CONFIGURING, /* for the plugins found at the start to be configured */
    NRI_RUNTIME_SYNCING,     /* and to be synchronised */
    NRI_RUNTIME_OPENING,     /* for the socket's directory to be free of others that do the same */
    NRI_RUNTIME_RUNNING,
    NRI_RUNTIME_STOPPING, /* for connections and processes to end */
    NRI_RUNTIME_CLOSING,  /* libuv has yet to close its handles */
    NRI_RUNTIME_OVER      /* it runs once */
};

/* Who turns the loop, and so who sees to what comes after the end. */
enum nri_runtime_turner {
    NRI_RUNTIME_TURNER_NONE,    /* never started */
    NRI_RUNTIME_TURNER_RUN,     /* nri_runtime_run(), the runtime's own loop */
    NRI_RUNTIME_TURNER_CALLER,  /* a given loop */
    NRI_RUNTIME_TURNER_DISPATCH /* nri_runtime_dispatch(), the runtime's own loop */
};

/* A built-in plugin that waits for the start. */
struct nri_runtime_builtin {
    struct nri_runtime_builtin *next;
    struct nri_plugin_ops ops;
    char *name, *config; /* config may be NULL */
    char index[3];
    void *user;
};

struct nri_runtime {
    struct nri_runtime_settings settings;
    struct nri_log log;
    struct nri_default_validator *validator; /* NULL: off */
    struct nri_rt *rt;
    void *user;
    struct nri_error error; /* nri_runtime_last_error() */
    uint8_t *input;         /* NRI_RUNTIME_INPUT bytes */
    struct nri_mailbox mailbox;
    struct nri_runtime_builtin *builtins, **builtins_end;
    size_t builtin_count;
    struct nri_found found; /* of the start */
    struct nri_connections connections;
    struct nri_children children;
    struct nri_listener listener;

    enum nri_runtime_phase phase;
    enum nri_runtime_turner turner;
    uv_loop_t own_loop;
    uv_loop_t *loop; /* NULL when no handle is open */
    uv_poll_t bell;  /* the mailbox's eventfd */
    uv_timer_t timer;
    uint64_t timer_at; /* what the timer is set to; NRI_NEVER when it is off */
    size_t open;       /* handles that libuv has not closed, of all kinds */
    bool changed;      /* since the loop last ran: libuv tells the kernel on its next turn only */
    bool arming;       /* the loop runs for that alone: no work now */
    bool held;         /* the plugins of the start are not synchronised before all are configured */
    unsigned depth;    /* of calls to the user's functions */
    int result;
    void (*ended)(nri_runtime *runtime, int code, void *user);
    void *ended_user;
    bool closing; /* nri_runtime_close() was called */
    bool hurried; /* and what was under way has been cut off */
    void (*closed)(void *user);
    void *closed_user;
};

#define NRI_RUNTIME_INPUT ((size_t)64 * 1024)

static inline bool nri_runtime_is_started(const nri_runtime *runtime)
{
    return runtime->phase > NRI_RUNTIME_IDLE && runtime->phase < NRI_RUNTIME_STOPPING;
}

/* runtime_run.c: the last handle is closed; called on the loop. */
void nri_runtime_handles_closed(nri_runtime *runtime);
/* runtime_builtin.c */
int nri_runtime_start_builtins(nri_runtime *runtime, uint64_t now, struct nri_error *error);
void nri_runtime_free_builtins(nri_runtime *runtime);

/* runtime_loop.c */
/* Opens the handles: the work begins with the first turn. On an error nothing is open. */
int nri_runtime_begin(nri_runtime *runtime, uv_loop_t *loop, struct nri_error *error);
/* Looks for work outside of libuv's callbacks. */
void nri_runtime_service(nri_runtime *runtime);
uint64_t nri_runtime_deadline(const nri_runtime *runtime); /* NRI_NEVER for none */
/* Begins the end; `code` and `text` count if it had not begun. */
void nri_runtime_end(nri_runtime *runtime, int code, const char *text);
/* A handle that was opened on the loop is closed: what each close callback ends with. */
void nri_runtime_handle_closed(nri_runtime *runtime);

#endif
