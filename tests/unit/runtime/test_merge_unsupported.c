/* SPDX-License-Identifier: Apache-2.0 */
/* A runtime that supports a part of NRI only: NRI_MERGE_UNSUPPORTED for the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "merge_case.h"

#define A(text) "{\"adjust\":" text "}"
#define L(text) A("{\"linux\":" text "}")
#define R(text) L("{\"resources\":" text "}")
#define U(text) "{\"update\":[" text "]}"

static const struct {
    enum nri_field field;
    const char *reply, *what;
} rows[] = {
    {NRI_FIELD_SYSCTL, L("{\"sysctl\":{\"net.k\":\"1\"}}"), "set Sysctl net.k"},
    {NRI_FIELD_SYSCTL, L("{\"sysctl\":{\"-net.k\":\"\"}}"), "remove Sysctl net.k"},
    {NRI_FIELD_MOUNTS, A("{\"mounts\":[{\"destination\":\"-/m\"}]}"), "remove Mounts /m"},
    {NRI_FIELD_DEVICES, L("{\"devices\":[{\"path\":\"/d\"}]}"), "set Devices /d"},
    {NRI_FIELD_DEVICES, R("{\"devices\":[{\"allow\":true,\"type\":\"a\"}]}"), "set Devices"},
    {NRI_FIELD_RLIMITS, A("{\"rlimits\":[{\"type\":\"RLIMIT_CORE\"}]}"), "set Rlimits RLIMIT_CORE"},
    {NRI_FIELD_NAMESPACE, L("{\"namespaces\":[{\"type\":\"-pid\"}]}"), "remove Namespace pid"},
    {NRI_FIELD_OCI_HOOKS, A("{\"hooks\":{\"poststop\":[{\"path\":\"/h\"}]}}"), "set OciHooks"},
    {NRI_FIELD_ARGS, A("{\"args\":[\"\"]}"), "set Args"},
    {NRI_FIELD_CGROUPS_PATH, L("{\"cgroups_path\":\"/a\"}"), "set CgroupsPath"},
    {NRI_FIELD_CPU_SHARES, R("{\"cpu\":{\"shares\":1}}"), "set CPUShares"},
    {NRI_FIELD_RDT_SCHEMATA, L("{\"rdt\":{\"schemata\":[\"a\"]}}"), "set RdtSchemata"},
    {NRI_FIELD_RDT_SCHEMATA, L("{\"rdt\":{\"remove\":true}}"), "remove RdtSchemata"},
    {NRI_FIELD_CPU_SHARES,
     U("{\"container_id\":\"c1\",\"linux\":{\"resources\":{\"cpu\":{\"shares\":1}}}}"),
     "set CPUShares"},
    {NRI_FIELD_CGROUPS_UNIFIED,
     U("{\"container_id\":\"c1\",\"linux\":{\"resources\":{\"unified\":{\"io.x\":\"1\"}}}}"),
     "set CgroupsUnified io.x"},
};

/* It fails by name, and what the runtime supports goes through all the same. */
static void test_U12_an_adjustment_that_is_not_supported(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[160];
        (void)snprintf(text, sizeof text,
                       "plugin \"20-b\" tried to %s, which the runtime does not support",
                       rows[i].what);
        struct merge_case one = {
            .name = rows[i].what,
            .replies = {A("{\"env\":[{\"key\":\"K\",\"value\":\"1\"}]}"), rows[i].reply},
            .error = text,
            .field = rows[i].field,
            .policy = NRI_MERGE_UNSUPPORTED};
        merge_case_check(&one);
        one.go = true;
        merge_case_check(&one);
        one = (struct merge_case){.name = rows[i].what,
                                  .replies = {rows[i].reply},
                                  .field = NRI_FIELD_ENV,
                                  .policy = NRI_MERGE_UNSUPPORTED};
        merge_case_check(&one);
    }
}

static void test_an_empty_list_is_no_adjustment(void **state)
{
    static const struct merge_case cases[] = {
        {.name = "hooks",
         .replies = {A("{\"hooks\":{}}")},
         .result = "{}",
         .field = NRI_FIELD_OCI_HOOKS,
         .policy = NRI_MERGE_UNSUPPORTED},
        {.name = "an update that may fail is passed over",
         .replies = {U("{\"container_id\":\"c1\",\"ignore_failure\":true,\"linux\":{\"resources\":"
                       "{\"cpu\":{\"shares\":1,\"quota\":\"2\"}}}}")},
         .result = U("{\"container_id\":\"c1\",\"ignore_failure\":true}"),
         .field = NRI_FIELD_CPU_SHARES,
         .policy = NRI_MERGE_UNSUPPORTED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        merge_case_check(&cases[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_U12_an_adjustment_that_is_not_supported),
        cmocka_unit_test(test_an_empty_list_is_no_adjustment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
