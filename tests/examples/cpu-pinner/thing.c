/* SPDX-License-Identifier: Apache-2.0 */
#include "thing.h"

#include <stdio.h>
#include <string.h>

#include "world.h"

/* splitmix64 */
uint64_t draw(struct world *world, uint64_t below)
{
    uint64_t mixed = world->random += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return (mixed ^ mixed >> 31) % below;
}

bool chance(struct world *world, unsigned percent)
{
    return draw(world, 100) < percent;
}

struct thing *thing_find(struct world *world, const char *id)
{
    for (size_t i = 0; i < WORLD_CONTAINERS; i++) {
        if (world->things[i].life != LIFE_NONE && strcmp(world->things[i].id, id) == 0)
            return &world->things[i];
    }
    return NULL;
}

struct thing *thing_any(struct world *world)
{
    struct thing *thing = &world->things[draw(world, WORLD_CONTAINERS)];
    return thing->life != LIFE_NONE ? thing : NULL;
}

struct told thing_tell(const struct thing *thing)
{
    return (struct told){.id = thing->id,
                         .pod = thing->pod,
                         .name = thing->name,
                         .cgroup = "",
                         .cpus = thing->actual,
                         .note = thing->note,
                         .mark = thing->mark,
                         .wanted = thing->wanted};
}

void thing_forget(struct world *world, struct thing *thing, bool told)
{
    if (told) {
        memcpy(world->gone[world->next_gone % WORLD_GONE], thing->id, sizeof thing->id);
        world->next_gone++;
    }
    *thing = (struct thing){.mark = ""};
}

void draw_cpus(struct world *world, char *text, size_t size)
{
    const unsigned first = (unsigned)draw(world, world->topology.count);
    const unsigned more = (unsigned)draw(world, 3);
    if (more > 0)
        snprintf(text, size, "%u-%u", first, first + more);
    else
        snprintf(text, size, "%u", first);
}

struct thing *thing_appear(struct world *world)
{
    struct thing *thing = &world->things[draw(world, WORLD_CONTAINERS)];
    if (thing->life != LIFE_NONE)
        return NULL;
    *thing = (struct thing){.life = LIFE_CREATING, .mark = ""};
    snprintf(thing->id, sizeof thing->id, "c%u", world->next_id++);
    if (chance(world, 40))
        world->next_pod++;
    snprintf(thing->pod, sizeof thing->pod, "p%u", world->next_pod);
    /* One name may come again in its pod: another attempt, if the first one failed. */
    snprintf(thing->name, sizeof thing->name, "n%u", (unsigned)draw(world, 1000000));
    if (chance(world, 60))
        thing->wanted = 1 + draw(world, chance(world, 10) ? 12 : 3);
    if (chance(world, 8))
        draw_cpus(world, thing->asked, sizeof thing->asked);
    return thing;
}
