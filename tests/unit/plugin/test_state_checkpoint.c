/* SPDX-License-Identifier: Apache-2.0 */
/* The format of a checkpoint: the bytes, there and back, damage of every kind, and its limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "fail_alloc.h"
#include "plugin/state_checkpoint.h"

static const uint64_t seed[2] = {1, 2};

/* What was read, as "id=note;". */
struct reading {
    char text[8192];
    int result; /* of the callback */
};

static int take(void *user, const char *id, size_t id_length, const char *note, size_t length)
{
    struct reading *reading = user;
    const size_t used = strlen(reading->text);
    (void)snprintf(reading->text + used, sizeof reading->text - used, "%.*s=%.*s;", (int)id_length,
                   id, (int)length, note);
    return reading->result;
}

static int read_bytes(const void *bytes, size_t count, struct reading *reading,
                      struct nri_error *error)
{
    struct nri_alloc alloc;
    assert_int_equal(nri_alloc_resolve(&alloc, NULL), 0);
    *reading = (struct reading){.result = reading->result};
    nri_error_clear(error);
    return nri_state_checkpoint_read(bytes, count, &alloc, seed, take, reading, error);
}

static int make(struct nri_buf *buf, const char *const (*notes)[2], size_t count)
{
    struct nri_state_checkpoint checkpoint;
    nri_state_checkpoint_begin(&checkpoint, buf);
    for (size_t i = 0; i < count; i++)
        nri_state_checkpoint_note(&checkpoint, notes[i][0], strlen(notes[i][0]), notes[i][1],
                                  strlen(notes[i][1]));
    return nri_state_checkpoint_end(&checkpoint);
}

static const char *const sample[][2] = {
    {"c1", "cpus=4-7"}, {"c2", "\xc3\xa4 \"quoted\"\n\t\\"}, {"c3", ""}, {"0123456789abcdef", "x"}};
#define SAMPLES (sizeof sample / sizeof sample[0])

static void open_buf(struct nri_buf *buf, size_t limit)
{
    struct nri_alloc alloc;
    assert_int_equal(nri_alloc_resolve(&alloc, NULL), 0);
    nri_buf_init(buf, &alloc, limit);
}

/* A checkpoint of the whole sample. */
static void make_sample(struct nri_buf *buf)
{
    open_buf(buf, SIZE_MAX);
    assert_int_equal(make(buf, sample, SAMPLES), 0);
}

/* The bytes as they are on disks: they must not change while the version is 1. */
static void test_bytes(void **state)
{
    static const char expected[] = "nri-state 1 0000000028 ";
    struct nri_buf buf;
    (void)state;
    open_buf(&buf, SIZE_MAX);
    assert_int_equal(make(&buf, sample, 1), 0);
    const char *bytes = (const char *)buf.data + buf.start;
    assert_int_equal(nri_buf_size(&buf), 40 + 28);
    assert_memory_equal(bytes, expected, strlen(expected));
    assert_memory_equal(bytes + 23, "74b5ee69d4f8c904\n", 17);
    assert_memory_equal(bytes + 40, "{\"notes\":{\"c1\":\"cpus=4-7\"}}\n", 28);
    nri_buf_fini(&buf);
}

static void test_there_and_back(void **state)
{
    struct nri_error error;
    struct reading reading = {.result = 0};
    struct nri_buf buf;
    (void)state;
    make_sample(&buf);
    assert_int_equal(read_bytes(buf.data + buf.start, nri_buf_size(&buf), &reading, &error), 0);
    assert_string_equal(reading.text,
                        "c1=cpus=4-7;c2=\xc3\xa4 \"quoted\"\n\t\\;c3=;0123456789abcdef=x;");
    /* What the callback returns ends it. */
    reading.result = NRI_E_NOMEM;
    assert_int_equal(read_bytes(buf.data + buf.start, nri_buf_size(&buf), &reading, &error),
                     NRI_E_NOMEM);
    assert_string_equal(reading.text, "c1=cpus=4-7;");
    nri_buf_reset(&buf, 0);
    reading.result = 0;
    assert_int_equal(make(&buf, sample, 0), 0);
    assert_int_equal(read_bytes(buf.data + buf.start, nri_buf_size(&buf), &reading, &error), 0);
    assert_string_equal(reading.text, "");
    nri_buf_fini(&buf);
}

/* No damage of one byte passes, whatever it becomes; and what is damaged gives no notes. */
static void test_every_byte_flipped(void **state)
{
    struct nri_error error;
    struct reading reading = {.result = 0};
    struct nri_buf buf;
    (void)state;
    make_sample(&buf);
    uint8_t *bytes = buf.data + buf.start;
    const size_t count = nri_buf_size(&buf);
    for (size_t i = 0; i < count; i++) {
        for (unsigned change = 1; change < 256; change++) {
            bytes[i] ^= (uint8_t)change;
            const int code = read_bytes(bytes, count, &reading, &error);
            /* A version that is none of ours is the one thing that is not called damage. */
            const bool version = i == 10 || (i == 11 && bytes[11] >= '0' && bytes[11] <= '9');
            if (code != NRI_E_SYNTAX && !(version && code == NRI_E_UNSUPPORTED))
                fail_msg("byte %zu as %02x: %d", i, bytes[i], code);
            assert_string_not_equal(error.text, "");
            assert_string_equal(reading.text, "");
            bytes[i] ^= (uint8_t)change;
        }
    }
    assert_int_equal(read_bytes(bytes, count, &reading, &error), 0);
    nri_buf_fini(&buf);
}

static void test_every_length(void **state)
{
    struct nri_error error;
    struct reading reading = {.result = 0};
    struct nri_buf buf;
    (void)state;
    make_sample(&buf);
    const size_t count = nri_buf_size(&buf);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(read_bytes(buf.data + buf.start, i, &reading, &error), NRI_E_SYNTAX);
    assert_int_equal(nri_buf_append(&buf, "\n", 1), 0);
    assert_int_equal(read_bytes(buf.data + buf.start, count + 1, &reading, &error), NRI_E_SYNTAX);
    nri_buf_fini(&buf);
}

static void test_versions(void **state)
{
    static const struct {
        const char *bytes;
        int code;
        const char *text;
    } rows[] = {
        {"", NRI_E_SYNTAX, "it does not begin with \"nri-state \""},
        {"nri-state 1", NRI_E_SYNTAX, "it is cut off in its first line"},
        {"nri-state 0 ", NRI_E_SYNTAX, "it is cut off in its first line"},
        {"nri-state 2\n", NRI_E_UNSUPPORTED, "it has version 2; this libnri knows 1"},
        {"nri-state 17 1 2 3", NRI_E_UNSUPPORTED, "it has version 17; this libnri knows 1"},
        {"nri-state 99999999999999999999999999", NRI_E_UNSUPPORTED,
         "it has version 9999999999; this libnri knows 1"},
        {"{\"notes\":{}}", NRI_E_SYNTAX, "it does not begin with \"nri-state \""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct nri_error error;
        struct reading reading = {.result = 0};
        assert_int_equal(read_bytes(rows[i].bytes, strlen(rows[i].bytes), &reading, &error),
                         rows[i].code);
        assert_string_equal(error.text, rows[i].text);
    }
}

/* A body that is whole, but not what a checkpoint has. */
static void test_contents(void **state)
{
    static const char *const bodies[] = {
        "",
        "{}",
        "[]",
        "{\"notes\":[]}",
        "{\"notes\":{\"c\":1}}",
        "{\"notes\":{\"\":\"x\"}}",
        "{\"notes\":{\"c\":\"x\",\"c\":\"y\"}}",
        "{\"notes\":{\"c\":\"\\u0000\"}}",
        "{\"notes\":{\"c\":\"\xff\"}}",
        "{\"notes\":{},\"more\":1}",
        "{\"notes\":{}} x",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    };
    static const uint64_t key[2] = {0, 0};
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct nri_error error;
        struct reading reading = {.result = 0};
        char text[256];
        const size_t length = strlen(bodies[i]);
        const int head = snprintf(text, sizeof text, "nri-state 1 %010zu %016llx\n%s", length,
                                  (unsigned long long)nri_hash(key, bodies[i], length), bodies[i]);
        if (read_bytes(text, (size_t)head, &reading, &error) != NRI_E_SYNTAX)
            fail_msg("%s was read", bodies[i]);
        assert_int_equal(error.code, NRI_E_SYNTAX);
        assert_string_not_equal(error.text, "");
        assert_string_equal(reading.text, "");
    }
}

static void test_limit(void **state)
{
    struct nri_buf buf;
    (void)state;
    make_sample(&buf);
    const size_t size = nri_buf_size(&buf);
    nri_buf_fini(&buf);
    for (size_t limit = 0; limit < size; limit++) {
        open_buf(&buf, limit);
        assert_int_equal(make(&buf, sample, SAMPLES), NRI_E_LIMIT);
        nri_buf_fini(&buf);
    }
    open_buf(&buf, size);
    assert_int_equal(make(&buf, sample, SAMPLES), 0);
    nri_buf_fini(&buf);
}

static void test_allocation_failures(void **state)
{
    struct fail_alloc memory;
    struct nri_buf buf;
    (void)state;
    fail_alloc_init(&memory, NULL);
    const struct nri_alloc alloc = fail_alloc_resolved(&memory);
    for (size_t n = 1;; n++) {
        struct reading reading = {.result = 0};
        struct nri_error error;
        nri_error_clear(&error);
        nri_buf_init(&buf, &alloc, SIZE_MAX);
        fail_alloc_arm(&memory, n);
        int code = make(&buf, sample, SAMPLES);
        if (code == 0)
            code = nri_state_checkpoint_read(buf.data + buf.start, nri_buf_size(&buf), &alloc, seed,
                                             take, &reading, &error);
        nri_buf_fini(&buf);
        assert_int_equal(memory.live_blocks, 0);
        if (!memory.fired) {
            assert_int_equal(code, 0);
            assert_true(n > 2);
            break;
        }
        assert_int_equal(code, NRI_E_NOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_every_byte_flipped),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_contents),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
