/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configurations as runtimes have them, with an adjustment of everything: what becomes of them
 * stands in files, whole.
 */
#include <stdio.h>

#include "fixture.h"

static const char *directory;

static char *load(const char *name)
{
    char path[1024], *text = calloc(1, 65536);
    assert_non_null(text);
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_true(fread(text, 1, 65535, file) > 0);
    fclose(file);
    return text;
}

static void check_adjusted(const char *name, uint32_t go)
{
    char before[64], after[64], *result;
    struct nri_oci_options options;
    struct nri_json_options json;
    struct fixture_mounts mounts = {"/srv/shared", NRI_PROPAGATION_SHARED, 0, 0};
    nri_error *error = NULL;
    snprintf(before, sizeof before, "%s.json", name);
    snprintf(after, sizeof after, "adjusted/%s%s.json", name, go ? "-go" : "");
    char *document = load(before), *change = load("adjusted/adjustment.json");
    char *expected = load(after);
    nri_oci_options_init(&options, sizeof options);
    nri_json_options_init(&json, sizeof json);
    json.indent = 2;
    options.json = &json;
    options.go_compatible = go;
    const struct fixture_run run = {change, document, false, &options, &mounts};
    const int code = fixture_apply(&run, &result, &error);
    assert_string_equal(nri_error_get_text(error), "");
    assert_int_equal(code, 0);
    expected[strlen(expected) - 1] = '\0'; /* a file ends with a newline */
    if (strcmp(result, expected) != 0)
        fail_msg("%s is:\n%s", after, result);
    nri_json_free(result);
    free(document);
    free(change);
    free(expected);
}

static void test_runc(void **state)
{
    (void)state;
    check_adjusted("runc-1.1.5", 0);
    check_adjusted("runc-1.1.5", 1);
}

static void test_full(void **state)
{
    (void)state;
    check_adjusted("full", 0);
    check_adjusted("full", 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runc),
        cmocka_unit_test(test_full),
    };
    if (argc != 2)
        return 2;
    directory = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
