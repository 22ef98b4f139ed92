/* SPDX-License-Identifier: Apache-2.0 */
#include "check_step.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "memory.h"

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type

/* ---- the handshake ---- */

static bool ended_early(struct run *run, const char *awaited)
{
    char end[100];
    subject_tell_end(&run->subject, end, sizeof end);
    return run_fail(run, "the plugin %s while %s was awaited", end, awaited);
}

bool step_accept(struct run *run)
{
    const struct subject *subject = &run->subject;
    const uint64_t deadline = run_deadline(run);
    for (;;) {
        const int fd = accept4(subject->listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0) {
            peer_open(&run->peer, fd);
            return true;
        }
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
            return run_broken(run, "accept: %s", strerror(errno));
        if (subject->ended)
            return ended_early(run, "its connection");
        const enum run_wait why = run_wait(run, subject->listener, POLLIN, deadline);
        if (why == RUN_LATE)
            return run_fail(run, "no connection to %s in %llu ms", subject->socket,
                            (unsigned long long)run->suite->patience);
        if (why == RUN_STOPPED)
            return run_fail(run, "interrupted while it waited for a connection");
    }
}

bool step_start_as(struct run *run, enum subject_form form)
{
    if (run->subject.directory[0] == '\0' && !subject_place(run))
        return false;
    if (!subject_start(run, form))
        return false;
    if (form != SUBJECT_LAUNCHED)
        return step_accept(run);
    peer_open(&run->peer, run->subject.pair);
    run->subject.pair = -1;
    return true;
}

static bool is_external(const struct run *run)
{
    return subject_has(run->suite->argv, "{socket}");
}

bool step_start(struct run *run)
{
    return step_start_as(run, is_external(run) ? SUBJECT_EXTERNAL : SUBJECT_LAUNCHED);
}

bool step_registration(struct run *run, struct step_registration *registration)
{
    const ProtobufCMessage *message;
    if (!peer_call(run, "RegisterPlugin", &message, &registration->stream))
        return false;
    const MESSAGE(RegisterPluginRequest) *request = (const MESSAGE(RegisterPluginRequest) *)message;
    (void)snprintf(registration->name, sizeof registration->name, "%s", request->plugin_name);
    (void)snprintf(registration->index, sizeof registration->index, "%s", request->plugin_idx);
    (void)snprintf(registration->version, sizeof registration->version, "%s", request->nri_version);
    return true;
}

bool step_send_configure(struct run *run, uint32_t *stream)
{
    struct nri_buf payload;
    memory_buf(&payload, SIZE_MAX);
    const bool good = message_configure(&payload, run->release, "") &&
                      peer_request(run, "Configure", &payload, stream);
    nri_buf_fini(&payload);
    return good;
}

bool step_configured(struct run *run, uint32_t stream)
{
    struct peer_reply reply;
    if (!peer_reply(run, stream, "Configure", &reply))
        return false;
    if (reply.code != 0)
        return run_fail(run, "Configure was refused with code %d: %s", reply.code, reply.text);
    const uint32_t events = (uint32_t)((const MESSAGE(ConfigureResponse) *)reply.message)->events;
    run->events = events != 0 ? events : message_events(run->release);
    return true;
}

bool step_configure(struct run *run)
{
    uint32_t stream = 0;
    return step_send_configure(run, &stream) && step_configured(run, stream);
}

bool step_send_synchronize(struct run *run, unsigned first, unsigned pods, unsigned containers,
                           bool more, uint32_t *stream)
{
    enum { PODS = 1, CONTAINERS, MORE, RUNNING_EVENT = 7 };
    struct nri_buf payload, inner;
    bool good = true;
    memory_buf(&payload, SIZE_MAX);
    memory_buf(&inner, SIZE_MAX);
    for (unsigned i = 0; good && i < pods; i++) {
        nri_buf_reset(&inner, SIZE_MAX);
        good =
            message_pod(&inner, run->release, first + i) && message_inner(&payload, PODS, &inner);
    }
    for (unsigned i = 0; good && i < containers; i++) {
        nri_buf_reset(&inner, SIZE_MAX);
        good = message_container(&inner, run->release, first + i, RUNNING_EVENT) &&
               message_inner(&payload, CONTAINERS, &inner);
    }
    if (more)
        good = good && message_number(&payload, MORE, 1);
    good = good ? peer_request(run, "Synchronize", &payload, stream)
                : run_broken(run, "no Synchronize could be made");
    nri_buf_fini(&inner);
    nri_buf_fini(&payload);
    return good;
}

bool step_synchronized(struct run *run, uint32_t stream, bool more)
{
    struct peer_reply reply;
    if (!peer_reply(run, stream, "Synchronize", &reply))
        return false;
    if (reply.code != 0)
        return run_fail(run, "Synchronize was refused with code %d: %s", reply.code, reply.text);
    const MESSAGE(SynchronizeResponse) *response =
        (const MESSAGE(SynchronizeResponse) *)reply.message;
    if ((response->more != 0) != more)
        return run_fail(run, "a Synchronize with more=%s was answered with more=%s",
                        more ? "true" : "false", response->more != 0 ? "true" : "false");
    if (more && response->n_update > 0)
        return run_fail(run, "a part of a Synchronize was answered with %zu updates",
                        response->n_update);
    return true;
}

bool step_synchronize(struct run *run)
{
    uint32_t stream = 0;
    return step_send_synchronize(run, 0, 1, 1, false, &stream) &&
           step_synchronized(run, stream, false);
}

bool step_handshake(struct run *run)
{
    struct step_registration registration;
    return step_registration(run, &registration) && peer_answer(run, registration.stream, 0, "") &&
           step_configure(run) && step_synchronize(run);
}

bool step_join(struct run *run)
{
    return step_start(run) && step_handshake(run);
}

/* ---- events ---- */

bool step_wants(const struct run *run, unsigned event)
{
    return (run->events & (UINT32_C(1) << (event - 1))) != 0;
}

unsigned step_any_event(const struct run *run)
{
    enum { CREATE = 4 };
    if (step_wants(run, CREATE))
        return CREATE;
    for (unsigned event = 1; event <= MESSAGE_LIFE; event++) {
        if (step_wants(run, event))
            return event;
    }
    return 1;
}

static bool send_event(struct run *run, unsigned event, bool own, uint32_t *stream)
{
    enum { EVENT = 1, INNER_SHIFT = 1 };
    const struct message_call *call = message_call(event);
    struct nri_buf payload;
    memory_buf(&payload, SIZE_MAX);
    bool good;
    if (own) {
        good = message_event(&payload, run->release, event, run->serial);
    } else {
        /* The same fields, each one further behind the event's number. */
        struct nri_buf inner;
        memory_buf(&inner, SIZE_MAX);
        good = message_number(&payload, EVENT, event) && message_pod(&inner, run->release, 0) &&
               message_inner(&payload, EVENT + INNER_SHIFT, &inner);
        nri_buf_reset(&inner, SIZE_MAX);
        if (call == NULL || call->of_container)
            good = good && message_container(&inner, run->release, run->serial, event) &&
                   message_inner(&payload, EVENT + 2 * INNER_SHIFT, &inner);
        nri_buf_fini(&inner);
    }
    good = good ? peer_request(run, own ? call->method : "StateChange", &payload, stream)
                : run_broken(run, "no message of an event could be made");
    nri_buf_fini(&payload);
    return good;
}

static bool has_own_call(const struct run *run, unsigned event)
{
    const struct message_call *call = message_call(event);
    return call != NULL && run->release >= call->own_since;
}

bool step_send_event(struct run *run, unsigned event, uint32_t *stream)
{
    enum { CREATE = 4 };
    run->serial += event == CREATE;
    return send_event(run, event, has_own_call(run, event), stream);
}

bool step_answered(struct run *run, const struct peer_reply *reply, const char *method,
                   unsigned event)
{
    const bool refuses = event != 0 && (run->suite->known.refused >> (event - 1) & 1) != 0;
    if (reply->code == 0 || (refuses && reply->code != STEP_UNIMPLEMENTED))
        return true;
    return run_fail(run, "%s was answered with code %d: %s", method, reply->code, reply->text);
}

bool step_replied(struct run *run, uint32_t stream, const char *method, unsigned event)
{
    struct peer_reply reply;
    return peer_reply(run, stream, method, &reply) && step_answered(run, &reply, method, event);
}

/* A plugin made for NRI before 0.12 answers calls of their own with UNIMPLEMENTED, and a runtime
 * tells the event once more, by StateChange. */
bool step_event(struct run *run, unsigned event)
{
    const struct message_call *call = message_call(event);
    const bool own = has_own_call(run, event);
    struct peer_reply reply;
    uint32_t stream = 0;
    if (!step_send_event(run, event, &stream))
        return false;
    if (!own || call->own_since != MESSAGE_0_12)
        return step_replied(run, stream, own ? call->method : "StateChange", event);
    if (!peer_reply(run, stream, call->method, &reply))
        return false;
    if (reply.code == STEP_UNIMPLEMENTED)
        return step_state_change(run, event);
    return step_answered(run, &reply, call->method, event);
}

bool step_state_change(struct run *run, unsigned event)
{
    uint32_t stream = 0;
    return send_event(run, event, false, &stream) &&
           step_replied(run, stream, "StateChange", event <= MESSAGE_LIFE ? event : 0);
}

bool step_life(struct run *run)
{
    for (size_t i = 0; i < MESSAGE_LIFE; i++) {
        const unsigned event = message_life[i];
        if (message_call(event)->since <= run->release && step_wants(run, event) &&
            !step_event(run, event))
            return false;
    }
    return true;
}

bool step_alive(struct run *run)
{
    return step_event(run, step_any_event(run));
}

/* ---- the end ---- */

void step_fence(struct run *run)
{
    struct peer *peer = &run->peer;
    uint32_t stream = 0;
    bool ended;
    subject_reap(&run->subject);
    if (peer->fd < 0)
        return;
    peer_look(run);
    if (run->result != CHECK_PASS || run->events == 0 || peer->over || peer->pending_count > 0 ||
        peer->next_stream > INT32_MAX || run->subject.ended)
        return;
    peer->write = 0;
    peer->frame = 0;
    if (step_send_event(run, step_any_event(run), &stream))
        (void)peer_reply_or_end(run, stream, &ended);
}

enum step_after step_after_close(struct run *run)
{
    const uint64_t deadline = run_deadline(run);
    peer_close(&run->peer);
    for (;;) {
        subject_reap(&run->subject);
        if (run->subject.ended)
            return STEP_ENDED;
        const int fd = run->subject.listener < 0
                           ? -1
                           : accept4(run->subject.listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0) {
            peer_open(&run->peer, fd);
            return STEP_BACK;
        }
        const enum run_wait why = run_wait(run, run->subject.listener, POLLIN, deadline);
        if (why == RUN_LATE || why == RUN_STOPPED)
            return STEP_STAYS;
    }
}

bool step_closed(struct run *run, bool *back)
{
    char end[100];
    const enum step_after after = step_after_close(run);
    *back = after == STEP_BACK;
    if (after == STEP_STAYS)
        return run_fail(run,
                        "%llu ms after the runtime closed, the plugin neither ended nor came "
                        "back",
                        (unsigned long long)run->suite->patience);
    if (*back && run->suite->no_reconnect)
        return run_fail(run, "the plugin came back, which --no-reconnect says that it does not");
    if (after == STEP_ENDED && subject_crashed(&run->subject)) {
        subject_tell_end(&run->subject, end, sizeof end);
        return run_fail(run, "the plugin %s when the runtime closed", end);
    }
    return true;
}
