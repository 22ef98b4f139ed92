/* SPDX-License-Identifier: Apache-2.0 */
/*
 * large.*: messages as long as they may be, and longer.
 */
#include "check_group.h"
#include "check_step.h"
#include "memory.h"

#define ENVELOPE 4096 /* more than all of a request but the padding */

/* An event with an annotation of so many bytes; its own call where the plugin wants
 * CreateContainer, whose answer may be long, too. */
static bool send_large(struct run *run, size_t length, uint32_t *stream)
{
    enum { EVENT = 1, POD, CONTAINER, CREATE = 4 };
    const unsigned event = step_any_event(run);
    const bool create = event == CREATE;
    struct nri_buf payload, inner;
    memory_buf(&payload, SIZE_MAX);
    memory_buf(&inner, SIZE_MAX);
    bool good = (create || message_number(&payload, EVENT, event)) &&
                message_pod(&inner, run->release, 0) &&
                message_inner(&payload, create ? POD - 1 : POD, &inner);
    nri_buf_reset(&inner, SIZE_MAX);
    good = good && message_container(&inner, run->release, ++run->serial, event) &&
           message_padding(&inner, "example.com/large", length) &&
           message_inner(&payload, create ? CONTAINER - 1 : CONTAINER, &inner) &&
           peer_request(run, create ? "CreateContainer" : "StateChange", &payload, stream);
    nri_buf_fini(&inner);
    nri_buf_fini(&payload);
    return good;
}

/* As a Go runtime sends it. It may be refused for its answer's length: no runtime takes more. */
static void most(struct run *run, int argument)
{
    enum { EXHAUSTED = 8 };
    struct peer_reply reply;
    uint32_t stream = 0;
    (void)argument;
    if (!step_join(run) || !send_large(run, PEER_MOST_DATA - ENVELOPE, &stream) ||
        !peer_reply(run, stream, NULL, &reply))
        return;
    if (reply.code != 0 && reply.code != EXHAUSTED &&
        (run->suite->known.refused >> (step_any_event(run) - 1) & 1) == 0)
        (void)run_fail(run, "it was answered with code %d: %s", reply.code, reply.text);
    else
        (void)step_alive(run);
}

/* More than ttRPC takes today: an answer, whatever it says, and a connection that stays. */
static void beyond(struct run *run, int mebibytes)
{
    enum { MEBIBYTE = 1 << 20 };
    struct peer_reply reply;
    uint32_t stream = 0;
    run->peer.frame = (size_t)mebibytes * MEBIBYTE; /* one frame: NRI before 0.7 */
    (void)(step_join(run) && send_large(run, (size_t)mebibytes * MEBIBYTE - ENVELOPE, &stream) &&
           peer_reply(run, stream, NULL, &reply) && step_alive(run));
}

static void in_a_row(struct run *run, int count)
{
    if (!step_join(run))
        return;
    for (int i = 0; i < count; i++) {
        struct peer_reply reply;
        uint32_t stream;
        if (!send_large(run, PEER_MOST_DATA - ENVELOPE, &stream) ||
            !peer_reply(run, stream, NULL, &reply) || !step_alive(run))
            return;
    }
}

static const struct check checks[] = {
    {.id = "large.4mib",
     .title = "an event of 4 MiB, the most that ttRPC has, in the frames that Go writes",
     .expected = "an answer in frames that a Go runtime reads, of 4 MiB at most, or code 8",
     .why = "containers with large annotations (nri #102)",
     .run = most},
    {.id = "large.row",
     .title = "5 such events, with small ones between them",
     .expected = "each is answered",
     .why = "buffers that grew",
     .run = in_a_row,
     .argument = 5},
    {.id = "large.8mib",
     .title = "an event of 8 MiB in one mux frame, as NRI before 0.7 sends",
     .expected = "an answer, whatever it says, and the connection stays",
     .why = "containerd 1.7 up to 1.7.25 has a limit of 16 MiB",
     .severity = CHECK_SHOULD,
     .run = beyond,
     .argument = 8},
    {.id = "large.16mib",
     .title = "an event of 16 MiB in one mux frame",
     .expected = "an answer, whatever it says, and the connection stays",
     .why = "the most that any mux has taken",
     .severity = CHECK_SHOULD,
     .run = beyond,
     .argument = 16},
};
const struct check_group check_large = CHECK_GROUP("large", checks);
