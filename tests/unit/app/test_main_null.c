/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nri/app.h with NULL and with what makes no sense: each wrong call ends with a status and one line
 * that says why. nri_app_main() is for once in a program, hence a process for each call.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
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

struct config {
    int64_t number;
    const char *text;
};

static struct config config;
static const char *const arguments[] = {"program", "--check-config", NULL};
static const struct nri_plugin_ops ops = {.size = sizeof ops};

/* In a child: what nri_app_main() returns, and what it said in `said`. Standard output is lost. */
static int end_of(int argc, char **argv, const struct nri_app_options *options, char said[4096])
{
    int status = 0, pipe_ends[2];
    assert_int_equal(pipe(pipe_ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const int null = open("/dev/null", O_WRONLY);
        if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(pipe_ends[1], STDERR_FILENO) < 0)
            _exit(100);
        status = nri_app_main(argc, argv, options);
        (void)fflush(stderr);
        _exit(status);
    }
    (void)close(pipe_ends[1]);
    size_t length = 0;
    ssize_t count;
    while ((count = read(pipe_ends[0], said + length, 4095 - length)) > 0)
        length += (size_t)count;
    said[length] = '\0';
    (void)close(pipe_ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status))
        fail_msg("ended by signal %d: %s", WTERMSIG(status), said);
    return WEXITSTATUS(status);
}

static struct nri_app_options good(void)
{
    static const struct nri_app_field fields[] = {
        {.name = "number", .type = NRI_APP_INTEGER, .offset = offsetof(struct config, number)},
        {.name = "text", .type = NRI_APP_TEXT, .offset = offsetof(struct config, text)}};
    return (struct nri_app_options){.size = sizeof(struct nri_app_options),
                                    .name = "test",
                                    .index = "10",
                                    .ops = &ops,
                                    .fields = fields,
                                    .field_count = 2,
                                    .field_size = sizeof *fields,
                                    .config = &config,
                                    .config_size = sizeof config};
}

static void ends(int status, const char *part, const struct nri_app_options *options)
{
    char said[4096];
    const int ended = end_of(2, (char **)(uintptr_t)arguments, options, said);
    if (ended != status || strstr(said, part) == NULL ||
        (status != 0 && (strchr(said, '\n') == NULL || strchr(said, '\n')[1] != '\0')))
        fail_msg("%d instead of %d with \"%s\": \"%s\"", ended, status, part, said);
}

static void test_good(void **state)
{
    (void)state;
    const struct nri_app_options options = good();
    ends(0, "", &options);
}

static void test_options(void **state)
{
    (void)state;
    struct nri_app_options options = good();
    struct {
        struct nri_app_options options;
        uint64_t more;
    } larger = {.options = good()};
    ends(1, "not of this version", NULL);
    options.size = 0;
    ends(1, "not of this version", &options);
    options.size = sizeof options - 8;
    ends(1, "not of this version", &options);
    options = good();
    options.reserved[2] = 1;
    ends(1, "not of this version", &options);
    options = good();
    options.reserved_pointer = &options;
    ends(1, "not of this version", &options);
    larger.options.size = sizeof larger;
    ends(0, "", &larger.options);
    larger.more = 1;
    ends(1, "not of this version", &larger.options);
    options = good();
    options.ops = NULL;
    ends(1, "no callback table", &options);
}

static void test_structures_within(void **state)
{
    (void)state;
    struct nri_app_options options = good();
    struct nri_plugin_ops other_ops = {.size = 0};
    struct nri_plugin_options plugin = {.size = 1};
    options.ops = &other_ops;
    ends(1, "callback table is not of this version", &options);
    other_ops.size = sizeof other_ops - sizeof(void *);
    ends(1, "callback table is not of this version", &options);
    options = good();
    options.plugin = &plugin;
    ends(1, "plugin options are not of this version", &options);
}

static int never(void *user, const char *value, const char **text)
{
    (void)user, (void)value, (void)text;
    return -1;
}

static void test_tables(void **state)
{
    (void)state;
    static const char tables[] = "fields or flags are not of this version";
    const struct nri_app_flag flag = {.name = "flag", .set = never};
    struct nri_app_options options = good();
    options.fields = NULL;
    ends(1, tables, &options);
    options = good();
    const uint64_t sizes[] = {0, 8, sizeof(struct nri_app_field) - 8,
                              sizeof(struct nri_app_field) + 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        options.field_size = sizes[i];
        ends(1, tables, &options);
    }
    options = good();
    options.field_count = UINT64_MAX;
    ends(1, tables, &options);
    options = good();
    options.flags = &flag;
    options.flag_count = 1;
    ends(1, tables, &options);
    options.flag_size = sizeof flag;
    ends(0, "", &options);
    options.flags = NULL;
    ends(1, tables, &options);
    options = good();
    options.config = NULL;
    ends(1, "no `config`", &options);
    options = good();
    options.config_size = 8;
    ends(1, "field text", &options);
}

/* Rows of a later version: longer, and zero behind what is known. */
static void test_larger_rows(void **state)
{
    (void)state;
    struct {
        struct nri_app_field field;
        uint64_t more;
    } fields[] = {
        {{.name = "number", .type = NRI_APP_INTEGER, .offset = offsetof(struct config, number)}, 0},
        {{.name = "text", .type = NRI_APP_TEXT, .offset = offsetof(struct config, text)}, 0}};
    struct {
        struct nri_app_flag flag;
        uint64_t more[2];
    } flags[] = {{{.name = "one", .set = never}, {0}}, {{.name = "two", .set = never}, {0}}};
    struct nri_app_options options = good();
    options.fields = &fields[0].field;
    options.field_size = sizeof fields[0];
    options.flags = &flags[0].flag;
    options.flag_count = 2;
    options.flag_size = sizeof flags[0];
    ends(0, "", &options);
    flags[1].more[1] = 1;
    ends(1, "not of this version", &options);
    flags[1].more[1] = 0;
    fields[1].more = UINT64_C(1) << 63;
    ends(1, "not of this version", &options);
}

static void refused_row(const struct nri_app_field *field, const char *part)
{
    struct nri_app_options options = good();
    options.fields = field;
    options.field_count = 1;
    ends(1, part, &options);
}

static void test_rows(void **state)
{
    (void)state;
    static const char *const none[] = {NULL};
    refused_row(&(struct nri_app_field){.name = NULL, .type = NRI_APP_TEXT}, "no name");
    refused_row(&(struct nri_app_field){.name = "", .type = NRI_APP_TEXT}, "name");
    refused_row(&(struct nri_app_field){.name = "a", .type = 0}, "type");
    refused_row(&(struct nri_app_field){.name = "a", .type = INT32_MIN}, "type");
    refused_row(&(struct nri_app_field){.name = "a", .type = INT32_MAX}, "type");
    refused_row(&(struct nri_app_field){.name = "a", .type = NRI_APP_TEXT, .offset = SIZE_MAX},
                "offset");
    refused_row(&(struct nri_app_field){.name = "a", .type = NRI_APP_CHOICE}, "choices");
    refused_row(&(struct nri_app_field){.name = "a", .type = NRI_APP_CHOICE, .choices = none},
                "choices");
    refused_row(&(struct nri_app_field){.name = "a", .type = NRI_APP_INTEGER, .standard = "\xff"},
                "a");
    refused_row(&(struct nri_app_field){.name = "a", .type = NRI_APP_INTEGER, .minimum = "["}, "a");
}

static void refused_flag(const struct nri_app_flag *flag, const char *part)
{
    struct nri_app_options options = good();
    options.flags = flag;
    options.flag_count = 1;
    options.flag_size = sizeof *flag;
    ends(1, part, &options);
}

static void test_flags(void **state)
{
    (void)state;
    refused_flag(&(struct nri_app_flag){.set = never}, "no name");
    refused_flag(&(struct nri_app_flag){.name = "", .set = never}, "no name");
    refused_flag(&(struct nri_app_flag){.name = "flag"}, "no function");
    refused_flag(&(struct nri_app_flag){.name = "config", .set = never}, "two of that name");
    const int64_t letters[] = {'h', ':', '-', '?', ';', -1, 'h' + 256, INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        refused_flag(&(struct nri_app_flag){.name = "a", .set = never, .letter = letters[i]},
                     "letter");
}

static void test_arguments(void **state)
{
    (void)state;
    char said[4096];
    char *nothing[] = {NULL}, *empty[] = {(char *)(uintptr_t) "", NULL};
    char *odd[] = {(char *)(uintptr_t) "a\nb/c\nd", (char *)(uintptr_t) "--\xff\xfe=\n", NULL};
    struct nri_app_options options = good();
    /* What is wrong is found behind the command line: nothing is connected to. */
    options.ops = NULL;
    assert_int_equal(end_of(0, NULL, &options, said), 1);
    assert_non_null(strstr(said, "nri-plugin: "));
    assert_int_equal(end_of(0, nothing, &options, said), 1);
    assert_int_equal(end_of(-1, nothing, &options, said), 1);
    assert_int_equal(end_of(1, empty, &options, said), 1);
    assert_int_equal(end_of(2, odd, &options, said), 2);
    assert_non_null(strstr(said, "c\\u000ad: --"));
}

/* Outside of nri_app_main() there is no log, and nothing to be refused. */
static void test_other_functions(void **state)
{
    (void)state;
    struct nri_app_options options;
    memset(&options, 0xa5, sizeof options);
    nri_app_options_init(NULL, 0);
    nri_app_options_init(NULL, sizeof options);
    nri_app_options_init(&options, 3);
    assert_int_equal(((unsigned char *)&options)[0], 0xa5);
    nri_app_options_init(&options, sizeof options.size);
    assert_int_equal(options.size, sizeof options.size);
    assert_int_equal(((unsigned char *)&options)[sizeof options.size], 0xa5);
    nri_app_options_init(&options, sizeof options);
    assert_int_equal(options.size, sizeof options);
    for (size_t i = sizeof options.size; i < sizeof options; i++)
        assert_int_equal(((unsigned char *)&options)[i], 0);
    assert_int_equal(nri_app_refuse(NULL), NRI_E_INVALID);
    char *text = malloc(100000);
    assert_non_null(text);
    memset(text, 'x', 99999);
    text[99999] = '\0';
    assert_int_equal(nri_app_refuse(text), NRI_E_INVALID);
    free(text);
    nri_app_log(NRI_LOG_ERROR, NULL);
    nri_app_log((enum nri_log_level) - 7, "nobody reads it");
    nri_app_log_record(NULL, NULL);
}

/* With the program there: what a wrong call writes is a line all the same. */
static int prepare(struct nri_plugin_options *options, void *user)
{
    (void)options, (void)user;
    nri_app_log(NRI_LOG_ERROR, NULL);
    nri_app_log((enum nri_log_level)99, "too detailed");
    nri_app_log((enum nri_log_level) - 7, "odd\nlevel");
    nri_app_log(NRI_LOG_DEFAULT, "");
    nri_app_log_record(NULL, NULL);
    return -12345; /* no code of nri/error.h */
}

static void test_within_a_program(void **state)
{
    (void)state;
    char said[4096];
    const char *const formats[] = {"text", "json"};
    struct nri_app_options options = good();
    options.on_prepare = prepare;
    for (size_t i = 0; i < 2; i++) {
        const char *const words[] = {"program", "--log-format", formats[i], NULL};
        assert_int_equal(end_of(3, (char **)(uintptr_t)words, &options, said), 1);
        assert_null(strstr(said, "too detailed"));
        assert_non_null(strstr(said, "odd\\u000alevel"));
        assert_non_null(strstr(said, "cannot start"));
        assert_null(strstr(said, "(null)"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_structures_within),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_larger_rows),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_other_functions),
        cmocka_unit_test(test_within_a_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
