/* SPDX-License-Identifier: Apache-2.0 */
/* What is one value: cgroup path, OOM score adjustment, I/O priority. */
#include "refusal.h"

static void test_cgroups_path(void **state)
{
    nri_adjustment *a = fixture_make(*state);
    REFUSED(a, nri_adjustment_set_cgroups_path(a, NULL), NRI_E_INVALID,
            "cgroups path NULL: must be a text");
    REFUSED(a, nri_adjustment_set_cgroups_path(a, ""), NRI_E_INVALID,
            "cgroups path \"\": must not be empty");
    REFUSED(a, nri_adjustment_set_cgroups_path(a, "\xff"), NRI_E_UTF8,
            "cgroups path \"\\xff\": must be UTF-8; the byte at offset 0 is not");
    OK(nri_adjustment_set_cgroups_path(a, "/kubepods/x"));
    OK(nri_adjustment_set_cgroups_path(a, "system.slice:cri:1"));
    const adjustment_message *message = fixture_adjustment(*state, a);
    assert_string_equal(message->linux->cgroups_path, "system.slice:cri:1");
}

static void test_oom_score_adj(void **state)
{
    static const int64_t good[] = {-1000, 0, 1000};
    nri_adjustment *a = fixture_make(*state);
    REFUSED(a, nri_adjustment_set_oom_score_adj(a, 1001), NRI_E_RANGE,
            "oom_score_adj 1001: must be -1000 to 1000");
    REFUSED(a, nri_adjustment_set_oom_score_adj(a, -1001), NRI_E_RANGE,
            "oom_score_adj -1001: must be -1000 to 1000");
    for (size_t i = 0; i < 3; i++) {
        OK(nri_adjustment_set_oom_score_adj(a, good[i]));
        const adjustment_message *message = fixture_adjustment(*state, a);
        assert_non_null(message->linux->oom_score_adj); /* 0, too */
        assert_int_equal(message->linux->oom_score_adj->value, good[i]);
    }
}

static int set_io(nri_adjustment *adjustment, int ioprio_class, int32_t priority)
{
    return nri_adjustment_set_io_priority(adjustment, (enum nri_ioprio_class)ioprio_class,
                                          priority);
}

static void test_io_priority(void **state)
{
    nri_adjustment *a = fixture_make(*state);
    REFUSED(a, set_io(a, 4, 0), NRI_E_RANGE, "I/O priority class 4: must be 0 to 3");
    REFUSED(a, set_io(a, -1, 0), NRI_E_RANGE, "I/O priority class -1: must be 0 to 3");
    REFUSED(a, set_io(a, 2, 8), NRI_E_RANGE, "I/O priority 8: must be 0 (highest) to 7");
    REFUSED(a, set_io(a, 2, -1), NRI_E_RANGE, "I/O priority -1: must be 0 (highest) to 7");
    REFUSED(a, set_io(a, NRI_IOPRIO_CLASS_NONE, 1), NRI_E_RANGE,
            "I/O priority 1: must be 0 with IOPRIO_CLASS_NONE");
    REFUSED(a, set_io(a, NRI_IOPRIO_CLASS_NONE, 7), NRI_E_RANGE,
            "I/O priority 7: must be 0 with IOPRIO_CLASS_NONE");
    for (int ioprio_class = 1; ioprio_class <= 3; ioprio_class++) {
        OK(set_io(a, ioprio_class, 7 - ioprio_class));
        const adjustment_message *message = fixture_adjustment(*state, a);
        assert_int_equal(message->linux->io_priority->class_, ioprio_class);
        assert_int_equal(message->linux->io_priority->priority, 7 - ioprio_class);
    }
    OK(set_io(a, NRI_IOPRIO_CLASS_NONE, 0)); /* an empty message, which clears */
    assert_non_null(fixture_adjustment(*state, a)->linux->io_priority);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_cgroups_path),
        WITH_FIXTURE(test_oom_score_adj),
        WITH_FIXTURE(test_io_priority),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
