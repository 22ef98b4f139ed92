/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NRICTL_REPLAY_H
#define NRICTL_REPLAY_H

#include "nrictl.h"

struct replay_options {
    bool real_time, plugins, any_pod;
    uint64_t timeout_ms;
    uint64_t connection;      /* of the recording; 0: the first one, or all */
    const char *socket;       /* of a runtime */
    const char *name, *index; /* instead of the recorded ones; NULL: those */
};

/* Each ends with one of enum nrictl_exit. */
int replay_runtime(struct nrictl *ctl, const struct replay_options *options, const char *path,
                   char **argv);
int replay_plugins(struct nrictl *ctl, const struct replay_options *options, const char *path);

extern const struct nrictl_command nrictl_replay;

#endif
