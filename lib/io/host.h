/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real host: the clock and the random numbers of the system this runs on.
 */
#ifndef NRI_IO_HOST_H
#define NRI_IO_HOST_H

#include "base/host.h"

/* Static and constant, so that it outlives every plugin and every request that somebody still
 * holds. */
const struct nri_host *nri_host_system(void);
/* The monotonic clock in ns: nri_host_system()->now() for lib/io itself. */
uint64_t nri_host_now(void);

#endif
