/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each allocation of nri_app_main() fails once, from the command line to the end of a plugin that
 * finds no runtime: it ends with a status, never by a signal, nothing is left, and a failure says
 * why. The linker hands this program the allocations of libnri and nri-app. nri_app_main() is for
 * once in a program, hence a process for each.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <nri/app.h>
#include <nri/error.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
char *__real_strdup(const char *text);
char *__real_realpath(const char *path, char *resolved);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_realpath(const char *path, char *resolved);
void __wrap_free(void *block);

/* In the child, on all of its threads. */
static atomic_bool sweeping;
static atomic_size_t calls, live;
static size_t fail_at;

static bool must_fail(void)
{
    return atomic_load(&sweeping) && atomic_fetch_add(&calls, 1) + 1 == fail_at;
}

static void *counted(void *block)
{
    if (atomic_load(&sweeping) && block != NULL)
        atomic_fetch_add(&live, 1);
    return block;
}

void *__wrap_malloc(size_t size)
{
    return must_fail() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *block, size_t size)
{
    if (must_fail())
        return NULL;
    return block == NULL ? counted(__real_realloc(NULL, size)) : __real_realloc(block, size);
}

char *__wrap_strdup(const char *text)
{
    return must_fail() ? NULL : counted(__real_strdup(text));
}

char *__wrap_realpath(const char *path, char *resolved)
{
    return must_fail() ? NULL : counted(__real_realpath(path, resolved));
}

void __wrap_free(void *block)
{
    if (atomic_load(&sweeping) && block != NULL)
        atomic_fetch_sub(&live, 1);
    __real_free(block);
}

/* ---- the program ---- */

struct config {
    int64_t number;
    const char *text;
};

static struct config config;
static int started, stopped;

static int on_start(nri_plugin *plugin, void *user)
{
    (void)plugin, (void)user;
    started++;
    return 0;
}

static void on_stop(void *user)
{
    (void)user;
    stopped++;
}

static int set_flag(void *user, const char *value, const char **text)
{
    (void)user, (void)value, (void)text;
    return 0;
}

static int create(nri_request *request, void *user)
{
    (void)request, (void)user;
    return 0;
}

static int run(char **words)
{
    static const struct nri_app_field fields[] = {
        {.name = "number", .type = NRI_APP_INTEGER, .offset = offsetof(struct config, number)},
        {.name = "text", .type = NRI_APP_TEXT, .offset = offsetof(struct config, text)}};
    static const struct nri_app_flag flags[] = {{.name = "flag", .set = set_flag}};
    const struct nri_plugin_ops ops = {.size = sizeof ops, .on_create_container = create};
    const struct nri_app_options options = {
        .size = sizeof options,
        .name = "test",
        .index = "10",
        .ops = &ops,
        .fields = fields,
        .field_count = 2,
        .field_size = sizeof *fields,
        .flags = flags,
        .flag_count = 1,
        .flag_size = sizeof *flags,
        .config = &config,
        .config_size = sizeof config,
        .on_start = on_start,
        .on_stop = on_stop,
    };
    int count = 0;
    while (words[count] != NULL)
        count++;
    return nri_app_main(count, words, &options);
}

/* What a child ends with, besides what nri_app_main() returns. */
enum { SETUP = 100, LEAK, PAIRS, BEYOND = 0x40 };

static void child(char **words, int errors)
{
    const int null = open("/dev/null", O_WRONLY);
    if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(errors, STDERR_FILENO) < 0)
        _exit(SETUP);
    atomic_store(&sweeping, true);
    const int status = run(words);
    atomic_store(&sweeping, false);
    if (atomic_load(&live) != 0)
        _exit(LEAK);
    if (started > stopped)
        _exit(PAIRS);
    _exit(status | (atomic_load(&calls) < fail_at ? BEYOND : 0));
}

/* One allocation fails; what nri_app_main() returned, and what it said. */
static int fail_one(char **words, char *said, size_t size, bool *beyond)
{
    int status, ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0)
        child(words, ends[1]);
    (void)close(ends[1]);
    size_t length = 0;
    ssize_t count;
    while ((count = read(ends[0], said + length, size - 1 - length)) > 0)
        length += (size_t)count;
    said[length] = '\0';
    (void)close(ends[0]);
    assert_int_equal(waitpid(process, &status, 0), process);
    if (!WIFEXITED(status) || WEXITSTATUS(status) >= SETUP)
        fail_msg("allocation %zu: status %#x: %s", fail_at, (unsigned)status, said);
    *beyond = (WEXITSTATUS(status) & BEYOND) != 0;
    return WEXITSTATUS(status) & ~BEYOND;
}

/* `wanted` is the status of a run in which nothing fails; how many allocations there are. What
 * fails may be done without, so that the run ends as ever, but never as well as it should not. */
static size_t sweep(char **words, int wanted, const char *part)
{
    static char said[65536];
    for (fail_at = 1;; fail_at++) {
        bool beyond;
        const int status = fail_one(words, said, sizeof said, &beyond);
        if (beyond) {
            assert_int_equal(status, wanted);
            assert_non_null(strstr(said, part));
            return fail_at - 1;
        }
        if (status != wanted && status != 1 && status != 2)
            fail_msg("allocation %zu: status %d: %s", fail_at, status, said);
        if (status != 0 && said[0] == '\0')
            fail_msg("allocation %zu: status %d, and no word why", fail_at, status);
        /* What was wanted did not happen: then it says why. */
        if (status != wanted && strstr(said, "memory") == NULL)
            fail_msg("allocation %zu: status %d: %s", fail_at, status, said);
    }
}

static char directory[64];

static char *path_of(const char *name)
{
    static char paths[8][128];
    static size_t next;
    char *path = paths[next++ % 8];
    (void)snprintf(path, sizeof paths[0], "%s%s", directory, name);
    return path;
}

static char word[][16] = {"program",        "--config",       "--flag",         "--socket",
                          "--no-reconnect", "--check-config", "--print-config", "--help",
                          "--http",         "--bogus"};

static void test_command_line(void **state)
{
    (void)state;
    char *help[] = {word[0], word[2], word[7], NULL};
    char *wrong[] = {word[0], word[2], word[9], NULL};
    assert_true(sweep(help, 0, "") > 2);
    assert_true(sweep(wrong, 2, "--bogus") > 2);
}

static void test_configuration(void **state)
{
    (void)state;
    char *check[] = {word[0], word[1], path_of("/c.yaml"), word[5], NULL};
    char *print[] = {word[0], word[1], path_of("/c.yaml"), word[6], NULL};
    assert_true(sweep(check, 0, "") > 10);
    assert_true(sweep(print, 0, "") > 10);
}

static void test_run(void **state)
{
    (void)state;
    char http[160];
    (void)snprintf(http, sizeof http, "unix:%s/http.sock", directory);
    char *words[] = {
        word[0], word[1], path_of("/c.yaml"), word[3], path_of("/missing.sock"), word[4], word[8],
        http,    NULL};
    assert_true(sweep(words, 1, "missing.sock") > 20);
    assert_int_not_equal(access(http + 5, F_OK), 0);
}

static int set_up(void **state)
{
    (void)state;
    (void)snprintf(directory, sizeof directory, "/tmp/nri-app-memory.XXXXXX");
    FILE *file = mkdtemp(directory) != NULL ? fopen(path_of("/c.yaml"), "w") : NULL;
    if (file == NULL)
        return -1;
    (void)fputs("number: 5\ntext: hello\n", file);
    return fclose(file);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path_of("/c.yaml")) | rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_command_line),
        cmocka_unit_test(test_configuration),
        cmocka_unit_test(test_run),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
