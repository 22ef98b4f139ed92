/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TOML: any bytes are refused with a line of the text, or are a document that JSON can say and that
 * is the same when it is read from that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "doctor_toml.h"
#include "memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}
#define CHECK(condition) check((condition), #condition)

static void check_refusal(int code, const struct nri_error *error, const uint8_t *data, size_t size)
{
    static const char begin[] = "not understood at line ";
    size_t lines = 1;
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    CHECK(code == error->code && (code == NRI_E_SYNTAX || code == NRI_E_UTF8));
    CHECK(strncmp(error->text, begin, sizeof begin - 1) == 0);
    CHECK(nri_utf8_valid(error->text, strlen(error->text), NULL));
    const unsigned long line = strtoul(error->text + sizeof begin - 1, NULL, 10);
    CHECK(line >= 1 && line <= lines);
}

static void check_same(struct nri_arena *arena, const struct nri_json *document)
{
    struct nri_buf first, second;
    struct nri_json *again = NULL;
    struct nri_error error;
    memory_buf(&first, SIZE_MAX);
    memory_buf(&second, SIZE_MAX);
    CHECK(nri_json_write(document, 0, &first) == 0);
    CHECK(nri_json_parse(arena, memory_text(&first), nri_buf_size(&first), NULL, NULL, &again,
                         &error) == 0);
    CHECK(nri_json_write(again, 0, &second) == 0);
    CHECK(nri_buf_size(&first) == nri_buf_size(&second));
    CHECK(memcmp(memory_text(&first), memory_text(&second), nri_buf_size(&first)) == 0);
    nri_buf_fini(&first);
    nri_buf_fini(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nri_arena arena;
    struct nri_json *document = NULL;
    struct nri_error error;
    if (size > (1 << 18))
        return 0;
    memory_arena(&arena, (size_t)256 << 20);
    nri_error_clear(&error);
    const int code = doctor_toml_parse(&arena, (const char *)data, size, &document, &error);
    if (code == 0)
        check_same(&arena, document);
    else
        check_refusal(code, &error, data, size);
    nri_arena_fini(&arena);
    return 0;
}
