/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorded streams in tests/data/captures, and the ways to cut a stream into pieces.
 *
 *     struct capture_cuts cuts = capture_cuts(&capture);
 *     struct capture_cut cut;
 *     while (capture_cuts_next(&cuts, &cut)) {
 *         start a session;
 *         while (capture_cut_piece(&cut, &bytes, &count))
 *             feed it;
 *     }
 */
#ifndef NRI_TESTS_CAPTURE_H
#define NRI_TESTS_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture {
    const char *name;
    uint8_t *bytes;
    size_t size;
    size_t *frames; /* where each mux frame begins, and last the size */
    size_t frame_count;
};

/* Names such as "containerd-2.1.9/simple.r2p.bin": of all the streams, with NULL at the end. r2p:
 * runtime to plugin. */
extern const char *const capture_names[];

/* Reads a stream; prints why it cannot. The files are in $NRI_TEST_DATA/captures, or where the
 * build says. */
bool capture_load(struct capture *capture, const char *name);
/* Reads a stream from a file anywhere; `path` is its name, and not copied. */
bool capture_load_file(struct capture *capture, const char *path);
/* A stream made by the caller, whose bytes are copied; `name` is not. */
bool capture_make(struct capture *capture, const char *name, const uint8_t *bytes, size_t size);
void capture_free(struct capture *capture);

/* One way to cut: in two at `at`, or in pieces of `step` bytes when that is not 0. */
struct capture_cut {
    const struct capture *capture;
    size_t at, step;
    size_t next; /* where the next piece begins */
};

/* All ways: a stream of up to 64 KiB in two at every offset, a larger one within 32 bytes of every
 * frame boundary; then in pieces of 1, 143, 4095, 4096 and 4097 bytes, and whole. */
struct capture_cuts {
    const struct capture *capture;
    size_t at;    /* the last cut in two */
    size_t frame; /* the first frame that begins at or behind it */
    size_t steps; /* how many of the sizes were used */
};

struct capture_cuts capture_cuts(const struct capture *capture);
bool capture_cuts_next(struct capture_cuts *cuts, struct capture_cut *cut);
/* The next piece, never empty; false at the end. */
bool capture_cut_piece(struct capture_cut *cut, const uint8_t **bytes, size_t *count);

#endif
