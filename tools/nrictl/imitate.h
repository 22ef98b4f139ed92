/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runtimes that a simulated node can be like: which name, version and NRI a runtime of which
 * release has, and in what it differs.
 */
#ifndef NRICTL_IMITATE_H
#define NRICTL_IMITATE_H

#include <nri/nri.h>

#include "nrictl.h"

struct imitate {
    const char *name;    /* "containerd", as plugins are told */
    char version[32];    /* as plugins are told */
    char nri[16];        /* the NRI that is in it */
    bool tells_nri;      /* plugins are told that version (NRI 0.12 and later) */
    bool tells_times;    /* Configure has time-outs (NRI 0.7 and later) */
    bool state_change;   /* notifications go out as StateChange (before NRI 0.12) */
    uint32_t events;     /* the mask of events that it knows: another one fails the registration */
    uint32_t sends;      /* and those of them that it ever sends */
    bool go_compatible;  /* merges as NRI's own runtime */
    bool no_evictions;   /* evictions are accepted and dropped */
    bool no_updates;     /* what plugins update of their own accord is refused (docker) */
    bool strict_updates; /* an update that is not possible fails the request (CRI-O) */
    bool no_container_pid; /* plugins are not told the pid of a container */
    bool no_status;        /* nor its times and exit code (before NRI 0.10) */
    uint64_t registration_timeout_ms, request_timeout_ms;
    uint8_t merge_policy[NRI_MERGE_FIELDS]; /* what it does not support is NRI_MERGE_UNSUPPORTED */
};

/*
 * "containerd@2.1", "containerd@2.1.9", "cri-o@1.34", "docker@29.5", "containerd" (the newest);
 * NRICTL_OK, or NRICTL_USAGE after a message that names what there is.
 */
int imitate_find(struct nrictl *ctl, const char *text, struct imitate *imitate);
/* `--runtime help`: all of them, as a table or JSON. */
int imitate_list(struct nrictl *ctl);

#endif
