/* SPDX-License-Identifier: Apache-2.0 */
#include "io/worker.h"

#include <signal.h>

#include "io/socket.h"

int nri_worker_init(struct nri_worker *worker, unsigned threads, size_t most_waiting,
                    void (*idle)(void *user), void *user, struct nri_error *error)
{
    worker->first = NULL;
    worker->end = &worker->first;
    worker->waiting = 0;
    worker->running = worker->threads = 0;
    worker->most = threads < NRI_WORKER_THREADS_MAX ? threads : NRI_WORKER_THREADS_MAX;
    worker->most_waiting = most_waiting;
    worker->ending = false;
    worker->idle = idle;
    worker->user = user;
    if (pthread_mutex_init(&worker->mutex, NULL) != 0)
        return nri_error_set(error, NRI_E_NOMEM, "out of memory");
    if (pthread_cond_init(&worker->changed, NULL) != 0) {
        (void)pthread_mutex_destroy(&worker->mutex);
        return nri_error_set(error, NRI_E_NOMEM, "out of memory");
    }
    return 0;
}

static struct nri_task *take(struct nri_worker *worker)
{
    while (worker->first == NULL && !worker->ending)
        (void)pthread_cond_wait(&worker->changed, &worker->mutex);
    struct nri_task *task = worker->first;
    if (task == NULL)
        return NULL;
    worker->first = task->next;
    if (worker->first == NULL)
        worker->end = &worker->first;
    worker->waiting--;
    worker->running++;
    return task;
}

/* The task may be gone, or be in a queue again, when run() returns. */
static void *work(void *argument)
{
    struct nri_worker *worker = argument;
    struct nri_task *task;
    (void)pthread_mutex_lock(&worker->mutex);
    while ((task = take(worker)) != NULL) {
        (void)pthread_mutex_unlock(&worker->mutex);
        task->run(task);
        (void)pthread_mutex_lock(&worker->mutex);
        if (--worker->running > 0 || worker->waiting > 0 || worker->idle == NULL)
            continue;
        /* nri_worker_fini() waits for this thread, so that the worker outlives the call. */
        (void)pthread_mutex_unlock(&worker->mutex);
        worker->idle(worker->user);
        (void)pthread_mutex_lock(&worker->mutex);
    }
    (void)pthread_mutex_unlock(&worker->mutex);
    return NULL;
}

/* With the lock held. Signals are for the program's own threads. Returns an errno. */
static int add_thread(struct nri_worker *worker)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int number = pthread_create(&worker->ids[worker->threads], NULL, work, worker);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (number == 0)
        worker->threads++;
    return number;
}

int nri_worker_start(struct nri_worker *worker, struct nri_error *error)
{
    (void)pthread_mutex_lock(&worker->mutex);
    int number = worker->threads > 0 ? 0 : add_thread(worker);
    (void)pthread_mutex_unlock(&worker->mutex);
    return number == 0 ? 0 : nri_socket_error(error, number, "making a thread for handlers");
}

static void append(struct nri_worker *worker, struct nri_task *task)
{
    task->next = NULL;
    *worker->end = task;
    worker->end = &task->next;
    worker->waiting++;
    (void)pthread_cond_signal(&worker->changed);
}

void nri_worker_queue(struct nri_worker *worker, struct nri_task *task)
{
    (void)pthread_mutex_lock(&worker->mutex);
    append(worker, task);
    (void)pthread_mutex_unlock(&worker->mutex);
}

int nri_worker_offer(struct nri_worker *worker, struct nri_task *task)
{
    int code = 0;
    (void)pthread_mutex_lock(&worker->mutex);
    if (worker->waiting >= worker->most_waiting)
        code = NRI_E_BUSY;
    else if (worker->running + worker->waiting >= worker->threads &&
             worker->threads < worker->most && add_thread(worker) != 0 && worker->threads == 0)
        code = NRI_E_IO;
    if (code == 0)
        append(worker, task);
    (void)pthread_mutex_unlock(&worker->mutex);
    return code;
}

bool nri_worker_is_idle(struct nri_worker *worker)
{
    if (worker == NULL)
        return true;
    (void)pthread_mutex_lock(&worker->mutex);
    bool idle = worker->waiting == 0 && worker->running == 0;
    (void)pthread_mutex_unlock(&worker->mutex);
    return idle;
}

bool nri_worker_is_mine(struct nri_worker *worker)
{
    bool mine = false;
    if (worker == NULL)
        return false;
    (void)pthread_mutex_lock(&worker->mutex);
    for (unsigned i = 0; !mine && i < worker->threads; i++)
        mine = pthread_equal(worker->ids[i], pthread_self()) != 0;
    (void)pthread_mutex_unlock(&worker->mutex);
    return mine;
}

void nri_worker_fini(struct nri_worker *worker)
{
    (void)pthread_mutex_lock(&worker->mutex);
    worker->ending = true;
    (void)pthread_cond_broadcast(&worker->changed);
    unsigned count = worker->threads;
    (void)pthread_mutex_unlock(&worker->mutex);
    for (unsigned i = 0; i < count; i++)
        (void)pthread_join(worker->ids[i], NULL);
    (void)pthread_cond_destroy(&worker->changed);
    (void)pthread_mutex_destroy(&worker->mutex);
}
