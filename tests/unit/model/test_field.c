/* SPDX-License-Identifier: Apache-2.0 */
#include <nri/field.h>

#include "fixture.h"
#include "proto/nri.pb-c.h"

/* Constants that stand for a row of the protocol's enum each: first, last, and where names are
 * spelled oddly. */
static void test_constants_are_the_protocols(void **state)
{
    static const struct {
        int field;
        const char *name;
    } rows[] = {
        {NRI_FIELD_ANNOTATIONS, "Annotations"},
        {NRI_FIELD_MEM_TCP_LIMIT, "MemTCPLimit"},
        {NRI_FIELD_CPU_SHARES, "CPUShares"},
        {NRI_FIELD_CPUSET_CPUS, "CPUSetCPUs"},
        {NRI_FIELD_CPUSET_MEMS, "CPUSetMems"},
        {NRI_FIELD_CGROUPS_UNIFIED, "CgroupsUnified"},
        {NRI_FIELD_LINUX_NET_DEVICES, "LinuxNetDevices"},
        {NRI_FIELD_LINUX_SCHED, "LinuxSched"},
        {NRI_FIELD_RDT_CLOS_ID, "RdtClosID"},
        {NRI_FIELD_MEMORY_POLICY, "MemoryPolicy"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(nri_field_name(rows[i].field), rows[i].name);
}

static void test_every_field_has_its_name(void **state)
{
    const ProtobufCEnumDescriptor *type = &nri__pkg__api__v1alpha1__field__descriptor;
    (void)state;
    assert_int_equal(type->n_values, NRI_FIELD_MEMORY_POLICY + 1);
    for (unsigned i = 0; i < type->n_values; i++)
        assert_string_equal(nri_field_name(type->values[i].value), type->values[i].name);
}

static void test_no_field_has_a_question_mark(void **state)
{
    (void)state;
    assert_string_equal(nri_field_name(-1), "?");
    assert_string_equal(nri_field_name(NRI_FIELD_MEMORY_POLICY + 1), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants_are_the_protocols),
        cmocka_unit_test(test_every_field_has_its_name),
        cmocka_unit_test(test_no_field_has_a_question_mark),
    };
    return cmocka_run_group_tests_name("field", tests, NULL, NULL);
}
