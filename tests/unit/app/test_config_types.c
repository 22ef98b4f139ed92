/* SPDX-License-Identifier: Apache-2.0 */
/* Each type at its borders, as JSON and as YAML, and the exact error of what is none. */
#include "config_fixture.h"

#include "app/config_field.h"

/* What is given to a field, in JSON, which is YAML too. */
static struct app_config *read_as(const struct nri_app_field *field, bool json, const char *value,
                                  char *error)
{
    char text[512];
    snprintf(text, sizeof text, json ? "{\"v\": %s}" : "v: %s\n", value);
    return one_read(field, text, error);
}

static void good(const struct nri_app_field *field, bool json, const char *value, void *out,
                 size_t size)
{
    char error[APP_CONFIG_TEXT] = "";
    struct app_config *config = read_as(field, json, value, error);
    if (config == NULL)
        fail_msg("%s: %s", value, error);
    memcpy(out, app_config_values(config), size);
    app_config_free(config);
}

static void bad(const struct nri_app_field *field, bool json, const char *value, const char *reason)
{
    char error[APP_CONFIG_TEXT] = "", wanted[APP_CONFIG_TEXT];
    snprintf(wanted, sizeof wanted, "conf:1: v: %s", reason);
    if (read_as(field, json, value, error) != NULL)
        fail_msg("was taken: %s", value);
    assert_string_equal(error, wanted);
}

static void both_bad(const struct nri_app_field *field, const char *value, const char *reason)
{
    bad(field, true, value, reason);
    bad(field, false, value, reason);
}

static void integer(const struct nri_app_field *field, const char *value, int64_t wanted)
{
    for (int json = 0; json < 2; json++) {
        int64_t found;
        good(field, json != 0, value, &found, sizeof found);
        assert_int_equal(found, wanted);
    }
}

/* Compares before the configuration goes, for values that point into it. */
static void text(const struct nri_app_field *field, bool json, const char *value,
                 const char *wanted)
{
    char error[APP_CONFIG_TEXT] = "";
    struct app_config *config = read_as(field, json, value, error);
    if (config == NULL)
        fail_msg("%s: %s", value, error);
    assert_string_equal(*(const char *const *)app_config_values(config), wanted);
    app_config_free(config);
}

static void both_text(const struct nri_app_field *field, const char *value, const char *wanted)
{
    text(field, true, value, wanted);
    text(field, false, value, wanted);
}

static void test_U06_bool(void **state)
{
    (void)state;
    const struct nri_app_field field = {.name = "v", .type = NRI_APP_BOOL};
    bool found = false;
    good(&field, true, "true", &found, sizeof found);
    assert_true(found);
    good(&field, true, "false", &found, sizeof found);
    assert_false(found);
    good(&field, false, "True", &found, sizeof found);
    assert_true(found);
    good(&field, false, "FALSE", &found, sizeof found);
    assert_false(found);
    both_bad(&field, "1", "must be true or false, not the number 1");
    both_bad(&field, "\"true\"",
             "must be true or false, not the text \"true\": leave out the quotes");
    bad(&field, false, "yes",
        "must be true or false, not the text \"yes\", which is no bool in YAML 1.2");
    bad(&field, false, "off",
        "must be true or false, not the text \"off\", which is no bool in YAML 1.2");
    bad(&field, false, "tRue", "must be true or false, not the text \"tRue\"");
    both_bad(&field, "[true]", "must be true or false, not a list");
    both_bad(&field, "{}", "must be true or false, not an object");
}

static void test_U06_integer(void **state)
{
    (void)state;
    const struct nri_app_field field = {.name = "v", .type = NRI_APP_INTEGER};
    int64_t found;
    integer(&field, "0", 0);
    integer(&field, "-1", -1);
    integer(&field, "9223372036854775807", INT64_MAX);
    integer(&field, "-9223372036854775808", INT64_MIN);
    integer(&field, "1e3", 1000);
    integer(&field, "2.0", 2);
    static const struct {
        const char *yaml;
        int64_t value;
    } forms[] = {
        {"+7", 7}, {"0x1F", 31}, {"0o17", 15}, {"5.", 5}, {"0x7fffffffffffffff", INT64_MAX}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        good(&field, false, forms[i].yaml, &found, sizeof found);
        assert_int_equal(found, forms[i].value);
    }
    both_bad(&field, "9223372036854775808",
             "9223372036854775808 is out of range: it does not fit into 64 bits");
    both_bad(&field, "-9223372036854775809",
             "-9223372036854775809 is out of range: it does not fit into 64 bits");
    both_bad(&field, "1e400", "1e400 is out of range");
    both_bad(&field, "1.5", "must be a whole number, not the number 1.5");
    both_bad(&field, "\"5\"", "must be a whole number, not the text \"5\"");
    both_bad(&field, "true", "must be a whole number, not true");
    bad(&field, false, "0b1", "must be a whole number, not the text \"0b1\"");
}

static void test_U06_integer_range(void **state)
{
    (void)state;
    struct nri_app_field field = {
        .name = "v", .type = NRI_APP_INTEGER, .minimum = "-2", .maximum = "3", .standard = "0"};
    integer(&field, "-2", -2);
    integer(&field, "3", 3);
    both_bad(&field, "-3", "-3 is out of range: -2 to 3");
    both_bad(&field, "4", "4 is out of range: -2 to 3");
    field.minimum = NULL;
    both_bad(&field, "4", "4 is out of range: at most 3");
    field.minimum = "-2";
    field.maximum = NULL;
    both_bad(&field, "-3", "-3 is out of range: at least -2");
    integer(&field, "9223372036854775807", INT64_MAX);
}

static void number(const struct nri_app_field *field, bool json, const char *value, double wanted)
{
    double found;
    good(field, json, value, &found, sizeof found);
    assert_true(found >= wanted && found <= wanted);
}

static void test_U06_number(void **state)
{
    (void)state;
    const struct nri_app_field field = {
        .name = "v", .type = NRI_APP_NUMBER, .minimum = "-0.5", .maximum = "1e3"};
    number(&field, true, "-0.5", -0.5);
    number(&field, false, "-.5", -0.5);
    number(&field, false, "1000", 1000);
    number(&field, false, "+2.5E+1", 25);
    number(&field, false, "7.e0", 7);
    both_bad(&field, "1000.1", "1000.1 is out of range: -0.5 to 1e3");
    both_bad(&field, "-0.51", "-0.51 is out of range: -0.5 to 1e3");
    both_bad(&field, "1e999", "1e999 is out of range");
    both_bad(&field, "\"1\"", "must be a number, not the text \"1\"");
    bad(&field, false, "1.2.3", "must be a number, not the text \"1.2.3\"");
    bad(&field, false, "1e", "must be a number, not the text \"1e\"");
    bad(&field, false, ".", "must be a number, not the text \".\"");
}

static void test_U06_text(void **state)
{
    (void)state;
    const struct nri_app_field field = {.name = "v", .type = NRI_APP_TEXT};
    both_text(&field, "\"\"", "");
    both_text(&field, "\"a\\\"\\\\\\n\\u00e9\"", "a\"\\\n\xc3\xa9");
    both_text(&field, "\"null\"", "null");
    text(&field, false, "yes", "yes");
    text(&field, false, "'it''s'", "it's");
    text(&field, false, "!!str 5", "5");
    text(&field, false, "! 5", "5");
    text(&field, false, "|\n  a\n  b", "a\nb\n");
    both_bad(&field, "5", "must be a text, not the number 5: write quotes around it");
    both_bad(&field, "true", "must be a text, not true: write quotes around it");
    both_bad(&field, "[]", "must be a text, not a list");
}

static void test_U06_duration(void **state)
{
    (void)state;
    const struct nri_app_field field = {
        .name = "v", .type = NRI_APP_DURATION, .minimum = "1ms", .standard = "1s"};
    integer(&field, "\"1ms\"", 1000000);
    integer(&field, "\"1.5s\"", 1500000000);
    bad(&field, false, "999us", "\"999us\" is out of range: at least 1ms");
    both_bad(&field, "25",
             "must be a duration such as \"1.5s\", not the number 25: write ns, us, ms, "
             "s, m or h behind it, and quotes");
    both_bad(&field, "0",
             "must be a duration such as \"1.5s\", not the number 0: write ns, us, ms, "
             "s, m or h behind it, and quotes");
    both_bad(&field, "\"25x\"",
             "\"25x\" has a unit that there is not: there are ns, us, ms, s, m and "
             "h");
    both_bad(&field, "true", "must be a duration such as \"1.5s\", not true");
}

static void test_U06_bytes(void **state)
{
    (void)state;
    const struct nri_app_field field = {.name = "v", .type = NRI_APP_BYTES};
    integer(&field, "\"512Mi\"", INT64_C(512) << 20);
    integer(&field, "\"1G\"", 1000000000);
    integer(&field, "4096", 4096);
    integer(&field, "0", 0);
    integer(&field, "\"1.5Ki\"", 1536);
    integer(&field, "\"2000m\"", 2);
    integer(&field, "9223372036854775807", INT64_MAX);
    both_bad(&field, "9223372036854775808",
             "9223372036854775808 is out of range: it does not fit into 64 bits");
    both_bad(&field, "\"8Ei\"", "\"8Ei\" is out of range: it does not fit into 64 bits");
    both_bad(&field, "\"100m\"", "\"100m\" is no whole number of bytes");
    both_bad(&field, "\"1.0001k\"", "\"1.0001k\" is no whole number of bytes");
    both_bad(&field, "\"1000.0000001\"", "\"1000.0000001\" is no whole number of bytes");
    both_bad(&field, "1.5", "1.5 is no whole number of bytes");
    both_bad(&field, "0.9999999", "0.9999999 is no whole number of bytes");
    both_bad(&field, "9300000000000000.5", "9300000000000000.5 is no whole number of bytes");
    both_bad(&field, "-1", "-1 is out of range: at least 0");
    both_bad(&field, "\"5KB\"",
             "\"5KB\" is no quantity: write digits, and k, M, G, T, P, E, Ki, "
             "Mi, Gi, Ti, Pi, Ei or nothing behind them");
    both_bad(&field, "\"\"",
             "\"\" is no quantity: write digits, and k, M, G, T, P, E, Ki, Mi, "
             "Gi, Ti, Pi, Ei or nothing behind them");
    both_bad(&field, "false", "must be a quantity of bytes such as \"512Mi\", not false");
}

static void test_whole_bytes(void **state)
{
    (void)state;
    static const char *const whole[] = {"0",
                                        "0.000",
                                        "0n",
                                        "0.0u",
                                        "5.",
                                        "1.5k",
                                        "1000000u",
                                        "0e-2147483648",
                                        "0e99999999999999999999",
                                        "2000000000n",
                                        "1.0",
                                        "1e3",
                                        "1.5e1",
                                        "10e-1",
                                        "1E",
                                        "1.000k",
                                        ".5Ki",
                                        "1.5Mi",
                                        "0.0009765625Ki",
                                        "+1.25Ki",
                                        "0.5Ei",
                                        "9300000000000000.0"};
    static const char *const broken[] = {"0.9999999",
                                         "999.9999",
                                         "1n",
                                         "1u",
                                         "999999999n",
                                         "1500m",
                                         "1.5",
                                         ".5",
                                         "1.0001k",
                                         "1e-1",
                                         "15e-1",
                                         "1.55e1",
                                         "0.1Ki",
                                         "0.3Mi",
                                         "1.1Gi",
                                         "0.00048828125Ki",
                                         "9300000000000000.5",
                                         "0.0000000001k",
                                         "1.00000000000000000000001Ei"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        if (!app_quantity_is_whole(whole[i]))
            fail_msg("%s is whole", whole[i]);
    }
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        if (app_quantity_is_whole(broken[i]))
            fail_msg("%s is not whole", broken[i]);
    }
}

static void test_U06_cpus(void **state)
{
    (void)state;
    const struct nri_app_field field = {.name = "v", .type = NRI_APP_CPUS};
    both_text(&field, "\"3,1,0-2, 8\"", "0-3,8");
    both_text(&field, "\"\"", "");
    both_text(&field, "5", "5");
    text(&field, false, "0-3,8", "0-3,8");
    text(&field, false, "1048575", "1048575");
    bad(&field, false, "3-1",
        "cpuset \"3-1\": wrong at offset 0: a range must ascend, such as \"0-3\"");
    bad(&field, false, "1.5",
        "cpuset \"1.5\": wrong at offset 1: must be numbers and ranges with "
        "commas between, such as \"0-3,7\"");
    both_bad(&field, "1048576",
             "cpuset \"1048576\": wrong at offset 0: no number may be above 1048575");
    both_bad(&field, "[1]", "must be a CPU list such as \"0-3,8\", not a list");
}

static void test_U06_choice(void **state)
{
    (void)state;
    static const char *const names[] = {"off", "warn", "true", NULL};
    const struct nri_app_field field = {.name = "v", .type = NRI_APP_CHOICE, .choices = names};
    int32_t found;
    good(&field, true, "\"off\"", &found, sizeof found);
    assert_int_equal(found, 0);
    good(&field, false, "warn", &found, sizeof found);
    assert_int_equal(found, 1);
    good(&field, false, "\"true\"", &found, sizeof found);
    assert_int_equal(found, 2);
    both_bad(&field, "\"Off\"", "must be \"off\", \"warn\" or \"true\", not the text \"Off\"");
    both_bad(&field, "true", "must be \"off\", \"warn\" or \"true\", not true");
    both_bad(&field, "1", "must be \"off\", \"warn\" or \"true\", not the number 1");
}

static void test_U06_texts(void **state)
{
    (void)state;
    const struct nri_app_field field = {.name = "v", .type = NRI_APP_TEXTS};
    char error[APP_CONFIG_TEXT];
    static const char *const forms[] = {"{\"v\": [\"a\", \"\"]}", "v: [a, \"\"]\n",
                                        "v:\n  - a\n  - ''\n", "v:\n- a\n- !!str\n"};
    for (size_t i = 0; i < 4; i++) {
        struct app_config *config = one_read(&field, forms[i], error);
        assert_non_null(config);
        const struct nri_app_texts *texts = app_config_values(config);
        assert_int_equal(texts->count, 2);
        assert_string_equal(texts->texts[0], "a");
        assert_string_equal(texts->texts[1], "");
        app_config_free(config);
    }
    struct nri_app_texts none;
    good(&field, true, "[]", &none, sizeof none);
    assert_int_equal(none.count, 0);
    both_bad(&field, "\"a\"", "must be a list of texts, not the text \"a\"");
    both_bad(&field, "[\"a\", 5]",
             "element 2 must be a text, not the number 5: write quotes around it");
    both_bad(&field, "[null]", "element 1 must be a text, not null");
    assert_null(one_read(&field, "v:\n  - a\n  - b\n  - {c: d}\n", error));
    assert_string_equal(error, "conf:4: v: element 3 must be a text, not an object");
}

static void test_document(void **state)
{
    (void)state;
    const struct nri_app_field field = {.name = "v", .type = NRI_APP_DOCUMENT};
    both_text(&field, "{\"b\": [1, 2.50, null, true], \"a\": {\"z\": \"\\u007f\\n\", \"\": false}}",
              "{\"a\":{\"\":false,\"z\":\"\\u007f\\n\"},\"b\":[1,2.50,null,true]}");
    both_text(&field, "[]", "[]");
    both_text(&field, "-0.0", "-0.0");
    text(&field, false, "{b: +.5, a: 0xff, 5: ~}", "{\"5\":null,\"a\":255,\"b\":0.5}");
    text(&field, true, "\"\\u2028\\ufeff\\u0085\\uD83D\\uDE00\"",
         "\"\\u2028\\ufeff\\u0085\xf0\x9f\x98\x80\"");
    text(&field, true, "null", "null"); /* as not given */
}

static void test_standards(void **state)
{
    (void)state;
    struct app_config *config;
    const struct settings *settings = settings_good(&config, NULL);
    assert_false(settings->flag);
    assert_int_equal(settings->workers, 4);
    assert_true(settings->ratio >= 0.5 && settings->ratio <= 0.5);
    assert_string_equal(settings->greeting, "hello");
    assert_string_equal(settings->token, "");
    assert_int_equal(settings->request, 2000000000);
    assert_int_equal(settings->connect, 0);
    assert_int_equal(settings->memory, 1 << 30);
    assert_string_equal(settings->cpus, "");
    assert_int_equal(settings->mode, 1);
    assert_int_equal(settings->names.count, 2);
    assert_string_equal(settings->names.texts[1], "b");
    assert_string_equal(settings->rules, "null");
    assert_null(app_config_paths(config)[0]);
    app_config_free(config);
    app_config_free(NULL);
}

/* The case's own example: 25 s are 25 s. */
static void test_U06_valid(void **state)
{
    (void)state;
    struct app_config *config;
    assert_int_equal(settings_good(&config, "timeouts:\n  request: 25s\n")->request,
                     INT64_C(25000) * 1000000);
    app_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_U06_bool),          cmocka_unit_test(test_U06_integer),
        cmocka_unit_test(test_U06_integer_range), cmocka_unit_test(test_U06_number),
        cmocka_unit_test(test_U06_text),          cmocka_unit_test(test_U06_duration),
        cmocka_unit_test(test_U06_bytes),         cmocka_unit_test(test_whole_bytes),
        cmocka_unit_test(test_U06_cpus),          cmocka_unit_test(test_U06_choice),
        cmocka_unit_test(test_U06_texts),         cmocka_unit_test(test_document),
        cmocka_unit_test(test_standards),         cmocka_unit_test(test_U06_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
