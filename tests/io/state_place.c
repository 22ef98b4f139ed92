/* SPDX-License-Identifier: Apache-2.0 */
#include "state_place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

void state_place_init(struct state_place *place)
{
    fail_alloc_init(&place->memory, &place->allocator);
    nri_state_options_init(&place->options, sizeof place->options);
    place->options.allocator = &place->allocator;
}

void state_place_fini(struct state_place *place)
{
    place->state = nri_state_free(place->state);
    place->error = nri_error_free(place->error);
    assert_int_equal(place->memory.live_blocks, 0);
}

int state_place_open(struct state_place *place)
{
    place->error = nri_error_free(place->error);
    return nri_state_new(&place->state, NULL, &place->options, NULL, &place->error);
}

void state_place_refuses(struct state_place *place, int code, const char *text)
{
    assert_int_equal(state_place_open(place), code);
    assert_null(place->state);
    if (strstr(nri_error_get_text(place->error), text) == NULL)
        fail_msg("\"%s\" does not hold \"%s\"", nri_error_get_text(place->error), text);
    assert_int_equal(nri_error_get_code(place->error), code);
}
