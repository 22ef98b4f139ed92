/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device nodes: set on an empty document, over what is there, removed, with the rules of the device
 * cgroup that come and go with them.
 */
#include "fixture.h"

static const struct fixture_row nodes[] = {
    {"{\"linux\":{\"devices\":[{\"path\":\"/dev/a\",\"type\":\"c\",\"major\":195,\"minor\":0}]}}",
     "{}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":195,\"minor\":0}],\"resources\":{\"devices\":[{\"allow\":true,"
     "\"type\":\"c\",\"major\":195,\"minor\":0,\"access\":\"rwm\"}]}}}"},
    {"{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"b\",\"major\":8,\"minor\":1,\"file_mode\":432,\"uid\":0,\"gid\":5}]}}",
     "{}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"b\",\"major\":8,\"minor\":1,\"fileMode\":432,\"uid\":0,\"gid\":5}],"
     "\"resources\":{\"devices\":[{\"allow\":true,\"type\":\"b\",\"major\":8,\"minor\":1,"
     "\"access\":\"rwm\"}]}}}"},
    {"{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1,\"file_mode\":256}]}}",
     "{}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1,\"fileMode\":256}],\"resources\":{\"devices\":[{"
     "\"allow\":true,\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"rm\"}]}}}"},
    {"{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"u\",\"major\":1,\"minor\":1,\"file_mode\":146}]}}",
     "{}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"u\",\"major\":1,\"minor\":1,\"fileMode\":146}],\"resources\":{\"devices\":[{"
     "\"allow\":true,\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"wm\"}]}}}"},
    {"{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1,\"file_mode\":0}]}}",
     "{}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1,\"fileMode\":0}],\"resources\":{\"devices\":[{"
     "\"allow\":true,\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"m\"}]}}}"},
    {"{\"linux\":{\"devices\":[{\"path\":\"/dev/p\",\"type\":\"p\"}]}}", "{}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/p\",\"type\":\"p\",\"major\":0,\"minor\":0}]}}"},
    {"{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1}],\"resources\":{\"devices\":[{\"allow\":true,"
     "\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"r\"}]}}}",
     "{}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1}],\"resources\":{\"devices\":[{\"allow\":true,"
     "\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"r\"}]}}}"},
    {"{\"linux\":{\"devices\":[{\"path\":\"\",\"type\":\"c\"}]}}", "{}",
     "!ContainerAdjustment.linux.devices[0].path: must not be empty"},
    {"{\"linux\":{\"devices\":[{\"path\":\"/dev/a\",\"type\":\"c\"}]}}",
     "{\"linux\":{\"devices\":{}}}", "!JSON:1:21: linux.devices: must be a list, found an object"},
    {"{\"linux\":{\"devices\":[{\"path\":\"/dev/a\",\"type\":\"c\"}]}}",
     "{\"linux\":{\"devices\":[{\"path\":7}]}}",
     "!JSON:1:30: linux.devices[0].path: must be a text, found a number"},
    {"{\"linux\":{\"devices\":[{\"path\":\"/dev/a\",\"type\":\"c\"}]}}",
     "{\"linux\":{\"resources\":{\"devices\":7}}}",
     "!JSON:1:34: linux.resources.devices: must be a list, found a number"},
};

static const struct fixture_row rules_that_go[] = {
    {"{\"linux\":{\"devices\":[{\"path\":\"/dev/a\",\"type\":\"c\",\"major\":2,\"minor\":2}]}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1},{\"path\":\"/dev/"
     "z\",\"type\":\"c\",\"major\":9,\"minor\":9}],\"resources\":{\"devices\":[{\"allow\":false,"
     "\"access\":\"rwm\"},{\"allow\":true,\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":"
     "\"rwm\"},{\"allow\":true,\"type\":\"c\",\"major\":9,\"minor\":9,\"access\":\"rwm\"}]}}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":2,\"minor\":2},{\"path\":\"/dev/"
     "z\",\"type\":\"c\",\"major\":9,\"minor\":9}],\"resources\":{\"devices\":[{\"allow\":false,"
     "\"access\":\"rwm\"},{\"allow\":true,\"type\":\"c\",\"major\":9,\"minor\":9,\"access\":"
     "\"rwm\"},{\"allow\":true,\"type\":\"c\",\"major\":2,\"minor\":2,\"access\":\"rwm\"}]}}}"},
    {"{\"linux\":{\"devices\":[{\"path\":\"-/dev/a\"}]}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1}],\"resources\":{\"devices\":[{\"allow\":true,"
     "\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"r\"},{\"allow\":true,\"type\":\"c\","
     "\"major\":1,\"minor\":1,\"access\":\"w\"},{\"allow\":false,\"type\":\"c\",\"major\":1,"
     "\"minor\":1},{\"allow\":true,\"type\":\"c\",\"major\":1},{\"allow\":true,\"type\":\"b\","
     "\"major\":1,\"minor\":1},7]}}}",
     "{\"linux\":{\"devices\":[],\"resources\":{\"devices\":[{\"allow\":false,\"type\":\"c\","
     "\"major\":1,\"minor\":1},{\"allow\":true,\"type\":\"c\",\"major\":1},{\"allow\":true,"
     "\"type\":\"b\",\"major\":1,\"minor\":1},7]}}}"},
    {"{\"linux\":{\"devices\":[{\"path\":\"-/dev/a\"}]}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1},{\"path\":\"/dev/"
     "b\",\"type\":\"u\",\"major\":1,\"minor\":1}],\"resources\":{\"devices\":[{\"allow\":true,"
     "\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"r\"}]}}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "b\",\"type\":\"u\",\"major\":1,\"minor\":1}],\"resources\":{\"devices\":[{\"allow\":true,"
     "\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"r\"}]}}}"},
    {"{\"linux\":{\"devices\":[{\"path\":\"/dev/a\",\"type\":\"c\",\"major\":1,\"minor\":1}]}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1}],\"resources\":{\"devices\":[{\"allow\":true,"
     "\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"rwm\"}]}}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1}],\"resources\":{\"devices\":[{\"allow\":true,"
     "\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"rwm\"}]}}}"},
    {"{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1,\"file_mode\":292}]}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1}],\"resources\":{\"devices\":[{\"allow\":true,"
     "\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"rw\"},{\"allow\":true,\"access\":\"m\"}]}"
     "}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1,\"fileMode\":292}],\"resources\":{\"devices\":[{"
     "\"allow\":true,\"access\":\"m\"},{\"allow\":true,\"type\":\"c\",\"major\":1,\"minor\":1,"
     "\"access\":\"rm\"}]}}}"},
    {"{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":3,\"minor\":3},{\"path\":\"-/dev/a\"}]}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/a\",\"type\":\"c\",\"major\":1,\"minor\":1}]}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":3,\"minor\":3}],\"resources\":{\"devices\":[{\"allow\":true,"
     "\"type\":\"c\",\"major\":3,\"minor\":3,\"access\":\"rwm\"}]}}}"},
    /* A rule that it is to have stays in its place, and is put behind one that denies. */
    {"{\"linux\":{\"devices\":[{\"path\":\"/dev/a\",\"type\":\"c\",\"major\":1,\"minor\":1}]}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1}],\"resources\":{\"devices\":[{\"allow\":true,"
     "\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"rwm\"},{\"allow\":true,\"type\":\"c\","
     "\"major\":9,\"minor\":9,\"access\":\"rwm\"}]}}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1}],\"resources\":{\"devices\":[{\"allow\":true,"
     "\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"rwm\"},{\"allow\":true,\"type\":\"c\","
     "\"major\":9,\"minor\":9,\"access\":\"rwm\"}]}}}"},
    {"{\"linux\":{\"devices\":[{\"path\":\"/dev/a\",\"type\":\"c\",\"major\":1,\"minor\":1}]}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1}],\"resources\":{\"devices\":[{\"allow\":true,"
     "\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"rwm\"},{\"allow\":false,\"access\":"
     "\"rwm\"}]}}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1}],\"resources\":{\"devices\":[{\"allow\":true,"
     "\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"rwm\"},{\"allow\":false,\"access\":"
     "\"rwm\"},{\"allow\":true,\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"rwm\"}]}}}"},
    {"{\"linux\":{\"devices\":[{\"path\":\"/dev/a\",\"type\":\"c\",\"major\":1,\"minor\":1}]}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1}],\"resources\":{\"devices\":[{\"allow\":true,"
     "\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"rwm\"},{\"allow\":false,\"access\":"
     "\"rwm\"},{\"allow\":true,\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"rwm\"}]}}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1}],\"resources\":{\"devices\":[{\"allow\":true,"
     "\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"rwm\"},{\"allow\":false,\"access\":"
     "\"rwm\"},{\"allow\":true,\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"rwm\"}]}}}"},
    /* With a rule of the adjustment's own that one counts alone. */
    {"{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1}],\"resources\":{\"devices\":[{\"allow\":true,"
     "\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"r\"}]}}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1}],\"resources\":{\"devices\":[{\"allow\":true,"
     "\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"r\"},{\"allow\":true,\"type\":\"c\","
     "\"major\":1,\"minor\":1,\"access\":\"rwm\"},{\"allow\":true,\"type\":\"c\",\"major\":9,"
     "\"minor\":9,\"access\":\"rwm\"}]}}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1}],\"resources\":{\"devices\":[{\"allow\":true,"
     "\"type\":\"c\",\"major\":9,\"minor\":9,\"access\":\"rwm\"},{\"allow\":true,\"type\":\"c\","
     "\"major\":1,\"minor\":1,\"access\":\"r\"}]}}}"},
    /* What else is known of a device that is there as it is to be stays. */
    {"{\"linux\":{\"devices\":[{\"path\":\"/dev/a\",\"type\":\"c\",\"major\":1,\"minor\":1}]}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1}],\"resources\":{\"devices\":[{\"allow\":true,"
     "\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"r\"},{\"allow\":true,\"type\":\"c\","
     "\"major\":9,\"minor\":9,\"access\":\"rwm\"},{\"allow\":true,\"type\":\"c\",\"major\":1,"
     "\"minor\":1,\"access\":\"rwm\"}]}}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1}],\"resources\":{\"devices\":[{\"allow\":true,"
     "\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"r\"},{\"allow\":true,\"type\":\"c\","
     "\"major\":9,\"minor\":9,\"access\":\"rwm\"},{\"allow\":true,\"type\":\"c\",\"major\":1,"
     "\"minor\":1,\"access\":\"rwm\"}]}}}"},
    /* A rule of no known type is added once. */
    {"{\"linux\":{\"resources\":{\"devices\":[{\"allow\":true,\"type\":\"cz\",\"major\":1,"
     "\"minor\":1,\"access\":\"rwm\"}]}}}",
     "{\"linux\":{\"resources\":{\"devices\":[{\"allow\":true,\"type\":\"cz\",\"major\":1,"
     "\"minor\":1,\"access\":\"rwm\"}]}}}",
     "{\"linux\":{\"resources\":{\"devices\":[{\"allow\":true,\"type\":\"cz\",\"major\":1,"
     "\"minor\":1,\"access\":\"rwm\"}]}}}"},
    {"{\"linux\":{\"devices\":[{\"path\":\"-/dev/a\"}]}}", "{}", "{}"},
    {"{\"linux\":{\"devices\":[{\"path\":\"-/dev/a\"}]}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/b\",\"type\":\"c\"}]}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/b\",\"type\":\"c\"}]}}"},
    {"{\"linux\":{\"devices\":[{\"path\":\"-/dev/a\"}]}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1}],\"resources\":7}}",
     "!JSON:1:84: linux.resources: must be an object, found a number"},
};

static void test_nodes(void **state)
{
    (void)state;
    fixture_rows(nodes, sizeof nodes / sizeof nodes[0], false, NULL);
}

static void test_rules_that_go(void **state)
{
    (void)state;
    fixture_rows(rules_that_go, sizeof rules_that_go / sizeof rules_that_go[0], false, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_rules_that_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
