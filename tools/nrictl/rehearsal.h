/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scenario being run on a simulated node: its plugins started, its steps done one after the
 * other, its expectations looked at, and all of that kept for the report.
 */
#ifndef NRICTL_REHEARSAL_H
#define NRICTL_REHEARSAL_H

#include "load.h"
#include "node.h"
#include "scenario.h"
#include "shell.h"
#include "trace_node.h"
#include "trail.h"

/* ---- what came of it ---- */

enum result_state { RESULT_WAITING, RESULT_UNDER_WAY, RESULT_OVER };

/* Of a step. */
struct step_result {
    enum result_state state;
    bool judged; /* its expectations have been looked at */
    int code;
    const char *text; /* "" for code 0 */
    nri_outcome **outcomes;
    size_t outcome_count;
    const char **not_updated;
    size_t not_updated_count;
    uint64_t nanoseconds;
    uint64_t began;                       /* uv_hrtime() */
    size_t events_before, updates_before; /* what the trail had when it began */
};

/* Of an expectation, or of a step that had to succeed. */
struct finding {
    size_t step; /* its position */
    size_t line;
    bool held;
    const char *what; /* "adjustment env[A]" */
    const char *expected, *seen;
};

#define FINDINGS_MOST 100000

struct findings {
    struct finding *list;
    size_t count, room, failed;
    size_t lost; /* there was no room or memory for */
};

/* ---- running ---- */

struct rehearsal_options {
    const struct imitate *imitate;                            /* NULL: libnri's own */
    const char *socket, *plugin_directory, *config_directory; /* NULL: the scenario's, or none */
    const struct scenario_plugin *plugins; /* of the command line; before those of the scenario */
    size_t plugin_count;
    const char *const *wait_for; /* plugins that have to be connected before the first step */
    size_t wait_count;
    const struct load_options *load; /* in place of steps; NULL: none */
    uint64_t timeout_ms;             /* of the whole; 0: none */
    bool shell; /* the node stays when the steps are over, until the shell ends */
    bool keep;  /* the node stays when the steps are over, until a signal */
    bool verbose;
    int plugin_output; /* a descriptor for what plugins print; 0: standard error */
};

enum rehearsal_end {
    END_WHOLE,       /* all steps were done */
    END_WAIT,        /* a wait ran out: the steps behind it were not done */
    END_TIMEOUT,     /* the whole took too long */
    END_INTERRUPTED, /* by a signal */
    END_BROKEN       /* the node or a plugin did not start; it is told already */
};

/* What node's callbacks are given. */
struct step_token {
    struct rehearsal *rehearsal;
    size_t number;
};

/* A plugin that was started, once more for each start. */
struct started {
    struct started *next;
    const struct scenario_plugin *plugin;
    const struct child *child; /* NULL: it has ended */
    int status;                /* of that end */
};

struct rehearsal {
    struct nrictl *ctl;
    const struct scenario *scenario;
    struct rehearsal_options options;
    /* Called when the steps are over, while the node is still there: the report. */
    void (*over)(struct rehearsal *rehearsal, void *user);
    /* Each event before it is sent, and its outcome; may be NULL. */
    void (*asked)(const struct nri_runtime_event *event, void *user);
    void (*outcome)(const nri_outcome *outcome, void *user);
    void *user;
    struct trace_node *timeline; /* NULL: none; the caller's */

    struct nri_arena arena; /* of results and findings */
    struct step_result *results;
    struct step_token *tokens;
    struct findings findings;
    struct trail trail;
    const char **plugins; /* "NN-name" of those that were ever connected, in order */
    size_t plugin_count, plugin_room;
    size_t begun; /* steps that were begun */
    enum rehearsal_end end;

    /* While it runs. */
    uv_loop_t loop;
    uv_async_t poke;            /* something has happened: go on where it is possible */
    uv_timer_t limit, patience; /* of the whole, and of the step */
    uv_signal_t signals[2];
    struct node *node;
    size_t plugins_started;
    struct started *started; /* the last one first */
    char warning[512];       /* the last of the runtime's, until it is ready */
    bool ready, starting, out_of_patience, ending, reported;
    int code;  /* of enum nrictl_exit, for END_BROKEN */
    int after; /* what the shell ended with */
    bool stopping;
    struct load *load;
    struct shell *shell;
};

/* Runs it all; NRICTL_OK when the node ran, whatever was found, or another code after a message.
 * rehearsal_free() in any case. */
int rehearsal_run(struct rehearsal *rehearsal);
void rehearsal_free(struct rehearsal *rehearsal);

/* ---- what the files of it share ---- */

/* rehearsal.c: the steps are over. */
void rehearsal_finish(struct rehearsal *rehearsal, enum rehearsal_end end);
/* rehearsal.c: it cannot go on, which is told already. */
void rehearsal_break(struct rehearsal *rehearsal, int code);
/* rehearsal_node.c: makes and starts it; as rehearsal_run(). */
int rehearsal_make_node(struct rehearsal *rehearsal);
/* step.c: begins a step, which is over at once or later. */
void step_begin(struct rehearsal *rehearsal, size_t number);
/* step.c: looks whether a step that waits for something else may end, and ends it. */
void step_look(struct rehearsal *rehearsal, size_t number);
/* rehearsal.c */
void rehearsal_step_over(struct rehearsal *rehearsal, size_t number, int code, const char *text);
void rehearsal_step_done(struct node *node, const struct node_result *result, void *token);
int rehearsal_start_plugin(struct rehearsal *rehearsal, const struct scenario_plugin *plugin,
                           node_done done, void *user);
const char *rehearsal_keep(struct rehearsal *rehearsal, const char *text);
/* How the process of a plugin of the scenario ended that cannot come any more; NULL: it may. */
const struct started *rehearsal_ended(const struct rehearsal *rehearsal, const char *plugin);

/* judge.c: looks at all that a step expects, once it is over. */
void judge_step(struct rehearsal *rehearsal, size_t number);

/* Adds what an expectation came to; its texts are copied. */
void rehearsal_find(struct rehearsal *rehearsal, const struct finding *finding);

#endif
