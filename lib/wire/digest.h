/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A digest of what a message says, to tell whether two say the same without keeping the bytes of
 * either. It does not depend on the order of a map's entries, which a Go runtime sends in another
 * order each time.
 */
#ifndef NRI_WIRE_DIGEST_H
#define NRI_WIRE_DIGEST_H

#include <protobuf-c/protobuf-c.h>
#include <stdint.h>

/* Equal for messages that say the same; for others equal once in 2 to the 64th, as long as their
 * maker does not know the seed. Texts must be those of base/text.h. */
uint64_t nri_message_digest(const ProtobufCMessage *message, const uint64_t seed[2]);

#endif
