/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each allocation of a reading fails once: the linker hands this program every call of malloc() and
 * so on in libnri, nri-app and, where it has a static library, libyaml. The reading then says that
 * there is no memory, and nothing is left.
 */
#include "config_fixture.h"

#include "app/config_region.h"
#include "app/config_tree.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *block);

/* While `sweeping`; what the test itself does is not counted. */
static bool sweeping;
static size_t calls, fail_at, live;

static bool must_fail(void)
{
    return sweeping && ++calls == fail_at;
}

static void *counted(void *block)
{
    live += sweeping && block != NULL;
    return block;
}

void *__wrap_malloc(size_t size)
{
    return must_fail() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *block, size_t size)
{
    if (must_fail())
        return NULL;
    void *grown = __real_realloc(block, size);
    live += sweeping && block == NULL && grown != NULL;
    return grown;
}

char *__wrap_strdup(const char *text)
{
    return must_fail() ? NULL : counted(__real_strdup(text));
}

void __wrap_free(void *block)
{
    live -= sweeping && block != NULL;
    __real_free(block);
}

/* Returns how many allocations there are, each of which has failed once. `wanted` is the result
 * when none does. */
static size_t sweep(const struct app_config_sources *sources, int wanted)
{
    char text[APP_CONFIG_TEXT];
    static const char end[] = "out of memory";
    for (fail_at = 1;; fail_at++) {
        struct app_config *config;
        text[0] = '\0';
        calls = 0;
        live = 0;
        sweeping = true;
        int result = app_config_read(&config, settings_fields, settings_count,
                                     sizeof(struct settings), sources, text);
        app_config_free(config);
        sweeping = false;
        assert_int_equal(live, 0);
        if (calls < fail_at) {
            assert_int_equal(result, wanted);
            return fail_at - 1;
        }
        assert_int_equal(result, -1);
        size_t length = strlen(text);
        if (length < sizeof end || strcmp(text + length - strlen(end), end) != 0)
            fail_msg("allocation %zu: %s", fail_at, text);
    }
}

static const char yaml[] = "flag: true\nworkers: 0x10\nratio: .25\ngreeting: \"a\"\n"
                           "timeouts:\n  request: 1m30s\npool:\n  cpus: '3,0,1,2'\n"
                           "  limits: {memory: 4096}\nmode: refuse\nnames: [x, y]\n"
                           "rules: {b: [1, 'x y'], a: \"\\u0085\"}\n";
static const char json[] = "{\"flag\": true, \"workers\": 5, \"pool\": {\"cpus\": \"1\"},"
                           " \"names\": [\"x\"], \"rules\": {\"a\": [1, {\"b\": null}]}}";

static void test_texts(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "names: [", "workers: 1\nworkers: 2\n", "wrokers: 5\n",
        "{\"a\": ", "pool: {cpus: 5-2}",        "timeouts: {request: 1}"};
    assert_true(sweep(&(struct app_config_sources){.configure = yaml}, 0) > 10);
    assert_true(sweep(&(struct app_config_sources){.configure = json}, 0) > 10);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_true(sweep(&(struct app_config_sources){.configure = bad[i]}, -1) > 5);
}

static void test_files(void **state)
{
    (void)state;
    struct config_directory directory;
    char path[256];
    config_directory_start(&directory);
    config_directory_write(&directory, "a.json", json);
    config_directory_write(&directory, "a.json.d/b.yaml", yaml);
    config_directory_file(&directory, "a.json", path);
    assert_true(sweep(&(struct app_config_sources){.path = path, .configure = yaml}, 0) > 20);
    config_directory_end(&directory);
}

static void test_table(void **state)
{
    (void)state;
    char text[APP_CONFIG_TEXT];
    for (fail_at = 1;; fail_at++) {
        calls = 0;
        live = 0;
        sweeping = true;
        int result =
            app_config_check_table(settings_fields, settings_count, sizeof(struct settings), text);
        sweeping = false;
        assert_int_equal(live, 0);
        if (calls < fail_at)
            break;
        assert_int_equal(result, -1);
        assert_non_null(strstr(text, "out of memory"));
    }
    assert_true(fail_at > 10);
}

/* ---- the region ---- */

static void test_region(void **state)
{
    (void)state;
    struct app_region region = {0};
    unsigned char *pieces[300];
    assert_null(app_region_take(&region, SIZE_MAX));
    assert_null(app_region_take(&region, SIZE_MAX - 16));
    assert_null(app_region_take_many(&region, SIZE_MAX / 2, 3));
    assert_null(app_region_text(&region, "", SIZE_MAX));
    for (size_t i = 0; i < 300; i++) {
        size_t size = i * 37;
        pieces[i] = app_region_take(&region, size);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < size; k++)
            assert_int_equal(pieces[i][k], 0);
        memset(pieces[i], (int)i & 0xFF, size);
    }
    for (size_t i = 0; i < 300; i++) {
        for (size_t k = 0; k < i * 37; k++)
            assert_int_equal(pieces[i][k], i & 0xFF);
    }
    assert_string_equal(app_region_text(&region, "abc", 2), "ab");
    app_region_fini(&region);
    app_region_fini(&region);
    assert_non_null(app_region_take(&region, 1)); /* it can be used again */
    app_region_fini(&region);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_region),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
