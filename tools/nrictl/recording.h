/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording: the bytes of NRI connections in one append-only file, whose form doc/recording.md
 * describes.
 *
 * Reading is sans-IO: bytes in any cut go in, records come out, so that a file, a file that still
 * grows, and a fuzzer's input are read by the same code. It holds at most one record. What is
 * damaged is told with its place, and reading goes on with the next record that is whole; a file
 * that ends within a record, as a crash leaves it, is told as torn.
 *
 * Writing to a file is recording_file.h.
 */
#ifndef NRICTL_RECORDING_H
#define NRICTL_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

#define RECORDING_HEADER        16u /* bytes at the beginning of the file */
#define RECORDING_RECORD_HEADER 32u
#define RECORDING_MOST_DATA     (UINT32_C(1) << 20) /* of one record; more is no record */
#define RECORDING_VERSION       1u

enum recording_kind {
    RECORDING_START = 1,  /* a recorder began; connections count from 1 again; data: JSON */
    RECORDING_OPEN = 2,   /* a connection; data: JSON, who is at its ends */
    RECORDING_BYTES = 3,  /* data: what `direction` sent */
    RECORDING_CLOSED = 4, /* `direction` sent its last byte: a half-close */
    RECORDING_END = 5,    /* the connection is over; data: JSON, why; may be empty */
    RECORDING_LOST = 6,   /* data: 8 bytes, how many bytes of `direction` are not in the file */
};

enum recording_direction {
    RECORDING_NO_DIRECTION = 0,
    RECORDING_TO_RUNTIME = 1, /* the plugin sent it */
    RECORDING_TO_PLUGIN = 2,  /* the runtime sent it */
};

struct recording_record {
    uint64_t time; /* ns since 1970, by a clock that never goes back within one recorder */
    enum recording_kind kind;
    enum recording_direction direction; /* none where the kind has none */
    uint32_t connection;                /* from 1; 0 for RECORDING_START */
    const uint8_t *data;                /* lives until the next call */
    uint32_t size;
    uint64_t lost;   /* of RECORDING_LOST */
    uint64_t offset; /* where it begins in the file */
};

/* ---- reading ---- */

enum recording_read {
    RECORDING_MORE,    /* all bytes are used: give more, or the file is at its end */
    RECORDING_RECORD,  /* *record is one */
    RECORDING_DAMAGED, /* *damage: bytes that are no record were passed over */
};

struct recording_damage {
    uint64_t offset, size; /* in the file */
    const char *what;      /* "a checksum is wrong": lives for ever */
    bool torn;             /* it reaches to the end of the file, which ends within a record */
};

struct recording_reader {
    struct nri_buf bytes;
    uint64_t offset; /* in the file, of the first of `bytes` */
    uint64_t
        again;   /* up to there bytes are looked at a second time, for records within a torn one */
    size_t used; /* of `bytes`, by the record that was given last */
    bool begun;  /* the file's header was read */
    bool finished;                  /* nothing follows */
    struct recording_damage damage; /* being gathered, while its size is not 0 */
};

void recording_reader_init(struct recording_reader *reader);
void recording_reader_fini(struct recording_reader *reader);
/* NRI_E_NOMEM. NRI_E_LIMIT: 4 MiB are there that recording_next() was not asked for. */
int recording_feed(struct recording_reader *reader, const void *bytes, size_t count);
/* The file is at its end: recording_next() tells of what is left, until RECORDING_MORE. */
void recording_finish(struct recording_reader *reader);
/*
 * Takes the next record, or says that there is none yet. NRI_E_PROTOCOL with a text: the file is no
 * recording, or one of a version that this reader does not know; nothing more comes of it.
 */
int recording_next(struct recording_reader *reader, enum recording_read *got,
                   struct recording_record *record, struct recording_damage *damage,
                   struct nri_error *error);

/* ---- writing ---- */

/* The file's header: RECORDING_HEADER bytes. */
void recording_put_header(uint8_t *at);
/* A record's header: RECORDING_RECORD_HEADER bytes; record->size bytes of record->data go behind
 * it, at most RECORDING_MOST_DATA. `offset` and `lost` of the record do not count: the data of
 * RECORDING_LOST is the caller's (recording_put_lost()). */
void recording_put_record(uint8_t *at, const struct recording_record *record);
void recording_put_lost(uint8_t at[8], uint64_t lost);

const char *recording_kind_name(enum recording_kind kind);
/* "plugin" or "runtime": who sent it; "" for none. */
const char *recording_sender(enum recording_direction direction);

#endif
