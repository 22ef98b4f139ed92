/* SPDX-License-Identifier: Apache-2.0 */
/* YAML and JSON as texts: what is refused of them, and where. */
#include "config_fixture.h"

#include "app/config_tree.h"

static void test_syntax(void **state)
{
    (void)state;
    settings_bad(
        "flag: true\n\tworkers: 5\n",
        "conf:2:1: found a tab character that violates indentation, while scanning a plain scalar");
    settings_bad("flag: true\n workers: 5\n",
                 "conf:2:9: mapping values are not allowed in this context");
    settings_bad("names: [a,\n",
                 "conf:2:1: did not find expected node content, while parsing a flow node");
    settings_bad("greeting: \"abc\n",
                 "conf:2:1: found unexpected end of stream, while scanning a quoted scalar");
    settings_bad("greeting: \"\\q\"\n",
                 "conf:1:12: found unknown escape character, while parsing a quoted scalar");
    settings_bad(
        "greeting: \"\\ud800\"\n",
        "conf:1:14: found invalid Unicode character escape code, while parsing a quoted scalar");
    settings_bad("greeting: %a\n", "conf:1:11: found character that cannot start any token, while "
                                   "scanning for the next token");
    settings_bad("%YAML 3.0\n---\nflag: true\n", "conf:1:1: found incompatible YAML document");
    settings_bad("workers: 1\ngreeting: \xff\n", "conf:2:11: invalid leading UTF-8 octet");
    settings_bad("workers: 1\ngreeting: a\x01\n", "conf:2:12: control characters are not allowed");
    settings_bad("\xff\xfe", "conf:1:1: invalid leading UTF-8 octet");
}

static void test_refused(void **state)
{
    (void)state;
    settings_bad("rules: &a [1]\nnames: *a\n",
                 "conf:2:8: an alias is not taken: write out what it stands for");
    settings_bad("<<: *a\n", "conf:1:5: an alias is not taken: write out what it stands for");
    settings_bad("workers: 1\n---\nworkers: 2\n",
                 "conf:2:1: a second document begins: only one is taken");
    settings_bad("[a]: 1\n", "conf:1:1: a key must be a text, not a list or an object");
    settings_bad("rules: {{a: b}: c}\n", "conf:1:9: a key must be a text, not a list or an object");
    settings_bad("workers: !!int 5\n", "conf:1:10: of the tags of scalars only !!str is taken");
    settings_bad("rules: !mine\n  - a\n",
                 "conf:1:8: of the tags of lists and objects only !!seq and "
                 "!!map are taken, each for its own");
    settings_bad("rules: !!map [a]\n", "conf:1:8: of the tags of lists and objects only !!seq and "
                                       "!!map are taken, each for its own");
    settings_bad("greeting: \"\\0\"\n", "conf:1:11: a text may not hold a NUL");
    settings_bad("\"a\\0\": 1\n", "conf:1:1: a text may not hold a NUL");
    settings_bad("rules: .nan\n",
                 "conf:1:8: an infinite number, or none at all, is not taken: write "
                 "quotes for a text");
    settings_bad("rules: -.INF\n", "conf:1:8: an infinite number, or none at all, is not taken: "
                                   "write quotes for a text");
    settings_bad("workers: 010\n",
                 "conf:1:10: a number begins with 0, which readers of YAML take in two ways: leave "
                 "the 0 out, write 0o for an octal number, or quotes for a text");
    settings_bad("rules: 0x10000000000000000\n",
                 "conf:1:8: a number with 0x or 0o is over 64 bits");
    settings_bad("rules: 0o2000000000000000000000\n",
                 "conf:1:8: a number with 0x or 0o is over 64 bits");
}

static void test_taken(void **state)
{
    (void)state;
    struct app_config *config;
    const struct settings *settings =
        settings_good(&config, "\xef\xbb\xbfworkers: 9 # behind a mark of the order of bytes\n");
    assert_int_equal(settings->workers, 9);
    app_config_free(config);
    settings = settings_good(&config, "--- !!map\nrules: &unused !!seq\r\n  - 'x'\r\n"
                                      "names: ! [a]\ngreeting: >\n  two\n  lines\n...\n");
    assert_string_equal(settings->rules, "[\"x\"]");
    assert_string_equal(settings->greeting, "two lines\n");
    assert_int_equal(settings->names.count, 1);
    app_config_free(config);
}

/* Scalars of the core schema, as a document shows them. */
static void test_scalars(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *json;
    } cases[] = {
        {"~", "null"},
        {"NULL", "null"},
        {"nULL", "\"nULL\""},
        {"true", "true"},
        {"TRUE", "true"},
        {"False", "false"},
        {"fAlse", "\"fAlse\""},
        {"yes", "\"yes\""},
        {"No", "\"No\""},
        {"0", "0"},
        {"-0", "-0"},
        {"+0", "0"},
        {"0x0", "0"},
        {"0xFFFFFFFFFFFFFFFF", "18446744073709551615"},
        {"0o777", "511"},
        {"0o8", "\"0o8\""},
        {"0x", "\"0x\""},
        {"-0x1", "\"-0x1\""},
        {"0X1", "\"0X1\""},
        {"1_000", "\"1_000\""},
        {"1.", "1"},
        {".5", "0.5"},
        {"-.5e-3", "-0.5e-3"},
        {"+1.50E+2", "1.50E+2"},
        {"1e5", "1e5"},
        {"e5", "\"e5\""},
        {"1e+", "\"1e+\""},
        {"-", "\"-\""},
        {"+", "\"+\""},
        {".", "\".\""},
        {"..", "\"..\""},
        {"1:30", "\"1:30\""},
        {"2001-01-01", "\"2001-01-01\""},
        {"<<", "\"<<\""},
        {"=", "\"=\""},
        {"\"5\"", "\"5\""},
        {"'~'", "\"~\""},
        {"123456789012345678901234567890", "123456789012345678901234567890"},
        {"a#b", "\"a#b\""},
    };
    const struct nri_app_field field = {.name = "v", .type = NRI_APP_DOCUMENT};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128], error[APP_CONFIG_TEXT] = "";
        snprintf(text, sizeof text, "v: [%s, 1]", cases[i].yaml);
        struct app_config *config = one_read(&field, text, error);
        if (config == NULL)
            fail_msg("%s: %s", cases[i].yaml, error);
        char wanted[128];
        snprintf(wanted, sizeof wanted, "[%s,1]", cases[i].json);
        assert_string_equal(*(const char *const *)app_config_values(config), wanted);
        app_config_free(config);
    }
}

/* ---- limits ---- */

/* "rules: [[...]]" with lists `depth` deep in the outermost object. */
static void nest(char *text, bool json, size_t depth)
{
    strcpy(text, json ? "{\"rules\": " : "rules: ");
    size_t used = strlen(text);
    memset(text + used, '[', depth);
    memset(text + used + depth, ']', depth);
    strcpy(text + used + 2 * depth, json ? "}" : "");
}

static void test_depth(void **state)
{
    (void)state;
    char text[4200];
    struct app_config *config;
    for (int json = 0; json < 2; json++) {
        nest(text, json != 0, APP_TREE_MAX_DEPTH - 1);
        settings_good(&config, text);
        app_config_free(config);
    }
    nest(text, true, APP_TREE_MAX_DEPTH);
    settings_bad(text, "conf:1:42: nested deeper than the limit of 32");
    nest(text, false, APP_TREE_MAX_DEPTH);
    settings_bad(text, "conf:1:39: lists and objects are nested more than 32 deep");
    nest(text, false, 2000);
    settings_bad(text, "conf:1:39: lists and objects are nested more than 32 deep");
}

static void test_count(void **state)
{
    (void)state;
    char *text = malloc(APP_TREE_MAX_VALUES * 2 + 100);
    assert_non_null(text);
    if (text == NULL) /* which the compiler cannot know */
        return;
    for (int json = 0; json < 2; json++) {
        /* Besides the elements: the outermost object and the list. */
        size_t used = (size_t)sprintf(text, json ? "{\"rules\": [" : "rules: [");
        for (size_t i = 0; i < APP_TREE_MAX_VALUES - 2; i++) {
            text[used++] = '1';
            text[used++] = ',';
        }
        struct app_config *config;
        strcpy(text + used - 1, json ? "]}" : "]");
        settings_good(&config, text);
        app_config_free(config);
        strcpy(text + used - 1, json ? ",1]}" : ",1]");
        settings_bad(text, json ? "conf:1:200008: more values than the limit of 100000"
                                : "conf:1: more than 100000 values");
    }
    free(text);
}

/* An object with as many keys as there may be is no reason to wait. */
static void test_many_keys(void **state)
{
    (void)state;
    char *text = malloc(APP_TREE_MAX_BYTES + 1);
    assert_non_null(text);
    if (text == NULL) /* which the compiler cannot know */
        return;
    size_t used = (size_t)sprintf(text, "rules: {");
    for (size_t i = 0; i < 90000; i++)
        used += (size_t)sprintf(text + used, "k%zu: 1,", (i * 7919) % 90000);
    memcpy(text + used - 1, "}", 2);
    struct app_config *config;
    settings_good(&config, text);
    app_config_free(config);
    memcpy(text + used - 1, ",\nk5: 1}", sizeof ",\nk5: 1}");
    settings_bad(text, "conf:2: k5: is there twice; the first is in line 1");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_syntax),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_taken),     cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_depth),     cmocka_unit_test(test_count),
        cmocka_unit_test(test_many_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
