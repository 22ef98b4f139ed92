/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A history of a scenario that is run: each event as it is asked, and its outcome.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "rehearsal.h"
#include "source.h"

static void on_asked(const struct nri_runtime_event *event, void *user)
{
    struct source *source = user;
    const bool update = event->event == NRI_EVENT_UPDATE_CONTAINER;
    struct history_event *begun;
    if (source->failure == 0 && (update || event->event == NRI_EVENT_CREATE_CONTAINER))
        source->failure = history_begin(&source->history, event->event, (const void *)event->pod,
                                        (const void *)event->container,
                                        update ? (const void *)event->resources : NULL, &begun);
}

static void on_outcome(const nri_outcome *outcome, void *user)
{
    struct source *source = user;
    if (source->failure == 0)
        source->failure = history_outcome(&source->history, outcome);
}

static void on_over(struct rehearsal *rehearsal, void *user)
{
    (void)rehearsal;
    (void)user;
}

static int run(struct nrictl *ctl, struct source *source, const struct scenario *scenario,
               const struct imitate *imitate, int output)
{
    struct rehearsal rehearsal = {.ctl = ctl,
                                  .scenario = scenario,
                                  .options = {.imitate = imitate,
                                              .plugins = source->plugins,
                                              .plugin_count = source->plugin_count,
                                              .timeout_ms = source->timeout_ms,
                                              .verbose = source->verbose,
                                              .plugin_output = output},
                                  .over = on_over,
                                  .asked = on_asked,
                                  .outcome = on_outcome,
                                  .user = source};
    int code = rehearsal_run(&rehearsal);
    if (code == NRICTL_OK && rehearsal.end == END_TIMEOUT)
        code = nrictl_fail(ctl, NRICTL_FINDING, "the scenario took longer than --timeout");
    else if (code == NRICTL_OK && rehearsal.end == END_INTERRUPTED)
        code = nrictl_fail(ctl, NRICTL_ENVIRONMENT, "interrupted");
    rehearsal_free(&rehearsal);
    return code;
}

/* The result is what counts here: what plugins print is not shown, unless that is asked for. */
static int run_quietly(struct nrictl *ctl, struct source *source, const struct scenario *scenario,
                       const struct imitate *imitate)
{
    const int nowhere = source->verbose ? 0 : open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0)
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "/dev/null: %s", strerror(errno));
    const int code = run(ctl, source, scenario, imitate, nowhere);
    if (nowhere > 0)
        (void)close(nowhere);
    if (code == NRICTL_ENVIRONMENT && !source->verbose)
        (void)nrictl_fail(ctl, 0, "with --verbose what plugins print is shown, too");
    return code;
}

int source_scenario(struct nrictl *ctl, struct source *source, const char *path)
{
    struct scenario scenario;
    const struct imitate *imitate = NULL;
    int code = scenario_read(ctl, &scenario, path);
    const char *runtime = source->runtime != NULL ? source->runtime : scenario.runtime;
    if (code == NRICTL_OK && runtime != NULL) {
        code = imitate_find(ctl, runtime, &source->imitate);
        imitate = &source->imitate;
    }
    if (code == NRICTL_OK) {
        const int failure =
            history_open(&source->history, imitate != NULL && imitate->go_compatible,
                         imitate != NULL ? imitate->merge_policy : NULL);
        code = failure != 0 ? source_fail(ctl, source, failure) : node_keep_output(ctl);
    }
    if (code == NRICTL_OK)
        code = run_quietly(ctl, source, &scenario, imitate);
    scenario_free(&scenario);
    return code;
}
