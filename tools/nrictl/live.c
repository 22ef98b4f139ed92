/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Happy path: the plugin registers -> Configure says which runtime it is, and chooses the events ->
 * each ValidateContainerAdjustment is told as it comes; on an older runtime CreateContainer is kept
 * until its PostCreateContainer, and the difference is told. Failure modes: there is no socket, or
 * the runtime goes away: the end, with its reason.
 *
 * Handlers run on the library's thread, so that a terminal that takes nothing delays no container:
 * what is late is answered in their place.
 */
#include "live.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "account.h"
#include "plugin/request.h"
#include "print.h"

/* Containers that are being created at a time; of more the oldest are forgotten. */
#define MOST_KEPT 256u
#define GRACE_MS  1000

struct listening {
    struct nrictl *ctl;
    const struct live *live;
    nri_plugin *plugin;
    uv_loop_t loop;
    uv_signal_t signals[2];
    nri_container *kept[MOST_KEPT]; /* as they were made; NULL: none */
    size_t kept_at;                 /* where the next one goes */
    uint64_t told;
    int code;  /* of enum nrictl_exit: what telling came to */
    int ended; /* of nri/error.h */
};

static bool is_chosen(const struct listening *listening, const nri_container *container)
{
    const char *wanted = listening->live->container;
    return wanted == NULL || strcmp(nri_container_name(container), wanted) == 0 ||
           strncmp(nri_container_id(container), wanted, strlen(wanted)) == 0;
}

/* A history of one container is printed, and counted. */
static void tell(struct listening *listening, struct history *history, int failure)
{
    struct nrictl *ctl = listening->ctl;
    int code;
    if (failure != 0)
        code = nrictl_fail(ctl, NRICTL_ENVIRONMENT, "%s", history->error.text);
    else
        code = ctl->json ? account_json(ctl, history, false) : account_table(ctl, history);
    if (failure == 0 && !ctl->json)
        (void)fputc('\n', ctl->out);
    if (fflush(ctl->out) != 0)
        code = NRICTL_ENVIRONMENT; /* who reads the result is gone */
    if (code > listening->code)
        listening->code = code;
    listening->told++;
    if (code == NRICTL_ENVIRONMENT ||
        (listening->live->count != 0 && listening->told == listening->live->count))
        nri_plugin_stop(listening->plugin);
}

static bool is_enough(const struct listening *listening)
{
    return listening->live->count != 0 && listening->told >= listening->live->count;
}

/* ---- handlers ---- */

static int on_configure(nri_request *request, void *user)
{
    struct listening *listening = user;
    const nri_plugin *plugin = nri_request_plugin(request);
    const bool owners = nri_plugin_supports(plugin, NRI_FEATURE_VALIDATE);
    char runtime[256];
    (void)snprintf(runtime, sizeof runtime, "%s %s", nri_plugin_runtime_name(plugin),
                   nri_plugin_runtime_version(plugin));
    if (!owners) {
        FILE *err = listening->ctl->err;
        (void)fputs("nrictl explain: ", err);
        print_text(err, runtime, strlen(runtime));
        (void)fputs(" tells no owners (NRI 0.10 and later do): before and after all plugins\n",
                    err);
    }
    return nri_request_set_events(request,
                                  owners ? nri_event_bit(NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT)
                                         : nri_event_bit(NRI_EVENT_CREATE_CONTAINER) |
                                               nri_event_bit(NRI_EVENT_POST_CREATE_CONTAINER));
}

static int on_validate(nri_request *request, void *user)
{
    struct listening *listening = user;
    struct history history;
    if (!is_chosen(listening, nri_request_container(request)) || is_enough(listening))
        return 0;
    int failure = history_open(&history, false, NULL);
    if (failure == 0)
        failure = history_validated(&history, (const void *)request->message);
    tell(listening, &history, failure);
    history_fini(&history);
    return 0;
}

static int on_create(nri_request *request, void *user)
{
    struct listening *listening = user;
    const nri_container *container = nri_request_container(request);
    nri_container **slot = &listening->kept[listening->kept_at];
    if (!is_chosen(listening, container))
        return 0;
    nri_container_free(*slot);
    *slot = NULL;
    listening->kept_at = (listening->kept_at + 1) % MOST_KEPT;
    /* Without memory it is not told of. */
    if (nri_container_dup(container, NULL, slot) != 0)
        *slot = NULL;
    return 0;
}

/* The container as it was made, and as it is. */
static void tell_both(struct listening *listening, const nri_request *request,
                      const nri_container *before)
{
    struct history history;
    struct history_event *event = NULL;
    int failure = history_open(&history, false, NULL);
    if (failure == 0)
        failure = history_begin(&history, NRI_EVENT_CREATE_CONTAINER,
                                (const void *)nri_request_pod(request), (const void *)before, NULL,
                                &event);
    if (failure == 0)
        failure = view_container(&history.view, nri_request_container(request), false, &event->last,
                                 &history.error);
    if (failure == 0) {
        event->unattributed = true;
        failure = history_conclude(&history, event, 0, NULL, NULL);
    }
    tell(listening, &history, failure);
    history_fini(&history);
}

static int on_post_create(nri_request *request, void *user)
{
    struct listening *listening = user;
    const char *id = nri_container_id(nri_request_container(request));
    for (size_t i = 0; i < MOST_KEPT; i++) {
        nri_container *before = listening->kept[i];
        if (before == NULL || strcmp(nri_container_id(before), id) != 0)
            continue;
        listening->kept[i] = NULL;
        if (!is_enough(listening))
            tell_both(listening, request, before);
        nri_container_free(before);
    }
    return 0;
}

/* ---- running ---- */

static void on_signal(uv_signal_t *handle, int number)
{
    struct listening *listening = handle->data;
    (void)number;
    nri_plugin_stop(listening->plugin);
}

static void on_closed(void *user)
{
    struct listening *listening = user;
    listening->plugin = NULL;
    for (size_t i = 0; i < 2; i++)
        uv_close((uv_handle_t *)&listening->signals[i], NULL);
}

static void on_ended(nri_plugin *plugin, int code, void *user)
{
    struct listening *listening = user;
    listening->ended = code;
    if (code != 0)
        listening->code = nrictl_fail(listening->ctl, NRICTL_ENVIRONMENT, "%s",
                                      nri_error_get_text(nri_plugin_last_error(plugin)));
    nri_plugin_close(plugin, on_closed, listening);
}

static int make_plugin(struct listening *listening)
{
    struct nri_plugin_ops ops;
    struct nri_plugin_options options;
    nri_error *error = NULL;
    nri_plugin_ops_init(&ops, sizeof ops);
    ops.on_configure = on_configure;
    ops.on_validate_adjustment = on_validate;
    ops.on_create_container = on_create;
    ops.on_post_create_container = on_post_create;
    nri_plugin_options_init(&options, sizeof options);
    options.name = "nrictl-explain";
    options.index = "00"; /* so that CreateContainer shows what the runtime made */
    options.socket_path = listening->live->socket;
    options.ignore_environment = 1;
    options.allow_missing_validate = 1;
    options.dispatch = NRI_DISPATCH_WORKER;
    /* A validator that leaves without its answer fails the container. */
    options.stop_grace_ms = GRACE_MS;
    options.pass_late_events = nri_event_bit(NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT);
    const int rc = nri_plugin_new(&listening->plugin, &ops, &options, listening, &error);
    if (rc == 0)
        return NRICTL_OK;
    const int code =
        nrictl_fail(listening->ctl, rc == NRI_E_NOMEM ? NRICTL_ENVIRONMENT : NRICTL_USAGE, "%s",
                    error != NULL ? nri_error_get_text(error) : nri_strerror(rc));
    nri_error_free(error);
    return code;
}

static void run(struct listening *listening)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < 2; i++) {
        (void)uv_signal_init(&listening->loop, &listening->signals[i]);
        listening->signals[i].data = listening;
        (void)uv_signal_start(&listening->signals[i], on_signal, numbers[i]);
    }
    const int rc = nri_plugin_start(listening->plugin, &listening->loop, on_ended, listening);
    if (rc != 0)
        on_ended(listening->plugin, rc, listening);
    (void)uv_run(&listening->loop, UV_RUN_DEFAULT);
}

int live_explain(struct nrictl *ctl, const struct live *live)
{
    struct listening *listening = calloc(1, sizeof *listening);
    int code = NRICTL_OK;
    if (listening == NULL || uv_loop_init(&listening->loop) != 0) {
        free(listening);
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no memory");
    }
    listening->ctl = ctl;
    listening->live = live;
    if ((code = make_plugin(listening)) == NRICTL_OK) {
        run(listening);
        code = listening->code;
    }
    (void)uv_loop_close(&listening->loop);
    for (size_t i = 0; i < MOST_KEPT; i++)
        nri_container_free(listening->kept[i]);
    free(listening);
    return code;
}
