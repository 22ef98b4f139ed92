/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line that is edited while the loop runs: libedit, a key at a time, with completion by the node
 * and a history in the user's state directory.
 */
#include <stdlib.h>
#include <string.h>

#include "print.h"
#include "shell_inside.h"

#ifndef NRICTL_EDIT

bool shell_can_edit(void)
{
    return false;
}

struct editor *editor_new(struct node *node, int input, FILE *out, FILE *err)
{
    (void)node;
    (void)input;
    (void)out;
    (void)err;
    return NULL;
}

const char *editor_read(struct editor *editor, bool *end)
{
    (void)editor;
    *end = true;
    return NULL;
}

void editor_hide(struct editor *editor)
{
    (void)editor;
}

void editor_show(struct editor *editor)
{
    (void)editor;
}

void editor_free(struct editor *editor)
{
    (void)editor;
}

#else

#include <fcntl.h>
#include <histedit.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define HISTORY_LINES 1000

struct editor {
    struct node *node;
    FILE *in, *out;
    EditLine *edit;
    History *history;
    char *file;   /* of the history; NULL: it is not kept */
    bool editing; /* a line is being typed */
    bool end;     /* Ctrl-D on an empty line */
};

bool shell_can_edit(void)
{
    return true;
}

static char *prompt(EditLine *edit)
{
    static char text[] = "nrictl> ";
    (void)edit;
    return text;
}

/* ---- completion ---- */

static size_t common(char *const *list, size_t count)
{
    size_t length = strlen(list[0]);
    for (size_t i = 1; i < count; i++) {
        size_t same = 0;
        while (same < length && list[i][same] == list[0][same])
            same++;
        length = same;
    }
    return length;
}

static void print_list(const struct editor *editor, char *const *list, size_t count)
{
    (void)fputc('\n', editor->out);
    for (size_t i = 0; i < count; i++) {
        (void)fputs(i == 0 ? "" : "  ", editor->out);
        print_text(editor->out, list[i], strlen(list[i])); /* names are others' */
    }
    (void)fputc('\n', editor->out);
}

/* One candidate is put in, with a blank unless it goes on; of several what they have in common. */
static unsigned char put_in(const struct editor *editor, char *const *list, size_t count,
                            size_t begun)
{
    const size_t length = common(list, count);
    char *rest = strndup(list[0] + begun, length - begun);
    unsigned char code = CC_REFRESH;
    if (rest == NULL)
        return CC_ERROR;
    if (rest[0] != '\0' && el_insertstr(editor->edit, rest) != 0)
        code = CC_ERROR;
    free(rest);
    const char last = list[0][strlen(list[0]) - 1];
    if (count == 1 && last != '=' && last != '.') {
        (void)el_insertstr(editor->edit, " ");
    } else if (count > 1 && length == begun) {
        print_list(editor, list, count);
        code = CC_REDISPLAY;
    }
    return code;
}

static unsigned char on_complete(EditLine *edit, int key)
{
    struct editor *editor = NULL;
    const LineInfo *line = el_line(edit);
    const size_t length = (size_t)(line->cursor - line->buffer);
    size_t count = 0;
    unsigned char code = CC_ERROR;
    (void)key;
    (void)el_get(edit, EL_CLIENTDATA, &editor);
    char **list = complete_line(editor->node, line->buffer, length, &count);
    if (count > 0)
        code = put_in(editor, list, count, complete_begun(line->buffer, length));
    complete_free(list, count);
    return code;
}

static unsigned char on_end(EditLine *edit, int key)
{
    struct editor *editor = NULL;
    const LineInfo *line = el_line(edit);
    (void)key;
    (void)el_get(edit, EL_CLIENTDATA, &editor);
    if (line->lastchar != line->buffer)
        return CC_ERROR;
    editor->end = true;
    return CC_NORM;
}

/* ---- history ---- */

/* Each directory of a path; those that are there are no failure. */
static void make_directories(char *path)
{
    for (char *at = path + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdir(path, 0700);
        *at = '/';
    }
}

static char *history_file(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *path = NULL;
    int length = -1;
    if (state != NULL && state[0] == '/')
        length = asprintf(&path, "%s/nrictl/history", state);
    else if (home != NULL && home[0] == '/')
        length = asprintf(&path, "%s/.local/state/nrictl/history", home);
    if (length < 0)
        return NULL;
    make_directories(path);
    return path;
}

static void begin_history(struct editor *editor)
{
    HistEvent event;
    editor->history = history_init();
    if (editor->history == NULL)
        return;
    (void)history(editor->history, &event, H_SETSIZE, HISTORY_LINES);
    (void)history(editor->history, &event, H_SETUNIQUE, 1);
    editor->file = history_file();
    if (editor->file != NULL)
        (void)history(editor->history, &event, H_LOAD, editor->file);
    (void)el_set(editor->edit, EL_HIST, history, editor->history);
}

static void end_history(struct editor *editor)
{
    HistEvent event;
    if (editor->history == NULL)
        return;
    if (editor->file != NULL)
        (void)history(editor->history, &event, H_SAVE, editor->file);
    history_end(editor->history);
    free(editor->file);
}

static void remember(struct editor *editor, const char *line)
{
    HistEvent event;
    if (editor->history != NULL && line[strspn(line, " \t\r\n")] != '\0')
        (void)history(editor->history, &event, H_ENTER, line);
}

/* ---- its life ---- */

struct editor *editor_new(struct node *node, int input, FILE *out, FILE *err)
{
    struct editor *editor = calloc(1, sizeof *editor);
    if (editor == NULL)
        return NULL;
    editor->node = node;
    editor->out = out;
    const int kept = fcntl(input, F_DUPFD_CLOEXEC, 0); /* the caller's stays the caller's */
    editor->in = kept < 0 ? NULL : fdopen(kept, "r");
    editor->edit = editor->in == NULL ? NULL : el_init("nrictl", editor->in, out, err);
    if (editor->edit == NULL) {
        if (editor->in != NULL)
            (void)fclose(editor->in);
        else if (kept >= 0)
            (void)close(kept);
        free(editor);
        return NULL;
    }
    (void)el_set(editor->edit, EL_CLIENTDATA, editor);
    (void)el_set(editor->edit, EL_PROMPT, prompt);
    (void)el_set(editor->edit, EL_EDITOR, "emacs");
    /* libedit keeps wide texts as they are; of others it makes copies that it never gives back. */
    (void)el_wset(editor->edit, EL_ADDFN, L"nrictl-complete", L"Complete a word", on_complete);
    (void)el_set(editor->edit, EL_BIND, "^I", "nrictl-complete", NULL);
    (void)el_wset(editor->edit, EL_ADDFN, L"nrictl-end", L"End on an empty line", on_end);
    (void)el_set(editor->edit, EL_BIND, "^D", "nrictl-end", NULL);
    /* What a Ctrl-D becomes that was typed while a command was under way, for which the terminal
     * was not ours. */
    (void)el_set(editor->edit, EL_BIND, "^@", "nrictl-end", NULL);
    begin_history(editor);
    (void)el_source(editor->edit, NULL); /* the user's ~/.editrc */
    return editor;
}

const char *editor_read(struct editor *editor, bool *end)
{
    int count = 0, waiting = 0;
    const char *line = NULL;
    /* What can be read and has nothing to read is a terminal that is gone. el_gets() itself makes
     * no difference between an end and a line that has become empty. */
    if (ioctl(fileno(editor->in), FIONREAD, &waiting) != 0 || waiting == 0)
        editor->end = true;
    else
        line = el_gets(editor->edit, &count);
    *end = editor->end;
    if (*end) {
        editor->editing = false;
        (void)el_set(editor->edit, EL_UNBUFFERED, 0);
        (void)fputc('\n', editor->out);
        return NULL;
    }
    if (line == NULL || count <= 0 || (line[count - 1] != '\n' && line[count - 1] != '\r'))
        return NULL;
    editor->editing = false;
    (void)el_set(editor->edit, EL_UNBUFFERED, 0);
    remember(editor, line);
    return line;
}

void editor_hide(struct editor *editor)
{
    if (editor->editing)
        (void)fputs("\r\033[K", editor->out);
}

void editor_show(struct editor *editor)
{
    if (editor->editing) {
        (void)el_set(editor->edit, EL_REFRESH);
    } else {
        editor->editing = true;
        (void)el_set(editor->edit, EL_UNBUFFERED, 1);
    }
}

void editor_free(struct editor *editor)
{
    if (editor == NULL)
        return;
    if (editor->editing)
        (void)el_set(editor->edit, EL_UNBUFFERED, 0);
    end_history(editor);
    el_end(editor->edit);
    (void)fclose(editor->in);
    free(editor);
}

#endif
