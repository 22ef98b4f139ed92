/* SPDX-License-Identifier: Apache-2.0 */
#include "source.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

#define DAY 86400000

struct source *source_new(void)
{
    struct source *source = calloc(1, sizeof *source);
    if (source == NULL)
        return NULL;
    memory_arena(&source->arena, SIZE_MAX);
    source->timeout_ms = 300000;
    return source;
}

void source_free(struct source *source)
{
    if (source == NULL)
        return;
    if (source->history.events_end != NULL)
        history_fini(&source->history);
    nri_arena_fini(&source->arena);
    free(source);
}

int source_take(struct nrictl *ctl, struct source *source, int value, const char *argument)
{
    switch (value) {
    case 'p':
        if (source->plugin_count == SOURCE_MOST_PLUGINS)
            return nrictl_fail(ctl, NRICTL_USAGE, "at most %d plugins are possible",
                               SOURCE_MOST_PLUGINS);
        return plugin_option(ctl, &source->arena, argument,
                             &source->plugins[source->plugin_count++]);
    case SOURCE_RUNTIME:
        source->runtime = argument;
        return 0;
    case SOURCE_TIMEOUT:
        return nrictl_milliseconds(ctl, "--timeout", argument, 1, DAY, &source->timeout_ms)
                   ? 0
                   : NRICTL_USAGE;
    case 'v':
        source->verbose = true;
        return 0;
    default:
        if (argument[0] == '\0')
            return nrictl_fail(ctl, NRICTL_USAGE, "--container is empty");
        source->container = argument;
        return 0;
    }
}

int source_fail(struct nrictl *ctl, const struct source *source, int code)
{
    return nrictl_fail(ctl, code == NRI_E_INVALID ? NRICTL_USAGE : NRICTL_ENVIRONMENT, "%s",
                       source->history.error.text);
}

int source_read(struct nrictl *ctl, struct source *source, const char *path)
{
    const bool recording = path != NULL && source_is_recording(path);
    int code;
    if (recording && (source->plugin_count > 0 || source->runtime != NULL))
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "%s is a recording: --plugin and --runtime are for scenarios", path);
    code = recording ? source_recording(ctl, source, path) : source_scenario(ctl, source, path);
    if (code != NRICTL_OK)
        return code;
    if (source->failure != 0)
        return source_fail(ctl, source, source->failure);
    if (history_select(&source->history, source->container))
        return NRICTL_OK;
    return nrictl_fail(ctl, NRICTL_FINDING, "no container%s%s%s is created in %s",
                       source->container != NULL ? " '" : "",
                       source->container != NULL ? source->container : "",
                       source->container != NULL ? "'" : "", path != NULL ? path : "the scenario");
}
