/* SPDX-License-Identifier: Apache-2.0 */
/* Devices of a host that the test makes up; tests/io has the system's own. */
#include <stdio.h>

#include "refusal.h"

struct made_up {
    struct nri_host_device device;
    int code;
    const char *asked;
};

static const struct nri_node_rights as_host;

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
        OK(nri_adjustment_inject(adjustment, "/dev/nvidia0", NULL, NULL, &as_host, look, &up));
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
    OK(nri_adjustment_inject(adjustment, "/dev/host", "/dev/sda", "r", &as_host, look, &up));
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
    OK(nri_adjustment_inject(adjustment, "/run/fifo", NULL, NULL, &as_host, look, &up));
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
    REFUSED(a, nri_adjustment_inject(a, "/d", NULL, NULL, &as_host, look, &up), NRI_E_NOT_FOUND,
            "host device \"/d\": is not there");
    up.code = NRI_E_PERMISSION;
    REFUSED(a, nri_adjustment_inject(a, "/d", NULL, NULL, &as_host, look, &up), NRI_E_PERMISSION,
            "host device \"/d\": must be in a directory that this process may search");
    up.code = NRI_E_INVALID;
    REFUSED(a, nri_adjustment_inject(a, "/d", NULL, NULL, &as_host, look, &up), NRI_E_INVALID,
            "host device \"/d\": must be a character device, a block device or a FIFO");
    up.code = NRI_E_IO;
    REFUSED(a, nri_adjustment_inject(a, "/d", NULL, NULL, &as_host, look, &up), NRI_E_IO,
            "host device \"/d\": cannot be looked at");
    up.code = 0;
    up.asked = NULL;
    REFUSED(a, nri_adjustment_inject(a, "d", NULL, NULL, &as_host, look, &up), NRI_E_INVALID,
            "host device \"d\": must be an absolute path");
    REFUSED(a, nri_adjustment_inject(a, NULL, NULL, NULL, &as_host, look, &up), NRI_E_INVALID,
            "host device NULL: must be a text");
    assert_null(up.asked);
    REFUSED(a, nri_adjustment_inject(a, "/d", "d", NULL, &as_host, look, &up), NRI_E_INVALID,
            "device path \"d\": must be an absolute path");
}

/* Without its rule the node is taken back: a new one, and one that replaced another. */
static void test_both_or_nothing(void **state)
{
    struct made_up up;
    nri_adjustment *adjustment = make(*state, &up, 'c');
    assert_int_equal(nri_adjustment_inject(adjustment, "/dev/a", NULL, "x", &as_host, look, &up),
                     NRI_E_INVALID);
    assert_true(strstr(nri_adjustment_error_text(adjustment), "access \"x\"") != NULL);
    assert_null(nri_adjustment_message(adjustment));
    OK(nri_adjustment_add_device(adjustment, "/dev/a", "b", 8, 1, NULL, NULL, NULL));
    assert_int_equal(nri_adjustment_inject(adjustment, "/dev/a", NULL, "", &as_host, look, &up),
                     NRI_E_INVALID);
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->linux->n_devices, 1);
    assert_string_equal(message->linux->devices[0]->type, "b");
    assert_null(message->linux->resources);
}

/* ---- the rule goes with the device ---- */

static int inject(nri_adjustment *a, const char *path, char type, int64_t major, int64_t minor,
                  const char *access)
{
    struct made_up up = {.device = {type, major, minor, 0660, 0, 0}};
    return nri_adjustment_inject(a, "/dev/host", path, access, &as_host, look, &up);
}

/* "c 1:3 rwm, b 8:0 r", with "!" in front of a rule that denies. */
static void last_rules_are(struct fixture *fixture, const nri_adjustment *a, size_t first,
                           const char *expected)
{
    char text[512] = "";
    size_t end = 0;
    const adjustment_message *message = fixture_adjustment(fixture, a);
    const Nri__Pkg__Api__V1alpha1__LinuxResources *resources = message->linux->resources;
    assert_true(resources == NULL || resources->n_devices > 0); /* nothing empty is sent */
    for (size_t i = first; resources != NULL && i < resources->n_devices; i++) {
        const Nri__Pkg__Api__V1alpha1__LinuxDeviceCgroup *rule = resources->devices[i];
        end += (size_t)snprintf(text + end, sizeof text - end, "%s%s%s %d:%d %s",
                                i > first ? ", " : "", rule->allow ? "" : "!", rule->type,
                                (int)rule->major->value, (int)rule->minor->value, rule->access);
        assert_true(end < sizeof text);
    }
    assert_string_equal(text, expected);
}

static void rules_are(struct fixture *fixture, const nri_adjustment *a, const char *expected)
{
    last_rules_are(fixture, a, 0, expected);
}

static void test_another_device_at_the_same_path(void **state)
{
    nri_adjustment *a = fixture_make(*state);
    OK(inject(a, "/dev/x", 'c', 1, 3, NULL));
    OK(inject(a, "/dev/x", 'c', 1, 5, NULL));
    rules_are(*state, a, "c 1:5 rwm");
    OK(inject(a, "/dev/x", 'c', 1, 5, "r")); /* with another access */
    rules_are(*state, a, "c 1:5 r");
    OK(inject(a, "/dev/x", 'b', 1, 5, "r"));
    rules_are(*state, a, "b 1:5 r");
    OK(inject(a, "/dev/x", 'p', 0, 0, NULL));
    rules_are(*state, a, "");
    OK(inject(a, "/dev/x", 'c', 1, 3, NULL)); /* and back */
    rules_are(*state, a, "c 1:3 rwm");
    assert_int_equal(fixture_adjustment(*state, a)->linux->n_devices, 1);
}

static void test_removed_device(void **state)
{
    nri_adjustment *a = fixture_make(*state);
    OK(inject(a, "/dev/x", 'c', 1, 3, NULL));
    OK(inject(a, "/dev/y", 'c', 1, 5, NULL));
    OK(nri_adjustment_remove_device(a, "/dev/x"));
    rules_are(*state, a, "c 1:5 rwm");
    OK(nri_adjustment_remove_device(a, "/dev/x")); /* again */
    OK(nri_adjustment_remove_device(a, "/dev/z"));
    rules_are(*state, a, "c 1:5 rwm");
    OK(nri_adjustment_remove_device(a, "/dev/y"));
    rules_are(*state, a, "");
    OK(inject(a, "/dev/x", 'c', 1, 3, NULL));
    rules_are(*state, a, "c 1:3 rwm");
}

/* A node with numbers of the caller's own: of the same device, or of another. */
static void test_node_in_the_place_of_an_injected_one(void **state)
{
    const uint32_t mode = 0600;
    nri_adjustment *a = fixture_make(*state);
    OK(inject(a, "/dev/x", 'c', 1, 3, NULL));
    OK(nri_adjustment_add_device(a, "/dev/x", "u", 1, 3, &mode, NULL, NULL));
    rules_are(*state, a, "c 1:3 rwm");
    OK(nri_adjustment_replace_device(a, "/dev/x", "c", 1, 3, &mode, NULL, NULL));
    rules_are(*state, a, "c 1:3 rwm");
    OK(nri_adjustment_add_device(a, "/dev/x", "c", 1, 4, NULL, NULL, NULL));
    rules_are(*state, a, "");
    OK(inject(a, "/dev/y", 'c', 1, 3, NULL));
    OK(nri_adjustment_replace_device(a, "/dev/y", "c", 2, 3, NULL, NULL, NULL));
    rules_are(*state, a, "");
    OK(inject(a, "/dev/z", 'c', 1, 3, NULL));
    OK(nri_adjustment_add_device(a, "/dev/z", "b", 1, 3, NULL, NULL, NULL));
    rules_are(*state, a, "");
}

/* A rule that was added for its own sake, before the device or after it. */
static void test_rules_of_the_caller_stay(void **state)
{
    const int64_t one = 1, three = 3, five = 5, nine = 9;
    nri_adjustment *a = fixture_make(*state);
    OK(nri_adjustment_add_device_rule(a, true, "c", &one, &three, "rwm"));
    OK(inject(a, "/dev/x", 'c', 1, 3, NULL));
    OK(inject(a, "/dev/y", 'c', 1, 5, NULL));
    OK(nri_adjustment_add_device_rule(a, false, "c", &one, &five, "rwm"));
    OK(nri_resources_add_device_rule(nri_adjustment_edit_resources(a), true, "c", &one, &five,
                                     "rwm"));
    rules_are(*state, a, "c 1:3 rwm, c 1:5 rwm, !c 1:5 rwm, c 1:5 rwm");
    OK(nri_adjustment_remove_device(a, "/dev/x"));
    OK(inject(a, "/dev/y", 'c', 1, 7, NULL));
    rules_are(*state, a, "c 1:3 rwm, !c 1:5 rwm, c 1:5 rwm, c 1:7 rwm");
    OK(inject(a, "/dev/z", 'c', 1, 9, NULL));
    OK(nri_adjustment_remove_device(a, "/dev/y")); /* from the middle: the order stays */
    rules_are(*state, a, "c 1:3 rwm, !c 1:5 rwm, c 1:5 rwm, c 1:9 rwm");
    OK(nri_adjustment_add_device_rule(a, true, "c", &one, &nine, "rwm"));
    OK(nri_adjustment_remove_device(a, "/dev/z"));
    rules_are(*state, a, "c 1:3 rwm, !c 1:5 rwm, c 1:5 rwm, c 1:9 rwm");
}

/* A device that is injected behind a rule that denies can be used, whoever has the same rule in
 * front; and each copy goes with its own device. In a short list and in one that has a hash. */
static void test_injected_behind_a_denial(void **state)
{
    const int64_t one = 1, three = 3;
    for (int before = 0; before < 40; before += 13) {
        const int64_t major = 500;
        nri_adjustment *a = fixture_make(*state);
        for (int64_t minor = 0; minor < before; minor++)
            OK(nri_adjustment_add_device_rule(a, true, "b", &major, &minor, "r"));
        for (int last = 0; last < 2; last++) {
            OK(inject(a, "/dev/x", 'c', 1, 3, NULL));
            OK(nri_adjustment_add_device_rule(a, false, "c", &one, &three, "rwm"));
            last_rules_are(*state, a, (size_t)before, "c 1:3 rwm, !c 1:3 rwm");
            OK(inject(a, "/dev/y", 'c', 1, 3, NULL));
            OK(inject(a, "/dev/z", 'c', 1, 3, NULL));
            last_rules_are(*state, a, (size_t)before, "c 1:3 rwm, !c 1:3 rwm, c 1:3 rwm");
            OK(inject(a, "/dev/x", 'c', 1, 3, NULL)); /* again: holds the last copy now */
            last_rules_are(*state, a, (size_t)before, "!c 1:3 rwm, c 1:3 rwm");
            OK(nri_adjustment_remove_device(a, "/dev/y"));
            OK(nri_adjustment_remove_device(a, "/dev/z"));
            last_rules_are(*state, a, (size_t)before, "!c 1:3 rwm, c 1:3 rwm");
            OK(nri_adjustment_remove_device(a, "/dev/x"));
            last_rules_are(*state, a, (size_t)before++, "!c 1:3 rwm");
        }
    }
}

/* The copy in front goes, and the one behind it stays the one that is known. */
static void test_front_copy_goes(void **state)
{
    const int64_t major = 500;
    nri_adjustment *a = fixture_make(*state);
    for (int64_t minor = 0; minor < 20; minor++)
        OK(nri_adjustment_add_device_rule(a, true, "b", &major, &minor, "r"));
    OK(inject(a, "/dev/x", 'c', 1, 3, NULL));
    OK(nri_adjustment_add_device_rule(a, false, "b", &major, &major, "r"));
    OK(inject(a, "/dev/y", 'c', 1, 3, NULL));
    OK(nri_adjustment_remove_device(a, "/dev/x"));
    OK(inject(a, "/dev/z", 'c', 1, 3, NULL));
    last_rules_are(*state, a, 20, "!b 500:500 r, c 1:3 rwm");
    OK(nri_adjustment_remove_device(a, "/dev/y"));
    OK(nri_adjustment_remove_device(a, "/dev/z"));
    last_rules_are(*state, a, 20, "!b 500:500 r");
}

static void test_rule_of_two_devices(void **state)
{
    nri_adjustment *a = fixture_make(*state);
    OK(inject(a, "/dev/x", 'c', 1, 3, NULL));
    OK(inject(a, "/dev/y", 'c', 1, 3, NULL));
    OK(inject(a, "/dev/z", 'c', 1, 3, "r"));
    rules_are(*state, a, "c 1:3 rwm, c 1:3 r");
    OK(nri_adjustment_remove_device(a, "/dev/x"));
    rules_are(*state, a, "c 1:3 rwm, c 1:3 r");
    OK(inject(a, "/dev/y", 'c', 1, 3, NULL)); /* holds it once, however often */
    rules_are(*state, a, "c 1:3 rwm, c 1:3 r");
    OK(inject(a, "/dev/y", 'c', 1, 5, NULL));
    rules_are(*state, a, "c 1:3 r, c 1:5 rwm");
}

/* More than are searched without a hash, each at a path of its own and then all of them moved on.
 */
static void test_many_rules_go(void **state)
{
    enum { COUNT = 40 };
    char path[16], last[32];
    nri_adjustment *a = fixture_make(*state);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < COUNT; i++) {
            snprintf(path, sizeof path, "/dev/%d", i);
            OK(inject(a, path, 'c', round % 2, i, NULL)); /* the first ones come back */
        }
        const adjustment_message *message = fixture_adjustment(*state, a);
        assert_int_equal(message->linux->n_devices, COUNT);
        assert_int_equal(message->linux->resources->n_devices, COUNT);
        for (int i = 0; i < COUNT; i++) {
            assert_int_equal(message->linux->resources->devices[i]->major->value, round % 2);
            assert_int_equal(message->linux->resources->devices[i]->minor->value, i);
        }
    }
    for (int i = 0; i < COUNT - 1; i++) {
        snprintf(path, sizeof path, "/dev/%d", i);
        OK(nri_adjustment_remove_device(a, path));
    }
    snprintf(last, sizeof last, "c 0:%d rwm", COUNT - 1);
    rules_are(*state, a, last);
}

/* What else the resources set stays. */
static void test_other_resources_stay(void **state)
{
    nri_adjustment *a = fixture_make(*state);
    OK(inject(a, "/dev/x", 'c', 1, 3, NULL));
    OK(nri_adjustment_set_blockio_class(a, ""));
    OK(nri_adjustment_remove_device(a, "/dev/x"));
    const adjustment_message *message = fixture_adjustment(*state, a);
    assert_non_null(message->linux->resources->blockio_class);
    assert_int_equal(message->linux->resources->n_devices, 0);
}

/* A call that fails leaves the device that is there, and its rule. */
static void test_failed_injection_keeps_the_rule(void **state)
{
    nri_adjustment *a = fixture_make(*state);
    OK(inject(a, "/dev/x", 'c', 1, 3, NULL));
    assert_int_equal(inject(a, "/dev/x", 'c', 1, 5, "x"), NRI_E_INVALID);
    rules_are(*state, a, "c 1:3 rwm");
    assert_int_equal(inject(a, "/dev/x", 'c', -1, 5, NULL), NRI_E_RANGE);
    rules_are(*state, a, "c 1:3 rwm");
    OK(nri_adjustment_remove_device(a, "/dev/x"));
    rules_are(*state, a, "");
}

/* ---- mode and owner in the container ---- */

static void test_mode_and_owner(void **state)
{
    const uint32_t values[] = {0, 07777, UINT32_MAX};
    for (size_t i = 0; i < 8; i++) { /* each of the three given, or not */
        struct made_up up;
        nri_adjustment *a = make(*state, &up, 'c');
        const struct nri_node_rights rights = {
            .file_mode = (i & 1) != 0 ? &values[i / 4] : NULL,
            .uid = (i & 2) != 0 ? &values[2] : NULL,
            .gid = (i & 4) != 0 ? &values[0] : NULL,
        };
        OK(nri_adjustment_inject(a, "/dev/nvidia0", "/dev/gpu", NULL, &rights, look, &up));
        const Nri__Pkg__Api__V1alpha1__LinuxDevice *device =
            fixture_adjustment(*state, a)->linux->devices[0];
        assert_string_equal(device->path, "/dev/gpu");
        assert_int_equal(device->major, 195);
        assert_int_equal(device->file_mode->value, (i & 1) != 0 ? values[i / 4] : 0666);
        assert_int_equal(device->uid->value, (i & 2) != 0 ? UINT32_MAX : 1);
        assert_int_equal(device->gid->value, (i & 4) != 0 ? 0 : 2);
        rules_are(*state, a, "c 195:0 rwm");
    }
}

static void test_mode_out_of_range(void **state)
{
    struct made_up up;
    const uint32_t mode = 010000;
    const struct nri_node_rights rights = {.file_mode = &mode};
    nri_adjustment *a = make(*state, &up, 'c');
    REFUSED(a, nri_adjustment_inject(a, "/d", NULL, NULL, &rights, look, &up), NRI_E_RANGE,
            "device \"/d\": file mode 010000: must be permission bits, at most 07777");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_S14_node_and_rule),
        WITH_FIXTURE(test_another_path_and_access),
        WITH_FIXTURE(test_fifo_gets_no_rule),
        WITH_FIXTURE(test_host_refuses),
        WITH_FIXTURE(test_both_or_nothing),
        WITH_FIXTURE(test_another_device_at_the_same_path),
        WITH_FIXTURE(test_removed_device),
        WITH_FIXTURE(test_node_in_the_place_of_an_injected_one),
        WITH_FIXTURE(test_rules_of_the_caller_stay),
        WITH_FIXTURE(test_injected_behind_a_denial),
        WITH_FIXTURE(test_front_copy_goes),
        WITH_FIXTURE(test_rule_of_two_devices),
        WITH_FIXTURE(test_many_rules_go),
        WITH_FIXTURE(test_other_resources_stay),
        WITH_FIXTURE(test_failed_injection_keeps_the_rule),
        WITH_FIXTURE(test_mode_and_owner),
        WITH_FIXTURE(test_mode_out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
