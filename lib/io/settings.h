/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nri_plugin_new() makes of its arguments and the environment: checked, with every default
 * filled in, and owned.
 */
#ifndef NRI_IO_SETTINGS_H
#define NRI_IO_SETTINGS_H

#include <nri/plugin.h>

#include "base/error.h"
#include "plugin/guard.h"
#include "rpc/rpc.h"

struct nri_settings {
    struct nri_alloc alloc;
    struct nri_plugin_ops ops;
    char *name;
    char index[3];
    char *label; /* "NN-name", for the log */
    char *path;  /* where to connect; NULL with a descriptor */
    int fd;      /* a given descriptor, checked, not yet changed in any way; -1 with a path */
    char *peer;  /* what to call the other side in errors: the path, or "descriptor 3" */
    nri_log_fn log;
    void *log_user;
    int log_level;
    bool allow_missing_validate, strict_features;
    struct nri_rpc_limits limits;
    uint64_t registration_timeout; /* ns */
    uint64_t call_timeout;         /* ns; 0: Configure's */
    size_t max_sync_bytes, max_sync_parts;
    struct nri_settings_reconnect {
        bool on, watch;
        uint64_t attempts;                 /* 0: no limit */
        uint64_t min, max, reset, give_up; /* ns; give_up 0: never */
    } reconnect;
    struct nri_deadline_settings deadlines;
    bool worker, bypass;
    unsigned offload_threads;
    uint64_t stop_grace; /* ns */
    size_t max_queued_updates;
    nri_state *state;
};

/* On an error there is nothing to release, and a given descriptor is as it was. settings->alloc is
 * set even then, so that the error can be exported with it. */
int nri_settings_resolve(struct nri_settings *settings, const struct nri_plugin_ops *ops,
                         const struct nri_plugin_options *options, struct nri_error *error);
void nri_settings_fini(struct nri_settings *settings); /* leaves the descriptor open */

/* Checked options of one call. *timeout in ns, 0 for the plugin's own. NRI_E_ABI, NRI_E_INVALID,
 * NRI_E_RANGE. */
int nri_settings_call(struct nri_call_options *known, const struct nri_call_options *from,
                      uint64_t *timeout, struct nri_error *error);

#endif
