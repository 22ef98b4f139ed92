/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

void start(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    fail_alloc_init(&f->fa, NULL);
    f->alloc = fail_alloc_resolved(&f->fa);
    nri_arena_init(&f->arena, &f->alloc, 0, (size_t)1 << 30);
    nri_buf_init(&f->out, &f->alloc, (size_t)1 << 30);
}

void end(struct fixture *f)
{
    nri_arena_fini(&f->arena);
    nri_buf_fini(&f->out);
    assert_int_equal(f->fa.live_blocks, 0);
}

int parse(struct fixture *f, const char *text, size_t length)
{
    char *copy = malloc(length == 0 ? 1 : length);
    assert_non_null(copy);
    memcpy(copy, text, length);
    nri_error_clear(&f->error);
    f->document = (struct nri_json *)f; /* must be set whatever happens */
    int rc = nri_json_parse(&f->arena, copy, length, NULL, "t", &f->document, &f->error);
    free(copy);
    assert_int_equal(rc, f->error.code);
    assert_int_equal(f->document == NULL, rc != 0);
    return rc;
}

struct nri_json *must_parse(struct fixture *f, const char *text)
{
    if (parse(f, text, strlen(text)) != 0)
        fail_msg("%s: %s", text, f->error.text);
    return f->document;
}

const char *written(struct fixture *f, const struct nri_json *value, unsigned indent)
{
    nri_buf_reset(&f->out, SIZE_MAX);
    assert_int_equal(nri_json_write(value, indent, &f->out), 0);
    assert_int_equal(nri_buf_append(&f->out, "", 1), 0);
    return (const char *)f->out.data + f->out.start;
}
