/* SPDX-License-Identifier: Apache-2.0 */
/* Of containers that went, some are remembered, so that a late event does not bring them back; not
 * all, for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "machine.h"
#include "pinner.h"

static void test_graves_are_bounded(void **state)
{
    struct topology topology;
    struct ledger ledger;
    struct pool *pool = NULL;
    char text[PINNER_TEXT];
    char id[16];
    nri_cpuset *reserved = machine_set("0");
    (void)state;
    machine_make(&topology, 1, 8, 1);
    assert_int_equal(pool_new(&pool, &topology, reserved, 1, text), 0);
    assert_int_equal(ledger_init(&ledger, pool), 0);
    for (unsigned i = 0; i < LEDGER_GRAVES + 1; i++) {
        snprintf(id, sizeof id, "c%u", i);
        pinner_remove(&ledger, id);
    }
    assert_false(ledger_is_buried(&ledger, "c0"));
    assert_true(ledger_is_buried(&ledger, "c1"));
    assert_true(ledger_is_buried(&ledger, id));
    assert_null(ledger_fault(&ledger));
    ledger_fini(&ledger);
    topology_free(&topology);
    nri_cpuset_free(reserved);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_graves_are_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
