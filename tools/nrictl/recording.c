/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include <string.h>

#include "memory.h"

#define MOST_WAITING ((size_t)4 << 20)

static const uint8_t magic[8] = {0x89, 'N', 'R', 'I', 'R', 'E', 'C', '\n'};
static const uint8_t mark[4] = {0xa7, 'N', 'R', 'R'};

/* ---- numbers and checksums ---- */

static void put(uint8_t *at, size_t size, uint64_t value)
{
    for (size_t i = size; i-- > 0; value >>= 8)
        at[i] = (uint8_t)value;
}

static uint64_t get(const uint8_t *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | at[i];
    return value;
}

/* CRC-32 as of gzip and Ethernet, four bits a step: the table is short enough to be looked over. */
static uint32_t checksum(const uint8_t *bytes, size_t count)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

/* ---- the form: doc/recording.md has the same as a table ---- */

enum {
    AT_VERSION = 8,
    AT_ZERO = 10,
    AT_CHECKSUM = 12, /* of the 12 bytes in front */

    AT_KIND = 4,
    AT_DIRECTION = 5,
    AT_BLANK = 6,
    AT_CONNECTION = 8,
    AT_SIZE = 12,
    AT_TIME = 16,
    AT_DATA_CHECKSUM = 24,
    AT_HEADER_CHECKSUM = 28, /* of the 28 bytes in front */
};

void recording_put_header(uint8_t *at)
{
    memcpy(at, magic, sizeof magic);
    put(at + AT_VERSION, 2, RECORDING_VERSION);
    put(at + AT_ZERO, 2, 0);
    put(at + AT_CHECKSUM, 4, checksum(at, AT_CHECKSUM));
}

void recording_put_record(uint8_t *at, const struct recording_record *record)
{
    memcpy(at, mark, sizeof mark);
    at[AT_KIND] = (uint8_t)record->kind;
    at[AT_DIRECTION] = (uint8_t)record->direction;
    put(at + AT_BLANK, 2, 0);
    put(at + AT_CONNECTION, 4, record->connection);
    put(at + AT_SIZE, 4, record->size);
    put(at + AT_TIME, 8, record->time);
    put(at + AT_DATA_CHECKSUM, 4, checksum(record->data, record->size));
    put(at + AT_HEADER_CHECKSUM, 4, checksum(at, AT_HEADER_CHECKSUM));
}

void recording_put_lost(uint8_t at[8], uint64_t lost)
{
    put(at, 8, lost);
}

const char *recording_kind_name(enum recording_kind kind)
{
    static const char *const names[] = {
        [RECORDING_START] = "start",   [RECORDING_OPEN] = "open", [RECORDING_BYTES] = "bytes",
        [RECORDING_CLOSED] = "closed", [RECORDING_END] = "end",   [RECORDING_LOST] = "lost"};
    return names[kind];
}

const char *recording_sender(enum recording_direction direction)
{
    switch (direction) {
    case RECORDING_TO_RUNTIME:
        return "plugin";
    case RECORDING_TO_PLUGIN:
        return "runtime";
    default:
        return "";
    }
}

/* ---- reading ---- */

void recording_reader_init(struct recording_reader *reader)
{
    memset(reader, 0, sizeof *reader);
    memory_buf(&reader->bytes, MOST_WAITING);
}

void recording_reader_fini(struct recording_reader *reader)
{
    nri_buf_fini(&reader->bytes);
}

int recording_feed(struct recording_reader *reader, const void *bytes, size_t count)
{
    return nri_buf_append(&reader->bytes, bytes, count);
}

void recording_finish(struct recording_reader *reader)
{
    reader->finished = true;
}

/* Only where there are some. */
static const uint8_t *begin_of(const struct recording_reader *reader)
{
    return reader->bytes.data + reader->bytes.start;
}

static void use(struct recording_reader *reader, size_t count)
{
    if (count == 0)
        return;
    nri_buf_consume(&reader->bytes, count);
    reader->offset += count;
}

/* Passes over bytes that are no record: one damage as long as no record comes between. */
static void add_damage(struct recording_reader *reader, size_t count, const char *what)
{
    if (reader->damage.size == 0)
        reader->damage = (struct recording_damage){.offset = reader->offset, .what = what};
    reader->damage.size += count;
    use(reader, count);
}

static int take_header(struct recording_reader *reader, struct nri_error *error)
{
    const size_t size = nri_buf_size(&reader->bytes);
    const size_t compared = size < sizeof magic ? size : sizeof magic;
    const uint8_t *at = size > 0 ? begin_of(reader) : magic;
    if (memcmp(at, magic, compared) != 0)
        return nri_error_set(error, NRI_E_PROTOCOL, "this is no recording of nrictl");
    if (size < RECORDING_HEADER) {
        return reader->finished ? nri_error_set(error, NRI_E_PROTOCOL,
                                                "a recording has at least %u bytes, this file %zu",
                                                RECORDING_HEADER, size)
                                : 0;
    }
    if (get(at + AT_CHECKSUM, 4) != checksum(at, AT_CHECKSUM))
        return nri_error_set(error, NRI_E_PROTOCOL, "the recording's first 16 bytes are damaged");
    if (get(at + AT_VERSION, 2) != RECORDING_VERSION || get(at + AT_ZERO, 2) != 0)
        return nri_error_set(error, NRI_E_PROTOCOL,
                             "the recording has version %u, this nrictl reads version %u",
                             (unsigned)get(at + AT_VERSION, 2), RECORDING_VERSION);
    use(reader, RECORDING_HEADER);
    reader->begun = true;
    return 0;
}

/* What a kind has: a direction, a connection, at most so much data. */
static bool is_possible(const struct recording_record *record)
{
    const bool directed = record->kind == RECORDING_BYTES || record->kind == RECORDING_CLOSED ||
                          record->kind == RECORDING_LOST;
    if (record->kind < RECORDING_START || record->kind > RECORDING_LOST ||
        record->direction > RECORDING_TO_PLUGIN ||
        directed != (record->direction != RECORDING_NO_DIRECTION) ||
        (record->kind == RECORDING_START) != (record->connection == 0))
        return false;
    switch (record->kind) {
    case RECORDING_CLOSED:
        return record->size == 0;
    case RECORDING_LOST:
        return record->size == 8;
    default:
        return record->size <= RECORDING_MOST_DATA;
    }
}

/* NULL, or what is wrong with a record's header. */
static const char *take_record_header(const struct recording_reader *reader,
                                      struct recording_record *record)
{
    const uint8_t *at = begin_of(reader);
    if (get(at + AT_HEADER_CHECKSUM, 4) != checksum(at, AT_HEADER_CHECKSUM))
        return "a record's header does not fit its checksum";
    *record = (struct recording_record){
        .time = get(at + AT_TIME, 8),
        .kind = at[AT_KIND],
        .direction = at[AT_DIRECTION],
        .connection = (uint32_t)get(at + AT_CONNECTION, 4),
        .size = (uint32_t)get(at + AT_SIZE, 4),
        .offset = reader->offset,
    };
    return is_possible(record) && get(at + AT_BLANK, 2) == 0
               ? NULL
               : "a record of a kind or a length that there is not";
}

/* Whether the bytes begin with a mark, or with all that is there of one; else they are passed over
 * up to what may be one. */
static bool at_mark(struct recording_reader *reader)
{
    for (;;) {
        const size_t size = nri_buf_size(&reader->bytes);
        const size_t compared = size < sizeof mark ? size : sizeof mark;
        if (compared == 0)
            return false;
        const uint8_t *at = begin_of(reader);
        if (memcmp(at, mark, compared) == 0)
            return true;
        const uint8_t *next = size > 1 ? memchr(at + 1, mark[0], size - 1) : NULL;
        add_damage(reader, next != NULL ? (size_t)(next - at) : size, "bytes that are no record");
    }
}

/*
 * A record whose data are not what it says. The header alone is passed over, because a recorder
 * that was killed within a record may have been followed by another one; but nothing is looked at
 * more than twice, or a file of nothing but such headers would take for ever.
 */
static void pass_over(struct recording_reader *reader, const struct recording_record *record)
{
    const size_t whole = RECORDING_RECORD_HEADER + record->size;
    if (reader->offset < reader->again) {
        add_damage(reader, whole, "a record's data do not fit their checksum");
        return;
    }
    reader->again = reader->offset + whole;
    add_damage(reader, RECORDING_RECORD_HEADER, "a record's data do not fit their checksum");
}

/* The file ends within a record, or what looks like one. */
static void pass_over_tail(struct recording_reader *reader)
{
    const size_t size = nri_buf_size(&reader->bytes);
    add_damage(reader, size < RECORDING_RECORD_HEADER ? size : RECORDING_RECORD_HEADER,
               "the file ends within a record");
    reader->damage.torn = true;
}

/* A whole record in front, or false: there is none, or not yet. */
static bool find(struct recording_reader *reader, struct recording_record *record)
{
    while (at_mark(reader)) {
        const size_t size = nri_buf_size(&reader->bytes);
        const char *wrong = NULL;
        if (size >= RECORDING_RECORD_HEADER)
            wrong = take_record_header(reader, record);
        if (wrong != NULL) {
            add_damage(reader, sizeof mark, wrong);
        } else if (size < RECORDING_RECORD_HEADER ||
                   size - RECORDING_RECORD_HEADER < record->size) {
            if (!reader->finished)
                return false;
            pass_over_tail(reader);
        } else {
            record->data = begin_of(reader) + RECORDING_RECORD_HEADER;
            if (get(begin_of(reader) + AT_DATA_CHECKSUM, 4) == checksum(record->data, record->size))
                return true;
            pass_over(reader, record);
        }
    }
    return false;
}

int recording_next(struct recording_reader *reader, enum recording_read *got,
                   struct recording_record *record, struct recording_damage *damage,
                   struct nri_error *error)
{
    *got = RECORDING_MORE;
    use(reader, reader->used);
    reader->used = 0;
    if (!reader->begun) {
        const int code = take_header(reader, error);
        if (code != 0 || !reader->begun)
            return code;
    }
    const bool found = find(reader, record);
    if (reader->damage.size > 0 && (found || reader->finished)) {
        /* A record behind it is found again by the next call. */
        *got = RECORDING_DAMAGED;
        *damage = reader->damage;
        damage->torn = damage->torn && !found;
        reader->damage = (struct recording_damage){0};
    } else if (found) {
        *got = RECORDING_RECORD;
        reader->used = RECORDING_RECORD_HEADER + record->size;
        record->lost = record->kind == RECORDING_LOST ? get(record->data, 8) : 0;
    }
    return 0;
}
