/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a state's checkpoint: read whole, and replaced at once.
 */
#ifndef NRI_IO_CHECKPOINT_H
#define NRI_IO_CHECKPOINT_H

#include "plugin/state.h"

/* Fills the table for a file at `path`, which is copied; store->release() frees it. NRI_E_INVALID
 * (no file name in it), NRI_E_NOMEM. */
int nri_checkpoint_init(struct nri_state_store *store, const char *path,
                        const struct nri_alloc *alloc, struct nri_error *error);

#endif
