/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <nri/error.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "last_resort.h"

/* nri_app_main() is for once in a program, and what it calls back has the program's own pointer. */
static struct app_program *_Atomic current;

struct app_program *app_program_current(void)
{
    return atomic_load(&current);
}

void app_program_set_current(struct app_program *program)
{
    atomic_store(&current, program);
}

/* ---- the end ---- */

/* The loop's last callbacks: nothing else has a handle then. */
static void on_plugin_closed(void *user)
{
    struct app_program *program = user;
    program->plugin = NULL;
    app_http_close(&program->http);
    app_watch_close(&program->watch);
    app_signals_close(&program->signals);
    uv_close((uv_handle_t *)&program->observer, NULL);
    uv_close((uv_handle_t *)&program->end_timer, NULL);
    uv_close((uv_handle_t *)&program->watchdog, NULL);
    uv_close((uv_handle_t *)&program->handlers_done, NULL);
}

static void close_plugin(struct app_program *program)
{
    nri_plugin_close(program->plugin, on_plugin_closed, program);
}

static void on_handlers_done(uv_async_t *async)
{
    close_plugin(async->data);
}

/* On the handlers' thread, behind all that was queued there. */
static void tell_handlers_done(nri_plugin *plugin, void *arg)
{
    struct app_program *program = arg;
    (void)plugin;
    (void)uv_async_send(&program->handlers_done); /* fails only for a closing handle */
}

static void set_result(struct app_program *program, int result)
{
    program->result = program->ending ? 0 : result;
    /* Also for what comes later: on_stop. */
    app_last_resort_arm(APP_LAST_RESORT_MS, program->result == 0 ? 0 : 1);
}

static void on_leave_time(uv_timer_t *timer);

/* Closing waits for the handlers' thread, and must not keep the loop waiting for ever. */
static void on_ended(nri_plugin *plugin, int code, void *user)
{
    struct app_program *program = user;
    set_result(program, code);
    if (!program->worker || nri_plugin_post_handler(plugin, tell_handlers_done, program) != 0)
        close_plugin(program);
    else if (!program->ending)
        (void)uv_timer_start(&program->end_timer, on_leave_time, APP_LEAVE_MS, 0);
}

/* A handler that does not return keeps its thread, and that the plugin: nothing can be freed. */
static void leave(struct app_program *program)
{
    app_log_say(&program->log, NRI_LOG_WARN,
                "a handler has not returned within %d ms: the program ends without it",
                APP_LEAVE_MS);
    app_listener_unlink(&program->http.listener);
    _exit(program->ending || program->result == 0 ? 0 : 1);
}

static void on_leave_time(uv_timer_t *timer)
{
    leave(timer->data);
}

/* The plugin waits for pending requests (stop_grace_ms); events that come meanwhile pass. */
static void begin_end(struct app_program *program, int number)
{
    if (program->ending)
        return;
    program->ending = true;
    program->endpoint.ending = true;
    app_log_say(&program->log, NRI_LOG_INFO, "%s: the plugin ends",
                number == SIGTERM ? "SIGTERM" : "SIGINT");
    (void)app_notify_send(&program->notify, "STOPPING=1\nSTATUS=ending");
    nri_plugin_stop(program->plugin);
    uv_update_time(&program->loop); /* the time counts from now */
    (void)uv_timer_start(&program->end_timer, on_leave_time, APP_LEAVE_MS, 0);
}

/* ---- signals, changes, the watchdog ---- */

static void on_signal(void *user, int number)
{
    struct app_program *program = user;
    switch (number) {
    case SIGHUP:
        if (program->options->field_count > 0)
            app_program_reload(program);
        break;
    case SIGUSR2:
        nri_plugin_set_bypass(program->plugin, !nri_plugin_bypass(program->plugin));
        break;
    default:
        begin_end(program, number);
    }
}

static void on_change(void *user)
{
    app_program_reload(user);
}

static void on_watchdog(uv_timer_t *timer)
{
    const struct app_program *program = timer->data;
    if (!nri_plugin_is_wedged(program->plugin))
        (void)app_notify_send(&program->notify, "WATCHDOG=1");
}

static const char *status_of(const struct app_program *program)
{
    switch (nri_plugin_get_state(program->plugin)) {
    case NRI_PLUGIN_CONNECTING:
        return "STATUS=waiting for the runtime";
    case NRI_PLUGIN_REGISTERING:
        return "STATUS=registering with the runtime";
    case NRI_PLUGIN_READY:
        return nri_plugin_is_synchronized(program->plugin) ? "STATUS=registered and synchronised"
                                                           : "STATUS=registered";
    case NRI_PLUGIN_IDLE:
    case NRI_PLUGIN_STOPPING:
        break;
    }
    return "STATUS=ending";
}

/* Before the loop sleeps: whatever happened on it has happened, so that no change of the plugin
 * goes unseen. */
static void observe(uv_prepare_t *observer)
{
    struct app_program *program = observer->data;
    const bool ready = nri_plugin_get_state(program->plugin) == NRI_PLUGIN_READY;
    if (ready && !program->endpoint.is_ready)
        program->endpoint.ready_since = uv_now(&program->loop);
    program->endpoint.is_ready = ready;
    if (program->ending)
        return;
    const char *status = status_of(program);
    if (status != program->status)
        (void)app_notify_send(&program->notify, status);
    program->status = status;
}

static void answer(void *user, const char *path, struct app_answer *answered)
{
    struct app_program *program = user;
    program->endpoint.now = uv_now(&program->loop);
    app_endpoint_answer(&program->endpoint, path, answered);
}

/* ---- the start ---- */

static void start_watch(struct app_program *program)
{
    if (program->command.config == NULL || program->settings.current == NULL)
        return;
    char **paths = app_watch_copy(app_config_paths(program->settings.current));
    if (paths == NULL)
        app_log_say(&program->log, NRI_LOG_WARN,
                    "the files of the configuration are not watched: out of memory");
    else
        app_watch_start(&program->watch, &program->loop, paths,
                        app_watch_look((const char *const *)paths), on_change, program);
}

static int start_http(struct app_program *program)
{
    char text[APP_LISTENER_TEXT];
    if (program->command.http == NULL)
        return 0;
    if (app_http_start(&program->http, &program->loop, &program->log, answer, program, text) != 0) {
        app_log_say(&program->log, NRI_LOG_ERROR, "%s", text);
        return NRI_E_IO;
    }
    app_log_say(&program->log, NRI_LOG_INFO, "serving HTTP on %s", program->http.listener.name);
    return 0;
}

static void start_notify(struct app_program *program)
{
    char fault[256];
    app_notify_init(&program->notify, fault, sizeof fault);
    if (fault[0] != '\0')
        app_log_say(&program->log, NRI_LOG_WARN, "%s", fault);
    const uint64_t time = program->notify.watchdog_ms;
    if (program->notify.fd >= 0 && time > 0)
        (void)uv_timer_start(&program->watchdog, on_watchdog, time, time);
}

/* All that needs the loop; 0, or a code, with why in the log. */
static int start(struct app_program *program)
{
    const struct nri_app_options *options = program->options;
    const int status =
        app_signals_open(&program->signals, &program->loop, APP_LAST_RESORT_MS, on_signal, program);
    if (status != 0) {
        app_log_say(&program->log, NRI_LOG_ERROR, "receiving signals: %s", uv_strerror(status));
        return NRI_E_IO;
    }
    int code = start_http(program);
    if (code != 0)
        return code;
    start_notify(program);
    start_watch(program);
    code = options->on_start != NULL ? options->on_start(program->plugin, options->user) : 0;
    if (code != 0) {
        app_log_say(&program->log, NRI_LOG_ERROR, "the program cannot start: %s",
                    nri_strerror(code));
        return code < 0 ? code : NRI_E_INTERNAL;
    }
    (void)uv_prepare_start(&program->observer, observe);
    code = nri_plugin_start(program->plugin, &program->loop, on_ended, program);
    if (code == 0)
        (void)app_notify_send(&program->notify, "READY=1");
    return code;
}

/* 0 or an error of libuv, and then the loop is not there. */
static int make_loop(struct app_program *program)
{
    int status = uv_loop_init(&program->loop);
    if (status != 0)
        return status;
    status = uv_async_init(&program->loop, &program->handlers_done, on_handlers_done);
    if (status != 0) {
        (void)uv_loop_close(&program->loop);
        return status;
    }
    program->handlers_done.data = program;
    return 0;
}

int app_program_run(struct app_program *program)
{
    const int status = make_loop(program);
    if (status != 0) {
        app_log_say(&program->log, NRI_LOG_ERROR, "making an event loop: %s", uv_strerror(status));
        nri_plugin_close(program->plugin, NULL, NULL);
        app_http_close(&program->http);
        return NRI_E_IO;
    }
    if (!app_last_resort_init())
        app_log_say(&program->log, NRI_LOG_WARN,
                    "no timer is left: the end waits for handlers, however long they take");
    /* These cannot fail. */
    (void)uv_prepare_init(&program->loop, &program->observer);
    (void)uv_timer_init(&program->loop, &program->end_timer);
    (void)uv_timer_init(&program->loop, &program->watchdog);
    program->observer.data = program;
    program->end_timer.data = program;
    program->watchdog.data = program;
    program->notify.fd = -1;
    const int code = start(program);
    if (code != 0) {
        set_result(program, code);
        close_plugin(program);
    }
    (void)uv_run(&program->loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&program->loop); /* fails only while a handle is open, and none is */
    return program->result;
}
