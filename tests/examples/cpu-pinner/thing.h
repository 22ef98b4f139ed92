/* SPDX-License-Identifier: Apache-2.0 */
/* A container of a world, as its runtime and the kernel know it; and what is drawn by lot. */
#ifndef TEST_THING_H
#define TEST_THING_H

#include "pinner.h"

struct world;

enum life { LIFE_NONE, LIFE_CREATING, LIFE_CREATED, LIFE_RUNNING, LIFE_STOPPED };

struct thing {
    enum life life;
    char id[16], pod[16], name[16];
    size_t wanted;
    char asked[64];  /* the cpuset of CreateContainer */
    char actual[64]; /* what the kernel has; "" for none */
    char note[80];
    const char *mark;
    bool in_call;
    char called[64]; /* what the unsolicited update that is under way sets */
};

/* A number below `below`; whether something happens that does so often in a hundred. */
uint64_t draw(struct world *world, uint64_t below);
bool chance(struct world *world, unsigned percent);
/* A cpuset of up to three CPUs, some of which the machine may not have. */
void draw_cpus(struct world *world, char *text, size_t size);

/* NULL when none of that id lives. */
struct thing *thing_find(struct world *world, const char *id);
/* One that lives somehow; NULL when the one drawn does not. */
struct thing *thing_any(struct world *world);
/* A new one that is being created; NULL when there is no room where it was drawn. */
struct thing *thing_appear(struct world *world);
/* What the runtime tells of it. */
struct told thing_tell(const struct thing *thing);
/* It is gone. `told`: events of its id may still come. */
void thing_forget(struct world *world, struct thing *thing, bool told);

#endif
