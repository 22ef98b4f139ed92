/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rooms need of the host. lib/io fills this table; tests fill it with a clock of their
 * own; no room calls the system itself.
 */
#ifndef NRI_BASE_HOST_H
#define NRI_BASE_HOST_H

#include <stddef.h>
#include <stdint.h>

#define NRI_MSEC  UINT64_C(1000000)
#define NRI_SEC   UINT64_C(1000000000)
#define NRI_NEVER UINT64_MAX /* as a deadline: none */

/* A device node. */
struct nri_host_device {
    char type; /* 'c', 'b' or 'p' */
    int64_t major, minor;
    uint32_t mode; /* permission bits */
    uint32_t uid, gid;
};

struct nri_host {
    void *context;
    uint64_t (*now)(void *context); /* the monotonic clock, in ns */
    /* 0 or a negative code. For the seeds of hashes, not for secrets: lib/io has weak ones when the
     * kernel has none. */
    int (*random)(void *context, void *bytes, size_t count);
};

/* What a path names, symbolic links followed: 0, NRI_E_NOT_FOUND, NRI_E_PERMISSION, NRI_E_INVALID
 * (no device node), NRI_E_IO. Not in the table above, which would hold it in every program. */
typedef int (*nri_host_look)(void *context, const char *path, struct nri_host_device *device);
/* How the mount that a path is on spreads (enum nri_propagation): 0, NRI_E_NOT_FOUND,
 * NRI_E_PERMISSION, NRI_E_IO, NRI_E_NOMEM. */
typedef int (*nri_host_propagation)(void *context, const char *path, uint32_t *propagation);

#endif
