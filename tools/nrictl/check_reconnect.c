/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconnect.*: a plugin that comes back to a runtime that came back.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check_group.h"
#include "check_step.h"

static bool can(struct run *run)
{
    return run->suite->known.reconnects || run_skip(run, "it does not come back");
}

/* The socket goes with the runtime, and is made anew. */
static bool restart(struct run *run)
{
    subject_unlisten(&run->subject);
    peer_close(&run->peer);
    return subject_listen(run) && step_accept(run);
}

static bool only_one(struct run *run)
{
    const int fd = accept4(run->subject.listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return true;
    (void)close(fd);
    return run_fail(run, "a second connection while the first one is in use");
}

static void comes_back(struct run *run, int argument)
{
    struct step_registration first, second;
    uint32_t stream = 0;
    (void)argument;
    if (!can(run) || !step_start(run) || !step_registration(run, &first) ||
        !peer_answer(run, first.stream, 0, "") || !step_configure(run) || !step_synchronize(run) ||
        !step_life(run) || !restart(run) || !step_registration(run, &second))
        return;
    if (second.stream != 1)
        (void)run_fail(run, "RegisterPlugin on stream %u of a new connection", second.stream);
    else if (strcmp(first.name, second.name) != 0 || strcmp(first.index, second.index) != 0)
        (void)run_fail(run, "it was %s-%s, and is %s-%s now", first.index, first.name, second.index,
                       second.name);
    else
        (void)(peer_answer(run, second.stream, 0, "") && step_configure(run) &&
               step_send_synchronize(run, 50, 3, 5, false, &stream) &&
               step_synchronized(run, stream, false) && step_life(run) && only_one(run));
}

static void forgets_parts(struct run *run, int argument)
{
    struct step_registration registration;
    uint32_t stream = 0;
    (void)argument;
    (void)(can(run) && step_start(run) && step_registration(run, &registration) &&
           peer_answer(run, registration.stream, 0, "") && step_configure(run) &&
           step_send_synchronize(run, 0, 3, 3, true, &stream) &&
           step_synchronized(run, stream, true) && restart(run) && step_handshake(run) &&
           step_life(run));
}

static void other_release(struct run *run, int argument)
{
    (void)argument;
    if (!can(run) || !step_join(run))
        return;
    run->release = MESSAGE_0_8;
    if (!restart(run) || !step_handshake(run))
        return;
    const uint32_t known = message_events(run->release);
    if ((run->events & ~known) != 0)
        (void)run_fail(run, "the mask 0x%x, of which 0x%x is unknown to that runtime", run->events,
                       run->events & ~known);
    else
        (void)step_life(run);
}

/* A runtime that is there and refuses does not make a plugin give up. */
static void refused(struct run *run, int count)
{
    struct step_registration registration;
    if (!can(run) || !step_join(run))
        return;
    for (int i = 0; i < count; i++) {
        if (!restart(run) || !step_registration(run, &registration) ||
            !peer_answer(run, registration.stream, 2, "not now"))
            return;
    }
    (void)(restart(run) && step_handshake(run) && step_alive(run));
}

static const struct check checks[] = {
    {.id = "reconnect.restart",
     .title = "the runtime goes with its socket, and comes back with other containers",
     .expected = "the whole handshake again, under the same name, on one connection",
     .why = "nri #91, #129; koordinator #1972",
     .run = comes_back},
    {.id = "reconnect.parts",
     .title = "the runtime goes in the middle of a Synchronize, and comes back",
     .expected = "a Synchronize of one part is answered as a whole",
     .why = "what is left of the first one is of another runtime",
     .run = forgets_parts},
    {.id = "reconnect.older",
     .title = "the runtime is one of NRI 0.8 when it comes back",
     .expected = "a mask without its unknown events",
     .why = "a node that is downgraded",
     .severity = CHECK_SHOULD,
     .run = other_release},
    {.id = "reconnect.refused",
     .title = "the runtime refuses it twice when it comes back",
     .expected = "it tries again",
     .why = "a runtime that is not ready yet",
     .severity = CHECK_SHOULD,
     .run = refused,
     .argument = 2},
};
const struct check_group check_reconnect = CHECK_GROUP("reconnect", checks);
