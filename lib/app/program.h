/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin that runs: its loop, and what happens on it.
 *
 * Happy path: run() starts all, the loop turns; SIGTERM -> requests that are pending are waited for
 * -> the plugin is stopped, ends, is closed -> all else is closed, and the loop ends. Failure
 * modes: a plugin that ends by itself takes the same way; what does not end in time is left behind
 * by ending the process.
 */
#ifndef NRI_APP_PROGRAM_H
#define NRI_APP_PROGRAM_H

#include <nri/app.h>
#include <stdatomic.h>
#include <uv.h>

#include "endpoint.h"
#include "http.h"
#include "log.h"
#include "notify.h"
#include "options.h"
#include "settings.h"
#include "signals.h"
#include "watch.h"

/* From SIGTERM on, in ms: how long the plugin waits for pending requests; when what has not ended
 * is left behind; when even that has not worked and the kernel's timer ends the process. */
#define APP_FINISH_MS      600
#define APP_LEAVE_MS       850
#define APP_LAST_RESORT_MS 950

struct app_program {
    const struct nri_app_options *options;
    struct app_command command;
    struct app_log log;
    struct app_settings settings; /* of the handlers' thread, once that runs */
    nri_handler on_configure;     /* the program's own; NULL */
    nri_plugin *plugin;
    uv_loop_t loop;
    struct app_signals signals;
    struct app_notify notify;
    struct app_http http;
    struct app_watch watch;
    struct app_endpoint endpoint;
    uv_prepare_t observer;
    uv_timer_t end_timer, watchdog;
    uv_async_t handlers_done; /* no handler runs any more */
    bool worker;              /* handlers have a thread of their own */
    const char *status;       /* what systemd was told last */
    atomic_int reload;        /* enum in reload.c */
    bool ending;              /* SIGTERM or SIGINT came */
    int result;               /* of the plugin's run */
};

/* The program that runs: for callbacks that have the program's `user`. NULL: none. */
struct app_program *app_program_current(void);
void app_program_set_current(struct app_program *program);

/* Runs the plugin that was made to its end, and closes it; on an error, too. 0 when it was stopped,
 * else a negative code of nri/error.h; why is in the log. */
int app_program_run(struct app_program *program);

/* reload.c: asks for the configuration to be read again, on the handlers' thread. The loop's
 * thread. */
void app_program_reload(struct app_program *program);
/* reload.c: the plugin's on_configure. */
int app_program_configure(nri_request *request, void *user);

#endif
