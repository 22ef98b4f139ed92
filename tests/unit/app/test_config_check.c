/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of fields: what their author can have wrong. */
#include "config_fixture.h"

#include "app/config_key.h"

#define SIZE 64

static void good(const struct nri_app_field *fields, size_t count)
{
    char text[APP_CONFIG_TEXT] = "";
    if (app_config_check_table(fields, count, SIZE, text) != 0)
        fail_msg("%s", text);
}

static void bad(const struct nri_app_field *fields, size_t count, const char *error)
{
    char text[APP_CONFIG_TEXT] = "";
    struct app_config_sources sources = {0};
    struct app_config *config;
    assert_int_equal(app_config_check_table(fields, count, SIZE, text), -1);
    assert_string_equal(text, error);
    /* Nothing is read with such a table. */
    text[0] = '\0';
    assert_int_equal(app_config_read(&config, fields, count, SIZE, &sources, text), -1);
    assert_null(config);
    assert_string_equal(text, error);
}

static void test_good(void **state)
{
    (void)state;
    char text[APP_CONFIG_TEXT];
    good(NULL, 0);
    assert_int_equal(
        app_config_check_table(settings_fields, settings_count, sizeof(struct settings), text), 0);
    /* Names that begin alike are no objects of one another. */
    const struct nri_app_field fields[] = {
        {.name = "a", .type = NRI_APP_BOOL},
        {.name = "ab", .type = NRI_APP_BOOL, .offset = 1},
        {.name = "a-b.c_d/e", .type = NRI_APP_BOOL, .offset = 2},
        {.name = "last", .type = NRI_APP_TEXTS, .offset = SIZE - sizeof(struct nri_app_texts)},
    };
    good(fields, 4);
}

static void test_names(void **state)
{
    (void)state;
    char name[APP_KEY_LENGTH + 2], error[APP_CONFIG_TEXT];
    const char *const names[] = {"",   ".",  ".a",   "a.",       "a..b", "a b",
                                 "a:", "-a", "a.-b", "\xc3\xa9", name};
    memset(name, 'n', sizeof name);
    name[APP_KEY_LENGTH + 1] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct nri_app_field field = {.name = names[i], .type = NRI_APP_BOOL};
        snprintf(error, sizeof error,
                 "field %s: a name has 1 to 128 letters, digits and signs of \"_-/.\"; each part "
                 "between points has some, and not \"-\" first",
                 names[i]);
        bad(&field, 1, error);
    }
    name[APP_KEY_LENGTH] = '\0';
    good(&(struct nri_app_field){.name = name, .type = NRI_APP_BOOL}, 1);
    bad(&(struct nri_app_field){.type = NRI_APP_BOOL}, 1, "field 0: has no name");
}

static void test_names_together(void **state)
{
    (void)state;
    struct nri_app_field fields[] = {
        {.name = "a", .type = NRI_APP_BOOL},
        {.name = "a", .type = NRI_APP_BOOL, .offset = 1},
    };
    bad(fields, 2, "field a: the name is there twice");
    fields[1].name = "a.b";
    bad(fields, 2, "field a: the name is also that of an object with fields");
    fields[0].name = "a.b.c";
    bad(fields, 2, "field a.b: the name is also that of an object with fields");
    fields[1].name = NULL;
    bad(fields, 2, "field 1: has no name");
}

static void test_places(void **state)
{
    (void)state;
    struct nri_app_field fields[] = {
        {.name = "a", .type = NRI_APP_INTEGER, .offset = 8},
        {.name = "b", .type = NRI_APP_BOOL, .offset = 15},
    };
    bad(fields, 2, "field b: is kept where a is");
    fields[1].offset = 16;
    good(fields, 2);
    fields[1].offset = 7;
    good(fields, 2);
    fields[1].type = NRI_APP_TEXT;
    bad(fields, 2, "field b: is kept where a is");
    fields[0].offset = SIZE - 8;
    good(fields, 1);
    fields[0].offset = SIZE - 7;
    bad(fields, 1, "field a: the offset is behind the end of the configuration");
    fields[0].offset = SIZE_MAX;
    bad(fields, 1, "field a: the offset is behind the end of the configuration");
}

static void test_types(void **state)
{
    (void)state;
    static const int32_t none[] = {0, -1, 11, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        bad(&(struct nri_app_field){.name = "a", .type = none[i]}, 1,
            "field a: its type is none of enum nri_app_type");
}

static void test_choices(void **state)
{
    (void)state;
    static const char *const twice[] = {"x", "y", "x", NULL}, *const none[] = {NULL};
    bad(&(struct nri_app_field){.name = "a", .type = NRI_APP_CHOICE}, 1,
        "field a: NRI_APP_CHOICE needs choices");
    bad(&(struct nri_app_field){.name = "a", .type = NRI_APP_CHOICE, .choices = none}, 1,
        "field a: NRI_APP_CHOICE needs choices");
    bad(&(struct nri_app_field){.name = "a", .type = NRI_APP_CHOICE, .choices = twice}, 1,
        "field a: a choice is there twice");
    bad(&(struct nri_app_field){.name = "a", .type = NRI_APP_TEXT, .choices = twice}, 1,
        "field a: only NRI_APP_CHOICE has choices");
    bad(
        &(struct nri_app_field){
            .name = "a", .type = NRI_APP_CHOICE, .choices = twice + 1, .standard = "z"},
        1, "standard: a: must be \"y\" or \"x\", not the text \"z\"");
}

static void test_standards(void **state)
{
    (void)state;
    static const struct {
        int32_t type;
        const char *standard, *error;
    } cases[] = {
        {NRI_APP_BOOL, "yes", "standard: a: JSON:1:1: expected a value, found 'y'"},
        {NRI_APP_BOOL, "1", "standard: a: must be true or false, not the number 1"},
        {NRI_APP_INTEGER, "1.5", "standard: a: must be a whole number, not the number 1.5"},
        {NRI_APP_NUMBER, "", "standard: a: JSON:1:1: expected a value, found the end of the text"},
        {NRI_APP_DURATION, "5",
         "standard: a: \"5\" has no unit: write ns, us, ms, s, m or h behind the number"},
        {NRI_APP_BYTES, "0.5", "standard: a: \"0.5\" is no whole number of bytes"},
        {NRI_APP_CPUS, "a",
         "standard: a: cpuset \"a\": wrong at offset 0: must be numbers and ranges with commas "
         "between, such as \"0-3,7\""},
        {NRI_APP_TEXTS, "\"x\"", "standard: a: must be a list of texts, not the text \"x\""},
        {NRI_APP_DOCUMENT, "{",
         "standard: a: JSON:1:2: expected a key in quotation marks or '}', found the end of the "
         "text"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        bad(&(struct nri_app_field){.name = "a",
                                    .type = cases[i].type,
                                    .standard = cases[i].standard},
            1, cases[i].error);
    bad(
        &(struct nri_app_field){
            .name = "a", .type = NRI_APP_BOOL, .standard = "true", .required = 1},
        1, "field a: it is required and has a standard value, which it cannot have then");
}

static void test_limits(void **state)
{
    (void)state;
    struct nri_app_field field = {
        .name = "a", .type = NRI_APP_DURATION, .minimum = "1s", .maximum = "1s", .standard = "1s"};
    good(&field, 1);
    field.standard = "2s";
    bad(&field, 1, "standard: a: \"2s\" is out of range: 1s to 1s");
    field.maximum = "999ms";
    bad(&field, 1, "maximum: a: \"999ms\" is out of range: at least 1s");
    field.maximum = "x";
    bad(&field, 1,
        "maximum: a: \"x\" is no duration: write digits and a unit, such as \"250ms\", \"1.5s\", "
        "\"2m\" or \"1h\"");
    field.minimum = "1";
    field.maximum = "2s";
    bad(&field, 1, "minimum: a: \"1\" has no unit: write ns, us, ms, s, m or h behind the number");
    field.maximum = NULL;
    bad(&field, 1, "minimum: a: \"1\" has no unit: write ns, us, ms, s, m or h behind the number");
    /* The standard of a field that has none is nothing that a limit holds for. */
    field.minimum = "1s";
    field.standard = NULL;
    good(&field, 1);
    field.type = NRI_APP_TEXT;
    bad(&field, 1, "field a: its type has no minimum and maximum");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),           cmocka_unit_test(test_names),
        cmocka_unit_test(test_names_together), cmocka_unit_test(test_places),
        cmocka_unit_test(test_types),          cmocka_unit_test(test_choices),
        cmocka_unit_test(test_standards),      cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
