/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a shell: shell.c reads lines, shell_commands.c is the table of commands,
 * shell_operations.c those that are operations, shell_show.c those that only show, setting.c what
 * KEY=VALUE makes of a container, complete.c what may come next, editor.c is libedit.
 */
#ifndef NRICTL_SHELL_INSIDE_H
#define NRICTL_SHELL_INSIDE_H

#include "shell.h"
#include "words.h"

struct editor;

struct shell {
    struct nrictl *ctl;
    struct node *node;
    void (*done)(struct shell *shell, int code, void *user);
    void *user;
    int input;
    bool is_file; /* which can always be read, and not be polled */
    uv_poll_t poll;
    uv_timer_t timer;
    unsigned open;         /* of these two */
    struct editor *editor; /* NULL: none */
    char *bytes;           /* read and not yet taken as lines */
    size_t have;
    bool busy;    /* an operation is under way */
    bool at_end;  /* of the input */
    bool leaving; /* `quit`, or the end */
    bool over;    /* `done` was called */
    bool freed;
    size_t line;       /* its number, of a script */
    char command[128]; /* that is under way, for messages */
    bool wrong, failed;
    nri_outcome *last; /* for `explain` */
};

/* What stands for a word of a command, for completion and help. */
enum shell_kind {
    SHELL_NOTHING,
    SHELL_POD,
    SHELL_CONTAINER,
    SHELL_EITHER,
    SHELL_PLUGIN,
    SHELL_COMMAND,
    SHELL_SETTING,          /* KEY=VALUE of a container, again and again */
    SHELL_POD_SETTING,      /* of a pod sandbox */
    SHELL_RESOURCE_SETTING, /* of resources */
    SHELL_TEXT
};
#define SHELL_KINDS 3

struct shell_command {
    const char *name, *arguments, *help;
    enum shell_kind kinds[SHELL_KINDS]; /* of its words; the last one goes on */
    size_t least, most;                 /* words behind the name */
    /* Begins it: an operation's callback is shell_operation_done(). */
    void (*run)(struct shell *shell, const struct words *words);
};
extern const struct shell_command shell_commands[]; /* ends with a NULL name */
const struct shell_command *shell_find_command(const char *name);

/* shell.c: messages; `shell->wrong` or `shell->failed` is set with them. */
void shell_wrong(struct shell *shell, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void shell_fail(struct shell *shell, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A line beside the one that is being edited. */
void shell_tell(struct shell *shell, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The operation is under way (`code` 0), or did not begin. */
void shell_began(struct shell *shell, int code);
void shell_operation_done(struct node *node, const struct node_result *result, void *user);
/* What was asked for is over: the next line may be read. */
void shell_next(struct shell *shell);

/* shell_operations.c */
void shell_run_pod(struct shell *shell, const struct words *words);
void shell_update_pod(struct shell *shell, const struct words *words);
void shell_create(struct shell *shell, const struct words *words);
void shell_start_container(struct shell *shell, const struct words *words);
void shell_update(struct shell *shell, const struct words *words);
void shell_stop(struct shell *shell, const struct words *words);
void shell_exit(struct shell *shell, const struct words *words);
void shell_remove(struct shell *shell, const struct words *words);
void shell_restart(struct shell *shell, const struct words *words);
void shell_connect(struct shell *shell, const struct words *words);
void shell_launch(struct shell *shell, const struct words *words);
void shell_signal(struct shell *shell, const struct words *words);
void shell_slow(struct shell *shell, const struct words *words);

/* shell_show.c */
void shell_pods(struct shell *shell, const struct words *words);
void shell_containers(struct shell *shell, const struct words *words);
void shell_plugins(struct shell *shell, const struct words *words);
void shell_show(struct shell *shell, const struct words *words);
void shell_explain(struct shell *shell, const struct words *words);
void shell_metrics(struct shell *shell, const struct words *words);
void shell_help(struct shell *shell, const struct words *words);
void shell_quit(struct shell *shell, const struct words *words);
void shell_print_result(struct shell *shell, const struct node_result *result);

/* setting.c: KEY=VALUE words from `from` on. False after a message. */
nri_pod *setting_pod(struct shell *shell, const struct words *words, size_t from);
nri_container *setting_container(struct shell *shell, const struct words *words, size_t from);
bool setting_resources(struct shell *shell, nri_resources *resources, const struct words *words,
                       size_t from);
/* Their keys, with "=" or "."; ends with NULL. */
extern const char *const setting_pod_keys[], *const setting_container_keys[],
                                                 *const setting_resource_keys[];

/* complete.c: the candidates for the last word of a line; each and the list are to be freed. */
char **complete_line(struct node *node, const char *line, size_t length, size_t *count);
void complete_free(char **candidates, size_t count);
/* How much of the last word of a line there is already: what a candidate replaces. */
size_t complete_begun(const char *line, size_t length);

/* editor.c: NULL without libedit, or without a terminal. */
struct editor *editor_new(struct node *node, int input, FILE *out, FILE *err);
/* What was typed since: a whole line (with its line break), NULL as long as there is none. *end:
 * the input's end. */
const char *editor_read(struct editor *editor, bool *end);
void editor_hide(struct editor *editor); /* the line, to print something */
void editor_show(struct editor *editor); /* and again */
void editor_free(struct editor *editor);

#endif
