/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tap: what one side of a connection sends, in any cut, made into ttRPC messages with their
 * place.
 *
 * It reads on where a peer would close: what is no message is told, and bytes are passed over up to
 * the next that look like the beginning of one.
 */
#ifndef NRICTL_TAP_H
#define NRICTL_TAP_H

#include "base/buf.h"
#include "wire/reader.h"

struct tap_message {
    uint64_t first, time; /* of its first and its last byte */
    uint64_t offset;      /* of its mux header in all that was sent */
    uint32_t mux, stream;
    uint8_t type, flags;
    const uint8_t *bytes; /* never NULL; live during the call */
    size_t size;
};

struct tap_watch {
    int (*message)(void *user, const struct tap_message *message); /* 0, or NRI_E_NOMEM */
    void (*garbage)(void *user, uint64_t time, uint64_t offset, uint64_t size, const char *what);
};

/* A message that is not complete. */
struct tap_part {
    struct nri_buf bytes;
    uint64_t first, offset;
    bool skipped; /* too large: told, and its data dropped */
};

struct tap {
    struct nri_wire_reader reader;
    struct tap_part parts[2]; /* of mux connections 1 and 2 */
    struct nri_buf search;    /* bytes that may be the beginning of a message */
    bool searching;
    uint64_t time, offset; /* of what is read now; how much was read */
    uint64_t frame;        /* where the mux frame begins that is read now */
    uint64_t garbage;      /* where the bytes begin that are passed over */
    const char *why;       /* why they are */
    size_t *unfinished;    /* bytes in all parts of all taps of a session */
    struct tap_watch watch;
    void *user;
};

void tap_init(struct tap *tap, size_t *unfinished, const struct tap_watch *watch, void *user);
void tap_fini(struct tap *tap);
/* 0; NRI_E_NOMEM. */
int tap_take(struct tap *tap, uint64_t time, const uint8_t *bytes, size_t count);
/* `lost` bytes were sent that are not there. */
void tap_skip(struct tap *tap, uint64_t time, uint64_t lost);
/* Nothing follows: what is unfinished is told. */
void tap_finish(struct tap *tap, uint64_t time);

#endif
