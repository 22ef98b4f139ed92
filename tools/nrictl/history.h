/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What plugins made of a container: for each of its events that change it the container before,
 * after each plugin, and what each plugin set. It does not matter where the events come from, a
 * simulated node, a recording or a running runtime: answers are merged here again, by lib/runtime.
 *
 * An event is begun with what the runtime asked for, gets the plugins' answers in their order, and
 * is ended with what became of it. All is copied into the history's arena.
 */
#ifndef NRICTL_HISTORY_H
#define NRICTL_HISTORY_H

#include <nri/nri.h>

#include "nrictl.h"
#include "view.h"

/* One thing that a plugin changed. */
struct history_change {
    int field;
    const char *key;       /* "" for none */
    const char *container; /* the id of another container; "" for the one that the event is about */
    const char *from;      /* who had set it before in this event; "" for nobody */
    enum nri_change_action action;
    const struct nri_json *before, *after; /* NULL: not there, or not known */
    bool no_effect; /* a plugin set it, and the container is as before: the runtime drops it */
    struct history_change *next;
};

/* A plugin's part of an event. */
struct history_turn {
    const char *plugin;   /* "NN-name" */
    enum nri_event event; /* ValidateContainerAdjustment of a validator */
    enum nri_step_result result;
    int code; /* of its failure, a conflict too; 0: none */
    const char *text;
    bool timed;       /* whether `latency` is known */
    uint64_t latency; /* ns */
    struct history_change *changes, **changes_end;
    size_t change_count;
    struct view_document after; /* the container with what it asked for */
    struct history_turn *next;
};

struct history_event {
    enum nri_event event; /* CreateContainer or UpdateContainer */
    const char *id, *name, *pod;
    struct view_document given; /* as the runtime made it; of an update, as it was before that */
    struct view_document asked; /* with what the runtime asks for: another one of an update only */
    struct view_document last;  /* after the last plugin so far */
    struct history_turn *turns, **turns_end;
    bool ended;
    bool unattributed; /* the plugins are not known, only what all together did */
    int code;          /* why it failed; 0: it did not */
    const char *text, *refused_by;
    struct nri_merge *merge; /* NULL: no further answer is merged */
    struct history_event *next;
};

struct history {
    struct nri_arena arena;
    struct view view;
    uint8_t merge_policy[NRI_MERGE_FIELDS];
    struct history_event *events, **events_end;
    struct nri_error error; /* of the last function that returned a code */
};

/* What a history is made with: that the runtime is one in Go, and its policy by enum nri_field
 * (NULL: nothing special). NRI_E_IO: no random numbers. */
/* (history_init() and history_end() are names of libedit's, which nrictl links.) */
int history_open(struct history *history, bool go_compatible, const uint8_t *merge_policy);
void history_fini(struct history *history);

/* All below: 0; NRI_E_NOMEM, NRI_E_LIMIT; history->error has a text. */

/* An event is asked: `resources` of an update, else NULL. An update goes on from the last view of
 * the container, where the history has one. */
int history_begin(struct history *history, enum nri_event what,
                  const Nri__Pkg__Api__V1alpha1__PodSandbox *pod,
                  const Nri__Pkg__Api__V1alpha1__Container *container,
                  const Nri__Pkg__Api__V1alpha1__LinuxResources *resources,
                  struct history_event **event);

struct history_answer {
    const char *plugin;
    enum nri_event event;
    enum nri_step_result result;
    int code;
    const char *text; /* NULL: "" */
    const ProtobufCMessage
        *reply; /* CreateContainerResponse, UpdateContainerResponse; NULL: none */
    bool timed;
    uint64_t latency;
};
int history_answer(struct history *history, struct history_event *event,
                   const struct history_answer *answer);
/* `code` and `text` unless what the answers came to says it already. */
int history_conclude(struct history *history, struct history_event *event, int code,
                     const char *text, const char *plugin);
/* The last event of a container, by id; NULL: there is none. */
struct history_event *history_last(const struct history *history, const char *id);

/* The answers of an outcome, and its end, into the event that was begun last for its container; one
 * that changes no container, or was not begun, is none of the history's. */
int history_outcome(struct history *history, const nri_outcome *outcome);

/* A whole event as a validator is told of it: a turn for each plugin that was asked, with what it
 * owns; `after` of all is the end (history_owners.c). */
int history_validated(struct history *history,
                      const Nri__Pkg__Api__V1alpha1__ValidateContainerAdjustmentRequest *request);

/* Leaves only events of the containers with that id (or the beginning of one) or name; NULL: the
 * first container alone. False: there is none. */
bool history_select(struct history *history, const char *container);

#endif
