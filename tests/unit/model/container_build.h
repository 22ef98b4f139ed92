/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of nri/container_build.h share. */
#ifndef NRI_TESTS_MODEL_CONTAINER_BUILD_H
#define NRI_TESTS_MODEL_CONTAINER_BUILD_H

#include "fixture.h"
#include "wire/message.h"

#define OK(call) assert_int_equal(call, 0)

#define BAD_UTF8 "must be UTF-8; the byte at offset 0 is not"

/* cmocka's entry with the fixture around it. */
#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

static inline nri_container *build_make(void)
{
    nri_container *container = NULL;
    OK(nri_container_new(&container, NULL));
    assert_non_null(container);
    assert_int_equal(nri_container_error(container), 0);
    assert_string_equal(nri_container_error_text(container), "");
    return container;
}

/* A container, through the wire and back: what a plugin would read of it. */
static inline const nri_container *build_sent(struct fixture *fixture, nri_container *container)
{
    return nri_container_view(fixture_round_trip(fixture, container));
}

/* A setter of the container `c` that must fail with code and text, and leave nothing behind. Each
 * on a container of its own, because the first failed call sticks. */
#define REFUSED(call, expected, text)                                                              \
    do {                                                                                           \
        nri_container *c = build_make();                                                           \
        size_t size_ = 1;                                                                          \
        assert_int_equal(call, expected);                                                          \
        assert_string_equal(nri_container_error_text(c), text);                                    \
        assert_int_equal(nri_container_error(c), expected);                                        \
        assert_int_equal(nri_message_size((void *)c, &size_, NULL), 0);                            \
        assert_int_equal(size_, 0);                                                                \
        assert_null(((container_message *)(void *)c)->linux);                                      \
        nri_container_free(c);                                                                     \
    } while (0)

#endif
