/* SPDX-License-Identifier: Apache-2.0 */
/* Trees that are laid out like sysfs, and the machine that the test runs on. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "machine.h"
#include "textfile.h"
#include "tree.h"

static void put(const struct tree *tree, const char *file, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "devices/system/%s", file);
    tree_put(tree, path, text);
}

/* Two nodes, two cores each, two CPUs a core; node 2 has memory alone. */
static void put_machine(const struct tree *tree)
{
    static const char *const siblings[] = {"0,4", "1,5", "2,6", "3,7"};
    put(tree, "cpu/online", "0-7");
    put(tree, "node/online", "0-2");
    put(tree, "node/node0/cpulist", "0-1,4-5");
    put(tree, "node/node1/cpulist", "2-3,6-7");
    put(tree, "node/node2/cpulist", "");
    for (int number = 0; number < 8; number++) {
        char file[64];
        snprintf(file, sizeof file, "cpu/cpu%d/topology/core_cpus_list", number);
        put(tree, file, siblings[number % 4]);
    }
}

static void test_two_nodes(void **state)
{
    struct topology topology;
    char text[TOPOLOGY_TEXT];
    nri_cpuset *cpus = machine_set("3,6"), *nodes = machine_set("");
    put_machine(*state);
    assert_int_equal(topology_read(&topology, ((struct tree *)*state)->path, text), 0);
    assert_string_equal(text, "");
    assert_true(machine_is(topology.online, "0-7"));
    assert_int_equal(topology.count, 8);
    assert_int_equal(topology.node_count, 2);
    for (unsigned number = 0; number < 8; number++) {
        const struct topology_cpu *cpu = topology_cpu(&topology, number);
        assert_int_equal(cpu->number, number);
        assert_int_equal(cpu->core, number % 4);
        assert_int_equal(cpu->node, number % 4 / 2);
    }
    assert_null(topology_cpu(&topology, 8));
    assert_int_equal(topology_nodes(&topology, cpus, nodes), 0);
    assert_true(machine_is(nodes, "1"));
    topology_free(&topology);
    nri_cpuset_free(cpus);
    nri_cpuset_free(nodes);
}

/* CPU 0 is offline: the core of 4 is named by itself, though the kernel may still list 0. */
static void test_offline_sibling(void **state)
{
    struct topology topology;
    char text[TOPOLOGY_TEXT];
    put_machine(*state);
    put(*state, "cpu/online", "1-7");
    assert_int_equal(topology_read(&topology, ((struct tree *)*state)->path, text), 0);
    assert_null(topology_cpu(&topology, 0));
    assert_int_equal(topology_cpu(&topology, 4)->core, 4);
    assert_int_equal(topology_cpu(&topology, 5)->core, 1);
    topology_free(&topology);
}

/* No NUMA, the old name of a core's list, and CPUs without one. */
static void test_plain(void **state)
{
    struct topology topology;
    char text[TOPOLOGY_TEXT];
    put(*state, "cpu/online", "0,2-3");
    put(*state, "cpu/cpu3/topology/thread_siblings_list", "2-3");
    assert_int_equal(topology_read(&topology, ((struct tree *)*state)->path, text), 0);
    assert_int_equal(topology.count, 3);
    assert_int_equal(topology.node_count, 1);
    assert_int_equal(topology.nodes[0], 0);
    assert_int_equal(topology_cpu(&topology, 0)->core, 0);
    assert_int_equal(topology_cpu(&topology, 3)->core, 2);
    topology_free(&topology);
}

static void check_fault(struct tree *tree, const char *end)
{
    struct topology topology;
    char text[TOPOLOGY_TEXT], whole[TOPOLOGY_TEXT];
    assert_int_equal(topology_read(&topology, tree->path, text), -1);
    snprintf(whole, sizeof whole, "%s/devices/system/%s", tree->path, end);
    assert_string_equal(text, whole);
    topology_free(&topology);
}

static void test_faults(void **state)
{
    check_fault(*state, "cpu/online: No such file or directory");
    put(*state, "cpu/online", "");
    check_fault(*state, "cpu/online: no CPU is online");
    put(*state, "cpu/online", "0-16384");
    check_fault(*state, "cpu/online: more CPUs than 16384");
    put_machine(*state);
    put(*state, "cpu/cpu1/topology/core_cpus_list", "0");
    check_fault(*state, "cpu/cpu1/topology/core_cpus_list: the CPU itself is not in the list");
    put_machine(*state);
    put(*state, "node/online", "0,3");
    check_fault(*state, "node/node3/cpulist: No such file or directory");
}

static void test_syntax(void **state)
{
    struct topology topology;
    char text[TOPOLOGY_TEXT];
    put(*state, "cpu/online", "0-x");
    assert_int_equal(topology_read(&topology, ((struct tree *)*state)->path, text), -1);
    assert_non_null(strstr(text, "/devices/system/cpu/online: "));
    assert_non_null(strstr(text, "0-x"));
    topology_free(&topology);
}

static void test_this_machine(void **state)
{
    struct topology topology;
    char text[TOPOLOGY_TEXT];
    (void)state;
    if (access("/sys/devices/system/cpu/online", R_OK) != 0) {
        print_message("no sysfs here\n");
        skip();
    }
    assert_int_equal(topology_read(&topology, TOPOLOGY_DEFAULT_SYSFS, text), 0);
    assert_int_equal(topology.count, sysconf(_SC_NPROCESSORS_ONLN));
    assert_true(topology.node_count >= 1);
    topology_free(&topology);
}

static void test_textfile(void **state)
{
    char text[8];
    put(*state, "a", "1234567");
    const char *path = ((struct tree *)*state)->path;
    assert_int_equal(textfile_read(text, sizeof text, "%s/devices/system/a", path), -EFBIG);
    assert_string_equal(text, "");
    put(*state, "a", "12 34\t ");
    assert_int_equal(textfile_read(text, sizeof text, "%s/devices/system/a", path), -EFBIG);
    put(*state, "a", "12 34 ");
    assert_int_equal(textfile_read(text, sizeof text, "%s/devices/system/a", path), 0);
    assert_string_equal(text, "12 34");
    assert_int_equal(textfile_read(text, sizeof text, "%s", path), -EISDIR);
    assert_int_equal(textfile_read(text, sizeof text, "%s/none", path), -ENOENT);
    assert_int_equal(textfile_read(text, sizeof text, "%5000d", 1), -ENAMETOOLONG);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, tree_make, tree_remove)
    const struct CMUnitTest tests[] = {
        TEST(test_two_nodes), TEST(test_offline_sibling), TEST(test_plain),    TEST(test_faults),
        TEST(test_syntax),    TEST(test_this_machine),    TEST(test_textfile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
