/* SPDX-License-Identifier: Apache-2.0 */
/* Every message of NRI as JSON and back: with every field set, and empty. */
#include "fixture.h"
#include "golden.h"
#include "model/json_message.h"
#include "model/json_schema.h"
#include "wire/message.h"

static uint8_t *pack(struct fixture *fixture, const ProtobufCMessage *message, size_t *size)
{
    assert_int_equal(nri_message_size(message, size, NULL), 0);
    uint8_t *bytes = nri_arena_alloc(&fixture->arena, *size + 1);
    assert_non_null(bytes);
    nri_message_encode(message, bytes);
    return bytes;
}

/* Bytes to JSON, indented or not, and back are the same bytes. */
static void there_and_back(const char *name, const uint8_t *bytes, size_t size, uint32_t indent)
{
    struct nri_json_options options;
    char *text, *again;
    size_t length, again_size;
    nri_error *error = NULL;
    nri_json_options_init(&options, sizeof options);
    options.indent = indent;
    int code = nri_json_from_protobuf(name, bytes, size, &options, &text, &length, &error);
    if (code != 0)
        fail_msg("%s: %s", name, nri_error_get_text(error));
    assert_int_equal(strlen(text), length);
    code = nri_json_to_protobuf(name, text, length, NULL, &again, &again_size, &error);
    if (code != 0)
        fail_msg("%s: %s in %s", name, nri_error_get_text(error), text);
    assert_int_equal(again_size, size);
    assert_memory_equal(again, bytes, size);
    nri_json_free(text);
    nri_json_free(again);
}

static void test_every_message_with_every_field(void **state)
{
    struct fixture *fixture = *state;
    assert_true(nri_json_type_count() > 60);
    for (size_t i = 0; i < nri_json_type_count(); i++) {
        const ProtobufCMessageDescriptor *type = nri_json_type_at(i);
        size_t size;
        const uint8_t *bytes = pack(fixture, golden_message(&fixture->arena, type, "whole"), &size);
        assert_true(size > 0 || type->n_fields == 0);
        there_and_back(type->short_name, bytes, size, 0);
        there_and_back(type->short_name, bytes, size, 2);
    }
}

static void test_every_message_empty(void **state)
{
    (void)state;
    for (size_t i = 0; i < nri_json_type_count(); i++) {
        const char *name = nri_json_type_at(i)->short_name;
        const bool wrapper = nri_json_is_wrapper(nri_json_type_at(i));
        char *text;
        assert_int_equal(nri_json_from_protobuf(name, NULL, 0, NULL, &text, NULL, NULL), 0);
        if (!wrapper)
            assert_string_equal(text, "{}");
        nri_json_free(text);
        there_and_back(name, (const uint8_t *)"", 0, 0);
    }
}

/* An optional that is there and zero is not the same as one that is absent. */
static void test_present_and_zero(void **state)
{
    (void)state;
    static const char *const same[] = {
        "{\"memory\":{\"limit\":0}}",
        "{\"memory\":{}}",
        "{\"blockio_class\":\"\"}",
        "{\"pids\":{}}",
        "{\"cpu\":{\"shares\":18446744073709551615}}",
        "{\"cpu\":{\"quota\":-9223372036854775808}}",
        "{\"unified\":{\"a\":\"\",\"b\":\"1\"}}",
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        char *bytes, *text;
        size_t size;
        assert_int_equal(nri_json_to_protobuf("LinuxResources", same[i], strlen(same[i]), NULL,
                                              &bytes, &size, NULL),
                         0);
        assert_int_equal(nri_json_from_protobuf("LinuxResources", (const uint8_t *)bytes, size,
                                                NULL, &text, NULL, NULL),
                         0);
        assert_string_equal(text, same[i]);
        nri_json_free(bytes);
        nri_json_free(text);
    }
}

/* What is read beside the form that is written. */
static void test_other_spellings(void **state)
{
    (void)state;
    static const struct {
        const char *message, *other, *canonical;
    } cases[] = {
        {"Container", "{\"podSandboxId\":\"a\"}", "{\"pod_sandbox_id\":\"a\"}"},
        {"Container", "{\"cdi_devices\":[{\"name\":\"v/c=d\"}]}",
         "{\"CDI_devices\":[{\"name\":\"v/c=d\"}]}"},
        {"Container", "{\"cdiDevices\":[]}", "{}"},
        {"Container", "{\"env\":{\"A\":\"1\",\"B\":\"\"}}", "{\"env\":[\"A=1\",\"B=\"]}"},
        {"Container", "{\"state\":3}", "{\"state\":\"CONTAINER_RUNNING\"}"},
        {"Container", "{\"state\":77}", "{\"state\":77}"},
        {"Container", "{\"created_at\":\"9223372036854775807\"}",
         "{\"created_at\":9223372036854775807}"},
        {"Container", "{\"pid\":1e2,\"name\":null}", "{\"pid\":100}"},
        {"ContainerAdjustment", "{\"env\":{\"A\":\"1\"}}",
         "{\"env\":[{\"key\":\"A\",\"value\":\"1\"}]}"},
        {"LinuxMemory", "{\"limit\":{\"value\":5},\"kernelTcp\":6}",
         "{\"limit\":5,\"kernel_tcp\":6}"},
        {"LinuxRdt", "{\"schemata\":{\"value\":[\"L3:0=f\"]}}", "{\"schemata\":[\"L3:0=f\"]}"},
        {"LinuxRdt", "{\"schemata\":[]}", "{\"schemata\":[]}"},
        /* A wrapper without a value is present; null is absent, inside of it too. */
        {"LinuxMemory", "{\"limit\":{}}", "{\"limit\":0}"},
        {"LinuxMemory", "{\"limit\":{\"value\":null}}", "{}"},
        {"LinuxMemory", "{\"limit\":{\"value\":null},\"swap\":{\"value\":0}}", "{\"swap\":0}"},
        {"LinuxMemory", "{\"use_hierarchy\":{\"value\":null},\"disable_oom_killer\":{}}",
         "{\"disable_oom_killer\":false}"},
        {"LinuxRdt", "{\"closId\":{\"value\":null},\"schemata\":{\"value\":null}}", "{}"},
        {"LinuxRdt", "{\"clos_id\":{},\"schemata\":{}}", "{\"clos_id\":\"\",\"schemata\":[]}"},
        {"LinuxDevice", "{\"file_mode\":{\"value\":null},\"uid\":{\"value\":null}}", "{}"},
        {"ConfigureRequest", "{\"nri_version\":\"0.12.0\"}", "{\"NRI_version\":\"0.12.0\"}"},
        {"FieldOwners", "{\"simple\":{\"8\":\"10-a\"}}", "{\"simple\":{\"8\":\"10-a\"}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *bytes, *text;
        size_t size;
        nri_error *error = NULL;
        if (nri_json_to_protobuf(cases[i].message, cases[i].other, strlen(cases[i].other), NULL,
                                 &bytes, &size, &error) != 0)
            fail_msg("%s: %s", cases[i].other, nri_error_get_text(error));
        assert_int_equal(nri_json_from_protobuf(cases[i].message, (const uint8_t *)bytes, size,
                                                NULL, &text, NULL, NULL),
                         0);
        assert_string_equal(text, cases[i].canonical);
        nri_json_free(bytes);
        nri_json_free(text);
    }
}

static void test_errors_name_place_and_rule(void **state)
{
    (void)state;
    static const struct {
        const char *message, *json;
        int code;
        const char *text;
    } cases[] = {
        {"Container", "{\"nmae\":\"a\"}", NRI_E_SYNTAX,
         "JSON:1:2: Container[\"nmae\"]: unknown member; Container has id, pod_sandbox_id, name, "
         "state, labels, annotations, args, env, mounts, hooks, linux, pid, rlimits, created_at, "
         "started_at, finished_at, exit_code, status_reason, status_message, CDI_devices, user, "
         "image"},
        {"Container", "{\"pid\":-1}", NRI_E_RANGE,
         "JSON:1:8: Container.pid: must be 0 to 4294967295, found -1"},
        {"Container", "{\"pid\":1.5}", NRI_E_SYNTAX,
         "JSON:1:8: Container.pid: must be an integer, found 1.5"},
        {"Container", "{\"linux\":\n {\"resources\":{\"memory\":{\"limit\":\"x\"}}}}", NRI_E_SYNTAX,
         "JSON:2:34: Container.linux.resources.memory.limit: must be an integer, found \"x\""},
        {"Container", "{\"created_at\":9223372036854775808}", NRI_E_RANGE,
         "JSON:1:15: Container.created_at: must be -9223372036854775808 to 9223372036854775807, "
         "found 9223372036854775808"},
        {"Container", "{\"args\":[\"a\",1]}", NRI_E_SYNTAX,
         "JSON:1:14: Container.args[1]: must be a text, found a number"},
        {"Container", "{\"args\":\"a\"}", NRI_E_SYNTAX,
         "JSON:1:9: Container.args: must be a list, found a text"},
        {"Container", "{\"labels\":{\"a\":null}}", NRI_E_SYNTAX,
         "JSON:1:16: Container.labels[\"a\"]: must be a text, found null"},
        {"Container", "{\"podSandboxId\":\"a\",\"pod_sandbox_id\":\"b\"}", NRI_E_SYNTAX,
         "JSON:1:21: Container[\"pod_sandbox_id\"]: the member pod_sandbox_id is given twice, in "
         "two spellings"},
        {"Container", "{\"state\":\"RUNNING\"}", NRI_E_SYNTAX,
         "JSON:1:10: Container.state: \"RUNNING\" is no ContainerState; these are: "
         "CONTAINER_UNKNOWN, CONTAINER_CREATED, CONTAINER_PAUSED, CONTAINER_RUNNING, "
         "CONTAINER_STOPPED"},
        {"SynchronizeRequest", "{\"more\":1}", NRI_E_SYNTAX,
         "JSON:1:9: SynchronizeRequest.more: must be true or false, found a number"},
        {"Container", "[]", NRI_E_SYNTAX, "JSON:1:1: Container: must be an object, found a list"},
        {"NoSuch", "{}", NRI_E_NOT_FOUND, "message \"NoSuch\": NRI has none of this name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *bytes;
        size_t size;
        nri_error *error = NULL;
        assert_int_equal(nri_json_to_protobuf(cases[i].message, cases[i].json,
                                              strlen(cases[i].json), NULL, &bytes, &size, &error),
                         cases[i].code);
        assert_string_equal(nri_error_get_text(error), cases[i].text);
        fixture_check_place(error, "JSON");
        assert_null(bytes);
        nri_error_free(error);
    }
}

static void test_limits(void **state)
{
    (void)state;
    struct nri_json_options options;
    char *text;
    nri_error *error = NULL;
    nri_pod *pod;
    nri_json_options_init(&options, sizeof options);
    options.max_bytes = 10;
    options.name = "pod.json";
    assert_int_equal(nri_pod_from_json("{\"id\":\"a\"}", 10, &options, &pod, &error), 0);
    assert_int_equal(nri_pod_to_json(pod, &options, &text, NULL, &error), 0);
    nri_json_free(text);
    options.max_bytes = 9;
    assert_int_equal(nri_pod_to_json(pod, &options, &text, NULL, &error), NRI_E_LIMIT);
    assert_null(text);
    assert_string_equal(nri_error_get_text(error),
                        "pod.json: the text is longer than the limit of 9 bytes");
    error = nri_error_free(error);
    nri_pod_free(pod);
    assert_int_equal(nri_pod_from_json("{\"id\":\"a\"}", 10, &options, &pod, &error), NRI_E_LIMIT);
    assert_null(pod);
    error = nri_error_free(error);
    options.max_bytes = 0;
    options.max_values = 2;
    assert_int_equal(nri_pod_from_json("{\"ips\":[\"a\"]}", 13, &options, &pod, &error),
                     NRI_E_LIMIT);
    error = nri_error_free(error);
    options.max_values = 0;
    options.max_depth = 1;
    assert_int_equal(nri_pod_from_json("{\"ips\":[\"a\"]}", 13, &options, &pod, &error),
                     NRI_E_LIMIT);
    nri_error_free(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_message_with_every_field, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test(test_every_message_empty),
        cmocka_unit_test(test_present_and_zero),
        cmocka_unit_test(test_other_spellings),
        cmocka_unit_test(test_errors_name_place_and_rule),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
