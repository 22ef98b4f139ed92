/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of nrictl doctor by themselves, for test_doctor_parts.py.
 *
 * doctor_parts toml FILE: the document as JSON, or its error.
 * doctor_parts call|walk ROOT PATH: a file below a root, with openat2() or without.
 * doctor_parts glob ROOT PATTERN: paths.
 */
#include <stdlib.h>
#include <string.h>

#include "doctor_root.h"
#include "doctor_toml.h"
#include "file.h"
#include "memory.h"

#define MOST_MEMORY ((size_t)256 << 20)

static int print_toml(struct nrictl *ctl, struct nri_arena *arena, const char *path)
{
    struct nri_json *document = NULL;
    struct nri_error error;
    struct nri_buf buf;
    char *text;
    size_t length;
    nri_error_clear(&error);
    if (file_read(ctl, path, DOCTOR_MOST_BYTES, &text, &length) != NRICTL_OK)
        return 2;
    int code = doctor_toml_parse(arena, text, length, &document, &error);
    free(text);
    if (code != 0) {
        (void)printf("%s\n", error.text);
        return 1;
    }
    memory_buf(&buf, SIZE_MAX);
    code = nri_json_write(document, 0, &buf);
    if (code == 0)
        (void)fwrite(memory_text(&buf), 1, nri_buf_size(&buf), stdout);
    nri_buf_fini(&buf);
    return code == 0 ? 0 : 3;
}

static int print_file(const struct doctor_root *root, const char *path)
{
    char *text;
    size_t length;
    const int number = doctor_root_read(root, path, DOCTOR_MOST_BYTES, &text, &length);
    if (number != 0) {
        (void)printf("%s\n", strerror(number));
        return 1;
    }
    (void)fwrite(text, 1, length, stdout);
    return 0;
}

static int print_glob(const struct doctor_root *root, const char *pattern)
{
    struct doctor_names paths;
    const int number = doctor_root_glob(root, pattern, &paths);
    for (size_t i = 0; i < paths.count; i++)
        (void)printf("%s\n", paths.names[i]);
    (void)printf("%s\n", number != 0 ? strerror(number) : paths.cut ? "cut" : "all");
    return 0;
}

int main(int argc, char **argv)
{
    struct nrictl ctl = {.command = "doctor", .out = stdout, .err = stderr};
    struct nri_arena arena;
    struct doctor_root root;
    int code = 2;
    memory_arena(&arena, MOST_MEMORY);
    if (argc == 3 && strcmp(argv[1], "toml") == 0) {
        code = print_toml(&ctl, &arena, argv[2]);
    } else if (argc == 4 && doctor_root_open(&root, argv[2], &arena) == 0) {
        root.no_call = strcmp(argv[1], "walk") == 0;
        code =
            strcmp(argv[1], "glob") == 0 ? print_glob(&root, argv[3]) : print_file(&root, argv[3]);
        doctor_root_close(&root);
    }
    nri_arena_fini(&arena);
    return code;
}
