/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The structures of the runtime side, and what its files call of one another.
 */
#ifndef NRI_RUNTIME_INTERNAL_H
#define NRI_RUNTIME_INTERNAL_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/buf.h"
#include "proto/nri.pb-c.h"
#include "runtime/core.h"
#include "runtime/failure.h"
#include "runtime/keys.h"
#include "runtime/merge.h"
#include "runtime/parts.h"
#include "runtime/request.h"
#include "runtime/stats.h"

#define NRI_RT_MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type

/* ---- an event ---- */

/* One question to one plugin. */
struct nri_rt_ask {
    struct nri_rt_ask *next, *previous; /* in the plugin's list of what waits, or of what is out */
    struct nri_rt_ask *timed_next, *timed_previous; /* in that of what waits and gives up */
    nri_runtime_plugin *plugin;                     /* NULL: not asked at the moment */
    nri_outcome *event;  /* NULL: the event went on without waiting for this plugin */
    enum nri_event what; /* the event, or ValidateContainerAdjustment */
    bool out;            /* the request was sent */
    bool state_change;   /* as StateChange */
    uint64_t queued_at, sent_at;
    uint64_t give_up_at; /* while the plugin is not ready; NRI_NEVER: never */
    /* Without event: the one that it is of until that is done, in whose list it is, and what it is
     * about, in memory of its own. */
    nri_outcome *of;
    struct nri_rt_ask *later_next, *later_previous;
    struct nri_arena arena;
    struct nri_rt_subject subject;
};

/* ---- which events may not overlap ---- */

enum nri_rt_line_of {
    NRI_RT_LINE_ALL, /* of a pod sandbox with its containers */
    NRI_RT_LINE_OWN, /* of a container, or of a pod sandbox alone */
    NRI_RT_LINES
};

struct nri_rt_line {
    nri_outcome *first, *last;
};

struct nri_rt_in_line {
    nri_outcome *next, *previous;
};

/* Of a container, which has `own` alone, or of a pod sandbox. */
struct nri_rt_lane {
    struct nri_rt_lane *next; /* in its bucket, or of the spare ones */
    uint64_t hash;
    struct nri_rt_line all, own;
};

struct nri_rt_lanes {
    struct nri_rt_lane **buckets, *spare;
    size_t bucket_count, count, spare_count;
};

enum nri_rt_stage {
    NRI_RT_WAITING,    /* for an older event of the same pod sandbox or container */
    NRI_RT_CHAIN,      /* with one plugin after the other */
    NRI_RT_VALIDATING, /* with all validators at once */
    NRI_RT_DONE        /* `done` is to be called, or was */
};

struct nri_rt_change {
    const char *key, *container, *other;
    int field;
    enum nri_change_action action;
};

struct nri_rt_step {
    struct nri_rt_step *next;
    const char *plugin, *text;
    enum nri_event event;
    enum nri_step_result result;
    int code;
    uint64_t wait, latency;
    struct nri_rt_change *changes; /* an array: there are as many as a plugin likes */
    size_t change_count;
    const ProtobufCMessage *reply; /* one of those that are kept; NULL: none is merged */
};

/* What an event is about, in the outcome's own memory: the objects themselves go after `done`. */
struct nri_rt_about {
    const char *pod, *pod_name, *pod_namespace;
    const char *container, *container_name; /* NULL for an event of a pod sandbox alone */
};

/* An event and what became of it. */
struct nri_outcome {
    struct nri_alloc alloc;
    atomic_uint references;
    struct nri_rt *rt;                   /* NULL once it is done */
    nri_outcome *next, *previous;        /* in rt->events, or rt->spare */
    struct nri_rt_lane *lane, *pod_lane; /* from the call to the end */
    struct nri_rt_in_line in_line[NRI_RT_LINES];
    struct nri_rt_ask *later; /* what plugins are to be told of it once they are synchronised */
    nri_outcome *next_todo;
    bool todo;
    uint64_t number;
    struct nri_rt_about about;
    /* The caller's, and NULL from when `done` is called: these and `pristine` and `metadata`. */
    struct nri_rt_subject subject;              /* as the next plugin is to see it */
    const NRI_RT_MESSAGE(Container) * pristine; /* as it was told */
    const char *const *metadata;
    size_t metadata_count;
    nri_runtime_done done;
    void *user;
    struct nri_arena arena;
    enum nri_rt_stage stage;
    char asked_index[3]; /* the place in the chain: of the plugin that was asked last */
    uint64_t asked_number;
    struct nri_rt_ask ask;
    struct nri_merge *merge;
    struct nri_rt_request request;
    struct nri_rpc_call **kept; /* replies that the merge stands on */
    size_t kept_count, kept_room, kept_bytes;
    struct nri_rt_ask *validators;
    size_t validators_out;
    struct nri_rt_step *steps, **steps_end;
    size_t step_count;
    int code;
    const char *text, *plugin;
    const nri_adjustment *adjustment;
    const nri_updates *updates;
    const NRI_RT_MESSAGE(LinuxResources) * resources_result;
    const NRI_RT_MESSAGE(OwningPlugins) * owners;
};

/* ---- a plugin ---- */

enum nri_rt_state {
    NRI_RT_REGISTERING,
    NRI_RT_CONFIGURING,
    NRI_RT_READY_TO_SYNC, /* in the chain; older events are still under way */
    NRI_RT_SYNCING,
    NRI_RT_ACTIVE,
    NRI_RT_SHUTTING_DOWN,
    NRI_RT_GONE
};

struct nri_builtin;

struct nri_rt_list {
    struct nri_rt_ask *first, *last;
};

struct nri_runtime_plugin {
    struct nri_rt *rt;
    nri_runtime_plugin *next, *previous; /* in rt->plugins, by index and number */
    uint64_t number;                     /* in the order of coming */
    struct nri_arena arena;              /* of the texts */
    enum nri_plugin_origin origin;
    const char *name, *id, *config, *peer, *nri_version;
    char index[3];
    bool named; /* a name of its own is not taken from RegisterPlugin */
    int64_t pid;
    void *driver;
    struct nri_builtin *builtin;
    struct nri_rpc *rpc;
    enum nri_rt_state state;
    uint64_t since;       /* when that state began */
    uint64_t first_event; /* older events do not know the plugin */
    uint64_t registration_deadline;
    uint32_t events;
    bool dedicated;      /* it knows the methods of NRI 0.12 */
    bool connected_told; /* plugin_connected was called */
    bool came;           /* plugin_connected is to be called */
    bool closing;        /* should_close */
    bool ended;
    struct nri_error failure; /* why it closes */
    struct nri_parts *parts;  /* of its Synchronize */
    size_t part;
    uint64_t part_sent_at;
    struct nri_rt_list waiting, out;
    struct nri_rt_list timed; /* of what waits that gives up, the earliest first */
    size_t out_count, waiting_count, detached_bytes;
    nri_runtime_update *updates; /* of its own, not answered yet */
};

struct nri_runtime_update {
    nri_runtime_update *next, *previous;
    nri_runtime_plugin *plugin; /* NULL: it is gone */
    struct nri_rt *rt;
    struct nri_rpc_call *call; /* that is answered; NULL of a Synchronize */
    struct nri_rpc_call *kept; /* the reply to Synchronize */
    struct nri_arena arena;
    NRI_RT_MESSAGE(ContainerUpdate) * *list;
    size_t count;
    bool *failed;
    /* By container id, made by the first nri_runtime_update_fail(): where each is last in `list`,
     * and for each where the same id is before it. */
    struct nri_keys by_id;
    size_t *before;
    int unsaid; /* not 0: there was no memory to say what failed, so that all does */
    nri_updates *view;
    bool running;     /* its operation is */
    bool completed;   /* in there */
    size_t abandoned; /* bytes that count as rt->abandoned: its plugin is gone */
};

/* ---- the core ---- */

struct nri_rt {
    struct nri_rt_config config; /* its texts are texts of base/text.h in `arena` */
    struct nri_alloc alloc;
    struct nri_arena arena;
    struct nri_log *log;
    uint64_t now;
    uint64_t seed[2];
    nri_runtime_plugin *plugins, *plugins_last;
    nri_runtime_update
        *orphans; /* updates that nobody has answered yet, and whose plugin is gone */
    nri_runtime_plugin *graveyard; /* ended, and freed when nothing of theirs runs any more */
    size_t abandoned;              /* what the orphans take, in bytes */
    size_t plugin_count;
    uint64_t next_plugin, next_event;
    nri_outcome *events, *events_last; /* under way, in the order of the calls */
    size_t event_count;
    struct nri_rt_lanes lanes;
    nri_outcome *todo, **todo_end; /* events that can go a step further */
    nri_outcome *spare;            /* done and unused, for the next event */
    size_t spare_count;
    struct nri_failures failures;
    struct nri_rt_stats stats;
    unsigned depth; /* of calls to the user's functions */
    size_t holds, driver_holds;
    uint64_t held_since;
    bool hold_reported;
    bool stopping;
    uint64_t stop_at;
};

#define nri_rt_log(rt, level, ...) nri_log_write((rt)->log, (rt)->now, (level), NULL, __VA_ARGS__)
/* About a plugin, and an event where `name` is not NULL. */
#define nri_rt_plugin_log(about_plugin, name, level, ...)                                          \
    nri_log_write((about_plugin)->rt->log, (about_plugin)->rt->now, (level),                       \
                  &(const struct nri_log_about){.event = (name), .plugin = (about_plugin)->id},    \
                  __VA_ARGS__)

/* core.c */
void nri_rt_wake(struct nri_rt *rt);
/* Takes what time it is, unless it knows of a later one: what a caller read before the functions of
 * the user ran would make times negative. */
void nri_rt_take_time(struct nri_rt *rt, uint64_t now);
/* Around each call of a function of the user, which may take its time: what is asked after it is
 * asked later. */
void nri_rt_enter_user(struct nri_rt *rt);
void nri_rt_leave_user(struct nri_rt *rt);
uint64_t nri_rt_after(uint64_t now, uint64_t time); /* NRI_NEVER rather than an overflow */

/* plugin.c */
const char *nri_rt_plugin_label(const nri_runtime_plugin *plugin); /* id, or the peer */
void nri_rt_plugin_insert(nri_runtime_plugin *plugin);             /* by index and number */
void nri_rt_plugin_free(nri_runtime_plugin *plugin);
/* Takes in what its rpc could not tell by a result. */
void nri_rt_plugin_check(nri_runtime_plugin *plugin);
bool nri_rt_plugin_is_in_chain(const nri_runtime_plugin *plugin);

/* register.c */
void nri_rt_request(void *user, struct nri_rpc_call *call); /* nri_rpc_config.request */

/* sync.c */
/* Takes what there is to tell to the plugins that wait for it, if it is time. */
void nri_rt_sync_turn(struct nri_rt *rt);
/* In a hold: events that began up to now are older than any sync after it, and go on without the
 * plugins that wait for one. */
void nri_rt_sync_pass(struct nri_rt *rt);
uint64_t nri_rt_sync_deadline(const struct nri_rt *rt);

/* update.c */
void nri_rt_update_request(nri_runtime_plugin *plugin, struct nri_rpc_call *call);
void nri_rt_update_sync(nri_runtime_plugin *plugin, const struct nri_rpc_result *result);
void nri_rt_update_orphan(nri_runtime_plugin *plugin); /* it goes; what it asked for stays open */
void nri_rt_update_free_orphans(struct nri_rt *rt);

/* event.c */
nri_outcome *nri_rt_event_new(struct nri_rt *rt);
void nri_rt_event_todo(nri_outcome *event);
/* It is done, with what is in there, or with an error (code not 0; the first stays). */
void nri_rt_event_done(nri_outcome *event);
int nri_rt_event_fail(nri_outcome *event, int code, const char *plugin, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void nri_rt_event_run(nri_outcome *event);                       /* a step further, of rt->todo */
void nri_rt_event_finish(struct nri_rt *rt, nri_outcome *event); /* calls `done` */
void nri_rt_event_destroy(nri_outcome *event);

/* lane.c */
bool nri_rt_lane_enter(nri_outcome *event); /* false without memory */
/* No older event is under way that it may not overlap with. */
bool nri_rt_lane_is_free(const nri_outcome *event);
void nri_rt_lane_leave(nri_outcome *event); /* what waited for it alone is to run */
void nri_rt_lanes_fini(struct nri_rt *rt);

/* chain.c */
void nri_rt_chain_advance(nri_outcome *event); /* to the next plugin, or past the last */
/* A reply or its failure. */
void nri_rt_chain_answer(struct nri_rt_ask *ask, const struct nri_rpc_result *result);

/* validate.c */
void nri_rt_validate_start(nri_outcome *event);
void nri_rt_validate_answer(struct nri_rt_ask *ask, const struct nri_rpc_result *result);

/* ask.c */
void nri_rt_ask_queue(struct nri_rt_ask *ask, nri_runtime_plugin *plugin, enum nri_event what,
                      uint64_t give_up_at);
/* For a plugin that is being synchronised: it is told later, and the event goes on. NRI_E_NOMEM. */
int nri_rt_ask_later(nri_runtime_plugin *plugin, nri_outcome *event);
/* Events that wait for the plugin go on without it. */
void nri_rt_ask_pass(nri_runtime_plugin *plugin);
/* What there is is about to be told: what is over of the events that the plugin was to be told of
 * later is in there. */
void nri_rt_ask_forget_told(nri_runtime_plugin *plugin);
void nri_rt_ask_over(nri_outcome *event);         /* what waits of it is of an event that is over */
void nri_rt_ask_send(nri_runtime_plugin *plugin); /* as many as it may have */
void nri_rt_ask_tick(nri_runtime_plugin *plugin); /* gives up what waits too long */
void nri_rt_ask_cancel(struct nri_rt_ask *ask);   /* takes it out of what waits */
void nri_rt_ask_end(nri_runtime_plugin *plugin);  /* the plugin is gone: all fail */
uint64_t nri_rt_ask_deadline(const nri_runtime_plugin *plugin);

/* methods.c */
/* The method of an event, or StateChange. */
unsigned nri_rt_method(enum nri_event event, bool state_change);
bool nri_rt_has_state_change(enum nri_event event);
bool nri_rt_is_notification(enum nri_event event);

/* record.c */
/* A step of the record; NULL without memory, and then the record has a gap. */
struct nri_rt_step *nri_rt_record(nri_outcome *event, const struct nri_rt_ask *ask,
                                  const nri_runtime_plugin *plugin, enum nri_step_result result,
                                  int code, const char *text);
void nri_rt_record_changes(nri_outcome *event, struct nri_rt_step *step);

/* builtin.c */
/* Moves what either side has for the other; whether there was anything. The plugin may be gone. */
bool nri_builtin_pump(nri_runtime_plugin *plugin, uint64_t now);
bool nri_builtin_has_work(const nri_runtime_plugin *plugin);
void nri_builtin_free(struct nri_builtin *builtin, uint64_t now);
uint64_t nri_builtin_deadline(const struct nri_builtin *builtin);

#endif
