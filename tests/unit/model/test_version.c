/* SPDX-License-Identifier: Apache-2.0 */
/* NRI versions: read, compared, inferred from the runtime. */
#include "fixture.h"

static void parses(const char *text, unsigned major, unsigned minor, unsigned patch)
{
    unsigned number[3] = {9, 9, 9};
    assert_true(nri_version_parse(text, number));
    assert_int_equal(number[0], major);
    assert_int_equal(number[1], minor);
    assert_int_equal(number[2], patch);
}

static void test_parse(void **state)
{
    (void)state;
    static const char *const none[] = {
        "",
        "v",
        "unknown",
        "(devel)",
        "1",
        "1.",
        ".1",
        "v.1.2",
        "vv1.2",
        " 1.2",
        "-1.2",
        "99999999999.1",
        "1.99999999999",
        "1.2.99999999999",
        "V1.2",
    };
    parses("0.10.0", 0, 10, 0);
    parses("v0.8", 0, 8, 0);
    parses("0.12.2-rc1", 0, 12, 2);
    parses("1.7.24~ds1", 1, 7, 24);
    parses("2.1.9+unknown", 2, 1, 9);
    parses("v2.0.3", 2, 0, 3);
    parses("0.3.1-0.20230504231226-94185418e253", 0, 3, 1);
    parses("1.2.x", 1, 2, 0);
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        unsigned number[3] = {9, 9, 9};
        if (nri_version_parse(none[i], number))
            fail_msg("\"%s\" is no version", none[i]);
        assert_int_equal(number[0] + number[1] + number[2], 27);
    }
    unsigned number[3];
    assert_false(nri_version_parse(NULL, number));
}

static void test_events(void **state)
{
    (void)state;
    assert_int_equal(nri_version_events("0.9.0"), 0x07ff);
    assert_int_equal(nri_version_events("v0.8"), 0x07ff);
    assert_int_equal(nri_version_events("0.9.1-0.20250219030224-e597e7849f24"), 0x07ff);
    assert_int_equal(nri_version_events("0.10.0"), 0x3fff);
    assert_int_equal(nri_version_events("v0.12.2"), 0x3fff);
    assert_int_equal(nri_version_events("1.0.0"), 0x3fff);
    assert_int_equal(nri_version_events(NULL), 0x07ff);
    assert_int_equal(nri_version_events(""), 0x07ff);
    assert_int_equal(nri_version_events("unknown"), 0x07ff);
}

static void test_features(void **state)
{
    (void)state;
    static const struct {
        enum nri_feature feature;
        const char *before, *since;
    } rows[] = {
        {NRI_FEATURE_RLIMITS, "0.3.1", "0.4.0"},
        {NRI_FEATURE_SPLIT_SYNC, "0.6.1", "0.7.0"},
        {NRI_FEATURE_TIMEOUTS, "0.6.1", "0.7.0"},
        {NRI_FEATURE_CDI_DEVICES, "0.6.1", "0.7.0"},
        {NRI_FEATURE_PIDS_LIMIT, "0.6.1", "0.7.0"},
        {NRI_FEATURE_OOM_SCORE_ADJ, "0.6.1", "0.7.0"},
        {NRI_FEATURE_POD_IPS, "0.7.0", "0.8.0"},
        {NRI_FEATURE_UPDATE_POD, "0.9.9", "0.10.0"},
        {NRI_FEATURE_VALIDATE, "0.9.9", "0.10.0"},
        {NRI_FEATURE_ARGS, "0.9.9", "0.10.0"},
        {NRI_FEATURE_IO_PRIORITY, "0.9.9", "0.10.0"},
        {NRI_FEATURE_SECCOMP_POLICY, "0.9.9", "0.10.0"},
        {NRI_FEATURE_NAMESPACES, "0.9.9", "0.10.0"},
        {NRI_FEATURE_EXIT_STATUS, "0.9.9", "0.10.0"},
        {NRI_FEATURE_USER, "0.10.0", "0.11.0"},
        {NRI_FEATURE_SYSCTL, "0.10.0", "0.11.0"},
        {NRI_FEATURE_NET_DEVICES, "0.10.0", "0.11.0"},
        {NRI_FEATURE_SCHEDULER, "0.10.0", "0.11.0"},
        {NRI_FEATURE_RDT, "0.10.0", "0.11.0"},
        {NRI_FEATURE_NRI_VERSION, "0.11.0", "0.12.0"},
        {NRI_FEATURE_EVENT_CALLS, "0.11.0", "0.12.0"},
        {NRI_FEATURE_MEMORY_POLICY, "0.11.0", "0.12.0"},
        {NRI_FEATURE_IMAGE, "0.12.1", "0.12.2"},
    };
    assert_int_equal(sizeof rows / sizeof rows[0], NRI_FEATURE_IMAGE);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(rows[i].feature, i + 1);
        assert_false(nri_version_supports(rows[i].before, rows[i].feature));
        assert_true(nri_version_supports(rows[i].since, rows[i].feature));
        assert_true(nri_version_supports("1.0", rows[i].feature));
        assert_false(nri_version_supports("unknown", rows[i].feature));
        assert_false(nri_version_supports(NULL, rows[i].feature));
        assert_string_not_equal(nri_feature_name(rows[i].feature), "?");
    }
    assert_string_equal(nri_feature_name(NRI_FEATURE_ARGS), "args");
    assert_string_equal(nri_feature_name((enum nri_feature)0), "?");
    assert_string_equal(nri_feature_name((enum nri_feature)(NRI_FEATURE_REMOVE_DEVICE + 1)), "?");
    assert_false(nri_version_supports("0.12.2", (enum nri_feature)0));
    assert_false(nri_version_supports("0.12.2", (enum nri_feature)(NRI_FEATURE_REMOVE_DEVICE + 1)));
    assert_false(nri_version_supports("0.12.2", (enum nri_feature) - 1));
}

static void infers(const char *name, const char *version, const char *wanted)
{
    const char *nri = nri_version_infer(name, version);
    if (wanted == NULL)
        assert_null(nri);
    else
        assert_non_null(nri);
    if (wanted != NULL)
        assert_string_equal(nri, wanted);
}

/* U13: the runtime calls itself "v2", or nothing at all. */
static void test_U13_unreliable_runtime_name(void **state)
{
    (void)state;
    infers("v2", "2.0.3", "0.8.0");
    infers("v2", "v2.2.1", "0.11.0");
    infers("", "2.0.3", NULL);
    infers(NULL, "2.0.3", NULL);
    infers("containerd", NULL, NULL);
    infers("containerd", "", NULL);
    infers("containerd", "unknown", NULL);
    infers("crius", "1.7.24", NULL);
}

static void test_infer_containerd(void **state)
{
    (void)state;
    infers("containerd", "1.6.38", NULL);
    infers("containerd", "1.7.0", "0.3.0");
    infers("containerd", "1.7.6", "0.3.0");
    infers("containerd", "1.7.7", "0.4.0");
    infers("containerd", "1.7.13", "0.4.0");
    infers("containerd", "1.7.15", "0.6.0");
    infers("containerd", "1.7.24~ds1", "0.6.1");
    infers("containerd", "v1.7.25", "0.6.1");
    infers("containerd", "1.7.26", "0.8.0");
    infers("containerd", "1.7.99", "0.8.0");
    infers("containerd", "1.8.0", "0.8.0");
    infers("containerd", "2.0.11", "0.8.0");
    infers("containerd", "2.1.9+unknown", "0.8.0");
    infers("containerd", "2.2.0", "0.10.0");
    infers("containerd", "2.2.7", "0.11.0");
    infers("containerd", "2.3.4", "0.12.0");
    infers("containerd", "2.4.0-beta.0", "0.12.1");
    infers("containerd", "3.0.0", "0.12.1");
}

static void test_infer_crio_and_docker(void **state)
{
    (void)state;
    infers("cri-o", "1.25.9", NULL);
    infers("cri-o", "1.26.1", "0.2.0");
    infers("cri-o", "1.26.3", "0.3.0");
    infers("cri-o", "1.26.4", "0.3.1-0.20230504231226-94185418e253");
    infers("cri-o", "1.27.0", "0.3.0");
    infers("cri-o", "1.27.8", "0.3.1-0.20230504231226-94185418e253");
    infers("cri-o", "1.28.11", "0.3.1-0.20230504231226-94185418e253");
    infers("cri-o", "1.29.1", "0.5.0");
    infers("cri-o", "1.29.13", "0.6.0");
    infers("cri-o", "1.30.14", "0.6.0");
    infers("cri-o", "1.31.13", "0.6.1");
    infers("cri-o", "1.32.13", "0.9.0");
    infers("cri-o", "1.33.13", "0.9.1-0.20250219030224-e597e7849f24");
    infers("cri-o", "1.34.11", "0.10.0");
    infers("cri-o", "1.35.6", "0.11.0");
    infers("cri-o", "1.36.3", "0.11.0");
    infers("cri-o", "1.37.0", "0.12.0");
    infers("docker", "29.1.5", NULL);
    infers("docker", "29.2.0", "0.11.0");
    infers("docker", "29.4.3", "0.11.0");
    infers("docker", "29.6.2", "0.12.0");
    infers("docker", "29.7.2", "0.12.1");
    infers("docker", "30.0.0", "0.12.1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_features),
        cmocka_unit_test(test_U13_unreliable_runtime_name),
        cmocka_unit_test(test_infer_containerd),
        cmocka_unit_test(test_infer_crio_and_docker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
