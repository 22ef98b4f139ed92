/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine.h"
#include "pending.h"

#define CONFIRM_NS 1000

static void start_plugin(struct world *world)
{
    struct pool *pool = NULL;
    char text[POOL_TEXT];
    assert_int_equal(pool_new(&pool, &world->topology, world->reserved, world->minimum, text), 0);
    assert_int_equal(ledger_init(&world->ledger, pool), 0);
}

void world_make(struct world *world, uint64_t seed)
{
    static const unsigned machines[][3] = {{1, 4, 1}, {1, 4, 2}, {2, 4, 2}, {3, 4, 1}, {2, 2, 4}};
    static const char *const reserved[] = {"", "0", "0-1", "3,5"};
    *world = (struct world){.random = seed};
    const unsigned *machine = machines[draw(world, 5)];
    machine_make(&world->topology, machine[0], machine[1], machine[2]);
    world->reserved = machine_set(reserved[draw(world, 4)]);
    world->minimum = 1 + draw(world, 2);
    world->rules = (struct rules){.share = chance(world, 50), .confirm_ns = CONFIRM_NS};
    start_plugin(world);
}

void world_free(struct world *world)
{
    ledger_fini(&world->ledger);
    topology_free(&world->topology);
    nri_cpuset_free(world->reserved);
}

/* ---- replies and updates ---- */

static void write_cpus(const struct ledger *ledger, const struct container *container, char *text,
                       size_t size)
{
    assert_true(nri_cpuset_format(ledger_cpus(ledger, container), text, size) < size);
}

/* The updates that a reply carries. The runtime may not be able to do one, and tells nobody. */
static void apply_reply(struct world *world, const char *but)
{
    struct ledger *ledger = &world->ledger;
    for (struct container *one = NULL; (one = pending_next(ledger, one)) != NULL;) {
        if (strcmp(one->id, but) == 0)
            continue;
        struct thing *thing = thing_find(world, one->id);
        pending_told(ledger, one);
        if (thing == NULL || thing->life == LIFE_CREATING || chance(world, 3)) {
            world->doubt = true;
            world->failures++;
            continue;
        }
        write_cpus(ledger, one, thing->actual, sizeof thing->actual);
    }
}

static void send_update(struct world *world)
{
    struct ledger *ledger = &world->ledger;
    if (world->calling)
        return;
    for (struct container *one = NULL; (one = pending_next(ledger, one)) != NULL;) {
        struct thing *thing = thing_find(world, one->id);
        pending_told(ledger, one);
        pending_begin(one);
        world->calling = true;
        if (thing == NULL)
            continue;
        thing->in_call = true;
        write_cpus(ledger, one, thing->called, sizeof thing->called);
    }
}

enum end { END_WELL, END_SOMEHOW, END_LOST };

/* Ends the unsolicited update that is under way. */
static void end_update(struct world *world, enum end how)
{
    const bool lost = how == END_LOST || (how == END_SOMEHOW && chance(world, 10));
    if (!world->calling)
        return;
    for (size_t i = 0; i < WORLD_CONTAINERS; i++) {
        struct thing *thing = &world->things[i];
        if (!thing->in_call)
            continue;
        thing->in_call = false;
        if (how == END_SOMEHOW && chance(world, 5)) {
            world->failures++;
            pending_failed(&world->ledger, thing->id);
        } else if (!lost || chance(world, 50)) {
            memcpy(thing->actual, thing->called, sizeof thing->actual);
        }
    }
    world->calling = false;
    if (pending_end(&world->ledger, !lost))
        send_update(world);
}

/* ---- events ---- */

static void create(struct world *world, struct thing *thing)
{
    struct container *made;
    char text[PINNER_TEXT];
    struct told told = thing_tell(thing);
    told.cpus = thing->asked;
    const size_t shared = nri_cpuset_count(pool_shared(world->ledger.pool));
    if (pinner_create(&world->ledger, &world->rules, &told, world->now, &made, text) != 0) {
        assert_string_not_equal(text, "");
        world->refusals++;
        if (thing->life == LIFE_CREATING)
            thing_forget(world, thing, false);
        return;
    }
    if (made->kind == KIND_EXCLUSIVE) {
        world->grants++;
        assert_int_equal(nri_cpuset_count(made->cpus), thing->wanted);
        assert_true(nri_cpuset_count(pool_shared(world->ledger.pool)) >=
                    (shared < world->minimum ? shared : world->minimum));
    }
    pinner_note(made, thing->note, sizeof thing->note);
    if (thing->life == LIFE_CREATING && chance(world, 6)) {
        /* Another plugin refuses, or the runtime fails: the reply's updates are lost, too. If
         * nobody tells, its CPUs come back by another attempt, with its pod, or in time. */
        for (struct container *one = NULL; (one = pending_next(&world->ledger, one)) != NULL;)
            pending_told(&world->ledger, one);
        const bool told_so = chance(world, 50);
        world->doubt = true;
        if (told_so)
            pinner_remove(&world->ledger, thing->id);
        thing_forget(world, thing, told_so);
        return;
    }
    write_cpus(&world->ledger, made, thing->actual, sizeof thing->actual);
    thing->mark = pinner_mark(made);
    apply_reply(world, thing->id);
}

static void confirm(struct world *world, struct thing *thing, bool starting)
{
    char text[PINNER_TEXT];
    const struct told told = thing_tell(thing);
    const int code =
        pinner_confirm(&world->ledger, &world->rules, &told, starting, world->now, text);
    if (code != 0)
        assert_string_not_equal(text, "");
    if (thing->life == LIFE_CREATING)
        thing->life = LIFE_CREATED;
    else if (starting && thing->life == LIFE_CREATED && code == 0)
        thing->life = LIFE_RUNNING;
    /* A start that comes late or again is none: the runtime says what it is by what follows. */
    if (starting && thing->life == LIFE_STOPPED)
        pinner_stop(&world->ledger, thing->id);
    send_update(world);
}

/* A new limit; whether the update goes on. What is refused changes nothing, but that a container
 * that was not known may be now. */
static bool resize(struct world *world, struct thing *thing)
{
    char text[PINNER_TEXT], before[64] = "", after[64] = "";
    const struct told told = thing_tell(thing);
    const size_t wanted = draw(world, chance(world, 10) ? 12 : 4);
    const struct container *known = ledger_find(&world->ledger, thing->id);
    if (known != NULL && known->stage == STAGE_LIVE)
        nri_cpuset_format(known->cpus, before, sizeof before);
    const int code = pinner_resize(&world->ledger, &world->rules, &told, wanted, world->now, text);
    const struct container *container = ledger_find(&world->ledger, thing->id);
    if (container == NULL || container->stage != STAGE_LIVE)
        return true;
    nri_cpuset_format(container->cpus, after, sizeof after);
    pinner_note(container, thing->note, sizeof thing->note);
    if (code != 0) {
        world->refusals++;
        assert_string_not_equal(text, "");
        if (known != NULL)
            assert_string_equal(before, after);
        send_update(world); /* others may have expired */
        return false;
    }
    thing->wanted = wanted;
    world->resizes += strcmp(before, after) != 0;
    if (container->kind == KIND_EXCLUSIVE)
        assert_int_equal(nri_cpuset_count(container->cpus), wanted);
    return true;
}

static void update(struct world *world, struct thing *thing)
{
    char cpus[64] = "";
    const struct told told = thing_tell(thing);
    if (thing->life != LIFE_RUNNING && thing->life != LIFE_CREATED)
        return;
    if (chance(world, 30) && !resize(world, thing))
        return;
    if (chance(world, 30))
        draw_cpus(world, cpus, sizeof cpus);
    pinner_update(&world->ledger, &world->rules, &told, cpus, world->now);
    if (cpus[0] != '\0')
        memcpy(thing->actual, cpus, sizeof thing->actual);
    apply_reply(world, "");
}

static void stop(struct world *world, struct thing *thing)
{
    if (thing->life == LIFE_CREATING)
        return;
    thing->life = LIFE_STOPPED;
    pinner_stop(&world->ledger, thing->id);
    apply_reply(world, "");
}

static void remove_container(struct world *world, struct thing *thing)
{
    if (thing->life == LIFE_CREATING)
        return;
    pinner_remove(&world->ledger, thing->id);
    thing_forget(world, thing, true);
    send_update(world);
}

static void end_pod(struct world *world, const char *pod)
{
    char name[16];
    memcpy(name, pod, sizeof name);
    pinner_stop_pod(&world->ledger, name);
    for (size_t i = 0; i < WORLD_CONTAINERS; i++) {
        struct thing *thing = &world->things[i];
        const struct container *known = ledger_find(&world->ledger, thing->id);
        if (thing->life != LIFE_NONE && strcmp(thing->pod, name) == 0)
            thing_forget(world, thing, known != NULL);
    }
    pinner_remove_pod(&world->ledger, name);
    world->next_pod++;
    send_update(world);
}

/* An event of a container that was removed. */
static void late(struct world *world)
{
    char text[PINNER_TEXT];
    struct thing ghost = {.mark = "exclusive", .actual = "1-2", .wanted = 2};
    if (world->next_gone == 0)
        return;
    const uint64_t end = world->next_gone < WORLD_GONE ? world->next_gone : WORLD_GONE;
    memcpy(ghost.id, world->gone[draw(world, end)], sizeof ghost.id);
    const struct told told = thing_tell(&ghost);
    switch (draw(world, 4)) {
    case 0:
        pinner_stop(&world->ledger, ghost.id);
        return;
    case 1:
        pinner_remove(&world->ledger, ghost.id);
        return;
    case 2:
        pinner_update(&world->ledger, &world->rules, &told, "0", world->now);
        return;
    default:
        pinner_confirm(&world->ledger, &world->rules, &told, true, world->now, text);
        return;
    }
}

/* ---- restarts ---- */

static void synchronize(struct world *world)
{
    struct told told[WORLD_CONTAINERS];
    size_t count = 0;
    for (size_t i = 0; i < WORLD_CONTAINERS; i++) {
        struct thing *thing = &world->things[i];
        if (thing->life == LIFE_CREATED || thing->life == LIFE_RUNNING)
            told[count++] = thing_tell(thing);
        else if (thing->life == LIFE_CREATING)
            thing->note[0] = '\0'; /* the state cache keeps those of the containers that are told */
    }
    pinner_synchronize(&world->ledger, told, count, world->now);
    world->doubt = false;
    apply_reply(world, "");
}

/* Containers that came to be without the plugin. */
static void appear_unseen(struct world *world)
{
    struct thing *thing = thing_appear(world);
    if (thing == NULL)
        return;
    thing->life = chance(world, 50) ? LIFE_CREATED : LIFE_RUNNING;
    memcpy(thing->actual, thing->asked, sizeof thing->actual);
}

static void crash_plugin(struct world *world)
{
    world->crashes++;
    /* Whatever is on its way arrives or does not. */
    for (size_t i = 0; i < WORLD_CONTAINERS; i++) {
        struct thing *thing = &world->things[i];
        if (thing->in_call && chance(world, 50))
            memcpy(thing->actual, thing->called, sizeof thing->actual);
        thing->in_call = false;
    }
    world->calling = false;
    world->next_gone = 0; /* what was late for the connection before cannot come on the new one */
    ledger_fini(&world->ledger);
    start_plugin(world);
    if (chance(world, 15)) {
        /* The checkpoint is lost. */
        for (size_t i = 0; i < WORLD_CONTAINERS; i++)
            world->things[i].note[0] = '\0';
    }
    for (uint64_t more = draw(world, 3); more > 0; more--)
        appear_unseen(world);
    for (uint64_t fewer = draw(world, 3); fewer > 0; fewer--) {
        struct thing *thing = thing_any(world);
        if (thing != NULL)
            thing_forget(world, thing, false);
    }
    synchronize(world);
}

/* CreateContainer is answered by nobody: the runtime goes on without the plugin. */
static void crash_in_create(struct world *world)
{
    struct container *made;
    char text[PINNER_TEXT];
    struct thing *thing = thing_appear(world);
    if (thing == NULL)
        return;
    struct told told = thing_tell(thing);
    told.cpus = thing->asked;
    if (pinner_create(&world->ledger, &world->rules, &told, world->now, &made, text) == 0 &&
        chance(world, 50))
        pinner_note(made, thing->note, sizeof thing->note);
    thing->life = chance(world, 50) ? LIFE_RUNNING : LIFE_CREATING;
    memcpy(thing->actual, thing->asked, sizeof thing->actual);
    crash_plugin(world);
}

static void restart_runtime(struct world *world)
{
    world->restarts++;
    end_update(world, END_LOST);
    for (size_t i = 0; i < WORLD_CONTAINERS; i++) {
        struct thing *thing = &world->things[i];
        if (thing->life == LIFE_CREATING || (thing->life != LIFE_NONE && chance(world, 15)))
            thing_forget(world, thing, false);
    }
    synchronize(world);
}

/* Two audits, so that what the first one suspects the second one can prove. */
static void audit(struct world *world)
{
    nri_cpuset *seen = machine_set("");
    for (size_t i = 0; i < 2 * WORLD_CONTAINERS; i++) {
        const struct thing *thing = &world->things[i % WORLD_CONTAINERS];
        const struct container *container = ledger_find(&world->ledger, thing->id);
        if (thing->life == LIFE_NONE || container == NULL)
            continue;
        assert_int_equal(nri_cpuset_parse(seen, thing->actual, NULL), 0);
        pending_audited(&world->ledger, thing->id, container->serial, seen);
    }
    nri_cpuset_free(seen);
    pinner_expire(&world->ledger, &world->rules, world->now);
    send_update(world);
}

static void step_container(struct world *world, uint64_t what)
{
    struct thing *thing = thing_any(world);
    if (thing == NULL) {
        thing = thing_appear(world);
        if (thing != NULL)
            create(world, thing);
    } else if (what < 6) {
        create(world, thing); /* repeated */
    } else if (what < 40) {
        confirm(world, thing, what < 20);
    } else if (what < 52) {
        update(world, thing);
    } else if (what < 66) {
        stop(world, thing);
    } else if (what < 78) {
        remove_container(world, thing);
    } else if (what < 80) {
        end_pod(world, thing->pod);
    }
}

void world_step(struct world *world)
{
    const uint64_t what = draw(world, 100);
    world->events++;
    world->now += draw(world, 100);
    if (what < 80)
        step_container(world, what);
    else if (what < 85)
        late(world);
    else if (what < 91)
        end_update(world, END_SOMEHOW);
    else if (what < 94)
        audit(world);
    else if (what < 96)
        send_update(world);
    else if (what < 97)
        restart_runtime(world);
    else if (what < 98)
        crash_in_create(world);
    else
        crash_plugin(world);
}

/* ---- what must be true ---- */

const char *world_fault(struct world *world)
{
    static char text[128];
    const struct ledger *ledger = &world->ledger;
    const char *owner[64] = {0};
    for (struct container *one = NULL; (one = ledger_next(ledger, one)) != NULL;) {
        unsigned number = 0;
        if (one->kind != KIND_EXCLUSIVE)
            continue;
        for (; nri_cpuset_next(one->cpus, number, &number); number++) {
            snprintf(text, sizeof text, "CPU %u: %s and %s", number, one->id,
                     number < 64 && owner[number] != NULL ? owner[number] : "offline");
            if (number >= world->topology.count || owner[number] != NULL)
                return text;
            owner[number] = one->id;
        }
    }
    size_t shared = 0;
    for (unsigned number = 0; number < world->topology.count; number++) {
        const bool reserved = nri_cpuset_contains(world->reserved, number);
        const bool is_shared = nri_cpuset_contains(pool_shared(ledger->pool), number);
        snprintf(text, sizeof text, "CPU %u: %s, shared %d, reserved %d", number,
                 owner[number] != NULL ? owner[number] : "nobody's", is_shared, reserved);
        if (is_shared + reserved + (owner[number] != NULL) != 1)
            return text;
        shared += is_shared;
    }
    return shared > 0 ? ledger_fault(&world->ledger) : "nothing is shared";
}

/* Whether every container is on its CPUs. */
static const char *misplaced(struct world *world)
{
    static char text[256];
    char cpus[64];
    for (struct container *one = NULL; (one = ledger_next(&world->ledger, one)) != NULL;) {
        const struct thing *thing = thing_find(world, one->id);
        if (one->stage != STAGE_LIVE)
            continue;
        write_cpus(&world->ledger, one, cpus, sizeof cpus);
        snprintf(text, sizeof text, "%s should run on %s and runs on %s", one->id, cpus,
                 thing == NULL ? "nothing" : thing->actual);
        if (thing == NULL || strcmp(cpus, thing->actual) != 0)
            return text;
    }
    return NULL;
}

static void finish_calls(struct world *world)
{
    /* What has failed in the call that is under way is told again by the next one. */
    for (int call = 0; call < 2; call++) {
        send_update(world);
        while (world->calling)
            end_update(world, END_WELL);
    }
}

const char *world_settle(struct world *world)
{
    finish_calls(world);
    const char *fault = world->doubt ? NULL : misplaced(world);
    if (fault != NULL)
        return fault;
    for (int round = 0; round < 2; round++) {
        audit(world);
        finish_calls(world);
    }
    world->doubt = false;
    fault = misplaced(world);
    return fault != NULL ? fault : world_fault(world);
}

const char *world_drain(struct world *world)
{
    for (size_t i = 0; i < WORLD_CONTAINERS; i++) {
        struct thing *thing = &world->things[i];
        if (thing->life == LIFE_CREATING) {
            thing_forget(world, thing, false);
        } else if (thing->life != LIFE_NONE) {
            stop(world, thing);
            remove_container(world, thing);
        }
    }
    world->now += 2 * CONFIRM_NS;
    pinner_expire(&world->ledger, &world->rules, world->now);
    if (!nri_cpuset_equal(pool_shared(world->ledger.pool), pool_usable(world->ledger.pool)))
        return "all containers are gone, and not all CPUs are shared";
    return ledger_next(&world->ledger, NULL) == NULL ? world_fault(world)
                                                     : "a container that is gone is still known";
}
