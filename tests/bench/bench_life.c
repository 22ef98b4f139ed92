/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_life RECORDING EVENTS PROGRAM [ARG...]: the life of a container as recorded, again and
 * again, each time with other ids, until the plugin has had so many events; its memory ten times on
 * the way.
 *
 * Results are lines "name value"; the plugin adds its own.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_peer.h"

#define EVENTS  64u
#define ID      64u /* hexadecimal digits of an id */
#define SAMPLES 10

static bool is_id(const uint8_t *at)
{
    if (at[0] != ID)
        return false;
    for (size_t i = 1; i <= ID; i++)
        if (strchr("0123456789abcdef", at[i]) == NULL || at[i] == '\0')
            return false;
    return true;
}

/* The first digits of each id are the cycle's number. The rest of an id tells a pod sandbox from
 * its container. */
static void rename_ids(struct frame *frame, unsigned cycle)
{
    char digits[9];
    snprintf(digits, sizeof digits, "%08x", cycle);
    for (size_t at = 0; at + ID < frame->size; at++) {
        if (is_id(frame->bytes + at)) {
            memcpy(frame->bytes + at + 1, digits, 8);
            at += ID;
        }
    }
}

int main(int argc, char **argv)
{
    struct frame events[EVENTS];
    struct peer peer = {0};
    if (argc < 4) {
        fputs("usage: bench_life RECORDING EVENTS PROGRAM [ARG...]\n", stderr);
        return 2;
    }
    const size_t count = peer_load_events(argv[1], events, EVENTS);
    const unsigned long total = strtoul(argv[2], NULL, 10);
    unsigned long next = total / SAMPLES;
    peer_spawn(&peer, argv + 3);
    peer_handshake(&peer);
    for (unsigned long i = 0; i < total; i++) {
        struct frame *event = &events[i % count];
        rename_ids(event, (unsigned)(i / count));
        peer_call(&peer, event);
        if (i + 1 == next) {
            printf("rss_%lu_kb %ld\n", (i + 1) / (total / SAMPLES),
                   process_memory(peer.child, "VmRSS"));
            next += total / SAMPLES;
        }
    }
    fflush(stdout);
    peer_finish(&peer);
    return 0;
}
