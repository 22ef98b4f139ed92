/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a checkpoint of notes is made of: a line that tells whether the rest is whole, and JSON.
 *
 *     nri-state VERSION LENGTH CHECKSUM
 *     {"notes":{"CONTAINER ID":"NOTE",...}}
 *
 * LENGTH is that of all behind the first line, in bytes, ten digits; CHECKSUM the SipHash-2-4 of
 * that with a key of zeros, sixteen digits.
 */
#ifndef NRI_PLUGIN_STATE_CHECKPOINT_H
#define NRI_PLUGIN_STATE_CHECKPOINT_H

#include "base/buf.h"
#include "base/error.h"
#include "json/json.h"

#define NRI_STATE_CHECKPOINT_VERSION 1u

/* Notes are written between begin and end; `out` holds the checkpoint then. */
struct nri_state_checkpoint {
    struct nri_buf *out;
    struct nri_json_writer json;
    int failure;
};
void nri_state_checkpoint_begin(struct nri_state_checkpoint *checkpoint, struct nri_buf *out);
void nri_state_checkpoint_note(struct nri_state_checkpoint *checkpoint, const char *id,
                               size_t id_length, const char *note, size_t length);
/* 0, NRI_E_LIMIT or NRI_E_NOMEM, those of `out`. */
int nri_state_checkpoint_end(struct nri_state_checkpoint *checkpoint);

/*
 * Reads a checkpoint and calls `note` for each, until that returns a negative code. 0,
 * NRI_E_SYNTAX (damaged), NRI_E_UNSUPPORTED (of a later version), NRI_E_NOMEM, and `note`'s. Only
 * once all is found to be whole is `note` called.
 */
int nri_state_checkpoint_read(const uint8_t *bytes, size_t count, const struct nri_alloc *alloc,
                              const uint64_t seed[2],
                              int (*note)(void *user, const char *id, size_t id_length,
                                          const char *note, size_t length),
                              void *user, struct nri_error *error);

#endif
