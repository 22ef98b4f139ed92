/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Happy path: load_start() -> lives begin, at their rate -> each asks for all its operations at
 * once, which the node does in turn -> the last operation of the last life -> `done`. Failure
 * modes: an operation fails (counted, and the life goes on as far as it can), no memory (that life
 * is counted as an error), load_stop().
 */
#include "load.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "histogram.h"
#include "load_inside.h"

#define TICK_MS     10
#define PROGRESS_MS 200

/* One life. */
struct life {
    struct load *load;
    size_t open;        /* operations without their callback */
    bool failed, begun; /* an operation failed; all have been asked for */
};

/* ---- what is counted ---- */

static struct load_row *row_of(struct load *load, const char *plugin, enum nri_event event)
{
    for (struct load_row *at = load->rows; at != NULL; at = at->next) {
        if (at->event == event && strcmp(at->plugin, plugin) == 0)
            return at;
    }
    const size_t size = strlen(plugin) + 1;
    struct load_row *row = calloc(1, sizeof *row + size);
    if (row == NULL)
        return NULL;
    row->event = event;
    memcpy(row->plugin, plugin, size);
    *load->rows_end = row;
    load->rows_end = &row->next;
    return row;
}

static void count(struct load *load, const char *plugin, enum nri_event event, uint64_t nanoseconds,
                  bool failed)
{
    struct load_row *row = row_of(load, plugin, event);
    if (row == NULL)
        return;
    histogram_add(&row->times, nanoseconds);
    row->errors += failed ? 1 : 0;
}

void load_outcome(struct load *load, nri_outcome *outcome)
{
    load->events++;
    count(load, "", nri_outcome_event(outcome), node_event_nanoseconds(load->node),
          nri_outcome_code(outcome) != 0);
    for (size_t i = 0; i < nri_outcome_step_count(outcome); i++)
        count(load, nri_outcome_step_plugin(outcome, i), nri_outcome_step_event(outcome, i),
              nri_outcome_step_latency(outcome, i), nri_outcome_step_code(outcome, i) != 0);
}

static void note_error(struct load *load, const char *text)
{
    load->errors++;
    if (load->error[0] == '\0')
        (void)snprintf(load->error, sizeof load->error, "%s", text);
}

/* ---- lives ---- */

static void begin_lives(struct load *load);

static void look_for_end(struct load *load)
{
    if (load->alive > 0 || !load->over || load->ended)
        return;
    load->ended = true;
    load->nanoseconds = uv_hrtime() - load->began;
    (void)uv_timer_stop(&load->tick);
    (void)uv_timer_stop(&load->progress);
    if (load->drawn)
        (void)fputs("\r\033[K", load->ctl->err);
    load->done(load, load->user);
}

static void end_life(struct life *life)
{
    struct load *load = life->load;
    if (!life->begun || life->open > 0)
        return;
    free(life);
    load->alive--;
    load->pods++;
    if (load->options.rate == 0)
        begin_lives(load);
    look_for_end(load);
}

/* What follows from a failure is none of its own. */
static void on_operation(struct node *node, const struct node_result *result, void *user)
{
    struct life *life = user;
    struct load *load = life->load;
    (void)node;
    load->operations++;
    life->open--;
    if (result->code != 0 &&
        !(life->failed && (result->code == NRI_E_NOT_FOUND || result->code == NRI_E_STATE)))
        note_error(load, result->text);
    life->failed = life->failed || result->code != 0;
    if (node_result_outcome(result, NRI_EVENT_CREATE_CONTAINER) != NULL && result->done)
        load->containers++;
    end_life(life);
}

static void asked(struct life *life, int code)
{
    if (code == 0)
        life->open++;
    else
        note_error(life->load, nri_strerror(code));
}

static nri_pod *make_pod(const char *id)
{
    nri_pod *pod = NULL;
    if (nri_pod_new(&pod, NULL) != 0)
        return NULL;
    (void)nri_pod_set_id(pod, id);
    (void)nri_pod_set_name(pod, id);
    (void)nri_pod_set_uid(pod, id);
    (void)nri_pod_set_namespace(pod, "load");
    (void)nri_pod_set_label(pod, "app", "load");
    (void)nri_pod_set_cgroup_parent(pod, "/kubepods/burstable");
    return nri_pod_error(pod) == 0 ? pod : nri_pod_free(pod);
}

/* As large as usual ones. */
static nri_container *make_container(const char *id, uint64_t number)
{
    static const char *const args[] = {"/usr/bin/server", "--port", "8080"};
    static const char *const options[] = {"rbind", "rprivate", "ro"};
    char text[64];
    nri_container *container = NULL;
    if (nri_container_new(&container, NULL) != 0)
        return NULL;
    (void)nri_container_set_id(container, id);
    (void)snprintf(text, sizeof text, "container-%" PRIu64, number);
    (void)nri_container_set_name(container, text);
    (void)nri_container_set_args(container, args, 3);
    (void)nri_container_set_env(container, "PATH", "/usr/local/sbin:/usr/local/bin:/usr/bin:/bin");
    for (int i = 0; i < 12; i++) {
        (void)snprintf(text, sizeof text, "KUBERNETES_SERVICE_%d_HOST", i);
        (void)nri_container_set_env(container, text, "10.96.0.1");
    }
    for (int i = 0; i < 4; i++) {
        (void)snprintf(text, sizeof text, "/var/lib/volume-%d", i);
        (void)nri_container_set_mount(container, text, "bind", text, options, 3);
    }
    nri_resources *resources = nri_container_edit_resources(container);
    (void)nri_resources_set_cpu_shares(resources, 512);
    (void)nri_resources_set_memory_limit(resources, 256 << 20);
    return nri_container_error(container) == 0 ? container : nri_container_free(container);
}

static void ask_container(struct life *life, const char *pod, uint64_t number)
{
    struct load *load = life->load;
    char id[96];
    (void)snprintf(id, sizeof id, "%s-%" PRIu64, pod, number);
    nri_container *container = make_container(id, number);
    const int code = container == NULL
                         ? NRI_E_NOMEM
                         : node_create(load->node, pod, container, on_operation, life);
    asked(life, code);
    if (code != 0) {
        nri_container_free(container);
        return;
    }
    asked(life, node_start_container(load->node, id, on_operation, life));
    asked(life, node_update_container(load->node, id, nri_container_resources(load->wish),
                                      on_operation, life));
}

static void begin_life(struct load *load)
{
    struct life *life = calloc(1, sizeof *life);
    char id[64];
    load->begun++;
    if (life == NULL) {
        note_error(load, "out of memory for a pod sandbox");
        return;
    }
    life->load = load;
    load->alive++;
    (void)snprintf(id, sizeof id, "load-%06" PRIu64, load->begun);
    nri_pod *pod = make_pod(id);
    const int code = pod == NULL ? NRI_E_NOMEM : node_run_pod(load->node, pod, on_operation, life);
    asked(life, code);
    if (code != 0) {
        nri_pod_free(pod);
        load->over = load->over || code == NRI_E_STATE; /* the node is closing: no other can be */
    } else {
        for (uint64_t i = 0; i < load->options.containers; i++)
            ask_container(life, id, i);
        asked(life, node_stop_pod(load->node, id, on_operation, life));
        asked(life, node_remove_pod(load->node, id, on_operation, life));
    }
    life->begun = true;
    end_life(life); /* one that could ask for nothing */
}

/* How many may have begun by now. */
static uint64_t due(const struct load *load, uint64_t elapsed)
{
    const struct load_options *options = &load->options;
    if (options->duration_ms == 0 && options->rate == 0)
        return options->pods;
    if (options->rate == 0)
        return UINT64_MAX;
    const uint64_t lives = (uint64_t)((double)elapsed * 1e-9 * (double)options->rate) + 1;
    return options->duration_ms == 0 && lives > options->pods ? options->pods : lives;
}

static void begin_lives(struct load *load)
{
    const struct load_options *options = &load->options;
    const uint64_t elapsed = uv_hrtime() - load->began;
    if (options->duration_ms != 0 && elapsed >= options->duration_ms * 1000000)
        load->over = true;
    while (!load->over && !load->beginning && load->alive < options->pods &&
           load->begun < due(load, elapsed)) {
        load->beginning = true; /* a life that fails at once does not begin others itself */
        begin_life(load);
        load->beginning = false;
        if (options->duration_ms == 0 && load->begun == options->pods)
            load->over = true;
    }
}

/* ---- time ---- */

static void on_tick(uv_timer_t *timer)
{
    struct load *load = timer->data;
    begin_lives(load);
    look_for_end(load);
}

static void on_progress(uv_timer_t *timer)
{
    struct load *load = timer->data;
    const double seconds = (double)(uv_hrtime() - load->began) * 1e-9;
    load->drawn = true;
    (void)fprintf(load->ctl->err,
                  "\r\033[K%.1f s  %" PRIu64 " pod sandboxes, %zu alive, %" PRIu64
                  " events (%.0f/s), %" PRIu64 " errors",
                  seconds, load->pods, load->alive, load->events, (double)load->events / seconds,
                  load->errors);
    (void)fflush(load->ctl->err);
}

struct load *load_start(struct nrictl *ctl, struct node *node, const struct load_options *options,
                        void (*done)(struct load *load, void *user), void *user)
{
    struct load *load = calloc(1, sizeof *load);
    if (load == NULL || nri_container_new(&load->wish, NULL) != 0 ||
        nri_resources_set_cpu_shares(nri_container_edit_resources(load->wish), 1024) != 0) {
        if (load != NULL)
            nri_container_free(load->wish);
        free(load);
        return NULL;
    }
    load->ctl = ctl;
    load->node = node;
    load->options = *options;
    load->options.pods = options->pods == 0 ? 10 : options->pods;
    load->options.containers = options->containers == 0 ? 1 : options->containers;
    load->done = done;
    load->user = user;
    load->rows_end = &load->rows;
    load->began = uv_hrtime();
    (void)uv_timer_init(node_loop(node), &load->tick);
    (void)uv_timer_init(node_loop(node), &load->progress);
    load->tick.data = load->progress.data = load;
    (void)uv_timer_start(&load->tick, on_tick, 0, TICK_MS);
    if (ctl->progress)
        (void)uv_timer_start(&load->progress, on_progress, PROGRESS_MS, PROGRESS_MS);
    return load;
}

void load_stop(struct load *load)
{
    load->over = true; /* the next tick sees it */
}

uint64_t load_errors(const struct load *load)
{
    return load->errors;
}

static void on_closed(uv_handle_t *handle)
{
    struct load *load = handle->data;
    if (++load->closed < 2)
        return;
    nri_container_free(load->wish);
    while (load->rows != NULL) {
        struct load_row *row = load->rows;
        load->rows = row->next;
        free(row);
    }
    free(load);
}

void load_free(struct load *load)
{
    if (load == NULL)
        return;
    uv_close((uv_handle_t *)&load->tick, on_closed);
    uv_close((uv_handle_t *)&load->progress, on_closed);
}
