/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <getopt.h>
#include <nri/error.h>
#include <nri/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "listener.h"
#include "log.h"
#include "usage.h"

enum { GO_ON = -1, DONE = 0, BROKEN = 1, WRONG = 2 };

/* What getopt_long() returns for options without a letter, and for the program's flags, one after
 * the other. */
enum {
    OPTION_LOG_FORMAT = APP_OPTION_LONG,
    OPTION_HTTP,
    OPTION_BYPASS,
    OPTION_NO_RECONNECT,
    OPTION_PRINT_CONFIG,
    OPTION_CHECK_CONFIG,
    OPTION_FLAG
};

static const struct app_option own[] = {
    {.name = "name",
     .argument = "NAME",
     .value = 'n',
     .help = "plugin name (else NRI_PLUGIN_NAME, else the program's own)"},
    {.name = "idx",
     .argument = "NN",
     .value = 'i',
     .help = "plugin index, two digits (else NRI_PLUGIN_IDX, else the program's own)"},
    {.name = "socket",
     .argument = "PATH",
     .value = 's',
     .help = "the runtime's NRI socket (default: " NRI_DEFAULT_SOCKET_PATH ")"},
    {.name = "config",
     .argument = "FILE",
     .value = 'c',
     .configs = 1,
     .help = "configuration, and the drop-ins in FILE.d; read again when it changes"},
    {.name = "log-level",
     .argument = "LEVEL",
     .value = 'l',
     .help = "error, warn, info (default) or debug"},
    {.name = "log-format",
     .argument = "FORMAT",
     .value = OPTION_LOG_FORMAT,
     .help = "text (default) or json"},
    {.name = "http",
     .argument = "ADDRESS",
     .value = OPTION_HTTP,
     .help = "serve /metrics, /healthz and /readyz on HOST:PORT, [IPV6]:PORT, :PORT or unix:PATH"},
    {.name = "bypass",
     .value = OPTION_BYPASS,
     .help = "begin with the bypass on: events are answered unchanged (also NRI_BYPASS=1)"},
    {.name = "no-reconnect",
     .value = OPTION_NO_RECONNECT,
     .help = "end when the connection to the runtime ends"},
    {.name = "print-config",
     .value = OPTION_PRINT_CONFIG,
     .configs = 1,
     .help = "print the whole configuration and exit"},
    {.name = "check-config",
     .value = OPTION_CHECK_CONFIG,
     .configs = 1,
     .help = "check the configuration and exit"},
    {.name = "version", .value = 'V', .help = "print the version and exit"},
    {.name = "help", .value = 'h', .help = "print this and exit"},
};
#define OWN_COUNT (sizeof own / sizeof *own)

int app_options_copy(void *known, size_t known_size, const void *given, size_t given_size)
{
    memset(known, 0, known_size);
    if (given_size < known_size)
        return NRI_E_ABI; /* this is the first version of each structure */
    for (size_t i = known_size; i < given_size; i++) {
        if (((const unsigned char *)given)[i] != 0)
            return NRI_E_ABI;
    }
    memcpy(known, given, known_size);
    memcpy(known, &known_size, sizeof known_size); /* `size` comes first in each */
    return 0;
}

/* ---- the tables of getopt_long() ---- */

struct parser {
    struct app_command *command;
    const struct nri_app_options *options;
    struct option *names;
    char *letters;
};

static int broken(const struct app_command *command, const char *name, const char *text)
{
    app_complain(command, "the program's flag --%s: %s", name != NULL ? name : "", text);
    return BROKEN;
}

static void add(struct parser *parser, size_t at, int letter, const char *name, bool argument,
                int value)
{
    const char text[] = {(char)letter, argument ? ':' : '\0', '\0'};
    parser->names[at] = (struct option){
        .name = name, .has_arg = argument ? required_argument : no_argument, .val = value};
    if (letter != 0)
        memcpy(parser->letters + strlen(parser->letters), text, strlen(text) + 1);
}

static int check_flag(const struct parser *parser, size_t at, const struct nri_app_flag *flag)
{
    if (flag->name == NULL || flag->name[0] == '\0' || flag->set == NULL)
        return broken(parser->command, flag->name, "has no name or no function");
    for (size_t i = 0; i < at; i++) {
        if (strcmp(parser->names[i].name, flag->name) == 0)
            return broken(parser->command, flag->name, "there are two of that name");
    }
    if (flag->letter == 0)
        return GO_ON;
    const int64_t letter = flag->letter;
    const bool alphanumeric = (letter >= '0' && letter <= '9') ||
                              (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z');
    if (!alphanumeric || strchr(parser->letters, (int)letter) != NULL)
        return broken(parser->command, flag->name, "its letter is taken, or none");
    return GO_ON;
}

static int make_tables(struct parser *parser)
{
    const size_t flags = (size_t)parser->options->flag_count, count = OWN_COUNT + flags;
    parser->names = calloc(count + 1, sizeof *parser->names);
    parser->letters = calloc(2 * count + 2, 1);
    if (parser->names == NULL || parser->letters == NULL) {
        app_complain(parser->command, "out of memory");
        return BROKEN;
    }
    parser->letters[0] = ':'; /* tells an argument that is missing from an option that is unknown */
    for (size_t i = 0; i < OWN_COUNT; i++)
        add(parser, i, own[i].value < APP_OPTION_LONG ? own[i].value : 0, own[i].name,
            own[i].argument != NULL, own[i].value);
    for (size_t i = 0; i < flags; i++) {
        const struct nri_app_flag *flag = &parser->options->flags[i];
        const int code = check_flag(parser, OWN_COUNT + i, flag);
        if (code != GO_ON)
            return code;
        add(parser, OWN_COUNT + i, (int)flag->letter, flag->name, flag->argument != NULL,
            flag->letter != 0 ? (int)flag->letter : OPTION_FLAG + (int)i);
    }
    return GO_ON;
}

/* ---- what getopt_long() cannot take ---- */

/* How many options begin so. */
static size_t count_beginning(const struct parser *parser, const char *text, size_t length)
{
    size_t count = 0;
    for (const struct option *one = parser->names; one->name != NULL; one++)
        count += strncmp(one->name, text, length) == 0;
    return count;
}

static int refuse_letter(const struct parser *parser, int kind, int letter)
{
    app_complain(parser->command, "-%c: %s", letter,
                 kind == ':' ? "needs an argument" : "there is no such option");
    return WRONG;
}

/* For a long option that takes no argument, optopt is what it stands for. */
static int refuse_long(const struct parser *parser, int kind, const char *word)
{
    const size_t length = strcspn(word + 2, "=");
    const char *why = "there is no such option";
    if (kind == ':')
        why = "needs an argument";
    else if (optopt != 0)
        why = "takes no argument";
    else if (count_beginning(parser, word + 2, length) > 1)
        why = "is ambiguous";
    app_complain(parser->command, "%.*s: %s", (int)length + 2, word, why);
    return WRONG;
}

/* Long options are left behind at once; in a word of letters only the last one is. */
static int refuse(const struct parser *parser, int kind, char *const *argv, int before)
{
    const char *word = optind > before ? argv[optind - 1] : "";
    return strncmp(word, "--", 2) == 0 ? refuse_long(parser, kind, word)
                                       : refuse_letter(parser, kind, optopt);
}

/* ---- values ---- */

static int wrong(const struct app_command *command, const char *option, const char *value,
                 const char *right)
{
    app_complain(command, "--%s \"%s\": %s", option, value, right);
    return WRONG;
}

static int take_level(struct app_command *command, const char *value)
{
    command->level = (int32_t)app_log_level(value);
    if (command->level == NRI_LOG_DEFAULT)
        return wrong(command, "log-level", value, "one of error, warn, info, debug");
    return GO_ON;
}

static int take_format(struct app_command *command, const char *value)
{
    command->json = strcmp(value, "json") == 0;
    if (!command->json && strcmp(value, "text") != 0)
        return wrong(command, "log-format", value, "one of text, json");
    return GO_ON;
}

static int take_http(struct app_command *command, const char *value)
{
    char text[APP_LISTENER_TEXT];
    command->http = value;
    if (app_listener_check(value, text) == 0)
        return GO_ON;
    app_complain(command, "--http: %s", text);
    return WRONG;
}

static int take_flag(const struct parser *parser, int value, const char *argument)
{
    for (size_t i = 0; i < parser->options->flag_count; i++) {
        const struct nri_app_flag *flag = &parser->options->flags[i];
        if (value != OPTION_FLAG + (int)i && (flag->letter == 0 || value != (int)flag->letter))
            continue;
        const char *text = "is not valid", *given = argument != NULL ? argument : "";
        if (flag->set(parser->options->user, given, &text) == 0)
            return GO_ON;
        if (argument != NULL)
            return wrong(parser->command, flag->name, argument, text);
        app_complain(parser->command, "--%s: %s", flag->name, text);
        return WRONG;
    }
    return WRONG; /* comes of nothing that the tables have */
}

/* 0 when standard output took it all. */
static int finish(const struct app_command *command)
{
    if (fflush(stdout) == 0)
        return DONE;
    app_complain(command, "standard output cannot be written");
    return BROKEN;
}

static int take_config_option(const struct parser *parser, int value, const char *argument)
{
    struct app_command *command = parser->command;
    if (parser->options->field_count == 0) {
        app_complain(command, "this program has no configuration");
        return WRONG;
    }
    if (value == 'c')
        command->config = argument;
    else if (value == OPTION_PRINT_CONFIG)
        command->print_config = true;
    else
        command->check_config = true;
    return GO_ON;
}

static int take(const struct parser *parser, int value, const char *argument)
{
    struct app_command *command = parser->command;
    const struct nri_app_options *options = parser->options;
    switch (value) {
    case 'n':
        command->name = argument;
        return GO_ON;
    case 'i':
        command->index = argument;
        return GO_ON;
    case 's':
        command->socket = argument;
        return GO_ON;
    case 'l':
        return take_level(command, argument);
    case OPTION_LOG_FORMAT:
        return take_format(command, argument);
    case OPTION_HTTP:
        return take_http(command, argument);
    case OPTION_BYPASS:
        command->bypass = true;
        return GO_ON;
    case OPTION_NO_RECONNECT:
        command->no_reconnect = true;
        return GO_ON;
    case 'c':
    case OPTION_PRINT_CONFIG:
    case OPTION_CHECK_CONFIG:
        return take_config_option(parser, value, argument);
    case 'V':
        (void)printf("%s %s\n", command->program,
                     options->version != NULL ? options->version : nri_version());
        return finish(command);
    case 'h':
        app_usage_print(stdout, command->program, options, own, OWN_COUNT);
        return finish(command);
    default:
        return take_flag(parser, value, argument);
    }
}

static int take_environment(struct app_command *command)
{
    const char *bypass = getenv("NRI_BYPASS");
    if (bypass == NULL || bypass[0] == '\0' || strcmp(bypass, "0") == 0)
        return GO_ON;
    if (strcmp(bypass, "1") != 0) {
        app_complain(command, "NRI_BYPASS=\"%s\": 1 or 0", bypass);
        return WRONG;
    }
    command->bypass = true;
    return GO_ON;
}

int app_options_parse(struct app_command *command, const struct nri_app_options *options, int argc,
                      char **argv)
{
    struct parser parser = {.command = command, .options = options};
    const char *path = argc > 0 && argv[0] != NULL ? argv[0] : "nri-plugin";
    const char *slash = strrchr(path, '/');
    *command = (struct app_command){.program = slash != NULL ? slash + 1 : path};
    int code = make_tables(&parser);
    optind = 0; /* from the beginning, whatever the program did before */
    opterr = 0; /* what it would say is no JSON */
    while (code == GO_ON) {
        const int before = optind;
        const int value = getopt_long(argc, argv, parser.letters, parser.names, NULL);
        if (value == -1)
            break;
        code = value == '?' || value == ':' ? refuse(&parser, value, argv, before)
                                            : take(&parser, value, optarg);
    }
    if (code == GO_ON && optind < argc) {
        app_complain(command, "\"%s\": there are options only, no other arguments", argv[optind]);
        code = WRONG;
    }
    if (code == GO_ON)
        code = take_environment(command);
    free(parser.names);
    free(parser.letters);
    return code;
}
