/* SPDX-License-Identifier: Apache-2.0 */
/*
 * New configurations while the plugin runs: by SIGHUP, by a change of the files, by Configure.
 *
 * Happy path: app_program_reload() posts to the handlers' thread -> it is read there, between two
 * handlers, and taken -> the loop's thread is told which files to watch now. Failure modes: a
 * configuration that is wrong is refused with a record, and nothing changes; a handler that does
 * not return keeps a reload waiting.
 */
#include <inttypes.h>
#include <nri/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "program.h"

enum {
    RELOAD_IDLE,
    RELOAD_POSTED, /* or being done */
    RELOAD_AGAIN   /* asked for again, after it may have read */
};

struct new_paths {
    struct app_program *program;
    char **paths;
};

/* On the loop's thread, also while the plugin is closed: the watch may be gone then. */
static void watch_paths(nri_plugin *plugin, void *arg)
{
    struct new_paths *new_paths = arg;
    (void)plugin;
    app_watch_set_paths(&new_paths->program->watch, new_paths->paths);
    free(new_paths);
}

static void tell_paths(struct app_program *program)
{
    struct new_paths *new_paths = malloc(sizeof *new_paths);
    char **paths = app_watch_copy(app_config_paths(program->settings.current));
    if (new_paths != NULL && paths != NULL) {
        *new_paths = (struct new_paths){.program = program, .paths = paths};
        if (nri_plugin_post(program->plugin, watch_paths, new_paths) == 0)
            return;
    }
    free(new_paths);
    free(paths);
    app_log_say(&program->log, NRI_LOG_WARN,
                "the files of the configuration cannot be watched: out of memory");
}

static void taken(struct app_program *program)
{
    if (program->options->on_reload != NULL)
        program->options->on_reload(program->plugin, program->options->user);
    tell_paths(program);
}

static void count(_Atomic uint64_t *counter)
{
    (void)atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* systemd wants to know when it began, so that it can tell it from an older one. */
static void notify_reloading(const struct app_program *program)
{
    struct timespec now;
    char text[80];
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    (void)snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
                   (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000);
    (void)app_notify_send(&program->notify, text);
}

static void reload_once(struct app_program *program)
{
    char text[APP_CONFIG_TEXT];
    notify_reloading(program);
    if (app_settings_reload(&program->settings, text) == 0) {
        count(&program->endpoint.reloads);
        app_log_say(&program->log, NRI_LOG_INFO, "the configuration was read again, and taken");
        taken(program);
    } else {
        count(&program->endpoint.refused_reloads);
        app_log_say(&program->log, NRI_LOG_ERROR,
                    "the configuration was read again, and refused; the old one holds: %s", text);
    }
    (void)app_notify_send(&program->notify, "READY=1");
}

static void post(struct app_program *program);

static void reload(nri_plugin *plugin, void *arg)
{
    struct app_program *program = arg;
    int expected = RELOAD_POSTED;
    (void)plugin;
    atomic_store(&program->reload, RELOAD_POSTED);
    reload_once(program);
    if (!atomic_compare_exchange_strong(&program->reload, &expected, RELOAD_IDLE))
        post(program); /* behind the handlers that wait: they must not starve */
}

static void post(struct app_program *program)
{
    const int code = nri_plugin_post_handler(program->plugin, reload, program);
    if (code == 0)
        return;
    atomic_store(&program->reload, RELOAD_IDLE);
    app_log_say(&program->log, NRI_LOG_ERROR, "the configuration is not read again: %s",
                nri_strerror(code));
}

void app_program_reload(struct app_program *program)
{
    int now = atomic_load(&program->reload), next;
    if (program->ending)
        return;
    do
        next = now == RELOAD_IDLE ? RELOAD_POSTED : RELOAD_AGAIN;
    while (!atomic_compare_exchange_weak(&program->reload, &now, next));
    if (now == RELOAD_IDLE)
        post(program);
}

int app_program_configure(nri_request *request, void *user)
{
    struct app_program *program = app_program_current();
    char text[APP_CONFIG_TEXT];
    const int code = app_settings_configure(&program->settings, nri_request_config(request), text);
    if (code < 0) {
        char refusal[APP_CONFIG_TEXT + 256];
        (void)snprintf(refusal, sizeof refusal, "%s-%s: %s", nri_plugin_index(program->plugin),
                       nri_plugin_name(program->plugin), text);
        count(&program->endpoint.refused_reloads);
        return nri_request_fail(request, NRI_E_INVALID, refusal);
    }
    if (code > 0) {
        count(&program->endpoint.reloads);
        app_log_say(&program->log, NRI_LOG_INFO, "the runtime's configuration was taken");
        taken(program);
    }
    return program->on_configure != NULL ? program->on_configure(request, user) : 0;
}
