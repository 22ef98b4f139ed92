/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"

/* The first eight of the 64 vectors published with SipHash-2-4: key 00..0f, input 00, 00 01, ... */
static void test_published_vectors(void **state)
{
    (void)state;
    static const uint64_t vectors[] = {
        UINT64_C(0x726fdb47dd0e0e31), UINT64_C(0x74f839c593dc67fd), UINT64_C(0x0d6c8009d9a94f5a),
        UINT64_C(0x85676696d7fb7e2d), UINT64_C(0xcf2794e0277187b7), UINT64_C(0x18765564cd99a68d),
        UINT64_C(0xcbc9466e58fee3ce), UINT64_C(0xab0200f58b01d137),
    };
    const uint64_t seed[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
    uint8_t input[16];
    for (uint8_t i = 0; i < sizeof input; i++)
        input[i] = i;
    for (size_t length = 0; length < sizeof vectors / sizeof vectors[0]; length++)
        assert_true(nri_hash(seed, input, length) == vectors[length]);
    assert_true(nri_hash(seed, NULL, 0) == vectors[0]);
    /* The example of the SipHash paper: fifteen bytes. */
    assert_true(nri_hash(seed, input, 15) == UINT64_C(0xa129ca6149be45e5));
}

static void test_seed_and_length_matter(void **state)
{
    (void)state;
    const uint64_t a[2] = {1, 2}, b[2] = {1, 3}, c[2] = {0, 2};
    char zeros[20] = {0};
    assert_true(nri_hash(a, "key", 3) != nri_hash(b, "key", 3));
    assert_true(nri_hash(a, "key", 3) != nri_hash(c, "key", 3));
    for (size_t length = 1; length < sizeof zeros; length++)
        assert_true(nri_hash(a, zeros, length) != nri_hash(a, zeros, length - 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_vectors),
        cmocka_unit_test(test_seed_and_length_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
