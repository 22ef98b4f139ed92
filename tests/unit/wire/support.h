/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of this room share: an arena over a failing allocator, and bytes written by hand,
 * so that nothing that is tested makes its own input.
 */
#ifndef NRI_TESTS_WIRE_SUPPORT_H
#define NRI_TESTS_WIRE_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "fail_alloc.h"
#include "proto/nri.pb-c.h"
#include "proto/status.pb-c.h"
#include "proto/ttrpc.pb-c.h"
#include "wire/message.h"

/* Short names for the long generated ones. */
#define NRI_TYPE(name) (&nri__pkg__api__v1alpha1__##name##__descriptor)

struct fixture {
    struct fail_alloc fa;
    struct nri_arena arena;
    struct nri_error error;
};

void start(struct fixture *f, size_t limit);
void end(struct fixture *f); /* asserts that no memory is left */

/* Decodes; NULL with *code and f->error set. The bytes are copied to a block of exactly their size,
 * which is gone afterwards, so that sanitizers see reading behind and keeping. */
ProtobufCMessage *decode(struct fixture *f, const ProtobufCMessageDescriptor *type,
                         const void *bytes, size_t size, int *code);
/* The same where it must succeed. */
void *decode_ok(struct fixture *f, const ProtobufCMessageDescriptor *type, const void *bytes,
                size_t size);
/* Decodes what must be refused, with this code and this in the text. */
void assert_refused(const ProtobufCMessageDescriptor *type, const void *bytes, size_t size,
                    int code, const char *text);

/* Encodes to a block of exactly the size, which the caller frees. */
uint8_t *encode(const void *message, size_t *size);
/* Encodes and compares. */
void assert_encodes(const void *message, const void *bytes, size_t size);

/* Bytes by hand. */
struct blob {
    uint8_t *bytes;
    size_t size, room;
};
void put(struct blob *blob, const void *bytes, size_t size);
void put_varint(struct blob *blob, uint64_t value);
void put_tag(struct blob *blob, uint32_t field, unsigned wire);
void put_data(struct blob *blob, uint32_t field, const void *data, size_t size);
void put_text(struct blob *blob, uint32_t field, const char *text);
void put_blob(struct blob *blob, uint32_t field, const struct blob *inner);
void put_u32(struct blob *blob, uint32_t value); /* the most significant byte first */
void put_mux(struct blob *blob, uint32_t id, const void *payload, size_t size);
void put_ttrpc(struct blob *blob, uint32_t stream, uint8_t type, uint8_t flags, uint32_t length);
void blob_free(struct blob *blob);

/* A pseudo-random number generator (xorshift) with a state of the caller's, not 0. */
uint64_t next_random(uint64_t *state);

#endif
