/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a node, as its files share it: node.c is its life, node_runtime.c what the runtime
 * asks and tells, operation.c how operations are done in turn, operation_plan.c what each of them
 * is, node_operations.c how they are asked for, node_child.c its plugins.
 */
#ifndef NRICTL_NODE_INSIDE_H
#define NRICTL_NODE_INSIDE_H

#include "base/error.h"
#include "node.h"
#include "socket_directory.h"
#include "stored.h"

enum node_phase {
    NODE_NEW,
    NODE_STARTING, /* until the runtime is ready */
    NODE_READY,
    NODE_LEAVING, /* a restart: the runtime ends */
    NODE_AWAY,    /* and is away */
    NODE_FAILED,
    NODE_CLOSING
};

struct slow_reader;

struct node {
    uv_loop_t *loop;
    struct node_watch watch;
    void *user;
    struct imitate imitate;
    bool imitates;
    char *socket;
    struct socket_directory directory; /* that of the socket, when it is ours */
    char *plugin_directory, *config_directory, *validator_config;
    struct nri_failure_policy failure;
    bool has_failure;
    uint64_t registration_timeout_ms, request_timeout_ms;
    nri_log_fn log;
    void *log_user;
    int log_level;

    enum node_phase phase;
    nri_runtime *runtime;
    uv_timer_t kick, away;
    size_t open; /* handles that libuv has not closed, and the runtime */
    bool kicked;
    struct nri_error error;
    struct store store;
    struct store_pod *runnable, *runnable_end;
    struct operation *operations, *oldest; /* all, the newest first */
    struct operation *loose, *loose_end;   /* those of no pod sandbox */
    size_t pending;
    uint64_t event_nanoseconds; /* of the last outcome */
    uint32_t next_pid;
    uint64_t away_ms;
    node_done restarted;
    void *restarted_user;
    struct child *children;
    struct slow_reader *slow_readers;
    void (*closed)(void *user);
    void *closed_user;
};

/* ---- operation.c ---- */

enum operation_kind {
    OPERATION_RUN_POD,
    OPERATION_UPDATE_POD,
    OPERATION_STOP_POD,
    OPERATION_REMOVE_POD,
    OPERATION_CREATE,
    OPERATION_START,
    OPERATION_UPDATE,
    OPERATION_STOP,
    OPERATION_EXIT,
    OPERATION_REMOVE
};

struct operation_step {
    enum nri_event event;
    struct store_container *container; /* held; NULL: it is about the pod sandbox */
};

struct operation {
    struct operation *next; /* of the same pod sandbox */
    struct operation *all_next, *all_previous;
    struct node *node;
    enum operation_kind kind;
    struct store_pod *pod;             /* held; NULL: there is none such */
    struct store_container *container; /* held; NULL */
    node_done done;
    void *user;
    nri_container *update; /* has the resources to be set */
    nri_pod *pod_update;   /* has the resources and the overhead */
    int32_t exit_code;
    char *reason; /* of an eviction */

    struct operation_step *steps;
    size_t step_count, step_at, step_room;
    bool sent;             /* the event of steps[step_at] is under way */
    bool parked;           /* it waits for the runtime to come back */
    struct snapshot *told; /* what that event is about */
    int code;
    bool failed; /* it is not done */
    char *text;
    nri_outcome **outcomes;
    uint64_t *event_nanoseconds; /* of each of them */
    uint64_t sent_at;
    size_t outcome_count;
    char **not_updated;
    size_t not_updated_count;
    uint64_t began;
};

/* Makes an operation; NULL: no memory. `pod` and `container` may be NULL. */
struct operation *operation_new(struct node *node, enum operation_kind kind, struct store_pod *pod,
                                struct store_container *container, node_done done, void *user);
void operation_free(struct operation *operation); /* one that was not queued */
void operation_queue(struct operation *operation);
/* The first failure stays. Returns the code. */
int operation_fail(struct operation *operation, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* At the end of the steps; false, and it has failed, without memory. */
bool operation_add_step(struct operation *operation, enum nri_event event,
                        struct store_container *container);
void operation_drop_steps(struct operation *operation); /* those that are still to come */
void operation_note_not_updated(struct operation *operation, const char *id);
void operation_kick(struct node *node);   /* has a turn of the loop look at what may begin */
void operation_resume(struct node *node); /* the runtime is back */
void operation_end_all(struct node *node);

/* ---- operation_plan.c ---- */

/* Its steps, or its failure. */
void operation_plan(struct operation *operation);
/* What is so before an event is sent, and what becomes of it; `outcome` is NULL when the runtime
 * does not send it. */
void operation_before(struct operation *operation, const struct operation_step *step);
void operation_after(struct operation *operation, const struct operation_step *step, int code,
                     nri_outcome *outcome);

/* ---- node_runtime.c ---- */

int node_make_runtime(struct node *node, nri_error **error);
/* Applies an update of a plugin's; false: it is not possible. */
bool node_apply_update(struct node *node, const nri_update *update);
void node_evict(struct node *node, const char *container_id, const char *plugin,
                const char *reason);
bool node_sends(const struct node *node, enum nri_event event);
bool node_tells_status(const struct node *node);

/* ---- node.c ---- */

void node_one_closed(struct node *node); /* one of `open` */
int64_t node_now(void);                  /* nanoseconds since 1970 */

/* ---- node_child.c, slow_reader.c ---- */

void child_connected(struct node *node, const nri_runtime_plugin *plugin);
void child_end_all(struct node *node);
void slow_reader_connected(struct node *node, const nri_runtime_plugin *plugin);
void slow_reader_end_all(struct node *node);

#endif
