/* SPDX-License-Identifier: Apache-2.0 */
/* What runtimes act on: by their NRI and by themselves, feature by feature, event by event; and
 * that doc/features.md says the same. With --print the table of that document. */
#include <stdio.h>

#include "refusal.h"

#define FIRST NRI_FEATURE_RLIMITS
#define LAST  NRI_FEATURE_REMOVE_DEVICE

static void supports(bool expected, const char *name, const char *version, const char *nri,
                     enum nri_feature feature)
{
    if (nri_feature_supported(name, version, nri, feature) != expected)
        fail_msg("%s %s, NRI %s: %s should %sbe supported", name, version, nri != NULL ? nri : "-",
                 nri_feature_name(feature), expected ? "" : "not ");
}

static void test_by_release(void **state)
{
    (void)state;
    static const struct {
        const char *name, *before, *since;
        enum nri_feature feature;
    } rows[] = {
        {"containerd", "1.7.6", "1.7.7", NRI_FEATURE_RLIMITS},
        {"containerd", "1.7.25", "1.7.26", NRI_FEATURE_OOM_SCORE_ADJ},
        {"containerd", "2.0.11", "2.1.0", NRI_FEATURE_POD_IPS},
        {"containerd", "1.7.26", "2.1.0", NRI_FEATURE_CDI_DEVICES},
        {"containerd", "2.1.9+unknown", "2.2.0", NRI_FEATURE_ARGS},
        {"containerd", "2.1.9", "2.2.0", NRI_FEATURE_DEVICE_RULES},
        {"containerd", "2.2.0", "2.2.1", NRI_FEATURE_SYSCTL},
        {"containerd", "2.2.7", "2.3.0", NRI_FEATURE_MEMORY_POLICY},
        {"v2", "2.1.9", "2.2.0", NRI_FEATURE_NAMESPACES},
        {"cri-o", "1.31.13", "1.32.0", NRI_FEATURE_POD_IPS},
        {"cri-o", "1.33.13", "1.34.0", NRI_FEATURE_CDI_DEVICES},
        {"cri-o", "1.34.11", "1.35.0", NRI_FEATURE_RDT},
        {"cri-o", "1.35.6", "1.36.0", NRI_FEATURE_CONTAINER_PID},
        {"docker", "29.1.5", "29.2.0", NRI_FEATURE_ENV},
        {"docker", "29.1.5", "29.2.0", NRI_FEATURE_MOUNTS},
        {"docker", "29.4.3", "29.5.0", NRI_FEATURE_EVENT_CALLS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        supports(false, rows[i].name, rows[i].before, NULL, rows[i].feature);
        supports(true, rows[i].name, rows[i].since, NULL, rows[i].feature);
    }
}

static void test_never(void **state)
{
    (void)state;
    static const enum nri_feature of_go[] = {NRI_FEATURE_MEMORY_OTHER, NRI_FEATURE_EVICTIONS,
                                             NRI_FEATURE_REMOVE_ENV, NRI_FEATURE_REMOVE_DEVICE};
    for (size_t i = 0; i < sizeof of_go / sizeof of_go[0]; i++) {
        supports(false, "containerd", "2.4.0", "0.12.2", of_go[i]);
        supports(false, "v2", "2.4.0", "0.12.2", of_go[i]);
        supports(false, "cri-o", "1.37.0", "0.12.2", of_go[i]);
        supports(false, "docker", "30.0.0", "0.12.2", of_go[i]);
        supports(true, "another", "1", "0.12.2", of_go[i]);
    }
}

/* Of containers' fields Docker takes two, whatever its NRI has. */
static void test_docker_fields(void **state)
{
    (void)state;
    for (int field = 1; field <= NRI_FIELD_MEMORY_POLICY; field++) {
        bool expected = field == NRI_FIELD_ENV || field == NRI_FIELD_MOUNTS;
        assert_int_equal(nri_field_supported("docker", "29.7.0", "0.12.2", field), expected);
        assert_int_equal(nri_field_supported("docker", "unreadable", "0.12.2", field), expected);
    }
    supports(false, "docker", "29.7.0", "0.12.2", NRI_FEATURE_UPDATES);
    supports(false, "docker", "29.7.0", "0.12.2", NRI_FEATURE_UNSOLICITED_UPDATES);
    supports(false, "docker", "29.7.0", "0.12.2", NRI_FEATURE_POD_EVENTS);
}

/* Only what its NRI hands over; and removals never get so far. */
static void test_docker_refuses(void **state)
{
    (void)state;
    assert_true(nri_feature_refused("docker", "0.12.0", NRI_FEATURE_MEMORY_POLICY));
    assert_true(nri_feature_refused("docker", "0.2.0", NRI_FEATURE_ANNOTATIONS));
    assert_true(nri_feature_refused("docker", "0.11.0", NRI_FEATURE_MEMORY_OTHER));
    assert_false(nri_feature_refused("docker", "0.11.0", NRI_FEATURE_MEMORY_POLICY));
    assert_false(nri_feature_refused("docker", "unknown", NRI_FEATURE_MEMORY_POLICY));
    assert_false(nri_feature_refused("docker", "0.12.0", NRI_FEATURE_ENV));
    assert_false(nri_feature_refused("docker", "0.12.0", NRI_FEATURE_MOUNTS));
    assert_false(nri_feature_refused("docker", "0.12.0", NRI_FEATURE_REMOVE_ENV));
    assert_false(nri_feature_refused("docker", "0.12.0", NRI_FEATURE_REMOVE_DEVICE));
    assert_false(nri_feature_refused("containerd", "0.12.0", NRI_FEATURE_MEMORY_OTHER));
    assert_false(nri_feature_refused("another", "0.12.0", NRI_FEATURE_MEMORY_OTHER));
    assert_false(nri_feature_refused(NULL, NULL, NRI_FEATURE_ARGS));
}

/* The version that the runtime told is the one that counts; the release stays what it is. */
static void test_told_version(void **state)
{
    (void)state;
    supports(true, "containerd", "1.7.0", "v0.4.0", NRI_FEATURE_RLIMITS);
    supports(false, "containerd", "1.7.0", NULL, NRI_FEATURE_RLIMITS);
    supports(false, "containerd", "2.4.0", "0.3.0", NRI_FEATURE_RLIMITS);
    supports(false, "containerd", "2.1.9", "0.12.2", NRI_FEATURE_ARGS);
    supports(true, "containerd", "unreadable", "0.12.2", NRI_FEATURE_ARGS);
    supports(true, "another", "1.0", "0.10.0", NRI_FEATURE_ARGS);
    supports(false, "another", "1.0", "0.9.0", NRI_FEATURE_ARGS);
    supports(true, NULL, NULL, "0.10.0", NRI_FEATURE_ARGS);
}

/* What a runtime tells that says nothing is as good as what it does not tell. */
static void test_told_nothing(void **state)
{
    static const char *const told[] = {NULL, "", "unknown", "(devel)", "0.0.0-unknown", "v0.0.0"};
    enum nri_feature found[1] = {0};
    nri_adjustment *a = fixture_make(*state);
    OK(nri_adjustment_set_sysctl(a, "a.b", "1"));
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        supports(true, "containerd", "2.2.0", told[i], NRI_FEATURE_ARGS);
        supports(false, "containerd", "2.1.9", told[i], NRI_FEATURE_ARGS);
        supports(false, "another", "1.0", told[i], NRI_FEATURE_ENV);
        assert_true(nri_event_supported("containerd", "2.2.0", told[i], 14));
        assert_false(nri_event_supported("containerd", "2.1.9", told[i], 14));
        assert_true(nri_field_supported("containerd", "2.2.0", told[i], NRI_FIELD_ARGS));
        assert_int_equal(nri_adjustment_ignored(a, "containerd", "2.2.0", told[i], found, 1), 1);
        assert_int_equal(found[0], NRI_FEATURE_SYSCTL);
        assert_int_equal(nri_adjustment_ignored(a, "containerd", "2.2.1", told[i], found, 1), 0);
        assert_int_equal(nri_adjustment_ignored(a, "another", "1.0", told[i], found, 1), 0);
    }
    assert_null(nri_version_infer("another", "1.0"));
}

static void test_nothing_known(void **state)
{
    (void)state;
    for (int feature = -1; feature <= LAST + 1; feature++) {
        supports(false, "another", "1.0", NULL, (enum nri_feature)feature);
        supports(false, "another", "1.0", "unknown", (enum nri_feature)feature);
        supports(false, NULL, NULL, NULL, (enum nri_feature)feature);
    }
    supports(false, "another", "1.0", "0.12.2", (enum nri_feature)0);
    supports(false, "another", "1.0", "0.12.2", (enum nri_feature)(LAST + 1));
    for (int number = -1; number <= 65; number++) {
        assert_false(nri_event_supported("another", "1.0", NULL, number));
        assert_false(nri_event_supported("another", "1.0", "", number));
        assert_false(nri_event_supported("containerd", "unreadable", "", number));
        assert_false(nri_field_supported("another", "1.0", NULL, number));
    }
    assert_false(nri_field_supported("another", "1.0", "0.12.2", 0));
    assert_false(nri_field_supported("another", "1.0", "0.12.2", -1));
    assert_false(nri_field_supported("another", "1.0", "0.12.2", 41));
}

static uint32_t events(const char *name, const char *version, const char *nri)
{
    uint32_t mask = 0;
    for (int event = -1; event <= 70; event++) {
        if (nri_event_supported(name, version, nri, event))
            mask |= NRI_EVENT_BIT(event);
    }
    return mask;
}

static void test_events(void **state)
{
    (void)state;
    const uint32_t create = NRI_EVENT_BIT(NRI_EVENT_CREATE_CONTAINER);
    const uint32_t validate = NRI_EVENT_BIT(NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT);
    assert_int_equal(events("containerd", "2.1.9", NULL), NRI_EVENTS_CLASSIC);
    assert_int_equal(events("containerd", "2.2.0", NULL), NRI_EVENTS_ALL);
    assert_int_equal(events("v2", "2.2.0", NULL), NRI_EVENTS_ALL);
    assert_int_equal(events("cri-o", "1.33.0", NULL), NRI_EVENTS_CLASSIC);
    assert_int_equal(events("cri-o", "1.34.0", NULL),
                     NRI_EVENTS_ALL & ~NRI_EVENT_BIT(NRI_EVENT_POST_UPDATE_POD_SANDBOX));
    assert_int_equal(events("docker", "29.2.0", NULL), create | validate);
    assert_int_equal(events("docker", "29.2.0", "0.9.0"), create);
    assert_int_equal(events("another", NULL, "0.10.0"), NRI_EVENTS_ALL);
    assert_int_equal(events("another", NULL, "0.9.0"), NRI_EVENTS_CLASSIC);
}

/* Every field belongs to a feature: what an adjustment of that field alone says it uses. */
static void test_fields(void **state)
{
    (void)state;
    for (int field = 1; field <= NRI_FIELD_MEMORY_POLICY; field++)
        assert_true(nri_field_supported("another", NULL, "0.12.2", field));
    assert_false(nri_field_supported("another", NULL, "0.9.0", NRI_FIELD_ARGS));
    assert_true(nri_field_supported("another", NULL, "0.10.0", NRI_FIELD_ARGS));
    assert_false(nri_field_supported("containerd", "2.2.0", NULL, NRI_FIELD_MEM_SWAP_LIMIT));
    assert_true(nri_field_supported("containerd", "2.2.0", NULL, NRI_FIELD_MEM_LIMIT));
    assert_false(nri_field_supported("containerd", "2.2.0", NULL, NRI_FIELD_RDT_SCHEMATA));
    assert_true(nri_field_supported("containerd", "2.2.1", NULL, NRI_FIELD_RDT_SCHEMATA));
    assert_false(nri_field_supported("cri-o", "1.36.0", NULL, NRI_FIELD_MEMORY_POLICY));
}

static void test_ignored(void **state)
{
    static const char *const args[] = {"a"};
    enum nri_feature found[3] = {0};
    nri_adjustment *a = fixture_make(*state);
    assert_int_equal(nri_adjustment_ignored(NULL, "containerd", "2.1.9", NULL, found, 3), 0);
    assert_int_equal(nri_adjustment_ignored(a, "containerd", "2.1.9", NULL, found, 3), 0);
    OK(nri_adjustment_add_env(a, "A", "1"));
    OK(nri_adjustment_set_args(a, args, 1));
    OK(nri_adjustment_set_memory_limit(a, 1));
    OK(nri_adjustment_set_memory_swap(a, 1));
    assert_int_equal(nri_adjustment_ignored(a, "containerd", "2.1.9", NULL, found, 3), 2);
    assert_int_equal(found[0], NRI_FEATURE_ARGS);
    assert_int_equal(found[1], NRI_FEATURE_MEMORY_OTHER);
    assert_int_equal(found[2], 0);
    found[1] = NRI_FEATURE_IMAGE;
    assert_int_equal(nri_adjustment_ignored(a, "containerd", "2.1.9", NULL, found, 1), 2);
    assert_int_equal(found[1], NRI_FEATURE_IMAGE);
    assert_int_equal(nri_adjustment_ignored(a, "containerd", "2.1.9", NULL, NULL, 0), 2);
    assert_int_equal(nri_adjustment_ignored(a, "containerd", "2.2.0", NULL, found, 3), 1);
    assert_int_equal(nri_adjustment_ignored(a, "docker", "29.7.0", NULL, found, 3), 3);
    assert_int_equal(found[1], NRI_FEATURE_MEMORY_LIMIT);
    assert_int_equal(nri_adjustment_ignored(a, "another", "1.0", "0.9.0", found, 3), 1);
    assert_int_equal(nri_adjustment_ignored(a, "another", "1.0", NULL, found, 3), 0);
    assert_int_equal(nri_adjustment_ignored(a, "another", "1.0", "unknown", found, 3), 0);
}

/* ---- doc/features.md ---- */

#define LINE_SIZE 256

static const char *const nri_versions[] = {
    "0.2.0", "0.3.0", "0.4.0",  "0.5.0",  "0.6.0",  "0.6.1",  "0.7.0",
    "0.8.0", "0.9.0", "0.10.0", "0.11.0", "0.12.0", "0.12.1", "0.12.2",
};
static const char *const of_containerd[] = {"1.7.0", "1.7.7", "1.7.14", "1.7.16", "1.7.26", "2.0.0",
                                            "2.1.0", "2.2.0", "2.2.1",  "2.3.0",  "2.4.0"};
static const char *const of_crio[] = {"1.26.0", "1.26.2", "1.26.4", "1.27.0", "1.27.1", "1.28.0",
                                      "1.29.0", "1.29.2", "1.30.0", "1.31.0", "1.32.0", "1.33.0",
                                      "1.34.0", "1.35.0", "1.36.0", "1.37.0"};
static const char *const of_docker[] = {"29.2.0", "29.5.0", "29.7.0"};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* The first of the releases that has it, and that all later ones have it too. */
static const char *first(const char *name, const char *const *releases, size_t count,
                         enum nri_feature feature)
{
    const char *since = NULL;
    for (size_t i = 0; i < count; i++) {
        bool has = name != NULL ? nri_feature_supported(name, releases[i], NULL, feature)
                                : nri_version_supports(releases[i], feature);
        assert_true(has || since == NULL);
        if (has && since == NULL)
            since = releases[i];
    }
    return since != NULL ? since : "no";
}

static void line_of(enum nri_feature feature, char line[LINE_SIZE])
{
    (void)snprintf(line, LINE_SIZE, "| %s | %s | %s | %s | %s |\n", nri_feature_name(feature),
                   first(NULL, nri_versions, COUNT(nri_versions), feature),
                   first("containerd", of_containerd, COUNT(of_containerd), feature),
                   first("cri-o", of_crio, COUNT(of_crio), feature),
                   first("docker", of_docker, COUNT(of_docker), feature));
}

static const char *document; /* its path */

/* The rows of the table are those of the functions, in their order, and no more. */
static void test_document(void **state)
{
    (void)state;
    char line[LINE_SIZE], expected[LINE_SIZE];
    int feature = FIRST;
    FILE *file = fopen(document, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] != '|' || strncmp(line, "| feature |", 11) == 0 || line[1] == '-')
            continue;
        assert_in_range(feature, FIRST, LAST);
        line_of((enum nri_feature)feature, expected);
        assert_string_equal(line, expected);
        feature++;
    }
    assert_int_equal(fclose(file), 0);
    assert_int_equal(feature, LAST + 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_release),    cmocka_unit_test(test_never),
        cmocka_unit_test(test_docker_fields), cmocka_unit_test(test_docker_refuses),
        cmocka_unit_test(test_told_version),  WITH_FIXTURE(test_told_nothing),
        cmocka_unit_test(test_nothing_known), cmocka_unit_test(test_events),
        cmocka_unit_test(test_fields),        WITH_FIXTURE(test_ignored),
        cmocka_unit_test(test_document),
    };
    if (argc != 2) {
        fprintf(stderr, "usage: %s doc/features.md | --print\n", argv[0]);
        return 2;
    }
    document = argv[1];
    for (int feature = FIRST; strcmp(document, "--print") == 0 && feature <= LAST; feature++) {
        char line[LINE_SIZE];
        line_of((enum nri_feature)feature, line);
        fputs(line, stdout);
    }
    return strcmp(document, "--print") == 0 ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
