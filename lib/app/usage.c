/* SPDX-License-Identifier: Apache-2.0 */
#include "usage.h"

#define COLUMN 30 /* where help begins */

static void print_option(FILE *out, int letter, const char *name, const char *argument,
                         const char *help)
{
    char left[128];
    char with_letter[8] = "    ";
    if (letter != 0)
        (void)snprintf(with_letter, sizeof with_letter, "-%c, ", letter);
    (void)snprintf(left, sizeof left, "%s--%s%s%s", with_letter, name, argument != NULL ? " " : "",
                   argument != NULL ? argument : "");
    (void)fprintf(out, "  %-*s  %s\n", COLUMN, left, help != NULL ? help : "");
}

/* What may be written: "duration, 0s to 1h", "one of: off, on". */
static void print_kind(FILE *out, const struct nri_app_field *field)
{
    static const char *const kinds[] = {
        [NRI_APP_BOOL] = "true or false",  [NRI_APP_INTEGER] = "integer",
        [NRI_APP_NUMBER] = "number",       [NRI_APP_TEXT] = "text",
        [NRI_APP_DURATION] = "duration",   [NRI_APP_BYTES] = "bytes",
        [NRI_APP_CPUS] = "CPU list",       [NRI_APP_CHOICE] = "one of",
        [NRI_APP_TEXTS] = "list of texts", [NRI_APP_DOCUMENT] = "anything",
    };
    if (field->type < NRI_APP_BOOL || field->type > NRI_APP_DOCUMENT)
        return; /* of a table that is refused */
    (void)fprintf(out, "[%s", kinds[field->type]);
    if (field->type == NRI_APP_CHOICE && field->choices != NULL) {
        for (size_t i = 0; field->choices[i] != NULL; i++)
            (void)fprintf(out, "%s%s", i == 0 ? ": " : ", ", field->choices[i]);
    }
    if (field->minimum != NULL && field->maximum != NULL)
        (void)fprintf(out, ", %s to %s", field->minimum, field->maximum);
    else if (field->minimum != NULL)
        (void)fprintf(out, ", at least %s", field->minimum);
    else if (field->maximum != NULL)
        (void)fprintf(out, ", at most %s", field->maximum);
    (void)fputs("]", out);
}

static void print_field(FILE *out, const struct nri_app_field *field)
{
    const char *standard = field->standard;
    if (standard == NULL && field->type == NRI_APP_CHOICE && field->choices != NULL)
        standard = field->choices[0];
    (void)fprintf(out, "  %-*s  ", COLUMN, field->name);
    if (field->help != NULL)
        (void)fprintf(out, "%s ", field->help);
    print_kind(out, field);
    if (field->required != 0)
        (void)fputs(" (required)", out);
    else if (standard != NULL && standard[0] != '\0' && field->secret == 0)
        (void)fprintf(out, " (default: %s)", standard);
    (void)fputs("\n", out);
}

void app_usage_print(FILE *out, const char *program, const struct nri_app_options *options,
                     const struct app_option *own, size_t count)
{
    (void)fprintf(out, "usage: %s [OPTION]...\n", program);
    if (options->summary != NULL)
        (void)fprintf(out, "%s\n", options->summary);
    (void)fputs("\n", out);
    for (size_t i = 0; i < count; i++) {
        if (!own[i].configs || options->field_count > 0)
            print_option(out, own[i].value < APP_OPTION_LONG ? own[i].value : 0, own[i].name,
                         own[i].argument, own[i].help);
    }
    for (size_t i = 0; i < options->flag_count; i++) {
        const struct nri_app_flag *flag = &options->flags[i];
        if (i == 0)
            (void)fputs("\n", out);
        print_option(out, (int)flag->letter, flag->name, flag->argument, flag->help);
    }
    if (options->field_count > 0)
        (void)fputs("\nConfiguration, in YAML or JSON:\n", out);
    for (size_t i = 0; i < options->field_count; i++)
        print_field(out, &options->fields[i]);
    (void)fputs("\nSignals: TERM and INT end the plugin, HUP reads the configuration again, USR2 "
                "switches the bypass.\n"
                "Exit status: 0 after SIGTERM or SIGINT, 1 after a failure, 2 for a wrong command "
                "line or configuration.\n",
                out);
}
