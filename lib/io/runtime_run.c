/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The three ways to run a runtime: on a loop of its own until it ends, on a given loop, or turned
 * by somebody's poll(); and its close.
 *
 * Happy path: start() -> turns of the loop -> the last handle is closed -> nri_runtime_finished():
 * `ended` is called, and a close that waited goes on. Failure modes: what start() finds at once is
 * returned and leaves nothing behind, so that it can be tried again.
 */
#include <limits.h>

#include "io/host.h"
#include "io/own_loop.h"
#include "io/runtime_handle.h"

#define CONFIGURE_ROOM                                                                             \
    ((size_t)8 * 1024) /* of the largest message, for what else is in Configure */

static int refuse(nri_runtime *runtime, int code, const char *text)
{
    return nri_error_set(&runtime->error, code, "%s", text);
}

/* ---- a loop of its own ---- */

static void turn_own_loop(nri_runtime *runtime, uv_run_mode mode)
{
    runtime->changed = false;
    (void)uv_run(&runtime->own_loop, mode);
}

static void close_own_loop(nri_runtime *runtime)
{
    while (runtime->phase != NRI_RUNTIME_OVER)
        turn_own_loop(runtime, UV_RUN_ONCE);
    /* Fails only while a handle is open, and there is none. */
    (void)uv_loop_close(&runtime->own_loop);
}

/* Lets libuv tell the kernel what to poll for, so that the loop's descriptor polls readable when it
 * should. */
static void arm_own_loop(nri_runtime *runtime)
{
    if (!runtime->changed)
        return;
    runtime->arming = true;
    turn_own_loop(runtime, UV_RUN_NOWAIT);
    runtime->arming = false;
}

static bool is_dispatched(const nri_runtime *runtime)
{
    return runtime->turner == NRI_RUNTIME_TURNER_DISPATCH && runtime->phase > NRI_RUNTIME_IDLE &&
           runtime->phase < NRI_RUNTIME_OVER;
}

/* ---- the end ---- */

static void destroy(nri_runtime *runtime)
{
    struct nri_alloc alloc = runtime->settings.alloc;
    runtime->depth++; /* a close or run in here is refused or ignored */
    nri_mailbox_close(&runtime->mailbox, runtime);
    nri_runtime_free_builtins(runtime);
    nri_rt_free(runtime->rt);
    runtime->validator = nri_default_validator_free(runtime->validator);
    if (runtime->closed != NULL)
        runtime->closed(runtime->closed_user);
    nri_mailbox_fini(&runtime->mailbox);
    nri_alloc_release(&alloc, runtime->input);
    nri_runtime_settings_fini(&runtime->settings);
    nri_alloc_release(&alloc, runtime);
}

static void settle(nri_runtime *runtime)
{
    if (runtime->closing && runtime->depth == 0 &&
        (runtime->phase == NRI_RUNTIME_IDLE || runtime->phase == NRI_RUNTIME_OVER))
        destroy(runtime);
}

/* The run is over, and so is the runtime's own loop. The runtime may be gone then. */
static void finished(nri_runtime *runtime)
{
    void (*ended)(nri_runtime * runtime, int code, void *user) = runtime->ended;
    runtime->ended = NULL;
    if (ended != NULL) {
        runtime->depth++;
        ended(runtime, runtime->result, runtime->ended_user);
        runtime->depth--;
    }
    settle(runtime);
}

/* With the runtime's own loop, whoever turns it goes on after the turn. */
void nri_runtime_handles_closed(nri_runtime *runtime)
{
    if (runtime->turner == NRI_RUNTIME_TURNER_CALLER)
        finished(runtime);
}

/* ---- the start ---- */

static int check_startable(nri_runtime *runtime)
{
    if (runtime->closing)
        return refuse(runtime, NRI_E_STATE, "the runtime is being closed");
    if (runtime->phase == NRI_RUNTIME_OVER)
        return refuse(runtime, NRI_E_STATE,
                      "the runtime has run and ended, and it runs once: make a new one");
    if (runtime->phase != NRI_RUNTIME_IDLE)
        return refuse(runtime, NRI_E_STATE, "the runtime is started already");
    return 0;
}

static int look_for_plugins(nri_runtime *runtime, struct nri_error *error)
{
    const struct nri_runtime_settings *settings = &runtime->settings;
    const size_t message = settings->limits.max_send;
    const size_t most = message > 2 * CONFIGURE_ROOM ? message - CONFIGURE_ROOM : message / 2;
    if (settings->plugin_directory == NULL)
        return 0;
    int rc = nri_found_look(&runtime->found, &settings->alloc, settings->plugin_directory,
                            &runtime->log, error);
    if (rc == 0)
        rc = nri_found_configure(&runtime->found, settings->config_directory, most, error);
    return rc;
}

static int start(nri_runtime *runtime, uv_loop_t *loop, enum nri_runtime_turner turner)
{
    struct nri_error error;
    nri_error_clear(&error);
    int rc = look_for_plugins(runtime, &error);
    if (rc == 0 && runtime->settings.path != NULL)
        rc = nri_listener_check(runtime->settings.path, &error);
    if (rc == 0 && loop == NULL)
        rc = nri_own_loop_open(&runtime->own_loop, runtime->mailbox.fd, &error);
    if (rc == 0) {
        rc = nri_runtime_begin(runtime, loop != NULL ? loop : &runtime->own_loop, &error);
        if (rc != 0 && loop == NULL)
            (void)uv_loop_close(&runtime->own_loop);
    }
    if (rc != 0) {
        nri_found_fini(&runtime->found);
        nri_log_write(&runtime->log, nri_host_now(), NRI_LOG_ERROR, NULL,
                      "the runtime is not started: %s", error.text);
    } else {
        runtime->turner = turner;
    }
    runtime->result = rc;
    nri_error_copy(&runtime->error, &error);
    return rc;
}

int nri_runtime_run(nri_runtime *runtime)
{
    if (runtime == NULL)
        return NRI_E_INVALID;
    if (runtime->depth > 0)
        return refuse(runtime, NRI_E_DEADLOCK,
                      "nri_runtime_run() in a callback of the runtime would wait for itself");
    int rc = check_startable(runtime);
    if (rc == 0)
        rc = start(runtime, NULL, NRI_RUNTIME_TURNER_RUN);
    if (rc != 0)
        return rc;
    close_own_loop(runtime);
    rc = runtime->result;
    finished(runtime);
    return rc;
}

int nri_runtime_start(nri_runtime *runtime, struct uv_loop_s *loop,
                      void (*ended)(nri_runtime *runtime, int code, void *user), void *user)
{
    if (runtime == NULL)
        return NRI_E_INVALID;
    int rc = check_startable(runtime);
    if (rc == 0)
        rc = start(runtime, loop,
                   loop != NULL ? NRI_RUNTIME_TURNER_CALLER : NRI_RUNTIME_TURNER_DISPATCH);
    if (rc != 0)
        return rc;
    runtime->ended = ended;
    runtime->ended_user = user;
    if (loop == NULL)
        arm_own_loop(runtime);
    return 0;
}

int nri_runtime_fd(const nri_runtime *runtime)
{
    if (runtime == NULL)
        return NRI_E_INVALID;
    return is_dispatched(runtime) ? uv_backend_fd(&runtime->own_loop) : NRI_E_STATE;
}

int nri_runtime_timeout(const nri_runtime *runtime)
{
    if (runtime == NULL || !is_dispatched(runtime))
        return -1;
    const uint64_t at = nri_runtime_deadline(runtime), now = nri_host_now();
    if (at == NRI_NEVER)
        return -1;
    if (at <= now)
        return 0;
    const uint64_t wait = (at - now + NRI_MSEC - 1) / NRI_MSEC;
    return wait < INT_MAX ? (int)wait : INT_MAX;
}

int nri_runtime_dispatch(nri_runtime *runtime)
{
    if (runtime == NULL)
        return NRI_E_INVALID;
    if (runtime->depth > 0)
        return refuse(runtime, NRI_E_DEADLOCK,
                      "nri_runtime_dispatch() in a callback of the runtime would wait for itself");
    if (runtime->turner != NRI_RUNTIME_TURNER_DISPATCH)
        return refuse(runtime, NRI_E_STATE,
                      "nri_runtime_dispatch() is for a runtime that nri_runtime_start() started "
                      "with no loop");
    if (runtime->phase == NRI_RUNTIME_OVER)
        return 0;
    turn_own_loop(runtime, UV_RUN_NOWAIT);
    /* libuv's clock counts in milliseconds and may be behind ours. */
    if (nri_runtime_deadline(runtime) <= nri_host_now())
        nri_runtime_service(runtime);
    if (runtime->phase < NRI_RUNTIME_CLOSING) {
        arm_own_loop(runtime);
        return 1;
    }
    close_own_loop(runtime);
    finished(runtime);
    return 0;
}

/* ---- from outside ---- */

void nri_runtime_stop(nri_runtime *runtime)
{
    if (runtime != NULL)
        nri_mailbox_stop(&runtime->mailbox);
}

int nri_runtime_post(nri_runtime *runtime, void (*fn)(nri_runtime *runtime, void *arg), void *arg)
{
    if (runtime == NULL || fn == NULL)
        return NRI_E_INVALID;
    return nri_mailbox_post(&runtime->mailbox, (union nri_letter_fn){.runtime = fn}, arg);
}

void nri_runtime_close(nri_runtime *runtime, void (*closed)(void *user), void *user)
{
    if (runtime == NULL || runtime->closing)
        return;
    runtime->closing = true;
    runtime->closed = closed;
    runtime->closed_user = user;
    nri_mailbox_ring(&runtime->mailbox);
    /* Nobody else turns the runtime's own loop now, if this is not one of its callbacks. */
    if (runtime->depth == 0 && is_dispatched(runtime)) {
        close_own_loop(runtime);
        finished(runtime);
        return;
    }
    settle(runtime);
}
