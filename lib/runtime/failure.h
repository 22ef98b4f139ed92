/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failure policies of a runtime: one for all, and those of single plugins by name.
 */
#ifndef NRI_RUNTIME_FAILURE_H
#define NRI_RUNTIME_FAILURE_H

#include <nri/failure.h>

#include "base/alloc.h"
#include "base/error.h"

struct nri_failure_entry;

struct nri_failures {
    struct nri_alloc alloc;
    struct nri_failure_policy general; /* resolved: no member is 0 but `required` */
    struct nri_failure_entry *entries;
};

enum nri_failure { NRI_FAILURE_TIMEOUT, NRI_FAILURE_LOSS, NRI_FAILURE_ERROR };

/* Copies and checks a caller's policy. NRI_E_ABI, NRI_E_INVALID. */
int nri_failure_take(struct nri_failure_policy *known, const struct nri_failure_policy *from,
                     struct nri_error *error);
/* For the policy of all plugins: it can require none. NRI_E_INVALID. */
int nri_failure_check_general(const struct nri_failure_policy *policy, struct nri_error *error);
void nri_failures_init(struct nri_failures *failures, const struct nri_alloc *alloc,
                       const struct nri_failure_policy *general);
void nri_failures_fini(struct nri_failures *failures);
/* As nri_runtime_set_failure_policy(). */
int nri_failures_set(struct nri_failures *failures, const char *plugin,
                     const struct nri_failure_policy *policy, struct nri_error *error);
/* That of a plugin: by "NN-name", else by name, else the general one. */
const struct nri_failure_policy *nri_failures_of(const struct nri_failures *failures,
                                                 const char *name, const char *id);
/* Whether the request fails; `creation`: it is one of a container, for which a required plugin has
 * to answer. */
bool nri_failure_fails(const struct nri_failure_policy *policy, enum nri_failure what,
                       bool creation);
bool nri_failure_drops(const struct nri_failure_policy *policy, enum nri_failure what);
/* Calls `is_there` for each required plugin; gives the first that is not, or NULL. */
const char *nri_failures_missing(const struct nri_failures *failures,
                                 bool (*is_there)(void *user, const char *plugin), void *user);

#endif
