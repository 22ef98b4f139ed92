/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nrictl bench [OPTIONS] [-- PLUGIN ARGS]: what plugins cost, beside the machine's floor.
 */
#include "bench.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "memory.h"
#include "plugin_option.h"

enum {
    ROUNDS = NRICTL_LONG,
    CALLS,
    WARM_UP,
    STARTS,
    OUTSTANDING,
    SIZE,
    TIMEOUT,
    CPU,
    NO_PIN,
    CHART
};

static const struct nrictl_option options[] = {
    {'p', "plugin", "[NN-NAME=]COMMAND",
     "A plugin, in one text; may be given again, and all are measured in turns"},
    {ROUNDS, "rounds", "N", "Turns of the floor and each plugin (20)"},
    {CALLS, "calls", "N", "Calls in a turn (200)"},
    {WARM_UP, "warm-up", "N", "Calls before these that do not count (as many as of a turn)"},
    {STARTS, "starts", "N", "Starts of each plugin (10)"},
    {OUTSTANDING, "outstanding", "N", "Calls under way for the throughput, 1 to 32 (8)"},
    {SIZE, "size", "BYTES", "Of a CreateContainer request, as far as annotations make it (2700)"},
    {TIMEOUT, "timeout", "TIME", "Patience for each answer, and each start (10s)"},
    {CPU, "cpu", "N", "Pin everything to that CPU (the last one that may be used)"},
    {NO_PIN, "no-pin", NULL, "Let everything run on any CPU"},
    {CHART, "chart", "FILE", "Draw a chart: a page when its name ends in .html, else SVG"},
    {0, NULL, NULL, NULL},
};

static const struct nrictl_example examples[] = {
    {"nrictl bench --rounds 3 --starts 3 -- nri-template", "What a plugin costs."},
    {"nrictl bench --rounds 3 --starts 3 --plugin 10-template=nri-template --plugin "
     "'20-logger=nri-logger --socket {socket} --name logger --idx 20' --chart bench.html",
     "Two plugins side by side, and a page with bars."},
    {"nrictl bench --rounds 3 --starts 3 --output json -- nri-template > bench.json",
     "For programs: nanoseconds and bytes."},
    {NULL, NULL},
};

/* ---- options ---- */

static int add_plugin(struct bench *bench, const char *argument)
{
    if (bench->plugin_count == BENCH_PLUGINS)
        return nrictl_fail(bench->ctl, NRICTL_USAGE, "--plugin may be given %d times",
                           BENCH_PLUGINS);
    struct bench_plugin *plugin = &bench->plugins[bench->plugin_count];
    const int code = plugin_option(bench->ctl, &bench->arena, argument, &plugin->of);
    if (code == 0)
        bench->plugin_count++;
    return code;
}

static int take_cpu(struct bench *bench, const char *argument)
{
    uint64_t number;
    if (!nrictl_number(bench->ctl, "--cpu", argument, 0, CPU_SETSIZE - 1, &number))
        return NRICTL_USAGE;
    bench->cpu = (int)number;
    return 0;
}

struct arguments {
    struct bench *bench;
    bool no_pin;
};

static int take(struct nrictl *ctl, int value, const char *argument, void *user)
{
    enum { MOST_MS = 600000, MOST_CALLS = 100000, MOST_ROUNDS = 10000 };
    struct arguments *arguments = user;
    struct bench *bench = arguments->bench;
    const struct {
        int option;
        const char *name;
        uint64_t most, *number;
    } numbers[] = {{ROUNDS, "--rounds", MOST_ROUNDS, &bench->rounds},
                   {CALLS, "--calls", MOST_CALLS, &bench->calls},
                   {WARM_UP, "--warm-up", MOST_CALLS, &bench->warm_up},
                   {STARTS, "--starts", MOST_ROUNDS, &bench->starts},
                   {OUTSTANDING, "--outstanding", BENCH_WIDE, &bench->outstanding},
                   {SIZE, "--size", UINT64_C(1) << 20, &bench->size}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (numbers[i].option == value)
            return nrictl_number(ctl, numbers[i].name, argument, 1, numbers[i].most,
                                 numbers[i].number)
                       ? 0
                       : NRICTL_USAGE;
    }
    switch (value) {
    case 'p':
        return add_plugin(bench, argument);
    case TIMEOUT:
        return nrictl_milliseconds(ctl, "--timeout", argument, 1, MOST_MS, &bench->timeout_ms)
                   ? 0
                   : NRICTL_USAGE;
    case CPU:
        return take_cpu(bench, argument);
    case NO_PIN:
        arguments->no_pin = true;
        return 0;
    default:
        bench->chart = argument;
        return 0;
    }
}

/* A plugin's command line behind --, words as they stand. */
static int take_rest(struct bench *bench, char **argv)
{
    if (bench->plugin_count == BENCH_PLUGINS)
        return nrictl_fail(bench->ctl, NRICTL_USAGE, "more than %d plugins", BENCH_PLUGINS);
    struct scenario_plugin *plugin = &bench->plugins[bench->plugin_count++].of;
    plugin->argv = (const char *const *)argv;
    for (size_t i = 0; argv[i] != NULL; i++)
        plugin->connects = plugin->connects || strstr(argv[i], "{socket}") != NULL;
    return 0;
}

static int judge(struct bench *bench)
{
    const uint64_t most = UINT64_C(10) * 1000 * 1000;
    if (bench->plugin_count == 0)
        return nrictl_fail(bench->ctl, NRICTL_USAGE,
                           "a plugin's command line is needed; see nrictl bench --help");
    if (bench->warm_up == 0)
        bench->warm_up = bench->calls;
    if (bench->rounds * bench->calls > most)
        return nrictl_fail(bench->ctl, NRICTL_USAGE,
                           "--rounds times --calls is more than the %llu whose times are kept",
                           (unsigned long long)most);
    /* Both sides would wait for the other with more than their sockets hold. */
    if (bench->outstanding * bench->size > (UINT64_C(64) << 10) && bench->outstanding > 1)
        return nrictl_fail(bench->ctl, NRICTL_USAGE,
                           "--outstanding times --size is at most 65536 bytes, or --outstanding 1");
    return 0;
}

/* ---- the machine ---- */

static int pin(struct bench *bench, bool no_pin)
{
    cpu_set_t set;
    if (no_pin) {
        bench->cpu = -1;
        return 0;
    }
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return nrictl_fail(bench->ctl, NRICTL_ENVIRONMENT, "the CPUs: %s", strerror(errno));
    for (size_t i = CPU_SETSIZE; bench->cpu < 0 && i-- > 0;)
        bench->cpu = CPU_ISSET(i, &set) ? (int)i : -1;
    CPU_ZERO(&set);
    CPU_SET((size_t)bench->cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        return nrictl_fail(bench->ctl, NRICTL_ENVIRONMENT, "--cpu %d: %s", bench->cpu,
                           strerror(errno));
    return 0;
}

static int catch_signals(struct bench *bench)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGCHLD);
    (void)signal(SIGPIPE, SIG_IGN); /* a result that nobody reads is no reason to leave a plugin */
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0 ||
        (bench->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)) < 0)
        return nrictl_fail(bench->ctl, NRICTL_ENVIRONMENT, "no signals: %s", strerror(errno));
    return 0;
}

static int make_directory(struct bench *bench)
{
    const char *base = getenv("TMPDIR");
    if (base == NULL || base[0] != '/' || strlen(base) > 30)
        base = "/tmp";
    (void)snprintf(bench->directory, sizeof bench->directory, "%s/nrictl-bench-XXXXXX", base);
    if (mkdtemp(bench->directory) != NULL)
        return 0;
    const int code =
        nrictl_fail(bench->ctl, NRICTL_ENVIRONMENT, "%s: %s", bench->directory, strerror(errno));
    bench->directory[0] = '\0';
    return code;
}

/* ---- the run ---- */

static void free_samples(struct bench_speed *speed)
{
    for (size_t i = 0; i < BENCH_EVENTS; i++)
        free(speed[i].trips.ns);
}

static void fini(struct bench *bench)
{
    for (size_t i = 0; i < BENCH_PLUGINS; i++) {
        free(bench->plugins[i].registered.ns);
        free(bench->plugins[i].synchronised.ns);
        free_samples(bench->plugins[i].speed);
    }
    free_samples(bench->floor);
    free(bench->floor_start.ns);
    for (size_t i = 0; i < BENCH_EVENTS; i++)
        nri_buf_fini(&bench->frames[i].bytes);
    if (bench->directory[0] != '\0')
        (void)rmdir(bench->directory);
    if (bench->signals >= 0)
        (void)close(bench->signals);
    nri_arena_fini(&bench->arena);
    free(bench);
}

static int measure(struct bench *bench)
{
    if (bench_run(bench)) {
        /* Whatever becomes of the chart, what was measured is not lost. */
        const int code = bench_report(bench);
        if (bench->chart != NULL && !bench_chart(bench))
            return nrictl_fail(bench->ctl, bench->code, "%s", bench->why);
        return code;
    }
    if (bench->interrupted)
        return nrictl_fail(bench->ctl, NRICTL_ENVIRONMENT, "interrupted: there is no result");
    return nrictl_fail(bench->ctl, bench->code, "%s", bench->why);
}

static struct bench *make_bench(struct nrictl *ctl)
{
    enum { ARENA = 1 << 20 };
    struct bench *bench = calloc(1, sizeof *bench);
    if (bench == NULL)
        return NULL;
    *bench = (struct bench){.ctl = ctl,
                            .rounds = 20,
                            .calls = 200,
                            .starts = 10,
                            .outstanding = 8,
                            .size = 2700,
                            .timeout_ms = 10000,
                            .cpu = -1,
                            .signals = -1};
    memory_arena(&bench->arena, ARENA);
    for (size_t i = 0; i < BENCH_PLUGINS; i++) {
        bench->plugins[i].listener = bench->plugins[i].output = -1;
        bench_link_init(&bench->plugins[i].link);
    }
    for (size_t i = 0; i < BENCH_EVENTS; i++)
        memory_buf(&bench->frames[i].bytes, SIZE_MAX);
    return bench;
}

static int run(struct nrictl *ctl, const struct nrictl_command *self, int argc, char **argv)
{
    struct bench *bench = make_bench(ctl);
    struct arguments arguments = {.bench = bench};
    int first;
    if (bench == NULL)
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no memory");
    int code = nrictl_parse(ctl, self, argc, argv, true, take, &arguments, &first);
    if (code < 0) {
        code = first < argc ? take_rest(bench, argv + first) : 0;
        if (code == 0 && (code = judge(bench)) == 0 && (code = pin(bench, arguments.no_pin)) == 0 &&
            (code = make_directory(bench)) == 0 && (code = catch_signals(bench)) == 0)
            code = measure(bench);
    }
    fini(bench);
    return code;
}

const struct nrictl_command nrictl_bench = {
    .name = "bench",
    .summary = "measure what plugins cost, beside what the machine costs without one",
    .arguments = "[-- PLUGIN [ARGUMENTS]]",
    .description =
        "Starts each plugin several times, then keeps them running and calls them: round trips one "
        "by one, and with several calls under way; CPU time, memory. The floor is measured in the "
        "same run, in turns with the plugins: a process that echoes as many bytes, a process that "
        "does nothing (true), a shell that has stopped. What disturbs the machine disturbs the "
        "floor as well, so read the ratios, and compare times of one run only.\n\n"
        "Everything is pinned to one CPU, because a wake-up across CPUs may take longer than a "
        "plugin does; --no-pin leaves that to the system. The same container is created and "
        "started again and again. {socket} in a plugin's command line is replaced; a plugin "
        "without it is launched as runtimes do, with its connection as descriptor 3.\n\n"
        "A plugin that refuses an event, ends, or does not answer within --timeout is a finding, "
        "and there is no result then.",
    .options = options,
    .examples = examples,
    .run = run,
};
