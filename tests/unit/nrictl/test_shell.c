/* SPDX-License-Identifier: Apache-2.0 */
/* test_shell PROGRAMS: the shell's words, completion and commands, from a pipe and on a terminal.
 */
#include <fcntl.h>
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "rig.h"
#include "shell.h"
#include "shell_inside.h"
#include "words.h"

static const char *programs;

/* ---- words ---- */

static void expect_words(const char *line, const char *joined, const char *error)
{
    struct words words;
    char text[256] = "";
    words_split(&words, line, strlen(line));
    for (size_t i = 0; i < words.count; i++) {
        (void)strcat(text, i == 0 ? "" : "|");
        (void)strcat(text, words.at[i]);
    }
    assert_null(words.at[words.count]);
    assert_string_equal(text, joined);
    if (error == NULL)
        assert_null(words.error);
    else
        assert_string_equal(words.error, error);
    words_free(&words);
}

static void test_words(void **state)
{
    (void)state;
    expect_words("", "", NULL);
    expect_words("  run   pod\t ", "run|pod", NULL);
    expect_words("a 'b c' \"d e\" f\\ g", "a|b c|d e|f g", NULL);
    expect_words("env.A='x y'z", "env.A=x yz", NULL);
    expect_words("'a\\' \"b\\\"c\"", "a\\|b\"c", NULL);
    expect_words("a '' b", "a||b", NULL);
    expect_words("run pod # why", "run|pod", NULL);
    expect_words("run pod#1", "run|pod#1", NULL);
    expect_words("# all of it", "", NULL);
    expect_words("a 'b", "a|b", "a ' is not closed");
    expect_words("a \"b", "a|b", "a \" is not closed");
    char many[2 * WORDS_MOST + 3];
    for (size_t i = 0; i <= WORDS_MOST; i++)
        memcpy(many + 2 * i, "x ", 2);
    struct words words;
    words_split(&words, many, 2 * WORDS_MOST + 2);
    assert_int_equal(words.count, WORDS_MOST);
    assert_string_equal(words.error, "there are more than 256 words");
    words_free(&words);
}

/* ---- completion ---- */

static void expect_candidates(struct rig *rig, const char *line, const char *joined)
{
    char text[1024] = "";
    size_t count = 0;
    char **list = complete_line(rig->node, line, strlen(line), &count);
    for (size_t i = 0; i < count; i++) {
        (void)strcat(text, i == 0 ? "" : " ");
        (void)strcat(text, list[i]);
    }
    complete_free(list, count);
    assert_string_equal(text, joined);
}

static void test_candidates(void **state)
{
    struct rig *rig = *state;
    struct guest guest = {.count = 0};
    rig_start(rig);
    guest_start(&guest, rig, "10", "guest");
    rig_run(rig, "pod1", "c1");
    rig_run(rig, "pod1", "c2");
    rig_run(rig, "other", "d");
    expect_candidates(rig, "re", "remove restart");
    expect_candidates(rig, "explain", "explain");
    expect_candidates(rig, "create ", "pod1 other");
    expect_candidates(rig, "create po", "pod1");
    expect_candidates(rig, "create pod1 new cpu", "cpu-period= cpu-quota= cpu-shares= cpus=");
    expect_candidates(rig, "create pod1 new memory=1 arg", "arg=");
    expect_candidates(rig, "start c", "c1 c2");
    expect_candidates(rig, "start c1 ", "");
    expect_candidates(rig, "stop ", "c1 c2 d pod1 other");
    expect_candidates(rig, "update c1 m", "memory= mems=");
    expect_candidates(rig, "kill ", "10-guest");
    expect_candidates(rig, "pods ", "");
    expect_candidates(rig, "containers ", "pod1 other");
    expect_candidates(rig, "help sh", "show");
    expect_candidates(rig, "nothing ", "");
    expect_candidates(rig, "start 'c", "");
    size_t count = 0;
    char **all = complete_line(rig->node, "", 0, &count);
    complete_free(all, count);
    assert_true(count > 20);
    assert_int_equal(complete_begun("create po", 9), 2);
    assert_int_equal(complete_begun("create ", 7), 0);
    assert_int_equal(complete_begun("", 0), 0);
    guest_close(&guest, rig);
}

/* ---- from a pipe ---- */

struct run {
    struct nrictl ctl;
    struct shell *shell;
    int done, code;
    char *out, *err;
    size_t out_size, err_size;
};

static void on_done(struct shell *shell, int code, void *user)
{
    struct run *run = user;
    assert_ptr_equal(shell, run->shell);
    run->done++;
    run->code = code;
}

static void begin(struct rig *rig, struct run *run, int input)
{
    run->ctl.command = "sim";
    run->ctl.out = open_memstream(&run->out, &run->out_size);
    run->ctl.err = open_memstream(&run->err, &run->err_size);
    run->shell = shell_start(&run->ctl, rig->node, input, on_done, run);
    assert_non_null(run->shell);
    rig->shell = run->shell;
}

static void end(struct rig *rig, struct run *run)
{
    rig_wait(rig, run->done > 0);
    assert_int_equal(run->done, 1);
    rig->shell = NULL;
    shell_free(run->shell);
    (void)fclose(run->ctl.out);
    (void)fclose(run->ctl.err);
}

static void drop(struct run *run)
{
    free(run->out);
    free(run->err);
}

/* The whole script is in the pipe before the shell begins. */
static void play(struct rig *rig, struct run *run, const char *script)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], script, strlen(script)), strlen(script));
    (void)close(ends[1]);
    begin(rig, run, ends[0]);
    end(rig, run);
    (void)close(ends[0]);
}

static void expect_text(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" is not in:\n%s", part, text);
}

static int add_env(struct guest *guest, nri_request *request)
{
    (void)guest;
    return nri_request_event(request) == NRI_EVENT_CREATE_CONTAINER
               ? nri_adjustment_add_env(nri_request_adjustment(request), "HELLO", "nri")
               : 0;
}

static void test_script(void **state)
{
    struct rig *rig = *state;
    struct run run = {.done = 0};
    struct guest guest = {.act = add_env};
    rig_start(rig);
    guest_start(&guest, rig, "10", "guest");
    play(rig, &run,
         "# a whole life\n"
         "run pod label.app=web annotation.a=b namespace=prod handler=kata\n"
         "create pod web env.A='1 2' arg=server arg=--port memory=64M cpu-shares=200 cpus=0-1 "
         "unified.memory.high=1 label.x=y annotation.k=v\n"
         "explain\n"
         "start web\n"
         "update web memory=128M pids=10\n"
         "update-pod pod cpu-quota=20000 cpu-period=100000\n"
         "pods\ncontainers\ncontainers pod\nplugins\n"
         "show web\n"
         "exit web 3\n"
         "stop pod\n"
         "show pod\n"
         "containers\n"
         "remove web\n"
         "remove pod\n"
         "metrics\n"
         "help\nhelp create"); /* no line break at the end */
    assert_string_equal(run.err, "");
    assert_int_equal(run.code, NRICTL_OK);
    expect_text(run.out, "run pod: done, 1 event,");
    expect_text(run.out, "  10-guest sets Env HELLO\n");
    expect_text(run.out, "\"HELLO=nri\"");
    expect_text(run.out, "\"A=1 2\"");
    expect_text(run.out, "\"limit\": 134217728");
    expect_text(run.out, "\"memory.high\": \"1\"");
    expect_text(run.out, "\"cpus\": \"0-1\"");
    expect_text(run.out, "\"namespace\": \"prod\"");
    expect_text(run.out, "running");
    expect_text(run.out, "stopped  3\n");
    expect_text(run.out, "external");
    expect_text(run.out, "remove pod: done, 1 event,");
    expect_text(run.out, "nri_runtime_plugins");
    expect_text(run.out, "update-pod POD KEY=VALUE...");
    expect_text(run.out, "  env.NAME=VALUE\n");
    assert_int_equal(guest_count(&guest, "StopContainer web"), 1);
    assert_int_equal(guest_at(&guest, "UpdatePodSandbox pod"), 7);
    drop(&run);
    guest_close(&guest, rig);
}

static void test_json(void **state)
{
    struct rig *rig = *state;
    struct run run = {.ctl = {.json = true}};
    rig_start(rig);
    play(rig, &run, "run pod\ncreate pod c\nstart d\npods\ncontainers\nexplain\nshow c\n");
    expect_text(run.out,
                "{\"command\":\"create pod c\",\"error\":null,\"text\":\"\",\"done\":true,");
    expect_text(run.out, "\"events\":[\"CreateContainer\",\"PostCreateContainer\"]");
    expect_text(run.out, "\"error\":\"NRI_E_NOT_FOUND\",\"text\":\"there is no container d\"");
    expect_text(run.out, "[{\"id\":\"pod\",\"name\":\"pod\",\"namespace\":\"default\",\"state\":"
                         "\"ready\"}]");
    assert_int_equal(run.code, NRICTL_FINDING);
    drop(&run);
}

static void test_what_is_wrong(void **state)
{
    static const char *const says[] = {
        "line 1: there is no command 'walk'; help lists them\n",
        "line 2: usage: run POD [KEY=VALUE...]\n",
        "line 3: a ' is not closed\n",
        "line 4: 'novalue' is not KEY=VALUE\n",
        "line 5: there is no setting 'colour' here\n",
        "line 6: memory=much is not a number (with K, M or G behind it, or none)\n",
        "line 7: cpus=3-1: ",
        "nrictl sim: no-such.json: ",
        "line 9: CODE is a number from 0 to 255, not '256'\n",
        "line 10: there is no command 'walk'; help lists them\n",
        "TIME is a time such as",
        "line 12: usage: slow NAME INDEX BYTES\n",
        "line 13: BYTES is a number from 0 to 1000000000, not 'x'\n",
        "line 14: usage: pods \n",
    };
    struct rig *rig = *state;
    struct run run = {.done = 0};
    rig_start(rig);
    play(rig, &run,
         "walk\nrun\nrun 'pod\nrun pod novalue\ncreate pod c colour=red\n"
         "create pod c memory=much\nupdate c cpus=3-1\nrun pod file=no-such.json\nexit c 256\n"
         "help walk\nrestart soon\nslow a b\nslow a 10 x\npods now\n");
    for (size_t i = 0; i < sizeof says / sizeof *says; i++)
        expect_text(run.err, says[i]);
    assert_int_equal(run.code, NRICTL_USAGE);
    assert_int_equal(rig->outcomes, 0);
    drop(&run);
}

static void test_what_fails(void **state)
{
    static const char *const says[] = {
        "line 1: explain", /* see below */
        "line 2: start c: there is no container c\n",
        "line 3: there is no plugin p\n",
        "line 4: launch /nonexistent: /nonexistent: No such file or directory\n",
        "line 5: there is no pod sandbox or container x\n",
        "line 6: there is no pod sandbox x\n",
    };
    struct rig *rig = *state;
    struct run run = {.done = 0};
    rig_start(rig);
    play(rig, &run,
         "explain\nstart c\nkill p\nlaunch /nonexistent\nshow x\ncontainers x\nquit\nwalk\n");
    expect_text(run.err, "line 1: there was no operation yet\n");
    for (size_t i = 1; i < sizeof says / sizeof *says; i++)
        expect_text(run.err, says[i]);
    assert_null(strstr(run.err, "walk")); /* behind quit nothing is read */
    assert_int_equal(run.code, NRICTL_FINDING);
    drop(&run);
}

static void test_plugins_by_command(void **state)
{
    struct rig *rig = *state;
    struct run run = {.done = 0};
    char script[2048];
    rig_start(rig);
    (void)snprintf(script, sizeof script,
                   "connect %s/nri-logger --name own --idx 07 --socket {socket}\n"
                   "launch %s/nri-logger\n"
                   "plugins\n"
                   "pause own\ncontinue 07-own\n"
                   "drop nri-logger\n"
                   "slow snail 50 1000000\n"
                   "run pod\n"
                   "restart 1ms\n"
                   "run pod2\n",
                   programs, programs);
    play(rig, &run, script);
    assert_string_equal(run.err, "");
    expect_text(run.out, "+ plugin 07-own\n");
    expect_text(run.out, "+ plugin 00-nri-logger\n");
    expect_text(run.out, "+ plugin 50-snail\n");
    expect_text(run.out, "- plugin 00-nri-logger");
    expect_text(run.out, "restart 1ms: done, 0 events");
    expect_text(run.out, "run pod2: done, 1 event,");
    assert_int_equal(run.code, NRICTL_OK);
    drop(&run);
}

/* A line that comes in pieces, and one that is far too long. */
static void test_pieces(void **state)
{
    struct rig *rig = *state;
    struct run run = {.done = 0};
    static char large[70000];
    int ends[2];
    rig_start(rig);
    assert_int_equal(pipe(ends), 0);
    begin(rig, &run, ends[0]);
    assert_int_equal(write(ends[1], "run p", 5), 5);
    (void)uv_run(&rig->loop, UV_RUN_NOWAIT);
    assert_int_equal(store_pod_count(node_store(rig->node)), 0);
    assert_int_equal(write(ends[1], "od\n", 3), 3);
    rig_wait(rig, store_pod_count(node_store(rig->node)) == 1);
    memset(large, 'x', sizeof large);
    assert_int_not_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), -1);
    for (size_t sent = 0; sent < sizeof large;) {
        const ssize_t put = write(ends[1], large + sent, sizeof large - sent);
        sent += put > 0 ? (size_t)put : 0;
        (void)uv_run(&rig->loop, UV_RUN_NOWAIT);
    }
    (void)close(ends[1]);
    end(rig, &run);
    (void)close(ends[0]);
    expect_text(run.err, "a line is longer than 65536 bytes");
    assert_int_equal(run.code, NRICTL_USAGE);
    drop(&run);
}

/* A file cannot be polled. */
static void test_file(void **state)
{
    struct rig *rig = *state;
    struct run run = {.done = 0};
    FILE *file = tmpfile();
    rig_start(rig);
    assert_non_null(file);
    assert_true(fputs("run pod\nstop pod\n", file) > 0);
    (void)fflush(file);
    (void)lseek(fileno(file), 0, SEEK_SET);
    begin(rig, &run, fileno(file));
    end(rig, &run);
    (void)fclose(file);
    expect_text(run.out, "stop pod: done, 1 event,");
    drop(&run);
}

/* It may go while its operation is under way. */
static int keep(struct guest *guest, nri_request *request)
{
    guest->kept = request;
    return nri_request_event(request) == NRI_EVENT_RUN_POD_SANDBOX ? NRI_PENDING : 0;
}

static void test_freed_early(void **state)
{
    struct rig *rig = *state;
    struct run run = {.done = 0};
    struct guest guest = {.act = keep};
    int ends[2];
    rig_start(rig);
    guest_start(&guest, rig, "10", "guest");
    assert_int_equal(pipe(ends), 0);
    guest.kept = NULL;
    begin(rig, &run, ends[0]);
    assert_int_equal(write(ends[1], "run pod\n", 8), 8);
    rig_wait(rig, guest.kept != NULL);
    shell_free(run.shell);
    rig->shell = NULL;
    (void)nri_request_complete(guest.kept, 0);
    guest.kept = nri_request_unref(guest.kept);
    rig_wait(rig, rig->outcomes == 1);
    assert_int_equal(run.done, 0);
    (void)fclose(run.ctl.out);
    (void)fclose(run.ctl.err);
    (void)close(ends[0]);
    (void)close(ends[1]);
    drop(&run);
    guest_close(&guest, rig);
}

/* ---- on a terminal ---- */

struct terminal {
    int master, slave;
    char text[65536];
    size_t have;
};

static void open_terminal(struct rig *rig, struct run *run, struct terminal *terminal)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    (void)setenv("TERM", "xterm", 1);
    assert_int_equal(openpty(&terminal->master, &terminal->slave, NULL, NULL, &size), 0);
    assert_int_not_equal(fcntl(terminal->master, F_SETFL, O_NONBLOCK), -1);
    run->ctl.command = "sim";
    run->ctl.out = fdopen(dup(terminal->slave), "w");
    run->ctl.err = run->ctl.out;
    run->shell = shell_start(&run->ctl, rig->node, terminal->slave, on_done, run);
    rig->shell = run->shell;
}

static void type(struct terminal *terminal, const char *text)
{
    assert_int_equal(write(terminal->master, text, strlen(text)), strlen(text));
}

static bool sees(struct terminal *terminal, const char *text)
{
    const ssize_t got = read(terminal->master, terminal->text + terminal->have,
                             sizeof terminal->text - 1 - terminal->have);
    terminal->have += got > 0 ? (size_t)got : 0;
    terminal->text[terminal->have] = '\0';
    return strstr(terminal->text, text) != NULL;
}

/* What was seen is over, up to the end of that text. */
static void forget(struct terminal *terminal, const char *text)
{
    const char *behind = strstr(terminal->text, text) + strlen(text);
    terminal->have = strlen(behind);
    memmove(terminal->text, behind, terminal->have + 1);
}

#define await(rig, terminal, text_)                                                                \
    do {                                                                                           \
        rig_wait(rig, sees(terminal, text_));                                                      \
        forget(terminal, text_);                                                                   \
    } while (0)

static void close_terminal(struct rig *rig, struct run *run, struct terminal *terminal)
{
    rig_wait(rig, (sees(terminal, ""), run->done > 0));
    assert_int_equal(run->code, NRICTL_OK);
    rig->shell = NULL;
    shell_free(run->shell);
    (void)fclose(run->ctl.out);
    (void)close(terminal->slave);
    (void)close(terminal->master);
}

static void test_terminal(void **state)
{
    static struct terminal terminal;
    struct rig *rig = *state;
    struct run run = {.done = 0};
    struct guest guest = {.count = 0};
    char directory[] = "/tmp/nrictl-state-XXXXXX", path[128], history[512] = "";
    if (!shell_can_edit())
        skip();
    assert_non_null(mkdtemp(directory));
    (void)setenv("XDG_STATE_HOME", directory, 1);
    rig_start(rig);
    open_terminal(rig, &run, &terminal);
    await(rig, &terminal, "nrictl> ");
    type(&terminal, "run web-pod\n");
    await(rig, &terminal, "run web-pod: done");
    await(rig, &terminal, "nrictl> ");
    type(&terminal, "st\t");
    await(rig, &terminal, "start  stop"); /* which the table has in that order */
    type(&terminal, "op w\t");            /* "stop web-pod " */
    await(rig, &terminal, "eb-pod");
    /* What happens meanwhile is told, and the line is there again. */
    guest_start(&guest, rig, "10", "guest");
    await(rig, &terminal, "+ plugin 10-guest\r\n");
    await(rig, &terminal, "nrictl> stop web-pod");
    type(&terminal, "\n");
    await(rig, &terminal, "stop web-pod: done");
    type(&terminal, "\033[A\033[A\n"); /* twice up: run web-pod, which is there already */
    await(rig, &terminal, "there is a pod sandbox web-pod already");
    type(&terminal, "x\025nonsense\n"); /* Ctrl-U: an empty line is no end */
    await(rig, &terminal, "there is no command 'nonsense'");
    type(&terminal, "x\004\b\004"); /* Ctrl-D ends on an empty line alone */
    close_terminal(rig, &run, &terminal);
    (void)snprintf(path, sizeof path, "%s/nrictl/history", directory);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(history, 1, sizeof history - 1, file) > 0);
    (void)fclose(file);
    expect_text(history, "nonsense");
    /* libedit writes a blank as \040. */
    expect_text(history, "stop\\040web-pod");
    assert_int_equal(unlink(path), 0);
    *strrchr(path, '/') = '\0';
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(directory), 0);
    guest_close(&guest, rig);
}

/* The terminal goes: its shell ends. */
static void test_hangup(void **state)
{
    static struct terminal terminal;
    struct rig *rig = *state;
    struct run run = {.done = 0};
    if (!shell_can_edit())
        skip();
    (void)setenv("XDG_STATE_HOME", "/proc/nonexistent", 1);
    rig_start(rig);
    open_terminal(rig, &run, &terminal);
    await(rig, &terminal, "nrictl> ");
    (void)close(terminal.master);
    rig_wait(rig, run.done > 0);
    rig->shell = NULL;
    shell_free(run.shell);
    (void)fclose(run.ctl.out);
    (void)close(terminal.slave);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test_setup_teardown(test_candidates, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_script, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_json, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_what_is_wrong, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_what_fails, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_plugins_by_command, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_pieces, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_file, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_freed_early, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_terminal, rig_setup, rig_teardown),
        cmocka_unit_test_setup_teardown(test_hangup, rig_setup, rig_teardown),
    };
    programs = realpath(argc > 1 ? argv[1] : ".", NULL);
    return cmocka_run_group_tests_name("shell", tests, NULL, NULL);
}
