/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measurements, in turns: first the starts, then the calls.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "memory.h"
#include "message.h"

const char *const bench_event_names[BENCH_EVENTS] = {"CreateContainer", "StartContainer"};

/* ---- failures, time, samples ---- */

bool bench_fail(struct bench *bench, int code, const char *format, ...)
{
    va_list arguments;
    if (bench->why[0] != '\0')
        return false;
    va_start(arguments, format);
    (void)vsnprintf(bench->why, sizeof bench->why, format, arguments);
    va_end(arguments);
    bench->code = code;
    return false;
}

uint64_t bench_now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t bench_deadline(const struct bench *bench)
{
    return bench_now() + bench->timeout_ms * 1000000;
}

/* Signals that came; true when a child has changed. */
static bool take_signals(struct bench *bench)
{
    struct signalfd_siginfo info;
    bool child = false;
    while (read(bench->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            child = true;
        else
            bench->interrupted = true;
    }
    return child;
}

enum bench_wait bench_wait(struct bench *bench, int fd, uint64_t deadline_ns)
{
    struct pollfd fds[] = {{.fd = bench->signals, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    while (!bench->interrupted) {
        const uint64_t now = bench_now();
        const uint64_t left = now < deadline_ns ? (deadline_ns - now) / 1000000 + 1 : 0;
        const int ready = poll(fds, fd < 0 ? 1 : 2, (int)(left < 3600000 ? left : 3600000));
        if (ready < 0 && errno != EINTR)
            return BENCH_LATE;
        if (fds[0].revents != 0 && take_signals(bench) && !bench->interrupted)
            return BENCH_CHILD;
        /* Whatever is there: else a message that comes byte by byte had no end. */
        if (now >= deadline_ns && !bench->interrupted)
            return BENCH_LATE;
        if (ready > 0 && fd >= 0 && fds[1].revents != 0)
            return BENCH_READY;
        if (ready == 0 && bench_now() >= deadline_ns)
            return BENCH_LATE;
    }
    return BENCH_STOPPED;
}

bool bench_sample(struct bench *bench, struct bench_samples *samples, uint64_t ns)
{
    if (samples->count == samples->room) {
        const size_t room = samples->room == 0 ? 1024 : samples->room * 2;
        uint64_t *more = reallocarray(samples->ns, room, sizeof *more);
        if (more == NULL)
            return bench_fail(bench, NRICTL_ENVIRONMENT, "no memory for %zu times", room);
        samples->ns = more;
        samples->room = room;
    }
    samples->ns[samples->count++] = ns;
    return true;
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

uint64_t bench_at(struct bench_samples *samples, unsigned per_mille)
{
    if (samples->count == 0)
        return 0;
    qsort(samples->ns, samples->count, sizeof *samples->ns, compare);
    const size_t above = samples->count * per_mille / 1000;
    return samples->ns[above < samples->count ? above : samples->count - 1];
}

/* ---- the requests ---- */

enum { CREATE_CONTAINER = 4, START_CONTAINER = 6 };

static unsigned number_of(enum bench_event event)
{
    return event == BENCH_CREATE ? CREATE_CONTAINER : START_CONTAINER;
}

bool bench_wants(const struct bench_plugin *plugin, enum bench_event event)
{
    return (plugin->events >> (number_of(event) - 1) & 1) != 0;
}

/* What 0.8 sends: CreateContainer has a call of its own, StartContainer is a StateChange. */
static bool make_payload(struct bench *bench, enum bench_event event, struct nri_buf *payload)
{
    enum { EVENT = 1, POD, CONTAINER };
    const unsigned number = number_of(event);
    const unsigned shift = event == BENCH_CREATE ? 1 : 0; /* pod is field 1 there */
    struct nri_buf inner;
    memory_buf(&inner, SIZE_MAX);
    bool good = (shift == 1 || message_number(payload, EVENT, number)) &&
                message_pod(&inner, MESSAGE_0_8, 0) && message_inner(payload, POD - shift, &inner);
    nri_buf_reset(&inner, SIZE_MAX);
    good = good && message_container(&inner, MESSAGE_0_8, 0, number);
    const size_t have = nri_buf_size(payload) + nri_buf_size(&inner);
    if (good && event == BENCH_CREATE && have < bench->size)
        good = message_padding(&inner, "example.com/padding", (size_t)bench->size - have);
    good = good && message_inner(payload, CONTAINER - shift, &inner);
    nri_buf_fini(&inner);
    return good || bench_fail(bench, NRICTL_ENVIRONMENT, "no memory for a request");
}

static bool make_frames(struct bench *bench)
{
    static const char *const methods[BENCH_EVENTS] = {"CreateContainer", "StateChange"};
    bool good = true;
    for (unsigned i = 0; good && i < BENCH_EVENTS; i++) {
        struct nri_buf payload;
        memory_buf(&payload, SIZE_MAX);
        good = make_payload(bench, i, &payload) &&
               bench_frame_make(bench, &bench->frames[i], methods[i], &payload);
        nri_buf_fini(&payload);
    }
    return good;
}

/* ---- the starts ---- */

static void progress(const struct bench *bench, const char *what, uint64_t done, uint64_t all)
{
    if (bench->ctl->progress)
        (void)fprintf(bench->ctl->err, "\r\033[K%s %llu of %llu", what, (unsigned long long)done,
                      (unsigned long long)all);
}

static bool start_all(struct bench *bench)
{
    for (uint64_t i = 0; i < bench->starts; i++) {
        progress(bench, "start", i + 1, bench->starts);
        if (!bench_floor_start(bench))
            return false;
        for (size_t j = 0; j < bench->plugin_count; j++) {
            const bool good = bench_plugin_start(bench, &bench->plugins[j], true);
            bench_plugin_stop(bench, &bench->plugins[j]);
            if (!good || bench->interrupted)
                return false;
        }
    }
    return true;
}

/* ---- the calls ---- */

/* Either a plugin or the floor. */
struct side {
    struct bench_plugin *plugin; /* NULL: the floor */
    const struct bench_echo *echo;
    struct bench_speed *speed;
    pid_t pid;
};

static bool send_one(struct bench *bench, const struct side *side, enum bench_event event)
{
    return side->plugin != NULL ? bench_link_send(bench, &side->plugin->link, &bench->frames[event])
                                : bench_echo_send(bench, side->echo, &bench->frames[event]);
}

static bool receive_one(struct bench *bench, const struct side *side, enum bench_event event)
{
    struct bench_message reply;
    return side->plugin != NULL
               ? bench_link_reply(bench, &side->plugin->link, bench_event_names[event], &reply)
               : bench_echo_receive(bench, side->echo);
}

static bool one_by_one(struct bench *bench, const struct side *side, enum bench_event event)
{
    for (uint64_t i = 0; i < bench->calls; i++) {
        const uint64_t sent = bench_now();
        if (!send_one(bench, side, event) || !receive_one(bench, side, event) ||
            !bench_sample(bench, &side->speed->trips, bench_now() - sent))
            return false;
    }
    return true;
}

/* With several under way, as different containers have them. */
static bool side_by_side(struct bench *bench, const struct side *side, enum bench_event event)
{
    const uint64_t wide = bench->outstanding < bench->calls ? bench->outstanding : bench->calls;
    const uint64_t began = bench_now();
    uint64_t sent = 0;
    for (; sent < wide; sent++) {
        if (!send_one(bench, side, event))
            return false;
    }
    for (uint64_t got = 0; got < bench->calls; got++) {
        if (!receive_one(bench, side, event))
            return false;
        if (sent < bench->calls) {
            sent++;
            if (!send_one(bench, side, event))
                return false;
        }
    }
    side->speed->wide_ns += bench_now() - began;
    side->speed->wide_calls += bench->calls;
    return true;
}

static bool turn(struct bench *bench, const struct side *side, enum bench_event event)
{
    uint64_t before, after;
    if (!bench_cpu_of(bench, side->pid, &before) || !one_by_one(bench, side, event) ||
        !bench_cpu_of(bench, side->pid, &after))
        return false;
    side->speed->cpu_ns += after - before;
    side->speed->cpu_calls += bench->calls;
    return side_by_side(bench, side, event);
}

/* What a plugin prints does not gather. */
static bool turn_of_plugin(struct bench *bench, struct bench_plugin *plugin, enum bench_event event)
{
    const struct side side = {
        .plugin = plugin, .speed = &plugin->speed[event], .pid = plugin->link.pid};
    const bool good = turn(bench, &side, event);
    return good && (ftruncate(plugin->output, 0) == 0 || good);
}

static bool rounds_of(struct bench *bench, enum bench_event event, const struct bench_echo *echo)
{
    const struct side floor = {.echo = echo, .speed = &bench->floor[event], .pid = echo->pid};
    for (uint64_t i = 0; i < bench->rounds; i++) {
        progress(bench, bench_event_names[event], i + 1, bench->rounds);
        if (!turn(bench, &floor, event))
            return false;
        for (size_t j = 0; j < bench->plugin_count; j++) {
            if (!turn_of_plugin(bench, &bench->plugins[j], event))
                return false;
        }
    }
    return true;
}

/* Calls that do not count: it shows how large the replies are, too. */
static bool warm_up(struct bench *bench, enum bench_event event, size_t *reply)
{
    *reply = NRI_MUX_HEADER + NRI_TTRPC_HEADER;
    for (size_t j = 0; j < bench->plugin_count; j++) {
        struct bench_plugin *plugin = &bench->plugins[j];
        for (uint64_t i = 0; i < bench->warm_up; i++) {
            struct bench_message message;
            if (!bench_link_send(bench, &plugin->link, &bench->frames[event]) ||
                !bench_link_reply(bench, &plugin->link, bench_event_names[event], &message))
                return false;
        }
        plugin->reply[event] = NRI_MUX_HEADER + NRI_TTRPC_HEADER +
                               nri_buf_size(&plugin->link.coming[NRI_MUX_PLUGIN_ID - 1]);
        *reply = plugin->reply[event] > *reply ? plugin->reply[event] : *reply;
    }
    return true;
}

static bool calls_of(struct bench *bench, enum bench_event event)
{
    struct bench_echo echo;
    size_t reply;
    if (!warm_up(bench, event, &reply))
        return false;
    const bool good =
        bench_echo_start(bench, &echo, nri_buf_size(&bench->frames[event].bytes), reply) &&
        rounds_of(bench, event, &echo);
    bench_echo_stop(&echo);
    return good;
}

static bool call_all(struct bench *bench)
{
    for (size_t j = 0; j < bench->plugin_count; j++) {
        struct bench_plugin *plugin = &bench->plugins[j];
        if (!bench_plugin_start(bench, plugin, false) ||
            !bench_plugin_memory(bench, plugin, &plugin->idle))
            return false;
    }
    for (unsigned event = 0; event < BENCH_EVENTS; event++) {
        if (!calls_of(bench, event))
            return false;
    }
    for (size_t j = 0; j < bench->plugin_count; j++) {
        if (!bench_plugin_memory(bench, &bench->plugins[j], &bench->plugins[j].loaded))
            return false;
    }
    return true;
}

/* Two of one name are told apart. */
static void number_titles(struct bench *bench)
{
    /* From the last one, so that those before it have their names still. */
    for (size_t i = bench->plugin_count; i-- > 1;) {
        char *title = bench->plugins[i].title;
        unsigned number = 1;
        for (size_t j = 0; j < i; j++)
            number += strcmp(bench->plugins[j].title, title) == 0;
        const size_t used = strlen(title);
        if (number > 1)
            (void)snprintf(title + used, sizeof bench->plugins[i].title - used, " (%u)", number);
    }
}

bool bench_run(struct bench *bench)
{
    const bool good =
        make_frames(bench) && bench_floor_memory(bench) && start_all(bench) && call_all(bench);
    for (size_t j = 0; j < bench->plugin_count; j++)
        bench_plugin_stop(bench, &bench->plugins[j]);
    if (bench->ctl->progress)
        (void)fprintf(bench->ctl->err, "\r\033[K");
    number_titles(bench);
    return good && !bench->interrupted;
}
