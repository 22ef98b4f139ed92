/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "refusal.h"

static void test_add(void **state)
{
    static const char *const names[] = {
        "vendor.com/gpu=0",
        "nvidia.com/gpu=all",
        "vendor-a_b.c/net.class-x_y=a:b.c-d_e",
        "ab/cd=e",
    };
    nri_adjustment *adjustment = fixture_make(*state);
    for (size_t i = 0; i < 4; i++)
        OK(nri_adjustment_add_cdi_device(adjustment, names[i]));
    OK(nri_adjustment_add_cdi_device(adjustment, names[1])); /* changes nothing */
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->n_cdi_devices, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(message->cdi_devices[i]->name, names[i]);
}

/* A list that is long enough for its hash. */
static void test_many(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    char name[32];
    for (int i = 0; i < 4000; i++) {
        snprintf(name, sizeof name, "vendor.com/gpu=%d", i % 2000);
        OK(nri_adjustment_add_cdi_device(adjustment, name));
    }
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->n_cdi_devices, 2000);
    for (int i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "vendor.com/gpu=%d", i);
        assert_string_equal(message->cdi_devices[i]->name, name);
    }
}

#define FORM "must be \"vendor/class=device\", such as \"vendor.com/gpu=0\""
#define PART                                                                                       \
    "must be 2 or more letters, digits, \"-\", \"_\" and \".\", the first a letter, the "          \
    "last a letter or digit"
#define DEVICE                                                                                     \
    "the device must be letters, digits, \"-\", \"_\", \".\" and \":\", the first and "            \
    "the last a letter or digit"

static void test_refusals(void **state)
{
    static const struct {
        const char *name, *text;
    } broken[] = {
        {"", "CDI device \"\": must not be empty"},
        {"gpu0", "CDI device \"gpu0\": " FORM},
        {"vendor.com/gpu", "CDI device \"vendor.com/gpu\": " FORM},
        {"vendor.com=gpu/0", "CDI device \"vendor.com=gpu/0\": " FORM},
        {"/gpu=0", "CDI device \"/gpu=0\": " FORM},
        {"vendor.com/=0", "CDI device \"vendor.com/=0\": " FORM},
        {"vendor.com/gpu=", "CDI device \"vendor.com/gpu=\": " FORM},
        {"1vendor/gpu=0", "CDI device \"1vendor/gpu=0\": the vendor " PART},
        {"v/gpu=0", "CDI device \"v/gpu=0\": the vendor " PART},
        {"vendor-/gpu=0", "CDI device \"vendor-/gpu=0\": the vendor " PART},
        {"ven:dor/gpu=0", "CDI device \"ven:dor/gpu=0\": the vendor " PART},
        {"ven dor/gpu=0", "CDI device \"ven dor/gpu=0\": the vendor " PART},
        {"vendor/1gpu=0", "CDI device \"vendor/1gpu=0\": the class " PART},
        {"vendor/g=0", "CDI device \"vendor/g=0\": the class " PART},
        {"vendor/gpu_=0", "CDI device \"vendor/gpu_=0\": the class " PART},
        {"vendor/g/u=0", "CDI device \"vendor/g/u=0\": the class " PART},
        {"vendor/gpu=:0", "CDI device \"vendor/gpu=:0\": " DEVICE},
        {"vendor/gpu=0.", "CDI device \"vendor/gpu=0.\": " DEVICE},
        {"vendor/gpu=0=1", "CDI device \"vendor/gpu=0=1\": " DEVICE},
        {"vendor/gpu=0/1", "CDI device \"vendor/gpu=0/1\": " DEVICE},
    };
    nri_adjustment *a = fixture_make(*state);
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
        REFUSED(a, nri_adjustment_add_cdi_device(a, broken[i].name), NRI_E_INVALID, broken[i].text);
    REFUSED(a, nri_adjustment_add_cdi_device(a, NULL), NRI_E_INVALID,
            "CDI device NULL: must be a text");
    REFUSED(a, nri_adjustment_add_cdi_device(a, "\xff"), NRI_E_UTF8,
            "CDI device \"\\xff\": must be UTF-8; the byte at offset 0 is not");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_add),
        WITH_FIXTURE(test_many),
        WITH_FIXTURE(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
