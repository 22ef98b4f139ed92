/* SPDX-License-Identifier: Apache-2.0 */
/* What nri_state_new() makes of its arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <nri/nri.h>

#include "plugin/state.h"
#include "state_place.h"

static int setup(void **state)
{
    struct state_place *place = calloc(1, sizeof *place);
    if (place == NULL)
        return -1;
    state_place_init(place);
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    struct state_place *place = *state;
    state_place_fini(place);
    free(place);
    return 0;
}

#define place_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void test_options(void **state)
{
    struct state_place *place = *state;
    nri_state *made = NULL;
    struct nri_state_ops ops;
    nri_state_ops_init(&ops, sizeof ops);
    assert_int_equal(ops.size, sizeof ops);
    assert_int_equal(nri_state_new(NULL, NULL, NULL, NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_state_new(&made, NULL, NULL, NULL, NULL), 0);
    made = nri_state_free(made);
    ops.reserved[1] = (void (*)(void))abort;
    assert_int_equal(nri_state_new(&made, &ops, NULL, NULL, &place->error), NRI_E_ABI);
    assert_non_null(strstr(nri_error_get_text(place->error), "nri_state_ops_init()"));
    place->error = nri_error_free(place->error);
    ops.reserved[1] = NULL;
    ops.size = 8;
    assert_int_equal(nri_state_new(&made, &ops, NULL, NULL, NULL), NRI_E_ABI);
    assert_null(made);
    place->options.reserved[3] = 1;
    state_place_refuses(place, NRI_E_ABI, "nri_state_options_init()");
    place->options.reserved[3] = 0;
    place->options.size = 0;
    state_place_refuses(place, NRI_E_ABI, "nri_state_options");
    place->options.size = sizeof place->options;
    place->allocator.release = NULL;
    state_place_refuses(place, NRI_E_INVALID, "set all three functions, or none");
}

static void test_ranges(void **state)
{
    struct state_place *place = *state;
    place->options.max_note_bytes = 1024 * 1024 + 1;
    state_place_refuses(
        place, NRI_E_RANGE,
        "max_note_bytes is 1048577; it must be from 1 to 1048576, or 0 for the default");
    place->options.max_note_bytes = 1024 * 1024;
    place->options.max_checkpoint_bytes = 1023;
    state_place_refuses(place, NRI_E_RANGE,
                        "max_checkpoint_bytes is 1023; it must be from 1024 to 1073741824");
    place->options.max_checkpoint_bytes = UINT64_C(1073741825);
    state_place_refuses(place, NRI_E_RANGE, "max_checkpoint_bytes is 1073741825");
    place->options.max_checkpoint_bytes = UINT64_C(1073741824);
    assert_int_equal(state_place_open(place), 0);
    assert_int_equal(place->state->config.max_note_bytes, 1024 * 1024);
    place->state = nri_state_free(place->state);
    place->options.max_note_bytes = place->options.max_checkpoint_bytes = 0;
    assert_int_equal(state_place_open(place), 0);
    assert_int_equal(place->state->config.max_note_bytes, 4096);
    assert_int_equal(place->state->config.max_checkpoint_bytes, 64 * 1024 * 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {place_test(test_options), place_test(test_ranges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
