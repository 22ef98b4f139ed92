/* SPDX-License-Identifier: Apache-2.0 */
/* The end of the connection at every stage of a session, for every kind of reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "scenario.h"

static void test_close_at_every_stage(void **state)
{
    static const int reasons[] = {0, NRI_E_CLOSED, NRI_E_IO, NRI_E_TIMEOUT};
    struct scenario *s = malloc(sizeof *s);
    (void)state;
    assert_non_null(s);
    for (size_t steps = 0; steps <= scenario_steps(); steps++) {
        for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
            scenario_run(s, steps, 0, 0, reasons[i]);
            assert_int_equal(s->connected, steps == 0 ? 0 : 1);
            assert_int_equal(s->disconnected, s->connected);
            assert_int_equal(s->calls_sent, s->calls_told);
            assert_int_equal(s->memory.live_blocks, 0);
        }
    }
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_close_at_every_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
