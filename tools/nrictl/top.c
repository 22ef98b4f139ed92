/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nrictl top: what plugins are doing, again and again.
 *
 * Happy path: the timer -> all sources are read, endpoints beside each other, recordings piece by
 * piece -> the table -> the timer. q, a signal, or the last of --count ends it. Failure modes: a
 * source that cannot be read is told in the table and asked again with the next one.
 */
#include "top.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "meter.h"
#include "meter_metrics.h"
#include "meter_recording.h"
#include "scrape.h"
#include "screen.h"

#define WAIT_MS 100 /* between readings while sources are waited for */
#define HOUR    ((uint64_t)3600 * 1000)
#define SIGNALS 5

enum { HTTP = NRICTL_LONG, PATH, TIMEOUT, WAIT };

static const struct nrictl_option options[] = {
    {HTTP, "http", "ADDRESS",
     "Metrics of a plugin or a runtime, with the address that it has as --http: HOST:PORT, "
     "[IPV6]:PORT, :PORT or unix:PATH; may be given again"},
    {'r', "recording", "FILE", "A recording, also one that is being written; may be given again"},
    {'i', "interval", "TIME", "Between tables, from 100ms to 1h (1s)"},
    {'n', "count", "NUMBER", "End after so many tables (never)"},
    {'a', "all", NULL, "Events that never came, too"},
    {PATH, "path", "PATH", "Where metrics are (/metrics)"},
    {TIMEOUT, "timeout", "TIME", "How long an endpoint may take (5s)"},
    {WAIT, "wait", "TIME", "Wait so long for sources that are not there yet (0ms)"},
    {0, NULL, NULL, NULL},
};

static const struct nrictl_example examples[] = {
    {"nrictl top --http unix:/run/limits.http --http :9090 --count 1; test $? = 3",
     "One table of two plugins' metrics; 3 says that one does not answer."},
    {"nrictl top --recording session.rec --count 1 --output json | python3 -m json.tool",
     "What a recording has up to now, as JSON."},
    {NULL, NULL},
};

struct endpoint {
    struct top *top;
    struct meter_source *source;
    struct scrape *scrape; /* under way */
};

struct reading { /* of a recording */
    struct meter_recording *recording;
    struct meter_source *source;
    bool busy, failed;
};

struct top {
    struct nrictl *ctl;
    uint64_t interval_ms, count, timeout_ms, wait_ms;
    bool all;
    const char *path;
    struct meter meter;
    struct endpoint endpoints[METER_MOST_SOURCES];
    struct reading readings[METER_MOST_SOURCES];
    size_t endpoint_count, reading_count;
    size_t busy; /* sources that are being read */
    uv_loop_t loop;
    uv_timer_t timer;
    uv_idle_t idle; /* recordings are read */
    uv_signal_t signals[SIGNALS];
    uv_poll_t keys;
    bool has_keys;
    uint64_t began, shown;
    bool waited; /* all sources were there once, or it took too long */
    bool over;
    struct screen screen;
    int code;
};

/* ---- the command line ---- */

static int take_http(struct nrictl *ctl, struct top *top, const char *argument)
{
    if (!scrape_check(argument))
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "--http '%s': write HOST:PORT, [IPV6]:PORT, :PORT or unix:PATH",
                           argument);
    struct meter_source *source = meter_add_source(&top->meter, argument);
    if (source == NULL)
        return nrictl_fail(ctl, NRICTL_USAGE, "at most %d sources are possible",
                           METER_MOST_SOURCES);
    top->endpoints[top->endpoint_count++] = (struct endpoint){.top = top, .source = source};
    return 0;
}

static int take_recording(struct nrictl *ctl, struct top *top, const char *argument)
{
    struct meter_source *source = meter_add_source(&top->meter, argument);
    if (source == NULL)
        return nrictl_fail(ctl, NRICTL_USAGE, "at most %d sources are possible",
                           METER_MOST_SOURCES);
    struct reading *reading = &top->readings[top->reading_count++];
    reading->source = source;
    return meter_recording_open(ctl, &reading->recording, &top->meter, source, argument);
}

static int take_path(struct nrictl *ctl, struct top *top, const char *argument)
{
    bool good = argument[0] == '/' && strlen(argument) < 512;
    for (const char *at = argument; *at != '\0'; at++)
        good = good && (unsigned char)*at > ' ' && (unsigned char)*at < 0x7f;
    if (!good)
        return nrictl_fail(ctl, NRICTL_USAGE, "--path is a path such as /metrics, without blanks");
    top->path = argument;
    return 0;
}

static int take(struct nrictl *ctl, int value, const char *argument, void *user)
{
    struct top *top = user;
    bool good = true;
    switch (value) {
    case HTTP:
        return take_http(ctl, top, argument);
    case 'r':
        return take_recording(ctl, top, argument);
    case PATH:
        return take_path(ctl, top, argument);
    case 'i':
        good = nrictl_milliseconds(ctl, "--interval", argument, 100, HOUR, &top->interval_ms);
        break;
    case 'n':
        good = nrictl_number(ctl, "--count", argument, 1, UINT32_MAX, &top->count);
        break;
    case TIMEOUT:
        good = nrictl_milliseconds(ctl, "--timeout", argument, 1, HOUR, &top->timeout_ms);
        break;
    case WAIT:
        good = nrictl_milliseconds(ctl, "--wait", argument, 0, HOUR, &top->wait_ms);
        break;
    default:
        top->all = true;
        break;
    }
    return good ? 0 : NRICTL_USAGE;
}

/* ---- its end ---- */

static void finish(struct top *top, int code)
{
    if (top->over)
        return;
    top->over = true;
    top->code = code;
    uv_close((uv_handle_t *)&top->timer, NULL);
    uv_close((uv_handle_t *)&top->idle, NULL);
    for (size_t i = 0; i < SIGNALS; i++)
        uv_close((uv_handle_t *)&top->signals[i], NULL);
    if (top->has_keys)
        uv_close((uv_handle_t *)&top->keys, NULL);
    for (size_t i = 0; i < top->endpoint_count; i++) {
        if (top->endpoints[i].scrape != NULL)
            scrape_cancel(top->endpoints[i].scrape);
    }
}

/* ---- what is shown ---- */

static size_t not_read(const struct top *top)
{
    size_t count = 0;
    for (size_t i = 0; i < top->meter.source_count; i++)
        count += top->meter.sources[i].read ? 0 : 1;
    return count;
}

static void draw(struct top *top)
{
    struct nrictl memory = *top->ctl;
    char *text = NULL;
    size_t length = 0;
    memory.out = open_memstream(&text, &length);
    if (memory.out == NULL)
        return;
    const int code = meter_print(&memory, &top->meter, top->all);
    if (fclose(memory.out) == 0 && code == NRICTL_OK)
        screen_draw(&top->screen, text, length);
    free(text);
}

static void show(struct top *top)
{
    if (top->screen.on) {
        draw(top);
    } else {
        if (top->shown > 0 && !top->ctl->json)
            (void)fputc('\n', top->ctl->out);
        const int code = meter_print(top->ctl, &top->meter, top->all);
        if (fflush(top->ctl->out) != 0 || code != NRICTL_OK) {
            finish(top, NRICTL_ENVIRONMENT); /* nobody reads it */
            return;
        }
    }
    top->shown++;
    if (top->count > 0 && top->shown >= top->count)
        finish(top, not_read(top) > 0 ? NRICTL_ENVIRONMENT : NRICTL_OK);
}

static void on_timer(uv_timer_t *timer);

/* A file that is no recording does not become one. */
static bool is_hopeless(struct top *top)
{
    if (top->endpoint_count > 0)
        return false;
    for (size_t i = 0; i < top->reading_count; i++) {
        if (!top->readings[i].failed)
            return false;
    }
    screen_end(&top->screen);
    const struct meter_source *source = top->readings[0].source;
    (void)nrictl_fail(top->ctl, 0, "%s: %s", source->name,
                      source->why != NULL ? source->why : "no memory");
    finish(top, NRICTL_USAGE);
    return true;
}

/* A source less is being read; after the last one there is a table. */
static void one_read(struct top *top)
{
    if (--top->busy > 0 || top->over)
        return;
    if (is_hopeless(top))
        return;
    top->waited =
        top->waited || not_read(top) == 0 || uv_hrtime() - top->began >= top->wait_ms * 1000000;
    if (top->waited)
        show(top);
    if (!top->over)
        (void)uv_timer_start(&top->timer, on_timer, top->waited ? top->interval_ms : WAIT_MS, 0);
}

/* ---- reading ---- */

static void on_scraped(void *user, const char *text, size_t length, const char *why)
{
    struct endpoint *endpoint = user;
    struct top *top = endpoint->top;
    endpoint->scrape = NULL;
    if (text != NULL)
        (void)meter_read_metrics(&top->meter, endpoint->source, uv_hrtime(), text, length);
    else
        meter_fail(&top->meter, endpoint->source, why);
    one_read(top);
}

static void on_idle(uv_idle_t *idle)
{
    struct top *top = idle->data;
    size_t left = 0;
    for (size_t i = 0; i < top->reading_count; i++) {
        struct reading *reading = &top->readings[i];
        bool end = false;
        if (!reading->busy)
            continue;
        reading->failed = !meter_recording_read(reading->recording, &end);
        reading->busy = !reading->failed && !end;
        left += reading->busy ? 1 : 0;
        if (!reading->failed && end)
            meter_end(&top->meter, reading->source);
    }
    if (left > 0)
        return;
    (void)uv_idle_stop(idle);
    one_read(top);
}

static void read_recordings(struct top *top)
{
    size_t count = 0;
    for (size_t i = 0; i < top->reading_count; i++) {
        struct reading *reading = &top->readings[i];
        reading->busy = !reading->failed; /* what is no recording does not become one */
        if (!reading->busy)
            continue;
        meter_begin(&top->meter, reading->source, uv_hrtime(), false);
        count++;
    }
    if (count == 0)
        return;
    top->busy++; /* all of them are one */
    (void)uv_idle_start(&top->idle, on_idle);
}

static void on_timer(uv_timer_t *timer)
{
    struct top *top = timer->data;
    top->busy = 1; /* until all have begun */
    read_recordings(top);
    for (size_t i = 0; i < top->endpoint_count; i++) {
        struct endpoint *endpoint = &top->endpoints[i];
        endpoint->scrape = scrape_start(&top->loop, endpoint->source->name, top->path,
                                        top->timeout_ms, on_scraped, endpoint);
        if (endpoint->scrape != NULL)
            top->busy++;
        else
            meter_fail(&top->meter, endpoint->source, "no memory");
    }
    one_read(top);
}

/* ---- signals and keys ---- */

static void on_signal(uv_signal_t *handle, int number)
{
    struct top *top = handle->data;
    if (number == SIGTSTP) {
        screen_end(&top->screen);
        (void)raise(SIGSTOP); /* until SIGCONT */
        screen_begin(&top->screen);
    }
    if (number == SIGTSTP || number == SIGWINCH)
        draw(top);
    else
        finish(top, NRICTL_OK);
}

static void on_keys(uv_poll_t *poll, int status, int events)
{
    struct top *top = poll->data;
    (void)events;
    if (status != 0 || screen_wants_end(&top->screen))
        finish(top, NRICTL_OK);
}

static void listen_to_user(struct top *top)
{
    static const int numbers[SIGNALS] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP};
    for (size_t i = 0; i < SIGNALS; i++) {
        (void)uv_signal_init(&top->loop, &top->signals[i]);
        top->signals[i].data = top;
        if (i < 3 || top->screen.on)
            (void)uv_signal_start(&top->signals[i], on_signal, numbers[i]);
    }
    if (!top->screen.on || top->screen.in < 0 ||
        uv_poll_init(&top->loop, &top->keys, top->screen.in) != 0)
        return;
    top->has_keys = true;
    top->keys.data = top;
    (void)uv_poll_start(&top->keys, UV_READABLE, on_keys);
}

static int watch(struct nrictl *ctl, struct top *top)
{
    if (uv_loop_init(&top->loop) != 0)
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no loop");
    const int out = fileno(ctl->out);
    screen_init(&top->screen, out, STDIN_FILENO);
    if (!ctl->json && out >= 0 && isatty(out) == 1)
        screen_begin(&top->screen);
    (void)uv_timer_init(&top->loop, &top->timer);
    (void)uv_idle_init(&top->loop, &top->idle);
    top->timer.data = top->idle.data = top;
    top->began = uv_hrtime();
    listen_to_user(top);
    (void)uv_timer_start(&top->timer, on_timer, 0, 0);
    (void)uv_run(&top->loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&top->loop);
    if (!top->screen.on)
        return top->code;
    screen_end(&top->screen); /* the last table stays */
    const int code = meter_print(ctl, &top->meter, top->all);
    return code != NRICTL_OK ? code : top->code;
}

static int run(struct nrictl *ctl, const struct nrictl_command *self, int argc, char **argv)
{
    int first;
    struct top *top = calloc(1, sizeof *top);
    if (top == NULL)
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no memory");
    top->ctl = ctl;
    top->interval_ms = 1000;
    top->timeout_ms = 5000;
    top->path = "/metrics";
    int code = nrictl_parse(ctl, self, argc, argv, false, take, top, &first);
    if (code < 0 && first < argc)
        code = nrictl_fail(ctl, NRICTL_USAGE,
                           "'%s' is no option; sources are --http and --recording", argv[first]);
    else if (code < 0 && top->meter.source_count == 0)
        code = nrictl_fail(ctl, NRICTL_USAGE,
                           "no source: give --http ADDRESS or --recording FILE; see nrictl top "
                           "--help");
    if (code < 0)
        code = watch(ctl, top);
    for (size_t i = 0; i < top->reading_count; i++)
        meter_recording_close(top->readings[i].recording);
    meter_fini(&top->meter);
    free(top);
    return code;
}

const struct nrictl_command nrictl_top = {
    .name = "top",
    .summary = "watch events, latencies and errors of plugins",
    .arguments = "",
    .description =
        "Shows, by plugin and event, how many there were, how many come a second, how long they "
        "took, and how many failed, were refused, came late, were answered by the deadline guard, "
        "or have no answer yet. Latencies are those of the events since the table before; where "
        "none came, the last ones stay. On a terminal the table is drawn in place until q or "
        "Ctrl-C; elsewhere there is a table, or a line of JSON, for each interval.\n\n"
        "Sources are the metrics of plugins on libnri (nri-app's --http), those of runtimes on "
        "libnri, and recordings. A dash is what the source does not count. It ends with 3 when "
        "after the last of --count a source cannot be read.",
    .options = options,
    .examples = examples,
    .run = run,
};
