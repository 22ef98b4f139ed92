/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unknown.*: what a newer runtime may say that this plugin has never heard of.
 */
#include "check_group.h"
#include "check_step.h"
#include "memory.h"

static void fields(struct run *run, int argument)
{
    (void)argument;
    run->peer.unknown = true;
    (void)(step_join(run) && step_life(run));
}

typedef bool (*change)(struct nri_buf *out);

/* A pod sandbox and a container that are changed, in the event that the plugin wants most. */
static bool changed_event(struct run *run, change of_pod, change of_container)
{
    enum { EVENT = 1, POD, CONTAINER, CREATE = 4 };
    const unsigned event = step_any_event(run);
    const bool create = event == CREATE;
    const char *method = create ? message_call(event)->method : "StateChange";
    struct nri_buf payload, inner;
    uint32_t stream = 0;
    memory_buf(&payload, SIZE_MAX);
    memory_buf(&inner, SIZE_MAX);
    bool good = (create || message_number(&payload, EVENT, event)) &&
                message_pod(&inner, run->release, 0) && of_pod(&inner) &&
                message_inner(&payload, create ? POD - 1 : POD, &inner);
    nri_buf_reset(&inner, SIZE_MAX);
    good = good && message_container(&inner, run->release, ++run->serial, event) &&
           of_container(&inner) &&
           message_inner(&payload, create ? CONTAINER - 1 : CONTAINER, &inner) &&
           peer_request(run, method, &payload, &stream) && step_replied(run, stream, method, event);
    nri_buf_fini(&inner);
    nri_buf_fini(&payload);
    return good;
}

/* A second sub-message of the same field is merged with the first. */
static bool add_inner(struct nri_buf *out, unsigned field, const struct nri_buf *inner, bool good)
{
    return good && message_inner(out, field, inner);
}

static bool pod_fields(struct nri_buf *pod)
{
    enum { LINUX = 8 };
    struct nri_buf inner;
    memory_buf(&inner, SIZE_MAX);
    const bool good =
        message_unknown(pod) && add_inner(pod, LINUX, &inner, message_unknown(&inner));
    nri_buf_fini(&inner);
    return good;
}

static bool container_fields(struct nri_buf *container)
{
    enum { MOUNTS = 9, LINUX = 11 };
    struct nri_buf inner;
    memory_buf(&inner, SIZE_MAX);
    bool good =
        message_unknown(container) && add_inner(container, LINUX, &inner, message_unknown(&inner));
    nri_buf_reset(&inner, SIZE_MAX);
    good = good && add_inner(container, MOUNTS, &inner,
                             message_text(&inner, 1, "/later") && message_unknown(&inner));
    nri_buf_fini(&inner);
    return good;
}

static bool nothing(struct nri_buf *out)
{
    (void)out;
    return true;
}

static bool container_enums(struct nri_buf *container)
{
    enum { STATE = 4, LINUX = 11, IO_PRIORITY = 6, SECCOMP = 7, SCHEDULER = 11, LATER = 99 };
    struct nri_buf inner, one;
    memory_buf(&inner, SIZE_MAX);
    memory_buf(&one, SIZE_MAX);
    const bool good =
        message_number(container, STATE, LATER) && message_number(&one, 1, LATER) &&
        message_inner(&inner, IO_PRIORITY, &one) && message_inner(&inner, SECCOMP, &one) &&
        message_inner(&inner, SCHEDULER, &one) && message_inner(container, LINUX, &inner);
    nri_buf_fini(&one);
    nri_buf_fini(&inner);
    return good;
}

static void inner_fields(struct run *run, int argument)
{
    (void)argument;
    (void)(step_join(run) && changed_event(run, pod_fields, container_fields) && step_alive(run));
}

static void enums(struct run *run, int argument)
{
    (void)argument;
    (void)(step_join(run) && changed_event(run, nothing, container_enums) && step_alive(run));
}

static void event(struct run *run, int argument)
{
    static const unsigned events[] = {0, 15, 200};
    (void)argument;
    if (!step_join(run))
        return;
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        if (!step_state_change(run, events[i]))
            return;
    }
    (void)step_alive(run);
}

static bool unimplemented(struct run *run, const char *service, const char *method)
{
    struct peer_reply reply;
    const uint32_t stream = run->peer.next_stream;
    run->peer.next_stream += 2;
    if (!peer_request_on(run, stream, service, method, NULL) ||
        !peer_reply(run, stream, NULL, &reply))
        return false;
    if (reply.code == STEP_UNIMPLEMENTED)
        return true;
    return run_fail(run, "a call of %s/%s was answered with code %d instead of 12", service, method,
                    reply.code);
}

static void method(struct run *run, int argument)
{
    (void)argument;
    (void)(step_join(run) && unimplemented(run, PEER_PLUGIN_SERVICE, "PauseContainer") &&
           step_alive(run));
}

static void service(struct run *run, int argument)
{
    (void)argument;
    (void)(step_join(run) && unimplemented(run, "nri.pkg.api.v2.Plugin", "Configure") &&
           unimplemented(run, "", "Configure") && step_alive(run));
}

static const struct check checks[] = {
    {.id = "unknown.fields",
     .title = "add fields of all wire types that NRI does not have to every message",
     .expected = "they are passed over",
     .why = "each NRI version adds fields (nri #271)",
     .run = fields},
    {.id = "unknown.inner-fields",
     .title = "add such fields to pod sandboxes, containers, mounts",
     .expected = "they are passed over",
     .why = "each NRI version adds fields (nri #271)",
     .run = inner_fields},
    {.id = "unknown.enums",
     .title = "give a container a state, a scheduler and more of later numbers",
     .expected = "the event is answered",
     .why = "protobuf's enums are open",
     .run = enums},
    {.id = "unknown.event",
     .title = "tell the events 0, 15 and 200 by StateChange",
     .expected = "each is answered with OK",
     .why = "events are added; a failure fails the container's request",
     .run = event},
    {.id = "unknown.method",
     .title = "call a method that NRI does not have",
     .expected = "code 12, UNIMPLEMENTED, and the connection stays",
     .why = "runtimes of NRI 0.12 fall back to StateChange on that code alone (ttrpc #83)",
     .run = method},
    {.id = "unknown.service",
     .title = "call a service that is not the plugin's",
     .expected = "code 12, UNIMPLEMENTED, and the connection stays",
     .why = "ttrpc #83",
     .run = service},
};
const struct check_group check_unknown = CHECK_GROUP("unknown", checks);
