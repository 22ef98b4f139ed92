/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nrictl explain: which plugin set what.
 */
#include "explain.h"

#include "account.h"
#include "live.h"
#include "source.h"

enum { SOCKET = NRICTL_LONG, COUNT };

static const struct nrictl_option options[] = {
    SOURCE_OPTIONS,
    {SOCKET, "socket", "PATH",
     "Listen on a running runtime's socket, as a plugin of it, to the containers that are created"},
    {'n', "count", "N", "With --socket: end after so many containers (until Ctrl-C)"},
    {0, NULL, NULL, NULL},
};

static const struct nrictl_example examples[] = {
    {"nrictl explain --plugin 10-template=nri-template "
     "--plugin '20-logger=nri-logger --add-env A=b'",
     "Who set what in the first container of the default scenario."},
    {"nrictl explain --container server scenario.yaml; test $? = 1",
     "The same of a scenario, in which a plugin refuses an update."},
    {"nrictl explain -p 10-a=nri-template -p 20-b=nri-template --output json; test $? = 1",
     "Two plugins that contradict each other, as JSON."},
    {NULL, NULL},
};

struct explain {
    struct source *source;
    const char *socket;
    uint64_t count;
};

static int take(struct nrictl *ctl, int value, const char *argument, void *user)
{
    struct explain *explain = user;
    if (value == SOCKET) {
        explain->socket = argument;
        return 0;
    }
    if (value == 'n')
        return nrictl_number(ctl, "--count", argument, 1, 1000000, &explain->count) ? 0
                                                                                    : NRICTL_USAGE;
    return source_take(ctl, explain->source, value, argument);
}

static int tell(struct nrictl *ctl, struct source *source, const char *path)
{
    const int code = source_read(ctl, source, path);
    if (code != NRICTL_OK)
        return code;
    return ctl->json ? account_json(ctl, &source->history, false)
                     : account_table(ctl, &source->history);
}

static int explain_live(struct nrictl *ctl, const struct explain *explain, int count)
{
    const struct source *source = explain->source;
    if (count > 0 || source->plugin_count > 0 || source->runtime != NULL)
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "--socket is for a runtime that runs: no file, --plugin or --runtime");
    const struct live live = {
        .socket = explain->socket, .container = source->container, .count = explain->count};
    return live_explain(ctl, &live);
}

static int run(struct nrictl *ctl, const struct nrictl_command *self, int argc, char **argv)
{
    int first;
    struct explain explain = {.source = source_new()};
    if (explain.source == NULL)
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no memory");
    int code = nrictl_parse(ctl, self, argc, argv, false, take, &explain, &first);
    if (code < 0) {
        const int count = argc - first;
        if (explain.socket != NULL)
            code = explain_live(ctl, &explain, count);
        else if (explain.count != 0)
            code = nrictl_fail(ctl, NRICTL_USAGE, "--count goes with --socket");
        else if (count > 1)
            code = nrictl_fail(ctl, NRICTL_USAGE,
                               "one scenario or recording is wanted, not %d files; see nrictl "
                               "explain --help",
                               count);
        else
            code = tell(ctl, explain.source, count == 1 ? argv[first] : NULL);
    }
    source_free(explain.source);
    return code;
}

const struct nrictl_command nrictl_explain = {
    .name = "explain",
    .summary = "show which plugin set what of a container",
    .arguments = "[SCENARIO | RECORDING]",
    .description =
        "Prints a line for each thing that a plugin set or removed of a container, in the order in "
        "which plugins were asked: the field, the value before and after, whose value it took the "
        "place of, how long the plugin took, where two plugins contradict each other, and who "
        "refused. The container comes from a scenario, which is run on a simulated node (the "
        "default one when none is given), from a recording of nrictl record, or, with --socket, "
        "from a runtime that runs.\n\n"
        "On a running runtime it is a plugin itself: a validator, which is told who owns what, "
        "from "
        "NRI 0.10 on. Older runtimes tell no owners, so that only the container before and after "
        "all plugins can be shown. It changes nothing, and refuses nothing. A container's end, and "
        "what is refused before validators are asked, it does not see.\n\n"
        "It ends with 1 when an event was refused, or no container is as asked for.",
    .options = options,
    .examples = examples,
    .run = run,
};
