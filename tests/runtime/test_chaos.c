/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random lives of containers with plugins that come, answer late, stop reading, refuse and die:
 * every event is answered once, and no plugin sees a container's events out of their order.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"

#define STEPS      6000
#define CONTAINERS 24

struct chaos {
    struct rt_fixture *fixture;
    uint64_t random;
    nri_pod *pods[4];
    nri_container *containers[CONTAINERS];
    unsigned stage[CONTAINERS]; /* of its life: the next event */
    bool busy[CONTAINERS];
    size_t called, done;
};

struct call {
    struct chaos *chaos;
    size_t container;
};

static const enum nri_event life[] = {
    NRI_EVENT_CREATE_CONTAINER,     NRI_EVENT_POST_CREATE_CONTAINER, NRI_EVENT_START_CONTAINER,
    NRI_EVENT_POST_START_CONTAINER, NRI_EVENT_UPDATE_CONTAINER,      NRI_EVENT_STOP_CONTAINER,
    NRI_EVENT_REMOVE_CONTAINER,
};
#define LIFE (sizeof life / sizeof *life)

static uint64_t draw(struct chaos *chaos, uint64_t below)
{
    chaos->random ^= chaos->random << 13;
    chaos->random ^= chaos->random >> 7;
    chaos->random ^= chaos->random << 17;
    return chaos->random % below;
}

/* The order of the last event that a plugin saw of each container, for the check. */
static unsigned last_seen[RT_PLUGINS][CONTAINERS];
static struct chaos *the_chaos;

static unsigned place_of(enum nri_event event)
{
    unsigned place = 0;

    while (place < LIFE && life[place] != event)
        place++;
    return place;
}

static int behave(nri_request *request, struct rt_fixture *fixture)
{
    const enum nri_event event = nri_request_event(request);
    const char *id = nri_container_id(nri_request_container(request));

    struct rt_plugin *plugin = fixture->current;
    if (id[0] == 'c' && event != NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT) {
        unsigned *last = &last_seen[plugin - fixture->plugins][atoi(id + 1)];
        const unsigned place = place_of(event) + 1;
        /* A new life begins with CreateContainer. */
        if (event != NRI_EVENT_CREATE_CONTAINER && place <= *last)
            fail_msg("%s of %s after %s", nri_event_name(event), id,
                     nri_event_name(life[*last - 1]));
        *last = place;
    }
    switch (draw(the_chaos, 12)) {
    case 0:
        return plugin->held_count < RT_HELD ? NRI_PENDING : 0;
    case 1:
        return nri_request_fail(request, NRI_E_REJECTED, "no");
    default:
        return 0;
    }
}

static void on_done(nri_runtime *runtime, nri_outcome *outcome, void *user)
{
    struct call *call = user;
    struct chaos *chaos = call->chaos;

    (void)runtime;
    chaos->done++;
    chaos->busy[call->container] = false;
    if (nri_outcome_event(outcome) == NRI_EVENT_CREATE_CONTAINER && nri_outcome_code(outcome) != 0)
        chaos->stage[call->container] = 0;
    free(call);
}

static void next_event(struct chaos *chaos)
{
    const size_t container = draw(chaos, CONTAINERS);
    struct nri_runtime_event event = {.size = sizeof event};
    struct call *call;

    if (chaos->busy[container] || (call = calloc(1, sizeof *call)) == NULL)
        return;
    *call = (struct call){chaos, container};
    event.event = life[chaos->stage[container]];
    event.pod = chaos->pods[container % 4];
    event.container = chaos->containers[container];
    if (nri_rt_call(chaos->fixture->rt, &event, on_done, call, chaos->fixture->now, NULL) != 0) {
        free(call);
        return;
    }
    chaos->busy[container] = true;
    chaos->called++;
    chaos->stage[container] = (chaos->stage[container] + 1) % LIFE;
}

static void something_happens(struct chaos *chaos)
{
    struct rt_fixture *fixture = chaos->fixture;
    struct rt_plugin *plugin =
        fixture->plugin_count == 0 ? NULL : &fixture->plugins[draw(chaos, fixture->plugin_count)];

    switch (draw(chaos, 40)) {
    case 0:
        if (fixture->plugin_count < RT_PLUGINS) {
            static const char *const indices[] = {"10", "20", "30", "40"};
            (void)rt_plugin(fixture, indices[draw(chaos, 4)], "any", NRI_EVENTS_ALL, behave);
        }
        break;
    case 1:
        if (plugin != NULL && plugin->peer != NULL && draw(chaos, 4) == 0)
            rt_kill(plugin);
        break;
    case 2:
        if (plugin != NULL)
            plugin->stalled = !plugin->stalled;
        break;
    case 3:
        rt_pass(fixture, draw(chaos, 300));
        break;
    case 4:
    case 5:
    case 6:
        if (plugin != NULL && !plugin->gone && plugin->held_count > 0)
            rt_release(plugin, 0);
        break;
    default:
        next_event(chaos);
    }
}

static void run(struct rt_fixture *fixture, uint64_t seed)
{
    struct chaos chaos = {.fixture = fixture, .random = seed};

    the_chaos = &chaos;
    memset(last_seen, 0, sizeof last_seen);
    for (size_t i = 0; i < 4; i++)
        chaos.pods[i] = rt_pod((const char *[]){"p0", "p1", "p2", "p3"}[i]);
    for (size_t i = 0; i < CONTAINERS; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "c%zu", i);
        chaos.containers[i] = rt_container(id, "p");
    }
    for (size_t i = 0; i < STEPS; i++) {
        something_happens(&chaos);
        fixture->log_text[0] = '\0';
        for (size_t p = 0; p < fixture->plugin_count; p++)
            fixture->plugins[p].seen[0] = '\0';
        if (draw(&chaos, 3) == 0)
            rt_settle(fixture);
    }
    rt_pass(fixture, 60000);
    assert_int_equal(chaos.called, chaos.done);
    assert_true(chaos.done > STEPS / 20);
    for (size_t i = 0; i < CONTAINERS; i++)
        nri_container_free(chaos.containers[i]);
    for (size_t i = 0; i < 4; i++)
        nri_pod_free(chaos.pods[i]);
}

static void test_chaos(void **state)
{
    void *own = NULL;

    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        assert_int_equal(rt_setup(&own), 0);
        struct rt_fixture *fixture = own;
        fixture->config.max_outstanding = seed % 2 == 0 ? 1 : 3;
        if (seed % 3 == 0)
            fixture->config.failure =
                (struct nri_failure_policy){.size = sizeof fixture->config.failure,
                                            .on_timeout = NRI_FAILURE_FAIL,
                                            .after_timeout = NRI_FATE_KEEP};
        rt_start(fixture);
        run(fixture, seed * UINT64_C(0x9e3779b97f4a7c15));
        assert_int_equal(rt_teardown(&own), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chaos)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
