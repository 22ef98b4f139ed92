/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mutex: for the few things that other threads may touch. Held for a few instructions, never
 * across a function of the user's. Two are held across functions of the driver's, which take no
 * lock themselves: plugin/shared.h's wake_lock across `wake`, its lock across the host's clock.
 */
#ifndef NRI_BASE_LOCK_H
#define NRI_BASE_LOCK_H

#include <pthread.h>

struct nri_lock {
    pthread_mutex_t mutex;
};

int nri_lock_init(struct nri_lock *lock); /* 0 or NRI_E_NOMEM */
void nri_lock_fini(struct nri_lock *lock);
void nri_lock_take(struct nri_lock *lock);
void nri_lock_give(struct nri_lock *lock);

#endif
