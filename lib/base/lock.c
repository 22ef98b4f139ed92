/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lock.h"

#include <nri/error.h>

int nri_lock_init(struct nri_lock *lock)
{
    return pthread_mutex_init(&lock->mutex, NULL) == 0 ? 0 : NRI_E_NOMEM;
}

void nri_lock_fini(struct nri_lock *lock)
{
    (void)pthread_mutex_destroy(&lock->mutex);
}

/* A normal mutex that was initialised cannot fail to lock or unlock, so there is no result to hand
 * on. */
void nri_lock_take(struct nri_lock *lock)
{
    (void)pthread_mutex_lock(&lock->mutex);
}

void nri_lock_give(struct nri_lock *lock)
{
    (void)pthread_mutex_unlock(&lock->mutex);
}
