/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node on a loop, libnri plugins beside it on the same one that write down what they are told,
 * and operations that are waited for: for events, never for time.
 */
#ifndef NRI_TESTS_NRICTL_RIG_H
#define NRI_TESTS_NRICTL_RIG_H

#include <uv.h>

#include <nri/nri.h>

#include "load.h"
#include "node.h"
#include "shell.h"

#define RIG_PATIENCE_MS 60000 /* for what must happen: a slow machine is no failure */
#define RIG_LINES       256

struct rig {
    uv_loop_t loop;
    struct node *node;
    struct node_options options; /* of rig_start() */
    int ready, connected, lost, failed, closed, evicted, updated, child_ended, outcomes;
    int child_status;
    char evicted_id[64], evicted_reason[64], evicted_by[64];
    char failed_ids[256]; /* of the last update of a plugin's own accord, joined by commas */
    bool sync;            /* it was the answer to a Synchronize */
    struct load *load;    /* NULL: none */
    struct shell *shell;  /* the same */
};
int rig_setup(void **state);
int rig_teardown(void **state); /* the node is closed; no process and no descriptor is left */
void rig_start(struct rig *rig);
void rig_close(struct rig *rig); /* the node; what else there is stays */
void rig_turn(struct rig *rig, uint64_t since, const char *what);
uint64_t rig_now(void);
#define rig_wait(rig, condition)                                                                   \
    for (uint64_t rig_since = rig_now(); !(condition);)                                            \
    rig_turn((rig), rig_since, #condition)

/* ---- operations ---- */

/* What became of one. */
struct deed {
    bool over;
    int code;
    bool done;
    char text[256], events[512], not_updated[256]; /* joined by blanks */
};
void deed_done(struct node *node, const struct node_result *result, void *user);
/* Waits for it; fails the test unless it is done with code 0. */
void deed_good(struct rig *rig, struct deed *deed);
void deed_bad(struct rig *rig, struct deed *deed, int code);

nri_pod *rig_pod(const char *id);
nri_container *rig_container(const char *id); /* PATH=/bin, shares 100 */
/* A pod sandbox, and a container in it that runs. */
void rig_run_pod(struct rig *rig, const char *id);
void rig_run(struct rig *rig, const char *pod, const char *container);
const nri_container *rig_get(struct rig *rig, const char *container);
uint64_t rig_shares(const nri_container *container); /* 0: none */

/* ---- plugins ---- */

struct guest {
    nri_plugin *plugin;
    struct nri_plugin_options options; /* of guest_start() */
    bool closed;
    int count, synchronized;
    char lines[RIG_LINES][160]; /* "CreateContainer c1 STATE EXIT_CODE", "RunPodSandbox pod1" */
    int (*act)(struct guest *guest, nri_request *request); /* in each handler; NULL: nothing */
    nri_request *kept;
    void *user;
};
void guest_start(struct guest *guest, struct rig *rig, const char *index, const char *name);
void guest_close(struct guest *guest, struct rig *rig);
/* How many lines begin so, and where the first is; -1: none. */
int guest_count(const struct guest *guest, const char *begin);
int guest_at(const struct guest *guest, const char *begin);

#endif
