/* SPDX-License-Identifier: Apache-2.0 */
#include "help.h"

#include <ctype.h>
#include <string.h>

#include "near.h"
#include "print.h"

/* Where the words of an option's help begin, and where a line ends. */
#define HELP_INDENT 28
#define HELP_WIDTH  100

static const char about[] = "See, rehearse and diagnose NRI without a cluster.";

/* ---- text ---- */

/* Where the next word of a text stands: on this line, a new one, or behind an empty one. */
struct cursor {
    FILE *out;
    int column, indent;
    bool first; /* no word stands on the line yet */
};

static void put_line(struct cursor *cursor, const char *breaks)
{
    (void)fprintf(cursor->out, "%s%*s", breaks, cursor->indent, "");
    cursor->column = cursor->indent;
    cursor->first = true;
}

static void put_word(struct cursor *cursor, const char *word, int length)
{
    if (!cursor->first && cursor->column + 1 + length > HELP_WIDTH)
        put_line(cursor, "\n");
    (void)fprintf(cursor->out, "%s%.*s", cursor->first ? "" : " ", length, word);
    cursor->column += length + (cursor->first ? 0 : 1);
    cursor->first = false;
}

/* Words of a text, broken into lines that begin at `indent`; the first one is at `column` already.
 */
static void put_words(FILE *out, const char *text, int column, int indent)
{
    struct cursor cursor = {out, column, indent, true};
    while (*text != '\0') {
        const size_t length = strcspn(text, " \n");
        if (length > 0)
            put_word(&cursor, text, (int)length);
        text += length;
        if (text[0] == '\n' && text[1] == '\n') {
            put_line(&cursor, "\n\n");
            text++;
        }
        if (*text != '\0')
            text++;
    }
    (void)fputc('\n', out);
}

/* "-o, --output text|json" */
static int put_name(FILE *out, const struct nrictl_option *option)
{
    int length =
        option->value < NRICTL_LONG ? fprintf(out, "-%c, ", option->value) : fprintf(out, "    ");
    length += fprintf(out, "--%s", option->name);
    if (option->argument != NULL)
        length += fprintf(out, " %s", option->argument);
    return length;
}

static void put_options(FILE *out, const struct nrictl_option *options)
{
    for (; options != NULL && options->name != NULL; options++) {
        (void)fputs("  ", out);
        int column = 2 + put_name(out, options);
        if (column + 2 > HELP_INDENT) {
            (void)fputc('\n', out);
            column = 0;
        }
        (void)fprintf(out, "%*s", HELP_INDENT - column, "");
        put_words(out, options->help, HELP_INDENT, HELP_INDENT);
    }
}

void help_overview(FILE *out)
{
    (void)fprintf(out, "Usage: nrictl COMMAND [OPTIONS] [ARGUMENTS]\n\n%s\n\nCommands:\n", about);
    for (size_t i = 0; nrictl_commands[i] != NULL; i++)
        (void)fprintf(out, "  %-10s %s\n", nrictl_commands[i]->name, nrictl_commands[i]->summary);
    (void)fputs("\nnrictl COMMAND --help tells of a command, with examples; nrictl --version the "
                "version.\n\n"
                "Exit status: 0 fine, 1 an expectation that failed or a finding, 2 a command line "
                "or a file\nthat is wrong, 3 something of this machine.\n",
                out);
}

void help_command(FILE *out, const struct nrictl_command *command)
{
    (void)fprintf(out, "Usage: nrictl %s [OPTIONS]%s%s\n\n", command->name,
                  command->arguments[0] != '\0' ? " " : "", command->arguments);
    put_words(out, command->description, 0, 0);
    (void)fputs("\nOptions:\n", out);
    put_options(out, command->options);
    put_options(out, nrictl_common_options);
    if (command->examples != NULL && command->examples->command != NULL)
        (void)fputs("\nExamples:\n", out);
    for (const struct nrictl_example *at = command->examples; at != NULL && at->command != NULL;
         at++) {
        (void)fputs("  # ", out);
        put_words(out, at->what, 4, 4);
        (void)fprintf(out, "  %s\n", at->command);
    }
}

/* ---- manual page ---- */

/* Text as troff takes it: a backslash and a dash are written out, no line begins with a dot. */
static void put_troff(FILE *out, const char *text)
{
    bool start = true;
    for (; *text != '\0'; text++) {
        if (text[0] == '\n' && text[1] == '\n') {
            (void)fputs("\n.PP\n", out);
            text++;
            start = true;
            continue;
        }
        if (start && (*text == '.' || *text == '\''))
            (void)fputs("\\&", out);
        if (*text == '\\')
            (void)fputs("\\e", out);
        else if (*text == '-')
            (void)fputs("\\-", out);
        else
            (void)fputc(*text == '\n' ? ' ' : *text, out);
        start = false;
    }
    (void)fputc('\n', out);
}

static void put_troff_options(FILE *out, const struct nrictl_option *options)
{
    for (; options != NULL && options->name != NULL; options++) {
        (void)fputs(".TP\n", out);
        if (options->value < NRICTL_LONG)
            (void)fprintf(out, "\\fB\\-%c\\fR, ", options->value);
        (void)fputs("\\fB\\-\\-", out);
        for (const char *at = options->name; *at != '\0'; at++)
            (void)fputs(*at == '-' ? "\\-" : (const char[]){*at, '\0'}, out);
        (void)fprintf(out, "\\fR%s\\fI%s\\fR\n", options->argument != NULL ? " " : "",
                      options->argument != NULL ? options->argument : "");
        put_troff(out, options->help);
    }
}

static void put_troff_command(FILE *out, const struct nrictl_command *command)
{
    (void)fprintf(out, ".SS nrictl %s [\\fIOPTIONS\\fR]%s%s\n", command->name,
                  command->arguments[0] != '\0' ? " " : "", command->arguments);
    put_troff(out, command->description);
    put_troff_options(out, command->options);
    for (const struct nrictl_example *at = command->examples; at != NULL && at->command != NULL;
         at++) {
        (void)fputs(".PP\n", out);
        put_troff(out, at->what);
        (void)fputs(".RS\n.nf\n", out);
        put_troff(out, at->command);
        (void)fputs(".fi\n.RE\n", out);
    }
}

void help_manual(FILE *out)
{
    (void)fputs(".TH NRICTL 1 \"\" \"libnri\" \"User Commands\"\n.SH NAME\n"
                "nrictl \\- see, rehearse and diagnose NRI without a cluster\n.SH SYNOPSIS\n"
                ".B nrictl\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]\n.SH COMMANDS\n",
                out);
    for (size_t i = 0; nrictl_commands[i] != NULL; i++)
        put_troff_command(out, nrictl_commands[i]);
    (void)fputs(".SH OPTIONS OF ALL COMMANDS\n", out);
    put_troff_options(out, nrictl_common_options);
    (void)fputs(".SH EXIT STATUS\n"
                ".TP\n0\nFine.\n"
                ".TP\n1\nAn expectation failed, or something was found.\n"
                ".TP\n2\nThe command line, or a file that it names, is wrong.\n"
                ".TP\n3\nSomething of this machine: a file, a socket, memory, a plugin that does "
                "not start.\n",
                out);
}

/* ---- completion ---- */

static void put_long_names(FILE *out, const struct nrictl_option *options)
{
    for (; options != NULL && options->name != NULL; options++)
        (void)fprintf(out, " --%s", options->name);
}

/* Whether an argument names all that it may be, as text|json does. */
static bool is_choice(const char *argument)
{
    return argument != NULL && strchr(argument, '|') != NULL &&
           argument[strspn(argument, "abcdefghijklmnopqrstuvwxyz|")] == '\0';
}

static void put_choices(FILE *out, const struct nrictl_option *options)
{
    for (; options != NULL && options->name != NULL; options++) {
        if (!is_choice(options->argument))
            continue;
        (void)fprintf(out, "        --%s", options->name);
        if (options->value < NRICTL_LONG)
            (void)fprintf(out, " | -%c", options->value);
        (void)fputs(") values='", out);
        for (const char *at = options->argument; *at != '\0'; at++)
            (void)fputc(*at == '|' ? ' ' : *at, out);
        (void)fputs("' ;;\n", out);
    }
}

static void put_command_names(FILE *out)
{
    for (size_t i = 0; nrictl_commands[i] != NULL; i++)
        (void)fprintf(out, "%s ", nrictl_commands[i]->name);
}

/* A branch of the case: the options, and what may stand behind the word before. */
static void put_branch(FILE *out, const struct nrictl_command *command)
{
    (void)fprintf(out, "    %s)\n        options='", command->name);
    put_long_names(out, nrictl_common_options);
    put_long_names(out, command->options);
    (void)fputs("'\n", out);
    if (command == &nrictl_help) {
        (void)fputs("        values='", out);
        put_command_names(out);
        (void)fputs("'\n", out);
    }
    (void)fputs("        case ${COMP_WORDS[COMP_CWORD - 1]} in\n", out);
    put_choices(out, nrictl_common_options);
    put_choices(out, command->options);
    (void)fputs("        esac\n"
                "        ;;\n",
                out);
}

void help_completion(FILE *out)
{
    (void)fputs("# bash completion of nrictl\n"
                "_nrictl()\n{\n"
                "    local word=${COMP_WORDS[COMP_CWORD]} options='' values=''\n"
                "    COMPREPLY=()\n"
                "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                "        mapfile -t COMPREPLY < <(compgen -W '",
                out);
    put_command_names(out);
    (void)fputs("--help --version' -- \"$word\")\n"
                "        return\n"
                "    fi\n"
                "    case ${COMP_WORDS[1]} in\n",
                out);
    for (size_t i = 0; nrictl_commands[i] != NULL; i++)
        put_branch(out, nrictl_commands[i]);
    (void)fputs("    esac\n"
                "    if [[ $word == -* ]]; then\n"
                "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
                "    elif [ -n \"$values\" ]; then\n"
                "        mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$word\")\n"
                "    else\n"
                "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
                "    fi\n"
                "}\n"
                "complete -o filenames -F _nrictl nrictl\n",
                out);
}

/* ---- JSON ---- */

static void put_json_options(struct print_json *json, const struct nrictl_option *options)
{
    for (; options != NULL && options->name != NULL; options++) {
        nri_json_begin_object(&json->writer);
        print_json_text(json, "name", options->name);
        print_json_text(json, "argument", options->argument);
        print_json_text(json, "help", options->help);
        nri_json_end_object(&json->writer);
    }
}

static int put_json(struct nrictl *ctl)
{
    struct print_json json;
    print_json_begin(&json, 2);
    nri_json_begin_array(&json.writer);
    for (size_t i = 0; nrictl_commands[i] != NULL; i++) {
        const struct nrictl_command *command = nrictl_commands[i];
        nri_json_begin_object(&json.writer);
        print_json_text(&json, "name", command->name);
        print_json_text(&json, "summary", command->summary);
        print_json_text(&json, "arguments", command->arguments);
        print_json_text(&json, "description", command->description);
        print_json_key(&json, "options");
        nri_json_begin_array(&json.writer);
        put_json_options(&json, nrictl_common_options);
        put_json_options(&json, command->options);
        nri_json_end_array(&json.writer);
        print_json_key(&json, "examples");
        nri_json_begin_array(&json.writer);
        for (const struct nrictl_example *at = command->examples; at != NULL && at->command != NULL;
             at++) {
            nri_json_begin_object(&json.writer);
            print_json_text(&json, "command", at->command);
            print_json_text(&json, "what", at->what);
            nri_json_end_object(&json.writer);
        }
        nri_json_end_array(&json.writer);
        nri_json_end_object(&json.writer);
    }
    nri_json_end_array(&json.writer);
    return print_json_end(ctl, &json);
}

/* ---- the command ---- */

enum { FORMAT = NRICTL_LONG };

static const struct nrictl_option options[] = {
    {FORMAT, "format", "text|man|bash",
     "What to print: the help, the manual page, the completion of bash"},
    {0, NULL, NULL, NULL},
};

static const struct nrictl_example examples[] = {
    {"nrictl help apply", "What a command does."},
    {"nrictl help --format man > nrictl.1", "The manual page."},
    {"nrictl help --output json", "All commands with their options and examples, for other tools."},
    {NULL, NULL},
};

static int take(struct nrictl *ctl, int value, const char *argument, void *user)
{
    const char **format = user;
    (void)value;
    if (strcmp(argument, "text") != 0 && strcmp(argument, "man") != 0 &&
        strcmp(argument, "bash") != 0)
        return nrictl_fail(ctl, NRICTL_USAGE, "--format is text, man or bash, not '%s'", argument);
    *format = argument;
    return 0;
}

const char *help_meant(const char *name)
{
    struct near near;
    near_begin(&near, name);
    for (size_t i = 0; nrictl_commands[i] != NULL; i++)
        near_offer(&near, nrictl_commands[i]->name);
    return near_end(&near);
}

static int no_command(struct nrictl *ctl, const char *name)
{
    const char *meant = help_meant(name);
    return nrictl_fail(ctl, NRICTL_USAGE, "there is no command '%s'%s%s%s", name,
                       meant != NULL ? "; is '" : "; see nrictl --help", meant != NULL ? meant : "",
                       meant != NULL ? "' meant?" : "");
}

static int run(struct nrictl *ctl, const struct nrictl_command *self, int argc, char **argv)
{
    const char *format = "text";
    int first;
    const int code = nrictl_parse(ctl, self, argc, argv, false, take, &format, &first);
    if (code >= 0)
        return code;
    if (argc - first > 1)
        return nrictl_fail(ctl, NRICTL_USAGE, "one command at a time, not '%s'", argv[first + 1]);
    if (ctl->json)
        return put_json(ctl);
    if (strcmp(format, "man") == 0)
        help_manual(ctl->out);
    else if (strcmp(format, "bash") == 0)
        help_completion(ctl->out);
    else if (first == argc)
        help_overview(ctl->out);
    else if (nrictl_command_find(argv[first]) != NULL)
        help_command(ctl->out, nrictl_command_find(argv[first]));
    else
        return no_command(ctl, argv[first]);
    return NRICTL_OK;
}

const struct nrictl_command nrictl_help = {
    .name = "help",
    .summary = "tell of nrictl itself, as text, manual page, completion or JSON",
    .arguments = "[COMMAND]",
    .description =
        "Prints the help of nrictl or of a command. The manual page and the completion of "
        "bash are made by it too.",
    .options = options,
    .examples = examples,
    .run = run,
};
