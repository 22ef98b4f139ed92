/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state that a test makes by nri_state_new(), with options to be changed before and a heap that
 * counts.
 */
#ifndef NRI_TESTS_IO_STATE_PLACE_H
#define NRI_TESTS_IO_STATE_PLACE_H

#include <nri/nri.h>

#include "fail_alloc.h"

struct state_place {
    struct fail_alloc memory;
    struct nri_allocator allocator;
    struct nri_state_options options;
    nri_state *state;
    nri_error *error;
};

void state_place_init(struct state_place *place);
/* Frees the state; no block of it lives then. */
void state_place_fini(struct state_place *place);
int state_place_open(struct state_place *place);
/* Opening it fails with this code, and a text that holds `text`. */
void state_place_refuses(struct state_place *place, int code, const char *text);

#endif
