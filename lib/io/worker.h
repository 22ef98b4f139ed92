/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that run tasks: one of them the plugin's handlers in order (NRI_DISPATCH_WORKER), several
 * what handlers offload, in no order.
 *
 * Happy path: nri_worker_queue() appends a task -> a thread takes it, runs it outside the lock, and
 * looks for the next -> with the last one done, `idle` is called. Failure modes: no thread can be
 * made (the first is made by nri_worker_start(), so that queueing cannot fail; later ones are only
 * missed); a task that never returns keeps nri_worker_fini() waiting.
 */
#ifndef NRI_IO_WORKER_H
#define NRI_IO_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "plugin/task.h"

#define NRI_WORKER_THREADS_MAX 64

struct nri_worker {
    pthread_mutex_t mutex; /* of all that follows */
    pthread_cond_t changed;
    struct nri_task *first, **end;
    size_t waiting;   /* tasks in the queue */
    unsigned running; /* tasks that are being run */
    unsigned threads; /* made */
    unsigned most;    /* threads at most */
    size_t most_waiting;
    bool ending;
    void (*idle)(void *user); /* called without the lock, on one of the threads; may be NULL */
    void *user;
    pthread_t ids[NRI_WORKER_THREADS_MAX];
};

/* NRI_E_NOMEM. */
int nri_worker_init(struct nri_worker *worker, unsigned threads, size_t most_waiting,
                    void (*idle)(void *user), void *user, struct nri_error *error);
/* Makes the first thread if there is none: NRI_E_IO. */
int nri_worker_start(struct nri_worker *worker, struct nri_error *error);
/* Appends a task, whatever waits already. After nri_worker_start(), any thread. */
void nri_worker_queue(struct nri_worker *worker, struct nri_task *task);
/* Appends a task, and makes a thread for it if all are busy. NRI_E_BUSY (as many as may wait do),
 * NRI_E_IO (there is no thread at all). Any thread. */
int nri_worker_offer(struct nri_worker *worker, struct nri_task *task);
/* Whether nothing waits or runs; true for NULL. Any thread. */
bool nri_worker_is_idle(struct nri_worker *worker);
/* Whether this is one of its threads; false for NULL. Any thread. */
bool nri_worker_is_mine(struct nri_worker *worker);
/* Runs what waits, then ends the threads. */
void nri_worker_fini(struct nri_worker *worker);

#endif
