/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin that connects again, and what it meets: a script on a thread of its own that plays one
 * runtime after another, and stops the plugin at its end.
 */
#ifndef NRI_TESTS_IO_STORY_H
#define NRI_TESTS_IO_STORY_H

#include "fixture.h"

#define STORY_EVENTS 128
#define STORY_LONG   3600000u /* ms: a delay that no test waits for */

struct story {
    struct fixture *fixture;
    struct nri_plugin_options options;
    nri_plugin *plugin;
    struct witness witness; /* of `ended` */
    /* What the plugin met; written on the loop's thread. */
    enum nri_event events[STORY_EVENTS];
    atomic_int seen;
    int reasons[STORY_EVENTS];
    uint64_t nexts[STORY_EVENTS]; /* nri_request_next_attempt_ms() */
    char reason_text[512];        /* the last one */
    atomic_int ends;
    atomic_int waits; /* records that name the next attempt: after an end and after a failure */
    atomic_int turns;
    int records[NRI_LOG_DEBUG + 1]; /* of the log, by level */
    char text[1024];                /* of the last one above DEBUG */
    /* What to do in a handler. */
    int (*act)(nri_request *request, struct story *story);
    /* The script, on its own thread: whether all was well. */
    bool (*script)(struct story *story);
    void *user;
    bool good;
    pthread_t thread;
};

/* A plugin at the fixture's socket that connects again, after STORY_LONG unless the options are
 * changed, so that only the watch makes it come sooner. */
void story_init(struct story *story, struct fixture *fixture, bool (*script)(struct story *story));
/* Makes the plugin, plays the script, drives the plugin to its end, closes it. Returns its result.
 */
int story_play(struct story *story, enum drive drive);
int story_count(const struct story *story, enum nri_event event);

/* For scripts. */
bool story_listen(struct story *story);  /* in place of whoever listened */
void story_silence(struct story *story); /* nobody listens, the file stays */
void story_vanish(struct story *story);  /* and the file goes */
bool story_accept(struct story *story, struct peer *peer);
/* The loop has looked at all that happened before; with handlers on the loop's thread. */
bool story_turn(struct story *story);
/* Stops the plugin and waits for its end, so that it does not come back. */
bool story_end(struct story *story, struct peer *peer);
bool story_meet(struct story *story, struct peer *peer); /* accepts, registers, synchronises */

#endif
