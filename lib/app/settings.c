/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include <nri/error.h>
#include <stdlib.h>
#include <string.h>

#define REFUSAL_SIZE 1001 /* as nri/app.h says, and a NUL */

/* Of the thread that check_config runs on, so that nothing is shared. */
static _Thread_local char refusal[REFUSAL_SIZE];

int nri_app_refuse(const char *text)
{
    (void)snprintf(refusal, sizeof refusal, "%s", text != NULL ? text : "");
    return NRI_E_INVALID;
}

static int fail(char text[APP_CONFIG_TEXT], const char *what)
{
    (void)snprintf(text, APP_CONFIG_TEXT, "%s", what);
    return -1;
}

void app_settings_init(struct app_settings *settings, const struct nri_app_options *options,
                       const char *path)
{
    *settings = (struct app_settings){.options = options, .path = path};
}

void app_settings_fini(struct app_settings *settings)
{
    app_config_free(settings->current);
    free(settings->configure);
    settings->current = NULL;
    settings->configure = NULL;
}

static int ask_program(const struct nri_app_options *options, const struct app_config *candidate,
                       char text[APP_CONFIG_TEXT])
{
    if (options->check_config == NULL)
        return 0;
    refusal[0] = '\0';
    const int code = options->check_config(app_config_values(candidate), options->user);
    if (code == 0)
        return 0;
    return fail(text, refusal[0] != '\0' ? refusal : nri_strerror(code));
}

/* The texts that the old values point into go last: nobody sees a mixture. */
static int take(struct app_settings *settings, struct app_config *candidate,
                char text[APP_CONFIG_TEXT])
{
    const struct nri_app_options *options = settings->options;
    const char *fixed =
        settings->current != NULL ? app_config_fixed_change(settings->current, candidate) : NULL;
    if (fixed != NULL) {
        (void)snprintf(text, APP_CONFIG_TEXT,
                       "%s: cannot be changed while the program runs: restart it", fixed);
        return -1;
    }
    /* Nobody sees an incomplete one but the program's start. */
    const bool incomplete = app_config_is_incomplete(candidate);
    if (!incomplete && ask_program(options, candidate, text) != 0)
        return -1;
    memcpy(options->config, app_config_values(candidate), (size_t)options->config_size);
    app_config_free(settings->current);
    settings->current = candidate;
    settings->incomplete = incomplete;
    return 0;
}

static int read_and_take(struct app_settings *settings, const char *configure, bool more_to_come,
                         char text[APP_CONFIG_TEXT])
{
    const struct nri_app_options *options = settings->options;
    const struct app_config_sources sources = {.path = settings->path,
                                               .configure = configure,
                                               .configure_name = "the runtime's configuration",
                                               .more_to_come = more_to_come};
    struct app_config *candidate = NULL;
    if (app_config_read(&candidate, options->fields, (size_t)options->field_count,
                        (size_t)options->config_size, &sources, text) != 0)
        return -1;
    const int code = take(settings, candidate, text);
    if (code != 0)
        app_config_free(candidate);
    return code;
}

enum app_settings_fault app_settings_load(struct app_settings *settings, bool launched,
                                          char text[APP_CONFIG_TEXT])
{
    const struct nri_app_options *options = settings->options;
    if (options->field_count == 0)
        return APP_SETTINGS_FINE;
    if (options->fields == NULL || options->config == NULL) {
        (void)fail(text, "there are fields, but no `fields` or no `config`");
        return APP_SETTINGS_PROGRAM;
    }
    if (app_config_check_table(options->fields, (size_t)options->field_count,
                               (size_t)options->config_size, text) != 0)
        return APP_SETTINGS_PROGRAM;
    return read_and_take(settings, NULL, launched, text) != 0 ? APP_SETTINGS_INVALID
                                                              : APP_SETTINGS_FINE;
}

int app_settings_reload(struct app_settings *settings, char text[APP_CONFIG_TEXT])
{
    if (settings->options->field_count == 0)
        return fail(text, "this program has no configuration");
    return read_and_take(settings, settings->configure, false, text);
}

int app_settings_configure(struct app_settings *settings, const char *configure,
                           char text[APP_CONFIG_TEXT])
{
    if (settings->options->field_count == 0 ||
        (!settings->incomplete &&
         strcmp(configure, settings->configure != NULL ? settings->configure : "") == 0))
        return 0;
    char *copy = strdup(configure);
    if (copy == NULL)
        return fail(text, "out of memory");
    if (read_and_take(settings, copy, false, text) != 0) {
        free(copy);
        return -1;
    }
    free(settings->configure);
    settings->configure = copy;
    return 1;
}
