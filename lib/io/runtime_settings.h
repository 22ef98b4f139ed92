/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nri_runtime_new() makes of its arguments: checked, with every default filled in, and owned.
 */
#ifndef NRI_IO_RUNTIME_SETTINGS_H
#define NRI_IO_RUNTIME_SETTINGS_H

#include <nri/runtime.h>

#include "base/error.h"
#include "rpc/rpc.h"

struct nri_runtime_settings {
    struct nri_alloc alloc;
    struct nri_runtime_ops ops; /* whole */
    char *name, *version, *nri_version;
    char *path;             /* of the socket; NULL: none */
    char *plugin_directory; /* NULL: none is launched */
    char *config_directory;
    char *validator_config; /* NULL: none */
    bool default_validator;
    nri_log_fn log;
    void *log_user;
    int log_level;
    bool go_compatible;
    struct nri_failure_policy failure;
    struct nri_rpc_limits limits;
    size_t max_outstanding, max_plugins, max_calls;
    size_t max_merge_bytes, max_sync_bytes;
    uint64_t registration_timeout, request_timeout, stop_timeout; /* ns */
    uint8_t merge_policy[NRI_MERGE_FIELDS];
};

/* On an error there is nothing to release. settings->alloc is set even then, so that the error can
 * be exported with it. */
int nri_runtime_settings_resolve(struct nri_runtime_settings *settings,
                                 const struct nri_runtime_ops *ops,
                                 const struct nri_runtime_options *options,
                                 struct nri_error *error);
void nri_runtime_settings_fini(struct nri_runtime_settings *settings);

#endif
