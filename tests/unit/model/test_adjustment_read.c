/* SPDX-License-Identifier: Apache-2.0 */
/* Reading adjustments and updates: removals, what is built so far, views, and emptiness. */
#include <stdio.h>

#include "fixture.h"
#include "golden.h"
#include "model/adjustment_builder.h"
#include "wire/field.h"

static const char *const args[] = {"sh", "-c"};

/* ---- removal markers ---- */

static void check_annotation(const nri_adjustment *adjustment, size_t index, const char *key,
                             const char *value, bool removed)
{
    const char *k = NULL, *v = NULL;
    bool r = !removed;
    assert_true(nri_adjustment_annotation_at(adjustment, index, &k, &v, &r));
    assert_string_equal(k, key);
    assert_string_equal(v, value);
    assert_int_equal(r, removed);
}

static void test_removals_and_replacements(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    const char *text = NULL;
    bool removed = false;
    assert_int_equal(nri_adjustment_remove_annotation(adjustment, "gone"), 0);
    assert_int_equal(nri_adjustment_replace_annotation(adjustment, "new", "v"), 0);
    assert_int_equal(nri_adjustment_annotation_count(adjustment), 3);
    check_annotation(adjustment, 0, "gone", "", true);
    check_annotation(adjustment, 1, "new", "", true);
    check_annotation(adjustment, 2, "new", "v", false);
    assert_true(nri_adjustment_annotation(adjustment, "new", &text));
    assert_string_equal(text, "v");
    assert_false(nri_adjustment_annotation(adjustment, "gone", &text));
    assert_string_equal(text, "");
    assert_false(nri_adjustment_annotation(adjustment, "-gone", &text)); /* a marker is no key */
    assert_int_equal(nri_adjustment_remove_env(adjustment, "E"), 0);
    assert_true(nri_adjustment_env_at(adjustment, 0, &text, NULL, &removed));
    assert_string_equal(text, "E");
    assert_true(removed);
    assert_false(nri_adjustment_env(adjustment, "-E", NULL));
    assert_int_equal(nri_adjustment_remove_mount(adjustment, "/m"), 0);
    removed = false;
    assert_string_equal(nri_mount_destination(nri_adjustment_mount_at(adjustment, 0, &removed)),
                        "-/m");
    assert_true(removed);
    assert_string_equal(nri_adjustment_mount_destination_at(adjustment, 0), "/m");
    assert_int_equal(nri_adjustment_remove_device(adjustment, "/dev/x"), 0);
    removed = false;
    assert_string_equal(nri_device_path(nri_adjustment_device_at(adjustment, 0, &removed)),
                        "-/dev/x");
    assert_true(removed);
    assert_string_equal(nri_adjustment_device_path_at(adjustment, 0), "/dev/x");
}

/* By its key, in a short list and in one that has a hash, after each kind of change; and without
 * the lists being put together, which would take a step for each item there is. */
static void test_look_up_while_building(void **state)
{
    char key[16];
    const char *value = NULL;
    nri_adjustment *a = fixture_make(*state);
    for (int i = 0; i < 40; i++) {
        snprintf(key, sizeof key, "k%d", i);
        assert_false(nri_adjustment_env(a, key, &value));
        assert_false(nri_adjustment_annotation(a, key, &value));
        assert_string_equal(value, "");
        assert_int_equal(nri_adjustment_add_env(a, key, "1"), 0);
        assert_int_equal(nri_adjustment_add_env(a, key, "2"), 0);
        assert_int_equal(nri_adjustment_add_annotation(a, key, "3"), 0);
        assert_true(nri_adjustment_env(a, key, &value));
        assert_string_equal(value, "2");
        assert_true(nri_adjustment_annotation(a, key, &value));
        assert_string_equal(value, "3");
    }
    assert_int_equal(a->frame->changes, 0);
    assert_int_equal(nri_adjustment_remove_env(a, "k0"), 0);
    assert_false(nri_adjustment_env(a, "k0", &value));
    assert_string_equal(value, "");
    assert_int_equal(nri_adjustment_add_env(a, "k0", ""), 0);
    assert_true(nri_adjustment_env(a, "k0", NULL));
    assert_false(nri_adjustment_env(a, "-k0", NULL));
    assert_false(nri_adjustment_env(a, "", NULL));
    assert_false(nri_adjustment_env(a, NULL, NULL));
    assert_false(nri_adjustment_annotation(a, NULL, NULL));
    assert_int_equal(a->frame->changes, 0);
}

/* Only one "-" is the marker, and what a peer sends with it is no value. */
static void test_markers_of_a_decoded_message(void **state)
{
    struct fixture *fixture = *state;
    adjustment_message message = NRI__PKG__API__V1ALPHA1__CONTAINER_ADJUSTMENT__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxContainerAdjustment linux_part =
        NRI__PKG__API__V1ALPHA1__LINUX_CONTAINER_ADJUSTMENT__INIT;
    Nri__Pkg__Api__V1alpha1__ContainerAdjustment__AnnotationsEntry annotation =
        NRI__PKG__API__V1ALPHA1__CONTAINER_ADJUSTMENT__ANNOTATIONS_ENTRY__INIT;
    Nri__Pkg__Api__V1alpha1__ContainerAdjustment__AnnotationsEntry *annotations[] = {&annotation};
    Nri__Pkg__Api__V1alpha1__LinuxNamespace namespace_ =
        NRI__PKG__API__V1ALPHA1__LINUX_NAMESPACE__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxNamespace *namespaces[] = {&namespace_};
    Nri__Pkg__Api__V1alpha1__LinuxContainerAdjustment__NetDevicesEntry device =
        NRI__PKG__API__V1ALPHA1__LINUX_CONTAINER_ADJUSTMENT__NET_DEVICES_ENTRY__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxContainerAdjustment__NetDevicesEntry *devices[] = {&device};
    Nri__Pkg__Api__V1alpha1__KeyValue env[3] = {NRI__PKG__API__V1ALPHA1__KEY_VALUE__INIT,
                                                NRI__PKG__API__V1ALPHA1__KEY_VALUE__INIT,
                                                NRI__PKG__API__V1ALPHA1__KEY_VALUE__INIT};
    Nri__Pkg__Api__V1alpha1__KeyValue *envs[] = {&env[0], &env[1], &env[2]};
    const char *key = NULL, *value = NULL;
    bool removed = false;
    annotation.key = TEXT(fixture, "--a");
    annotation.value = TEXT(fixture, "left over");
    namespace_.type = TEXT(fixture, "-ipc");
    namespace_.path = TEXT(fixture, "/left/over");
    device.key = TEXT(fixture, "-eth0");
    env[0].key = env[2].key = TEXT(fixture, "A");
    env[0].value = TEXT(fixture, "1");
    env[1].key = TEXT(fixture, "-");
    env[2].value = TEXT(fixture, "2");
    message.annotations = annotations;
    linux_part.namespaces = namespaces;
    linux_part.net_devices = devices;
    message.n_annotations = linux_part.n_namespaces = linux_part.n_net_devices = 1;
    message.env = envs;
    message.n_env = 3;
    message.linux = &linux_part;
    nri_adjustment *view = nri_adjustment_view(
        &fixture->arena, fixture_round_trip(fixture, &message), NRI_E_EVENT, "no");
    check_annotation(view, 0, "-a", "", true);
    assert_true(nri_adjustment_namespace_at(view, 0, &key, &value, &removed));
    assert_string_equal(key, "ipc");
    assert_string_equal(value, "");
    assert_true(removed);
    removed = false;
    assert_true(nri_adjustment_net_device_at(view, 0, &key, &value, &removed));
    assert_string_equal(key, "eth0");
    assert_string_equal(value, "");
    assert_true(removed);
    assert_true(nri_adjustment_env_at(view, 1, &key, NULL, &removed));
    assert_string_equal(key, "");
    assert_true(nri_adjustment_env(view, "A", &value)); /* the last one, as for a process */
    assert_string_equal(value, "2");
}

static void test_args(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    assert_int_equal(nri_adjustment_arg_count(adjustment), 0);
    assert_false(nri_adjustment_args_replace(adjustment));
    assert_int_equal(nri_adjustment_set_args(adjustment, args, 2), 0);
    assert_int_equal(nri_adjustment_arg_count(adjustment), 2);
    assert_false(nri_adjustment_args_replace(adjustment));
    assert_int_equal(nri_adjustment_replace_args(adjustment, args, 2), 0);
    assert_true(nri_adjustment_args_replace(adjustment));
    assert_int_equal(nri_adjustment_arg_count(adjustment), 2);
    assert_string_equal(nri_adjustment_arg(adjustment, 0), "sh");
    assert_string_equal(nri_adjustment_arg(adjustment, 1), "-c");
    assert_string_equal(nri_adjustment_arg(adjustment, 2), "");
    assert_string_equal(nri_adjustment_arg(adjustment, SIZE_MAX), "");
}

/* ---- what is built so far ---- */

static void test_reading_follows_every_change(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    uint64_t shares = 0;
    int64_t limit = 0;
    const char *value = NULL;
    assert_true(nri_adjustment_is_empty(adjustment));
    assert_int_equal(nri_adjustment_add_env(adjustment, "A", "1"), 0);
    assert_false(nri_adjustment_is_empty(adjustment));
    assert_true(nri_adjustment_env(adjustment, "A", &value));
    assert_string_equal(value, "1");
    assert_int_equal(nri_adjustment_add_env(adjustment, "A", "2"), 0);
    assert_true(nri_adjustment_env(adjustment, "A", &value));
    assert_string_equal(value, "2");
    /* The resources are changed on their own, with the adjustment not entered again. */
    nri_resources *resources = nri_adjustment_edit_resources(adjustment);
    assert_false(nri_resources_cpu_shares(nri_adjustment_resources(adjustment), &shares));
    assert_int_equal(nri_resources_set_cpu_shares(resources, 512), 0);
    assert_true(nri_resources_cpu_shares(nri_adjustment_resources(adjustment), &shares));
    assert_int_equal(shares, 512);
    assert_int_equal(nri_resources_set_memory_limit(resources, 4096), 0);
    assert_true(nri_resources_memory_limit(nri_adjustment_resources(adjustment), &limit));
    assert_int_equal(limit, 4096);
}

/* Reading is cheap after a change: the whole is not put together again. */
static void test_the_message_is_put_together_once(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    assert_int_equal(nri_adjustment_add_env(adjustment, "A", "1"), 0);
    adjustment_message *message =
        (adjustment_message *)(uintptr_t)nri_adjustment_message(adjustment);
    message->n_env = 0; /* as nothing but a test does: seen as long as nothing is changed */
    assert_int_equal(nri_adjustment_env_count(adjustment), 0);
    assert_int_equal(nri_adjustment_add_env(adjustment, "", "1"), NRI_E_INVALID);
    assert_int_equal(nri_adjustment_env_count(adjustment), 1);
}

/* ---- emptiness ---- */

static bool is_empty(struct fixture *fixture, const adjustment_message *message)
{
    return nri_adjustment_is_empty(
        nri_adjustment_view(&fixture->arena, message, NRI_E_EVENT, "no"));
}

static void test_empty_parts_are_empty(void **state)
{
    adjustment_message message = NRI__PKG__API__V1ALPHA1__CONTAINER_ADJUSTMENT__INIT;
    Nri__Pkg__Api__V1alpha1__Hooks hooks = NRI__PKG__API__V1ALPHA1__HOOKS__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxContainerAdjustment linux_part =
        NRI__PKG__API__V1ALPHA1__LINUX_CONTAINER_ADJUSTMENT__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxResources resources =
        NRI__PKG__API__V1ALPHA1__LINUX_RESOURCES__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxCPU cpu = NRI__PKG__API__V1ALPHA1__LINUX_CPU__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxRdt rdt = NRI__PKG__API__V1ALPHA1__LINUX_RDT__INIT;
    Nri__Pkg__Api__V1alpha1__OptionalUInt64 zero = NRI__PKG__API__V1ALPHA1__OPTIONAL_UINT64__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxMemoryPolicy policy =
        NRI__PKG__API__V1ALPHA1__LINUX_MEMORY_POLICY__INIT;
    assert_true(is_empty(*state, NULL));
    message.hooks = &hooks;
    message.linux = &linux_part;
    linux_part.resources = &resources;
    linux_part.rdt = &rdt;
    resources.cpu = &cpu;
    assert_true(is_empty(*state, &message));
    cpu.shares = &zero; /* a value by being there */
    assert_false(is_empty(*state, &message));
    cpu.shares = NULL;
    rdt.remove = 1;
    assert_false(is_empty(*state, &message));
    rdt.remove = 0;
    linux_part.memory_policy = &policy; /* the default mode */
    assert_false(is_empty(*state, &message));
}

/* Each field alone makes an adjustment that is not empty. */
static void check_each_field(struct fixture *fixture, adjustment_message *message,
                             ProtobufCMessage *part, const ProtobufCMessage *full)
{
    for (unsigned i = 0; i < full->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &full->descriptor->fields[i];
        memcpy(nri_field_member(part, field), nri_field_member(full, field), nri_field_size(field));
        if (nri_field_repeated(field))
            *nri_field_count(part, field) = *nri_field_count(full, field);
        if (is_empty(fixture, message))
            fail_msg("%s.%s: empty", full->descriptor->name, field->name);
        protobuf_c_message_init(part->descriptor, part);
        assert_true(is_empty(fixture, message));
    }
}

static void test_each_field_counts(void **state)
{
    struct fixture *fixture = *state;
    adjustment_message message = NRI__PKG__API__V1ALPHA1__CONTAINER_ADJUSTMENT__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxContainerAdjustment linux_part =
        NRI__PKG__API__V1ALPHA1__LINUX_CONTAINER_ADJUSTMENT__INIT;
    const adjustment_message *full = golden_message(
        &fixture->arena, &nri__pkg__api__v1alpha1__container_adjustment__descriptor, "adjust");
    check_each_field(fixture, &message, &message.base, &full->base);
    message.linux = &linux_part;
    check_each_field(fixture, &message, &linux_part.base, &full->linux->base);
}

/* ---- views cannot be changed ---- */

static void test_a_view_refuses_every_change(void **state)
{
    struct fixture *fixture = *state;
    adjustment_message *message = golden_message(
        &fixture->arena, &nri__pkg__api__v1alpha1__container_adjustment__descriptor, "adjust");
    nri_adjustment *view =
        nri_adjustment_view(&fixture->arena, message, NRI_E_EVENT, "only to be read");
    assert_int_equal(nri_adjustment_add_env(view, "A", "1"), NRI_E_EVENT);
    assert_int_equal(nri_adjustment_error(view), NRI_E_EVENT);
    assert_string_equal(nri_adjustment_error_text(view), "only to be read");
    assert_int_equal(nri_adjustment_set_cpu_shares(view, 2), NRI_E_EVENT);
    assert_null(nri_adjustment_edit_resources(view));
    assert_int_equal(nri_adjustment_env_count(view), 2);
    assert_ptr_equal(nri_adjustment_message(view), message);
    update_message update = NRI__PKG__API__V1ALPHA1__CONTAINER_UPDATE__INIT;
    update_message *list[] = {&update, NULL};
    nri_updates *updates =
        nri_updates_view(&fixture->arena, list, 2, NRI_E_EVENT, "only to be read");
    assert_int_equal(nri_updates_count(updates), 2); /* of a view also those that set nothing */
    assert_int_equal(nri_updates_evict(updates, "c", NULL), NRI_E_EVENT);
    assert_int_equal(nri_update_set_cpu_shares(nri_updates_container(updates, "c"), 2),
                     NRI_E_EVENT);
    nri_update *one = (nri_update *)(uintptr_t)nri_updates_at(updates, 0);
    assert_int_equal(nri_update_set_ignore_failure(one, true), NRI_E_EVENT);
    assert_int_equal(nri_update_set_cpu_shares(one, 2), NRI_E_EVENT);
    assert_string_equal(nri_updates_error_text(updates), "only to be read");
    assert_int_equal(nri_updates_count(updates), 2);
    assert_false(nri_update_ignore_failure(one));
    assert_int_equal(nri_updates_eviction_count(updates), 0);
}

/* The least limit of an arena that a view fits into; 0 when a smaller one failed without saying so.
 */
static size_t least_limit(struct fixture *fixture, bool of_updates)
{
    update_message update = NRI__PKG__API__V1ALPHA1__CONTAINER_UPDATE__INIT;
    update_message *list[] = {&update};
    for (size_t limit = 0;; limit += 64) {
        struct nri_arena arena;
        nri_arena_init(&arena, &fixture->arena.alloc, 0, limit);
        const void *view = of_updates
                               ? (const void *)nri_updates_view(&arena, list, 1, NRI_E_EVENT, "no")
                               : nri_adjustment_view(&arena, NULL, NRI_E_EVENT, "no");
        const bool told = view != NULL || arena.failure == NRI_E_LIMIT;
        nri_arena_fini(&arena);
        if (view != NULL || !told)
            return told ? limit : 0;
    }
}

static void test_views_without_memory(void **state)
{
    assert_true(least_limit(*state, false) >= sizeof(nri_adjustment *));
    assert_true(least_limit(*state, true) >= sizeof(nri_updates *));
}

/* ---- updates ---- */

static void test_S11_update_of_cpu_alone(void **state)
{
    struct fixture *fixture = *state;
    nri_updates *updates = nri_updates_make(&fixture->arena, fixture_seed, true, 0, NULL);
    uint64_t shares = 0, swappiness = 1;
    int64_t limit = 1;
    const char *id = NULL, *reason = NULL;
    nri_update *empty = nri_updates_container(updates, "sets-nothing");
    nri_update *update = nri_updates_container(updates, "c1");
    assert_int_equal(nri_updates_count(updates), 0);
    assert_int_equal(nri_update_set_cpu_shares(update, 512), 0);
    assert_int_equal(nri_updates_count(updates), 1);
    const nri_update *read = nri_updates_at(updates, 0);
    assert_string_equal(nri_update_container_id(read), "c1");
    assert_true(nri_resources_cpu_shares(nri_update_resources(read), &shares));
    assert_int_equal(shares, 512);
    assert_false(nri_resources_memory_limit(nri_update_resources(read), &limit));
    assert_int_equal(limit, 0);
    assert_false(nri_resources_memory_swappiness(nri_update_resources(read), &swappiness));
    assert_false(nri_resources_memory_disable_oom_killer(nri_update_resources(read), NULL));
    assert_false(nri_update_ignore_failure(read));
    assert_int_equal(nri_update_set_ignore_failure(update, true), 0);
    assert_true(nri_update_ignore_failure(read));
    assert_false(nri_resources_is_present(nri_update_resources(empty)));
    assert_string_equal(nri_update_container_id(nri_updates_at(updates, 1)), "");
    assert_int_equal(nri_update_set_cpu_shares(empty, 2), 0);
    assert_int_equal(nri_updates_count(updates), 2);
    assert_string_equal(nri_update_container_id(nri_updates_at(updates, 0)), "sets-nothing");
    assert_int_equal(nri_updates_evict(updates, "c2", "too hungry"), 0);
    assert_true(nri_updates_eviction_at(updates, 0, &id, &reason));
    assert_string_equal(id, "c2");
    assert_string_equal(reason, "too hungry");
    assert_true(nri_updates_eviction_at(updates, 0, NULL, NULL));
    assert_false(nri_updates_eviction_at(updates, 1, &id, &reason));
    assert_string_equal(id, "");
    assert_string_equal(reason, "");
}

/* Walking a list costs a step an update: what is sent is put together once after a change. */
static void test_the_list_is_put_together_once(void **state)
{
    struct fixture *fixture = *state;
    update_message **list = NULL;
    nri_updates *updates = nri_updates_make(&fixture->arena, fixture_seed, true, 0, NULL);
    assert_int_equal(nri_update_set_cpu_shares(nri_updates_container(updates, "a"), 2), 0);
    assert_int_equal(nri_update_set_cpu_shares(nri_updates_container(updates, "b"), 2), 0);
    assert_int_equal(nri_updates_messages(updates, &list), 2);
    list[0] = list[1]; /* as nothing but a test does: seen as long as nothing is changed */
    assert_string_equal(nri_update_container_id(nri_updates_at(updates, 0)), "b");
    nri_resources *resources = nri_update_edit_resources(nri_updates_container(updates, "b"));
    assert_int_equal(nri_resources_set_cpu_shares(resources, 3), 0);
    assert_string_equal(nri_update_container_id(nri_updates_at(updates, 0)), "a");
}

/* Without evictions an event may still have a list of updates. */
static void test_evictions_of_nothing(void **state)
{
    struct fixture *fixture = *state;
    nri_updates *updates = nri_updates_make(&fixture->arena, fixture_seed, false, 0, NULL);
    assert_false(nri_updates_eviction_at(updates, 0, NULL, NULL));
    assert_int_equal(nri_updates_count(updates), 0);
}

#define model_test(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        model_test(test_removals_and_replacements),
        model_test(test_look_up_while_building),
        model_test(test_markers_of_a_decoded_message),
        model_test(test_args),
        model_test(test_reading_follows_every_change),
        model_test(test_the_message_is_put_together_once),
        model_test(test_empty_parts_are_empty),
        model_test(test_each_field_counts),
        model_test(test_a_view_refuses_every_change),
        model_test(test_views_without_memory),
        model_test(test_S11_update_of_cpu_alone),
        model_test(test_the_list_is_put_together_once),
        model_test(test_evictions_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
