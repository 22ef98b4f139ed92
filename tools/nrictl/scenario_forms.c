/* SPDX-License-Identifier: Apache-2.0 */
#include "scenario_forms.h"

#include "expectation_forms.h"

#define MINUTE 60000
#define DAY    86400000

static const struct form_key text_item = {.types = FORM_TEXT};

/* ---- plugins, pod sandboxes, containers ---- */

static const struct form_key plugin_keys[] = {
    {.name = "command",
     .types = FORM_TEXT | FORM_LIST,
     .item = &text_item,
     .most_items = 256,
     .required = true,
     .help = "The command line, as a list or as a text that is split at blanks (quotes keep them); "
             "{socket} is replaced by the socket's path, {dir} by the scenario's directory"},
    {.name = "name",
     .types = FORM_TEXT,
     .help = "Its name; of the program's name when it is left out"},
    {.name = "index", .types = FORM_TEXT, .help = "Its index, two digits in quotes"},
    {.name = "connects",
     .types = FORM_FLAG,
     .help = "true: it connects to the socket by itself; false: it gets a connection, as from a "
             "runtime that launches it. Default: whether {socket} is in the command"},
    {.name = "later",
     .types = FORM_FLAG,
     .help = "true: it is started by a step connect, not at the beginning"},
    {.name = "timeout",
     .types = FORM_TIME,
     .least = 1,
     .most = DAY,
     .help = "Until when it has to be connected and synchronised; default 30s"},
    {.name = NULL},
};
static const struct form plugin_form = {
    .name = "plugin", .help = "A plugin, as a command line", .keys = plugin_keys};

static const struct form_key container_keys[] = {
    {.name = "resources",
     .types = FORM_JSON,
     .help = "Short for linux.resources: LinuxResources of NRI"},
    {.name = NULL},
};
static const struct form container_form = {
    .name = "container",
    .help = "A container, in the JSON form of NRI's Container; its id is its name when it is left "
            "out, and the other way round. State, pid, pod sandbox and times are the node's",
    .keys = container_keys,
    .open = true,
};

static const struct form_key pod_keys[] = {
    {.name = "containers",
     .types = FORM_LIST,
     .item = &(const struct form_key){.types = FORM_TEXT | FORM_OBJECT, .form = &container_form},
     .help = "Its containers: names, or objects"},
    {.name = NULL},
};
static const struct form pod_form = {
    .name = "pod",
    .help =
        "A pod sandbox, in the JSON form of NRI's PodSandbox, and its containers; its id is its "
        "name when it is left out, and the other way round, its namespace \"default\"",
    .keys = pod_keys,
    .open = true,
};

/* ---- steps ---- */

#define STEP(identifier, verb, text, ...)                                                          \
    static const struct form_key identifier##_keys[] = {__VA_ARGS__, {.name = NULL}};              \
    static const struct form identifier##_form = {                                                 \
        .name = "step " verb, .help = text, .keys = identifier##_keys}
#define VERB(verb, text)                                                                           \
    {                                                                                              \
        .name = verb, .types = FORM_TEXT, .required = true, .help = text                           \
    }

STEP(run, "run", "Runs a pod sandbox", VERB("run", "The pod sandbox"));
STEP(create, "create", "Creates a container", VERB("create", "The container"));
STEP(start, "start", "Starts a container", VERB("start", "The container"));
STEP(update, "update", "Updates a container, or a pod sandbox",
     VERB("update", "The container, or the pod sandbox"),
     {.name = "resources",
      .types = FORM_JSON,
      .help = "What it gets: LinuxResources in NRI's JSON form"},
     {.name = "overhead", .types = FORM_JSON, .help = "Of a pod sandbox: its overhead"});
STEP(stop, "stop", "Stops a container, or a pod sandbox with its containers",
     VERB("stop", "The container, or the pod sandbox"));
STEP(ends, "exit", "A container ends by itself", VERB("exit", "The container"),
     {.name = "code",
      .types = FORM_NUMBER,
      .least = 0,
      .most = 255,
      .help = "Its exit code; default 0"});
STEP(removes, "remove", "Removes a container, or a pod sandbox with its containers",
     VERB("remove", "The container, or the pod sandbox"));
STEP(sleeps, "sleep", "Waits for some time, for who watches",
     {.name = "sleep",
      .types = FORM_TIME,
      .least = 1,
      .most = DAY,
      .required = true,
      .help = "How long"});
STEP(restart, "restart", "The runtime goes away and comes back",
     {.name = "restart",
      .types = FORM_CHOICE,
      .choices = (const char *const[]){"runtime", NULL},
      .required = true,
      .help = "The runtime"},
     {.name = "away",
      .types = FORM_TIME,
      .least = 1,
      .most = 60 * MINUTE,
      .help = "How long it stays away; default not at all"});
STEP(connects, "connect", "Starts a plugin of the list that is marked as later",
     VERB("connect", "The plugin's name"));
STEP(pauses, "pause", "Stops a plugin's process, which keeps its connection (SIGSTOP)",
     VERB("pause", "The plugin, NAME or NN-NAME"));
STEP(continues, "continue", "Lets a plugin go on that was paused (SIGCONT)",
     VERB("continue", "The plugin, NAME or NN-NAME"));
STEP(kills, "kill", "Ends a plugin's process", VERB("kill", "The plugin, NAME or NN-NAME"),
     {.name = "signal",
      .types = FORM_CHOICE,
      .choices = (const char *const[]){"KILL", "TERM", NULL},
      .help = "Default KILL"});
STEP(slow, "slow_reader", "Adds a plugin that answers nothing and reads slowly",
     VERB("slow_reader", "Its name"),
     {.name = "index", .types = FORM_TEXT, .help = "Its index, two digits in quotes; default 99"},
     {.name = "bytes_per_second",
      .types = FORM_NUMBER,
      .least = 1,
      .most = 1000000000,
      .required = true,
      .help = "What it reads at most"});

static const struct form_key wait_for_keys[] = {
    {.name = "plugin", .types = FORM_TEXT, .help = "Until this plugin is connected"},
    {.name = "gone", .types = FORM_TEXT, .help = "Until this plugin is not connected any more"},
    {.name = "event",
     .types = FORM_TEXT,
     .help = "Until this event came since the step before, EVENT or EVENT NAME"},
    {.name = "updated",
     .types = FORM_TEXT,
     .help = "Until this plugin has updated containers of its own accord since the step before"},
    {.name = "step", .types = FORM_TEXT, .help = "Until the step of this name is over"},
    {.name = NULL},
};
static const struct form wait_for_form = {
    .name = "wait", .help = "What is waited for", .keys = wait_for_keys, .some = true};
STEP(waits, "wait", "Waits until something is so",
     {.name = "wait",
      .types = FORM_OBJECT,
      .form = &wait_for_form,
      .required = true,
      .help = "What is waited for; all that is said"},
     {.name = "timeout",
      .types = FORM_TIME,
      .least = 1,
      .most = DAY,
      .help = "How long at most; default 30s"});
static const struct form_key expectation_item = {.types = FORM_OBJECT, .form = &expectation_form};
STEP(expects, "expect", "Says what has to hold now",
     {.name = "expect",
      .types = FORM_OBJECT | FORM_LIST,
      .form = &expectation_form,
      .item = &expectation_item,
      .required = true,
      .help = "What has to hold"});

const struct form *const scenario_step_forms[] = {
    &run_form,     &create_form, &start_form,   &update_form,   &stop_form,   &ends_form,
    &removes_form, &sleeps_form, &restart_form, &connects_form, &pauses_form, &continues_form,
    &kills_form,   &slow_form,   &waits_form,   &expects_form,  NULL};

static const struct form_key step_keys[] = {
    {.name = "name", .types = FORM_TEXT, .help = "How expectations and waits call this step"},
    {.name = "background",
     .types = FORM_FLAG,
     .help = "true: the next step does not wait for this one's end"},
    {.name = "expect",
     .types = FORM_OBJECT | FORM_LIST,
     .form = &expectation_form,
     .item = &expectation_item,
     .help = "What has to hold when the step is over. Without one of ok, code, error, refused_by "
             "and conflict the step has to succeed"},
    {.name = NULL},
};
static const struct form step_form = {
    .name = "step",
    .help = "One thing that happens, or that has to hold",
    .keys = step_keys,
    .variants = scenario_step_forms,
};

/* ---- the default validator: the keys of doc/runtime.md ---- */

#define VALIDATOR_FLAG(key, text)                                                                  \
    {                                                                                              \
        .name = key, .types = FORM_FLAG, .help = text                                              \
    }
static const struct form_key validator_keys[] = {
    VALIDATOR_FLAG("enable", "false: nothing is looked at"),
    VALIDATOR_FLAG("reject_oci_hook_adjustment", "No plugin may add hooks"),
    VALIDATOR_FLAG("reject_runtime_default_seccomp_adjustment",
                   "No plugin may set the seccomp policy of a container with the runtime's own"),
    VALIDATOR_FLAG("reject_unconfined_seccomp_adjustment",
                   "No plugin may set the seccomp policy of a container without one"),
    VALIDATOR_FLAG("reject_custom_seccomp_adjustment",
                   "No plugin may set the seccomp policy of a container with one of its own"),
    VALIDATOR_FLAG("reject_namespace_adjustment", "No plugin may change namespaces"),
    VALIDATOR_FLAG("reject_sysctl_adjustment", "No plugin may change sysctls"),
    {.name = "required_plugins",
     .types = FORM_LIST,
     .item = &text_item,
     .help = "Plugins that must have taken part in a creation"},
    {.name = "tolerate_missing_plugins_annotation",
     .types = FORM_TEXT,
     .help = "The annotation that, when true, lets required plugins be missing"},
    {.name = NULL},
};
static const struct form validator_form = {
    .name = "validator",
    .help = "The default validator's configuration: doc/runtime.md",
    .keys = validator_keys};

/* ---- the whole ---- */

static const struct form_key scenario_keys[] = {
    {.name = "version",
     .types = FORM_NUMBER,
     .least = 1,
     .most = 1,
     .required = true,
     .help = "The version of this form, 1"},
    {.name = "name", .types = FORM_TEXT, .help = "What the scenario is called in results"},
    {.name = "description", .types = FORM_TEXT, .help = "For people"},
    {.name = "runtime",
     .types = FORM_TEXT,
     .help = "The runtime that the node is like, such as containerd@2.1; libnri's own when it is "
             "left out"},
    {.name = "registration_timeout",
     .types = FORM_TIME,
     .least = 1,
     .most = DAY,
     .help = "How long a plugin may take to register; default the runtime's"},
    {.name = "request_timeout",
     .types = FORM_TIME,
     .least = 1,
     .most = DAY,
     .help = "How long a plugin may take to answer; default the runtime's"},
    {.name = "failure",
     .types = FORM_CHOICE,
     .choices = (const char *const[]){"go", "permissive", "strict", NULL},
     .help = "What happens when plugins fail: doc/runtime.md; default go"},
    {.name = "validator",
     .types = FORM_OBJECT,
     .form = &validator_form,
     .help = "The default validator's configuration: doc/runtime.md"},
    {.name = "plugin_directory",
     .types = FORM_TEXT,
     .help = "Where plugins are launched from; {dir} is replaced"},
    {.name = "config_directory",
     .types = FORM_TEXT,
     .help = "Where their configurations are; {dir} is replaced"},
    {.name = "plugins",
     .types = FORM_LIST,
     .item = &(const struct form_key){.types = FORM_OBJECT, .form = &plugin_form},
     .most_items = 128,
     .help = "Plugins that are started, one after the other"},
    {.name = "pods",
     .types = FORM_LIST,
     .item = &(const struct form_key){.types = FORM_TEXT | FORM_OBJECT, .form = &pod_form},
     .help = "The pod sandboxes that steps are about: names, or objects"},
    {.name = "steps",
     .types = FORM_LIST,
     .item = &(const struct form_key){.types = FORM_OBJECT, .form = &step_form},
     .required = true,
     .help = "What happens, in order"},
    {.name = NULL},
};

const struct form scenario_form = {
    .name = "scenario",
    .help = "What a simulated node of nrictl does, and what is expected of it: doc/scenario.md",
    .keys = scenario_keys,
};
const struct form *const scenario_forms[] = {
    &scenario_form, &plugin_form,   &validator_form,   &pod_form,   &container_form,
    &step_form,     &wait_for_form, &expectation_form, &match_form, &events_form,
    &latency_form,  &conflict_form, &updated_form,     NULL};
