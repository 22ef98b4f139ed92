/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of a test's own for a state with a checkpoint, whose log is counted. */
#ifndef NRI_TESTS_IO_CHECKPOINT_PLACE_H
#define NRI_TESTS_IO_CHECKPOINT_PLACE_H

#include "state_place.h"

struct checkpoint_place {
    char directory[96], path[128], other[160];
    struct state_place base;
    char log[1024];
    size_t errors, written_again; /* records */
    int fds;
};

int checkpoint_place_setup(void **state);
int checkpoint_place_teardown(void **state);
#define place_test(name)                                                                           \
    cmocka_unit_test_setup_teardown(name, checkpoint_place_setup, checkpoint_place_teardown)

/* The path with this behind it; until the next call. */
const char *checkpoint_beside(struct checkpoint_place *place, const char *suffix);
/* A container, put there as the hooks do. */
nri_state_container *checkpoint_add(nri_state *state, const char *id);
/* Sets the note of c1, and saves: that one's code, and place->base.error. */
int checkpoint_note(struct checkpoint_place *place, const char *text);
/* The plugin crashes: what is not in the file is lost. */
void checkpoint_crash(struct checkpoint_place *place);
/* What a new state finds as the note of c1. */
void checkpoint_expect_note(struct checkpoint_place *place, const char *text);

#endif
