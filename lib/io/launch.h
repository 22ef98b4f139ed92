/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plugins that the runtime starts: their processes, from the start to the reaping.
 *
 * Happy path: nri_child_launch() -> the process exits -> its pidfd polls readable -> it is reaped.
 * A process whose connection has ended, or whose runtime stops, has stop_timeout to exit by itself,
 * then gets SIGTERM, and after another stop_timeout SIGKILL, its process group with it. Nothing
 * here touches SIGCHLD or waits for other children of the program. Failure modes: a kernel without
 * pidfds, or no descriptor for one (the process is looked after by the timer once it is to end);
 * somebody else reaps it (it counts as gone); it does not even go after SIGKILL (logged and given
 * up).
 */
#ifndef NRI_IO_LAUNCH_H
#define NRI_IO_LAUNCH_H

#include <sys/types.h>
#include <uv.h>

#include <nri/runtime.h>

#include "base/error.h"
#include "io/discovery.h"

struct nri_connection;

enum nri_child_stage {
    NRI_CHILD_RUNS,
    NRI_CHILD_MAY_END, /* until `until`, then SIGTERM */
    NRI_CHILD_TERMED,  /* then SIGKILL */
    NRI_CHILD_KILLED,  /* then it is given up */
    NRI_CHILD_GONE     /* reaped; libuv closes its handle */
};

struct nri_child {
    struct nri_child *next, *previous;
    nri_runtime *runtime;
    struct nri_connection *connection; /* NULL: ended */
    pid_t pid;
    int pidfd; /* -1: none */
    uv_poll_t poll;
    bool polled;
    bool readable; /* since the last turn */
    bool wanted;   /* its end: the runtime closed its connection, or sent it a signal */
    enum nri_child_stage stage;
    uint64_t until, look_at; /* look_at: without a pidfd */
    char id[];               /* "NN-name" */
};

struct nri_children {
    struct nri_child *first;
    size_t count; /* not reaped */
};

/* Starts a program as a plugin, and takes the connection to it. NRI_E_IO, NRI_E_NOMEM,
 * NRI_E_PERMISSION, NRI_E_NOT_FOUND, NRI_E_BUSY: it does not run. */
int nri_child_launch(nri_runtime *runtime, const struct nri_found_plugin *plugin,
                     struct nri_error *error);
/* Its connection is over: it has some time to exit. `wanted`: the runtime ended it. */
void nri_child_disconnected(struct nri_child *child, bool wanted, uint64_t now);

/* Of all of them: */
void nri_children_stop(nri_runtime *runtime, uint64_t now); /* they have some time to exit */
void nri_children_kill(nri_runtime *runtime, uint64_t now); /* at once */
void nri_children_turn(nri_runtime *runtime, uint64_t now); /* reaps, and goes on */
uint64_t nri_children_deadline(const nri_runtime *runtime);

#endif
