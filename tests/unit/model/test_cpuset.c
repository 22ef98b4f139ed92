/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <nri/cpuset.h>
#include <stdio.h>

#define MODEL_SIZE 300u

static nri_cpuset *set_of(const char *list)
{
    nri_cpuset *set;
    assert_int_equal(nri_cpuset_new(&set, NULL), 0);
    assert_int_equal(nri_cpuset_parse(set, list, NULL), 0);
    return set;
}

static void expect(const nri_cpuset *set, const char *list)
{
    char text[256];
    assert_int_equal(nri_cpuset_format(set, text, sizeof text), strlen(list));
    assert_string_equal(text, list);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void test_parse_and_format(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", ""},
        {" ", ""},
        {"0", "0"},
        {"0-3,7", "0-3,7"},
        {" 3 , 1-2 ,1", "1-3"},
        {"7,0-3", "0-3,7"},
        {"0-3,2-5", "0-5"},
        {"63,64", "63-64"},
        {"1048575", "1048575"},
        {"1048574-1048575,0", "0,1048574-1048575"},
        {"0,2,4", "0,2,4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nri_cpuset *set = set_of(cases[i][0]);
        expect(set, cases[i][1]);
        nri_cpuset_free(set);
    }
}

static void test_parse_errors(void **state)
{
    (void)state;
    static const struct {
        const char *list, *text;
        int code;
    } cases[] = {
        {"a",
         "cpuset \"a\": wrong at offset 0: must be numbers and ranges with commas between, such as "
         "\"0-3,7\"",
         NRI_E_SYNTAX},
        {"0-",
         "cpuset \"0-\": wrong at offset 2: must be numbers and ranges with commas between, such "
         "as \"0-3,7\"",
         NRI_E_SYNTAX},
        {"1,", "cpuset \"1,\": wrong at offset 2: ", NRI_E_SYNTAX},
        {"1 2", "cpuset \"1 2\": wrong at offset 2: ", NRI_E_SYNTAX},
        {"-1", "cpuset \"-1\": wrong at offset 0: ", NRI_E_SYNTAX},
        {"3-1", "cpuset \"3-1\": wrong at offset 0: a range must ascend, such as \"0-3\"",
         NRI_E_RANGE},
        {"1048576", "cpuset \"1048576\": wrong at offset 0: no number may be above 1048575",
         NRI_E_RANGE},
        {"0,99999999999999999999", "cpuset ", NRI_E_RANGE},
    };
    nri_cpuset *set = set_of("5");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nri_error *error = NULL;
        assert_int_equal(nri_cpuset_parse(set, cases[i].list, &error), cases[i].code);
        if (strncmp(nri_error_get_text(error), cases[i].text, strlen(cases[i].text)) != 0)
            fail_msg("%s", nri_error_get_text(error));
        nri_error_free(error);
        expect(set, "5");
    }
    nri_cpuset_free(set);
}

/* ---- long lists ---- */

struct list {
    char *text;
    size_t length;
};

/* `part` as often as it fits, with commas between, in exactly `length` bytes: blanks fill up. */
static struct list repeated(const char *part, size_t length)
{
    struct list list = {test_malloc(length + 1), 0};
    size_t step = strlen(part);
    while (list.length + 1 + step <= length) {
        if (list.length > 0)
            list.text[list.length++] = ',';
        memcpy(list.text + list.length, part, step);
        list.length += step;
    }
    memset(list.text + list.length, ' ', length - list.length);
    list.length = length;
    list.text[length] = '\0';
    return list;
}

/* Every two of three numbers: no set is written longer. */
static void test_longest_set(void **state)
{
    (void)state;
    nri_cpuset *set = set_of(""), *again = set_of("");
    for (unsigned number = 0; number <= NRI_CPUSET_LARGEST; number++) {
        if (number % 3 != 2)
            assert_int_equal(nri_cpuset_add(set, number), 0);
    }
    size_t length = nri_cpuset_format(set, NULL, 0);
    assert_in_range(length, NRI_CPUSET_TEXT_LARGEST * 9 / 10, NRI_CPUSET_TEXT_LARGEST);
    char *text = test_malloc(length + 1);
    assert_int_equal(nri_cpuset_format(set, text, length + 1), length);
    assert_int_equal(nri_cpuset_parse(again, text, NULL), 0);
    assert_true(nri_cpuset_equal(set, again));
    test_free(text);
    nri_cpuset_free(set);
    nri_cpuset_free(again);
}

static void test_length_limit(void **state)
{
    (void)state;
    nri_cpuset *set = set_of("5");
    nri_error *error = NULL;
    struct list list = repeated("7", NRI_CPUSET_TEXT_LARGEST + 1);
    assert_int_equal(nri_cpuset_parse(set, list.text, &error), NRI_E_LIMIT);
    const char *text = nri_error_get_text(error);
    assert_int_equal(strncmp(text, "cpuset \"7,7,7", 13), 0);
    const char *rule = strstr(text, "...\": ");
    assert_non_null(rule);
    assert_string_equal(rule, "...\": must be at most 5242880 bytes long");
    nri_error_free(error);
    expect(set, "5");
    list.text[NRI_CPUSET_TEXT_LARGEST] = '\0';
    list.text[NRI_CPUSET_TEXT_LARGEST - 1] = ' ';
    assert_int_equal(nri_cpuset_parse(set, list.text, NULL), 0);
    expect(set, "7");
    test_free(list.text);
    nri_cpuset_free(set);
}

/* The largest set, half a million times over. If time went with what the ranges hold, this would
 * take minutes, and be ended. */
static void test_time_goes_with_the_length(void **state)
{
    (void)state;
    nri_cpuset *set = set_of("");
    struct list list = repeated("0-1048575", NRI_CPUSET_TEXT_LARGEST);
    for (int i = 0; i < 16; i++)
        assert_int_equal(nri_cpuset_parse(set, list.text, NULL), 0);
    expect(set, "0-1048575");
    test_free(list.text);
    nri_cpuset_free(set);
}

/* Ranges of every length from and to everywhere in a word, several of them over each other. */
static void test_overlapping_ranges(void **state)
{
    (void)state;
    uint32_t seed = 11;
    for (int i = 0; i < 2000; i++) {
        nri_cpuset *set = set_of(""), *wanted = set_of("");
        char text[256];
        size_t length = 0;
        for (unsigned ranges = next_random(&seed) % 6; ranges > 0; ranges--) {
            unsigned first = next_random(&seed) % MODEL_SIZE;
            unsigned last = first + next_random(&seed) % MODEL_SIZE;
            int wrote = snprintf(text + length, sizeof text - length, "%s%u-%u",
                                 length > 0 ? "," : "", first, last);
            assert_true(wrote > 0);
            length += (size_t)wrote;
            for (unsigned number = first; number <= last; number++)
                assert_int_equal(nri_cpuset_add(wanted, number), 0);
        }
        text[length] = '\0';
        assert_int_equal(nri_cpuset_parse(set, text, NULL), 0);
        if (!nri_cpuset_equal(set, wanted))
            fail_msg("%s", text);
        nri_cpuset_free(set);
        nri_cpuset_free(wanted);
    }
}

static void test_short_buffers(void **state)
{
    (void)state;
    nri_cpuset *set = set_of("0-3,10");
    char text[8] = "xxxxxxx";
    assert_int_equal(nri_cpuset_format(set, NULL, 0), 6);
    assert_int_equal(nri_cpuset_format(set, text, 1), 6);
    assert_string_equal(text, "");
    assert_int_equal(nri_cpuset_format(set, text, 4), 6);
    assert_string_equal(text, "0-3");
    assert_int_equal(nri_cpuset_format(set, text, 7), 6);
    assert_string_equal(text, "0-3,10");
    nri_cpuset_free(set);
}

static void test_members(void **state)
{
    (void)state;
    nri_cpuset *set = set_of("");
    unsigned number = 9;
    assert_false(nri_cpuset_next(set, 0, &number));
    assert_int_equal(nri_cpuset_add(set, NRI_CPUSET_LARGEST), 0);
    assert_int_equal(nri_cpuset_add(set, NRI_CPUSET_LARGEST + 1), NRI_E_RANGE);
    assert_true(nri_cpuset_contains(set, NRI_CPUSET_LARGEST));
    assert_false(nri_cpuset_contains(set, UINT32_MAX));
    assert_true(nri_cpuset_next(set, 0, &number));
    assert_int_equal(number, NRI_CPUSET_LARGEST);
    assert_false(nri_cpuset_next(set, number + 1, &number));
    assert_int_equal(nri_cpuset_remove(set, NRI_CPUSET_LARGEST), 0);
    assert_int_equal(nri_cpuset_remove(set, UINT32_MAX), 0);
    assert_int_equal(nri_cpuset_count(set), 0);
    nri_cpuset_free(set);
}

struct model {
    nri_cpuset *set;
    bool has[MODEL_SIZE];
};

static void check_model(const struct model *model)
{
    size_t count = 0;
    for (unsigned i = 0; i < MODEL_SIZE; i++) {
        assert_int_equal(nri_cpuset_contains(model->set, i), model->has[i]);
        count += model->has[i];
    }
    assert_int_equal(nri_cpuset_count(model->set), count);
}

/* One random operation on two sets, also done number by number. */
static void step(struct model *a, const struct model *b, uint32_t *seed)
{
    unsigned number = next_random(seed) % MODEL_SIZE;
    switch (next_random(seed) % 6) {
    case 0:
        assert_int_equal(nri_cpuset_add(a->set, number), 0);
        a->has[number] = true;
        return;
    case 1:
        assert_int_equal(nri_cpuset_remove(a->set, number), 0);
        a->has[number] = false;
        return;
    case 2:
        assert_int_equal(nri_cpuset_union(a->set, b->set), 0);
        for (unsigned i = 0; i < MODEL_SIZE; i++)
            a->has[i] = a->has[i] || b->has[i];
        return;
    case 3:
        assert_int_equal(nri_cpuset_minus(a->set, b->set), 0);
        for (unsigned i = 0; i < MODEL_SIZE; i++)
            a->has[i] = a->has[i] && !b->has[i];
        return;
    case 4:
        assert_int_equal(nri_cpuset_intersect(a->set, b->set), 0);
        for (unsigned i = 0; i < MODEL_SIZE; i++)
            a->has[i] = a->has[i] && b->has[i];
        return;
    default:
        assert_int_equal(nri_cpuset_copy(a->set, b->set), 0);
        memcpy(a->has, b->has, sizeof a->has);
    }
}

static void compare(const struct model *a, const struct model *b)
{
    bool equal = memcmp(a->has, b->has, sizeof a->has) == 0, includes = true;
    char text[4096];
    for (unsigned i = 0; i < MODEL_SIZE; i++)
        includes = includes && (a->has[i] || !b->has[i]);
    assert_int_equal(nri_cpuset_equal(a->set, b->set), equal);
    assert_int_equal(nri_cpuset_includes(a->set, b->set), includes);
    assert_true(nri_cpuset_format(a->set, text, sizeof text) < sizeof text);
    nri_cpuset *again = set_of(text);
    assert_true(nri_cpuset_equal(a->set, again));
    nri_cpuset_free(again);
}

static void test_against_a_naive_model(void **state)
{
    (void)state;
    struct model models[2] = {{.set = set_of("")}, {.set = set_of("")}};
    uint32_t seed = 7;
    for (int i = 0; i < 20000; i++) {
        /* Mostly single numbers, or the sets would soon be alike. */
        unsigned which = next_random(&seed) & 1;
        for (int j = 0; j < 4; j++) {
            unsigned number = next_random(&seed) % MODEL_SIZE;
            assert_int_equal(nri_cpuset_add(models[which].set, number), 0);
            models[which].has[number] = true;
        }
        step(&models[which], &models[!which], &seed);
        if (i % 50 == 0) {
            check_model(&models[0]);
            check_model(&models[1]);
            compare(&models[0], &models[1]);
        }
    }
    nri_cpuset_free(models[0].set);
    nri_cpuset_free(models[1].set);
}

static void test_allocation_failures(void **state)
{
    (void)state;
    bool failed = true;
    for (size_t at = 1; failed; at++) {
        struct fail_alloc memory;
        struct nri_allocator allocator;
        nri_cpuset *set = NULL, *other = NULL;
        nri_error *error = NULL;
        fail_alloc_init(&memory, &allocator);
        fail_alloc_arm(&memory, at);
        int code = nri_cpuset_new(&set, &allocator);
        if (code == 0)
            code = nri_cpuset_new(&other, &allocator);
        if (code == 0)
            code = nri_cpuset_add(set, 3);
        if (code == 0)
            code = nri_cpuset_parse(other, "3-900,900", &error);
        if (code == 0)
            code = nri_cpuset_union(set, other);
        if (code == 0)
            code = nri_cpuset_parse(set, "x", &error) == NRI_E_SYNTAX ? 0 : NRI_E_NOMEM;
        failed = memory.fired;
        assert_int_equal(code, failed ? NRI_E_NOMEM : 0);
        nri_error_free(error);
        nri_cpuset_free(set);
        nri_cpuset_free(other);
        assert_int_equal(memory.live_blocks, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_and_format),
        cmocka_unit_test(test_parse_errors),
        cmocka_unit_test(test_longest_set),
        cmocka_unit_test(test_length_limit),
        cmocka_unit_test(test_time_goes_with_the_length),
        cmocka_unit_test(test_overlapping_ranges),
        cmocka_unit_test(test_short_buffers),
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_against_a_naive_model),
        cmocka_unit_test(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
