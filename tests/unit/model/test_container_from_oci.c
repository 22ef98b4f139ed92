/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nri_container_from_oci(): a configuration with every member, one that runc made, each kind of
 * fault with its text, and hostile texts: each value in turn replaced by one of every other type.
 */
#include <stdio.h>

#include "fixture.h"
#include "model/oci_write.h"
#include "model_read.h"
#include "wire/message.h"
#include "json/json.h"

static const char *directory; /* of the configurations */

struct text {
    char *bytes;
    size_t length;
};

static struct text load(const char *name)
{
    char path[1024];
    struct text text = {NULL, 0};
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text.bytes = malloc(65536);
    assert_non_null(text.bytes);
    text.length = fread(text.bytes, 1, 65536, file);
    assert_true(text.length > 0 && text.length < 65536);
    fclose(file);
    return text;
}

static nri_container *read_config(const char *json, size_t length)
{
    nri_container *container = NULL;
    nri_error *error = NULL;
    int code = nri_container_from_oci(json, length, NULL, &container, &error);
    assert_string_equal(nri_error_get_text(error), "");
    assert_int_equal(code, 0);
    assert_non_null(container);
    return container;
}

static char *to_json(const nri_container *container)
{
    char *text = NULL;
    assert_int_equal(nri_container_to_json(container, NULL, &text, NULL, NULL), 0);
    return text;
}

/* ---- what is read ---- */

static void test_every_member(void **state)
{
    (void)state;
    struct text config = load("full.json"), expected = load("full-container.json");
    nri_container *container = read_config(config.bytes, config.length), *wanted = NULL;
    assert_int_equal(nri_container_from_json(expected.bytes, expected.length, NULL, &wanted, NULL),
                     0);
    char *is = to_json(container), *should_be = to_json(wanted);
    assert_string_equal(is, should_be);
    nri_json_free(is);
    nri_json_free(should_be);
    nri_container_free(wanted);
    nri_container_free(container);
    free(config.bytes);
    free(expected.bytes);
}

/* The tables the other way round: what was read and is written gives the same container again. */
static void check_written_again(struct fixture *fixture, const char *name)
{
    struct text config = load(name);
    struct nri_buf buf;
    nri_container *container = read_config(config.bytes, config.length);
    struct nri_json *document = nri_json_new(&fixture->arena, NRI_JSON_OBJECT);
    assert_non_null(document);
    assert_int_equal(
        nri_oci_write(&fixture->arena, &nri_oci_config, (const void *)container, document), 0);
    nri_buf_init(&buf, &fixture->arena.alloc, SIZE_MAX);
    assert_int_equal(nri_json_write(document, 0, &buf), 0);
    nri_container *again = read_config((const char *)buf.data + buf.start, nri_buf_size(&buf));
    char *first = to_json(container), *second = to_json(again);
    assert_string_equal(first, second);
    nri_json_free(first);
    nri_json_free(second);
    nri_buf_fini(&buf);
    nri_container_free(again);
    nri_container_free(container);
    free(config.bytes);
}

static void test_written_again(void **state)
{
    check_written_again(*state, "full.json");
    check_written_again(*state, "runc-1.1.5.json");
}

/* All of it through the public readers, and the numbers at the ends of their ranges. */
static void test_readers(void **state)
{
    struct fixture *fixture = *state;
    struct text config = load("full.json");
    nri_container *container = read_config(config.bytes, config.length);
    struct model_reading reading = {.arena = &fixture->arena};
    size_t sizes[2];
    MODEL(Container) *copy = model_read_container(&reading, container);
    assert_null(reading.broken);
    assert_int_equal(nri_message_size(&copy->base, &sizes[0], NULL), 0);
    assert_int_equal(nri_message_size((void *)container, &sizes[1], NULL), 0);
    assert_true(sizes[0] > 1000);
    uint8_t *bytes = malloc(sizes[0] + sizes[1]);
    assert_non_null(bytes);
    nri_message_encode(&copy->base, bytes);
    nri_message_encode((void *)container, bytes + sizes[0]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes, bytes + sizes[0], sizes[0]);
    free(bytes);
    uint64_t hard = 0, bytes_limit = 0;
    uint32_t uid = 0;
    int64_t limit = 0;
    const char *value = NULL;
    assert_true(nri_container_rlimit(container, "RLIMIT_NOFILE", &hard, NULL));
    assert_true(hard == UINT64_MAX);
    assert_true(nri_container_user(container, &uid, NULL));
    assert_int_equal(uid, UINT32_MAX);
    const nri_resources *resources = nri_container_resources(container);
    assert_true(nri_resources_hugepage_limit(resources, "2MB", &bytes_limit));
    assert_true(bytes_limit == UINT64_MAX);
    assert_true(nri_resources_memory_limit(resources, &limit));
    assert_true(limit == INT64_MAX);
    assert_true(nri_container_env(container, "PATH", &value));
    assert_string_equal(value, "/later");
    nri_container_free(container);
    free(config.bytes);
}

static void test_of_runc(void **state)
{
    (void)state;
    struct text config = load("runc-1.1.5.json");
    nri_container *container = read_config(config.bytes, config.length);
    const nri_mount *mount;
    const char *value;
    uint64_t hard, soft;
    uint32_t uid = 1;
    assert_int_equal(nri_container_arg_count(container), 1);
    assert_string_equal(nri_container_arg(container, 0), "sh");
    assert_true(nri_container_env(container, "TERM", &value));
    assert_string_equal(value, "xterm");
    assert_true(nri_container_user(container, &uid, NULL));
    assert_int_equal(uid, 0);
    assert_true(nri_container_rlimit(container, "RLIMIT_NOFILE", &hard, &soft));
    assert_int_equal(hard, 1024);
    assert_int_equal(nri_container_mount_count(container), 7);
    assert_true(nri_container_mount(container, "/proc", &mount));
    assert_int_equal(nri_mount_option_count(mount), 0);
    assert_true(nri_container_mount(container, "/sys", &mount));
    assert_string_equal(nri_mount_option(mount, 3), "ro");
    assert_int_equal(nri_container_namespace_count(container), 5);
    assert_int_equal(nri_resources_device_rule_count(nri_container_resources(container)), 1);
    /* process has nothing for LinuxContainer here, and there is nothing of it. */
    assert_false(nri_container_oom_score_adj(container, NULL));
    assert_false(nri_container_scheduler(container, NULL));
    nri_container_free(container);
    free(config.bytes);
}

struct reading {
    const char *json, *container;
};

/* Absent, null and empty; and what is not NRI's. */
static const struct reading readings[] = {
    {"{}", "{}"},
    {"{\"process\":{},\"unknown\":[{}]}", "{}"},
    {"{\"process\":null,\"linux\":null,\"mounts\":null}", "{}"},
    {"{\"process\":{\"args\":[],\"oomScoreAdj\":null}}", "{}"},
    {"{\"process\":{\"oomScoreAdj\":0}}", "{\"linux\":{\"oom_score_adj\":0}}"},
    {"{\"linux\":{}}", "{\"linux\":{}}"},
    {"{\"linux\":{\"resources\":{\"cpu\":{}}}}", "{\"linux\":{\"resources\":{\"cpu\":{}}}}"},
    {"{\"linux\":{\"intelRdt\":{}}}", "{\"linux\":{\"rdt\":{}}}"},
    {"{\"linux\":{\"intelRdt\":{\"schemata\":[]}}}", "{\"linux\":{\"rdt\":{\"schemata\":[]}}}"},
    {"{\"linux\":{\"intelRdt\":{\"l3CacheSchema\":\"\"}}}", "{\"linux\":{\"rdt\":{}}}"},
    {"{\"linux\":{\"intelRdt\":{\"l3CacheSchema\":\"L3:0=f\\n\\nL3:1=f\\n\"}}}",
     "{\"linux\":{\"rdt\":{\"schemata\":[\"L3:0=f\",\"L3:1=f\"]}}}"},
    {"{\"linux\":{\"intelRdt\":{\"memBwSchema\":\"MB:0=1\",\"schemata\":[\"L2:0=1\"]}}}",
     "{\"linux\":{\"rdt\":{\"schemata\":[\"MB:0=1\",\"L2:0=1\"]}}}"},
    {"{\"linux\":{\"netDevices\":{\"eth0\":{\"newer\":1}}}}",
     "{\"linux\":{\"net_devices\":{\"eth0\":{}}}}"},
};

static void test_absent_and_empty(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++) {
        nri_container *container = read_config(readings[i].json, strlen(readings[i].json));
        char *text = to_json(container);
        assert_string_equal(text, readings[i].container);
        nri_json_free(text);
        nri_container_free(container);
    }
}

/* ---- faults ---- */

struct refusal {
    const char *json;
    int code;
    const char *text;
};

static const struct refusal refusals[] = {
    {"", NRI_E_SYNTAX, NULL},
    {"[]", NRI_E_SYNTAX, "config.json:1:1: must be an object, found a list"},
    {"null", NRI_E_SYNTAX, "config.json:1:1: must be an object, found null"},
    {"{\"process\":7}", NRI_E_SYNTAX,
     "config.json:1:12: process: must be an object, found a number"},
    {"{\"process\":{\n \"rlimits\": [{\"type\": \"RLIMIT_CORE\",\n  \"soft\": \"1\"}]}}",
     NRI_E_SYNTAX, "config.json:3:11: process.rlimits[0].soft: must be an integer, found a text"},
    {"{\"process\":{\"rlimits\":[{\"hard\":-1}]}}", NRI_E_RANGE,
     "config.json:1:32: process.rlimits[0].hard: must be 0 to 18446744073709551615, found -1"},
    {"{\"process\":{\"rlimits\":[{\"hard\":18446744073709551616}]}}", NRI_E_RANGE,
     "config.json:1:32: process.rlimits[0].hard: must be 0 to 18446744073709551615, found "
     "18446744073709551616"},
    {"{\"process\":{\"rlimits\":[{\"hard\":1.5}]}}", NRI_E_SYNTAX,
     "config.json:1:32: process.rlimits[0].hard: must be an integer, found 1.5"},
    {"{\"process\":{\"rlimits\":[null]}}", NRI_E_SYNTAX,
     "config.json:1:24: process.rlimits[0]: must be an object, found null"},
    {"{\"process\":{\"args\":[\"a\",1]}}", NRI_E_SYNTAX,
     "config.json:1:25: process.args[1]: must be a text, found a number"},
    {"{\"process\":{\"args\":\"a\"}}", NRI_E_SYNTAX,
     "config.json:1:20: process.args: must be a list, found a text"},
    {"{\"process\":{\"user\":{\"uid\":4294967296}}}", NRI_E_RANGE,
     "config.json:1:27: process.user.uid: must be 0 to 4294967295, found 4294967296"},
    {"{\"process\":{\"user\":{\"additionalGids\":[0,-1]}}}", NRI_E_RANGE,
     "config.json:1:41: process.user.additionalGids[1]: must be 0 to 4294967295, found -1"},
    {"{\"process\":{\"oomScoreAdj\":9223372036854775808}}", NRI_E_RANGE,
     "config.json:1:27: process.oomScoreAdj: must be -9223372036854775808 to "
     "9223372036854775807, found 9223372036854775808"},
    {"{\"process\":{\"ioPriority\":{\"class\":\"BE\"}}}", NRI_E_SYNTAX,
     "config.json:1:35: process.ioPriority.class: \"BE\" is no IOPrioClass; these are: "
     "IOPRIO_CLASS_NONE, IOPRIO_CLASS_RT, IOPRIO_CLASS_BE, IOPRIO_CLASS_IDLE"},
    {"{\"process\":{\"ioPriority\":{\"class\":2}}}", NRI_E_SYNTAX,
     "config.json:1:35: process.ioPriority.class: must be a name, found a number"},
    {"{\"process\":{\"scheduler\":{\"nice\":2147483648}}}", NRI_E_RANGE,
     "config.json:1:33: process.scheduler.nice: must be -2147483648 to 2147483647, found "
     "2147483648"},
    {"{\"hooks\":{\"poststop\":[{\"timeout\":\"1\"}]}}", NRI_E_SYNTAX,
     "config.json:1:34: hooks.poststop[0].timeout: must be an integer, found a text"},
    {"{\"annotations\":{\"a.b\":1}}", NRI_E_SYNTAX,
     "config.json:1:23: annotations[\"a.b\"]: must be a text, found a number"},
    {"{\"annotations\":[]}", NRI_E_SYNTAX,
     "config.json:1:16: annotations: must be an object, found a list"},
    {"{\"linux\":{\"resources\":{\"memory\":{\"disableOOMKiller\":1}}}}", NRI_E_SYNTAX,
     "config.json:1:53: linux.resources.memory.disableOOMKiller: must be true or false, found a "
     "number"},
    {"{\"linux\":{\"netDevices\":{\"eth0\":\"eth1\"}}}", NRI_E_SYNTAX,
     "config.json:1:32: linux.netDevices[\"eth0\"]: must be an object, found a text"},
    {"{\"linux\":{\"intelRdt\":{\"l3CacheSchema\":[\"L3:0=f\"]}}}", NRI_E_SYNTAX,
     "config.json:1:39: linux.intelRdt.l3CacheSchema: must be a text, found a list"},
    {"{\"linux\":{\"intelRdt\":{\"schemata\":\"L3:0=f\"}}}", NRI_E_SYNTAX,
     "config.json:1:34: linux.intelRdt.schemata: must be a list, found a text"},
    {"{\"hostname\":\"\xff\"}", NRI_E_UTF8, NULL},
    {"{\"hostname\":\"\\u0000\"}", NRI_E_UTF8, NULL},
    {"{\"linux\":{},\"linux\":{}}", NRI_E_SYNTAX, NULL},
    {"{} {}", NRI_E_SYNTAX, NULL},
};

static void test_faults(void **state)
{
    (void)state;
    struct nri_json_options options;
    nri_json_options_init(&options, sizeof options);
    options.name = "config.json";
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const struct refusal *r = &refusals[i];
        nri_container *container = (void *)&options;
        nri_error *error = NULL;
        int code = nri_container_from_oci(r->json, strlen(r->json), &options, &container, &error);
        if (r->text != NULL)
            assert_string_equal(nri_error_get_text(error), r->text);
        assert_int_equal(code, r->code);
        assert_int_equal(nri_error_get_code(error), code);
        assert_int_equal(strncmp(nri_error_get_text(error), "config.json:", 12), 0);
        fixture_check_place(error, "config.json");
        assert_null(container);
        nri_error_free(error);
        assert_int_equal(
            nri_container_from_oci(r->json, strlen(r->json), &options, &container, NULL), r->code);
    }
}

static void test_arguments(void **state)
{
    (void)state;
    struct nri_json_options options;
    nri_container *container = NULL;
    nri_error *error = NULL;
    assert_int_equal(nri_container_from_oci("{}", 2, NULL, NULL, &error), NRI_E_INVALID);
    assert_string_equal(nri_error_get_text(error), "container: must not be NULL");
    error = nri_error_free(error);
    assert_int_equal(nri_container_from_oci(NULL, 2, NULL, &container, &error), NRI_E_INVALID);
    assert_string_equal(nri_error_get_text(error), "json: must not be NULL");
    error = nri_error_free(error);
    nri_json_options_init(&options, sizeof options);
    options.reserved = 1;
    assert_int_equal(nri_container_from_oci("{}", 2, &options, &container, NULL), NRI_E_ABI);
    assert_null(container);
}

static void check_limit(const struct nri_json_options *options, const char *json, size_t length)
{
    nri_container *container = NULL;
    nri_error *error = NULL;
    assert_int_equal(nri_container_from_oci(json, length, options, &container, &error),
                     NRI_E_LIMIT);
    assert_null(container);
    assert_true(nri_error_get_text(error)[0] != '\0');
    nri_error_free(error);
}

static void test_limits(void **state)
{
    (void)state;
    struct text config = load("full.json");
    struct nri_json_options options;
    char deep[400];
    memset(deep, '[', sizeof deep);
    memcpy(deep, "{\"x\":", 5);
    check_limit(NULL, deep, sizeof deep);
    nri_json_options_init(&options, sizeof options);
    options.max_depth = 4;
    check_limit(&options, config.bytes, config.length);
    nri_json_options_init(&options, sizeof options);
    options.max_bytes = config.length - 1;
    check_limit(&options, config.bytes, config.length);
    nri_json_options_init(&options, sizeof options);
    options.max_values = 100;
    check_limit(&options, config.bytes, config.length);
    free(config.bytes);
}

/* ---- hostile ---- */

/* The document again, with one value replaced by another. */
struct replacing {
    struct nri_json_writer writer;
    size_t position, target;
    const struct nri_json *replacement, *replaced;
};

static void put(struct replacing *run, const struct nri_json *value)
{
    size_t length;
    if (run->replacement != NULL && run->position++ == run->target) {
        run->replaced = value;
        value = run->replacement;
    }
    switch (nri_json_type(value)) {
    case NRI_JSON_NULL:
        nri_json_write_null(&run->writer);
        break;
    case NRI_JSON_BOOL:
        nri_json_write_bool(&run->writer, nri_json_bool(value));
        break;
    case NRI_JSON_STRING: {
        const char *text = nri_json_string(value, &length);
        nri_json_write_string(&run->writer, text, length);
        break;
    }
    case NRI_JSON_NUMBER: {
        uint64_t number;
        int64_t below;
        if (nri_json_uint64(value, &number) == 0)
            nri_json_write_uint64(&run->writer, number);
        else if (nri_json_int64(value, &below) == 0)
            nri_json_write_int64(&run->writer, below);
        break;
    }
    case NRI_JSON_ARRAY:
        nri_json_begin_array(&run->writer);
        for (size_t i = 0; i < nri_json_count(value); i++)
            put(run, nri_json_at(value, i));
        nri_json_end_array(&run->writer);
        break;
    case NRI_JSON_OBJECT:
        nri_json_begin_object(&run->writer);
        for (size_t i = 0; i < nri_json_count(value); i++) {
            const char *key;
            const struct nri_json *member = nri_json_member_at(value, i, &key, &length);
            nri_json_write_key(&run->writer, key, length);
            put(run, member);
        }
        nri_json_end_object(&run->writer);
        break;
    }
}

/* Reads it; *text is the container as JSON, or NULL when it was refused. */
static int attempt(struct fixture *fixture, struct replacing *run, const struct nri_json *document,
                   size_t target, const struct nri_json *replacement, char **text)
{
    struct nri_buf out;
    nri_container *container = NULL;
    nri_error *error = NULL;
    struct nri_alloc alloc = fail_alloc_resolved(&fixture->memory);
    *run = (struct replacing){.target = target, .replacement = replacement};
    nri_buf_init(&out, &alloc, SIZE_MAX);
    nri_json_writer_init(&run->writer, &out, 0);
    put(run, document);
    assert_int_equal(nri_json_writer_end(&run->writer), 0);
    int code = nri_container_from_oci((const char *)out.data + out.start, nri_buf_size(&out), NULL,
                                      &container, &error);
    assert_int_equal(container == NULL, code != 0);
    assert_int_equal(nri_error_get_code(error), code);
    if (code != 0) {
        assert_true(code == NRI_E_SYNTAX || code == NRI_E_RANGE);
        assert_int_equal(strncmp(nri_error_get_text(error), "JSON:1:", 7), 0);
    }
    *text = code == 0 ? to_json(container) : NULL;
    nri_error_free(error);
    nri_container_free(container);
    nri_buf_fini(&out);
    return code;
}

static struct nri_json *parse(struct fixture *fixture, const char *text, size_t length)
{
    struct nri_json *document = NULL;
    const struct nri_json_limits limits = {.seed = {1, 2}};
    assert_int_equal(nri_json_parse(&fixture->arena, text, length, &limits, NULL, &document, NULL),
                     0);
    return document;
}

/* A value that matters, for without it something else comes out, may be of no other type. */
static void test_each_value_of_another_type(void **state)
{
    static const char *const others[] = {"true", "-7", "\"x\"", "[]", "[null]", "{}", "{\"x\":1}"};
    struct text config = load("full.json");
    const struct nri_json *document = parse(*state, config.bytes, config.length);
    const struct nri_json *null = parse(*state, "null", 4);
    struct replacing run;
    char *whole, *text;
    size_t target = 0, mattering = 0, refused = 0;
    assert_int_equal(attempt(*state, &run, document, 0, NULL, &whole), 0);
    for (;; target++) {
        (void)attempt(*state, &run, document, target, null, &text);
        bool matters = text == NULL || strcmp(text, whole) != 0;
        nri_json_free(text);
        if (run.replaced == NULL)
            break;
        mattering += matters;
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
            const struct nri_json *other = parse(*state, others[i], strlen(others[i]));
            int code = attempt(*state, &run, document, target, other, &text);
            bool wrong = nri_json_type(other) != nri_json_type(run.replaced);
            if (matters && wrong)
                assert_int_not_equal(code, 0);
            refused += code != 0;
            nri_json_free(text);
        }
    }
    print_message("%zu values, %zu matter, %zu texts refused\n", target, mattering, refused);
    assert_true(mattering > 150);
    nri_json_free(whole);
    free(config.bytes);
}

/* Every prefix of a configuration is refused, and nothing is read behind its end. */
static void test_each_prefix(void **state)
{
    (void)state;
    struct text config = load("full.json");
    size_t end = config.length;
    while (config.bytes[end - 1] == '\n')
        end--;
    for (size_t length = 0; length < end; length++) {
        nri_container *container = NULL;
        char *piece = malloc(length + 1);
        assert_non_null(piece);
        memcpy(piece, config.bytes, length);
        piece = realloc(piece, length > 0 ? length : 1);
        int code = nri_container_from_oci(piece, length, NULL, &container, NULL);
        assert_true(code == NRI_E_SYNTAX || code == NRI_E_UTF8); /* cut within a character */
        assert_null(container);
        free(piece);
    }
    free(config.bytes);
}

static void test_failing_allocations(void **state)
{
    (void)state;
    struct fail_alloc memory;
    struct nri_allocator allocator;
    struct nri_json_options options;
    struct text config = load("full.json");
    size_t n = 0;
    fail_alloc_init(&memory, &allocator);
    nri_json_options_init(&options, sizeof options);
    options.allocator = &allocator;
    do {
        nri_container *container = NULL;
        nri_error *error = NULL;
        fail_alloc_arm(&memory, ++n);
        int code =
            nri_container_from_oci(config.bytes, config.length, &options, &container, &error);
        assert_int_equal(code, memory.fired ? NRI_E_NOMEM : 0);
        assert_int_equal(nri_error_get_code(error), code);
        assert_int_equal(container == NULL, code != 0);
        nri_error_free(error);
        nri_container_free(container);
        assert_int_equal(memory.live_blocks, 0);
    } while (memory.fired);
    print_message("%zu points of failure\n", n - 1);
    assert_true(n > 5);
    free(config.bytes);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_member),
        cmocka_unit_test_setup_teardown(test_written_again, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_readers, fixture_setup, fixture_teardown),
        cmocka_unit_test(test_of_runc),
        cmocka_unit_test(test_absent_and_empty),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_limits),
        cmocka_unit_test_setup_teardown(test_each_value_of_another_type, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test(test_each_prefix),
        cmocka_unit_test(test_failing_allocations),
    };
    if (argc != 2) {
        fprintf(stderr, "%s DIRECTORY: where the configurations are\n", argv[0]);
        return 2;
    }
    directory = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
