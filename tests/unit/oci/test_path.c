/* SPDX-License-Identifier: Apache-2.0 */
/* Paths by their letters: the shortest spelling, as path.Clean() of Go has it, and their depth. */
#include "fixture.h"

#include "base/text.h"
#include "oci/path.h"

struct row {
    const char *path, *clean;
    size_t depth;
};

static const struct row rows[] = {
    {"", ".", 0},
    {".", ".", 0},
    {"/", "/", 1},
    {"//", "/", 1},
    {"/a", "/a", 1},
    {"/a/", "/a", 1},
    {"a", "a", 0},
    {"a/b/", "a/b", 1},
    {"/a//b", "/a/b", 2},
    {"/a/./b", "/a/b", 2},
    {"/a/b/..", "/a", 1},
    {"/a/..", "/", 1},
    {"/..", "/", 1},
    {"/../..", "/", 1},
    {"/../a", "/a", 1},
    {"..", "..", 0},
    {"../..", "../..", 1},
    {"../a", "../a", 1},
    {"a/..", ".", 0},
    {"a/../..", "..", 0},
    {"a/../../b", "../b", 1},
    {"a/b/../c", "a/c", 1},
    {"/a/b/c/../../d", "/a/d", 2},
    {"./a", "a", 0},
    {"/...", "/...", 1},
    {"/..a", "/..a", 1},
    {"/a/b..", "/a/b..", 2},
    {"../../a/..", "../..", 1},
    {"/.", "/", 1},
    {"./", ".", 0},
    {"../", "..", 0},
};

static void test_clean(void **state)
{
    (void)state;
    struct nri_alloc alloc;
    struct nri_arena arena;
    assert_int_equal(nri_alloc_resolve(&alloc, NULL), 0);
    nri_arena_init(&arena, &alloc, 0, SIZE_MAX);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const size_t length = strlen(rows[i].path);
        /* In memory of its very size, so that reading on is seen. */
        char *path = malloc(length + 1);
        assert_non_null(path);
        memcpy(path, rows[i].path, length);
        const char *clean = nri_oci_path_clean(&arena, path, length);
        assert_string_equal(clean, rows[i].clean);
        assert_int_equal(nri_text_stored_length(clean), strlen(clean));
        assert_int_equal(nri_oci_path_depth(clean, strlen(clean)), rows[i].depth);
        free(path);
    }
    nri_arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_clean)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
