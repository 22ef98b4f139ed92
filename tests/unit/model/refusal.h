/* SPDX-License-Identifier: Apache-2.0 */
/* A builder's call that must fail, with its code and the exact text, and leave nothing behind. */
#ifndef NRI_TESTS_MODEL_REFUSAL_H
#define NRI_TESTS_MODEL_REFUSAL_H

#include "fixture.h"

#define REFUSED(adjustment, call, expected, text)                                                  \
    do {                                                                                           \
        nri_adjustment_clear_error(adjustment);                                                    \
        assert_int_equal(call, expected);                                                          \
        assert_string_equal(nri_adjustment_error_text(adjustment), text);                          \
        assert_int_equal(nri_adjustment_error(adjustment), expected);                              \
        assert_null(nri_adjustment_message(adjustment));                                           \
    } while (0)

#define OK(call) assert_int_equal(call, 0)

/* cmocka's entry with the fixture around it. */
#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

#endif
