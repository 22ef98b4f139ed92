/* SPDX-License-Identifier: Apache-2.0 */
/* What errors show: no secret, nothing without end, nothing that could be taken for something
 * else. */
#include "config_fixture.h"

#include "app/config_error.h"

static void test_quote(void **state)
{
    (void)state;
    char out[APP_QUOTE], text[200];
    assert_string_equal(app_quote(out, ""), "\"\"");
    assert_string_equal(app_quote(out, "a\"\\\n\x7f"), "\"a\\\"\\\\\\x0a\\x7f\"");
    assert_string_equal(app_quote(out, "\xc3\xa9"), "\"\xc3\xa9\"");
    memset(text, 'a', sizeof text);
    text[63] = '\0';
    assert_int_equal(strlen(app_quote(out, text)), 65);
    text[63] = 'a';
    text[199] = '\0';
    assert_int_equal(strlen(app_quote(out, text)), 1 + 63 + 4);
    assert_string_equal(out + 64, "...\"");
    /* Not within a character, but a text of no characters does not go on for ever either. */
    memcpy(text + 62, "\xf0\x9f\x98\x80", 4);
    app_quote(out, text);
    assert_string_equal(out + 63, "\xf0\x9f\x98\x80...\"");
    memset(text, 0xBF, 199);
    assert_true(strlen(app_quote(out, text)) < APP_QUOTE);
    memset(text, '\n', 199);
    assert_true(strlen(app_quote(out, text)) < APP_QUOTE);
}

static void test_secrets(void **state)
{
    (void)state;
    static const char *const names[] = {"x", NULL};
    static const struct {
        int32_t type;
        const char *value;
    } cases[] = {
        {NRI_APP_BOOL, "hunter2"},
        {NRI_APP_BOOL, "'true'"},
        {NRI_APP_INTEGER, "hunter2"},
        {NRI_APP_INTEGER, "4711.5"},
        {NRI_APP_INTEGER, "47111111111111111111111"},
        {NRI_APP_NUMBER, "hunter2"},
        {NRI_APP_NUMBER, "4711e999"},
        {NRI_APP_TEXT, "4711"},
        {NRI_APP_DURATION, "4711"},
        {NRI_APP_DURATION, "'4711'"},
        {NRI_APP_BYTES, "hunter2"},
        {NRI_APP_BYTES, "4711m"},
        {NRI_APP_BYTES, "-4711"},
        {NRI_APP_CPUS, "hunter2"},
        {NRI_APP_CHOICE, "hunter2"},
        {NRI_APP_TEXTS, "hunter2"},
        {NRI_APP_TEXTS, "[4711]"},
        {NRI_APP_INTEGER, "47112"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct nri_app_field field = {
            .name = "v",
            .type = cases[i].type,
            .secret = 1,
            .choices = cases[i].type == NRI_APP_CHOICE ? names : NULL,
            .maximum = cases[i].type == NRI_APP_INTEGER ? "9" : NULL,
        };
        char text[64], error[APP_CONFIG_TEXT] = "";
        snprintf(text, sizeof text, "v: %s", cases[i].value);
        assert_null(one_read(&field, text, error));
        assert_int_equal(strncmp(error, "conf:1: v: ", 11), 0);
        if (strstr(error, "hunter2") != NULL || strstr(error, "4711") != NULL)
            fail_msg("shown: %s", error);
    }
    settings_bad("token: 5\n",
                 "conf:1: token: must be a text, not a number: write quotes around it");
}

static void test_long(void **state)
{
    (void)state;
    char text[3000] = "{\"workers\": \"", error[APP_CONFIG_TEXT];
    size_t used = strlen(text);
    memset(text + used, 'a', 2900);
    strcpy(text + used + 2900, "\"}");
    snprintf(error, sizeof error,
             "conf:1: workers: must be a whole number, not the text \"%.63s...\"", text + used);
    settings_bad(text, error);
    /* A name of a source as long as a path may be leaves room for the reason. */
    struct app_config_sources sources = {.configure = "workers: x", .configure_name = text + used};
    struct app_config *config;
    text[used + 2900] = '\0';
    assert_int_equal(app_config_read(&config, settings_fields, settings_count,
                                     sizeof(struct settings), &sources, error),
                     -1);
    assert_string_equal(error + 400, ":1: workers: must be a whole number, not the text \"x\"");
}

/* More choices than an error has room for. */
static void test_many_choices(void **state)
{
    (void)state;
    static char texts[200][16];
    const char *names[201] = {NULL};
    for (size_t i = 0; i < 200; i++) {
        snprintf(texts[i], sizeof texts[i], "choice-%zu", i);
        names[i] = texts[i];
    }
    const struct nri_app_field field = {.name = "v", .type = NRI_APP_CHOICE, .choices = names};
    char error[APP_CONFIG_TEXT] = "";
    assert_null(one_read(&field, "v: x", error));
    assert_int_equal(strncmp(error, "conf:1: v: must be \"choice-0\", \"choice-1\", ", 43), 0);
    assert_non_null(strstr(error, ", ... and others, not the text \"x\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quote),
        cmocka_unit_test(test_secrets),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_many_choices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
