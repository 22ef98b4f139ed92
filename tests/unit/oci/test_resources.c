/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each field of LinuxResources, as an update: set on an empty document, set over what is there, and
 * a wrong type in its place.
 */
#include "fixture.h"

static const struct fixture_row cpu[] = {
    {"{\"cpu\":{\"shares\":2,\"quota\":-1,\"period\":100000,\"realtime_runtime\":3,\"realtime_"
     "period\":4,\"cpus\":\"0-3\",\"mems\":\"0\"}}",
     "{}",
     "{\"linux\":{\"resources\":{\"cpu\":{\"shares\":2,\"quota\":-1,\"period\":100000,"
     "\"realtimeRuntime\":3,\"realtimePeriod\":4,\"cpus\":\"0-3\",\"mems\":\"0\"}}}}"},
    {"{\"cpu\":{\"quota\":5}}",
     "{\"linux\":{\"resources\":{\"cpu\":{\"burst\":7,\"quota\":1,\"cpus\":\"1\"},\"x\":1}}}",
     "{\"linux\":{\"resources\":{\"cpu\":{\"burst\":7,\"quota\":5,\"cpus\":\"1\"},\"x\":1}}}"},
    {"{\"cpu\":{\"shares\":0}}", "{}", "{\"linux\":{\"resources\":{\"cpu\":{\"shares\":0}}}}"},
    {"{\"cpu\":{}}", "{\"linux\":7}", "{\"linux\":7}"},
    {"{\"cpu\":{\"shares\":1}}", "{\"linux\":{\"resources\":[]}}",
     "!JSON:1:23: linux.resources: must be an object, found a list"},
    {"{\"cpu\":{\"shares\":1}}", "{\"linux\":{\"resources\":{\"cpu\":\"x\"}}}",
     "!JSON:1:30: linux.resources.cpu: must be an object, found a text"},
};

static const struct fixture_row memory[] = {
    {"{\"memory\":{\"limit\":9223372036854775807,\"reservation\":1,\"swap\":-1,\"kernel\":2,"
     "\"kernel_tcp\":3,\"swappiness\":100,\"disable_oom_killer\":true,\"use_hierarchy\":false}}",
     "{}",
     "{\"linux\":{\"resources\":{\"memory\":{\"limit\":9223372036854775807,\"reservation\":1,"
     "\"swap\":-1,\"kernel\":2,\"kernelTCP\":3,\"swappiness\":100,\"disableOOMKiller\":true,"
     "\"useHierarchy\":false}}}}"},
    {"{\"memory\":{\"reservation\":5,\"disable_oom_killer\":false}}",
     "{\"linux\":{\"resources\":{\"memory\":{\"checkBeforeUpdate\":true,\"reservation\":1,"
     "\"limit\":2}}}}",
     "{\"linux\":{\"resources\":{\"memory\":{\"checkBeforeUpdate\":true,\"reservation\":5,"
     "\"limit\":2,\"disableOOMKiller\":false}}}}"},
    {"{\"memory\":{\"limit\":0}}", "{\"linux\":{\"resources\":{\"memory\":{\"limit\":5}}}}",
     "{\"linux\":{\"resources\":{\"memory\":{\"limit\":0}}}}"},
    {"{\"memory\":{}}", "{}", "{}"},
    {"{\"memory\":{\"limit\":1}}", "{\"linux\":{\"resources\":{\"memory\":7}}}",
     "!JSON:1:33: linux.resources.memory: must be an object, found a number"},
};

static const struct fixture_row swap_follows_the_limit[] = {
    {"{\"memory\":{\"limit\":50}}",
     "{\"linux\":{\"resources\":{\"memory\":{\"limit\":100,\"swap\":100}}}}",
     "{\"linux\":{\"resources\":{\"memory\":{\"limit\":50,\"swap\":50}}}}"},
    {"{\"memory\":{\"limit\":200}}",
     "{\"linux\":{\"resources\":{\"memory\":{\"limit\":100,\"swap\":100}}}}",
     "{\"linux\":{\"resources\":{\"memory\":{\"limit\":200,\"swap\":200}}}}"},
    {"{\"memory\":{\"limit\":200}}",
     "{\"linux\":{\"resources\":{\"memory\":{\"limit\":100,\"swap\":150}}}}",
     "{\"linux\":{\"resources\":{\"memory\":{\"limit\":200,\"swap\":200}}}}"},
    {"{\"memory\":{\"limit\":-1}}",
     "{\"linux\":{\"resources\":{\"memory\":{\"limit\":100,\"swap\":150}}}}",
     "{\"linux\":{\"resources\":{\"memory\":{\"limit\":-1,\"swap\":-1}}}}"},
    {"{\"memory\":{\"limit\":120}}",
     "{\"linux\":{\"resources\":{\"memory\":{\"limit\":100,\"swap\":150}}}}",
     "{\"linux\":{\"resources\":{\"memory\":{\"limit\":120,\"swap\":150}}}}"},
    {"{\"memory\":{\"limit\":120}}",
     "{\"linux\":{\"resources\":{\"memory\":{\"limit\":100,\"swap\":-1}}}}",
     "{\"linux\":{\"resources\":{\"memory\":{\"limit\":120,\"swap\":-1}}}}"},
    {"{\"memory\":{\"limit\":120}}", "{\"linux\":{\"resources\":{\"memory\":{\"limit\":100}}}}",
     "{\"linux\":{\"resources\":{\"memory\":{\"limit\":120}}}}"},
    {"{\"memory\":{\"limit\":120}}", "{\"linux\":{\"resources\":{\"memory\":{\"swap\":0}}}}",
     "{\"linux\":{\"resources\":{\"memory\":{\"swap\":0,\"limit\":120}}}}"},
    {"{\"memory\":{\"limit\":120,\"swap\":130}}",
     "{\"linux\":{\"resources\":{\"memory\":{\"limit\":100,\"swap\":100}}}}",
     "{\"linux\":{\"resources\":{\"memory\":{\"limit\":120,\"swap\":130}}}}"},
    {"{\"memory\":{\"limit\":1}}", "{\"linux\":{\"resources\":{\"memory\":{\"swap\":\"x\"}}}}",
     "!JSON:1:41: linux.resources.memory.swap: must be a number, found a text"},
    {"{\"memory\":{\"limit\":1}}", "{\"linux\":{\"resources\":{\"memory\":{\"swap\":1.5}}}}",
     "!JSON:1:41: linux.resources.memory.swap: must be an integer of 64 bits"},
};

static const struct fixture_row hugepages[] = {
    {"{\"hugepage_limits\":[{\"page_size\":\"2MB\",\"limit\":18446744073709551615}]}", "{}",
     "{\"linux\":{\"resources\":{\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":"
     "18446744073709551615}]}}}"},
    {"{\"hugepage_limits\":[{\"page_size\":\"1GB\",\"limit\":1},{\"page_size\":\"2MB\",\"limit\":2}"
     ",{\"page_size\":\"2MB\",\"limit\":3}]}",
     "{\"linux\":{\"resources\":{\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":9,\"x\":1},{"
     "\"pageSize\":\"64KB\",\"limit\":8}]}}}",
     "{\"linux\":{\"resources\":{\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":3,\"x\":1},{"
     "\"pageSize\":\"64KB\",\"limit\":8},{\"pageSize\":\"1GB\",\"limit\":1}]}}}"},
    {"{\"hugepage_limits\":[{\"page_size\":\"2MB\"}]}",
     "{\"linux\":{\"resources\":{\"hugepageLimits\":{}}}}",
     "!JSON:1:41: linux.resources.hugepageLimits: must be a list, found an object"},
    {"{\"hugepage_limits\":[{\"limit\":1}]}", "{}",
     "!ContainerUpdate.linux.resources.hugepage_limits[0].page_size: must not be empty"},
};

static const struct fixture_row unified[] = {
    {"{\"unified\":{\"memory.high\":\"1\"}}", "{}",
     "{\"linux\":{\"resources\":{\"unified\":{\"memory.high\":\"1\"}}}}"},
    {"{\"unified\":{\"memory.high\":\"2\",\"-x\":\"3\"}}",
     "{\"linux\":{\"resources\":{\"unified\":{\"memory.high\":\"1\",\"cpu.idle\":\"1\",\"x\":\"0\"}"
     "}}}",
     "{\"linux\":{\"resources\":{\"unified\":{\"memory.high\":\"2\",\"cpu.idle\":\"1\",\"x\":\"0\","
     "\"-x\":\"3\"}}}}"},
    {"{\"unified\":{\"memory.high\":\"1\"}}", "{\"linux\":{\"resources\":{\"unified\":[]}}}",
     "!JSON:1:34: linux.resources.unified: must be an object, found a list"},
    {"{\"unified\":{\"\":\"1\"}}", "{}",
     "!ContainerUpdate.linux.resources.unified[0].key: must not be empty"},
};

static const struct fixture_row pids[] = {
    {"{\"pids\":{\"limit\":5}}", "{}", "{\"linux\":{\"resources\":{\"pids\":{\"limit\":5}}}}"},
    {"{\"pids\":{\"limit\":-1}}", "{\"linux\":{\"resources\":{\"pids\":{\"limit\":7,\"x\":1}}}}",
     "{\"linux\":{\"resources\":{\"pids\":{\"limit\":-1,\"x\":1}}}}"},
    {"{\"pids\":{}}", "{}", "{\"linux\":{\"resources\":{\"pids\":{\"limit\":0}}}}"},
    {"{\"pids\":{\"limit\":5}}", "{\"linux\":{\"resources\":{\"pids\":5}}}",
     "!JSON:1:31: linux.resources.pids: must be an object, found a number"},
};

static const struct fixture_row device_rules[] = {
    {"{\"devices\":[{\"access\":\"rwm\"},{\"allow\":true,\"type\":\"c\",\"major\":1,\"minor\":0,"
     "\"access\":\"r\"}]}",
     "{}",
     "{\"linux\":{\"resources\":{\"devices\":[{\"allow\":false,\"access\":\"rwm\"},{\"allow\":true,"
     "\"type\":\"c\",\"major\":1,\"minor\":0,\"access\":\"r\"}]}}}"},
    {"{\"devices\":[{\"allow\":true,\"type\":\"c\",\"major\":1,\"minor\":2,\"access\":\"r\"}]}",
     "{\"linux\":{\"resources\":{\"devices\":[{\"allow\":false},{\"allow\":true,\"type\":\"c\","
     "\"major\":1,\"minor\":2,\"access\":\"r\"},{\"allow\":true,\"type\":\"b\"}]}}}",
     "{\"linux\":{\"resources\":{\"devices\":[{\"allow\":false},{\"allow\":true,\"type\":\"c\","
     "\"major\":1,\"minor\":2,\"access\":\"r\"},{\"allow\":true,\"type\":\"b\"}]}}}"},
    {"{\"devices\":[{\"allow\":true,\"type\":\"c\",\"major\":1,\"access\":\"r\"}]}",
     "{\"linux\":{\"resources\":{\"devices\":[{\"allow\":true,\"type\":\"c\",\"major\":1,"
     "\"access\":\"r\"},{\"allow\":false,\"access\":\"m\"}]}}}",
     "{\"linux\":{\"resources\":{\"devices\":[{\"allow\":true,\"type\":\"c\",\"major\":1,"
     "\"access\":\"r\"},{\"allow\":false,\"access\":\"m\"},{\"allow\":true,\"type\":\"c\","
     "\"major\":1,\"access\":\"r\"}]}}}"},
    {"{\"devices\":[{\"allow\":true,\"type\":\"a\",\"access\":\"r\"}]}",
     "{\"linux\":{\"resources\":{\"devices\":[{\"allow\":true,\"access\":\"r\"}]}}}",
     "{\"linux\":{\"resources\":{\"devices\":[{\"allow\":true,\"access\":\"r\"}]}}}"},
    {"{\"devices\":[{\"allow\":true,\"access\":\"r\"}]}",
     "{\"linux\":{\"resources\":{\"devices\":[{\"allow\":true,\"access\":\"r\"},{\"allow\":7}]}}}",
     "{\"linux\":{\"resources\":{\"devices\":[{\"allow\":true,\"access\":\"r\"},{\"allow\":7},{"
     "\"allow\":true,\"access\":\"r\"}]}}}"},
    {"{\"devices\":[{\"allow\":true}]}", "{\"linux\":{\"resources\":{\"devices\":{}}}}",
     "!JSON:1:34: linux.resources.devices: must be a list, found an object"},
    {"{\"devices\":[{\"allow\":true}]}", "{\"linux\":{\"resources\":{\"devices\":[7]}}}",
     "!JSON:1:35: linux.resources.devices[0]: must be an object, found a number"},
};

static const struct fixture_row classes[] = {
    {"{\"blockio_class\":\"\"}", "{\"linux\":{\"resources\":{\"blockIO\":{\"weight\":1},\"x\":1}}}",
     "{\"linux\":{\"resources\":{\"x\":1}}}"},
    {"{\"blockio_class\":\"\"}", "{}", "{}"},
    {"{\"rdt_class\":\"\"}", "{\"linux\":{\"intelRdt\":{\"closID\":\"x\"},\"x\":1}}",
     "{\"linux\":{\"x\":1}}"},
    {"{\"rdt_class\":\"\"}", "{}", "{}"},
    {"{\"blockio_class\":\"slow\"}", "{}",
     "!ContainerUpdate.linux.resources.blockio_class: this runtime has no classes "
     "(nri_oci_options.resolve_blockio)"},
    {"{\"rdt_class\":\"gold\"}", "{}",
     "!ContainerUpdate.linux.resources.rdt_class: this runtime has no classes "
     "(nri_oci_options.resolve_rdt)"},
};

static void test_cpu(void **state)
{
    (void)state;
    fixture_rows(cpu, sizeof cpu / sizeof cpu[0], true, NULL);
}

static void test_memory(void **state)
{
    (void)state;
    fixture_rows(memory, sizeof memory / sizeof memory[0], true, NULL);
}

static void test_swap_follows_the_limit(void **state)
{
    (void)state;
    fixture_rows(swap_follows_the_limit,
                 sizeof swap_follows_the_limit / sizeof swap_follows_the_limit[0], true, NULL);
}

static void test_hugepages(void **state)
{
    (void)state;
    fixture_rows(hugepages, sizeof hugepages / sizeof hugepages[0], true, NULL);
}

static void test_unified(void **state)
{
    (void)state;
    fixture_rows(unified, sizeof unified / sizeof unified[0], true, NULL);
}

static void test_pids(void **state)
{
    (void)state;
    fixture_rows(pids, sizeof pids / sizeof pids[0], true, NULL);
}

static void test_device_rules(void **state)
{
    (void)state;
    fixture_rows(device_rules, sizeof device_rules / sizeof device_rules[0], true, NULL);
}

static void test_classes(void **state)
{
    (void)state;
    fixture_rows(classes, sizeof classes / sizeof classes[0], true, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_swap_follows_the_limit),
        cmocka_unit_test(test_hugepages),
        cmocka_unit_test(test_unified),
        cmocka_unit_test(test_pids),
        cmocka_unit_test(test_device_rules),
        cmocka_unit_test(test_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
