/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

static const char *const bind_ro[] = {"rbind", "ro"};

static void check_mount(const adjustment_message *message, size_t index, const char *destination,
                        const char *type, const char *source, size_t option_count)
{
    assert_true(index < message->n_mounts);
    assert_string_equal(message->mounts[index]->destination, destination);
    assert_string_equal(message->mounts[index]->type, type);
    assert_string_equal(message->mounts[index]->source, source);
    assert_int_equal(message->mounts[index]->n_options, option_count);
}

static void test_add(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    assert_int_equal(nri_adjustment_add_mount(adjustment, "/data", "bind", "/srv/data", bind_ro, 2),
                     0);
    assert_int_equal(nri_adjustment_add_mount(adjustment, "/tmp", "tmpfs", "tmpfs", NULL, 0), 0);
    assert_int_equal(nri_adjustment_add_mount(adjustment, "/none", NULL, NULL, NULL, 0), 0);
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->n_mounts, 3);
    check_mount(message, 0, "/data", "bind", "/srv/data", 2);
    assert_string_equal(message->mounts[0]->options[0], "rbind");
    assert_string_equal(message->mounts[0]->options[1], "ro");
    check_mount(message, 1, "/tmp", "tmpfs", "tmpfs", 0);
    check_mount(message, 2, "/none", "", "", 0);
}

static void test_remove_and_replace(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    assert_int_equal(nri_adjustment_remove_mount(adjustment, "/a"), 0);
    assert_int_equal(nri_adjustment_replace_mount(adjustment, "/b", "bind", "/srv/b", bind_ro, 1),
                     0);
    assert_int_equal(nri_adjustment_add_mount(adjustment, "/b", "bind", "/srv/c", NULL, 0), 0);
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->n_mounts, 3);
    check_mount(message, 0, "-/a", "", "", 0);
    check_mount(message, 1, "-/b", "", "", 0);
    check_mount(message, 2, "/b", "bind", "/srv/c", 0);
    assert_int_equal(nri_adjustment_remove_mount(adjustment, "/b"), 0);
    message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->n_mounts, 2);
}

struct refusal {
    const char *destination, *type, *source;
    const char *const *options;
    size_t option_count;
    int code;
    const char *text;
};

static const char *const with_empty[] = {"ro", ""};
static const char *const with_null[] = {NULL};
static const char *const with_bad[] = {"\xff"};
static const char *const with_bind[] = {"bind"};

static const struct refusal refusals[] = {
    {"data", "bind", "/s", NULL, 0, NRI_E_INVALID,
     "mount destination \"data\": must be an absolute path"},
    {"", NULL, NULL, NULL, 0, NRI_E_INVALID, "mount destination \"\": must not be empty"},
    {NULL, NULL, NULL, NULL, 0, NRI_E_INVALID, "mount destination NULL: must be a text"},
    {"-/data", NULL, NULL, NULL, 0, NRI_E_INVALID,
     "mount destination \"-/data\": must be an absolute path"},
    {"/\xff", NULL, NULL, NULL, 0, NRI_E_UTF8,
     "mount destination \"/\\xff\": must be UTF-8; the byte at offset 1 is not"},
    {"/d", "\xff", NULL, NULL, 0, NRI_E_UTF8,
     "mount \"/d\": type \"\\xff\": must be UTF-8; the byte at offset 0 is not"},
    {"/d", NULL, "\xff", NULL, 0, NRI_E_UTF8,
     "mount \"/d\": source \"\\xff\": must be UTF-8; the byte at offset 0 is not"},
    {"/d", "bind", "rel", NULL, 0, NRI_E_INVALID,
     "mount \"/d\": source \"rel\": of a bind mount must be an absolute path or empty"},
    {"/d", NULL, "rel", with_bind, 1, NRI_E_INVALID,
     "mount \"/d\": source \"rel\": of a bind mount must be an absolute path or empty"},
    {"/d", NULL, "rel", bind_ro, 2, NRI_E_INVALID,
     "mount \"/d\": source \"rel\": of a bind mount must be an absolute path or empty"},
    {"/d", NULL, NULL, with_empty, 2, NRI_E_INVALID,
     "mount \"/d\": option[1] \"\": must not be empty"},
    {"/d", NULL, NULL, with_null, 1, NRI_E_INVALID, "mount \"/d\": option[0] NULL: must be a text"},
    {"/d", NULL, NULL, with_bad, 1, NRI_E_UTF8,
     "mount \"/d\": option[0] \"\\xff\": must be UTF-8; the byte at offset 0 is not"},
    {"/d", NULL, NULL, NULL, 3, NRI_E_INVALID,
     "mount \"/d\": options NULL: must be as many texts as option_count says"},
};

static void test_refusals(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const struct refusal *r = &refusals[i];
        nri_adjustment_clear_error(adjustment);
        assert_int_equal(nri_adjustment_add_mount(adjustment, r->destination, r->type, r->source,
                                                  r->options, r->option_count),
                         r->code);
        assert_string_equal(nri_adjustment_error_text(adjustment), r->text);
        assert_int_equal(nri_adjustment_replace_mount(adjustment, r->destination, r->type,
                                                      r->source, r->options, r->option_count),
                         r->code);
    }
    assert_int_equal(nri_adjustment_remove_mount(adjustment, "rel"), NRI_E_INVALID);
    assert_int_equal(nri_adjustment_remove_mount(adjustment, NULL), NRI_E_INVALID);
    assert_null(nri_adjustment_message(adjustment));
}

static void test_bind_source_may_be_empty(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    assert_int_equal(nri_adjustment_add_mount(adjustment, "/a", "bind", "", NULL, 0), 0);
    assert_int_equal(nri_adjustment_add_mount(adjustment, "/b", "bind", NULL, NULL, 0), 0);
    assert_int_equal(nri_adjustment_add_mount(adjustment, "/c", "nfs", "host:/path", NULL, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_add, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_remove_and_replace, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_refusals, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_bind_source_may_be_empty, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
