/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the peer share: peer.c sends, peer_input.c takes what comes apart, peer_wait.c
 * waits for it.
 */
#ifndef NRICTL_PEER_INSIDE_H
#define NRICTL_PEER_INSIDE_H

#include "check.h"
#include "peer.h"

#define PEER_READ_ROOM ((size_t)64 << 10)
#define PEER_MOST_KEPT ((size_t)128 << 20)
#define PEER_GO_BUFFER 4096u /* Go's */

/* ---- peer_input.c ---- */

/* A request on that stream waits for its reply. False: no memory. */
bool peer_pend(struct peer *peer, uint32_t stream, const char *method);
const char *peer_pending_method(const struct peer *peer, uint32_t stream);
void peer_take_bytes(struct peer *peer); /* reads what is there */
void peer_drop(struct peer *peer, size_t at);

/* ---- peer_wait.c ---- */

/* What there is to say of a wait that was in vain; false. */
bool peer_in_vain(struct run *run, enum run_wait why, const char *awaited);

#endif
