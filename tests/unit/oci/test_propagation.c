/* SPDX-License-Identifier: Apache-2.0 */
/* Shared and slave mounts: what their source must be on, and what becomes of the container's root.
 */
#include <stdio.h>

#include "fixture.h"

struct row {
    const char *option;
    uint32_t on;          /* what the source is on */
    const char *root;     /* linux.rootfsPropagation, or NULL */
    const char *expected; /* afterwards, or behind a "!" what of the error's text stands last */
    const char *go;       /* the same as Go has it; NULL: as `expected` */
};

#define SHARED  NRI_PROPAGATION_SHARED
#define SLAVE   NRI_PROPAGATION_SLAVE
#define PRIVATE NRI_PROPAGATION_PRIVATE

static const struct row rows[] = {
    {"rshared", SHARED, NULL, "rshared", NULL},
    {"rshared", SHARED, "rslave", "rshared", NULL},
    {"rshared", SHARED, "shared", "shared", "rshared"},
    {"rshared", SLAVE, NULL, "!slave, and must be on one that is shared", NULL},
    {"rshared", PRIVATE, NULL, "!private, and must be on one that is shared", NULL},
    {"rslave", SHARED, NULL, "rslave", NULL},
    {"rslave", SLAVE, NULL, "rslave", NULL},
    {"rslave", SLAVE, "private", "rslave", NULL},
    {"rslave", SLAVE, "rshared", "rshared", NULL},
    {"rslave", SLAVE, "rslave", "rslave", NULL},
    {"rslave", SLAVE, "slave", "slave", "rslave"},
    {"rslave", SLAVE, "shared", "shared", "rslave"},
    {"rslave", PRIVATE, NULL, "!private, and must be on one that is shared or a slave", NULL},
    {"shared", PRIVATE, NULL, "!private, and must be on one that is shared", ""},
    {"slave", SHARED, NULL, "rslave", ""},
    {"rprivate", PRIVATE, NULL, "", NULL},
    {"private", PRIVATE, "rshared", "rshared", NULL},
    {"ro", PRIVATE, "slave", "slave", NULL},
};

static void check_row(const struct row *row, bool go)
{
    char change[256], before[128], *after;
    struct nri_oci_options options;
    struct fixture_mounts mounts = {"/srv", row->on, 0, 0};
    nri_error *error = NULL;
    const char *expected = go && row->go != NULL ? row->go : row->expected;
    nri_oci_options_init(&options, sizeof options);
    options.go_compatible = go;
    snprintf(change, sizeof change,
             "{\"mounts\":[{\"destination\":\"/a\",\"source\":\"/srv\",\"options\":[\"%s\"]}]}",
             row->option);
    snprintf(before, sizeof before, "{\"linux\":{%s%s%s}}",
             row->root != NULL ? "\"rootfsPropagation\":\"" : "",
             row->root != NULL ? row->root : "", row->root != NULL ? "\"" : "");
    const struct fixture_run run = {change, before, false, &options, &mounts};
    const int code = fixture_apply(&run, &after, &error);
    if (expected[0] == '!') {
        const char *text = nri_error_get_text(error);
        assert_int_equal(code, NRI_E_INVALID);
        assert_true(strlen(text) > strlen(expected));
        assert_string_equal(text + strlen(text) - strlen(expected + 1), expected + 1);
        assert_non_null(strstr(text, "ContainerAdjustment.mounts[0].source: /srv: "));
    } else {
        char wanted[64];
        assert_string_equal(nri_error_get_text(error), "");
        snprintf(wanted, sizeof wanted,
                 expected[0] != '\0' ? "\"rootfsPropagation\":\"%s\"" : "%s{}",
                 expected[0] != '\0' ? expected : "\"linux\":");
        if (strstr(after, wanted) == NULL)
            fail_msg("%s on %s: %s", row->option, before, after);
    }
    nri_json_free(after);
    nri_error_free(error);
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_row(&rows[i], false);
        check_row(&rows[i], true);
    }
}

static unsigned looks(const char *change, struct nri_oci_options *options, int code,
                      const char *expected)
{
    struct fixture_mounts mounts = {"/srv", SHARED, code, 0};
    const struct fixture_run run = {change, "{}", false, options, &mounts};
    nri_error *error = NULL;
    char *after;
    const int result = fixture_apply(&run, &after, &error);
    assert_string_equal(result != 0 ? nri_error_get_text(error) : after, expected);
    nri_json_free(after);
    nri_error_free(error);
    return mounts.looks;
}

#define MOUNT(source, option)                                                                      \
    "{\"destination\":\"/a\",\"source\":\"" source "\",\"options\":[\"" option "\"]}"
#define ROOT(option, mounts)                                                                       \
    "{\"mounts\":[" mounts "],\"linux\":{\"rootfsPropagation\":\"" option "\"}}"

static void test_when_it_looks(void **state)
{
    (void)state;
    struct nri_oci_options options;
    nri_oci_options_init(&options, sizeof options);
    assert_int_equal(looks("{\"mounts\":[" MOUNT("/srv", "rshared") "]}", &options, 0,
                           ROOT("rshared", MOUNT("/srv", "rshared"))),
                     1);
    assert_int_equal(looks("{\"mounts\":[" MOUNT("/srv", "rprivate") "]}", &options, NRI_E_IO,
                           "{\"mounts\":[" MOUNT("/srv", "rprivate") "]}"),
                     0);
    /* What is not bound has no source on the host. */
    assert_int_equal(looks("{\"mounts\":[" MOUNT("tmpfs", "rshared") "]}", &options, NRI_E_IO,
                           ROOT("rshared", MOUNT("tmpfs", "rshared"))),
                     0);
    assert_int_equal(looks("{\"mounts\":[" MOUNT("/srv", "rshared") "]}", &options, NRI_E_NOT_FOUND,
                           "ContainerAdjustment.mounts[0].source: /srv: it cannot be told on which "
                           "mount it is: not found"),
                     1);
    options.no_propagation_check = 1;
    assert_int_equal(looks("{\"mounts\":[" MOUNT("/srv", "rshared") "]}", &options, NRI_E_IO,
                           ROOT("rshared", MOUNT("/srv", "rshared"))),
                     0);
}

/* Go's generator takes the option of the mount before for a mount that has none. */
static void test_the_mount_before(void **state)
{
    (void)state;
    static const char change[] =
        "{\"mounts\":[{\"destination\":\"/a\",\"source\":\"/srv\",\"options\":[\"rshared\"]},{"
        "\"destination\":\"/b\",\"source\":\"/srv\"}]}";
    static const char after[] =
        "{\"mounts\":[{\"destination\":\"/a\",\"source\":\"/srv\",\"options\":[\"rshared\"]},{"
        "\"destination\":\"/b\",\"source\":\"/"
        "srv\"}],\"linux\":{\"rootfsPropagation\":\"rshared\"}}";
    struct nri_oci_options options;
    nri_oci_options_init(&options, sizeof options);
    assert_int_equal(looks(change, &options, 0, after), 1);
    options.go_compatible = 1;
    assert_int_equal(looks(change, &options, 0, after), 2);
}

static int of_user(const char *path, uint32_t *propagation, nri_oci_answer *answer, void *user)
{
    assert_string_equal(path, "/srv");
    *propagation = *(uint32_t *)user;
    return *propagation == 77 ? nri_oci_answer_fail(answer, NRI_E_IO, "the disk is gone") : 0;
}

static void test_callback(void **state)
{
    (void)state;
    uint32_t propagation = SHARED;
    struct nri_oci_options options;
    nri_oci_options_init(&options, sizeof options);
    options.mount_propagation = of_user;
    options.user = &propagation;
    assert_int_equal(looks("{\"mounts\":[" MOUNT("/srv", "rshared") "]}", &options, 0,
                           ROOT("rshared", MOUNT("/srv", "rshared"))),
                     0);
    propagation = 77;
    assert_int_equal(looks("{\"mounts\":[" MOUNT("/srv", "rshared") "]}", &options, 0,
                           "ContainerAdjustment.mounts[0].source: the disk is gone"),
                     0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_when_it_looks),
        cmocka_unit_test(test_the_mount_before),
        cmocka_unit_test(test_callback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
