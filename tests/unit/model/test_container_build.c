/* SPDX-License-Identifier: Apache-2.0 */
/* nri/container_build.h, Container's own members: each setter read back, keys replaced, each rule
 * broken once. */
#include "container_build.h"
#include "wire/message.h"

static void test_empty(void **state)
{
    nri_container *container = build_make();
    const nri_container *read = build_sent(*state, container);
    size_t size = 1;
    assert_int_equal(nri_message_size((void *)container, &size, NULL), 0);
    assert_int_equal(size, 0);
    assert_string_equal(nri_container_id(read), "");
    assert_null(nri_container_free(container));
    assert_int_equal(nri_container_new(NULL, NULL), NRI_E_INVALID);
}

static void test_texts(void **state)
{
    nri_container *container = build_make();
    OK(nri_container_set_id(container, "c1"));
    OK(nri_container_set_pod_sandbox_id(container, "p1"));
    OK(nri_container_set_name(container, "main"));
    OK(nri_container_set_state(container, NRI_CONTAINER_STOPPED));
    OK(nri_container_set_status_reason(container, "OOMKilled"));
    OK(nri_container_set_status_message(container, "out of memory"));
    const nri_container *read = build_sent(*state, container);
    assert_string_equal(nri_container_id(read), "c1");
    assert_string_equal(nri_container_pod_sandbox_id(read), "p1");
    assert_string_equal(nri_container_name(read), "main");
    assert_int_equal(nri_container_get_state(read), NRI_CONTAINER_STOPPED);
    assert_string_equal(nri_container_status_reason(read), "OOMKilled");
    assert_string_equal(nri_container_status_message(read), "out of memory");
    OK(nri_container_set_name(container, ""));
    OK(nri_container_set_state(container, NRI_CONTAINER_UNKNOWN));
    read = build_sent(*state, container);
    assert_string_equal(nri_container_name(read), "");
    assert_int_equal(nri_container_get_state(read), NRI_CONTAINER_UNKNOWN);
    nri_container_free(container);
}

/* S33: a container that was killed: -1 is ten bytes on the wire, and there is no process any more.
 */
static void test_S33_exit(void **state)
{
    static const uint8_t minus_one[] = {0x88, 0x01, 0xff, 0xff, 0xff, 0xff,
                                        0xff, 0xff, 0xff, 0xff, 0xff, 0x01}; /* field 17 */
    nri_container *container = build_make();
    uint8_t bytes[64];
    size_t size = 0;
    OK(nri_container_set_exit_code(container, -1));
    OK(nri_message_size((void *)container, &size, NULL));
    assert_int_equal(size, sizeof minus_one);
    nri_message_encode((void *)container, bytes);
    assert_memory_equal(bytes, minus_one, size);
    OK(nri_container_set_finished_at(container, 1));
    OK(nri_container_set_pid(container, 0));
    OK(nri_container_set_created_at(container, INT64_MIN));
    OK(nri_container_set_started_at(container, INT64_MAX));
    const nri_container *read = build_sent(*state, container);
    assert_int_equal(nri_container_exit_code(read), -1);
    assert_int_equal(nri_container_finished_at(read), 1);
    assert_int_equal(nri_container_pid(read), 0);
    assert_true(nri_container_created_at(read) == INT64_MIN);
    assert_true(nri_container_started_at(read) == INT64_MAX);
    OK(nri_container_set_pid(container, UINT32_MAX));
    assert_int_equal(nri_container_pid(build_sent(*state, container)), UINT32_MAX);
    nri_container_free(container);
}

static void test_maps(void **state)
{
    nri_container *container = build_make();
    const char *value;
    OK(nri_container_set_label(container, "a", "1"));
    OK(nri_container_set_label(container, "a", "2"));
    OK(nri_container_set_annotation(container, "-a", "3"));
    const nri_container *read = build_sent(*state, container);
    assert_int_equal(nri_container_label_count(read), 1);
    assert_true(nri_container_label(read, "a", &value));
    assert_string_equal(value, "2");
    assert_true(nri_container_annotation(read, "-a", &value));
    assert_string_equal(value, "3");
    nri_container_free(container);
}

static void test_args(void **state)
{
    static const char *const args[] = {"sh", "", "-c"};
    nri_container *container = build_make();
    OK(nri_container_set_args(container, args, 3));
    const nri_container *read = build_sent(*state, container);
    assert_int_equal(nri_container_arg_count(read), 3);
    assert_string_equal(nri_container_arg(read, 1), "");
    assert_string_equal(nri_container_arg(read, 2), "-c");
    OK(nri_container_set_args(container, NULL, 0));
    assert_int_equal(nri_container_arg_count(build_sent(*state, container)), 0);
    nri_container_free(container);
}

static void test_env(void **state)
{
    nri_container *container = build_make();
    OK(nri_container_set_env(container, "A", "1"));
    OK(nri_container_set_env(container, "AB", "x=y"));
    const char *old = nri_container_env_at(container, 0);
    OK(nri_container_set_env(container, "A", ""));
    assert_string_equal(old, "A=1");
    const nri_container *read = build_sent(*state, container);
    assert_int_equal(nri_container_env_count(read), 2);
    assert_string_equal(nri_container_env_at(read, 0), "A=");
    assert_string_equal(nri_container_env_at(read, 1), "AB=x=y");
    nri_container_free(container);
}

/* S38: a mount without options keeps none, also where it replaces one that had some. */
static void test_S38_mounts(void **state)
{
    static const char *const options[] = {"rbind", "ro"};
    nri_container *container = build_make();
    const nri_mount *mount;
    OK(nri_container_set_mount(container, "/b", "bind", "/srv/1", options, 2));
    OK(nri_container_set_mount(container, "/a", "tmpfs", "tmpfs", NULL, 0));
    const nri_mount *old = nri_container_mount_at(container, 0);
    OK(nri_container_set_mount(container, "/b", "bind", "/srv/2", NULL, 0));
    assert_string_equal(nri_mount_source(old), "/srv/1");
    assert_int_equal(nri_mount_option_count(old), 2);
    const nri_container *read = build_sent(*state, container);
    assert_int_equal(nri_container_mount_count(read), 2);
    mount = nri_container_mount_at(read, 0);
    assert_string_equal(nri_mount_destination(mount), "/b");
    assert_string_equal(nri_mount_source(mount), "/srv/2");
    assert_int_equal(nri_mount_option_count(mount), 0);
    assert_true(nri_container_mount(read, "/a", &mount));
    assert_string_equal(nri_mount_type(mount), "tmpfs");
    assert_int_equal(nri_mount_option_count(mount), 0);
    nri_container_free(container);
}

static void test_hooks(void **state)
{
    static const char *const args[] = {"hook", "-v"};
    static const char *const env[] = {"A=1"};
    const int64_t timeout = 7;
    nri_container *container = build_make();
    int64_t seconds;
    for (int stage = NRI_HOOK_PRESTART; stage <= NRI_HOOK_POSTSTOP; stage++) {
        for (int i = 0; i < stage; i++)
            OK(nri_container_add_hook(container, (enum nri_hook_stage)stage, "/h", args, 2, env, 1,
                                      &timeout));
    }
    OK(nri_container_add_hook(container, NRI_HOOK_POSTSTOP, "/last", NULL, 0, NULL, 0, NULL));
    const nri_container *read = build_sent(*state, container);
    for (int stage = NRI_HOOK_PRESTART; stage < NRI_HOOK_POSTSTOP; stage++)
        assert_int_equal(nri_container_hook_count(read, (enum nri_hook_stage)stage), stage);
    assert_int_equal(nri_container_hook_count(read, NRI_HOOK_POSTSTOP), 7);
    const nri_hook *hook = nri_container_hook_at(read, NRI_HOOK_CREATE_CONTAINER, 2);
    assert_string_equal(nri_hook_path(hook), "/h");
    assert_string_equal(nri_hook_arg(hook, 1), "-v");
    assert_string_equal(nri_hook_env_at(hook, 0), "A=1");
    assert_true(nri_hook_timeout(hook, &seconds));
    assert_int_equal(seconds, 7);
    hook = nri_container_hook_at(read, NRI_HOOK_POSTSTOP, 6);
    assert_string_equal(nri_hook_path(hook), "/last");
    assert_false(nri_hook_timeout(hook, NULL));
    nri_container_free(container);
}

/* S53: each type of limit once. */
static void test_S53_rlimits(void **state)
{
    nri_container *container = build_make();
    uint64_t hard, soft;
    OK(nri_container_set_rlimit(container, "RLIMIT_NOFILE", 1024, 1024));
    OK(nri_container_set_rlimit(container, "RLIMIT_CORE", UINT64_MAX, 0));
    OK(nri_container_set_rlimit(container, "RLIMIT_NOFILE", 65536, 4096));
    const nri_container *read = build_sent(*state, container);
    assert_int_equal(nri_container_rlimit_count(read), 2);
    assert_true(nri_container_rlimit(read, "RLIMIT_NOFILE", &hard, &soft));
    assert_int_equal(hard, 65536);
    assert_int_equal(soft, 4096);
    assert_true(nri_container_rlimit(read, "RLIMIT_CORE", &hard, &soft));
    assert_true(hard == UINT64_MAX);
    nri_container_free(container);
}

static void test_cdi_user_and_image(void **state)
{
    static const uint32_t gids[] = {0, 10, UINT32_MAX};
    nri_container *container = build_make();
    const char *name, *digest, *config;
    uint32_t uid, gid;
    OK(nri_container_add_cdi_device(container, "vendor.com/gpu=0"));
    OK(nri_container_add_cdi_device(container, "vendor.com/gpu=1"));
    OK(nri_container_add_cdi_device(container, "vendor.com/gpu=0"));
    OK(nri_container_set_user(container, 7, 8, gids, 3));
    OK(nri_container_set_image(container, "busybox:1", NULL, "sha256:2"));
    const nri_container *read = build_sent(*state, container);
    assert_int_equal(nri_container_cdi_device_count(read), 2);
    assert_string_equal(nri_container_cdi_device(read, 1), "vendor.com/gpu=1");
    assert_true(nri_container_user(read, &uid, &gid));
    assert_int_equal(uid, 7);
    assert_int_equal(gid, 8);
    assert_int_equal(nri_container_additional_gid_count(read), 3);
    assert_int_equal(nri_container_additional_gid(read, 2), UINT32_MAX);
    assert_true(nri_container_image(read, &name, &digest, &config));
    assert_string_equal(name, "busybox:1");
    assert_string_equal(digest, "");
    assert_string_equal(config, "sha256:2");
    OK(nri_container_set_user(container, 0, 0, NULL, 0));
    OK(nri_container_set_image(container, NULL, NULL, NULL));
    read = build_sent(*state, container);
    assert_true(nri_container_user(read, &uid, &gid));
    assert_int_equal(uid + gid, 0);
    assert_int_equal(nri_container_additional_gid_count(read), 0);
    assert_true(nri_container_image(read, &name, NULL, NULL));
    assert_string_equal(name, "");
    nri_container_free(container);
}

static const char *const bad[] = {"a", "\xff"};

static void test_refused_texts(void **state)
{
    (void)state;
    REFUSED(nri_container_set_id(c, ""), NRI_E_INVALID, "id \"\": must not be empty");
    REFUSED(nri_container_set_pod_sandbox_id(c, ""), NRI_E_INVALID,
            "pod sandbox id \"\": must not be empty");
    REFUSED(nri_container_set_name(c, NULL), NRI_E_INVALID, "name NULL: must be a text");
    REFUSED(nri_container_set_status_reason(c, "\xff"), NRI_E_UTF8,
            "status reason \"\\xff\": " BAD_UTF8);
    REFUSED(nri_container_set_status_message(c, NULL), NRI_E_INVALID,
            "status message NULL: must be a text");
    REFUSED(nri_container_set_state(c, (enum nri_container_state)5), NRI_E_RANGE,
            "state 5: must be one of enum nri_container_state, 0 to 4");
    REFUSED(nri_container_set_label(c, "", "v"), NRI_E_INVALID,
            "label key \"\": must not be empty");
    REFUSED(nri_container_set_annotation(c, "k", NULL), NRI_E_INVALID,
            "annotation \"k\": value NULL: must be a text");
    REFUSED(nri_container_set_image(c, "\xff", NULL, NULL), NRI_E_UTF8,
            "image name \"\\xff\": " BAD_UTF8);
    REFUSED(nri_container_set_image(c, "a", "\xff", NULL), NRI_E_UTF8,
            "image digest \"\\xff\": " BAD_UTF8);
    REFUSED(nri_container_set_image(c, "a", "b", "\xff"), NRI_E_UTF8,
            "image config digest \"\\xff\": " BAD_UTF8);
    REFUSED(nri_container_set_user(c, 0, 0, NULL, 1), NRI_E_INVALID,
            "user additional gids NULL: must be as many numbers as count says");
}

static void test_refused_entries(void **state)
{
    const int64_t zero = 0;
    (void)state;
    REFUSED(nri_container_set_args(c, bad, 2), NRI_E_UTF8, "args[1] \"\\xff\": " BAD_UTF8);
    REFUSED(nri_container_set_args(c, NULL, 1), NRI_E_INVALID,
            "args NULL: must be as many texts as the count says");
    REFUSED(nri_container_set_env(c, "", "v"), NRI_E_INVALID, "env name \"\": must not be empty");
    REFUSED(nri_container_set_env(c, "A=B", "v"), NRI_E_INVALID,
            "env name \"A=B\": must not contain \"=\"");
    REFUSED(nri_container_set_env(c, "A", NULL), NRI_E_INVALID,
            "env \"A\": value NULL: must be a text");
    REFUSED(nri_container_set_mount(c, "d", NULL, NULL, NULL, 0), NRI_E_INVALID,
            "mount destination \"d\": must be an absolute path");
    REFUSED(nri_container_set_mount(c, "/d", "bind", "rel", NULL, 0), NRI_E_INVALID,
            "mount \"/d\": source \"rel\": of a bind mount must be an absolute path or empty");
    REFUSED(nri_container_add_hook(c, (enum nri_hook_stage)7, "/h", NULL, 0, NULL, 0, NULL),
            NRI_E_RANGE, "hook \"/h\": stage 7: must be 1 to 6");
    REFUSED(nri_container_add_hook(c, NRI_HOOK_POSTSTOP, "h", NULL, 0, NULL, 0, NULL),
            NRI_E_INVALID, "hook path \"h\": must be an absolute path");
    REFUSED(nri_container_add_hook(c, NRI_HOOK_POSTSTOP, "/h", NULL, 0, NULL, 0, &zero),
            NRI_E_RANGE, "hook \"/h\": timeout 0: must be 1 second or more");
    REFUSED(nri_container_set_rlimit(c, "NOFILE", 1, 1), NRI_E_INVALID,
            "rlimit type \"NOFILE\": must be a name of getrlimit(2), such as \"RLIMIT_NOFILE\"");
    REFUSED(nri_container_set_rlimit(c, "RLIMIT_CORE", 1, 2), NRI_E_RANGE,
            "rlimit \"RLIMIT_CORE\": soft 2: must not be above hard 1");
    REFUSED(nri_container_add_cdi_device(c, "gpu0"), NRI_E_INVALID,
            "CDI device \"gpu0\": must be \"vendor/class=device\", such as \"vendor.com/gpu=0\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_empty),
        WITH_FIXTURE(test_texts),
        WITH_FIXTURE(test_S33_exit),
        WITH_FIXTURE(test_maps),
        WITH_FIXTURE(test_args),
        WITH_FIXTURE(test_env),
        WITH_FIXTURE(test_S38_mounts),
        WITH_FIXTURE(test_hooks),
        WITH_FIXTURE(test_S53_rlimits),
        WITH_FIXTURE(test_cdi_user_and_image),
        cmocka_unit_test(test_refused_texts),
        cmocka_unit_test(test_refused_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
