/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nrictl doctor can find: one table, of which the report, --list and the documentation are
 * made.
 */
#ifndef NRICTL_DOCTOR_FINDING_H
#define NRICTL_DOCTOR_FINDING_H

#include "base/arena.h"
#include "nrictl.h"

enum doctor_severity { DOCTOR_FINE, DOCTOR_NOTE, DOCTOR_WARNING, DOCTOR_PROBLEM };

/* X(NAME, "group.noun", severity, what it is, why it matters). The part in front of the dot is the
 * group in the report; the groups are in the order of the table. */
#define DOCTOR_FINDINGS(X)                                                                         \
    X(RUNTIME_ABSENT, "runtime.absent", PROBLEM, "no runtime was found",                           \
      "NRI plugins connect to containerd, CRI-O or Docker; without one there is nothing to "       \
      "connect to")                                                                                \
    X(RUNTIME_VERSION, "runtime.version", FINE, "the runtime, and the NRI that is in it",          \
      "what a runtime does not act on it ignores silently, or refuses")                            \
    X(RUNTIME_VERSION_UNKNOWN, "runtime.version-unknown", NOTE,                                    \
      "the runtime's version could not be told",                                                   \
      "defaults and what a runtime lacks depend on its version: the newest was assumed")           \
    X(RUNTIME_NO_NRI, "runtime.no-nri", PROBLEM, "this version of the runtime has no NRI",         \
      "it never opens the socket and never starts a plugin")                                       \
    X(RUNTIME_OLD_NRI, "runtime.old-nri", NOTE, "the runtime's NRI is older than 0.10",            \
      "it does not know the events UpdatePodSandbox, PostUpdatePodSandbox and "                    \
      "ValidateContainerAdjustment, and ends the connection of a plugin that subscribes to one: "  \
      "\"invalid plugin events\"")                                                                 \
    X(RUNTIME_NO_SYNC, "runtime.no-sync", NOTE,                                                    \
      "the runtime does not synchronise plugins that it starts itself",                            \
      "such a plugin gets events of pods and containers that it was never told of")                \
    X(CONFIG_READ, "config.read", FINE, "the configuration that counts", "")                       \
    X(CONFIG_UNREADABLE, "config.unreadable", PROBLEM, "a configuration cannot be read",           \
      "what it says was not looked at, and the runtime may not start with it")                     \
    X(CONFIG_SYNTAX, "config.syntax", PROBLEM, "a configuration is not understood",                \
      "the runtime does not start with it, or goes on with the old one")                           \
    X(CONFIG_TYPE, "config.type", PROBLEM, "a setting has a value of the wrong type",              \
      "the runtime does not start, or its NRI does not")                                           \
    X(CONFIG_UNKNOWN_KEY, "config.unknown-key", WARNING, "NRI has no setting of that name",        \
      "it is ignored, so that the default counts")                                                 \
    X(CONFIG_VERSION, "config.version", PROBLEM,                                                   \
      "NRI's section has a name that this version of configuration does not use",                  \
      "containerd 1.7 takes a file without \"version = 2\" for version 1, and ignores the "        \
      "section")                                                                                   \
    X(CONFIG_IMPORT_MISSING, "config.import-missing", PROBLEM,                                     \
      "a file that the configuration imports is not there", "containerd does not start")           \
    X(CONFIG_IMPORT_VERSION, "config.import-version", WARNING,                                     \
      "an imported file has a higher version than the file that imports it",                       \
      "containerd 2 refuses to start with it")                                                     \
    X(CONFIG_NOT_IMPORTED, "config.not-imported", WARNING,                                         \
      "a file of conf.d with settings of NRI is not imported",                                     \
      "containerd reads what imports names and nothing else: these settings do not count")         \
    X(CONFIG_DISABLED_NAME, "config.disabled-name", PROBLEM,                                       \
      "disabled_plugins has a name that is not whole",                                             \
      "containerd does not start: \"invalid disabled plugin URI\"")                                \
    X(CONFIG_NRI_DISABLED, "config.nri-disabled", PROBLEM, "NRI is switched off",                  \
      "there is no socket, and no plugin is started")                                              \
    X(CONFIG_OTHER_DISABLED, "config.other-disabled", FINE,                                        \
      "NRI is switched off, and another runtime has it", "")                                       \
    X(CONFIG_CRI_DISABLED, "config.cri-disabled", PROBLEM,                                         \
      "containerd's CRI plugin is switched off",                                                   \
      "in containerd it is CRI that calls NRI: plugins connect and never get an event")            \
    X(CONFIG_CONNECTIONS, "config.connections-disabled", PROBLEM,                                  \
      "the runtime takes no connections of plugins",                                               \
      "there is no socket: only plugins of the plugin directory run")                              \
    X(CONFIG_SOCKET_PATH, "config.socket-path", WARNING,                                           \
      "the runtime's socket is not where plugins look for it by default",                          \
      "a plugin that is not told of the path does not find it")                                    \
    X(CONFIG_SHARED_SOCKET, "config.shared-socket", WARNING, "two runtimes have the same socket",  \
      "the one that starts last takes it over, and plugins of the other are connected to it")      \
    X(SOCKET_LISTENER, "socket.listener", FINE, "who listens on the socket", "")                   \
    X(SOCKET_PATH_TOO_LONG, "socket.path-too-long", PROBLEM,                                       \
      "the socket's path is longer than a unix socket's may be",                                   \
      "the system refuses to bind and to connect to it")                                           \
    X(SOCKET_NOT_CONFIGURED, "socket.not-configured", PROBLEM,                                     \
      "no runtime is configured to have this socket", "a plugin waits there for nobody")           \
    X(SOCKET_MISSING, "socket.missing", PROBLEM, "the socket is not there",                        \
      "the runtime does not run, was not restarted since NRI was switched on, or failed to open "  \
      "it")                                                                                        \
    X(SOCKET_NOT_SOCKET, "socket.not-socket", PROBLEM, "what is at the socket's path is none",     \
      "the runtime cannot open its socket there, and plugins cannot connect")                      \
    X(SOCKET_STALE, "socket.stale", PROBLEM, "nobody listens on the socket",                       \
      "it was left by a runtime that has ended: connecting is refused")                            \
    X(SOCKET_PERMISSION, "socket.permission", PROBLEM, "the user may not connect to the socket",   \
      "connecting needs the right to write to the socket and to search each directory above it")   \
    X(SOCKET_OPEN, "socket.open", WARNING, "everybody may connect to the socket",                  \
      "a plugin changes what containers run and mount: whoever connects is root on this node")     \
    X(SOCKET_OTHER_LISTENER, "socket.other-listener", WARNING,                                     \
      "the program that listens on the socket is no runtime that is known",                        \
      "plugins connect to it, and not to the runtime")                                             \
    X(SOCKET_PROBE, "socket.probe", FINE, "the runtime answered a registration", "")               \
    X(SOCKET_PROBE_FAILED, "socket.probe-failed", PROBLEM,                                         \
      "the runtime did not answer a registration as it should", "a plugin fails in the same way")  \
    X(PLUGIN_READY, "plugins.ready", FINE, "a plugin without fault", "")                           \
    X(PLUGIN_ABSENT, "plugins.absent", PROBLEM, "the plugin that was asked for is not there",      \
      "the runtime does not start what is not in its plugin directory")                            \
    X(PLUGINS_DIRECTORY, "plugins.directory", PROBLEM, "the plugin directory cannot be read",      \
      "the runtime starts none of its plugins, or does not start")                                 \
    X(PLUGINS_DIRECTORY_MISSING, "plugins.directory-missing", WARNING,                             \
      "the plugin directory that is configured is not there", "the runtime starts no plugin")      \
    X(PLUGINS_WRITABLE, "plugins.writable", WARNING,                                               \
      "others than root may change a plugin, or put one into the plugin directory",                \
      "the runtime runs it as root")                                                               \
    X(PLUGIN_NAME, "plugins.name", PROBLEM, "a file that may be executed is not called NN-NAME",   \
      "the runtime's NRI fails as a whole: it starts no plugin at all")                            \
    X(PLUGIN_MODE, "plugins.mode", PROBLEM, "a plugin may not be executed",                        \
      "it is passed over without a word")                                                          \
    X(PLUGIN_LINK, "plugins.link", PROBLEM, "a plugin is a link to nothing",                       \
      "it is passed over, or the runtime's NRI fails as a whole")                                  \
    X(PLUGIN_KIND, "plugins.kind", WARNING, "what is called as a plugin is no regular file",       \
      "it is passed over without a word")                                                          \
    X(PLUGIN_NOEXEC, "plugins.noexec", PROBLEM,                                                    \
      "the plugin directory is on a file system that is mounted noexec",                           \
      "nothing that is there can be started")                                                      \
    X(PLUGIN_UNREADABLE, "plugins.unreadable", NOTE, "a plugin could not be looked into",          \
      "whether this machine can run it was not checked")                                           \
    X(PLUGIN_WASM, "plugins.wasm", NOTE, "a plugin is a WebAssembly module",                       \
      "only runtimes with NRI 0.9 or later, in Go, and built with it, run such")                   \
    X(PLUGIN_FORMAT, "plugins.format", PROBLEM, "a plugin is no program",                          \
      "starting it fails: \"exec format error\"")                                                  \
    X(PLUGIN_ARCHITECTURE, "plugins.architecture", PROBLEM,                                        \
      "a plugin is a program for another machine", "starting it fails: \"exec format error\"")     \
    X(PLUGIN_LOADER, "plugins.loader", PROBLEM, "a plugin's dynamic loader is not there",          \
      "starting it fails: \"no such file or directory\", although the plugin is there")            \
    X(PLUGIN_LIBRARY, "plugins.library", PROBLEM, "a shared library of a plugin is missing",       \
      "the plugin ends before it registers")                                                       \
    X(PLUGIN_LIBRARY_VERSION, "plugins.library-version", PROBLEM,                                  \
      "a shared library is older than a plugin needs",                                             \
      "the plugin ends before it registers: \"version not found\"")                                \
    X(PLUGIN_INTERPRETER, "plugins.interpreter", PROBLEM,                                          \
      "the interpreter that a script names is not there, or may not be executed",                  \
      "starting it fails: \"no such file or directory\", although the script is there")            \
    X(PLUGIN_LINE_END, "plugins.line-end", PROBLEM, "a script's first line ends as in Windows",    \
      "the carriage return counts as part of the interpreter's name, and none is called so")       \
    X(PLUGIN_SEARCH_PATH, "plugins.search-path", PROBLEM,                                          \
      "a script's interpreter is looked for by env, and is not in /bin or /usr/bin",               \
      "a runtime gives its plugins no PATH, so that env looks nowhere else")                       \
    X(PLUGIN_SAME_INDEX, "plugins.same-index", WARNING, "two plugins have the same index",         \
      "which of them is asked first is not defined in runtimes in Go")                             \
    X(PLUGIN_SAME_NAME, "plugins.same-name", WARNING, "two plugins have the same name",            \
      "they share the configuration NAME.conf, and logs and metrics do not tell them apart")       \
    X(DROPIN_READ, "dropins.read", FINE, "the configuration that a plugin gets", "")               \
    X(DROPIN_UNMATCHED, "dropins.unmatched", WARNING, "a configuration belongs to no plugin",      \
      "nobody reads it: a runtime gives configurations to plugins of its plugin directory only, "  \
      "by their name")                                                                             \
    X(DROPIN_SHADOWED, "dropins.shadowed", WARNING,                                                \
      "a configuration is hidden by one with the plugin's index",                                  \
      "of NN-NAME.conf and NAME.conf a plugin gets the first only: they are not merged")           \
    X(DROPIN_SUFFIX, "dropins.suffix", WARNING,                                                    \
      "a configuration has a name that no runtime looks for",                                      \
      "only NN-NAME.conf and NAME.conf are read")                                                  \
    X(DROPIN_UNREADABLE, "dropins.unreadable", PROBLEM, "a plugin's configuration cannot be read", \
      "the runtime's NRI fails as a whole: it starts no plugin at all")                            \
    X(TIMEOUT_INVALID, "timeouts.invalid", PROBLEM, "a time-out is no duration",                   \
      "the runtime does not start, or its NRI does not")                                           \
    X(TIMEOUT_SHORT, "timeouts.short", WARNING, "a time-out is very short",                        \
      "a plugin that a busy node delays is disconnected, and its containers start without it")     \
    X(TIMEOUT_LONG, "timeouts.long", WARNING,                                                      \
      "a plugin may take as long as the kubelet waits for the whole request",                      \
      "the kubelet gives up and begins again while the plugin still works on the first attempt")   \
    X(SECURITY_SELINUX, "security.selinux", NOTE, "SELinux is enforcing",                          \
      "it may forbid a plugin to connect although all permissions allow it")                       \
    X(SECURITY_APPARMOR, "security.apparmor", NOTE,                                                \
      "an AppArmor profile is enforced on the runtime",                                            \
      "it may forbid the runtime to start plugins or to open the socket")                          \
    X(UNIT_READ, "unit.read", FINE, "a unit of systemd that starts the plugin", "")                \
    X(UNIT_ADDRESS_FAMILIES, "unit.address-families", PROBLEM,                                     \
      "a unit forbids its program unix sockets",                                                   \
      "connecting fails: \"address family not supported by protocol\"")                            \
    X(UNIT_HIDDEN, "unit.hidden-socket", PROBLEM, "a unit hides the socket from its program",      \
      "the plugin sees a file system of its own in which the socket is not there")                 \
    X(UNIT_USER, "unit.user", PROBLEM,                                                             \
      "a unit runs the plugin as a user who may not connect to the socket",                        \
      "connecting fails: \"permission denied\"")                                                   \
    X(UNIT_TWICE, "unit.twice", WARNING,                                                           \
      "a plugin is started by a unit, and by the runtime as well",                                 \
      "it runs twice, and each changes the same containers")                                       \
    X(ENVIRONMENT_SOCKET, "environment.socket", PROBLEM,                                           \
      "NRI_PLUGIN_SOCKET is set where no runtime set it",                                          \
      "a plugin takes it for the descriptor of its connection, and connects to nothing else")      \
    X(ENVIRONMENT_IDENTITY, "environment.identity", WARNING,                                       \
      "NRI_PLUGIN_NAME or NRI_PLUGIN_IDX is set where no runtime set it",                          \
      "a plugin registers with it, whatever its program is called; some refuse to be given "       \
      "another")

enum doctor_kind {
#define X(name, id, severity, what, why) DOCTOR_##name,
    DOCTOR_FINDINGS(X)
#undef X
        DOCTOR_KINDS
};

struct doctor_description {
    const char *id;
    enum doctor_severity severity;
    const char *what, *why;
};
const struct doctor_description *doctor_describe(enum doctor_kind kind);
const char *doctor_severity_name(enum doctor_severity severity);

struct doctor_finding {
    enum doctor_kind kind;
    const char *what, *where, *fix; /* where and fix may be NULL */
};

struct doctor_findings {
    struct nri_arena *arena;
    struct doctor_finding *list;
    size_t count, room;
    bool full; /* there were more than anybody reads */
};

/* A text in the arena; "" when there is no memory, which arena->failure tells. */
const char *doctor_text(struct nri_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* `where` is a path, perhaps with ":LINE", `fix` a command or a line to write; both live as long.
 */
void doctor_find(struct doctor_findings *findings, enum doctor_kind kind, const char *where,
                 const char *fix, const char *format, ...) __attribute__((format(printf, 5, 6)));
bool doctor_found(const struct doctor_findings *findings, enum doctor_kind kind);
size_t doctor_count(const struct doctor_findings *findings, enum doctor_severity severity);

/* doctor_report.c; `all` says what is fine, too. As print_json_end(). */
int doctor_report(struct nrictl *ctl, const struct doctor_findings *findings, bool all);
int doctor_list(struct nrictl *ctl);

#endif
