/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_unpack protobuf-c|libnri N MESSAGE: unpacks the payload in the file MESSAGE, a
 * CreateContainerRequest, N times into one reset arena and does nothing else. Instructions are
 * counted from outside (callgrind).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "proto/nri.pb-c.h"
#include "wire/message.h"

static uint8_t bytes[1 << 16];

/* The cheapest allocator there is, so that only unpacking counts. */
static _Alignas(16) uint8_t room[1 << 20];
static size_t used;

static void *bump(void *user, size_t size)
{
    (void)user;
    uint8_t *piece = room + used;
    used += (size + 15) & ~(size_t)15;
    return used <= sizeof room ? piece : NULL;
}

static void keep(void *user, void *piece)
{
    (void)user;
    (void)piece;
}

static int unpack_protobuf_c(size_t length, long count)
{
    ProtobufCAllocator allocator = {bump, keep, NULL};
    for (long i = 0; i < count; i++) {
        used = 0;
        if (protobuf_c_message_unpack(
                &nri__pkg__api__v1alpha1__create_container_request__descriptor, &allocator, length,
                bytes) == NULL)
            return 1;
    }
    return 0;
}

static int unpack_libnri(size_t length, long count)
{
    struct nri_alloc alloc;
    struct nri_arena arena;
    const uint64_t seed[2] = {1, 2};
    struct nri_error error;
    int failed = nri_alloc_resolve(&alloc, NULL);
    nri_arena_init(&arena, &alloc, 65536, 1 << 20);
    for (long i = 0; i < count && failed == 0; i++) {
        ProtobufCMessage *message;
        nri_arena_reset(&arena);
        failed = nri_message_decode(&nri__pkg__api__v1alpha1__create_container_request__descriptor,
                                    bytes, length, &arena, seed, &message, &error);
    }
    nri_arena_fini(&arena);
    return failed != 0;
}

int main(int argc, char **argv)
{
    FILE *file = argc == 4 ? fopen(argv[3], "rb") : NULL;
    if (file == NULL) {
        fputs("usage: bench_unpack protobuf-c|libnri N MESSAGE\n", stderr);
        return 2;
    }
    size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    long count = atol(argv[2]);
    return strcmp(argv[1], "libnri") == 0 ? unpack_libnri(length, count)
                                          : unpack_protobuf_c(length, count);
}
