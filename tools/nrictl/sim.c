/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nrictl sim [SCENARIO]: a node that is none, for plugins to be tried on.
 */
#include "sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "plugin_option.h"
#include "report.h"

#define MOST_PLUGINS 128
#define MINUTE       60000
#define DAY          86400000

enum {
    PLUGIN = NRICTL_LONG,
    PLUGIN_DIR,
    CONFIG_DIR,
    SOCKET,
    RUNTIME,
    WAIT,
    JUNIT,
    TAP,
    KEEP,
    TIMEOUT,
    SCHEMA,
    SHELL,
    PODS,
    CONTAINERS,
    RATE,
    DURATION,
    TRACE,
    TRACE_SIZE
};

static const struct nrictl_option options[] = {
    {'p', "plugin", "COMMAND",
     "Start a plugin, with its arguments in the same text, as COMMAND or NN-NAME=COMMAND; {socket} "
     "in "
     "it is the socket's path, and without that it gets a connection as from a runtime; may be "
     "given "
     "again"},
    {PLUGIN_DIR, "plugin-dir", "DIRECTORY", "Launch the plugins in there, NN-NAME each"},
    {CONFIG_DIR, "config-dir", "DIRECTORY", "Where their configurations are, NN-NAME.conf"},
    {SOCKET, "socket", "PATH", "The socket for plugins that connect (one of its own)"},
    {RUNTIME, "runtime", "NAME@VERSION",
     "Be like a release of a runtime, such as containerd@2.1; help: list them"},
    {WAIT, "wait", "NAME", "Begin when this plugin is connected, too; may be given again"},
    {JUNIT, "junit", "FILE", "Write the result as JUnit XML, too"},
    {TAP, "tap", NULL, "The result as TAP, the Test Anything Protocol"},
    {TRACE, "trace", "FILE",
     "A timeline of events and plugins, too, in the Chrome trace event format, which Perfetto "
     "opens"},
    {TRACE_SIZE, "trace-size", "MIB", "How large that may be, 1 to 1048576 MiB (1024)"},
    {KEEP, "keep", NULL, "When all is over, keep node and plugins until Ctrl-C"},
    {TIMEOUT, "timeout", "TIME",
     "How long all may take (5m; with a shell or load there is no limit)"},
    {SHELL, "shell", NULL, "A shell on the node, after the scenario when there is one"},
    {PODS, "pods", "NUMBER", "Load: so many pod sandboxes live at a time (10)"},
    {CONTAINERS, "containers", "NUMBER", "Load: so many containers in each (1)"},
    {RATE, "rate", "NUMBER", "Load: so many pod sandboxes begin each second (as many as can)"},
    {DURATION, "duration", "TIME", "Load: how long they begin (until each has been there once)"},
    {'v', "verbose", NULL, "Tell each step, and what the runtime logs"},
    {SCHEMA, "schema", NULL, "Print the JSON Schema of scenarios, and end"},
    {0, NULL, NULL, NULL},
};

static const struct nrictl_example examples[] = {
    {"nrictl sim --plugin nri-template",
     "A pod with two containers from its start to its end, with a plugin."},
    {"nrictl sim -p 10-first=nri-template -p 20-second=nri-template; test $? = 1",
     "Two plugins that contradict each other."},
    {"nrictl sim scenario.yaml", "A scenario with its plugins and expectations."},
    {"nrictl sim --junit result.xml --tap scenario.yaml", "The same for CI."},
    {"nrictl sim --runtime containerd@1.7 --output json scenario.yaml | python3 -m json.tool",
     "On a node that is like an older containerd, as JSON."},
    {"nrictl sim --plugin 10-t=nri-template --pods 20 --duration 1s",
     "Load: events, errors and latencies of each plugin."},
    {"nrictl sim --plugin nri-template --trace timeline.json && python3 -m json.tool timeline.json",
     "A timeline for ui.perfetto.dev."},
    {"printf 'run web\\ncreate web app\\n' | nrictl sim --plugin 10-t=nri-template --shell",
     "By hand, or from a script; help lists the commands."},
    {"nrictl sim --schema > scenario.schema.json", "The schema of scenarios, for an editor."},
    {NULL, NULL},
};

struct sim {
    const char *junit, *trace;
    uint64_t trace_mib;
    bool tap, schema, loads, limited;
    bool alone; /* a shell, or load, without a scenario */
    struct load_options load;
    struct imitate imitate;
    struct rehearsal_options options;
    struct nri_arena arena; /* of what follows */
    struct scenario_plugin plugins[MOST_PLUGINS];
    const char *wait_for[MOST_PLUGINS];
    const char *runtime;
    struct scenario scenario;
    struct rehearsal rehearsal;
    int code; /* of the report */
};

/* ---- the command line ---- */

static int take_plugin(struct nrictl *ctl, const char *argument, struct sim *sim)
{
    if (sim->options.plugin_count == MOST_PLUGINS)
        return nrictl_fail(ctl, NRICTL_USAGE, "at most %d plugins are possible", MOST_PLUGINS);
    return plugin_option(ctl, &sim->arena, argument, &sim->plugins[sim->options.plugin_count++]);
}

static int take_wait(struct nrictl *ctl, const char *argument, struct sim *sim)
{
    if (sim->options.wait_count == MOST_PLUGINS)
        return nrictl_fail(ctl, NRICTL_USAGE, "at most %d plugins are possible", MOST_PLUGINS);
    sim->wait_for[sim->options.wait_count++] = argument;
    return 0;
}

static int take_load(struct nrictl *ctl, int value, const char *argument, struct sim *sim)
{
    struct load_options *load = &sim->load;
    bool fine;
    sim->loads = true;
    if (value == PODS)
        fine = nrictl_number(ctl, "--pods", argument, 1, LOAD_MOST_PODS, &load->pods);
    else if (value == CONTAINERS)
        fine = nrictl_number(ctl, "--containers", argument, 1, LOAD_MOST_CONTAINERS,
                             &load->containers);
    else if (value == RATE)
        fine = nrictl_number(ctl, "--rate", argument, 1, LOAD_MOST_RATE, &load->rate);
    else
        fine = nrictl_milliseconds(ctl, "--duration", argument, 1, LOAD_MOST_DURATION_MS,
                                   &load->duration_ms);
    return fine ? 0 : NRICTL_USAGE;
}

static int take(struct nrictl *ctl, int value, const char *argument, void *user)
{
    struct sim *sim = user;
    switch (value) {
    case 'p':
        return take_plugin(ctl, argument, sim);
    case PLUGIN_DIR:
        sim->options.plugin_directory = argument;
        break;
    case CONFIG_DIR:
        sim->options.config_directory = argument;
        break;
    case SOCKET:
        sim->options.socket = argument;
        break;
    case RUNTIME:
        sim->runtime = argument;
        break;
    case WAIT:
        return take_wait(ctl, argument, sim);
    case JUNIT:
        sim->junit = argument;
        break;
    case TAP:
        sim->tap = true;
        break;
    case KEEP:
        sim->options.keep = true;
        break;
    case PODS:
    case CONTAINERS:
    case RATE:
    case DURATION:
        return take_load(ctl, value, argument, sim);
    case TRACE:
        sim->trace = argument;
        break;
    case TRACE_SIZE:
        return nrictl_number(ctl, "--trace-size", argument, 1, TRACE_MOST_MIB, &sim->trace_mib)
                   ? 0
                   : NRICTL_USAGE;
    case SHELL:
        sim->options.shell = true;
        break;
    case TIMEOUT:
        sim->limited = true;
        return nrictl_milliseconds(ctl, "--timeout", argument, 1, DAY, &sim->options.timeout_ms)
                   ? 0
                   : NRICTL_USAGE;
    case SCHEMA:
        sim->schema = true;
        break;
    default:
        sim->options.verbose = true;
        break;
    }
    return 0;
}

static int check(struct nrictl *ctl, struct sim *sim, int count, const char *path)
{
    if (count > 1)
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "one scenario can be run at a time, not %d; see nrictl sim --help",
                           count);
    if (sim->tap && ctl->json)
        return nrictl_fail(ctl, NRICTL_USAGE, "--tap and --output json are both the result's form");
    if (sim->loads && (count == 1 || sim->options.shell))
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "load (--pods, --containers, --rate, --duration) goes without %s",
                           count == 1 ? "a scenario" : "--shell");
    if (sim->loads && (sim->tap || sim->junit != NULL))
        return nrictl_fail(ctl, NRICTL_USAGE, "--tap and --junit are of scenarios, not of load");
    if (sim->options.shell && path != NULL && strcmp(path, "-") == 0)
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "standard input cannot be both the scenario and the shell's");
    if (sim->options.shell && sim->options.keep)
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "--shell keeps the node as long as it lasts; without "
                           "--keep");
    if (sim->options.config_directory != NULL && sim->options.config_directory[0] == '\0')
        return nrictl_fail(ctl, NRICTL_USAGE, "--config-dir is empty");
    if (sim->options.plugin_directory != NULL && sim->options.plugin_directory[0] == '\0')
        return nrictl_fail(ctl, NRICTL_USAGE, "--plugin-dir is empty");
    return NRICTL_OK;
}

/* ---- the result ---- */

static int write_junit(struct nrictl *ctl, const struct sim *sim)
{
    FILE *file = fopen(sim->junit, "we");
    if (file == NULL)
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "%s: %s", sim->junit, strerror(errno));
    (void)report_junit(&sim->rehearsal, file);
    const bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "%s: it could not be written whole",
                           sim->junit);
    return NRICTL_OK;
}

static void load_is_over(struct sim *sim)
{
    const struct rehearsal *rehearsal = &sim->rehearsal;
    sim->code =
        rehearsal->load != NULL ? load_print(rehearsal->ctl, rehearsal->load) : NRICTL_ENVIRONMENT;
    if (sim->code == NRICTL_OK && load_errors(rehearsal->load) > 0)
        sim->code = NRICTL_FINDING;
    else if (sim->code == NRICTL_OK && rehearsal->end != END_WHOLE)
        sim->code = NRICTL_ENVIRONMENT;
}

static void on_over(struct rehearsal *rehearsal, void *user)
{
    struct sim *sim = user;
    struct nrictl *ctl = rehearsal->ctl;
    if (sim->loads) {
        load_is_over(sim);
        return;
    }
    if (sim->alone)
        return; /* there was no scenario */
    sim->code = sim->tap    ? report_tap(rehearsal, ctl->out)
                : ctl->json ? report_json(rehearsal)
                            : report_text(rehearsal);
    (void)fflush(ctl->out);
    if (sim->junit != NULL && sim->code == NRICTL_OK)
        sim->code = write_junit(ctl, sim);
    if (sim->code == NRICTL_OK && !report_passed(rehearsal))
        sim->code = rehearsal->end == END_INTERRUPTED && rehearsal->findings.failed == 0
                        ? NRICTL_ENVIRONMENT
                        : NRICTL_FINDING;
}

/* The timeline is that of all the node's life, to which the ends of plugins belong. */
static int run_rehearsal(struct nrictl *ctl, struct sim *sim)
{
    struct trace *trace = NULL;
    int code = sim->trace == NULL ? NRICTL_OK : trace_open(ctl, &trace, sim->trace, sim->trace_mib);
    if (code != NRICTL_OK)
        return code;
    if (trace != NULL) {
        const char *runtime = sim->options.imitate != NULL ? sim->imitate.name : "runtime";
        sim->rehearsal.timeline = trace_node_new(trace, runtime);
        if (sim->rehearsal.timeline == NULL)
            code = nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no memory");
    }
    if (code == NRICTL_OK) {
        code = rehearsal_run(&sim->rehearsal);
        rehearsal_free(&sim->rehearsal);
    }
    trace_node_free(sim->rehearsal.timeline);
    const int closed = trace_close(trace);
    return code == NRICTL_OK ? closed : code;
}

static int rehearse(struct nrictl *ctl, struct sim *sim)
{
    int code = node_keep_output(ctl);
    if (code != NRICTL_OK)
        return code;
    sim->options.load = sim->loads ? &sim->load : NULL;
    if (!sim->limited && !sim->loads && !sim->options.shell)
        sim->options.timeout_ms = (uint64_t)5 * MINUTE;
    sim->rehearsal = (struct rehearsal){.ctl = ctl,
                                        .scenario = &sim->scenario,
                                        .options = sim->options,
                                        .over = on_over,
                                        .user = sim};
    code = run_rehearsal(ctl, sim);
    if (code == NRICTL_OK)
        code = sim->code;
    return code == NRICTL_OK ? sim->rehearsal.after : code;
}

static int read_and_rehearse(struct nrictl *ctl, struct sim *sim, const char *path)
{
    int code = NRICTL_OK;
    sim->alone = path == NULL && (sim->loads || sim->options.shell);
    if (sim->alone)
        scenario_none(&sim->scenario, sim->loads ? "load" : "shell");
    else
        code = scenario_read(ctl, &sim->scenario, path);
    const char *runtime = sim->runtime != NULL ? sim->runtime : sim->scenario.runtime;
    if (code == NRICTL_OK && runtime != NULL) {
        code = imitate_find(ctl, runtime, &sim->imitate);
        sim->options.imitate = &sim->imitate;
    }
    if (code == NRICTL_OK)
        code = rehearse(ctl, sim);
    scenario_free(&sim->scenario);
    return code;
}

static int run(struct nrictl *ctl, const struct nrictl_command *self, int argc, char **argv)
{
    int first;
    struct sim *sim = calloc(1, sizeof *sim);
    if (sim == NULL)
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no memory");
    memory_arena(&sim->arena, SIZE_MAX);
    sim->trace_mib = TRACE_DEFAULT_MIB;
    sim->options = (struct rehearsal_options){.plugins = sim->plugins, .wait_for = sim->wait_for};
    int code = nrictl_parse(ctl, self, argc, argv, false, take, sim, &first);
    if (code < 0)
        code = check(ctl, sim, argc - first, first < argc ? argv[first] : NULL);
    else
        first = -1;
    if (first >= 0 && code == NRICTL_OK) {
        if (sim->schema)
            code = scenario_print_schema(ctl);
        else if (sim->runtime != NULL && strcmp(sim->runtime, "help") == 0)
            code = imitate_list(ctl);
        else
            code = read_and_rehearse(ctl, sim, first < argc ? argv[first] : NULL);
    }
    nri_arena_fini(&sim->arena);
    free(sim);
    return code;
}

const struct nrictl_command nrictl_sim = {
    .name = "sim",
    .summary = "run plugins on a simulated node",
    .arguments = "[SCENARIO]",
    .description =
        "Runs a scenario on a node that has a real NRI runtime side, on a real socket, and "
        "simulated pod sandboxes and containers: what plugins answer is merged, applied and shown, "
        "with who set what, how long it took, and where plugins contradict each other. Without a "
        "scenario a pod with two containers lives from its start to its end.\n\n"
        "A scenario is a file in YAML or JSON (- is standard input): pods, plugins, steps and what "
        "is expected; doc/scenario.md has its form. It ends with 1 when an expectation fails, a "
        "step fails that was to succeed, or what was waited for does not come in time, and with 3 "
        "when a plugin does not start, or a signal ends it.",
    .options = options,
    .examples = examples,
    .run = run,
};
