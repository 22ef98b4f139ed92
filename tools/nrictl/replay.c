/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nrictl replay: one side of a recording against the other side as it is now.
 */
#include "replay.h"

#include <ctype.h>
#include <string.h>

#define DEFAULT_SOCKET "/var/run/nri/nri.sock"

enum { REAL_TIME = NRICTL_LONG, TIMEOUT, CONNECTION, PLUGINS, SOCKET, NAME, IDX, ANY_POD };

static const struct nrictl_option options[] = {
    {CONNECTION, "connection", "NUMBER",
     "Which connection of the recording (the first on which a plugin registered; with --plugins "
     "all of them)"},
    {REAL_TIME, "real-time", NULL, "Wait between messages as the recorded runtime did"},
    {TIMEOUT, "timeout", "TIME", "How long an answer may take, 10ms to 1h (10s)"},
    {PLUGINS, "plugins", NULL, "The recorded plugins, against a runtime"},
    {SOCKET, "socket", "SOCKET", "That runtime's socket (" DEFAULT_SOCKET ")"},
    {NAME, "name", "NAME", "Another name for the plugin, of which there is one then"},
    {IDX, "idx", "NN", "Another index for it, 00 to 99"},
    {ANY_POD, "any-pod", NULL,
     "Containers are like those of any pod sandbox: its name is a generated one"},
    {0, NULL, NULL, NULL},
};

static const struct nrictl_example examples[] = {
    {"nrictl replay session.rec -- nri-logger --add-env GREETING=hello --add-annotation "
     "colour=blue",
     "Whether a plugin still answers as it did when it was recorded."},
    {"nrictl replay session.rec -- nri-logger; test $? = 1",
     "One that answers otherwise: the differences are shown."},
    {"nrictl sim --socket ./nri.sock --wait logger web.yaml > sim.txt & until test -S nri.sock; do "
     "sleep 0.1; done; nrictl replay --plugins --socket ./nri.sock session.rec; wait; "
     "grep GREETING sim.txt",
     "What the recorded plugin does to other containers of the same names, on a simulated node."},
    {NULL, NULL},
};

static int take_text(struct nrictl *ctl, int value, const char *argument,
                     struct replay_options *taken)
{
    const bool digits = isdigit((unsigned char)argument[0]) && strlen(argument) == 2 &&
                        isdigit((unsigned char)argument[1]);
    switch (value) {
    case SOCKET:
        taken->socket = argument;
        return 0;
    case NAME:
        taken->name = argument;
        return argument[0] != '\0' ? 0 : nrictl_fail(ctl, NRICTL_USAGE, "--name is a name, not ''");
    default:
        taken->index = argument;
        return digits ? 0
                      : nrictl_fail(ctl, NRICTL_USAGE, "--idx is two digits, not '%s'", argument);
    }
}

static int take(struct nrictl *ctl, int value, const char *argument, void *user)
{
    struct replay_options *taken = user;
    switch (value) {
    case REAL_TIME:
        taken->real_time = true;
        return 0;
    case PLUGINS:
        taken->plugins = true;
        return 0;
    case ANY_POD:
        taken->any_pod = true;
        return 0;
    case TIMEOUT:
        return nrictl_milliseconds(ctl, "--timeout", argument, 10, 3600000, &taken->timeout_ms)
                   ? 0
                   : NRICTL_USAGE;
    case CONNECTION:
        return nrictl_number(ctl, "--connection", argument, 1, UINT32_MAX, &taken->connection)
                   ? 0
                   : NRICTL_USAGE;
    default:
        return take_text(ctl, value, argument, taken);
    }
}

static int check(struct nrictl *ctl, const struct replay_options *taken, int arguments)
{
    if (taken->plugins && (taken->real_time || taken->timeout_ms != 0))
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "--real-time and --timeout are for a recorded runtime, not --plugins");
    if (!taken->plugins &&
        (taken->socket != NULL || taken->name != NULL || taken->index != NULL || taken->any_pod))
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "--socket, --name, --idx and --any-pod are for recorded --plugins");
    if (taken->plugins && arguments != 1)
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "--plugins takes a recording and no plugin: nrictl replay --plugins "
                           "--socket SOCKET FILE");
    if (!taken->plugins && arguments < 2)
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "a recording and a plugin are needed: nrictl replay FILE -- PLUGIN");
    return NRICTL_OK;
}

static int run(struct nrictl *ctl, const struct nrictl_command *self, int argc, char **argv)
{
    int first;
    struct replay_options taken = {.plugins = false};
    int code = nrictl_parse(ctl, self, argc, argv, false, take, &taken, &first);
    if (code >= 0)
        return code;
    code = check(ctl, &taken, argc - first);
    if (code != NRICTL_OK)
        return code;
    if (taken.timeout_ms == 0)
        taken.timeout_ms = 10000;
    if (taken.socket == NULL)
        taken.socket = DEFAULT_SOCKET;
    return taken.plugins ? replay_plugins(ctl, &taken, argv[first])
                         : replay_runtime(ctl, &taken, argv[first], argv + first + 1);
}

const struct nrictl_command nrictl_replay = {
    .name = "replay",
    .summary = "one side of a recording against the other, and whether it is still the same",
    .arguments = "RECORDING [-- PLUGIN [ARGUMENTS]]",
    .description =
        "Starts the plugin as a runtime does, with the recorded one's name and index, sends it "
        "what the recorded runtime sent, and compares what it says with what was recorded. Each "
        "message of the runtime is sent once the plugin has said what it had said before it then; "
        "so the plugin's own speed counts, unless --real-time keeps to the recorded times.\n\n"
        "With --plugins it is the recorded plugins, each on a connection of its own, to a runtime "
        "that runs. A request is answered as the recorded one of the same event, about a pod "
        "sandbox and a container of the same names; of several as the first that has not come "
        "yet. Containers' ids in answers are made those of now. It ends when the runtime closes "
        "the connections, or by Ctrl-C. Requests that the recording has not, and those of the "
        "recording that did not come, are differences.\n\n"
        "Left out of the comparison: times, cuts and streams of messages, the order of keys, and "
        "in "
        "texts RFC 3339 times and the digits of process ids (behind \"pid\" or \"/proc/\"). The "
        "exit status is 1 when there are differences, or when Ctrl-C or SIGTERM ends the replay of "
        "a runtime before its end; what was found until then is shown. Values of environment "
        "variables are shown as they are.",
    .options = options,
    .examples = examples,
    .run = run,
};
