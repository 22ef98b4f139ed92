/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What events do to the ledger. Events may be repeated, late, or out of order: an event of a
 * container that is not known adopts it, one of a container that was removed does nothing.
 */
#ifndef PINNER_PINNER_H
#define PINNER_PINNER_H

#include "ledger.h"

#define PINNER_TEXT 1024

/* Why an event is refused, when it is not 0. */
#define PINNER_REFUSED (-1)

struct rules {
    bool share;          /* a container that cannot have its exclusive CPUs shares; else refused */
    uint64_t confirm_ns; /* how long a container that is being created holds its CPUs */
};

/* What an event tells of a container. No text is NULL. */
struct told {
    const char *id, *pod, *name, *cgroup;
    const char *cpus; /* the CPUs that the runtime has set; "" for none or unknown */
    const char *note; /* what pinner_note() said of it before; "" for nothing */
    const char *mark; /* what pinner_mark() said of it, in its annotations; "" for nothing */
    size_t wanted;    /* exclusive CPUs */
};

/* CreateContainer: *result is what runs on ledger_cpus() from now on. 0, or PINNER_REFUSED with
 * a text; nothing has changed then but that CPUs may have come back. */
int pinner_create(struct ledger *ledger, const struct rules *rules, const struct told *told,
                  uint64_t now, struct container **result, char text[PINNER_TEXT]);
/* An event that says that the container is there. `starting`: StartContainer, which may be refused
 * (PINNER_REFUSED with a text); else 0. */
int pinner_confirm(struct ledger *ledger, const struct rules *rules, const struct told *told,
                   bool starting, uint64_t now, char text[PINNER_TEXT]);
/* UpdateContainer, which asks for `cpus`, "" for no change: a container that keeps its CPUs keeps
 * these from now on, but for exclusive ones. */
void pinner_update(struct ledger *ledger, const struct rules *rules, const struct told *told,
                   const char *cpus, uint64_t now);
/* UpdateContainer, which asks for so many exclusive CPUs from now on: the container gets more,
 * gives some back, or shares; one that keeps its CPUs is left alone. 0, or PINNER_REFUSED with a
 * text; nothing has changed then. Comes before pinner_update(). */
int pinner_resize(struct ledger *ledger, const struct rules *rules, const struct told *told,
                  size_t wanted, uint64_t now, char text[PINNER_TEXT]);
/* StopContainer: the CPUs come back. */
void pinner_stop(struct ledger *ledger, const char *id);
/* RemoveContainer. */
void pinner_remove(struct ledger *ledger, const char *id);
/* StopPodSandbox: its containers that never came to be will not. */
void pinner_stop_pod(struct ledger *ledger, const char *pod);
/* RemovePodSandbox. */
void pinner_remove_pod(struct ledger *ledger, const char *pod);
/* Synchronize: these containers are there, and no others. Where CPUs are in two hands, the first
 * one keeps them. */
void pinner_synchronize(struct ledger *ledger, const struct told *told, size_t count, uint64_t now);
/* Takes the CPUs back of those that have been in creation for too long; how many. */
size_t pinner_expire(struct ledger *ledger, const struct rules *rules, uint64_t now);

/* What is to be known of the container after a restart: written to the state cache's checkpoint,
 * and what of it must be right without one, as an annotation of the container. */
void pinner_note(const struct container *container, char *text, size_t size);
const char *pinner_mark(const struct container *container);

#endif
