/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf messages, over protobuf-c's descriptors and structures: a decoder of our own into an
 * arena, and the encoder.
 *
 * Why not protobuf_c_message_unpack(): it checks no UTF-8, cuts strings at a NUL, keeps duplicate
 * map keys, and takes some 60 000 instructions and unbounded memory for what one pass in an arena
 * does. Structures are the same, so everything else of protobuf-c works on them (packing,
 * reflection). Differences from it:
 * - strings are texts of base/text.h (length in front, NULs kept), UTF-8 checked;
 * - of map entries with the same key only the last one's value counts; it takes the first one's
 * place;
 * - a map entry's absent message value is an empty message; a repeated field never holds NULL;
 * - a singular message field that occurs twice is merged, as protobuf demands;
 * - repeated scalars are read packed and unpacked, whatever the descriptor says;
 * - unknown fields are kept, pointing into a copy in the arena, and are packed again byte for byte;
 * - a known field with the wrong wire type and a group are errors (NRI_E_PROTOCOL), as is anything
 * malformed: truncated, a varint over 10 bytes, field number 0, a length past the end, UTF-8;
 * - the arena's limit is NRI_E_LIMIT, so that 4 MiB of empty sub-messages end there.
 * Errors name the field by its path ("CreateContainerRequest.container.env[3]") and the offset in
 * bytes.
 */
#ifndef NRI_WIRE_MESSAGE_H
#define NRI_WIRE_MESSAGE_H

#include <protobuf-c/protobuf-c.h>

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

/*
 * Decodes `length` bytes, which are not needed afterwards. `seed` is for the hash that finds
 * duplicate map keys. Returns 0 and sets *message, which lives in the arena; NRI_E_PROTOCOL,
 * NRI_E_UTF8, NRI_E_LIMIT, NRI_E_NOMEM.
 */
int nri_message_decode(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t length,
                       struct nri_arena *arena, const uint64_t seed[2], ProtobufCMessage **message,
                       struct nri_error *error);

/* Whether a field is a protobuf map: protobuf-c keeps no flag, so it goes by the ...Entry message.
 */
bool nri_message_field_is_map(const ProtobufCFieldDescriptor *field);

/* The size of a message, and its bytes. Texts are written in their whole length, NULs included,
 * which protobuf_c_message_pack() would cut. Every string of the message must be a text of
 * base/text.h or protobuf_c_empty_string or NULL. A NULL in a repeated field: NRI_E_INVALID with
 * the field named. */
int nri_message_size(const ProtobufCMessage *message, size_t *size, struct nri_error *error);
void nri_message_encode(const ProtobufCMessage *message,
                        uint8_t *bytes); /* exactly nri_message_size() bytes */

/* The same for one field with its tags, for who keeps the bytes of those that stay as they are: by
 * its place in the descriptor; n_fields stands for all unknown ones, which come last. Put one after
 * the other, they are what nri_message_encode() gives. */
int nri_message_field_size(const ProtobufCMessage *message, unsigned field, size_t *size,
                           struct nri_error *error);
void nri_message_field_encode(const ProtobufCMessage *message, unsigned field, uint8_t *bytes);

/* How many elements an array has room for that nri_message_copy() makes: the next power of two, so
 * that a list that grows needs no record of its room (model/unique.h). */
static inline size_t nri_message_room(size_t count)
{
    size_t room = 1;
    while (room < count && room <= SIZE_MAX / 2)
        room *= 2;
    return room < count ? count : room;
}
/* A deep copy into an arena, unknown fields included. NULL with arena->failure set. */
ProtobufCMessage *nri_message_copy(const ProtobufCMessage *message, struct nri_arena *arena);

/* What that takes of an arena, so that a cache of copies takes no more than they need. */
size_t nri_message_copy_room(const ProtobufCMessage *message);

/* The length of a string in a message. */
size_t nri_message_text_length(const char *text);

#endif
