/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state's checkpoint: any bytes are refused with a text, or give notes that make the same bytes
 * again. The input is tried as it is, and as the body behind a first line that fits it, because no
 * fuzzer finds a checksum.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "plugin/state_checkpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}
#define CHECK(condition) check((condition), #condition)

#define HEADER           40u

static int write_again(void *user, const char *id, size_t id_length, const char *note,
                       size_t length)
{
    CHECK(id_length > 0 && strlen(id) == id_length && strlen(note) == length);
    CHECK(nri_utf8_valid(id, id_length, NULL) && nri_utf8_valid(note, length, NULL));
    nri_state_checkpoint_note(user, id, id_length, note, length);
    return 0;
}

static int read_and_write(const uint8_t *bytes, size_t count, struct nri_buf *out,
                          const struct nri_alloc *alloc)
{
    static const uint64_t seed[2] = {1, 2};
    struct nri_state_checkpoint checkpoint;
    struct nri_error error = {0};
    nri_state_checkpoint_begin(&checkpoint, out);
    const int code =
        nri_state_checkpoint_read(bytes, count, alloc, seed, write_again, &checkpoint, &error);
    CHECK(code == 0 || code == NRI_E_SYNTAX || code == NRI_E_UNSUPPORTED);
    CHECK(code == error.code);
    CHECK((code == 0) == (error.text[0] == '\0'));
    CHECK(nri_state_checkpoint_end(&checkpoint) == 0);
    return code;
}

/* What was written is read, and written the same. */
static void check_round_trip(const uint8_t *bytes, size_t count, const struct nri_alloc *alloc)
{
    struct nri_buf first, second;
    nri_buf_init(&first, alloc, SIZE_MAX);
    nri_buf_init(&second, alloc, SIZE_MAX);
    if (read_and_write(bytes, count, &first, alloc) == 0) {
        const uint8_t *written = first.data + first.start;
        CHECK(read_and_write(written, nri_buf_size(&first), &second, alloc) == 0);
        CHECK(nri_buf_size(&first) == nri_buf_size(&second));
        CHECK(memcmp(written, second.data + second.start, nri_buf_size(&first)) == 0);
    }
    nri_buf_fini(&first);
    nri_buf_fini(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t key[2] = {0, 0};
    struct nri_alloc alloc;
    char header[64];
    CHECK(nri_alloc_resolve(&alloc, NULL) == 0);
    check_round_trip(data, size, &alloc);
    uint8_t *whole = malloc(HEADER + size);
    CHECK(whole != NULL);
    (void)snprintf(header, sizeof header, "nri-state 1 %010zu %016llx\n", size,
                   (unsigned long long)nri_hash(key, data, size));
    memcpy(whole, header, HEADER);
    if (size > 0)
        memcpy(whole + HEADER, data, size);
    check_round_trip(whole, HEADER + size, &alloc);
    free(whole);
    return 0;
}
