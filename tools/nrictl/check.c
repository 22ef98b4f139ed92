/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nrictl check [OPTIONS] -- PLUGIN ARGS: a conformance suite for plugins.
 */
#include "check.h"

#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_group.h"
#include "check_report.h"

const struct check_group *const check_groups[] = {
    &check_registration, &check_order,   &check_cuts,    &check_sync,     &check_events,
    &check_versions,     &check_unknown, &check_streams, &check_deadline, &check_end,
    &check_reconnect,    &check_large,   &check_hostile, &check_growth,   NULL,
};

enum { ONLY = NRICTL_LONG, SKIP, ALL, TIMEOUT, SLOW, TOLERANCE, KEEP, NO_RECONNECT };

static const struct nrictl_option options[] = {
    {ONLY, "only", "GLOB",
     "Run the checks of that name only, such as 'cuts.*'; may be given again"},
    {SKIP, "skip", "GLOB", "Leave the checks of that name out; may be given again"},
    {ALL, "all", NULL, "Run also checks that take long, which --list calls optional"},
    {'l', "list", NULL, "Print the checks, run none"},
    {'f', "format", "text|json|junit|tap", "The form of the report (text)"},
    {TIMEOUT, "timeout", "TIME", "Patience for everything that has to come (30s)"},
    {SLOW, "slow", "FACTOR", "The machine is so much slower: all limits are multiplied (1)"},
    {TOLERANCE, "tolerance", "BYTES", "Growth of memory an event or a connection (4096)"},
    {KEEP, "keep", "DIRECTORY", "Write what the plugin prints in each check to a file there"},
    {NO_RECONNECT, "no-reconnect", NULL, "The plugin has to end with its runtime"},
    {0, NULL, NULL, NULL},
};

static const struct nrictl_example examples[] = {
    {"nrictl check --only 'registration.*' -- nri-template --socket {socket} --name {name} --idx "
     "{index}",
     "How a plugin registers, in each form in which plugins are started."},
    {"nrictl check --skip 'hostile.*' --skip 'growth.*' --only 'unknown.*' -- nri-logger --socket "
     "{socket} --name {name} --idx {index}",
     "What a plugin does with what it does not know."},
    {"nrictl check --only events.own-calls --format junit -- nri-template > report.xml",
     "A plugin that takes no socket is launched, as a runtime does; a report for CI."},
    {"nrictl check --list", "All checks."},
    {NULL, NULL},
};

#define MOST_GLOBS 32

struct globs {
    const char *globs[MOST_GLOBS];
    size_t count;
};

struct selection {
    struct globs only, skip;
    bool all;
};

struct arguments {
    struct suite *suite;
    struct selection selection;
    enum report_format format;
    bool list;
};

/* ---- which checks ---- */

static bool any(const struct globs *globs, const char *name)
{
    for (size_t i = 0; i < globs->count; i++) {
        if (fnmatch(globs->globs[i], name, 0) == 0)
            return true;
    }
    return false;
}

static bool wanted(const struct check *check, void *user)
{
    const struct selection *selection = user;
    if (any(&selection->skip, check->id))
        return false;
    if (selection->only.count == 0)
        return !check->optional || selection->all;
    for (size_t i = 0; i < selection->only.count; i++) {
        const char *glob = selection->only.globs[i];
        /* What is optional has to be named, or asked for with --all. */
        if (fnmatch(glob, check->id, 0) == 0 &&
            (!check->optional || selection->all || strcmp(glob, check->id) == 0))
            return true;
    }
    return false;
}

static bool listed(const struct check *check, void *user)
{
    struct selection all = *(const struct selection *)user;
    all.all = true;
    return wanted(check, &all);
}

static size_t count_wanted(struct selection *selection)
{
    size_t count = 0;
    for (size_t i = 0; check_groups[i] != NULL; i++) {
        for (size_t j = 0; j < check_groups[i]->count; j++)
            count += wanted(&check_groups[i]->checks[j], selection);
    }
    return count;
}

static bool glob_matches(const char *glob)
{
    for (size_t i = 0; check_groups[i] != NULL; i++) {
        for (size_t j = 0; j < check_groups[i]->count; j++) {
            if (fnmatch(glob, check_groups[i]->checks[j].id, 0) == 0)
                return true;
        }
    }
    return false;
}

/* ---- options ---- */

static int take_glob(struct nrictl *ctl, struct globs *globs, const char *option, const char *glob)
{
    if (!glob_matches(glob))
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "%s '%s' is the name of no check; see nrictl check --list", option,
                           glob);
    if (globs->count == MOST_GLOBS)
        return nrictl_fail(ctl, NRICTL_USAGE, "%s may be given %d times", option, MOST_GLOBS);
    globs->globs[globs->count++] = glob;
    return 0;
}

static int take_format(struct nrictl *ctl, struct arguments *arguments, const char *text)
{
    static const char *const names[] = {"text", "json", "junit", "tap"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) != 0)
            continue;
        arguments->format = (enum report_format)i;
        ctl->json = arguments->format == REPORT_JSON;
        return 0;
    }
    return nrictl_fail(ctl, NRICTL_USAGE, "--format is text, json, junit or tap, not '%s'", text);
}

static int take_number(struct nrictl *ctl, struct suite *suite, int value, const char *argument)
{
    enum { LONGEST = 3600000, SLOWEST = 1000 };
    bool good;
    if (value == TIMEOUT)
        good = nrictl_milliseconds(ctl, "--timeout", argument, 1, LONGEST, &suite->patience);
    else if (value == SLOW)
        good = nrictl_number(ctl, "--slow", argument, 1, SLOWEST, &suite->slow);
    else
        good = nrictl_number(ctl, "--tolerance", argument, 0, UINT64_C(1) << 30, &suite->tolerance);
    return good ? 0 : NRICTL_USAGE;
}

static int take(struct nrictl *ctl, int value, const char *argument, void *user)
{
    struct arguments *arguments = user;
    struct suite *suite = arguments->suite;
    switch (value) {
    case ONLY:
        return take_glob(ctl, &arguments->selection.only, "--only", argument);
    case SKIP:
        return take_glob(ctl, &arguments->selection.skip, "--skip", argument);
    case 'f':
        return take_format(ctl, arguments, argument);
    case 'l':
        arguments->list = true;
        return 0;
    case ALL:
        arguments->selection.all = true;
        return 0;
    case NO_RECONNECT:
        suite->no_reconnect = true;
        return 0;
    case KEEP:
        suite->keep = argument;
        return 0;
    default:
        return take_number(ctl, suite, value, argument);
    }
}

/* ---- the suite ---- */

static void run_all(struct suite *suite, struct report *report, struct selection *selection)
{
    for (size_t i = 0; check_groups[i] != NULL; i++) {
        for (size_t j = 0; j < check_groups[i]->count; j++) {
            const struct check *check = &check_groups[i]->checks[j];
            struct run run;
            if (suite->interrupted || suite->broken)
                return;
            if (!wanted(check, selection))
                continue;
            report_progress(report, check);
            run_begin(&run, suite, check);
            if (!suite->known.registered && check_groups[i] != &check_registration)
                (void)run_skip(&run, "it does not register");
            else
                check->run(&run, check->argument);
            run_end(&run);
            if (suite->interrupted)
                run_free(&run);
            else
                report_add(report, &run);
        }
    }
}

/* A plugin that is none is told by the checks of its registration; they are few. */
static int play(struct suite *suite, struct arguments *arguments)
{
    struct report report = {.suite = suite, .format = arguments->format};
    struct run look;
    report.planned = count_wanted(&arguments->selection);
    report.runs = calloc(report.planned + 1, sizeof *report.runs);
    if (report.runs == NULL)
        return nrictl_fail(suite->ctl, NRICTL_ENVIRONMENT, "no memory for %zu checks",
                           report.planned);
    check_look(suite, &look);
    if (!suite->known.registered && !suite->broken && !suite->interrupted)
        (void)nrictl_fail(suite->ctl, 0, "%s does not come as far as an event: %s", suite->argv[0],
                          look.seen);
    run_free(&look);
    run_all(suite, &report, &arguments->selection);
    int code = suite->broken ? NRICTL_ENVIRONMENT : report_end(&report);
    if (code == NRICTL_OK && suite->interrupted)
        code = nrictl_fail(suite->ctl, NRICTL_ENVIRONMENT, "interrupted: %zu checks were not run",
                           report.planned - report.count);
    if (code == NRICTL_OK && (report.failed_must > 0 || !suite->known.registered))
        code = NRICTL_FINDING;
    report_free(&report);
    return code;
}

static int catch_signals(struct suite *suite)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGCHLD);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0 ||
        (suite->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)) < 0)
        return nrictl_fail(suite->ctl, NRICTL_ENVIRONMENT, "no signals: %s", strerror(errno));
    return NRICTL_OK;
}

static int make_directory(struct suite *suite)
{
    const char *base = getenv("TMPDIR");
    if (base == NULL || base[0] != '/' || strlen(base) > 30)
        base = "/tmp";
    (void)snprintf(suite->directory, sizeof suite->directory, "%s/nrictl-check-XXXXXX", base);
    if (mkdtemp(suite->directory) == NULL)
        return nrictl_fail(suite->ctl, NRICTL_ENVIRONMENT, "%s: %s", suite->directory,
                           strerror(errno));
    if (suite->keep != NULL && mkdir(suite->keep, 0777) != 0 && errno != EEXIST)
        return nrictl_fail(suite->ctl, NRICTL_ENVIRONMENT, "--keep %s: %s", suite->keep,
                           strerror(errno));
    return NRICTL_OK;
}

static int run(struct nrictl *ctl, const struct nrictl_command *self, int argc, char **argv)
{
    enum { PATIENCE_MS = 30000, TOLERANCE_BYTES = 4096 };
    struct suite suite = {.ctl = ctl,
                          .patience = PATIENCE_MS,
                          .slow = 1,
                          .tolerance = TOLERANCE_BYTES,
                          .signals = -1};
    struct arguments arguments = {.suite = &suite};
    int first;
    int code = nrictl_parse(ctl, self, argc, argv, true, take, &arguments, &first);
    if (code >= 0)
        return code;
    if (ctl->json && arguments.format == REPORT_TEXT)
        arguments.format = REPORT_JSON;
    if (arguments.list)
        return report_list(ctl, listed, &arguments.selection);
    if (first == argc)
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "a plugin's command line is needed; see nrictl check --help");
    if (count_wanted(&arguments.selection) == 0)
        return nrictl_fail(ctl, NRICTL_USAGE, "--only and --skip leave no check");
    suite.argv = (const char *const *)(argv + first);
    suite.patience *= suite.slow;
    code = make_directory(&suite);
    if (code == NRICTL_OK && (code = catch_signals(&suite)) == NRICTL_OK)
        code = play(&suite, &arguments);
    (void)rmdir(suite.directory);
    if (suite.signals >= 0)
        (void)close(suite.signals);
    return code;
}

const struct nrictl_command nrictl_check = {
    .name = "check",
    .summary = "check a plugin, whatever it is made with, for conformance",
    .arguments = "-- PLUGIN [ARGUMENTS]",
    .description =
        "Plays the runtime for a plugin, one check after another, each with a process of its own: "
        "it starts it in each form, sends what runtimes of all NRI versions send, in the orders "
        "and pieces in which it may arrive, then what they do not send, and goes away at every "
        "moment.\n\n"
        "In the plugin's arguments, {socket}, {name}, {index} and {directory} are replaced: by the "
        "runtime's socket, the name and the index to register with, and a directory that is the "
        "check's. A plugin without {socket} is launched, as runtimes do, with its connection as "
        "descriptor 3. Where a check gives one of them in another way, the argument that has it is "
        "left out, with the option in front (--name {name}).\n\n"
        "A check passes, fails, or is not applicable, and is a must or a should. The exit status "
        "is 1 when a must failed. Every wait is for something that has to come; a plugin that "
        "needs longer than --timeout for anything fails.",
    .options = options,
    .examples = examples,
    .run = run,
};
