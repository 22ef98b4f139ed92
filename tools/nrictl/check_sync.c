/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sync.*: the state of a node, whole and in parts.
 */
#include "check_group.h"
#include "check_step.h"
#include "memory.h"

static bool configured(struct run *run)
{
    struct step_registration registration;
    return step_start(run) && step_registration(run, &registration) &&
           peer_answer(run, registration.stream, 0, "") && step_configure(run);
}

static bool part(struct run *run, unsigned first, unsigned pods, unsigned containers, bool more)
{
    uint32_t stream = 0;
    return step_send_synchronize(run, first, pods, containers, more, &stream) &&
           step_synchronized(run, stream, more);
}

static void empty(struct run *run, int argument)
{
    (void)argument;
    (void)(configured(run) && part(run, 0, 0, 0, false) && step_alive(run));
}

static void whole(struct run *run, int count)
{
    (void)(configured(run) && part(run, 0, (unsigned)count, (unsigned)count, false) &&
           step_alive(run));
}

static void split(struct run *run, int parts)
{
    enum { OBJECTS = 4 };
    if (!configured(run))
        return;
    for (int i = 0; i < parts; i++) {
        if (!part(run, (unsigned)i * OBJECTS, OBJECTS, OBJECTS, i + 1 < parts))
            return;
    }
    (void)step_alive(run);
}

static void empty_part(struct run *run, int argument)
{
    (void)argument;
    (void)(configured(run) && part(run, 0, 0, 0, true) && part(run, 0, 1, 1, true) &&
           part(run, 0, 0, 0, true) && part(run, 1, 1, 1, false) && step_alive(run));
}

/* A part that is as long as a message may be. */
static bool large_part(struct run *run, unsigned number, bool more)
{
    enum { POD = 1, MORE = 3, OVERHEAD = 4096 };
    struct nri_buf payload, pod;
    uint32_t stream = 0;
    memory_buf(&payload, SIZE_MAX);
    memory_buf(&pod, SIZE_MAX);
    bool good =
        message_pod(&pod, run->release, number) &&
        message_padding(&pod, "example.com/large", PEER_MOST_DATA - OVERHEAD) &&
        message_inner(&payload, POD, &pod) && (!more || message_number(&payload, MORE, 1)) &&
        peer_request(run, "Synchronize", &payload, &stream) && step_synchronized(run, stream, more);
    nri_buf_fini(&pod);
    nri_buf_fini(&payload);
    return good;
}

static void large(struct run *run, int parts)
{
    if (!configured(run))
        return;
    for (int i = 0; i < parts; i++) {
        if (!large_part(run, (unsigned)i, i + 1 < parts))
            return;
    }
    (void)step_alive(run);
}

static const struct check checks[] = {
    {.id = "sync.empty",
     .title = "synchronise it with nothing",
     .expected = "an answer without more",
     .why = "what a node that has just started has",
     .run = empty},
    {.id = "sync.whole",
     .title = "synchronise it with 40 pod sandboxes and containers",
     .expected = "an answer without more",
     .why = "a node's usual state, in one message",
     .run = whole,
     .argument = 40},
    {.id = "sync.split",
     .title = "synchronise it in 5 parts",
     .expected = "each part but the last is answered with more and without updates",
     .why = "runtimes since NRI 0.7 close on any other answer (nri #102, #111)",
     .run = split,
     .argument = 5},
    {.id = "sync.empty-part",
     .title = "synchronise it in parts of which some are empty",
     .expected = "empty parts are answered with more, too",
     .why = "NRI 0.8 sends such parts for a node with a few large containers",
     .run = empty_part},
    {.id = "sync.large",
     .title = "synchronise it in 3 parts of 4 MiB",
     .expected = "all are answered",
     .why = "parts are as long as a message may be (nri #102)",
     .run = large,
     .argument = 3},
    {.id = "sync.51mb",
     .title = "synchronise it in 13 parts of 4 MiB, which are 51 MB",
     .expected = "all are answered",
     .why = "a node with many fat annotations",
     .severity = CHECK_SHOULD,
     .optional = true,
     .run = large,
     .argument = 13},
};
const struct check_group check_sync = CHECK_GROUP("sync", checks);
