/* SPDX-License-Identifier: Apache-2.0 */
/* An arena over the counting allocator, and messages through the wire and back. */
#ifndef NRI_TESTS_MODEL_FIXTURE_H
#define NRI_TESTS_MODEL_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fail_alloc.h"
#include "model/model.h"

typedef Nri__Pkg__Api__V1alpha1__ContainerAdjustment adjustment_message;
typedef Nri__Pkg__Api__V1alpha1__ContainerUpdate update_message;
typedef Nri__Pkg__Api__V1alpha1__ContainerEviction eviction_message;
typedef Nri__Pkg__Api__V1alpha1__PodSandbox pod_message;
typedef Nri__Pkg__Api__V1alpha1__Container container_message;

struct fixture {
    struct fail_alloc memory;
    struct nri_arena arena;
};

extern const uint64_t fixture_seed[2];

/* cmocka's setup and teardown: *state is a struct fixture. The teardown checks that nothing leaks.
 */
int fixture_setup(void **state);
int fixture_teardown(void **state);

/* A text of base/text.h, NULs included: give sizeof - 1 of a literal. */
char *fixture_text(struct fixture *fixture, const char *text, size_t length);
#define TEXT(fixture, literal) fixture_text((fixture), (literal), sizeof(literal) - 1)

/* One of the page sizes that a hugepage limit may be of, all different from one another. */
#define FIXTURE_PAGE_SIZES 30
void fixture_page_size(char out[8], int index);

/* Encodes and decodes again, in the fixture's arena. */
void *fixture_round_trip(struct fixture *fixture, const void *message);
/* The message of an adjustment, through the wire; fails the test when there is none. */
const adjustment_message *fixture_adjustment(struct fixture *fixture,
                                             const nri_adjustment *adjustment);
/* The line and the column of an error are those in its text: "NAME:LINE:COLUMN: ", or none. */
void fixture_check_place(const nri_error *error, const char *name);
/* An adjustment that nothing blocks. */
nri_adjustment *fixture_make(struct fixture *fixture);

#endif
