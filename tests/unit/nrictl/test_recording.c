/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a recording: what is written is read in any cut, and what is damaged is passed over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "recording.h"

#define ROOM 8192

struct file {
    uint8_t bytes[ROOM];
    size_t size;
    size_t begins[16]; /* of the records */
    size_t records;
};

static void add(struct file *file, enum recording_kind kind, enum recording_direction direction,
                uint32_t connection, const void *data, uint32_t size)
{
    const struct recording_record record = {.time = 1000 + file->records,
                                            .kind = kind,
                                            .direction = direction,
                                            .connection = connection,
                                            .data = data,
                                            .size = size};
    file->begins[file->records++] = file->size;
    recording_put_record(file->bytes + file->size, &record);
    if (size > 0)
        memcpy(file->bytes + file->size + RECORDING_RECORD_HEADER, data, size);
    file->size += RECORDING_RECORD_HEADER + size;
}

/* One of each kind. */
static struct file make(void)
{
    struct file file = {.size = RECORDING_HEADER};
    uint8_t lost[8];
    recording_put_header(file.bytes);
    recording_put_lost(lost, 77);
    add(&file, RECORDING_START, RECORDING_NO_DIRECTION, 0, "{}", 2);
    add(&file, RECORDING_OPEN, RECORDING_NO_DIRECTION, 1, "{}", 2);
    add(&file, RECORDING_BYTES, RECORDING_TO_RUNTIME, 1, "abc", 3);
    add(&file, RECORDING_BYTES, RECORDING_TO_PLUGIN, 1, "defg", 4);
    add(&file, RECORDING_LOST, RECORDING_TO_PLUGIN, 1, lost, 8);
    add(&file, RECORDING_CLOSED, RECORDING_TO_RUNTIME, 1, NULL, 0);
    add(&file, RECORDING_END, RECORDING_NO_DIRECTION, 1, NULL, 0);
    return file;
}

struct told {
    unsigned records, damages, torn;
    uint64_t damaged, lost, first_damage;
    char data[64];
    int code;
};

static void take(struct recording_reader *reader, struct told *told)
{
    struct recording_record record;
    struct recording_damage damage;
    struct nri_error error;
    enum recording_read got;
    while ((told->code = recording_next(reader, &got, &record, &damage, &error)) == 0 &&
           got != RECORDING_MORE) {
        if (got == RECORDING_DAMAGED) {
            if (told->damages++ == 0)
                told->first_damage = damage.offset;
            told->torn += damage.torn;
            told->damaged += damage.size;
            assert_non_null(damage.what);
            continue;
        }
        told->records++;
        told->lost += record.lost;
        if (record.kind == RECORDING_BYTES)
            strncat(told->data, (const char *)record.data, record.size);
    }
}

static struct told read_in(const uint8_t *bytes, size_t size, size_t piece)
{
    struct recording_reader reader;
    struct told told = {0};
    recording_reader_init(&reader);
    for (size_t at = 0; at < size && told.code == 0; at += piece) {
        assert_int_equal(recording_feed(&reader, bytes + at, size - at < piece ? size - at : piece),
                         0);
        take(&reader, &told);
    }
    if (told.code == 0) {
        recording_finish(&reader);
        take(&reader, &told);
    }
    recording_reader_fini(&reader);
    return told;
}

static void test_any_cut(void **state)
{
    const struct file file = make();
    (void)state;
    for (size_t piece = 1; piece <= file.size; piece++) {
        const struct told told = read_in(file.bytes, file.size, piece);
        assert_int_equal(told.code, 0);
        assert_int_equal(told.records, file.records);
        assert_int_equal(told.damages, 0);
        assert_int_equal(told.lost, 77);
        assert_string_equal(told.data, "abcdefg");
    }
}

/* A crash leaves the file cut off anywhere: all records that are whole are read, and it is told. */
static void test_torn_anywhere(void **state)
{
    const struct file file = make();
    (void)state;
    for (size_t size = RECORDING_HEADER; size < file.size; size++) {
        const struct told told = read_in(file.bytes, size, 7);
        size_t whole = 0;
        bool between = size == RECORDING_HEADER;
        while (whole < file.records &&
               (whole + 1 < file.records ? file.begins[whole + 1] : file.size) <= size)
            whole++;
        between = between || file.begins[whole] == size;
        assert_int_equal(told.code, 0);
        assert_int_equal(told.records, whole);
        assert_int_equal(told.torn, between ? 0 : 1);
        assert_int_equal(told.damaged, between ? 0 : size - file.begins[whole]);
    }
}

/* One damaged byte costs the record that it is in, and is told with its place. */
static void test_damage_anywhere(void **state)
{
    const struct file file = make();
    (void)state;
    for (size_t at = RECORDING_HEADER; at < file.size; at++) {
        struct file copy = file;
        size_t record = 0;
        copy.bytes[at] ^= 0x20;
        while (record + 1 < file.records && file.begins[record + 1] <= at)
            record++;
        const struct told told = read_in(copy.bytes, copy.size, 4096);
        assert_int_equal(told.code, 0);
        assert_int_equal(told.records, file.records - 1);
        assert_int_equal(told.damages, 1);
        assert_int_equal(told.first_damage, file.begins[record]);
    }
}

/* A recorder was killed within a record of which the header says more than what is there, and
 * another one went on: nothing of the second is lost. */
static void test_appended_to_a_torn_file(void **state)
{
    const struct file file = make();
    uint8_t both[2 * ROOM];
    (void)state;
    for (size_t torn = RECORDING_HEADER; torn < file.size; torn++) {
        memcpy(both, file.bytes, torn);
        memcpy(both + torn, file.bytes + RECORDING_HEADER, file.size - RECORDING_HEADER);
        const struct told told = read_in(both, torn + file.size - RECORDING_HEADER, 5);
        size_t whole = 0;
        while (whole < file.records &&
               (whole + 1 < file.records ? file.begins[whole + 1] : file.size) <= torn)
            whole++;
        assert_int_equal(told.code, 0);
        assert_int_equal(told.records, whole + file.records);
        assert_int_equal(told.torn, 0);
        assert_int_equal(told.damages,
                         torn == RECORDING_HEADER || file.begins[whole] == torn ? 0 : 1);
    }
}

static void test_other_files(void **state)
{
    struct file file = make();
    (void)state;
    assert_int_equal(read_in(file.bytes, 0, 1).code, NRI_E_PROTOCOL);
    assert_int_equal(read_in(file.bytes, 15, 4).code, NRI_E_PROTOCOL);
    assert_int_equal(read_in((const uint8_t *)"#!/bin/sh\n", 10, 10).code, NRI_E_PROTOCOL);
    for (size_t at = 0; at < RECORDING_HEADER; at++) {
        file.bytes[at] ^= 1;
        assert_int_equal(read_in(file.bytes, file.size, 64).code, NRI_E_PROTOCOL);
        file.bytes[at] ^= 1;
    }
}

/* Kinds, directions, connections and lengths that there are not, with checksums that are right. */
static void test_limits(void **state)
{
    static const struct {
        unsigned kind, direction, connection;
        uint32_t size;
        bool legal;
    } cases[] = {
        {0, 0, 1, 0, false},
        {7, 0, 1, 0, false},
        {255, 0, 1, 0, false},
        {3, 0, 1, 1, false},
        {3, 3, 1, 1, false},
        {3, 1, 0, 1, false},
        {1, 0, 1, 0, false},
        {1, 1, 0, 0, false},
        {2, 1, 1, 0, false},
        {4, 1, 1, 1, false},
        {6, 1, 1, 7, false},
        {6, 1, 1, 9, false},
        {6, 1, 1, 8, true},
        {3, 2, 1, 100, true},
        {4, 2, UINT32_MAX, 0, true},
        {3, 1, 1, RECORDING_MOST_DATA, true},
        {3, 1, 1, RECORDING_MOST_DATA + 1, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t size = cases[i].size;
        uint8_t *data = calloc(1, RECORDING_HEADER + RECORDING_RECORD_HEADER + size);
        uint8_t *const record = data + RECORDING_HEADER;
        assert_non_null(data);
        recording_put_header(data);
        const struct recording_record made = {.kind = (enum recording_kind)cases[i].kind,
                                              .direction =
                                                  (enum recording_direction)cases[i].direction,
                                              .connection = cases[i].connection,
                                              .data = record + RECORDING_RECORD_HEADER,
                                              .size = (uint32_t)size};
        recording_put_record(record, &made);
        const struct told told =
            read_in(data, RECORDING_HEADER + RECORDING_RECORD_HEADER + size, 65536);
        assert_int_equal(told.records, cases[i].legal);
        assert_int_equal(told.damages, !cases[i].legal);
        free(data);
    }
}

/* A file of nothing but headers that say that a mebibyte follows: read in time that goes with its
 * length, in memory of one record. */
static void test_headers_without_data(void **state)
{
    const size_t count = 262144;
    const struct recording_record lie = {.kind = RECORDING_BYTES,
                                         .direction = RECORDING_TO_PLUGIN,
                                         .connection = 1,
                                         .size = RECORDING_MOST_DATA};
    uint8_t *data =
        calloc(1, RECORDING_HEADER + RECORDING_MOST_DATA + count * RECORDING_RECORD_HEADER);
    struct recording_record made = lie;
    (void)state;
    assert_non_null(data);
    recording_put_header(data);
    uint8_t *const first = data + RECORDING_HEADER;
    made.data = first + RECORDING_RECORD_HEADER;
    recording_put_record(first, &made);
    first[RECORDING_RECORD_HEADER] = 1; /* the checksum is of noughts */
    for (size_t i = 1; i < count; i++)
        memcpy(first + i * RECORDING_RECORD_HEADER, first, RECORDING_RECORD_HEADER);
    const struct told told =
        read_in(data, RECORDING_HEADER + count * RECORDING_RECORD_HEADER, 65536);
    assert_int_equal(told.records, 0);
    assert_int_equal(told.damages, 1);
    assert_int_equal(told.damaged, count * RECORDING_RECORD_HEADER);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_cut),
        cmocka_unit_test(test_torn_anywhere),
        cmocka_unit_test(test_damage_anywhere),
        cmocka_unit_test(test_appended_to_a_torn_file),
        cmocka_unit_test(test_other_files),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_headers_without_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
