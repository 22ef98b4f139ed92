/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 100 000 random events on random machines, with crashes and restarts in between: no CPU is ever
 * given twice, none leaks, none that is reserved is given, some are always shared. The seed is
 * printed; NRI_TEST_SEED sets it, NRI_TEST_EVENTS the number of events.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "world.h"

#define EVENTS   UINT64_C(100000)
#define OF_WORLD 2000 /* events until there is another machine */
#define SETTLES  50   /* and until everything is given the time to get right */

static uint64_t number_of(const char *name, uint64_t standard)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : standard;
}

static void check(struct world *world, const char *fault)
{
    if (fault != NULL)
        fail_msg("after event %" PRIu64 " of its world: %s", world->events, fault);
}

static void add(struct world *sum, const struct world *world)
{
    sum->events += world->events;
    sum->grants += world->grants;
    sum->refusals += world->refusals;
    sum->crashes += world->crashes;
    sum->restarts += world->restarts;
    sum->failures += world->failures;
    sum->resizes += world->resizes;
}

static void test_random_events(void **state)
{
    struct timespec now;
    struct world world, sum = {0};
    (void)state;
    clock_gettime(CLOCK_REALTIME, &now);
    const uint64_t seed = number_of("NRI_TEST_SEED", (uint64_t)now.tv_sec * UINT64_C(1000000007) +
                                                         (uint64_t)now.tv_nsec);
    const uint64_t events = number_of("NRI_TEST_EVENTS", EVENTS);
    print_message("NRI_TEST_SEED=%" PRIu64 "\n", seed);
    for (uint64_t turn = 0; sum.events < events; turn++) {
        world_make(&world, seed + turn);
        while (world.events < OF_WORLD && sum.events + world.events < events) {
            world_step(&world);
            check(&world, world_fault(&world));
            if (world.events % SETTLES == 0)
                check(&world, world_settle(&world));
        }
        check(&world, world_drain(&world));
        add(&sum, &world);
        world_free(&world);
    }
    print_message("%" PRIu64 " events: %" PRIu64 " allocations, %" PRIu64 " refusals, %" PRIu64
                  " crashes of the plugin, %" PRIu64 " restarts of the runtime, %" PRIu64
                  " failed updates, %" PRIu64 " resizes\n",
                  sum.events, sum.grants, sum.refusals, sum.crashes, sum.restarts, sum.failures,
                  sum.resizes);
    assert_true(events < EVENTS || (sum.grants > events / 100 && sum.refusals > events / 1000 &&
                                    sum.crashes > events / 100 && sum.resizes > events / 500 &&
                                    sum.restarts > events / 200));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_events)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
