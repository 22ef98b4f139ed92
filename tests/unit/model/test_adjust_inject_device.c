/* SPDX-License-Identifier: Apache-2.0 */
/* Devices of a host that the test makes up; tests/io has the system's own. */
#include "refusal.h"

struct made_up {
    struct nri_host_device device;
    int code;
    const char *asked;
};

static int look(void *context, const char *path, struct nri_host_device *device)
{
    struct made_up *up = context;
    up->asked = path;
    if (up->code == 0)
        *device = up->device;
    return up->code;
}

static nri_adjustment *make(struct fixture *fixture, struct made_up *up, char type)
{
    nri_adjustment *adjustment = fixture_make(fixture);
    *up = (struct made_up){
        .device = {.type = type, .major = 195, .minor = 0, .mode = 0666, .uid = 1, .gid = 2},
    };
    return adjustment;
}

/* A node without a rule of the device cgroup is lost when the cgroup is next written. */
static void test_S14_node_and_rule(void **state)
{
    struct made_up up;
    nri_adjustment *adjustment = make(*state, &up, 'c');
    for (int i = 0; i < 2; i++) /* the second time changes nothing */
        OK(nri_adjustment_inject(adjustment, "/dev/nvidia0", NULL, NULL, look, &up));
    assert_string_equal(up.asked, "/dev/nvidia0");
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->linux->n_devices, 1);
    assert_string_equal(message->linux->devices[0]->path, "/dev/nvidia0");
    assert_string_equal(message->linux->devices[0]->type, "c");
    assert_int_equal(message->linux->devices[0]->major, 195);
    assert_int_equal(message->linux->devices[0]->minor, 0);
    assert_int_equal(message->linux->devices[0]->file_mode->value, 0666);
    assert_int_equal(message->linux->devices[0]->uid->value, 1);
    assert_int_equal(message->linux->devices[0]->gid->value, 2);
    assert_int_equal(message->linux->resources->n_devices, 1);
    assert_true(message->linux->resources->devices[0]->allow);
    assert_string_equal(message->linux->resources->devices[0]->type, "c");
    assert_int_equal(message->linux->resources->devices[0]->major->value, 195);
    assert_int_equal(message->linux->resources->devices[0]->minor->value, 0);
    assert_string_equal(message->linux->resources->devices[0]->access, "rwm");
}

static void test_another_path_and_access(void **state)
{
    struct made_up up;
    nri_adjustment *adjustment = make(*state, &up, 'b');
    OK(nri_adjustment_inject(adjustment, "/dev/host", "/dev/sda", "r", look, &up));
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_string_equal(message->linux->devices[0]->path, "/dev/sda");
    assert_string_equal(message->linux->devices[0]->type, "b");
    assert_string_equal(message->linux->resources->devices[0]->type, "b");
    assert_string_equal(message->linux->resources->devices[0]->access, "r");
}

static void test_fifo_gets_no_rule(void **state)
{
    struct made_up up;
    nri_adjustment *adjustment = make(*state, &up, 'p');
    OK(nri_adjustment_inject(adjustment, "/run/fifo", NULL, NULL, look, &up));
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->linux->n_devices, 1);
    assert_string_equal(message->linux->devices[0]->type, "p");
    assert_null(message->linux->resources);
}

static void test_host_refuses(void **state)
{
    struct made_up up;
    nri_adjustment *a = make(*state, &up, 'c');
    up.code = NRI_E_NOT_FOUND;
    REFUSED(a, nri_adjustment_inject(a, "/d", NULL, NULL, look, &up), NRI_E_NOT_FOUND,
            "host device \"/d\": is not there");
    up.code = NRI_E_PERMISSION;
    REFUSED(a, nri_adjustment_inject(a, "/d", NULL, NULL, look, &up), NRI_E_PERMISSION,
            "host device \"/d\": must be in a directory that this process may search");
    up.code = NRI_E_INVALID;
    REFUSED(a, nri_adjustment_inject(a, "/d", NULL, NULL, look, &up), NRI_E_INVALID,
            "host device \"/d\": must be a character device, a block device or a FIFO");
    up.code = NRI_E_IO;
    REFUSED(a, nri_adjustment_inject(a, "/d", NULL, NULL, look, &up), NRI_E_IO,
            "host device \"/d\": cannot be looked at");
    up.code = 0;
    up.asked = NULL;
    REFUSED(a, nri_adjustment_inject(a, "d", NULL, NULL, look, &up), NRI_E_INVALID,
            "host device \"d\": must be an absolute path");
    REFUSED(a, nri_adjustment_inject(a, NULL, NULL, NULL, look, &up), NRI_E_INVALID,
            "host device NULL: must be a text");
    assert_null(up.asked);
    REFUSED(a, nri_adjustment_inject(a, "/d", "d", NULL, look, &up), NRI_E_INVALID,
            "device path \"d\": must be an absolute path");
}

/* Without its rule the node is taken back: a new one, and one that replaced another. */
static void test_both_or_nothing(void **state)
{
    struct made_up up;
    nri_adjustment *adjustment = make(*state, &up, 'c');
    assert_int_equal(nri_adjustment_inject(adjustment, "/dev/a", NULL, "x", look, &up),
                     NRI_E_INVALID);
    assert_true(strstr(nri_adjustment_error_text(adjustment), "access \"x\"") != NULL);
    assert_null(nri_adjustment_message(adjustment));
    OK(nri_adjustment_add_device(adjustment, "/dev/a", "b", 8, 1, NULL, NULL, NULL));
    assert_int_equal(nri_adjustment_inject(adjustment, "/dev/a", NULL, "", look, &up),
                     NRI_E_INVALID);
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->linux->n_devices, 1);
    assert_string_equal(message->linux->devices[0]->type, "b");
    assert_null(message->linux->resources);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_S14_node_and_rule), WITH_FIXTURE(test_another_path_and_access),
        WITH_FIXTURE(test_fifo_gets_no_rule), WITH_FIXTURE(test_host_refuses),
        WITH_FIXTURE(test_both_or_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
