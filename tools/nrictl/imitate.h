/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runtimes that a simulated node can be like: which name, version and NRI a runtime of which
 * release has, and in what it differs. What a release acts on is libnri's own knowledge
 * (nri/feature.h); here is what follows from it for a node.
 */
#ifndef NRICTL_IMITATE_H
#define NRICTL_IMITATE_H

#include <nri/nri.h>

#include "nrictl.h"

struct imitate {
    const char *name;    /* "containerd", as plugins are told */
    char version[64];    /* as plugins are told */
    char nri[48];        /* the NRI that is in it: the runtime side is one of that version */
    uint32_t events;     /* the mask of events that it knows: another one fails the registration */
    uint32_t sends;      /* and those of them that it ever sends */
    bool tells_nri;      /* plugins are told that version (NRI 0.12 and later) */
    bool tells_times;    /* Configure has time-outs (NRI 0.7 and later) */
    bool go_compatible;  /* merges as NRI's own runtime */
    bool no_evictions;   /* evictions are accepted and dropped */
    bool no_updates;     /* whatever plugins update is refused (docker) */
    bool strict_updates; /* an update that is not possible fails the request (CRI-O) */
    bool no_container_pid; /* plugins are not told the pid of a container */
    bool no_status;        /* nor its times and exit code */
    uint64_t registration_timeout_ms, request_timeout_ms; /* 0: libnri's */
    uint8_t merge_policy[NRI_MERGE_FIELDS]; /* what it refuses is NRI_MERGE_UNSUPPORTED */
};

/*
 * "containerd@2.1" (its newest release), "containerd@2.1.4", "containerd" (the newest of all);
 * NRICTL_OK, or NRICTL_USAGE after a message that says what there is.
 */
int imitate_find(struct nrictl *ctl, const char *text, struct imitate *imitate);
/* `--runtime help`: all of them, as a table or JSON. */
int imitate_list(struct nrictl *ctl);

#endif
