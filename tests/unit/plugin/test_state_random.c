/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random events, Synchronizes in parts, lost connections and restarts against a model that is no
 * more than a table: what it says is there is there, and nothing else. And memory, which is that of
 * what lives, whatever number went before.
 */
#include "state_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS     100000
#define PODS       6u
#define CONTAINERS 24u /* container N belongs to pod N modulo PODS */

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed >> 11;
}

/* ---- the model ---- */

struct thing {
    bool live, gone, told; /* gone: remembered; told: by the Synchronize that goes on */
    unsigned version;      /* that was told last */
    bool noted;            /* its note is its version at that time */
    unsigned note;
    bool waits; /* its note is in the checkpoint, and it is not known */
};

struct model {
    struct thing pods[PODS], containers[CONTAINERS];
    bool collecting, synchronized;
};

enum what { MAKES, TELLS, ENDS, ASKS }; /* of an event, to an object */

/* Whether it is there then. */
static bool put(struct thing *thing, enum what what, unsigned version, bool may_come)
{
    if (!thing->live) {
        if (what == ENDS || (thing->gone && what != MAKES) || !may_come)
            return false;
        *thing = (struct thing){.live = true,
                                .version = version,
                                .told = true,
                                .noted = thing->waits,
                                .note = thing->note};
        return true;
    }
    thing->told = true;
    if (what != ASKS)
        thing->version = version;
    return true;
}

static void remove_thing(struct thing *thing)
{
    *thing = (struct thing){.gone = true};
}

static void model_event(struct model *m, enum nri_event event, unsigned container, unsigned version)
{
    struct thing *c = &m->containers[container], *p = &m->pods[container % PODS];
    switch (event) {
    case NRI_EVENT_RUN_POD_SANDBOX:
        put(p, MAKES, version, true);
        break;
    case NRI_EVENT_UPDATE_POD_SANDBOX:
    case NRI_EVENT_POST_UPDATE_POD_SANDBOX:
        put(p, TELLS, version, true);
        break;
    case NRI_EVENT_STOP_POD_SANDBOX:
        put(p, ENDS, version, true);
        break;
    case NRI_EVENT_REMOVE_POD_SANDBOX:
        for (unsigned i = container % PODS; i < CONTAINERS; i += PODS) {
            if (m->containers[i].live)
                remove_thing(&m->containers[i]);
        }
        remove_thing(p);
        break;
    case NRI_EVENT_CREATE_CONTAINER:
        put(p, MAKES, version, true);
        put(c, MAKES, version, true);
        break;
    case NRI_EVENT_STOP_CONTAINER:
        put(p, ENDS, version, true);
        put(c, ENDS, version, true);
        break;
    case NRI_EVENT_REMOVE_CONTAINER:
        put(p, ENDS, version, true);
        remove_thing(c);
        break;
    case NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT:
        put(p, ASKS, version, true);
        put(c, ASKS, version, !p->gone);
        break;
    default:
        put(p, TELLS, version, true);
        put(c, TELLS, version, !p->gone);
        break;
    }
}

static void begin(struct thing *things, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        things[i].told = false;
}

static void sweep(struct thing *things, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (things[i].live && !things[i].told)
            remove_thing(&things[i]);
        things[i].waits = false;
    }
}

static void forget(struct thing *things, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        things[i].gone = false;
}

static void crash(struct thing *things, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        things[i] = (struct thing){
            .waits = things[i].waits || (things[i].live && things[i].noted),
            .note = things[i].note,
        };
}

/* ---- both at once ---- */

struct world {
    struct model model;
    struct state_fixture *f;
    uint64_t seed;
    unsigned container; /* of the event that is under way */
};

static unsigned pick(struct world *w, unsigned below)
{
    return (unsigned)(next_random(&w->seed) % below);
}

/* Sets a note now and then. */
static int handler(struct state_fixture *f, nri_request *request)
{
    struct world *w = f->data;
    char id[16], note[16];
    (void)request;
    (void)snprintf(id, sizeof id, "c%u", w->container);
    nri_state_container *container = nri_state_find_container(f->state, id);
    struct thing *thing = &w->model.containers[w->container];
    if (container == NULL || pick(w, 4) != 0)
        return 0;
    thing->note = pick(w, 1000);
    thing->noted = true;
    (void)snprintf(note, sizeof note, "n%u", thing->note);
    assert_int_equal(nri_state_container_set_note(container, note), 0);
    return 0;
}

static void one_event(struct world *w)
{
    char pod[16], container[16];
    const enum nri_event event = (enum nri_event)(1 + pick(w, 14));
    const unsigned version = pick(w, 3);
    const bool removes =
        event == NRI_EVENT_REMOVE_CONTAINER || event == NRI_EVENT_REMOVE_POD_SANDBOX;
    w->container = pick(w, CONTAINERS);
    (void)snprintf(pod, sizeof pod, "p%u", w->container % PODS);
    (void)snprintf(container, sizeof container, "c%u", w->container);
    const bool of_pod = event == NRI_EVENT_RUN_POD_SANDBOX || event == NRI_EVENT_STOP_POD_SANDBOX ||
                        event == NRI_EVENT_REMOVE_POD_SANDBOX ||
                        event == NRI_EVENT_UPDATE_POD_SANDBOX ||
                        event == NRI_EVENT_POST_UPDATE_POD_SANDBOX;
    /* The model goes first, so that the handler may put a note into it; but for what is removed
     * after the handler. */
    if (!removes)
        model_event(&w->model, event, w->container, version);
    w->f->handler = of_pod || removes ? NULL : handler;
    assert_int_equal(state_fixture_event(w->f, event, pod, of_pod ? NULL : container, version), 0);
    if (removes)
        model_event(&w->model, event, w->container, version);
}

static void one_part(struct world *w)
{
    char pods[128] = "", containers[256] = "";
    const unsigned version = pick(w, 3);
    const bool more = pick(w, 3) != 0;
    if (!w->model.collecting) {
        begin(w->model.pods, PODS);
        begin(w->model.containers, CONTAINERS);
    }
    for (unsigned i = 0; i < PODS; i++) {
        if (pick(w, 4) != 0)
            continue;
        put(&w->model.pods[i], MAKES, version, true);
        (void)snprintf(pods + strlen(pods), sizeof pods - strlen(pods), "p%u ", i);
    }
    for (unsigned i = 0; i < CONTAINERS; i++) {
        if (pick(w, 4) != 0)
            continue;
        put(&w->model.containers[i], MAKES, version, true);
        (void)snprintf(containers + strlen(containers), sizeof containers - strlen(containers),
                       "c%u/p%u ", i, i % PODS);
    }
    w->model.collecting = more;
    if (!more) {
        sweep(w->model.pods, PODS);
        sweep(w->model.containers, CONTAINERS);
        w->model.synchronized = true;
    }
    w->f->handler = NULL;
    assert_int_equal(state_fixture_sync(w->f, pods, containers, version, more), 0);
}

static void reconnect(struct world *w)
{
    w->model.collecting = w->model.synchronized = false;
    forget(w->model.pods, PODS);
    forget(w->model.containers, CONTAINERS);
    state_fixture_connected(w->f);
}

/* The plugin goes without a word, and another one reads the checkpoint. */
static void restart(struct world *w)
{
    w->f->store.save_code = NRI_E_IO;
    state_fixture_close(w->f);
    w->f->store.save_code = 0;
    assert_int_equal(w->f->memory.live_blocks, 0);
    assert_int_equal(state_fixture_open(w->f, NULL), 0);
    crash(w->model.pods, PODS);
    crash(w->model.containers, CONTAINERS);
    w->model.collecting = w->model.synchronized = false;
}

static void check_container(struct world *w, unsigned i)
{
    const struct thing *thing = &w->model.containers[i];
    char id[16], name[16], note[16] = "", pod[16];
    (void)snprintf(id, sizeof id, "c%u", i);
    nri_state_container *container = nri_state_find_container(w->f->state, id);
    assert_int_equal(container != NULL, thing->live);
    if (container == NULL)
        return;
    (void)snprintf(name, sizeof name, "name-%u", thing->version);
    assert_string_equal(nri_container_name(nri_state_container_get(container)), name);
    if (thing->noted)
        (void)snprintf(note, sizeof note, "n%u", thing->note);
    assert_string_equal(nri_state_container_note(container), note);
    (void)snprintf(pod, sizeof pod, "p%u", i % PODS);
    assert_ptr_equal(nri_state_container_pod(container), nri_state_find_pod(w->f->state, pod));
}

static void check(struct world *w)
{
    size_t pods = 0, containers = 0, seen = 0;
    assert_int_equal(nri_state_is_synchronized(w->f->state), w->model.synchronized);
    for (unsigned i = 0; i < PODS; i++) {
        char id[16], name[16];
        (void)snprintf(id, sizeof id, "p%u", i);
        nri_state_pod *pod = nri_state_find_pod(w->f->state, id);
        assert_int_equal(pod != NULL, w->model.pods[i].live);
        pods += pod != NULL;
        (void)snprintf(name, sizeof name, "name-%u", w->model.pods[i].version);
        if (pod != NULL)
            assert_string_equal(nri_pod_name(nri_state_pod_get(pod)), name);
    }
    for (unsigned i = 0; i < CONTAINERS; i++) {
        check_container(w, i);
        containers += w->model.containers[i].live;
    }
    assert_int_equal(nri_state_pod_count(w->f->state), pods);
    assert_int_equal(nri_state_container_count(w->f->state), containers);
    for (nri_state_pod *p = NULL; (p = nri_state_next_pod(w->f->state, p)) != NULL;) {
        nri_state_container *c = NULL;
        while ((c = nri_state_pod_next_container(p, c)) != NULL) {
            assert_ptr_equal(nri_state_container_pod(c), p);
            seen++;
        }
        pods--;
    }
    for (nri_state_container *c = NULL; (c = nri_state_next_container(w->f->state, c)) != NULL;) {
        seen += nri_state_container_pod(c) == NULL;
        containers--;
    }
    assert_int_equal(pods, 0);
    assert_int_equal(containers, 0);
    assert_int_equal(seen, nri_state_container_count(w->f->state));
}

static void test_random_events(void **state)
{
    struct state_fixture *f = *state;
    struct world w = {.f = f, .seed = UINT64_C(88172645463325252)};
    state_fixture_close(f);
    state_fixture_use_store(f);
    assert_int_equal(state_fixture_open(f, NULL), 0);
    f->quiet = true;
    f->data = &w;
    for (unsigned i = 0; i < EVENTS; i++) {
        const unsigned kind = pick(&w, 200);
        if (kind == 0)
            restart(&w);
        else if (kind < 3)
            reconnect(&w);
        else if (kind < 20)
            one_part(&w);
        else
            one_event(&w);
        check(&w);
    }
    f->data = NULL;
}

/* ---- memory ---- */

static void rounds(struct state_fixture *f, unsigned first, unsigned count)
{
    char pod[32], container[32];
    for (unsigned i = first; i < first + count; i++) {
        (void)snprintf(pod, sizeof pod, "pod-%08u", i);
        (void)snprintf(container, sizeof container, "ctr-%08u", i);
        state_fixture_event(f, NRI_EVENT_RUN_POD_SANDBOX, pod, NULL, 0);
        state_fixture_event(f, NRI_EVENT_CREATE_CONTAINER, pod, container, 0);
        state_fixture_event(f, NRI_EVENT_POST_START_CONTAINER, pod, container, 1);
        state_fixture_event(f, NRI_EVENT_REMOVE_CONTAINER, pod, container, 1);
        state_fixture_event(f, NRI_EVENT_REMOVE_POD_SANDBOX, pod, NULL, 1);
    }
}

static void test_memory_is_that_of_what_lives(void **state)
{
    struct state_fixture *f = *state;
    f->quiet = true;
    state_fixture_sync(f, "p1 p2", "c1/p1 c2/p1 c3/p2", 0, false);
    /* Until as many are remembered as may be, and the hashes are as large as that needs. */
    rounds(f, 0, 20000);
    const size_t blocks = f->memory.live_blocks, bytes = f->memory.live_bytes;
    const size_t peak = f->memory.peak_bytes;
    rounds(f, 20000, 100000);
    assert_int_equal(f->memory.live_blocks, blocks);
    assert_int_equal(f->memory.live_bytes, bytes);
    assert_int_equal(f->memory.peak_bytes, peak);
    /* What is remembered costs little, and goes with the connection. */
    assert_true(bytes < 256 * 1024);
    state_fixture_connected(f);
    assert_true(f->memory.live_bytes < 48 * 1024);
    assert_int_equal(nri_state_container_count(f->state), 3);
}

/* What tells nothing new allocates nothing. */
static void test_steady_state_allocates_nothing(void **state)
{
    struct state_fixture *f = *state;
    state_fixture_event(f, NRI_EVENT_CREATE_CONTAINER, "p1", "c1", 0);
    const size_t calls = f->memory.calls;
    for (unsigned i = 0; i < 1000; i++)
        state_fixture_event(f, NRI_EVENT_UPDATE_CONTAINER, "p1", "c1", 0);
    assert_int_equal(f->memory.calls, calls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        state_test(test_random_events),
        state_test(test_memory_is_that_of_what_lives),
        state_test(test_steady_state_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
