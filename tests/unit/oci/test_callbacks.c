/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The callbacks of nri_oci_options: what they are given, what becomes of their answers, and what of
 * their failures.
 */
#include <stdio.h>

#include "fixture.h"

/* What a callback does, and what it was given. */
struct script {
    const char *answer; /* NULL: none */
    int code;
    const char *text; /* of nri_oci_answer_fail(); NULL: it is not called */
    unsigned calls;
    char seen[1024];
};

static int answer(struct script *script, nri_oci_answer *to)
{
    script->calls++;
    if (script->text != NULL)
        return nri_oci_answer_fail(to, script->code, script->text);
    if (script->answer != NULL)
        return nri_oci_answer_json(to, script->answer, strlen(script->answer));
    return script->code;
}

static int resolve(const char *name, nri_oci_answer *to, void *user)
{
    struct script *script = user;
    snprintf(script->seen, sizeof script->seen, "%s", name);
    return answer(script, to);
}

static int inject(const char *json, size_t length, const char *const *names, size_t count,
                  nri_oci_answer *to, void *user)
{
    struct script *script = user;
    assert_int_equal(count, 2);
    snprintf(script->seen, sizeof script->seen, "%s %s %.*s", names[0], names[1], (int)length,
             json);
    return answer(script, to);
}

static int check(const nri_resources *resources, nri_oci_answer *to, void *user)
{
    struct script *script = user;
    int64_t limit = 0;
    uint64_t shares = 0;
    (void)nri_resources_memory_limit(resources, &limit);
    (void)nri_resources_cpu_shares(resources, &shares);
    snprintf(script->seen, sizeof script->seen, "%d %d", (int)limit, (int)shares);
    return answer(script, to);
}

static bool filter(const char *key, const char *value, void *user)
{
    struct script *script = user;
    const size_t length = strlen(script->seen);
    snprintf(script->seen + length, sizeof script->seen - length, "%s=%s ", key,
             value != NULL ? value : "(removed)");
    return key[0] != 'x';
}

static void run(struct nri_oci_options *options, struct script *script, const char *change,
                bool update, const char *before, const char *expected)
{
    const struct fixture_row row = {change, before, expected};
    options->user = script;
    fixture_rows(&row, 1, update, options);
}

#define BLOCKIO "{\"blockio_class\":\"slow\"}"
#define RDT     "{\"rdt_class\":\"gold\"}"
#define WHERE   "!ContainerUpdate.linux.resources."

static void test_classes(void **state)
{
    (void)state;
    struct nri_oci_options options;
    struct script script = {.answer = "{\"weight\": 10.0}"};
    nri_oci_options_init(&options, sizeof options);
    options.resolve_blockio = resolve;
    options.resolve_rdt = resolve;
    run(&options, &script, BLOCKIO, true, "{}",
        "{\"linux\":{\"resources\":{\"blockIO\":{\"weight\":10.0}}}}");
    assert_string_equal(script.seen, "slow");
    run(&options, &script, BLOCKIO, true, "{\"linux\":{\"resources\":{\"blockIO\":7,\"x\":1}}}",
        "{\"linux\":{\"resources\":{\"blockIO\":{\"weight\":10.0},\"x\":1}}}");
    script.answer = "{\"closID\":\"gold\"}";
    run(&options, &script, RDT, true, "{\"linux\":{\"intelRdt\":{\"y\":1}}}",
        "{\"linux\":{\"intelRdt\":{\"closID\":\"gold\"}}}");
    assert_string_equal(script.seen, "gold");
    /* What RDT is told outright comes behind what a class stands for. */
    run(&options, &script,
        "{\"linux\":{\"rdt\":{\"clos_id\":\"own\"},\"resources\":{\"rdt_class\":\"gold\"}}}", false,
        "{}", "{\"linux\":{\"intelRdt\":{\"closID\":\"own\"}}}");
    assert_int_equal(script.calls, 4);
    run(&options, &script, "{\"blockio_class\":\"\",\"rdt_class\":\"\"}", true,
        "{\"linux\":{\"intelRdt\":{},\"resources\":{\"blockIO\":{}}}}",
        "{\"linux\":{\"resources\":{}}}");
    assert_int_equal(script.calls, 4);
}

static void test_class_failures(void **state)
{
    (void)state;
    struct nri_oci_options options;
    struct script script = {.code = NRI_E_NOT_FOUND, .text = "no such class"};
    nri_oci_options_init(&options, sizeof options);
    options.resolve_blockio = resolve;
    run(&options, &script, BLOCKIO, true, "{}", WHERE "blockio_class: no such class");
    script = (struct script){.code = NRI_E_PERMISSION};
    run(&options, &script, BLOCKIO, true, "{}", WHERE "blockio_class: permission denied");
    script = (struct script){.code = 1};
    run(&options, &script, BLOCKIO, true, "{}", WHERE "blockio_class: internal error");
    script = (struct script){.code = 0};
    run(&options, &script, BLOCKIO, true, "{}",
        WHERE "blockio_class: resolve_blockio answered nothing");
    script = (struct script){.answer = "[1]"};
    run(&options, &script, BLOCKIO, true, "{}",
        "!resolve_blockio:1:1: must be an object, found a list");
    script = (struct script){.answer = "{\n\"a\"}"};
    run(&options, &script, BLOCKIO, true, "{}",
        "!resolve_blockio:2:4: expected ':' behind the key, found '}'");
}

static void test_cdi(void **state)
{
    (void)state;
    static const char change[] =
        "{\"env\":[{\"key\":\"A\",\"value\":\"1\"}],\"CDI_devices\":[{\"name\":\"v.com/c=0\"},{"
        "\"name\":\"v.com/c=1\"}],\"linux\":{\"oom_score_adj\":5}}";
    struct nri_oci_options options;
    struct script script = {.answer = "{\"process\":{\"cdi\":1},\"b\":2}"};
    nri_oci_options_init(&options, sizeof options);
    options.inject_cdi = inject;
    run(&options, &script, change, false, "{\"b\":1}",
        "{\"process\":{\"cdi\":1,\"oomScoreAdj\":5},\"b\":2}");
    assert_string_equal(script.seen,
                        "v.com/c=0 v.com/c=1 {\"b\":1,\"process\":{\"env\":[\"A=1\"]}}");
    /* Without an answer the document stays. */
    script = (struct script){.code = 0};
    run(&options, &script, change, false, "{}",
        "{\"process\":{\"env\":[\"A=1\"],\"oomScoreAdj\":5}}");
    assert_int_equal(script.calls, 1);
    script = (struct script){.code = NRI_E_NOT_FOUND, .text = "v.com/c=1 is\nunknown \xff"};
    run(&options, &script, change, false, "{}",
        "!ContainerAdjustment.CDI_devices: v.com/c=1 is unknown ?");
    script = (struct script){.answer = "{\"process\":[]}"};
    run(&options, &script, change, false, "{}",
        "!inject_cdi:1:12: process: must be an object, found a list");
    /* No devices: nobody is asked. */
    script = (struct script){.code = NRI_E_INTERNAL};
    run(&options, &script, "{\"args\":[\"a\"]}", false, "{}", "{\"process\":{\"args\":[\"a\"]}}");
    assert_int_equal(script.calls, 0);
}

static void test_resources(void **state)
{
    (void)state;
    struct nri_oci_options options;
    struct script script = {.code = 0};
    nri_oci_options_init(&options, sizeof options);
    options.check_resources = check;
    /* It sees the whole, not the change alone. */
    run(&options, &script, "{\"memory\":{\"limit\":7}}", true,
        "{\"linux\":{\"resources\":{\"cpu\":{\"shares\":3}}}}",
        "{\"linux\":{\"resources\":{\"cpu\":{\"shares\":3},\"memory\":{\"limit\":7}}}}");
    assert_string_equal(script.seen, "7 3");
    run(&options, &script, "{}", true, "{}", "{}");
    assert_string_equal(script.seen, "0 0");
    assert_int_equal(script.calls, 2);
    run(&options, &script, "{\"args\":[\"a\"]}", false, "{}", "{\"process\":{\"args\":[\"a\"]}}");
    assert_int_equal(script.calls, 2);
    script = (struct script){.code = NRI_E_RANGE, .text = "too little memory"};
    run(&options, &script, "{\"memory\":{\"limit\":7}}", true, "{}",
        "!ContainerUpdate.linux.resources: too little memory");
    /* What cannot be shown to it is refused. */
    run(&options, &script, "{\"memory\":{\"limit\":7}}", true,
        "{\"linux\":{\"resources\":{\"pids\":7}}}",
        "!JSON:1:31: linux.resources.pids: must be an object, found a number");
}

static void test_annotations(void **state)
{
    (void)state;
    struct nri_oci_options options;
    struct script script = {.code = 0};
    nri_oci_options_init(&options, sizeof options);
    options.annotation_filter = filter;
    run(&options, &script, "{\"annotations\":{\"a\":\"1\",\"x\":\"2\",\"-b\":\"\",\"-xy\":\"\"}}",
        false, "{\"annotations\":{\"b\":\"0\",\"xy\":\"0\"}}",
        "{\"annotations\":{\"xy\":\"0\",\"a\":\"1\"}}");
    assert_string_equal(script.seen, "a=1 x=2 b=(removed) xy=(removed) ");
}

/* An answer too long is refused, and a callback cannot make success of it. */
static int too_long(const char *name, nri_oci_answer *to, void *user)
{
    static const char text[] = "{\"a\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}";
    (void)name;
    (void)user;
    assert_int_equal(nri_oci_answer_json(to, text, sizeof text - 1), NRI_E_LIMIT);
    assert_int_equal(nri_oci_answer_json(to, NULL, 0), NRI_E_INVALID);
    return 0;
}

static void test_long_answer(void **state)
{
    (void)state;
    struct nri_oci_options options;
    struct nri_json_options json;
    struct script script = {.code = 0};
    nri_oci_options_init(&options, sizeof options);
    nri_json_options_init(&json, sizeof json);
    json.max_bytes = 40;
    options.json = &json;
    options.resolve_blockio = too_long;
    run(&options, &script, BLOCKIO, true, "{}", WHERE "blockio_class: limit exceeded");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes),     cmocka_unit_test(test_class_failures),
        cmocka_unit_test(test_cdi),         cmocka_unit_test(test_resources),
        cmocka_unit_test(test_annotations), cmocka_unit_test(test_long_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
