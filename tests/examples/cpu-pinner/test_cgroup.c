/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "cgroup.h"
#include "machine.h"
#include "tree.h"

static void is_path(const char *cgroups_path, const char *wanted)
{
    char path[256];
    assert_int_equal(cgroup_path(cgroups_path, path, sizeof path), wanted == NULL ? -1 : 0);
    if (wanted != NULL)
        assert_string_equal(path, wanted);
}

static void test_paths(void **state)
{
    (void)state;
    is_path("/kubepods/pod1/c1", "/kubepods/pod1/c1");
    is_path("kubepods/c1", "/kubepods/c1");
    is_path("/with:two:colons", "/with:two:colons");
    is_path("kubepods-burstable-pod1_2.slice:cri-containerd:c1",
            "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice/"
            "cri-containerd-c1.scope");
    is_path("a.slice:crio:c1", "/a.slice/crio-c1.scope");
    is_path("-.slice:crio:c1", "/crio-c1.scope");
    is_path(":crio:c1", "/system.slice/crio-c1.scope");
    is_path("a.slice::c1", "/a.slice/c1.scope");
    is_path("a.slice:x:b-c.slice", "/a.slice/b.slice/b-c.slice");
    is_path("odd:x:c1", "/odd/x-c1.scope");
    is_path("", NULL);
    is_path("/..", NULL);
    is_path("/a/../../etc", NULL);
    is_path("../a", NULL);
    is_path("a.slice:x/../y:c1", NULL);
    is_path("/a/..b/c..", "/a/..b/c..");
}

static void test_room(void **state)
{
    char path[8];
    (void)state;
    assert_int_equal(cgroup_path("/123456", path, sizeof path), 0);
    assert_string_equal(path, "/123456");
    assert_int_equal(cgroup_path("/1234567", path, sizeof path), -1);
}

static int reads(const struct tree *tree, const char *cgroup, const char *cpus)
{
    nri_cpuset *seen = machine_set("100");
    const int code = cgroup_read_cpus(tree->path, cgroup, seen);
    if (code == 0)
        assert_true(machine_is(seen, cpus));
    nri_cpuset_free(seen);
    return code;
}

static void test_version_1(void **state)
{
    const struct tree *tree = *state;
    tree_put(tree, "cpuset/pod/c1/cpuset.cpus", "1-3");
    assert_int_equal(reads(tree, "/pod/c1", "1-3"), 0);
    assert_int_equal(reads(tree, "/pod/c2", ""), 1);
    tree_put(tree, "cpuset/pod/c1/cpuset.cpus", "what");
    assert_int_equal(reads(tree, "/pod/c1", ""), -1);
    assert_int_equal(reads(tree, "/../c1", ""), -1);
}

static void test_version_2(void **state)
{
    const struct tree *tree = *state;
    tree_put(tree, "cgroup.controllers", "cpuset cpu");
    tree_put(tree, "a.slice/a-b.slice/cri-c1.scope/cpuset.cpus", "2,5");
    assert_int_equal(reads(tree, "a-b.slice:cri:c1", "2,5"), 0);
    tree_put(tree, "a.slice/a-b.slice/cri-c1.scope/cpuset.cpus", "");
    assert_int_equal(reads(tree, "a-b.slice:cri:c1", ""), 0);
    assert_int_equal(reads(tree, "a-b.slice:cri:c2", ""), 1);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, tree_make, tree_remove)
    const struct CMUnitTest tests[] = {TEST(test_paths), TEST(test_room), TEST(test_version_1),
                                       TEST(test_version_2)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
