/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command lines of all subcommands: getopt_long over the tables.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"
#include "nrictl.h"
#include "print.h"

/* More than any command has. */
#define MOST_OPTIONS 64

const struct nrictl_option nrictl_common_options[] = {
    {'o', "output", "text|json", "The form of the result (text)"},
    {NRICTL_LONG + 1000, "color", "auto|always|never",
     "Colours in the result (auto: on a terminal)"},
    {'h', "help", NULL, "Print what the command does, with examples"},
    {0, NULL, NULL, NULL},
};

int nrictl_fail(struct nrictl *ctl, int code, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    (void)fprintf(ctl->err, "nrictl %s: ", ctl->command);
    /* It may have the name of a file or a plugin in it, which anybody chose. */
    print_text_line(ctl->err, text != NULL ? text : "no memory");
    free(text);
    return code;
}

/* ---- the form that getopt_long wants ---- */

struct forms {
    struct option longs[MOST_OPTIONS + 1];
    char letters[3 * MOST_OPTIONS + 3];
    size_t count, used;
};

static bool add_form(struct forms *forms, const struct nrictl_option *option)
{
    if (forms->count == MOST_OPTIONS)
        return false;
    forms->longs[forms->count++] =
        (struct option){option->name, option->argument != NULL ? required_argument : no_argument,
                        NULL, option->value};
    if (option->value < NRICTL_LONG) {
        forms->letters[forms->used++] = (char)option->value;
        if (option->argument != NULL)
            forms->letters[forms->used++] = ':';
    }
    return true;
}

static bool make_forms(struct forms *forms, const struct nrictl_command *command, bool plus)
{
    const struct nrictl_option *const tables[] = {nrictl_common_options, command->options};
    memset(forms, 0, sizeof *forms);
    if (plus)
        forms->letters[forms->used++] = '+';
    forms->letters[forms->used++] = ':';
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        for (const struct nrictl_option *at = tables[i]; at != NULL && at->name != NULL; at++) {
            if (!add_form(forms, at))
                return false;
        }
    }
    return true;
}

/* ---- options of every command ---- */

static bool has_format(const struct nrictl_command *command)
{
    for (const struct nrictl_option *at = command->options; at != NULL && at->name != NULL; at++) {
        if (strcmp(at->name, "format") == 0)
            return true;
    }
    return false;
}

static int take_output(struct nrictl *ctl, const struct nrictl_command *command,
                       const char *argument)
{
    if (strcmp(argument, "json") != 0 && strcmp(argument, "text") != 0)
        return nrictl_fail(ctl, NRICTL_USAGE, "--output is text or json, not '%s'%s", argument,
                           has_format(command) ? "; other forms are --format's" : "");
    ctl->json = strcmp(argument, "json") == 0;
    return -1;
}

static int take_colour(struct nrictl *ctl, const char *argument)
{
    if (strcmp(argument, "always") == 0)
        ctl->colour = true;
    else if (strcmp(argument, "never") == 0)
        ctl->colour = false;
    else if (strcmp(argument, "auto") != 0)
        return nrictl_fail(ctl, NRICTL_USAGE, "--color is auto, always or never, not '%s'",
                           argument);
    return -1;
}

static bool is_own(const struct nrictl_command *command, int value)
{
    for (const struct nrictl_option *at = command->options; at != NULL && at->name != NULL; at++) {
        if (at->value == value)
            return true;
    }
    return false;
}

static int refuse(struct nrictl *ctl, int found, const char *word)
{
    if (found == ':')
        return nrictl_fail(ctl, NRICTL_USAGE, "%s needs an argument; see nrictl %s --help", word,
                           ctl->command);
    return nrictl_fail(ctl, NRICTL_USAGE, "there is no option %s; see nrictl %s --help", word,
                       ctl->command);
}

int nrictl_parse(struct nrictl *ctl, const struct nrictl_command *command, int argc, char **argv,
                 bool plus, nrictl_take take, void *user, int *first)
{
    struct forms forms;
    int found;
    if (!make_forms(&forms, command, plus))
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "the command has too many options");
    optind = 0; /* a new scan */
    opterr = 0;
    while ((found = getopt_long(argc, argv, forms.letters, forms.longs, NULL)) != -1) {
        int code = -1;
        if (found == ':' || found == '?')
            return refuse(ctl, found, argv[optind - 1]);
        if (is_own(command, found)) {
            code = take(ctl, found, optarg, user);
            code = code == 0 ? -1 : code;
        } else if (found == 'h') {
            help_command(ctl->out, command);
            code = NRICTL_OK;
        } else if (found == 'o') {
            code = take_output(ctl, command, optarg);
        } else {
            code = take_colour(ctl, optarg);
        }
        if (code >= 0)
            return code;
    }
    ctl->colour = ctl->colour && !ctl->json;
    *first = optind;
    return -1;
}

/* ---- values ---- */

bool nrictl_number(struct nrictl *ctl, const char *option, const char *text, uint64_t least,
                   uint64_t most, uint64_t *number)
{
    char *end = NULL;
    errno = 0;
    *number = strtoull(text, &end, 10);
    if (isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0 && *number >= least &&
        *number <= most)
        return true;
    (void)nrictl_fail(ctl, NRICTL_USAGE, "%s is a number from %llu to %llu, not '%s'", option,
                      (unsigned long long)least, (unsigned long long)most, text);
    return false;
}

/* One piece of a time, "30s"; its milliseconds, or false. */
static bool take_piece(const char **text, uint64_t *milliseconds)
{
    static const struct {
        const char *unit;
        uint64_t factor;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
    char *end = NULL;
    if (!isdigit((unsigned char)**text))
        return false;
    errno = 0;
    const uint64_t number = strtoull(*text, &end, 10);
    size_t length = 0;
    while (isalpha((unsigned char)end[length]))
        length++;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (length != strlen(units[i].unit) || strncmp(end, units[i].unit, length) != 0)
            continue;
        if (errno != 0 || number > (UINT64_MAX - *milliseconds) / units[i].factor)
            return false;
        *milliseconds += number * units[i].factor;
        *text = end + length;
        return true;
    }
    return false;
}

bool nrictl_milliseconds(struct nrictl *ctl, const char *option, const char *text, uint64_t least,
                         uint64_t most, uint64_t *milliseconds)
{
    const char *at = text;
    *milliseconds = 0;
    while (*at != '\0' && take_piece(&at, milliseconds))
        continue;
    if (at != text && *at == '\0' && *milliseconds >= least && *milliseconds <= most)
        return true;
    (void)nrictl_fail(ctl, NRICTL_USAGE,
                      "%s is a time such as 250ms, 2s or 1m30s, from %llu to %llu ms, not '%s'",
                      option, (unsigned long long)least, (unsigned long long)most, text);
    return false;
}
