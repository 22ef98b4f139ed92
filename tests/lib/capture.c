/* SPDX-License-Identifier: Apache-2.0 */
#include "capture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture_data.h"

#define EVERY_OFFSET ((size_t)64 * 1024)
#define NEAR         32
#define MUX_HEADER   8

const char *const capture_names[] = {
    "containerd-1.7.24/errors-refuse-2.p2r.bin",
    "containerd-1.7.24/errors-refuse-2.r2p.bin",
    "containerd-1.7.24/errors-refuse-3.p2r.bin",
    "containerd-1.7.24/errors-refuse-3.r2p.bin",
    "containerd-1.7.24/errors-refuse-4.p2r.bin",
    "containerd-1.7.24/errors-refuse-4.r2p.bin",
    "containerd-1.7.24/errors-refuse-5.p2r.bin",
    "containerd-1.7.24/errors-refuse-5.r2p.bin",
    "containerd-1.7.24/errors-refuse.p2r.bin",
    "containerd-1.7.24/errors-refuse.r2p.bin",
    "containerd-1.7.24/exit.p2r.bin",
    "containerd-1.7.24/exit.r2p.bin",
    "containerd-1.7.24/preinstalled.p2r.bin",
    "containerd-1.7.24/preinstalled.r2p.bin",
    "containerd-1.7.24/rich.p2r.bin",
    "containerd-1.7.24/rich.r2p.bin",
    "containerd-1.7.24/simple.p2r.bin",
    "containerd-1.7.24/simple.r2p.bin",
    "containerd-1.7.24/syncsplit.p2r.bin",
    "containerd-1.7.24/twoplugins-2.p2r.bin",
    "containerd-1.7.24/twoplugins-2.r2p.bin",
    "containerd-2.1.9/configure-first.p2r.bin",
    "containerd-2.1.9/configure-first.r2p.bin",
    "containerd-2.1.9/errors-refuse-2.p2r.bin",
    "containerd-2.1.9/errors-refuse-2.r2p.bin",
    "containerd-2.1.9/errors-refuse-3.p2r.bin",
    "containerd-2.1.9/errors-refuse-3.r2p.bin",
    "containerd-2.1.9/errors-refuse-4.p2r.bin",
    "containerd-2.1.9/errors-refuse-4.r2p.bin",
    "containerd-2.1.9/errors-refuse-5.p2r.bin",
    "containerd-2.1.9/errors-refuse-5.r2p.bin",
    "containerd-2.1.9/errors-refuse.p2r.bin",
    "containerd-2.1.9/errors-refuse.r2p.bin",
    "containerd-2.1.9/exit.p2r.bin",
    "containerd-2.1.9/exit.r2p.bin",
    "containerd-2.1.9/preinstalled.p2r.bin",
    "containerd-2.1.9/preinstalled.r2p.bin",
    "containerd-2.1.9/rich.p2r.bin",
    "containerd-2.1.9/rich.r2p.bin",
    "containerd-2.1.9/simple.p2r.bin",
    "containerd-2.1.9/simple.r2p.bin",
    "containerd-2.1.9/syncsplit.p2r.bin",
    "containerd-2.1.9/twoplugins-2.p2r.bin",
    "containerd-2.1.9/twoplugins-2.r2p.bin",
    NULL,
};

/* Finds the frames; false when the last one is not whole or there is no memory. */
static bool find_frames(struct capture *capture)
{
    const uint8_t *bytes = capture->bytes;
    size_t at = 0, room = 0;
    for (;;) {
        if (capture->frame_count + 1 >= room) {
            room = room == 0 ? 64 : 2 * room;
            size_t *frames = realloc(capture->frames, room * sizeof *frames);
            if (frames == NULL) {
                return false;
            }
            capture->frames = frames;
        }
        capture->frames[capture->frame_count] = at;
        if (at == capture->size) {
            return true;
        }
        if (capture->size - at < MUX_HEADER) {
            return false;
        }
        const size_t length = (size_t)bytes[at + 4] << 24 | (size_t)bytes[at + 5] << 16 |
                              (size_t)bytes[at + 6] << 8 | bytes[at + 7];
        at += MUX_HEADER;
        if (length > capture->size - at) {
            return false;
        }
        at += length;
        capture->frame_count++;
    }
}

static bool read_file(struct capture *capture, FILE *file)
{
    if (fseek(file, 0, SEEK_END) != 0) {
        return false;
    }
    const long size = ftell(file);
    if (size < 0 || fseek(file, 0, SEEK_SET) != 0) {
        return false;
    }
    capture->size = (size_t)size;
    capture->bytes = malloc(capture->size + 1);
    return capture->bytes != NULL && fread(capture->bytes, 1, capture->size, file) == capture->size;
}

bool capture_load(struct capture *capture, const char *name)
{
    char path[4096];
    const char *data = getenv("NRI_TEST_DATA");
    snprintf(path, sizeof path, "%s/captures/%s", data != NULL ? data : NRI_TEST_DATA, name);
    const bool loaded = capture_load_file(capture, path);
    capture->name = name;
    return loaded;
}

bool capture_load_file(struct capture *capture, const char *path)
{
    *capture = (struct capture){.name = path};
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return false;
    }
    const bool read = read_file(capture, file);
    fclose(file);
    if (!read || !find_frames(capture)) {
        fprintf(stderr, "%s: %s\n", path, read ? "not a whole number of frames" : "cannot read");
        capture_free(capture);
        return false;
    }
    return true;
}

bool capture_make(struct capture *capture, const char *name, const uint8_t *bytes, size_t size)
{
    *capture = (struct capture){.name = name, .size = size};
    capture->bytes = malloc(size + 1);
    if (capture->bytes != NULL) {
        memcpy(capture->bytes, bytes, size);
        if (find_frames(capture)) {
            return true;
        }
    }
    fprintf(stderr, "%s: not a whole number of frames, or no memory\n", name);
    capture_free(capture);
    return false;
}

void capture_free(struct capture *capture)
{
    free(capture->bytes);
    free(capture->frames);
    *capture = (struct capture){.name = NULL};
}

struct capture_cuts capture_cuts(const struct capture *capture)
{
    return (struct capture_cuts){.capture = capture};
}

/* Moves cuts->at to the next offset that is wanted. */
static bool next_offset(struct capture_cuts *cuts)
{
    const struct capture *capture = cuts->capture;
    size_t at = cuts->at + 1;
    if (capture->size > EVERY_OFFSET) {
        while (cuts->frame < capture->frame_count && capture->frames[cuts->frame] + NEAR < at) {
            cuts->frame++;
        }
        const size_t boundary = capture->frames[cuts->frame];
        if (at + NEAR < boundary) {
            at = boundary - NEAR;
        }
    }
    cuts->at = at < capture->size ? at : capture->size;
    return at < capture->size;
}

bool capture_cuts_next(struct capture_cuts *cuts, struct capture_cut *cut)
{
    const size_t whole = cuts->capture->size + 1;
    const size_t steps[] = {1, 143, 4095, 4096, 4097, whole};
    *cut = (struct capture_cut){.capture = cuts->capture};
    if (next_offset(cuts)) {
        cut->at = cuts->at;
        return true;
    }
    if (cuts->steps == sizeof steps / sizeof steps[0]) {
        return false;
    }
    cut->step = steps[cuts->steps++];
    return true;
}

bool capture_cut_piece(struct capture_cut *cut, const uint8_t **bytes, size_t *count)
{
    const size_t size = cut->capture->size;
    if (cut->next == size) {
        return false;
    }
    size_t end = cut->step != 0 ? cut->next + cut->step : cut->next < cut->at ? cut->at : size;
    end = end < size ? end : size;
    *bytes = cut->capture->bytes + cut->next;
    *count = end - cut->next;
    cut->next = end;
    return true;
}
