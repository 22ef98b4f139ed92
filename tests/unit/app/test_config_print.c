/* SPDX-License-Identifier: Apache-2.0 */
/* --print-config: the exact text, and that it reads as what was printed. */
#include "config_fixture.h"

static char *print(const struct app_config *config)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    app_config_print(config, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void shows(const char *given, const char *wanted)
{
    struct app_config *config;
    settings_good(&config, given);
    char *text = print(config);
    app_config_free(config);
    assert_string_equal(text, wanted);
    free(text);
}

static void test_standards(void **state)
{
    (void)state;
    shows(NULL, "# whether\n"
                "# standard\n"
                "flag: false\n"
                "# standard\n"
                "workers: 4\n"
                "# standard\n"
                "ratio: 0.5\n"
                "# standard\n"
                "greeting: \"hello\"\n"
                "# standard\n"
                "token: \"***\"\n"
                "timeouts:\n"
                "  # for one request\n"
                "  # standard\n"
                "  request: \"2s\"\n"
                "  # standard\n"
                "  connect: \"0s\"\n"
                "pool:\n"
                "  # standard\n"
                "  cpus: \"\"\n"
                "  limits:\n"
                "    # standard\n"
                "    memory: \"1Gi\"\n"
                "# standard\n"
                "mode: \"warn\"\n"
                "# standard\n"
                "names: [\"a\", \"b\"]\n"
                "# standard\n"
                "rules: null\n");
}

static const char given[] =
    "flag: true\nworkers: 0x10\nratio: .25\ngreeting: \"a\\\"\\n\\xe9\\L\"\n"
    "token: hunter2\ntimeouts:\n  request: 1m30s\n  connect: 5ms\n"
    "pool:\n  cpus: '3,0,1,2'\n  limits: {memory: 4096}\nmode: refuse\n"
    "names: []\nrules: {b: [1, 'x y'], a: \"\\u0085\"}\n";

static void test_given(void **state)
{
    (void)state;
    shows(given, "# whether\n"
                 "# from conf:1\n"
                 "flag: true\n"
                 "# from conf:2\n"
                 "workers: 16\n"
                 "# from conf:3\n"
                 "ratio: 0.25\n"
                 "# from conf:4\n"
                 "greeting: \"a\\\"\\n\xc3\xa9\\u2028\"\n"
                 "# from conf:5\n"
                 "token: \"***\"\n"
                 "timeouts:\n"
                 "  # for one request\n"
                 "  # from conf:7\n"
                 "  request: \"1m30s\"\n"
                 "  # from conf:8\n"
                 "  connect: \"5ms\"\n"
                 "pool:\n"
                 "  # from conf:10\n"
                 "  cpus: \"0-3\"\n"
                 "  limits:\n"
                 "    # from conf:11\n"
                 "    memory: 4096\n"
                 "# from conf:12\n"
                 "mode: \"refuse\"\n"
                 "# from conf:13\n"
                 "names: []\n"
                 "# from conf:14\n"
                 "rules: {\"a\":\"\\u0085\",\"b\":[1,\"x y\"]}\n");
}

/* What was printed reads as the same, but for the secret. */
static void test_there_and_back(void **state)
{
    (void)state;
    static const char *const texts[] = {NULL, given, "rules: \"\\u2028\\U0001F600\\uFEFF\\e\""};
    for (size_t i = 0; i < 3; i++) {
        struct app_config *config, *again;
        const struct settings *before = settings_good(&config, texts[i]);
        char *first = print(config);
        const struct settings *after = settings_good(&again, first);
        assert_int_equal(before->flag, after->flag);
        assert_int_equal(before->workers, after->workers);
        assert_true(before->ratio >= after->ratio && before->ratio <= after->ratio);
        assert_string_equal(before->greeting, after->greeting);
        assert_string_equal(after->token, "***");
        assert_int_equal(before->request, after->request);
        assert_int_equal(before->connect, after->connect);
        assert_int_equal(before->memory, after->memory);
        assert_string_equal(before->cpus, after->cpus);
        assert_int_equal(before->mode, after->mode);
        assert_int_equal(before->names.count, after->names.count);
        assert_string_equal(before->rules, after->rules);
        free(first);
        app_config_free(config);
        app_config_free(again);
    }
}

/* Longer than the pieces in which texts are written, cut at no character. */
static void test_long_texts(void **state)
{
    (void)state;
    const struct nri_app_field field = {.name = "v", .type = NRI_APP_TEXT};
    for (size_t shift = 0; shift < 4; shift++) {
        char text[600] = "v: \"", error[APP_CONFIG_TEXT];
        size_t used = 4;
        for (size_t i = 0; i < shift; i++)
            text[used++] = 'x';
        for (size_t i = 0; i < 100; i++, used += 4)
            memcpy(text + used, "\xf0\x9f\x98\x80", 4);
        strcpy(text + used, "\"");
        struct app_config *config = one_read(&field, text, error);
        assert_non_null(config);
        char *printed = print(config);
        assert_int_equal(strncmp(printed, "# from conf:1\n", 14), 0);
        assert_memory_equal(printed + 14, text, used + 1);
        assert_string_equal(printed + 14 + used + 1, "\n");
        free(printed);
        app_config_free(config);
    }
}

/* A comment ends with its line, whatever a help or a name has. */
static void test_comments(void **state)
{
    (void)state;
    const struct nri_app_field field = {
        .name = "v", .type = NRI_APP_BOOL, .help = "a\nv: true\x1b"};
    struct app_config_sources sources = {.configure = "v: false", .configure_name = "x\ny"};
    struct app_config *config;
    char error[APP_CONFIG_TEXT];
    assert_int_equal(app_config_read(&config, &field, 1, 1, &sources, error), 0);
    char *text = print(config);
    assert_string_equal(text, "# a v: true \n# from x y:1\nv: false\n");
    free(text);
    app_config_free(config);
}

static void test_nothing(void **state)
{
    (void)state;
    struct app_config_sources sources = {0};
    struct app_config *config;
    char error[APP_CONFIG_TEXT];
    assert_int_equal(app_config_read(&config, NULL, 0, 0, &sources, error), 0);
    char *text = print(config);
    assert_string_equal(text, "");
    free(text);
    app_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standards),      cmocka_unit_test(test_given),
        cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_long_texts),
        cmocka_unit_test(test_comments),       cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
