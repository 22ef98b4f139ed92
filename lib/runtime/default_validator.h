/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default validator: what a node's administrator can forbid plugins to adjust, and which
 * plugins must have been asked. Its configuration is JSON with the keys that NRI's own has.
 */
#ifndef NRI_RUNTIME_DEFAULT_VALIDATOR_H
#define NRI_RUNTIME_DEFAULT_VALIDATOR_H

#include "base/alloc.h"
#include "base/error.h"
#include "proto/nri.pb-c.h"

struct nri_default_validator;

/* `json` NULL or "": nothing is forbidden, and plugins are required by annotation alone.
 * NRI_E_SYNTAX, NRI_E_INVALID with the place and the key, NRI_E_LIMIT, NRI_E_NOMEM. */
int nri_default_validator_new(struct nri_default_validator **validator,
                              const struct nri_allocator *allocator, const char *json,
                              struct nri_error *error);
struct nri_default_validator *nri_default_validator_free(struct nri_default_validator *validator);
/* 0, or NRI_E_REJECTED, NRI_E_NOT_FOUND (a required plugin, by name), NRI_E_SYNTAX (an annotation).
 */
int nri_default_validator_check(
    const struct nri_default_validator *validator,
    const Nri__Pkg__Api__V1alpha1__ValidateContainerAdjustmentRequest *request,
    struct nri_error *error);

#endif
