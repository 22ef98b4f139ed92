/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a history comes from: a scenario that is run on a simulated node, or a recording.
 */
#ifndef NRICTL_SOURCE_H
#define NRICTL_SOURCE_H

#include "history.h"
#include "imitate.h"
#include "plugin_option.h"

#define SOURCE_MOST_PLUGINS 128

/* The options that commands have for their source; a command's own come behind them. */
enum { SOURCE_RUNTIME = NRICTL_LONG + 500, SOURCE_TIMEOUT };
/* clang-format off */
#define SOURCE_OPTIONS                                                                             \
    {'p', "plugin", "COMMAND",                                                                     \
     "Start a plugin on the simulated node, as of nrictl sim; may be given again"},                \
    {SOURCE_RUNTIME, "runtime", "NAME@VERSION",                                                    \
     "The simulated node is like a release of a runtime, such as containerd@2.1"},                 \
    {SOURCE_TIMEOUT, "timeout", "TIME", "How long the scenario may take (5m)"},                    \
    {'c', "container", "CONTAINER",                                                                \
     "The container's name, its id, or how its id begins (the first one)"},                       \
    {'v', "verbose", NULL, "Let the plugins' own output through, and what the runtime logs"}
/* clang-format on */

struct source {
    const char *container; /* NULL: the first */
    const char *runtime;
    uint64_t timeout_ms;
    bool verbose;
    struct nri_arena arena; /* of the plugins */
    struct scenario_plugin plugins[SOURCE_MOST_PLUGINS];
    size_t plugin_count;
    struct imitate imitate;
    struct history history;
    int failure; /* of the history, within a callback */
};

/* Large: on the heap. NULL: no memory. */
struct source *source_new(void);
void source_free(struct source *source);

/* One of SOURCE_OPTIONS. 0, or one of enum nrictl_exit after a message. */
int source_take(struct nrictl *ctl, struct source *source, int value, const char *argument);
/*
 * Makes the history of a file, or of the default scenario (NULL). NRICTL_OK, then there is an
 * event; else another code after a message.
 */
int source_read(struct nrictl *ctl, struct source *source, const char *path);

/* source_recording.c, source_scenario.c: what source_read() does by what the file is. */
bool source_is_recording(const char *path);
int source_recording(struct nrictl *ctl, struct source *source, const char *path);
int source_scenario(struct nrictl *ctl, struct source *source, const char *path);
/* The message of what the history could not do. */
int source_fail(struct nrictl *ctl, const struct source *source, int code);

#endif
