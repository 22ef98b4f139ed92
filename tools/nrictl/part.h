/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of one recorded plugin: which recorded request is like one that comes now, what the
 * plugin answered, and what it asked for by itself, and when.
 *
 * Like is a request of the same event (StateChange's or by a call of its own) about the same pod
 * sandbox and container, by their names; of several the first that has not come yet. All parts of a
 * Synchronize are one request, so that it may be cut otherwise now.
 */
#ifndef NRICTL_PART_H
#define NRICTL_PART_H

#include "payload.h"
#include "roster.h"
#include "tape.h"

struct part {
    struct tape tape;
    char *
        *likes; /* of each message of the tape: what it is like; NULL unless a runtime's request */
    char **about; /* and for people, "default/web nginx" */
    size_t first; /* all requests before it have come */
    size_t call;  /* all of the plugin's own requests before it are made */
    char plugin[sizeof((struct tape *)0)->name + 16]; /* "10-logger" */
};

/* Takes the tape, whose containers go into the roster. False: no memory. */
bool part_init(struct part *part, struct tape *tape, struct roster *recorded);
void part_fini(struct part *part);

/* What a request is like; owned by the caller; NULL: no memory. */
char *part_like(const struct roster *roster, const char *method, const struct payload *payload);
/* The recorded request that this one is; it counts as come. NULL: there is none. */
const struct tape_message *part_take(struct part *part, const char *like);
/* The answer of either side to a recorded request; NULL: none was recorded. */
struct tape_message *part_answer(const struct part *part, const struct tape_message *request);
/* What the plugin is to ask for next, once all came that came before it then; NULL: nothing now. */
struct tape_message *part_next_call(struct part *part);
/* The plugin's own request on a stream, once it was made. */
const struct tape_message *part_made(const struct part *part, uint32_t stream);

#endif
