/* SPDX-License-Identifier: Apache-2.0 */
#include "refusal.h"
#include "wire/message.h"

static void check(const adjustment_message *message, size_t index, const char *key,
                  const char *name)
{
    assert_true(index < message->linux->n_net_devices);
    assert_string_equal(message->linux->net_devices[index]->key, key);
    assert_non_null(message->linux->net_devices[index]->value);
    assert_string_equal(message->linux->net_devices[index]->value->name, name);
}

static void test_add_remove_replace(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    OK(nri_adjustment_add_net_device(adjustment, "eth1", NULL));
    OK(nri_adjustment_remove_net_device(adjustment, "eth2"));
    OK(nri_adjustment_replace_net_device(adjustment, "eth3", "0123456789abcde"));
    OK(nri_adjustment_add_net_device(adjustment, "eth1", "eth0"));
    OK(nri_adjustment_add_net_device(adjustment, "eth4", ""));
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->linux->n_net_devices, 5);
    check(message, 0, "eth1", "eth0");
    check(message, 1, "-eth2", "");
    check(message, 2, "-eth3", "");
    check(message, 3, "eth3", "0123456789abcde");
    check(message, 4, "eth4", "");
}

/* A marker is sent with a value. */
static void test_marker_has_a_value(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    OK(nri_adjustment_remove_net_device(adjustment, "eth2"));
    const adjustment_message *message = nri_adjustment_message(adjustment);
    static const uint8_t expected[] = {0x32, 11,  0x4a, 9,   0x0a, 5, '-',
                                       'e',  't', 'h',  '2', 0x12, 0};
    uint8_t bytes[sizeof expected];
    size_t size = 0;
    assert_int_equal(nri_message_size(&message->base, &size, NULL), 0);
    assert_int_equal(size, sizeof expected);
    nri_message_encode(&message->base, bytes);
    assert_memory_equal(bytes, expected, size);
}

static void test_refusals(void **state)
{
    nri_adjustment *a = fixture_make(*state);
    static const struct {
        const char *name, *text;
    } broken[] = {
        {"", "net device \"\": must not be empty"},
        {"-eth0", "net device \"-eth0\": must not start with \"-\""},
        {"0123456789abcdef", "net device \"0123456789abcdef\": must be 1 to 15 bytes"},
        {".", "net device \".\": must not be \".\" or \"..\""},
        {"..", "net device \"..\": must not be \".\" or \"..\""},
        {"a/b", "net device \"a/b\": must not contain \"/\", \":\" and blanks"},
        {"a:b", "net device \"a:b\": must not contain \"/\", \":\" and blanks"},
        {"a b", "net device \"a b\": must not contain \"/\", \":\" and blanks"},
    };
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        REFUSED(a, nri_adjustment_add_net_device(a, broken[i].name, NULL), NRI_E_INVALID,
                broken[i].text);
        REFUSED(a, nri_adjustment_replace_net_device(a, broken[i].name, NULL), NRI_E_INVALID,
                broken[i].text);
        REFUSED(a, nri_adjustment_remove_net_device(a, broken[i].name), NRI_E_INVALID,
                broken[i].text);
    }
    REFUSED(a, nri_adjustment_add_net_device(a, NULL, NULL), NRI_E_INVALID,
            "net device NULL: must be a text");
    REFUSED(a, nri_adjustment_add_net_device(a, "\xff", NULL), NRI_E_UTF8,
            "net device \"\\xff\": must be UTF-8; the byte at offset 0 is not");
    REFUSED(a, nri_adjustment_add_net_device(a, "eth0", "a\tb"), NRI_E_INVALID,
            "net device name \"a\\x09b\": must not contain \"/\", \":\" and blanks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_add_remove_replace),
        WITH_FIXTURE(test_marker_has_a_value),
        WITH_FIXTURE(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
