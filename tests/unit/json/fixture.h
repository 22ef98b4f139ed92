/* SPDX-License-Identifier: Apache-2.0 */
/* An arena, an error and an output buffer on the counting allocator. */
#ifndef NRI_TESTS_UNIT_JSON_FIXTURE_H
#define NRI_TESTS_UNIT_JSON_FIXTURE_H

#include "fail_alloc.h"
#include "json/json.h"

struct fixture {
    struct fail_alloc fa;
    struct nri_alloc alloc;
    struct nri_arena arena;
    struct nri_buf out;
    struct nri_error error;
    struct nri_json *document; /* of the last parse() */
};

void start(struct fixture *f);
void end(struct fixture *f); /* asserts that nothing is live */
/* Parses with the default limits, from a block of exactly this size, so that reading behind it is
 * found out. */
int parse(struct fixture *f, const char *text, size_t length);
/* Fails the test with the error's text when a C string is not accepted. */
struct nri_json *must_parse(struct fixture *f, const char *text);
/* The text of a value, until the next call. */
const char *written(struct fixture *f, const struct nri_json *value, unsigned indent);

#endif
