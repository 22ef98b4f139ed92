/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A container as an OCI configuration: each field that plugins set shows, before and after an
 * adjustment, in the difference between both, and after an update.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "difference.h"
#include "memory.h"
#include "model/model.h"
#include "view.h"

static const uint64_t seed[2] = {1, 2};

/* Every field that an adjustment has. */
static const char adjustment_json[] =
    "{\"annotations\": {\"example.org/a\": \"1\"},"
    " \"mounts\": [{\"destination\": \"/m\", \"type\": \"bind\", \"source\": \"/src\","
    "   \"options\": [\"ro\"]}],"
    " \"env\": [{\"key\": \"NAME\", \"value\": \"v\"}],"
    " \"hooks\": {\"poststop\": [{\"path\": \"/hook\"}]},"
    " \"args\": [\"true\"],"
    " \"rlimits\": [{\"type\": \"RLIMIT_NOFILE\", \"hard\": 2, \"soft\": 1}],"
    " \"CDI_devices\": [{\"name\": \"vendor.com/net=eth0\"}],"
    " \"linux\": {"
    "   \"devices\": [{\"path\": \"/dev/d\", \"type\": \"c\", \"major\": 1, \"minor\": 0}],"
    "   \"resources\": {"
    "     \"memory\": {\"limit\": 1048576, \"reservation\": 2, \"swap\": 2097152, \"kernel\": 4,"
    "       \"kernel_tcp\": 5, \"swappiness\": 6, \"disable_oom_killer\": true,"
    "       \"use_hierarchy\": true},"
    "     \"cpu\": {\"shares\": 10, \"quota\": 20000, \"period\": 100000,"
    "       \"realtime_runtime\": 3, \"realtime_period\": 4, \"cpus\": \"0-1\", \"mems\": \"0\"},"
    "     \"hugepage_limits\": [{\"page_size\": \"2MB\", \"limit\": 4194304}],"
    "     \"blockio_class\": \"gold\", \"rdt_class\": \"silver\","
    "     \"unified\": {\"memory.high\": \"1\"}, \"pids\": {\"limit\": 7}},"
    "   \"cgroups_path\": \"/c\", \"oom_score_adj\": 9,"
    "   \"io_priority\": {\"class\": \"IOPRIO_CLASS_BE\", \"priority\": 3},"
    "   \"seccomp_policy\": {\"default_action\": \"SCMP_ACT_ALLOW\"},"
    "   \"namespaces\": [{\"type\": \"network\", \"path\": \"/n\"}],"
    "   \"sysctl\": {\"net.core.somaxconn\": \"1\"},"
    "   \"net_devices\": {\"eth1\": {\"name\": \"in1\"}},"
    "   \"scheduler\": {\"policy\": \"SCHED_BATCH\", \"nice\": 1},"
    "   \"rdt\": {\"clos_id\": \"c\", \"schemata\": [\"L3:0=f\"], \"enable_monitoring\": true},"
    "   \"memory_policy\": {\"mode\": \"MPOL_BIND\", \"nodes\": \"0\"}}}";

/* The keys of the fields that have some. */
static const char *const keys[NRI_FIELD_MEMORY_POLICY + 1] = {
    [NRI_FIELD_ANNOTATIONS] = "example.org/a",
    [NRI_FIELD_MOUNTS] = "/m",
    [NRI_FIELD_DEVICES] = "/dev/d",
    [NRI_FIELD_CDI_DEVICES] = "vendor.com/net=eth0",
    [NRI_FIELD_ENV] = "NAME",
    [NRI_FIELD_HUGEPAGE_LIMITS] = "2MB",
    [NRI_FIELD_CGROUPS_UNIFIED] = "memory.high",
    [NRI_FIELD_RLIMITS] = "RLIMIT_NOFILE",
    [NRI_FIELD_NAMESPACE] = "network",
    [NRI_FIELD_SYSCTL] = "net.core.somaxconn",
    [NRI_FIELD_LINUX_NET_DEVICES] = "eth1",
};

struct fixture {
    struct nri_arena arena;
    struct view view;
    struct nri_error error;
    nri_adjustment *adjustment;
    nri_container *container;
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    if (fixture == NULL)
        return -1;
    memory_arena(&fixture->arena, (size_t)64 << 20);
    fixture->view = (struct view){.arena = &fixture->arena, .seed = {seed[0], seed[1]}};
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    nri_adjustment_free(fixture->adjustment);
    nri_container_free(fixture->container);
    nri_arena_fini(&fixture->arena);
    free(fixture);
    return 0;
}

static const Nri__Pkg__Api__V1alpha1__ContainerAdjustment *adjustment_of(struct fixture *fixture,
                                                                         const char *json)
{
    nri_error *error = NULL;
    assert_int_equal(nri_adjustment_new(&fixture->adjustment, NULL), 0);
    (void)nri_adjustment_merge_json(fixture->adjustment, json, strlen(json), NULL, &error);
    assert_string_equal(nri_error_get_text(error), "");
    const Nri__Pkg__Api__V1alpha1__ContainerAdjustment *message =
        nri_adjustment_message(fixture->adjustment);
    assert_non_null(message);
    return message;
}

static struct view_document view_of(struct fixture *fixture, const char *json, bool whole)
{
    struct view_document document;
    nri_error *error = NULL;
    if (nri_container_from_json(json, strlen(json), NULL, &fixture->container, &error) != 0)
        fail_msg("%s", nri_error_get_text(error));
    assert_int_equal(
        view_container(&fixture->view, fixture->container, whole, &document, &fixture->error), 0);
    return document;
}

static const struct nri_json *value_of(struct fixture *fixture, struct view_document *document,
                                       int field)
{
    const struct nri_json *value;
    assert_int_equal(view_value(&fixture->view, document, field, keys[field], &value), 0);
    return value;
}

static char *text_of(struct fixture *fixture, const struct nri_json *value)
{
    struct nri_buf buf;
    memory_buf(&buf, SIZE_MAX);
    assert_int_equal(nri_json_write(value, 0, &buf), 0);
    char *text = nri_arena_text(&fixture->arena, memory_text(&buf), nri_buf_size(&buf));
    nri_buf_fini(&buf);
    assert_non_null(text);
    return text;
}

/* No field is forgotten: each has a place, a value there after an adjustment of all, and a
 * difference that names the place. */
static void test_every_field(void **state)
{
    struct fixture *fixture = *state;
    struct view_document after, before = view_of(fixture, "{}", false);
    struct difference_list list;
    struct nri_buf paths;
    assert_int_equal(view_adjusted(&fixture->view, &before, adjustment_of(fixture, adjustment_json),
                                   &after, &fixture->error),
                     0);
    assert_int_equal(difference_make(&fixture->arena, seed, before.root, after.root, &list), 0);
    memory_buf(&paths, SIZE_MAX);
    for (size_t i = 0; i < list.count; i++) {
        assert_int_equal(difference_path(list.items[i].place, &paths), 0);
        assert_int_equal(nri_buf_append(&paths, "\n", 1), 0);
    }
    assert_int_equal(nri_buf_append(&paths, "", 1), 0);
    for (int field = NRI_FIELD_NONE + 1; strcmp(nri_field_name(field), "?") != 0; field++) {
        assert_non_null(view_field_path(field));
        assert_true(view_field_keyed(field) == (keys[field] != NULL));
        if (value_of(fixture, &before, field) != NULL || value_of(fixture, &after, field) == NULL ||
            strstr(memory_text(&paths), view_field_path(field)) == NULL)
            fail_msg("%s: %s", nri_field_name(field), memory_text(&paths));
    }
    assert_string_equal(view_field_path(NRI_FIELD_NONE), "linux.resources.devices");
    assert_null(view_field_path(NRI_FIELD_MEMORY_POLICY + 1));
    assert_null(view_field_path(-1));
    nri_buf_fini(&paths);
}

/* What plugins are told of a container has the same places. */
static void test_container(void **state)
{
    struct fixture *fixture = *state;
    static const char json[] =
        "{\"id\": \"c1\", \"name\": \"web\", \"annotations\": {\"example.org/a\": \"1\"},"
        " \"args\": [\"sh\"], \"env\": [\"NAME=v\"], \"CDI_devices\": [{\"name\": \"a.b/cd=d\"}],"
        " \"user\": {\"uid\": 0, \"gid\": 5},"
        " \"mounts\": [{\"destination\": \"/m\", \"type\": \"bind\"}],"
        " \"rlimits\": [{\"type\": \"RLIMIT_CORE\", \"hard\": 0, \"soft\": 0}],"
        " \"linux\": {\"oom_score_adj\": 0, \"devices\": [{\"path\": \"/dev/d\", \"type\": \"p\"}],"
        "  \"resources\": {\"blockio_class\": \"\", \"rdt_class\": \"gold\","
        "    \"devices\": [{\"allow\": false, \"access\": \"rwm\"}],"
        "    \"memory\": {\"limit\": 0}},"
        "  \"net_devices\": {\"eth0\": {}}, \"seccomp_profile\": {\"profile_type\": 1},"
        "  \"rdt\": {\"schemata\": []}}}";
    struct view_document document = view_of(fixture, json, false);
    assert_string_equal(
        text_of(fixture, document.root),
        "{\"process\":{\"args\":[\"sh\"],\"env\":[\"NAME=v\"],\"user\":{\"uid\":0,\"gid\":5},"
        "\"rlimits\":[{\"type\":\"RLIMIT_CORE\",\"hard\":0,\"soft\":0}],\"oomScoreAdj\":0},"
        "\"mounts\":[{\"destination\":\"/m\",\"type\":\"bind\"}],"
        "\"annotations\":{\"example.org/a\":\"1\"},"
        "\"linux\":{\"devices\":[{\"path\":\"/dev/d\",\"type\":\"p\",\"major\":0,\"minor\":0}],"
        "\"resources\":{\"memory\":{\"limit\":0},\"devices\":[{\"allow\":false,\"access\":\"rwm\"}]"
        "},\"netDevices\":{\"eth0\":{}},\"intelRdt\":{\"schemata\":[]}},"
        "\"nri\":{\"blockio_class\":\"\",\"rdt_class\":\"gold\",\"CDI_devices\":[\"a.b/cd=d\"]}}");
    nri_container_free(fixture->container);
    document = view_of(fixture, json, true);
    const struct nri_json *extras = nri_json_get(document.root, "nri");
    assert_string_equal(nri_json_string(nri_json_get(extras, "id"), NULL), "c1");
    assert_string_equal(nri_json_string(nri_json_get(extras, "name"), NULL), "web");
    assert_non_null(nri_json_get(extras, "seccomp_profile"));
    assert_null(nri_json_get(extras, "env"));
}

/* An adjustment replaces and removes; what OCI has no form for is added to what is there. */
static void test_adjusted(void **state)
{
    struct fixture *fixture = *state;
    struct view_document after,
        before =
            view_of(fixture,
                    "{\"env\": [\"A=1\", \"B=2\"], \"CDI_devices\": [{\"name\": \"a.b/cd=d\"}],"
                    " \"linux\": {\"resources\": {\"rdt_class\": \"old\"}}}",
                    false);
    const char *change = "{\"env\": [{\"key\": \"-A\"}, {\"key\": \"B\", \"value\": \"3\"}],"
                         " \"CDI_devices\": [{\"name\": \"a.b/cd=e\"}],"
                         " \"linux\": {\"resources\": {\"rdt_class\": \"new\"}}}";
    assert_int_equal(view_adjusted(&fixture->view, &before, adjustment_of(fixture, change), &after,
                                   &fixture->error),
                     0);
    assert_string_equal(text_of(fixture, after.root),
                        "{\"process\":{\"env\":[\"B=3\"]},\"nri\":{\"rdt_class\":\"new\","
                        "\"CDI_devices\":[\"a.b/cd=d\",\"a.b/cd=e\"]}}");
    assert_string_equal(text_of(fixture, nri_json_get(before.root, "process")),
                        "{\"env\":[\"A=1\",\"B=2\"]}");
    assert_int_equal(view_adjusted(&fixture->view, &before, NULL, &after, &fixture->error), 0);
    assert_ptr_equal(after.root, before.root);
}

/* Of Go's runtimes only the limit of the memory comes through. */
static void test_go_compatible(void **state)
{
    struct fixture *fixture = *state;
    struct view_document after, before = view_of(fixture, "{}", false);
    fixture->view.go_compatible = true;
    assert_int_equal(view_adjusted(&fixture->view, &before, adjustment_of(fixture, adjustment_json),
                                   &after, &fixture->error),
                     0);
    assert_non_null(value_of(fixture, &after, NRI_FIELD_MEM_LIMIT));
    assert_null(value_of(fixture, &after, NRI_FIELD_MEM_RESERVATION));
}

static void test_updated(void **state)
{
    struct fixture *fixture = *state;
    struct view_document after,
        before = view_of(fixture,
                         "{\"linux\": {\"resources\": {\"cpu\": {\"shares\": 5, \"cpus\": \"0\"},"
                         " \"rdt_class\": \"old\"}}}",
                         false);
    Nri__Pkg__Api__V1alpha1__LinuxResources resources =
        NRI__PKG__API__V1ALPHA1__LINUX_RESOURCES__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxCPU cpu = NRI__PKG__API__V1ALPHA1__LINUX_CPU__INIT;
    Nri__Pkg__Api__V1alpha1__OptionalString rdt = NRI__PKG__API__V1ALPHA1__OPTIONAL_STRING__INIT;
    cpu.cpus = nri_arena_text(&fixture->arena, "1", 1);
    rdt.value = nri_arena_text(&fixture->arena, "new", 3);
    resources.cpu = &cpu;
    resources.rdt_class = &rdt;
    assert_int_equal(view_updated(&fixture->view, &before, &resources, &after, &fixture->error), 0);
    assert_string_equal(text_of(fixture, after.root),
                        "{\"linux\":{\"resources\":{\"cpu\":{\"shares\":5,\"cpus\":\"1\"}}},"
                        "\"nri\":{\"rdt_class\":\"new\"}}");
    assert_int_equal(view_updated(&fixture->view, &before, NULL, &after, &fixture->error), 0);
    assert_ptr_equal(after.root, before.root);
}

/* What lib/oci refuses is told in its words, and no memory with its code. */
static void test_failures(void **state)
{
    struct fixture *fixture = *state;
    struct view_document after, before = view_of(fixture, "{}", false);
    struct nri_arena small;
    Nri__Pkg__Api__V1alpha1__LinuxNamespace namespace =
        NRI__PKG__API__V1ALPHA1__LINUX_NAMESPACE__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxNamespace *namespaces[] = {&namespace};
    Nri__Pkg__Api__V1alpha1__LinuxContainerAdjustment linux_part =
        NRI__PKG__API__V1ALPHA1__LINUX_CONTAINER_ADJUSTMENT__INIT;
    Nri__Pkg__Api__V1alpha1__ContainerAdjustment adjust =
        NRI__PKG__API__V1ALPHA1__CONTAINER_ADJUSTMENT__INIT;
    namespace.type = nri_arena_text(&fixture->arena, "nowhere", 7);
    linux_part.namespaces = namespaces;
    linux_part.n_namespaces = 1;
    adjust.linux = &linux_part;
    assert_int_equal(view_adjusted(&fixture->view, &before, &adjust, &after, &fixture->error),
                     NRI_E_INVALID);
    assert_non_null(strstr(fixture->error.text, "ContainerAdjustment.linux.namespaces[0].type: "));
    memory_arena(&small, 1);
    fixture->view.arena = &small;
    assert_int_equal(
        view_container(&fixture->view, fixture->container, true, &after, &fixture->error),
        NRI_E_LIMIT);
    nri_arena_fini(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_field, setup, teardown),
        cmocka_unit_test_setup_teardown(test_container, setup, teardown),
        cmocka_unit_test_setup_teardown(test_adjusted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_go_compatible, setup, teardown),
        cmocka_unit_test_setup_teardown(test_updated, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failures, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
