/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames: any bytes, cut anywhere, give the same items or the same error as in one piece, and
 * nothing but what came in. The first byte is the size of the pieces.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/reader.h"

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

/* A sum of all that a reader says; the data counts byte by byte, so that cuts make no difference.
 */
struct sum {
    uint64_t hash;
    uint64_t messages, bytes;
    uint64_t left[3]; /* of the open message, by connection id */
    bool open[3];
    int code;
};

static void add(struct sum *sum, uint64_t value)
{
    sum->hash = (sum->hash ^ value) * UINT64_C(0x100000001b3);
}

static void take(struct sum *sum, const struct nri_wire_item *item)
{
    CHECK(item->id == NRI_MUX_PLUGIN_ID || item->id == NRI_MUX_RUNTIME_ID);
    switch (item->kind) {
    case NRI_WIRE_HEADER:
        CHECK(!sum->open[item->id]);
        CHECK(item->length != UINT32_MAX);
        sum->open[item->id] = true;
        sum->left[item->id] = item->length;
        add(sum, item->id);
        add(sum, item->stream);
        add(sum, item->type);
        add(sum, item->flags);
        add(sum, item->length);
        break;
    case NRI_WIRE_DATA:
        CHECK(sum->open[item->id]);
        CHECK(item->size > 0 && item->size <= sum->left[item->id]);
        sum->left[item->id] -= item->size;
        sum->bytes += item->size;
        for (size_t i = 0; i < item->size; i++) {
            add(sum, item->data[i]);
        }
        break;
    case NRI_WIRE_END:
        CHECK(sum->open[item->id] && sum->left[item->id] == 0);
        sum->open[item->id] = false;
        sum->messages++;
        add(sum, 0xE0D);
        break;
    case NRI_WIRE_MORE:
        CHECK(false);
    }
}

/* Reads the bytes in pieces of `step`, each in a block of its own size. */
static struct sum read_all(const uint8_t *data, size_t size, size_t step)
{
    struct sum sum = {.hash = UINT64_C(0xcbf29ce484222325)};
    struct nri_wire_reader reader;
    struct nri_error error;
    nri_wire_reader_init(&reader);
    for (size_t start = 0; start < size && sum.code == 0; start += step) {
        size_t count = size - start < step ? size - start : step;
        uint8_t *piece = malloc(count);
        CHECK(piece != NULL);
        memcpy(piece, data + start, count);
        const uint8_t *at = piece;
        for (;;) {
            struct nri_wire_item item;
            const uint8_t *const before = at;
            const size_t count_before = count;
            sum.code = nri_wire_read(&reader, &at, &count, &item, &error);
            CHECK(count_before - count == (size_t)(at - before));
            if (sum.code != 0 || item.kind == NRI_WIRE_MORE) {
                break;
            }
            take(&sum, &item);
        }
        CHECK(sum.code != 0 || count == 0);
        free(piece);
    }
    if (sum.code != 0) {
        CHECK(sum.code == NRI_E_PROTOCOL && error.code == NRI_E_PROTOCOL && error.text[0] != '\0');
    } else if (sum.open[1] || sum.open[2]) {
        CHECK(!nri_wire_reader_at_boundary(&reader));
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    const size_t step = data[0] == 0 ? 1 : data[0];
    const struct sum whole = read_all(data + 1, size - 1, size);
    const struct sum pieces = read_all(data + 1, size - 1, step);
    CHECK(whole.hash == pieces.hash);
    CHECK(whole.messages == pieces.messages);
    CHECK(whole.bytes == pieces.bytes);
    CHECK(whole.code == pieces.code);
    return 0;
}
