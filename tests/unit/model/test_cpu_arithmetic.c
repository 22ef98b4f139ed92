/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU arithmetic, checked by what rounding means: the result times the divisor is next to the
 * product, without a division. Products are kept below 2^64 here, or the exact result is known.
 */
#include "fixture.h"

#include <nri/quantity.h>

#define PERIOD 100000u

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 16;
}

/* Rounded down: result * divisor is at most the product, and (result + 1) * divisor is above. */
static void check_down(uint64_t result, uint64_t divisor, uint64_t product)
{
    assert_true(result * divisor <= product);
    assert_true(product - result * divisor < divisor);
}

static void test_shares(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (uint64_t milli = 2; milli <= 256000; milli++) {
        uint64_t shares = nri_cpu_milli_to_shares(milli);
        check_down(shares, 1000, milli * 1024);
        /* Rounding up there makes it the inverse of rounding down here. */
        assert_int_equal(nri_cpu_shares_to_milli(shares), milli);
    }
    assert_int_equal(nri_cpu_milli_to_shares(256001), 262144);
    for (uint64_t shares = 0; shares <= 262144; shares++) {
        uint64_t milli = nri_cpu_shares_to_milli(shares);
        assert_true(milli * 1024 >= shares * 1000);
        assert_true(milli * 1024 - shares * 1000 < 1024);
    }
    for (int i = 0; i < 10000; i++) {
        uint64_t shares = next_random(&seed); /* below 2^48 */
        uint64_t milli = nri_cpu_shares_to_milli(shares);
        assert_true(milli * 1024 >= shares * 1000 && milli * 1024 - shares * 1000 < 1024);
    }
    /* 1024 * 18014398509481984 is 2^64: 1000 times the half of that, and so on. */
    assert_true(nri_cpu_shares_to_milli(UINT64_C(1) << 63) == UINT64_C(9007199254740992000));
    assert_true(nri_cpu_shares_to_milli(UINT64_MAX) == UINT64_C(18014398509481984000));
}

static void test_quota(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int i = 0; i < 100000; i++) {
        uint64_t milli = next_random(&seed) % 1000000 + 10,
                 period = next_random(&seed) % 1000000 + PERIOD;
        int64_t quota = nri_cpu_milli_to_quota(milli, period);
        check_down((uint64_t)quota, 1000, milli * period);
        check_down(nri_cpu_quota_to_milli(quota, period), period, (uint64_t)quota * 1000);
    }
    for (uint64_t milli = 1; milli <= 10; milli++)
        assert_int_equal(nri_cpu_milli_to_quota(milli, 0), 1000);
    assert_int_equal(nri_cpu_milli_to_quota(11, 0), 1100);
    assert_int_equal(nri_cpu_milli_to_quota(11, PERIOD), 1100);
    assert_int_equal(nri_cpu_milli_to_quota(1, 1), 1000);
    assert_int_equal(nri_cpu_quota_to_milli(1100, 0), 11);
    assert_int_equal(nri_cpu_quota_to_milli(1, 0), 0);
    assert_int_equal(nri_cpu_quota_to_milli(0, 0), 0);
    assert_int_equal(nri_cpu_quota_to_milli(INT64_MIN, 0), 0);
}

/* Products over 64 bits whose quotients are known, and those that do not fit. */
static void test_wide_products(void **state)
{
    (void)state;
    const uint64_t half = UINT64_C(1) << 63;
    assert_true(nri_cpu_quota_to_milli(INT64_MAX, half) == 999);
    assert_true(nri_cpu_quota_to_milli(INT64_MAX, INT64_MAX) == 1000);
    assert_true(nri_cpu_quota_to_milli(INT64_MAX, UINT64_MAX) == 499);
    assert_true(nri_cpu_quota_to_milli(INT64_MAX, 1000) == INT64_MAX);
    assert_true(nri_cpu_quota_to_milli(INT64_MAX, 999) == UINT64_C(9232604641496272079));
    assert_true(nri_cpu_quota_to_milli(INT64_MAX, 500) == UINT64_MAX - 1);
    assert_true(nri_cpu_quota_to_milli(INT64_MAX, 499) == UINT64_MAX);
    /* The halves of this product carry into each other. */
    assert_true(nri_cpu_quota_to_milli(INT64_C(1807780923484143615), 1000000) ==
                UINT64_C(1807780923484143));
    assert_true(nri_cpu_milli_to_quota(1000, INT64_MAX) == INT64_MAX);
    assert_true(nri_cpu_milli_to_quota(999, INT64_MAX) == INT64_C(9214148664817921031));
    assert_true(nri_cpu_milli_to_quota(1001, INT64_MAX) == INT64_MAX);
    assert_true(nri_cpu_milli_to_quota(500, UINT64_MAX) == INT64_MAX);
    assert_true(nri_cpu_milli_to_quota(UINT64_MAX, 1) == INT64_C(18446744073709551));
}

/* Each weight has shares that give it, the smallest ones, and more shares are never less weight. */
static void test_weights(void **state)
{
    (void)state;
    for (uint64_t weight = 1; weight <= 10000; weight++) {
        uint64_t shares = nri_cpu_weight_to_shares(weight);
        assert_int_equal(nri_cpu_shares_to_weight(shares), weight);
        if (weight > 1)
            assert_int_equal(nri_cpu_shares_to_weight(shares - 1), weight - 1);
    }
    uint64_t last = 0;
    for (uint64_t shares = 2; shares <= 262144; shares++) {
        uint64_t weight = nri_cpu_shares_to_weight(shares);
        assert_true(weight >= last);
        last = weight;
    }
    assert_int_equal(nri_cpu_weight_to_shares(1), 2);
    assert_int_equal(nri_cpu_weight_to_shares(10000), 262144);
    assert_int_equal(nri_cpu_weight_to_shares(10001), 262144);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_quota),
        cmocka_unit_test(test_wide_products),
        cmocka_unit_test(test_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
