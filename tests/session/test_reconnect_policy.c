/* SPDX-License-Identifier: Apache-2.0 */
/* When to connect again, by a clock and random numbers of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <nri/error.h>

#include "plugin/reconnect.h"

static uint64_t random_number;
static int random_code;

static int draw(void *context, void *bytes, size_t count)
{
    (void)context;
    memset(bytes, 0, count);
    memcpy(bytes, &random_number, count < sizeof random_number ? count : sizeof random_number);
    return random_code;
}

static const struct nri_host host = {.random = draw};

static const struct nri_reconnect_config defaults = {
    .min = 100 * NRI_MSEC, .max = 30 * NRI_SEC, .reset = 60 * NRI_SEC};

static void begin(struct nri_reconnect *policy, const struct nri_reconnect_config *config)
{
    random_number = 0;
    random_code = 0;
    nri_reconnect_begin(policy, config, &host, 1000 * NRI_SEC);
}

static uint64_t next(struct nri_reconnect *policy, uint64_t ready_since, uint64_t now)
{
    struct nri_error why;
    nri_error_set(&why, NRI_E_CLOSED, "closed");
    return nri_reconnect_next(policy, ready_since, now, &why);
}

static void test_delays_double_up_to_the_longest(void **state)
{
    static const uint64_t bases[] = {100,  200,   400,   800,   1600, 3200,
                                     6400, 12800, 25600, 30000, 30000};
    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        struct nri_reconnect policy;
        begin(&policy, &defaults);
        for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
            const uint64_t base = bases[i] * NRI_MSEC;
            /* The lowest and the highest that can be drawn. */
            random_number = whole ? base / 2 : 0;
            assert_int_equal(next(&policy, 0, 1000 * NRI_SEC), whole ? base : base / 2);
        }
    }
}

static void test_each_delay_is_between_half_and_the_whole(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct nri_reconnect policy;
        begin(&policy, &defaults);
        random_number = seed * UINT64_C(0x9e3779b97f4a7c15);
        const uint64_t delay = next(&policy, 0, 1000 * NRI_SEC);
        assert_in_range(delay, 50 * NRI_MSEC, 100 * NRI_MSEC);
    }
}

static void test_no_random_numbers_are_no_obstacle(void **state)
{
    struct nri_reconnect policy;
    (void)state;
    begin(&policy, &defaults);
    random_code = NRI_E_IO;
    assert_int_equal(next(&policy, 0, 1000 * NRI_SEC), 100 * NRI_MSEC);
    assert_int_equal(next(&policy, 0, 1000 * NRI_SEC), 200 * NRI_MSEC);
}

static void test_health_begins_the_delays_anew(void **state)
{
    struct nri_reconnect policy;
    const uint64_t now = 2000 * NRI_SEC;
    (void)state;
    begin(&policy, &defaults);
    for (int i = 0; i < 4; i++)
        (void)next(&policy, 0, now);
    /* READY, but not for long enough: on they go. */
    assert_int_equal(next(&policy, now - 60 * NRI_SEC + 1, now), 800 * NRI_MSEC);
    assert_int_equal(next(&policy, now - 60 * NRI_SEC, now), 50 * NRI_MSEC);
    assert_int_equal(next(&policy, 0, now), 100 * NRI_MSEC);
}

static void test_attempts_in_a_row_are_limited(void **state)
{
    struct nri_reconnect_config config = defaults;
    struct nri_reconnect policy;
    struct nri_error why;
    (void)state;
    config.attempts = 3;
    begin(&policy, &config);
    assert_true(next(&policy, 0, 1000 * NRI_SEC) != NRI_NEVER);
    assert_true(next(&policy, 0, 1000 * NRI_SEC) != NRI_NEVER);
    /* READY, however shortly, is no failure. */
    assert_true(next(&policy, 1000 * NRI_SEC, 1000 * NRI_SEC) != NRI_NEVER);
    assert_true(next(&policy, 0, 1000 * NRI_SEC) != NRI_NEVER);
    assert_true(next(&policy, 0, 1000 * NRI_SEC) != NRI_NEVER);
    nri_error_set(&why, NRI_E_REFUSED, "nobody listens");
    assert_int_equal(nri_reconnect_next(&policy, 0, 1000 * NRI_SEC, &why), NRI_NEVER);
    assert_int_equal(why.code, NRI_E_REFUSED);
    assert_string_equal(why.text, "given up after 3 attempts in a row: nobody listens");

    config.attempts = 1;
    begin(&policy, &config);
    nri_error_set(&why, NRI_E_REFUSED, "nobody listens");
    assert_int_equal(nri_reconnect_next(&policy, 0, 1000 * NRI_SEC, &why), NRI_NEVER);
    assert_string_equal(why.text, "given up after 1 attempt: nobody listens");
}

static void test_time_without_health_is_limited(void **state)
{
    struct nri_reconnect_config config = defaults;
    struct nri_reconnect policy;
    struct nri_error why;
    const uint64_t begun = 1000 * NRI_SEC;
    (void)state;
    config.give_up = 1 * NRI_SEC;
    begin(&policy, &config);
    assert_int_equal(next(&policy, 0, begun + 10 * NRI_MSEC), 50 * NRI_MSEC);
    /* The last attempt is when the time is up. */
    assert_int_equal(next(&policy, 0, begun + 990 * NRI_MSEC), 10 * NRI_MSEC);
    nri_error_set(&why, NRI_E_NOT_FOUND, "no socket");
    assert_int_equal(nri_reconnect_next(&policy, 0, begun + NRI_SEC, &why), NRI_NEVER);
    assert_int_equal(why.code, NRI_E_NOT_FOUND);
    assert_string_equal(why.text, "given up after 1000 ms of trying: no socket");
    /* It counts from the end of the last connection that was READY. */
    assert_int_equal(next(&policy, begun + 2 * NRI_SEC, begun + 9 * NRI_SEC), 200 * NRI_MSEC);
    assert_true(next(&policy, 0, begun + 10 * NRI_SEC - 1) != NRI_NEVER);
    assert_int_equal(next(&policy, 0, begun + 10 * NRI_SEC), NRI_NEVER);
}

static void test_what_cannot_change_is_not_tried_again(void **state)
{
    static const struct {
        int code;
        bool again;
    } cases[] = {
        {0, false},
        {NRI_E_INVALID, false},
        {NRI_E_ABI, false},
        {NRI_E_PATH_TOO_LONG, false},
        {NRI_E_NOT_FOUND, true},
        {NRI_E_PERMISSION, true},
        {NRI_E_REFUSED, true},
        {NRI_E_NOT_SOCKET, true},
        {NRI_E_TIMEOUT, true},
        {NRI_E_REJECTED, true},
        {NRI_E_CLOSED, true},
        {NRI_E_PROTOCOL, true},
        {NRI_E_LIMIT, true},
        {NRI_E_UNSUPPORTED, true},
        {NRI_E_NOMEM, true},
        {NRI_E_IO, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct nri_reconnect policy;
        struct nri_error why;
        begin(&policy, &defaults);
        nri_error_set(&why, cases[i].code, "reason");
        const uint64_t delay = nri_reconnect_next(&policy, 0, 1000 * NRI_SEC, &why);
        if ((delay != NRI_NEVER) != cases[i].again)
            fail_msg("%s", nri_strerror(cases[i].code));
        assert_string_equal(why.text, "reason");
    }
}

static void test_the_longest_values_do_not_overflow(void **state)
{
    struct nri_reconnect_config config = {.min = 86400 * NRI_SEC,
                                          .max = 86400 * NRI_SEC,
                                          .reset = 86400 * NRI_SEC,
                                          .give_up = UINT64_MAX / NRI_MSEC * NRI_MSEC,
                                          .attempts = UINT32_MAX};
    struct nri_reconnect policy;
    (void)state;
    begin(&policy, &config);
    for (int i = 0; i < 100; i++)
        assert_int_equal(next(&policy, 0, 1000 * NRI_SEC), 43200 * NRI_SEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delays_double_up_to_the_longest),
        cmocka_unit_test(test_each_delay_is_between_half_and_the_whole),
        cmocka_unit_test(test_no_random_numbers_are_no_obstacle),
        cmocka_unit_test(test_health_begins_the_delays_anew),
        cmocka_unit_test(test_attempts_in_a_row_are_limited),
        cmocka_unit_test(test_time_without_health_is_limited),
        cmocka_unit_test(test_what_cannot_change_is_not_tried_again),
        cmocka_unit_test(test_the_longest_values_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
