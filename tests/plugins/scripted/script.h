/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A script: rules that say what is done with an event. doc/scripted.md describes the file.
 *
 * All that a script says is checked when it is read: adjustments and updates are merged once into
 * objects that nobody sends, so that what is wrong is told with its place in the file.
 */
#ifndef SCRIPTED_SCRIPT_H
#define SCRIPTED_SCRIPT_H

#include <nri/nri.h>

#define SCRIPT_TEXT 1024 /* of an error, with its NUL */

/* Unsolicited updates that are sent one after another. */
struct script_entry {
    nri_updates *updates;
    int64_t count, timeout_ms, delay_ms; /* a time-out of 0 is the library's */
};

struct script_rule {
    enum nri_event event;
    char *container; /* its id; NULL: any */
    bool first;      /* used once only */
    bool used;       /* and it was */
    bool stop;
    bool echo_annotations;
    int64_t sleep_ms;
    int64_t defer_ms; /* -1: answered at once */
    char *error;
    char *adjust;     /* ContainerAdjustment */
    char *update;     /* {"update": [...]} */
    char *update_all; /* what follows the id in a ContainerUpdate: members, without braces */
    struct script_entry call; /* no updates: none is made */
    struct script_entry *entries;
    size_t entry_count;
};

struct script {
    struct script_rule *rules;
    size_t count;
};

/* Reads a script. 0, or -1 with `text` (SCRIPT_TEXT bytes) saying what is wrong and where. */
int script_load(struct script *script, const char *path, char *text);
void script_free(struct script *script);

/* The rule for an event, NULL when there is none; one for the first only is used up by this. */
struct script_rule *script_match(struct script *script, enum nri_event event,
                                 const char *container);

/* Adds a rule's update_all for each container of a Synchronize. 0 or a code. */
int script_update_all(const struct script_rule *rule, nri_request *request);

#endif
