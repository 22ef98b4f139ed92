/* SPDX-License-Identifier: Apache-2.0 */
#include "refusal.h"

struct request {
    int policy;
    int32_t nice, priority;
    uint64_t runtime, deadline, period;
    const char *text; /* NULL: good */
};

static int set(nri_adjustment *adjustment, const struct request *r, const int *flags, size_t count)
{
    return nri_adjustment_set_scheduler(adjustment, (enum nri_scheduler_policy)r->policy, r->nice,
                                        r->priority, flags, count, r->runtime, r->deadline,
                                        r->period);
}

#define NICE     "must be 0 unless the policy is SCHED_OTHER or SCHED_BATCH"
#define PRIORITY "must be 0 unless the policy is SCHED_FIFO or SCHED_RR"
#define MOST     "must be below 2^63 nanoseconds"
#define TIMES    "must be 0 unless the policy is SCHED_DEADLINE"

static const struct request requests[] = {
    {NRI_SCHED_NONE, 0, 0, 0, 0, 0, NULL},
    {NRI_SCHED_OTHER, -20, 0, 0, 0, 0, NULL},
    {NRI_SCHED_BATCH, 19, 0, 0, 0, 0, NULL},
    {NRI_SCHED_FIFO, 0, 1, 0, 0, 0, NULL},
    {NRI_SCHED_RR, 0, 99, 0, 0, 0, NULL},
    {NRI_SCHED_ISO, 0, 0, 0, 0, 0, NULL},
    {NRI_SCHED_IDLE, 0, 0, 0, 0, 0, NULL},
    {NRI_SCHED_DEADLINE, 0, 0, 1024, 1024, 0, NULL},
    {NRI_SCHED_DEADLINE, 0, 0, 1024, 2000, 2000, NULL},
    {NRI_SCHED_DEADLINE, 0, 0, 1024, INT64_MAX, INT64_MAX, NULL},
    {NRI_SCHED_DEADLINE, 0, 0, INT64_MAX, INT64_MAX, 0, NULL},
    {-1, 0, 0, 0, 0, 0, "scheduler policy -1: must be 0 to 7"},
    {8, 0, 0, 0, 0, 0, "scheduler policy 8: must be 0 to 7"},
    {NRI_SCHED_OTHER, -21, 0, 0, 0, 0, "scheduler nice -21: must be -20 to 19"},
    {NRI_SCHED_BATCH, 20, 0, 0, 0, 0, "scheduler nice 20: must be -20 to 19"},
    {NRI_SCHED_NONE, 1, 0, 0, 0, 0, "scheduler nice 1: " NICE},
    {NRI_SCHED_FIFO, 1, 1, 0, 0, 0, "scheduler nice 1: " NICE},
    {NRI_SCHED_IDLE, -1, 0, 0, 0, 0, "scheduler nice -1: " NICE},
    {NRI_SCHED_DEADLINE, 1, 0, 1024, 1024, 0, "scheduler nice 1: " NICE},
    {NRI_SCHED_FIFO, 0, 0, 0, 0, 0,
     "scheduler priority 0: must be 1 to 99 with SCHED_FIFO and SCHED_RR"},
    {NRI_SCHED_RR, 0, 100, 0, 0, 0,
     "scheduler priority 100: must be 1 to 99 with SCHED_FIFO and SCHED_RR"},
    {NRI_SCHED_OTHER, 0, 1, 0, 0, 0, "scheduler priority 1: " PRIORITY},
    {NRI_SCHED_DEADLINE, 0, -1, 1024, 1024, 0, "scheduler priority -1: " PRIORITY},
    {NRI_SCHED_OTHER, 0, 0, 1, 0, 0, "scheduler runtime 1: " TIMES},
    {NRI_SCHED_OTHER, 0, 0, 0, 1, 0, "scheduler deadline 1: " TIMES},
    {NRI_SCHED_OTHER, 0, 0, 0, 0, UINT64_MAX, "scheduler period 18446744073709551615: " TIMES},
    {NRI_SCHED_DEADLINE, 0, 0, 1023, 2000, 0,
     "scheduler runtime 1023: must be 1024 nanoseconds or more with SCHED_DEADLINE"},
    {NRI_SCHED_DEADLINE, 0, 0, 2000, 1999, 0,
     "scheduler deadline 1999: must not be below the runtime, 2000"},
    {NRI_SCHED_DEADLINE, 0, 0, 1024, 2000, 1999,
     "scheduler period 1999: must be 0, or not below the deadline, 2000"},
    {NRI_SCHED_DEADLINE, 0, 0, 1024, 0, 2000,
     "scheduler deadline 0: must not be below the runtime, 1024"},
    {NRI_SCHED_DEADLINE, 0, 0, 1024, UINT64_C(1) << 63, 0,
     "scheduler deadline 9223372036854775808: " MOST},
    {NRI_SCHED_DEADLINE, 0, 0, UINT64_MAX, UINT64_MAX, 0,
     "scheduler deadline 18446744073709551615: " MOST},
    {NRI_SCHED_DEADLINE, 0, 0, 1024, 2000, UINT64_C(1) << 63,
     "scheduler period 9223372036854775808: " MOST},
    {NRI_SCHED_DEADLINE, 0, 0, 1024, 2000, UINT64_MAX,
     "scheduler period 18446744073709551615: " MOST},
};

static void test_rules(void **state)
{
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        const struct request *r = &requests[i];
        nri_adjustment *adjustment = fixture_make(*state);
        if (r->text != NULL) {
            REFUSED(adjustment, set(adjustment, r, NULL, 0), NRI_E_RANGE, r->text);
            continue;
        }
        OK(set(adjustment, r, NULL, 0));
        const adjustment_message *message = fixture_adjustment(*state, adjustment);
        assert_int_equal(message->linux->scheduler->policy, r->policy);
        assert_int_equal(message->linux->scheduler->nice, r->nice);
        assert_int_equal(message->linux->scheduler->priority, r->priority);
        assert_int_equal(message->linux->scheduler->n_flags, 0);
        assert_int_equal(message->linux->scheduler->runtime, r->runtime);
        assert_int_equal(message->linux->scheduler->deadline, r->deadline);
        assert_int_equal(message->linux->scheduler->period, r->period);
    }
}

static void test_flags(void **state)
{
    static const int all[] = {6, 0, 1, 2, 3, 4, 5}, twice[] = {0, 2, 0}, above[] = {0, 7},
                     below[] = {-1};
    const struct request other = {.policy = NRI_SCHED_OTHER};
    nri_adjustment *a = fixture_make(*state);
    REFUSED(a, set(a, &other, twice, 3), NRI_E_INVALID,
            "scheduler flags[2] 0: must be there only once");
    REFUSED(a, set(a, &other, above, 2), NRI_E_RANGE, "scheduler flags[1] 7: must be 0 to 6");
    REFUSED(a, set(a, &other, below, 1), NRI_E_RANGE, "scheduler flags[0] -1: must be 0 to 6");
    REFUSED(a, set(a, &other, NULL, 1), NRI_E_INVALID,
            "scheduler flags NULL: must be as many numbers as the count says");
    OK(set(a, &other, all, 7));
    const adjustment_message *message = fixture_adjustment(*state, a);
    assert_int_equal(message->linux->scheduler->n_flags, 7);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(message->linux->scheduler->flags[i], all[i]);
    OK(set(a, &other, NULL, 0)); /* the whole is replaced */
    assert_int_equal(fixture_adjustment(*state, a)->linux->scheduler->n_flags, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {WITH_FIXTURE(test_rules), WITH_FIXTURE(test_flags)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
