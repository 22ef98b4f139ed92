/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages: any bytes are refused with a reason, within the memory allowed, or are a message that
 * is the same after being written and read again, and after being copied. The first byte chooses
 * the type.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/nri.pb-c.h"
#include "proto/ttrpc.pb-c.h"
#include "wire/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds, const char *what)
{
    if (holds) {
        return;
    }
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}
#define CHECK(condition) check((condition), #condition)

static const uint64_t seed[2] = {42, 4711};

/* Inputs, outputs and the envelope. */
static const ProtobufCMessageDescriptor *type_of(uint8_t number)
{
    const ProtobufCServiceDescriptor *services[] = {
        &nri__pkg__api__v1alpha1__plugin__descriptor,
        &nri__pkg__api__v1alpha1__runtime__descriptor,
    };
    unsigned n = number;
    for (size_t i = 0; i < sizeof services / sizeof services[0]; i++) {
        if (n < 2 * services[i]->n_methods) {
            const ProtobufCMethodDescriptor *method = &services[i]->methods[n / 2];
            return n % 2 == 0 ? method->input : method->output;
        }
        n -= 2 * services[i]->n_methods;
    }
    return n % 2 == 0 ? &ttrpc__request__descriptor : &ttrpc__response__descriptor;
}

static uint8_t *encode(const ProtobufCMessage *message, size_t *size)
{
    struct nri_error error;
    CHECK(nri_message_size(message, size, &error) == 0);
    uint8_t *bytes = malloc(*size + 1);
    CHECK(bytes != NULL);
    nri_message_encode(message, bytes);
    return bytes;
}

static void check_accepted(const ProtobufCMessage *message, struct nri_arena *arena)
{
    struct nri_error error;
    size_t size, again_size, copy_size;
    ProtobufCMessage *again;
    CHECK(protobuf_c_message_check(message));
    uint8_t *bytes = encode(message, &size);
    CHECK(nri_message_decode(message->descriptor, bytes, size, arena, seed, &again, &error) == 0);
    uint8_t *again_bytes = encode(again, &again_size);
    CHECK(size == again_size && memcmp(bytes, again_bytes, size) == 0);
    const ProtobufCMessage *copy = nri_message_copy(message, arena);
    CHECK(copy != NULL);
    uint8_t *copy_bytes = encode(copy, &copy_size);
    CHECK(size == copy_size && memcmp(bytes, copy_bytes, size) == 0);
    free(bytes);
    free(again_bytes);
    free(copy_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nri_alloc alloc;
    struct nri_arena arena;
    struct nri_error error = {.code = 0};
    ProtobufCMessage *message = NULL;
    if (size == 0) {
        return 0;
    }
    const ProtobufCMessageDescriptor *type = type_of(data[0]);
    const size_t limit = 65536 + 8 * size;
    CHECK(nri_alloc_resolve(&alloc, NULL) == 0);
    nri_arena_init(&arena, &alloc, 0, limit);
    const int code = nri_message_decode(type, data + 1, size - 1, &arena, seed, &message, &error);
    CHECK(arena.taken <= limit);
    if (code == 0) {
        arena.limit = SIZE_MAX;
        check_accepted(message, &arena);
    } else {
        CHECK(code == NRI_E_PROTOCOL || code == NRI_E_UTF8 || code == NRI_E_LIMIT);
        CHECK(error.code == code &&
              strncmp(error.text, type->short_name, strlen(type->short_name)) == 0);
    }
    nri_arena_fini(&arena);
    return 0;
}
