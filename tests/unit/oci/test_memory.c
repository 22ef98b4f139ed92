/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation fails once: the call says so, gives nothing out and leaves nothing behind. */
#include <stdio.h>

#include "fail_alloc.h"
#include "fixture.h"

static const char *directory; /* of the configurations */

static int inject(const char *json, size_t length, const char *const *names, size_t count,
                  nri_oci_answer *answer, void *user)
{
    (void)names;
    (void)count;
    (void)user;
    return nri_oci_answer_json(answer, json, length);
}

static int resolve(const char *name, nri_oci_answer *answer, void *user)
{
    (void)name;
    (void)user;
    return nri_oci_answer_json(answer, "{\"weight\":1}", 12);
}

static int accept_all(const nri_resources *resources, nri_oci_answer *answer, void *user)
{
    (void)resources;
    (void)answer;
    (void)user;
    return 0;
}

static const char change[] =
    "{\"annotations\":{\"a\":\"1\",\"-b\":\"\"},\"mounts\":[{\"destination\":\"/a\",\"source\":"
    "\"/srv\",\"options\":[\"rshared\"]},{\"destination\":\"-/data\"}],\"env\":[{\"key\":\"PATH\","
    "\"value\":\"1\"},{\"key\":\"-EMPTY\"}],\"hooks\":{\"prestart\":[{\"path\":\"/h\",\"args\":["
    "\"x\"]}]},\"args\":[\"a\"],\"CDI_devices\":[{\"name\":\"v.com/c=1\"}],\"rlimits\":[{\"type\":"
    "\"RLIMIT_CORE\"}],\"linux\":{\"devices\":[{\"path\":\"/dev/a\",\"type\":\"c\"},{\"path\":"
    "\"-/dev/fuse\"}],\"resources\":{\"memory\":{\"limit\":5},\"hugepage_limits\":[{\"page_size\":"
    "\"2MB\"}],\"unified\":{\"u\":\"1\"},\"devices\":[{\"allow\":true}],\"blockio_class\":\"b\","
    "\"rdt_class\":\"r\"},\"seccomp_policy\":{\"default_action\":\"SCMP_ACT_ALLOW\",\"syscalls\":["
    "{\"names\":[\"read\"],\"args\":[{}]}]},\"namespaces\":[{\"type\":\"-pid\"}],\"sysctl\":{\"s\":"
    "\"1\"},\"net_devices\":{\"e\":{}},\"scheduler\":{\"policy\":1,\"flags\":[0]},\"rdt\":{"
    "\"schemata\":[\"x\"]},\"memory_policy\":{\"flags\":[0]}}}";

static char *load(const char *name)
{
    char path[1024], *text = calloc(1, 65536);
    assert_non_null(text);
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_true(fread(text, 1, 65535, file) > 1000);
    fclose(file);
    return text;
}

struct sweep {
    struct nri_oci_options options;
    struct nri_json_options json;
    struct nri_allocator allocator;
    struct fail_alloc memory;
    struct fixture_mounts mounts;
};

/* Returns how many allocations there are. */
static size_t fail_each(struct sweep *sweep, const char *before)
{
    const struct fixture_run run = {change, before, false, &sweep->options, &sweep->mounts};
    for (size_t n = 1;; n++) {
        nri_error *error = NULL;
        char *after;
        fail_alloc_arm(&sweep->memory, n);
        const int code = fixture_apply(&run, &after, &error);
        nri_json_free(after);
        const bool out_of_memory = nri_error_get_code(error) == NRI_E_NOMEM;
        nri_error_free(error);
        assert_int_equal(sweep->memory.live_blocks, 0);
        if (!sweep->memory.fired) {
            assert_int_equal(code, 0);
            return n - 1;
        }
        assert_int_equal(code, NRI_E_NOMEM);
        assert_true(out_of_memory);
    }
}

/* Memory comes in chunks, of which one allocation in many takes a new one. A text in front of the
 * document moves all that is behind it, so that each of them is once the one. */
static void sweep_all(uint32_t go)
{
    struct sweep sweep = {.mounts = {"/srv", NRI_PROPAGATION_SHARED, 0, 0}};
    char *document = load("full.json"), *before = malloc(70000);
    assert_non_null(before);
    fail_alloc_init(&sweep.memory, &sweep.allocator);
    nri_json_options_init(&sweep.json, sizeof sweep.json);
    sweep.json.allocator = &sweep.allocator;
    nri_oci_options_init(&sweep.options, sizeof sweep.options);
    sweep.options.json = &sweep.json;
    sweep.options.inject_cdi = inject;
    sweep.options.resolve_blockio = resolve;
    sweep.options.resolve_rdt = resolve;
    sweep.options.check_resources = accept_all;
    sweep.options.go_compatible = go;
    for (int pad = 0; pad < 4096; pad += 16) {
        snprintf(before, 70000, "{\"pad\":\"%*s\",%s", pad, "", document + 1);
        assert_in_range(fail_each(&sweep, before), 10, 100);
    }
    free(before);
    free(document);
}

static void test_sweep(void **state)
{
    (void)state;
    sweep_all(0);
    sweep_all(1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweep),
    };
    if (argc != 2)
        return 2;
    directory = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
