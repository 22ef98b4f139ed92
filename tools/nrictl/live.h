/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explaining as a plugin of a running runtime.
 */
#ifndef NRICTL_LIVE_H
#define NRICTL_LIVE_H

#include "nrictl.h"

struct live {
    const char *socket;
    const char *container; /* a name, an id or how one begins; NULL: all */
    uint64_t count;        /* 0: until a signal */
};

int live_explain(struct nrictl *ctl, const struct live *live);

#endif
