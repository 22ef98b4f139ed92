/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nri-scripted: a plugin that does what a script says, and writes down what it saw. The instrument
 * of tests, of plugins in any language too; see doc/scripted.md.
 */
#include <nri/app.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "player.h"

static int set_script(void *user, const char *value, const char **text)
{
    struct player *player = user;
    script_free(&player->script); /* the last one given counts */
    *text = player->text;
    return script_load(&player->script, value, player->text);
}

static int set_report(void *user, const char *value, const char **text)
{
    struct player *player = user;
    report_close(&player->report);
    const int rc = report_open(&player->report, value);
    if (rc != 0) {
        (void)snprintf(player->text, sizeof player->text, "%s: %s", value, strerror(rc));
        *text = player->text;
    }
    return rc;
}

int main(int argc, char **argv)
{
    static const struct nri_app_flag flags[] = {
        {.name = "script",
         .argument = "FILE",
         .help = "what to do with which event, as JSON",
         .set = set_script},
        {.name = "report",
         .argument = "FILE",
         .help = "where to write what came and what became of it, as JSON lines",
         .set = set_report},
    };
    struct player player = {.report.fd = -1};
    struct nri_plugin_ops ops;
    struct nri_plugin_options plugin;
    struct nri_app_options app;
    player_fill_ops(&ops);
    nri_plugin_options_init(&plugin, sizeof plugin);
    plugin.allow_missing_validate = 1;
    plugin.reconnect = 1;
    plugin.stop_grace_ms = 500; /* for the answer of a rule that stops */
    nri_app_options_init(&app, sizeof app);
    app.name = "scripted";
    app.index = "10";
    app.version = nri_version();
    app.summary = "does with each event what a script says";
    app.ops = &ops;
    app.plugin = &plugin;
    app.flags = flags;
    app.flag_count = sizeof flags / sizeof *flags;
    app.flag_size = sizeof *flags;
    app.user = &player;
    if (alarms_init(&player.alarms) != 0)
        return 1;
    calls_init(&player.calls, &player.report, &player.alarms);
    const int status = nri_app_main(argc, argv, &app);
    alarms_fini(&player.alarms);
    calls_fini(&player.calls);
    report_close(&player.report);
    script_free(&player.script);
    return status;
}
