/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounts: set on an empty document, over what is there, removed, and in order.
 */
#include "fixture.h"

static const struct fixture_row mounts[] = {
    {"{\"mounts\":[{\"destination\":\"/a\",\"type\":\"bind\",\"source\":\"/"
     "s\",\"options\":[\"rbind\",\"ro\"]}]}",
     "{}",
     "{\"mounts\":[{\"destination\":\"/a\",\"type\":\"bind\",\"source\":\"/"
     "s\",\"options\":[\"rbind\",\"ro\"]}]}"},
    {"{\"mounts\":[{\"destination\":\"/a\"}]}",
     "{\"mounts\":[{\"destination\":\"/a\",\"options\":[\"ro\"],\"uidMappings\":[]}],\"z\":1}",
     "{\"mounts\":[{\"destination\":\"/a\"}],\"z\":1}"},
    {"{\"mounts\":[{\"destination\":\"-/a\"}]}",
     "{\"mounts\":[{\"destination\":\"/a\"},{\"destination\":\"/b\",\"x\":1}]}",
     "{\"mounts\":[{\"destination\":\"/b\",\"x\":1}]}"},
    {"{\"mounts\":[{\"destination\":\"-/a\"}]}",
     "{\"mounts\":[{\"destination\":\"/a\"},{\"destination\":\"/a\"}]}", "{\"mounts\":[]}"},
    {"{\"mounts\":[{\"destination\":\"-/a\"}]}", "{}", "{}"},
    {"{\"mounts\":[{\"destination\":\"-/a\"}]}", "{\"mounts\":[{\"destination\":\"/b\"}]}",
     "{\"mounts\":[{\"destination\":\"/b\"}]}"},
    {"{\"mounts\":[{\"destination\":\"/a\",\"source\":\"/n\"},{\"destination\":\"-/a\"}]}",
     "{\"mounts\":[{\"destination\":\"/a\",\"source\":\"/o\"}]}",
     "{\"mounts\":[{\"destination\":\"/a\",\"source\":\"/n\"}]}"},
    {"{\"mounts\":[{\"destination\":\"-/a/b\"}]}",
     "{\"mounts\":[{\"destination\":\"/a/./c/..//b/\"}]}", "{\"mounts\":[]}"},
    {"{\"mounts\":[{\"destination\":\"/a//b/\"}]}",
     "{\"mounts\":[{\"destination\":\"/a/b\",\"x\":1}]}",
     "{\"mounts\":[{\"destination\":\"/a//b/\"}]}"},
    {"{\"mounts\":[{\"destination\":\"\",\"source\":\"/s\"}]}", "{}",
     "!ContainerAdjustment.mounts[0].destination: must not be empty"},
    {"{\"mounts\":[{\"destination\":\"-\"}]}", "{}",
     "!ContainerAdjustment.mounts[0].destination: must not be \"-\""},
    {"{\"mounts\":[{\"destination\":\"/a\"}]}", "{\"mounts\":{}}",
     "!JSON:1:11: mounts: must be a list, found an object"},
    {"{\"mounts\":[{\"destination\":\"/a\"}]}", "{\"mounts\":[{},null]}",
     "!JSON:1:15: mounts[1]: must be an object, found null"},
    {"{\"mounts\":[{\"destination\":\"/a\"}]}", "{\"mounts\":[{\"destination\":[]}]}",
     "!JSON:1:27: mounts[0].destination: must be a text, found a list"},
};

static const struct fixture_row order[] = {
    {"{\"mounts\":[{\"destination\":\"/a/b/c\"},{\"destination\":\"/a\"},{\"destination\":\"/a/"
     "b\"}]}",
     "{\"mounts\":[{\"destination\":\"/z/y\"},{\"destination\":\"/z\"}]}",
     "{\"mounts\":[{\"destination\":\"/a\"},{\"destination\":\"/z\"},{\"destination\":\"/a/"
     "b\"},{\"destination\":\"/z/y\"},{\"destination\":\"/a/b/c\"}]}"},
    {"{\"mounts\":[{\"destination\":\"/b\"}]}",
     "{\"mounts\":[{\"destination\":\"/d\",\"x\":1},{\"destination\":\"/"
     "d\",\"x\":2},{\"destination\":\"/\"},{\"x\":3},{\"x\":4}]}",
     "{\"mounts\":[{\"x\":3},{\"x\":4},{\"destination\":\"/\"},{\"destination\":\"/"
     "b\"},{\"destination\":\"/d\",\"x\":1},{\"destination\":\"/d\",\"x\":2}]}"},
    {"{\"mounts\":[{\"destination\":\"/a/../../b\"},{\"destination\":\"/a/b\"}]}", "{}",
     "{\"mounts\":[{\"destination\":\"/a/../../b\"},{\"destination\":\"/a/b\"}]}"},
    {"{}", "{\"mounts\":[{\"destination\":\"/z/y\"},{\"destination\":\"/z\"}]}",
     "{\"mounts\":[{\"destination\":\"/z/y\"},{\"destination\":\"/z\"}]}"},
};

static void test_mounts(void **state)
{
    (void)state;
    fixture_rows(mounts, sizeof mounts / sizeof mounts[0], false, NULL);
}

static void test_order(void **state)
{
    (void)state;
    fixture_rows(order, sizeof order / sizeof order[0], false, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mounts),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
