/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpacking with memory that is neither zeroed nor endless. Releases of protobuf-c before 1.5.1
 * could free what a failed unpack had never written; the library must not depend on the release.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sample.h"

#define MAGIC_LIVE ((size_t)0x6c697665)
#define MAGIC_DEAD ((size_t)0x64656164)

/* What an allocator has seen. fail_at is the number of the call that fails, 0 for none. */
struct ledger {
    size_t calls;
    size_t fail_at;
    size_t live;
    size_t bad_frees;
};

union block {
    struct {
        size_t magic;
        size_t size;
    } head;
    max_align_t align;
};

static void *ledger_alloc(void *data, size_t size)
{
    struct ledger *ledger = data;
    if (++ledger->calls == ledger->fail_at)
        return NULL;
    union block *block = malloc(sizeof *block + size);
    if (block == NULL)
        return NULL;
    block->head.magic = MAGIC_LIVE;
    block->head.size = size;
    memset(block + 1, 0xAA, size);
    ledger->live++;
    return block + 1;
}

static void ledger_free(void *data, void *pointer)
{
    struct ledger *ledger = data;
    if (pointer == NULL)
        return;
    union block *block = (union block *)pointer - 1;
    if (block->head.magic != MAGIC_LIVE) {
        ledger->bad_frees++;
        return;
    }
    block->head.magic = MAGIC_DEAD;
    memset(pointer, 0xAA, block->head.size);
    ledger->live--;
    free(block);
}

struct bytes {
    uint8_t data[SAMPLE_BYTES];
    size_t size;
};

static void append(struct bytes *bytes, const void *data, size_t size)
{
    assert_true(size <= sizeof bytes->data - bytes->size);
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

enum outcome { OUTCOME_NULL, OUTCOME_SAME, OUTCOME_OTHER };

/* Unpacks, packs again and frees. The ledger is left for the caller to look at. */
static enum outcome unpack_once(const ProtobufCMessageDescriptor *type, const struct bytes *bytes,
                                struct ledger *ledger)
{
    static uint8_t again[SAMPLE_BYTES];
    ProtobufCAllocator allocator = {ledger_alloc, ledger_free, ledger};
    ProtobufCMessage *message =
        protobuf_c_message_unpack(type, &allocator, bytes->size, bytes->data);
    if (message == NULL)
        return OUTCOME_NULL;
    enum outcome outcome = OUTCOME_OTHER;
    if (protobuf_c_message_get_packed_size(message) == bytes->size) {
        size_t size = protobuf_c_message_pack(message, again);
        if (size == bytes->size && memcmp(again, bytes->data, size) == 0)
            outcome = OUTCOME_SAME;
    }
    protobuf_c_message_free_unpacked(message, &allocator);
    return outcome;
}

/* The call that fails runs from the first to the 200th, after one round in which none does. */
static void sweep(const ProtobufCMessageDescriptor *type, const struct bytes *bytes, bool valid)
{
    for (size_t n = 0; n <= 200; n++) {
        struct ledger ledger = {.fail_at = n};
        enum outcome outcome = unpack_once(type, bytes, &ledger);
        bool failed = n != 0 && ledger.calls >= n;
        enum outcome expected = valid && !failed ? OUTCOME_SAME : OUTCOME_NULL;
        if (outcome != expected || ledger.live != 0 || ledger.bad_frees != 0)
            fail_msg("%s, allocation %zu failing: outcome %d not %d, %zu leaked, %zu bad frees",
                     type->name, n, (int)outcome, (int)expected, ledger.live, ledger.bad_frees);
        /* A valid sample is built so that no n is idle. */
        if (valid && n != 0)
            assert_true(failed);
    }
}

/* Each tail is wrong in its own way once it stands behind valid bytes. */
static void sweep_invalid(const ProtobufCMessageDescriptor *type, const struct bytes *valid,
                          uint8_t list_tag)
{
    const struct {
        uint8_t data[8];
        size_t size;
    } tails[] = {
        {{0x0a, 0x7f, 0x61}, 3},                       /* longer than the rest */
        {{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f}, 6},     /* longer than memory */
        {{0x0b, 0x0c}, 2},                             /* a group */
        {{0x02, 0x00}, 2},                             /* field number 0 */
        {{0x08, 0x05}, 2},                             /* a number where none belongs */
        {{0xc0}, 1},                                   /* ends inside a tag */
        {{list_tag, 0x02, 0x0a, 0x7f}, 4},             /* a broken list element */
        {{list_tag, 0x04, 0xc0, 0x3e, 0x01, 0xdd}, 6}, /* unknown field, then broken */
    };
    struct bytes broken;
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        broken = *valid;
        append(&broken, tails[i].data, tails[i].size);
        sweep(type, &broken, false);
    }
    broken = *valid;
    broken.size--;
    sweep(type, &broken, false);
}

static void sweep_sample(bool unknown)
{
    static struct sample sample;
    static struct bytes bytes;
    sample_build(&sample, unknown);

    bytes.size = sample_pack(&sample.container.base, bytes.data);
    sweep(&nri__pkg__api__v1alpha1__container__descriptor, &bytes, true);
    sweep_invalid(&nri__pkg__api__v1alpha1__container__descriptor, &bytes, 0x4a /* mounts */);

    bytes.size = sample_pack(&sample.sync.base, bytes.data);
    sweep(&nri__pkg__api__v1alpha1__synchronize_request__descriptor, &bytes, true);
    sweep_invalid(&nri__pkg__api__v1alpha1__synchronize_request__descriptor, &bytes,
                  0x12 /* containers */);
}

static void test_T47_unpack_survives_failing_allocations(void **state)
{
    (void)state;
    sweep_sample(false);
}

static void test_T47_unpack_survives_failing_allocations_with_unknown_fields(void **state)
{
    (void)state;
    sweep_sample(true);
}

static void test_T46_malformed_is_rejected(void **state)
{
    (void)state;
    static const ProtobufCMessageDescriptor *const types[] = {
        &nri__pkg__api__v1alpha1__create_container_response__descriptor,
        &nri__pkg__api__v1alpha1__register_plugin_request__descriptor,
    };
    static const struct {
        uint8_t data[8];
        size_t size;
    } payloads[] = {
        {{0x0a, 0x7f, 0x61}, 3}, {{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f}, 6},
        {{0x0b, 0x0c}, 2},       {{0x02, 0x00}, 2},
        {{0x08, 0x05}, 2},
    };
    static struct bytes bytes;
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        for (size_t p = 0; p < sizeof payloads / sizeof payloads[0]; p++) {
            bytes.size = 0;
            append(&bytes, payloads[p].data, payloads[p].size);
            sweep(types[t], &bytes, false);
        }
    }
    /* A packed list that ends inside a number. */
    bytes.size = 0;
    append(&bytes, "\x1a\x02\x01\x80", 4);
    sweep(&nri__pkg__api__v1alpha1__user__descriptor, &bytes, false);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

static void test_T46_mutations_leak_nothing(void **state)
{
    (void)state;
    static struct sample sample;
    static struct bytes original, mutated;
    uint32_t seed = 0x6e7269;
    size_t rejected = 0;
    const size_t rounds = 20000;
    sample_build(&sample, true);
    original.size = sample_pack(&sample.sync.base, original.data);

    for (size_t i = 0; i < rounds; i++) {
        mutated = original;
        for (uint32_t changes = 1 + next_random(&seed) % 4; changes > 0; changes--)
            mutated.data[next_random(&seed) % mutated.size] = (uint8_t)next_random(&seed);
        struct ledger ledger = {.fail_at = next_random(&seed) % 1024};
        if (unpack_once(&nri__pkg__api__v1alpha1__synchronize_request__descriptor, &mutated,
                        &ledger) == OUTCOME_NULL)
            rejected++;
        if (ledger.live != 0 || ledger.bad_frees != 0)
            fail_msg("mutation %zu: %zu leaked, %zu bad frees", i, ledger.live, ledger.bad_frees);
    }
    /* Both outcomes must have been seen, or the mutations prove nothing. */
    assert_in_range(rejected, 1, rounds - 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_T47_unpack_survives_failing_allocations),
        cmocka_unit_test(test_T47_unpack_survives_failing_allocations_with_unknown_fields),
        cmocka_unit_test(test_T46_malformed_is_rejected),
        cmocka_unit_test(test_T46_mutations_leak_nothing),
    };
    return cmocka_run_group_tests_name("proto unpack", tests, NULL, NULL);
}
