/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nrictl doctor [PLUGIN]: why does my plugin not connect?
 */
#include "doctor.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "model/model.h"

/* Configurations, names and programs of a node; a hostile root reaches the limits of each first. */
#define MOST_MEMORY ((size_t)512 << 20)

enum {
    ROOT = NRICTL_LONG,
    SOCKET,
    PLUGIN_DIR,
    CONFIG_DIR,
    CONTAINERD_CONFIG,
    RUNTIME,
    USER,
    PROBE,
    STRICT,
    LIST
};

static const struct nrictl_option options[] = {
    {ROOT, "root", "DIR",
     "Look at the system below DIR, say of an image or of the host in a container, and run nothing "
     "of it (/)"},
    {SOCKET, "socket", "PATH", "The socket that the plugin connects to (that of each runtime)"},
    {PLUGIN_DIR, "plugin-dir", "DIR", "The plugin directory (that of each runtime)"},
    {CONFIG_DIR, "config-dir", "DIR", "The directory of plugins' configurations (likewise)"},
    {CONTAINERD_CONFIG, "containerd-config", "FILE",
     "containerd's configuration (/etc/containerd/config.toml)"},
    {RUNTIME, "runtime", "NAME[@VERSION]",
     "Only this runtime: containerd, cri-o or docker, as if it had that version (all that there "
     "are, with the version that they tell)"},
    {USER, "user", "NAME|UID", "Check permissions for this user (who runs nrictl)"},
    {PROBE, "probe", NULL,
     "Register at the socket, as a plugin that goes before it gets any event; the runtime logs it"},
    {STRICT, "strict", NULL, "End with 1 for warnings as well"},
    {'a', "all", NULL, "Tell what is fine, too"},
    {LIST, "list", NULL, "Print what can be found, and look at nothing"},
    {0, NULL, NULL, NULL},
};

static const struct nrictl_example examples[] = {
    {"nrictl doctor --root healthy", "Look at a system that is mounted there."},
    {"nrictl doctor --root healthy --all 10-logger", "The same for one plugin, with what is fine."},
    {"nrictl doctor --root faulty || test $? = 1",
     "A system with faults: each with what mends it."},
    {"nrictl doctor --root healthy --strict --output json", "For a script: warnings count, too."},
    {"nrictl doctor --list", "All that can be found."},
    {NULL, NULL},
};

/* ---- the command line ---- */

static int take_runtime(struct nrictl *ctl, struct doctor *doctor, const char *argument)
{
    static const char *const names[] = {"containerd", "cri-o", "docker"};
    const size_t length = strcspn(argument, "@");
    unsigned release[3];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i]) == length && strncmp(names[i], argument, length) == 0)
            doctor->runtime_name = names[i];
    }
    doctor->runtime_version = argument[length] == '@' ? argument + length + 1 : NULL;
    if (doctor->runtime_name == NULL ||
        (doctor->runtime_version != NULL && !nri_version_parse(doctor->runtime_version, release)))
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "--runtime is containerd, cri-o or docker, and may have a version, as "
                           "in containerd@2.1.4, not '%s'",
                           argument);
    return 0;
}

/* Paths are those of the root; without one they may be relative. */
static int take_path(struct nrictl *ctl, const char *option, const char *argument,
                     const char **path)
{
    *path = argument;
    if (argument[0] == '\0')
        return nrictl_fail(ctl, NRICTL_USAGE, "%s needs a path", option);
    return 0;
}

static int take(struct nrictl *ctl, int value, const char *argument, void *user)
{
    struct doctor *doctor = user;
    switch (value) {
    case ROOT:
        return take_path(ctl, "--root", argument, &doctor->root_path);
    case SOCKET:
        return take_path(ctl, "--socket", argument, &doctor->socket);
    case PLUGIN_DIR:
        return take_path(ctl, "--plugin-dir", argument, &doctor->plugin_dir);
    case CONFIG_DIR:
        return take_path(ctl, "--config-dir", argument, &doctor->config_dir);
    case CONTAINERD_CONFIG:
        return take_path(ctl, "--containerd-config", argument, &doctor->containerd_config);
    case RUNTIME:
        return take_runtime(ctl, doctor, argument);
    case USER:
        return take_path(ctl, "--user", argument, &doctor->user_text);
    case PROBE:
        doctor->probe = true;
        break;
    case STRICT:
        doctor->strict = true;
        break;
    case LIST:
        doctor->list = true;
        break;
    default:
        doctor->all = true;
        break;
    }
    return 0;
}

static int open_root(struct nrictl *ctl, struct doctor *doctor)
{
    doctor->live = doctor->root_path == NULL;
    if (doctor->live)
        doctor->root_path = "/";
    const int number = doctor_root_open(&doctor->root, doctor->root_path, &doctor->arena);
    if (number != 0)
        return nrictl_fail(
            ctl, number == ENOENT || number == ENOTDIR ? NRICTL_USAGE : NRICTL_ENVIRONMENT,
            "--root %s: %s", doctor->root_path, strerror(number));
    doctor->running = doctor_root_has(&doctor->root, "/proc/net/unix");
    return NRICTL_OK;
}

/* What is relative is meant from here, or from the root's top. */
static int make_absolute(struct nrictl *ctl, struct doctor *doctor)
{
    char here[PATH_MAX] = "";
    const char **paths[] = {&doctor->socket, &doctor->plugin_dir, &doctor->config_dir,
                            &doctor->containerd_config};
    if (doctor->live && getcwd(here, sizeof here) == NULL)
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "the current directory: %s", strerror(errno));
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (*paths[i] != NULL && (*paths[i])[0] != '/')
            *paths[i] = DOCTOR_TEXT(doctor, "%s/%s", here, *paths[i]);
    }
    /* A plugin may be a name; with a slash it is a path. */
    if (doctor->plugin != NULL && doctor->plugin[0] != '/' && strchr(doctor->plugin, '/') != NULL)
        doctor->plugin = DOCTOR_TEXT(doctor, "%s/%s", here, doctor->plugin);
    return NRICTL_OK;
}

/* ---- the checks ---- */

static int check_all(struct nrictl *ctl, struct doctor *doctor)
{
    int code = open_root(ctl, doctor);
    if (code == NRICTL_OK)
        code = make_absolute(ctl, doctor);
    if (code == NRICTL_OK)
        code = doctor_user_find(doctor);
    if (code != NRICTL_OK)
        return code;
    if (doctor->probe && !doctor->live)
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "--probe connects to a runtime of this machine: not with --root");
    doctor_runtimes_find(doctor);
    doctor_runtimes_check(doctor);
    doctor_plugins_check(doctor);
    doctor_sockets_check(doctor);
    doctor_timeouts_check(doctor);
    doctor_units_check(doctor);
    doctor_environment_check(doctor);
    if (doctor->arena.failure != 0)
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "%s: %s", doctor->root_path,
                           doctor->arena.failure == NRI_E_LIMIT
                               ? "its files are more than nrictl doctor looks at"
                               : "no memory");
    return NRICTL_OK;
}

static int end_code(const struct doctor *doctor)
{
    const size_t warnings = doctor_count(&doctor->findings, DOCTOR_WARNING);
    if (doctor_count(&doctor->findings, DOCTOR_PROBLEM) > 0 || (doctor->strict && warnings > 0))
        return NRICTL_FINDING;
    return NRICTL_OK;
}

static int run(struct nrictl *ctl, const struct nrictl_command *self, int argc, char **argv)
{
    struct doctor *doctor = calloc(1, sizeof *doctor);
    int first;
    if (doctor == NULL)
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no memory");
    doctor->ctl = ctl;
    doctor->root.fd = -1;
    int code = nrictl_parse(ctl, self, argc, argv, false, take, doctor, &first);
    if (code < 0 && argc - first > 1)
        code = nrictl_fail(ctl, NRICTL_USAGE, "one plugin at a time, not %d", argc - first);
    if (code >= 0) {
        free(doctor);
        return code;
    }
    memory_arena(&doctor->arena, MOST_MEMORY);
    doctor->findings.arena = &doctor->arena;
    doctor->plugin = argc - first == 1 ? argv[first] : NULL;
    if (doctor->list) {
        code = doctor_list(ctl);
    } else if ((code = check_all(ctl, doctor)) == NRICTL_OK &&
               (code = doctor_report(ctl, &doctor->findings, doctor->all)) == NRICTL_OK) {
        code = end_code(doctor);
    }
    doctor_root_close(&doctor->root);
    nri_arena_fini(&doctor->arena);
    free(doctor);
    return code;
}

const struct nrictl_command nrictl_doctor = {
    .name = "doctor",
    .summary = "find out why a plugin does not connect",
    .arguments = "[PLUGIN]",
    .description =
        "Looks at what has to be right for a plugin to get its events: the runtime, its version "
        "and "
        "its configuration, the socket and who may connect to it, the plugin directory and whether "
        "this machine can run what is there, the plugins' configurations, time-outs, security "
        "modules, units of systemd and left-over variables. Each finding says what was seen, "
        "where, "
        "why it matters, and what to do.\n\n"
        "PLUGIN is the name of a plugin, with or without its index, or the path of its program; "
        "without it all plugins are looked at.\n\n"
        "Nothing is changed, and no plugin is started. With --root everything is read below that "
        "directory, links included, and nothing of it is run; such a system counts as running when "
        "it has a /proc.\n\n"
        "Findings are problems, warnings and notes. Ends with 1 when there is a problem.",
    .options = options,
    .examples = examples,
    .run = run,
};
