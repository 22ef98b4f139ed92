/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A merge is made whole or not at all, also when the builder's own memory ends: all that it needs
 * is set aside first, in one allocation, whatever is in the builder already. Builders here take
 * every piece as an allocation of its own, so that one that is not set aside is seen.
 */
#include <stdio.h>

#include "fixture.h"
#include "wire/message.h"

#define MANY 70 /* lists get a hash and grow several times */

struct bytes {
    uint8_t data[262144];
    size_t size;
};

struct text {
    char data[262144];
    size_t length;
};

static void encode(const ProtobufCMessage *message, struct bytes *bytes)
{
    bytes->size = 0;
    if (message == NULL)
        return;
    assert_int_equal(nri_message_size(message, &bytes->size, NULL), 0);
    assert_true(bytes->size <= sizeof bytes->data);
    nri_message_encode(message, bytes->data);
}

static void check_same(const struct bytes *a, const struct bytes *b)
{
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, a->size);
}

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length =
        vsnprintf(text->data + text->length, sizeof text->data - text->length, format, arguments);
    va_end(arguments);
    assert_true(length > 0 && (size_t)length < sizeof text->data - text->length);
    text->length += (size_t)length;
}

/* `count` elements with numbers from `first`. */
static void add_list(struct text *text, const char *name, const char *element, char open,
                     char close, int first, int count)
{
    add(text, "\"%s\":%c", name, open);
    for (int i = first; i < first + count; i++) {
        const char *rest = element;
        if (i > first)
            add(text, ",");
        for (; *rest != '\0'; rest++) {
            if (*rest == '#')
                add(text, "%d", i);
            else
                add(text, "%c", *rest);
        }
    }
    add(text, "%c", close);
}

/* Of the page sizes that there are, as far as they go. */
static void add_hugepage_limits(struct text *text, int first, int count)
{
    char size[8];
    int last = first + count < FIXTURE_PAGE_SIZES ? first + count : FIXTURE_PAGE_SIZES;
    add(text, "\"hugepage_limits\":[");
    for (int i = first; i < last; i++) {
        fixture_page_size(size, i);
        add(text, "%s{\"page_size\":\"%s\",\"limit\":%d}", i > first ? "," : "", size, i);
    }
    add(text, "]");
}

static void resources_json(struct text *text, int first, int count)
{
    add(text, "{\"memory\":{\"limit\":%d},\"cpu\":{\"cpus\":\"0-%d\"},", 1000 + first, first);
    add_list(text, "unified", "\"file.#\":\"#\"", '{', '}', first, count);
    add(text, ",");
    add_hugepage_limits(text, first, count);
    add(text, ",");
    add_list(text, "devices", "{\"type\":\"c\",\"major\":#,\"access\":\"r\"}", '[', ']', first,
             count);
    add(text, "}");
}

static void adjustment_json(struct text *text, int first, int count)
{
    text->length = 0;
    add(text, "{");
    add_list(text, "env", "\"-OLD_#\":\"\",\"NAME_#\":\"value\"", '{', '}', first, count);
    add(text, ",");
    add_list(text, "annotations", "\"key.#\":\"value\"", '{', '}', first, count);
    add(text, ",");
    add_list(text, "mounts", "{\"destination\":\"/m#\",\"options\":[\"ro\",\"x#\"]}", '[', ']',
             first, count);
    add(text, ",");
    add_list(text, "CDI_devices", "{\"name\":\"vendor.com/class=#\"}", '[', ']', first, count);
    add(text, ",\"hooks\":{");
    add_list(text, "prestart", "{\"path\":\"/bin/h#\",\"args\":[\"h\"]}", '[', ']', first, count);
    add(text, "},\"args\":[\"\",\"sh\"],\"linux\":{");
    add_list(text, "devices", "{\"path\":\"/dev/d#\",\"type\":\"c\",\"uid\":#}", '[', ']', first,
             count);
    add(text, ",");
    add_list(text, "sysctl", "\"net.a#\":\"#\"", '{', '}', first, count);
    add(text, ",");
    add_list(text, "net_devices", "\"eth#\":{\"name\":\"e#\"}", '{', '}', first, count);
    add(text, ",\"seccomp_policy\":{\"default_action\":\"SCMP_ACT_ERRNO\",\"default_errno\":1,");
    add_list(text, "syscalls", "{\"names\":[\"open#\"],\"action\":\"SCMP_ACT_ALLOW\"}", '[', ']',
             first, count);
    add(text, "},\"rdt\":{\"remove\":true,\"schemata\":[\"L3:0=f\"]},\"oom_score_adj\":%d,", first);
    add(text,
        "\"scheduler\":{\"policy\":\"SCHED_FIFO\",\"priority\":%d},\"resources\":", 1 + first);
    resources_json(text, first, count);
    add(text, "}}");
}

static void updates_json(struct text *text, int first, int count)
{
    text->length = 0;
    add(text, "{");
    add_list(text, "update", "{\"container_id\":\"c#\",\"ignore_failure\":true}", '[', ']', first,
             count);
    add(text, ",\"update\":");
    text->length -= strlen(",\"update\":") + 1; /* the list goes on with one that sets resources */
    add(text, ",{\"container_id\":\"r%d\",\"linux\":{\"resources\":", first);
    resources_json(text, first, count);
    add(text, "}}],");
    add_list(text, "evict", "{\"container_id\":\"c#\",\"reason\":\"#\"}", '[', ']', first, count);
    add(text, "}");
}

static void open_arena(struct nri_arena *arena, struct fail_alloc *memory, size_t limit)
{
    struct nri_alloc alloc = fail_alloc_resolved(memory);
    nri_arena_init(arena, &alloc, 1, limit);
}

static int merge_adjustment(nri_adjustment *adjustment, const struct text *text)
{
    nri_error *error = NULL;
    int code = nri_adjustment_merge_json(adjustment, text->data, text->length, NULL, &error);
    assert_int_equal(nri_error_get_code(error), code);
    if (code != 0 && code != NRI_E_NOMEM && code != NRI_E_LIMIT)
        fail_msg("%s", nri_error_get_text(error));
    nri_error_free(error);
    return code;
}

static const struct {
    int before, more;
} sizes[] = {{0, 1},  {1, 1},   {1, 16}, {7, 1},    {8, 1},       {15, 1},    {16, 1},
             {16, 2}, {31, 40}, {64, 1}, {MANY, 1}, {MANY, MANY}, {MANY, 200}};

/* The change itself takes nothing from the allocator. */
static void test_adjustment(void **state)
{
    struct fixture *fixture = *state;
    static struct text first, second;
    static struct bytes before, after;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct nri_arena arena;
        open_arena(&arena, &fixture->memory, SIZE_MAX);
        nri_adjustment *adjustment = nri_adjustment_make(&arena, fixture_seed, 0, NULL);
        assert_non_null(adjustment);
        adjustment_json(&first, 0, sizes[i].before);
        adjustment_json(&second, 0, sizes[i].more);
        if (sizes[i].before > 0) {
            adjustment_json(&second, sizes[i].before, sizes[i].more);
            assert_int_equal(merge_adjustment(adjustment, &first), 0);
        }
        /* Room that is left over must not help. */
        arena.next = arena.end;
        encode((const void *)nri_adjustment_message(adjustment), &before);
        fail_alloc_arm(&fixture->memory, 1);
        assert_int_equal(merge_adjustment(adjustment, &second), NRI_E_NOMEM);
        assert_true(fixture->memory.fired);
        encode((const void *)nri_adjustment_message(adjustment), &after);
        check_same(&before, &after);
        assert_string_equal(nri_adjustment_error_text(adjustment), "JSON: out of memory");
        /* What is set aside is one piece, and enough. */
        fail_alloc_end_after(&fixture->memory, 1);
        assert_int_equal(merge_adjustment(adjustment, &second), 0);
        fail_alloc_end_after(&fixture->memory, SIZE_MAX);
        encode((const void *)nri_adjustment_message(adjustment), &after);
        assert_true(after.size > before.size);
        nri_arena_fini(&arena);
    }
}

static void encode_updates(const nri_updates *updates, struct bytes *bytes)
{
    Nri__Pkg__Api__V1alpha1__UpdateContainersRequest message =
        NRI__PKG__API__V1ALPHA1__UPDATE_CONTAINERS_REQUEST__INIT;
    message.n_update = nri_updates_messages(updates, &message.update);
    message.n_evict = nri_updates_evictions(updates, &message.evict);
    encode(&message.base, bytes);
}

static void test_updates(void **state)
{
    struct fixture *fixture = *state;
    static struct text first, second;
    static struct bytes before, after;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct nri_arena arena;
        open_arena(&arena, &fixture->memory, SIZE_MAX);
        nri_updates *updates = nri_updates_make(&arena, fixture_seed, true, 0, NULL);
        assert_non_null(updates);
        updates_json(&first, 0, sizes[i].before + 1);
        updates_json(&second, sizes[i].before + 1, sizes[i].more);
        assert_int_equal(nri_updates_merge_json(updates, first.data, first.length, NULL, NULL), 0);
        arena.next = arena.end;
        encode_updates(updates, &before);
        fail_alloc_arm(&fixture->memory, 1);
        assert_int_equal(nri_updates_merge_json(updates, second.data, second.length, NULL, NULL),
                         NRI_E_NOMEM);
        encode_updates(updates, &after);
        check_same(&before, &after);
        assert_string_equal(nri_updates_error_text(updates), "JSON: out of memory");
        /* What is set aside is one piece, and enough. */
        fail_alloc_end_after(&fixture->memory, 1);
        assert_int_equal(nri_updates_merge_json(updates, second.data, second.length, NULL, NULL),
                         0);
        fail_alloc_end_after(&fixture->memory, SIZE_MAX);
        encode_updates(updates, &after);
        assert_true(after.size > before.size);
        nri_arena_fini(&arena);
    }
}

static void test_resources(void **state)
{
    struct fixture *fixture = *state;
    static struct text first, second;
    static struct bytes before, after;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct nri_arena arena;
        open_arena(&arena, &fixture->memory, SIZE_MAX);
        nri_adjustment *adjustment = nri_adjustment_make(&arena, fixture_seed, 0, NULL);
        nri_resources *resources = nri_adjustment_edit_resources(adjustment);
        assert_non_null(resources);
        first.length = second.length = 0;
        resources_json(&first, 0, sizes[i].before);
        resources_json(&second, sizes[i].before, sizes[i].more);
        assert_int_equal(nri_resources_merge_json(resources, first.data, first.length, NULL, NULL),
                         0);
        arena.next = arena.end;
        encode((const void *)resources, &before);
        fail_alloc_arm(&fixture->memory, 1);
        assert_int_equal(
            nri_resources_merge_json(resources, second.data, second.length, NULL, NULL),
            NRI_E_NOMEM);
        encode((const void *)resources, &after);
        check_same(&before, &after);
        assert_string_equal(nri_adjustment_error_text(adjustment), "JSON: out of memory");
        /* What is set aside is one piece, and enough. */
        fail_alloc_end_after(&fixture->memory, 1);
        assert_int_equal(
            nri_resources_merge_json(resources, second.data, second.length, NULL, NULL), 0);
        fail_alloc_end_after(&fixture->memory, SIZE_MAX);
        encode((const void *)resources, &after);
        assert_true(after.size > before.size);
        nri_arena_fini(&arena);
    }
}

/* With every limit a merge is whole, or says that it does not fit and changes nothing. */
static void test_every_limit(void **state)
{
    struct fixture *fixture = *state;
    static struct text text;
    static struct bytes whole, partly;
    size_t refused = 0;
    bool merged = false;
    adjustment_json(&text, 0, 20);
    for (size_t limit = 4096; !merged; limit += 1024) {
        struct nri_arena arena;
        char expected[160];
        open_arena(&arena, &fixture->memory, limit);
        nri_adjustment *adjustment = nri_adjustment_make(&arena, fixture_seed, 0, NULL);
        assert_non_null(adjustment);
        int code = merge_adjustment(adjustment, &text);
        encode((const void *)nri_adjustment_message(adjustment), &partly);
        merged = code == 0;
        refused += !merged;
        if (!merged) {
            assert_int_equal(code, NRI_E_LIMIT);
            assert_int_equal(partly.size, 0);
            snprintf(expected, sizeof expected,
                     "JSON: does not fit into the memory limit of %zu bytes, with ", limit);
            assert_memory_equal(nri_adjustment_error_text(adjustment), expected, strlen(expected));
        }
        nri_arena_fini(&arena);
    }
    assert_true(refused > 3);
    struct nri_arena arena;
    open_arena(&arena, &fixture->memory, SIZE_MAX);
    nri_adjustment *adjustment = nri_adjustment_make(&arena, fixture_seed, 0, NULL);
    assert_int_equal(merge_adjustment(adjustment, &text), 0);
    encode((const void *)nri_adjustment_message(adjustment), &whole);
    check_same(&whole, &partly);
    nri_arena_fini(&arena);
}

/* A builder that failed before, is blocked or sealed: the error is about this call, and the first
 * one sticks. */
static void test_builders_that_take_nothing(void **state)
{
    struct fixture *fixture = *state;
    nri_error *error = NULL;
    nri_adjustment *adjustment = fixture_make(fixture);
    assert_int_equal(nri_adjustment_set_oom_score_adj(adjustment, 2000), NRI_E_RANGE);
    assert_int_equal(nri_adjustment_merge_json(adjustment, "{\"args\":[\"a\"]}", 14, NULL, &error),
                     0);
    assert_null(error);
    assert_int_equal(nri_adjustment_error(adjustment), NRI_E_RANGE);
    assert_int_equal(nri_adjustment_merge_json(adjustment, "{]", 2, NULL, &error), NRI_E_SYNTAX);
    assert_string_equal(nri_error_get_text(error),
                        "JSON:1:2: expected a key in quotation marks or '}', found ']'");
    assert_int_equal(nri_adjustment_error(adjustment), NRI_E_RANGE);
    error = nri_error_free(error);
    nri_adjustment_seal(adjustment);
    assert_int_equal(nri_adjustment_merge_json(adjustment, "{}", 2, NULL, &error), NRI_E_STATE);
    assert_string_equal(nri_error_get_text(error), "adjustment: not possible in this state");
    error = nri_error_free(error);

    adjustment = nri_adjustment_make(&fixture->arena, fixture_seed, NRI_E_EVENT, "there is none");
    assert_int_equal(nri_adjustment_merge_json(adjustment, "{}", 2, NULL, &error), NRI_E_EVENT);
    assert_string_equal(nri_error_get_text(error), "adjustment: there is none");
    assert_int_equal(nri_adjustment_error(adjustment), NRI_E_EVENT);
    error = nri_error_free(error);
    struct nri_json_options options = {.size = sizeof options, .indent = 17};
    adjustment = fixture_make(fixture);
    assert_int_equal(nri_adjustment_merge_json(adjustment, "{}", 2, &options, NULL), NRI_E_INVALID);
    assert_string_equal(nri_adjustment_error_text(adjustment),
                        "nri_json_options.indent 17: must be at most 16");
}

/* What an update has stays when JSON says nothing of it. */
static void test_ignore_failure_stays(void **state)
{
    struct fixture *fixture = *state;
    static const char json[] = "{\"update\":[{\"container_id\":\"a\",\"linux\":{\"resources\":"
                               "{\"cpu\":{\"shares\":2}}}}]}";
    nri_updates *updates = nri_updates_make(&fixture->arena, fixture_seed, false, 0, NULL);
    nri_update *update = nri_updates_container(updates, "a");
    assert_int_equal(nri_update_set_ignore_failure(update, true), 0);
    assert_int_equal(nri_updates_merge_json(updates, json, strlen(json), NULL, NULL), 0);
    assert_true(nri_update_ignore_failure(nri_updates_at(updates, 0)));
    nri_error *error = NULL;
    static const char evict[] = "{\"update\":[{\"container_id\":\"b\",\"ignore_failure\":true}],\n"
                                "\"evict\":[{\"container_id\":\"a\"}]}";
    assert_int_equal(nri_updates_merge_json(updates, evict, strlen(evict), NULL, &error),
                     NRI_E_EVENT);
    assert_memory_equal(nri_error_get_text(error),
                        "JSON:2:10: UpdateContainersRequest.evict[0]: eviction: ", 55);
    nri_error_free(error);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_adjustment),
        CASE(test_updates),
        CASE(test_resources),
        CASE(test_every_limit),
        CASE(test_builders_that_take_nothing),
        CASE(test_ignore_failure_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
