/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that nobody writes in good faith, and memory that ends: bounded, with an exact error, with
 * nothing lost. */
#include <stdio.h>

#include "fixture.h"
#include "model/json_message.h"

/* What a text gives as a message: the code, and the error's text. */
static void refused(const char *message, const char *json, size_t length, int code,
                    const char *text)
{
    char *bytes = (char *)&code;
    size_t size = 77;
    nri_error *error = NULL;
    int got = nri_json_to_protobuf(message, json, length, NULL, &bytes, &size, &error);
    assert_string_equal(nri_error_get_text(error), text);
    assert_int_equal(got, code);
    assert_null(bytes);
    assert_int_equal(size, 0);
    fixture_check_place(error, "JSON");
    nri_error_free(error);
}

static void accepted(const char *message, const char *json, const char *again)
{
    char *bytes, *text;
    size_t size;
    nri_error *error = NULL;
    if (nri_json_to_protobuf(message, json, strlen(json), NULL, &bytes, &size, &error) != 0)
        fail_msg("%s: %s", json, nri_error_get_text(error));
    assert_int_equal(
        nri_json_from_protobuf(message, (const uint8_t *)bytes, size, NULL, &text, NULL, NULL), 0);
    assert_string_equal(text, again);
    nri_json_free(bytes);
    nri_json_free(text);
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *message, *json, *text;
        int code;
    } bad[] = {
        {"User", "{\"uid\":4294967296}", "uid: must be 0 to 4294967295, found 4294967296",
         NRI_E_RANGE},
        {"Container", "{\"exit_code\":2147483648}",
         "exit_code: must be -2147483648 to 2147483647, found 2147483648", NRI_E_RANGE},
        {"Container", "{\"exit_code\":-2147483649}",
         "exit_code: must be -2147483648 to 2147483647, found -2147483649", NRI_E_RANGE},
        {"Container", "{\"exit_code\":\"5\"}", "exit_code: must be an integer, found a text",
         NRI_E_SYNTAX},
        {"POSIXRlimit", "{\"hard\":18446744073709551616}",
         "hard: must be 0 to 18446744073709551615, found 18446744073709551616", NRI_E_RANGE},
        {"POSIXRlimit", "{\"hard\":\"18446744073709551616\"}",
         "hard: must be 0 to 18446744073709551615, found \"18446744073709551616\"", NRI_E_RANGE},
        {"POSIXRlimit", "{\"hard\":\"-1\"}",
         "hard: must be 0 to 18446744073709551615, found \"-1\"", NRI_E_RANGE},
        {"POSIXRlimit", "{\"hard\":\"01\"}", "hard: must be an integer, found \"01\"",
         NRI_E_SYNTAX},
        {"POSIXRlimit", "{\"hard\":\"+1\"}", "hard: must be an integer, found \"+1\"",
         NRI_E_SYNTAX},
        {"POSIXRlimit", "{\"hard\":\"-0\"}", "hard: must be an integer, found \"-0\"",
         NRI_E_SYNTAX},
        {"POSIXRlimit", "{\"hard\":\"\"}", "hard: must be an integer, found \"\"", NRI_E_SYNTAX},
        {"POSIXRlimit", "{\"hard\":\"1 \"}", "hard: must be an integer, found \"1 \"",
         NRI_E_SYNTAX},
        {"POSIXRlimit", "{\"hard\":1e400}", "hard: must be 0 to 18446744073709551615, found 1e400",
         NRI_E_RANGE},
        {"POSIXRlimit", "{\"hard\":1e-1}", "hard: must be an integer, found 1e-1", NRI_E_SYNTAX},
        {"POSIXRlimit", "{\"hard\":99999999999999999999999999999999999999999999999999}",
         "hard: must be 0 to 18446744073709551615, found "
         "9999999999999999999999999999999999999999...",
         NRI_E_RANGE},
        {"POSIXRlimit", "{\"hard\":true}", "hard: must be an integer or a decimal text, found true",
         NRI_E_SYNTAX},
        {"OptionalInt", "{\"value\":9223372036854775808}",
         "value: must be -9223372036854775808 to 9223372036854775807, found 9223372036854775808",
         NRI_E_RANGE},
        {"LinuxIOPriority", "{\"class\":2147483648}",
         "class: must be -2147483648 to 2147483647, found 2147483648", NRI_E_RANGE},
        {"LinuxIOPriority", "{\"class\":true}", "class: must be a name or a number, found true",
         NRI_E_SYNTAX},
        {"ContainerUpdate", "{\"ignore_failure\":\"true\"}",
         "ignore_failure: must be true or false, found a text", NRI_E_SYNTAX},
        {"FieldOwners", "{\"simple\":{\"01\":\"a\"}}",
         "simple[\"01\"]: must be an integer, found \"01\"", NRI_E_SYNTAX},
        {"FieldOwners", "{\"simple\":{\"2147483648\":\"a\"}}",
         "simple[\"2147483648\"]: must be -2147483648 to 2147483647, found \"2147483648\"",
         NRI_E_RANGE},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[256];
        /* A wrong key is told at its own place, which is behind the last brace here. */
        char before = strncmp(bad[i].text, "simple[", 7) == 0 ? '{' : ':';
        size_t column = (size_t)(strrchr(bad[i].json, before) - bad[i].json) + 2;
        snprintf(text, sizeof text, "JSON:1:%zu: %s.%s", column, bad[i].message, bad[i].text);
        refused(bad[i].message, bad[i].json, strlen(bad[i].json), bad[i].code, text);
    }
    accepted("User", "{\"uid\":4294967295}", "{\"uid\":4294967295}");
    accepted("Container", "{\"exit_code\":-2147483648}", "{\"exit_code\":-2147483648}");
    accepted("Container", "{\"created_at\":\"-9223372036854775808\"}",
             "{\"created_at\":-9223372036854775808}");
    accepted("POSIXRlimit", "{\"hard\":\"18446744073709551615\",\"soft\":\"0\"}",
             "{\"hard\":18446744073709551615}");
    accepted("POSIXRlimit", "{\"hard\":1.5e1,\"soft\":-0}", "{\"hard\":15}");
    accepted("OptionalInt", "5", "5");
    accepted("OptionalInt", "{}", "0");
    accepted("OptionalString", "{\"value\":null}", "\"\"");
    accepted("LinuxIOPriority", "{\"class\":-2147483648}", "{\"class\":-2147483648}");
    accepted("FieldOwners", "{\"simple\":{\"-2147483648\":\"a\",\"0\":\"\"}}",
             "{\"simple\":{\"-2147483648\":\"a\",\"0\":\"\"}}");
}

static void test_structure(void **state)
{
    (void)state;
    static const struct {
        const char *message, *json, *text;
    } bad[] = {
        {"Empty", "{\"a\":1}", "JSON:1:2: Empty[\"a\"]: unknown member; Empty has none"},
        {"Container", "{\"args\":[null]}",
         "JSON:1:10: Container.args[0]: must be a text, found null"},
        {"Container", "{\"mounts\":[null]}",
         "JSON:1:12: Container.mounts[0]: must be an object, found null"},
        {"Container", "{\"labels\":[]}",
         "JSON:1:11: Container.labels: must be an object, found a list"},
        {"Container", "{\"args\":{}}", "JSON:1:9: Container.args: must be a list, found an object"},
        {"Container", "{\"env\":\"A=1\"}",
         "JSON:1:8: Container.env: must be a list or an object, found a text"},
        {"Container", "{\"env\":{\"A=B\":\"1\"}}",
         "JSON:1:9: Container.env[\"A=B\"]: the name of a variable must not be empty or hold a "
         "\"=\""},
        {"Container", "{\"env\":{\"\":\"1\"}}",
         "JSON:1:9: Container.env[\"\"]: the name of a variable must not be empty or hold a "
         "\"=\""},
        {"Container", "{\"env\":{\"A\":1}}",
         "JSON:1:13: Container.env[\"A\"]: must be a text, found a number"},
        {"ContainerAdjustment", "{\"env\":{\"-A\":null}}",
         "JSON:1:14: ContainerAdjustment.env[\"-A\"]: must be a text, found null"},
        {"Container", "{\"hooks\":{\"poststop\":[{\"env\":{\"A\":[]}}]}}",
         "JSON:1:35: Container.hooks.poststop[0].env[\"A\"]: must be a text, found a list"},
        {"ContainerAdjustment", "{\"env\":[\"A=1\"]}",
         "JSON:1:9: ContainerAdjustment.env[0]: must be an object such as {\"key\": \"NAME\", "
         "\"value\": \"TEXT\"}, found a text"},
        {"Container", "{\"id\":\"a\",\n \"env\": {\n  \"A=B\" :\n \"1\"}}",
         "JSON:3:3: Container.env[\"A=B\"]: the name of a variable must not be empty or hold a "
         "\"=\""},
        {"Container", "{\"id\":null,\"id\":\"a\"}",
         "JSON:1:12: the key \"id\" is in this object already"},
        {"Container", "{\"cdiDevices\":null,\"CDIDevices\":[]}",
         "JSON:1:20: Container[\"CDIDevices\"]: the member CDI_devices is given twice, in two "
         "spellings"},
        {"LinuxContainerAdjustment", "{\"net_devices\":{\"eth0\":null}}",
         "JSON:1:24: LinuxContainerAdjustment.net_devices[\"eth0\"]: must be an object, found "
         "null"},
        {"LinuxMemory", "{\"limit\":[1]}",
         "JSON:1:10: LinuxMemory.limit: must be an integer or a decimal text, found a list"},
        {"LinuxMemory", "{\"limit\":{\"valeu\":1}}",
         "JSON:1:11: LinuxMemory.limit[\"valeu\"]: unknown member; OptionalInt64 has value"},
        {"LinuxMemory", "{\"limit\":{\"valeu\":null}}",
         "JSON:1:11: LinuxMemory.limit[\"valeu\"]: unknown member; OptionalInt64 has value"},
        {"LinuxMemory", "{\"limit\":{\"value\":null,\"unit\":null}}",
         "JSON:1:24: LinuxMemory.limit[\"unit\"]: unknown member; OptionalInt64 has value"},
        {"LinuxRdt", "{\"schemata\":\"a\"}",
         "JSON:1:13: LinuxRdt.schemata: must be a list, found a text"},
        {"OptionalInt", "null",
         "JSON:1:1: OptionalInt: must be an integer or a decimal text, found null"},
        {"Container", "\"\"", "JSON:1:1: Container: must be an object, found a text"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refused(bad[i].message, bad[i].json, strlen(bad[i].json), NRI_E_SYNTAX, bad[i].text);
    accepted("Hook", "{\"env\":{\"A\":\"1\"}}", "{\"env\":[\"A=1\"]}");
    accepted("Hook", "{\"env\":{},\"args\":[],\"timeout\":null}", "{}");
}

/* A long key is cut in the error, and the member at fault is still named. */
static void test_long_names(void **state)
{
    (void)state;
    static char json[4096];
    nri_error *error = NULL;
    nri_container *container;
    int length = snprintf(json, sizeof json, "{\"labels\":{\"%02000d\":1}}", 7);
    assert_int_equal(nri_container_from_json(json, (size_t)length, NULL, &container, &error),
                     NRI_E_SYNTAX);
    const char *text = nri_error_get_text(error);
    assert_memory_equal(text, "JSON:1:2015: Container.labels[\"000", 34);
    assert_non_null(strstr(text, "...\"]: must be a text, found a number"));
    error = nri_error_free(error);
    length = snprintf(json, sizeof json, "{\"%02000d\":1}", 7);
    assert_int_equal(nri_container_from_json(json, (size_t)length, NULL, &container, &error),
                     NRI_E_SYNTAX);
    assert_non_null(strstr(nri_error_get_text(error), "CDI_devices, user, image"));
    nri_error_free(error);
}

static void test_depth(void **state)
{
    (void)state;
    static char json[200001];
    memset(json, '[', 200000);
    refused("Container", json, 200000, NRI_E_LIMIT,
            "JSON:1:65: nested deeper than the limit of 64");
    memset(json + 64, ']', 64);
    refused("Container", json, 128, NRI_E_SYNTAX,
            "JSON:1:1: Container: must be an object, found a list");
}

/* JSON has a form for a NUL, but a text may not hold one: what is written is not read again. */
static void test_nul_and_broken_bytes(void **state)
{
    (void)state;
    char *text;
    nri_error *error = NULL;
    const uint8_t nul[] = {0x0a, 3, 'a', 0, 'b'}, broken[] = {0x0a, 1, 0xff},
                  cut[] = {0x0a, 5, 'a'};
    const uint8_t unknown[] = {0xf8, 0x07, 1, 0x0a, 1, 'x'};
    assert_int_equal(nri_json_from_protobuf("PodSandbox", nul, sizeof nul, NULL, &text, NULL, NULL),
                     0);
    assert_string_equal(text, "{\"id\":\"a\\u0000b\"}");
    refused("PodSandbox", text, strlen(text), NRI_E_UTF8,
            "JSON:1:9: \\u0000: a text may not hold a NUL");
    nri_json_free(text);
    assert_int_equal(
        nri_json_from_protobuf("PodSandbox", broken, sizeof broken, NULL, &text, NULL, &error),
        NRI_E_UTF8);
    assert_non_null(strstr(nri_error_get_text(error), "PodSandbox.id"));
    assert_null(text);
    error = nri_error_free(error);
    assert_int_equal(
        nri_json_from_protobuf("PodSandbox", cut, sizeof cut, NULL, &text, NULL, &error),
        NRI_E_PROTOCOL);
    assert_null(text);
    nri_error_free(error);
    /* A field that this library does not know has no name. */
    assert_int_equal(
        nri_json_from_protobuf("PodSandbox", unknown, sizeof unknown, NULL, &text, NULL, NULL), 0);
    assert_string_equal(text, "{\"id\":\"x\"}");
    nri_json_free(text);
}

/* ---- memory ---- */

#define COUNT 20000

/* HEAD, then COUNT times an element, then TAIL. */
static char *repeat(const char *head, const char *element, const char *tail, size_t *length)
{
    size_t room = strlen(head) + COUNT * (strlen(element) + 16) + strlen(tail) + 1;
    char *text = malloc(room);
    assert_non_null(text);
    size_t used = (size_t)snprintf(text, room, "%s", head);
    for (int i = 0; i < COUNT; i++) {
        used += (size_t)snprintf(text + used, room - used, "%s", i == 0 ? "" : ",");
        used += (size_t)snprintf(text + used, room - used, element, i);
    }
    used += (size_t)snprintf(text + used, room - used, "%s", tail);
    *length = used;
    return text;
}

/* The smallest elements of the largest messages, and what has the most lists, fit into the memory
 * that the limits give; and never is more taken. */
static void test_memory_is_bounded(void **state)
{
    (void)state;
    static const struct {
        const char *message, *head, *element, *tail;
    } cases[] = {
        {"SynchronizeRequest", "{\"containers\":[", "{}", "]}"},
        {"SynchronizeRequest", "{\"pods\":[", "{\"linux\":{}}", "]}"},
        {"Container", "{\"labels\":{", "\"%d\":\"\"", "}}"},
        {"Container", "{\"env\":{", "\"A%d\":\"\"", "}}"},
        {"Container", "{\"args\":[", "\"\"", "]}"},
        {"LinuxScheduler", "{\"flags\":[", "-1", "]}"},
        {"OwningPlugins", "{\"owners\":{", "\"%d\":{}", "}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fail_alloc memory;
        struct nri_allocator allocator;
        struct nri_json_settings settings;
        size_t length, size;
        char *bytes;
        nri_error *error = NULL;
        fail_alloc_init(&memory, &allocator);
        char *json = repeat(cases[i].head, cases[i].element, cases[i].tail, &length);
        struct nri_json_options options = {.size = sizeof options,
                                           .allocator = &allocator,
                                           .max_bytes = length,
                                           .max_values = 2 * COUNT + 2};
        assert_int_equal(nri_json_options_resolve(&options, &settings), 0);
        if (nri_json_to_protobuf(cases[i].message, json, length, &options, &bytes, &size, &error) !=
            0)
            fail_msg("%s: %s", cases[i].message, nri_error_get_text(error));
        /* The parser's own lists, and the result, come on top. */
        assert_true(memory.peak_bytes < nri_json_settings_memory(&settings) + 4 * length +
                                            2 * size + 65536 + COUNT * 64);
        nri_json_free(bytes);
        assert_int_equal(memory.live_blocks, 0);
        options.max_values = COUNT / 2;
        assert_int_equal(
            nri_json_to_protobuf(cases[i].message, json, length, &options, &bytes, &size, &error),
            NRI_E_LIMIT);
        assert_non_null(strstr(nri_error_get_text(error), ": more values than the limit of 10000"));
        nri_error_free(error);
        assert_int_equal(memory.live_blocks, 0);
        free(json);
    }
}

static const char pod_json[] =
    "{\"id\":\"p\",\"labels\":{\"a\":\"1\",\"b\":\"2\"},\"linux\":{\"pod_resources\":{\"memory\":"
    "{\"limit\":5}},\"namespaces\":[{\"type\":\"ipc\"}]},\"ips\":[\"::1\"]}";

/* One call of each kind; 0, or the code with nothing left behind. */
static int call(int which, const struct nri_json_options *options, nri_error **error)
{
    static const uint8_t bytes[] = {0x0a, 1, 'x', 0x52, 1, 'y'};
    nri_pod *pod = NULL;
    char *text = NULL;
    size_t size;
    int code;
    switch (which) {
    case 0:
        code = nri_pod_from_json(pod_json, strlen(pod_json), options, &pod, error);
        assert_int_equal(code == 0, pod != NULL);
        nri_pod_free(pod);
        return code;
    case 1:
        code =
            nri_json_from_protobuf("PodSandbox", bytes, sizeof bytes, options, &text, &size, error);
        break;
    case 2:
        code = nri_json_to_protobuf("PodSandbox", pod_json, strlen(pod_json), options, &text, &size,
                                    error);
        break;
    default:
        code = nri_pod_to_json(NULL, options, &text, &size, error);
    }
    assert_int_equal(code == 0, text != NULL);
    nri_json_free(text);
    return code;
}

static void test_allocation_failures(void **state)
{
    (void)state;
    for (int which = 0; which < 4; which++) {
        bool fired = true;
        size_t n = 0;
        while (fired) {
            struct fail_alloc memory;
            struct nri_allocator allocator;
            nri_error *error = NULL;
            fail_alloc_init(&memory, &allocator);
            const struct nri_json_options options = {.size = sizeof options,
                                                     .allocator = &allocator};
            fail_alloc_arm(&memory, ++n);
            int code = call(which, &options, &error);
            fired = memory.fired;
            assert_int_equal(code, fired ? NRI_E_NOMEM : 0);
            assert_int_equal(nri_error_get_code(error), code);
            assert_true(!fired || strstr(nri_error_get_text(error), "out of memory") != NULL);
            nri_error_free(error);
            assert_int_equal(memory.live_blocks, 0);
        }
        assert_true(n > (which == 3 ? 1 : 2));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_structure),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_nul_and_broken_bytes),
        cmocka_unit_test(test_memory_is_bounded),
        cmocka_unit_test(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
