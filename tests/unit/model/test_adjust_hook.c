/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "refusal.h"

static const char *const args[] = {"tool", "", "-v"};
static const char *const env[] = {"A=1", "B="};

static void test_each_stage(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    const int64_t timeout = 1;
    for (int stage = NRI_HOOK_PRESTART; stage <= NRI_HOOK_POSTSTOP; stage++)
        OK(nri_adjustment_add_hook(adjustment, (enum nri_hook_stage)stage, "/bin/a", NULL, 0, NULL,
                                   0, NULL));
    OK(nri_adjustment_add_hook(adjustment, NRI_HOOK_POSTSTOP, "/bin/b", args, 3, env, 2, &timeout));
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->hooks->n_prestart, 1);
    assert_int_equal(message->hooks->n_create_runtime, 1);
    assert_int_equal(message->hooks->n_create_container, 1);
    assert_int_equal(message->hooks->n_start_container, 1);
    assert_int_equal(message->hooks->n_poststart, 1);
    assert_int_equal(message->hooks->n_poststop, 2);
    assert_string_equal(message->hooks->prestart[0]->path, "/bin/a");
    assert_null(message->hooks->prestart[0]->timeout);
    assert_int_equal(message->hooks->prestart[0]->n_args, 0);
    assert_string_equal(message->hooks->poststop[1]->path, "/bin/b");
    assert_int_equal(message->hooks->poststop[1]->n_args, 3);
    assert_string_equal(message->hooks->poststop[1]->args[0], "tool");
    assert_string_equal(message->hooks->poststop[1]->args[1], "");
    assert_string_equal(message->hooks->poststop[1]->args[2], "-v");
    assert_int_equal(message->hooks->poststop[1]->n_env, 2);
    assert_string_equal(message->hooks->poststop[1]->env[1], "B=");
    assert_int_equal(message->hooks->poststop[1]->timeout->value, 1);
}

/* Hooks add up, the same one too, in the order of the calls. */
static void test_order(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    char path[32];
    for (int i = 0; i < 100; i++) {
        snprintf(path, sizeof path, "/bin/%d", i / 2);
        OK(nri_adjustment_add_hook(adjustment, NRI_HOOK_POSTSTART, path, NULL, 0, NULL, 0, NULL));
    }
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->hooks->n_poststart, 100);
    for (int i = 0; i < 100; i++) {
        snprintf(path, sizeof path, "/bin/%d", i / 2);
        assert_string_equal(message->hooks->poststart[i]->path, path);
    }
}

static int add(nri_adjustment *adjustment, int stage, const char *path)
{
    return nri_adjustment_add_hook(adjustment, (enum nri_hook_stage)stage, path, NULL, 0, NULL, 0,
                                   NULL);
}

static void test_refusals(void **state)
{
    static const char *const nothing[] = {NULL}, *const bad[] = {"a", "\xff"};
    static const char *const no_equals[] = {"A=1", "B"}, *const no_name[] = {"=1"};
    nri_adjustment *a = fixture_make(*state);
    const int64_t zero = 0;
    REFUSED(a, add(a, 1, NULL), NRI_E_INVALID, "hook path NULL: must be a text");
    REFUSED(a, add(a, 1, ""), NRI_E_INVALID, "hook path \"\": must not be empty");
    REFUSED(a, add(a, 1, "bin"), NRI_E_INVALID, "hook path \"bin\": must be an absolute path");
    REFUSED(a, add(a, 1, "/\xff"), NRI_E_UTF8,
            "hook path \"/\\xff\": must be UTF-8; the byte at offset 1 is not");
    REFUSED(a, add(a, 0, "/b"), NRI_E_RANGE, "hook \"/b\": stage 0: must be 1 to 6");
    REFUSED(a, add(a, 7, "/b"), NRI_E_RANGE, "hook \"/b\": stage 7: must be 1 to 6");
    REFUSED(a, nri_adjustment_add_hook(a, NRI_HOOK_POSTSTOP, "/b", NULL, 2, NULL, 0, NULL),
            NRI_E_INVALID, "hook \"/b\": args NULL: must be as many texts as the count says");
    REFUSED(a, nri_adjustment_add_hook(a, NRI_HOOK_POSTSTOP, "/b", nothing, 1, NULL, 0, NULL),
            NRI_E_INVALID, "hook \"/b\": args[0] NULL: must be a text");
    REFUSED(a, nri_adjustment_add_hook(a, NRI_HOOK_POSTSTOP, "/b", bad, 2, NULL, 0, NULL),
            NRI_E_UTF8,
            "hook \"/b\": args[1] \"\\xff\": must be UTF-8; the byte at offset 0 is not");
    REFUSED(a, nri_adjustment_add_hook(a, NRI_HOOK_POSTSTOP, "/b", NULL, 0, NULL, 1, NULL),
            NRI_E_INVALID, "hook \"/b\": env NULL: must be as many texts as the count says");
    REFUSED(a, nri_adjustment_add_hook(a, NRI_HOOK_POSTSTOP, "/b", NULL, 0, no_equals, 2, NULL),
            NRI_E_INVALID, "hook \"/b\": env[1] \"B\": must be a name, \"=\" and a value");
    REFUSED(a, nri_adjustment_add_hook(a, NRI_HOOK_POSTSTOP, "/b", NULL, 0, no_name, 1, NULL),
            NRI_E_INVALID, "hook \"/b\": env[0] \"=1\": must be a name, \"=\" and a value");
    REFUSED(a, nri_adjustment_add_hook(a, NRI_HOOK_POSTSTOP, "/b", NULL, 0, NULL, 0, &zero),
            NRI_E_RANGE, "hook \"/b\": timeout 0: must be 1 second or more");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_each_stage),
        WITH_FIXTURE(test_order),
        WITH_FIXTURE(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
