/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/message.h"

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type
#define INIT(type)    nri__pkg__api__v1alpha1__##type##__init

void fake_broken(const char *file, int line, const char *what)
{
    (void)fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
}

static void *take(struct fake_runtime *fr, size_t bytes)
{
    void *piece = nri_arena_zero(&fr->arena, bytes);
    fake_require(piece != NULL);
    return piece;
}

/* ---- the plugin's surroundings ---- */

static uint64_t clock_now(void *context)
{
    return ((const struct fake_runtime *)context)->now;
}

/* The same in each run. */
static int random_bytes(void *context, void *bytes, size_t count)
{
    struct fake_runtime *fr = context;
    uint8_t *to = bytes;
    for (size_t i = 0; i < count; i++) {
        fr->random = fr->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        to[i] = (uint8_t)(fr->random >> 56);
    }
    return 0;
}

static void wake(void *user)
{
    atomic_fetch_add(&((struct fake_runtime *)user)->wakes, 1);
}

static void on_log(void *user, const nri_log_record *record)
{
    struct fake_runtime *fr = user;
    if (fr->record_count == fr->record_room) {
        fr->record_room = fr->record_room == 0 ? 64 : fr->record_room * 2;
        fr->records = realloc(fr->records, fr->record_room * sizeof *fr->records);
        fake_require(fr->records != NULL);
    }
    struct fake_record *r = &fr->records[fr->record_count++];
    r->level = nri_log_record_level(record);
    (void)snprintf(r->text, sizeof r->text, "%s", nri_log_record_text(record));
    (void)snprintf(r->event, sizeof r->event, "%s", nri_log_record_event(record));
    (void)snprintf(r->pod, sizeof r->pod, "%s", nri_log_record_pod(record));
    (void)snprintf(r->container, sizeof r->container, "%s", nri_log_record_container(record));
}

size_t fake_runtime_logged(const struct fake_runtime *fr, enum nri_log_level level)
{
    size_t count = 0;
    for (size_t i = 0; i < fr->record_count; i++)
        count += fr->records[i].level == level;
    return count;
}

const struct fake_record *fake_runtime_find_record(const struct fake_runtime *fr, const char *part)
{
    for (size_t i = fr->record_count; i > 0; i--) {
        if (strstr(fr->records[i - 1].text, part) != NULL)
            return &fr->records[i - 1];
    }
    return NULL;
}

void fake_runtime_init(struct fake_runtime *fr, void *user)
{
    *fr = (struct fake_runtime){.random = 1, .now = NRI_SEC};
    fr->ops.size = sizeof fr->ops;
    fr->host = (struct nri_host){.context = fr, .now = clock_now, .random = random_bytes};
    nri_log_init(&fr->log, on_log, fr, NRI_LOG_DEBUG);
    fr->log.plugin = "10-test";
    fr->name = "containerd";
    fr->version = "2.3.0";
    fr->nri_version = "v0.12.2";
    fr->config_text = "";
    fr->refusal = "";
    fr->config = (struct nri_core_config){
        .ops = &fr->ops,
        .name = "test",
        .index = "10",
        .peer = FAKE_PEER,
        .user = user,
        .host = &fr->host,
        .log = &fr->log,
        .registration_timeout = 5 * NRI_SEC,
        .max_sync_bytes = (size_t)256 << 20,
        .max_queued_updates = 64,
        .max_sync_parts = 65536,
        .wake = wake,
        .wake_user = fr,
    };
    nri_rpc_limits_default(&fr->config.limits);
    struct nri_alloc alloc;
    fake_require(nri_alloc_resolve(&alloc, NULL) == 0);
    fr->config.alloc = alloc;
    nri_arena_init(&fr->arena, &alloc, 0, SIZE_MAX);
}

/* ---- what the runtime serves ---- */

static void remember(char *to, size_t size, const char *text)
{
    (void)snprintf(to, size, "%s", text);
}

static void answer_register(struct fake_runtime *fr, struct nri_rpc_call *call)
{
    const MESSAGE(RegisterPluginRequest) *message =
        (const MESSAGE(RegisterPluginRequest) *)nri_rpc_call_message(call);
    fr->registrations++;
    remember(fr->registered_name, sizeof fr->registered_name, message->plugin_name);
    remember(fr->registered_index, sizeof fr->registered_index, message->plugin_idx);
    remember(fr->registered_version, sizeof fr->registered_version, message->nri_version);
    if (fr->refuse_register != 0)
        (void)nri_rpc_call_refuse(call, fr->refuse_register, fr->refusal);
    else
        fake_runtime_reply(fr, call);
    nri_rpc_call_release(call);
}

static void answer_update(struct fake_runtime *fr, struct nri_rpc_call *call)
{
    MESSAGE(UpdateContainersResponse) response;
    INIT(update_containers_response)(&response);
    response.n_failed = fr->fail_updates_count;
    response.failed = take(fr, (fr->fail_updates_count + 1) * sizeof *response.failed);
    for (size_t i = 0; i < fr->fail_updates_count; i++) {
        response.failed[i] = take(fr, sizeof **response.failed);
        INIT(container_update)(response.failed[i]);
        response.failed[i]->container_id = fake_text(fr, fr->fail_updates[i]);
    }
    (void)nri_rpc_call_reply(call, &response.base, &fr->error);
    nri_rpc_call_release(call);
}

static void on_request(struct rpc_peer *peer, struct nri_rpc_call *call)
{
    struct fake_runtime *fr = peer->user;
    const bool is_register = nri_rpc_call_method(call) == 0;
    if (!is_register) {
        fr->updates++;
        fr->last_update = (MESSAGE(UpdateContainersRequest) *)nri_message_copy(
            nri_rpc_call_message(call), &fr->arena);
        fake_require(fr->last_update != NULL);
    }
    if (is_register ? fr->hold_register : fr->hold_updates) {
        peer->held = realloc(peer->held, (peer->held_count + 1) * sizeof *peer->held);
        fake_require(peer->held != NULL);
        peer->held[peer->held_count++] = call;
        peer->held_room = peer->held_count;
        return;
    }
    if (is_register)
        answer_register(fr, call);
    else
        answer_update(fr, call);
}

void fake_runtime_reply(struct fake_runtime *fr, struct nri_rpc_call *call)
{
    const ProtobufCMessageDescriptor *type =
        nri__pkg__api__v1alpha1__runtime__descriptor.methods[nri_rpc_call_method(call)].output;
    union {
        ProtobufCMessage base;
        MESSAGE(UpdateContainersResponse) update;
    } response;
    protobuf_c_message_init(type, &response.base);
    (void)nri_rpc_call_reply(call, &response.base, &fr->error);
}

/* ---- the connection ---- */

static int core_input(void *context, const uint8_t *bytes, size_t count, uint64_t now)
{
    nri_core_input(((struct fake_runtime *)context)->core, bytes, count, now);
    return 0;
}

static void core_output(void *context, const uint8_t **bytes, size_t *count)
{
    nri_core_output(((struct fake_runtime *)context)->core, bytes, count);
}

static void core_written(void *context, size_t count)
{
    nri_core_written(((struct fake_runtime *)context)->core, count);
}

int fake_runtime_connect(struct fake_runtime *fr)
{
    if (fr->core == NULL) {
        const int code = nri_core_new(&fr->core, &fr->config, &fr->error);
        if (code != 0)
            return code;
    }
    const int code = nri_core_connected(fr->core, fr->now, &fr->error);
    if (code != 0)
        return code;
    fake_require(rpc_peer_init_runtime(&fr->peer, NULL, NULL) == 0);
    fr->peer.request = on_request;
    fr->peer.user = fr;
    const struct rpc_end core = {fr, core_input, core_output, core_written};
    rpc_link_init(&fr->link, rpc_peer_end(&fr->peer), core);
    fr->connected = true;
    fake_runtime_run(fr);
    return 0;
}

/* rpc_link_run() counts what is read: a side that writes after the other looked is seen by the next
 * run. */
static bool move(struct fake_runtime *fr)
{
    const uint64_t moved = rpc_link_run(&fr->link);
    return moved + rpc_link_run(&fr->link) > 0;
}

void fake_runtime_run(struct fake_runtime *fr)
{
    fr->link.now = fr->now;
    do {
        (void)move(fr);
        nri_core_drain(fr->core, fr->now);
    } while (move(fr));
}

void fake_runtime_advance(struct fake_runtime *fr, uint64_t ns)
{
    fr->now += ns;
    nri_core_tick(fr->core, fr->now);
    if (fr->connected) {
        nri_rpc_tick(fr->peer.rpc, fr->now);
        fake_runtime_run(fr);
    }
}

void fake_runtime_disconnect(struct fake_runtime *fr, int reason, const char *text)
{
    if (!fr->connected)
        return;
    fr->connected = false;
    nri_core_disconnected(fr->core, reason, text, NRI_NO_ATTEMPT, fr->now);
    rpc_peer_fini(&fr->peer);
    rpc_link_fini(&fr->link);
}

void fake_runtime_fini(struct fake_runtime *fr)
{
    fake_runtime_disconnect(fr, 0, "");
    nri_core_free(fr->core);
    fr->core = NULL;
    nri_arena_fini(&fr->arena);
    free(fr->records);
    fr->records = NULL;
}

struct rpc_outcome *fake_runtime_configure(struct fake_runtime *fr)
{
    MESSAGE(ConfigureRequest) message;
    INIT(configure_request)(&message);
    message.config = fake_text(fr, fr->config_text);
    message.runtime_name = fake_text(fr, fr->name);
    message.runtime_version = fake_text(fr, fr->version);
    message.nri_version = fake_text(fr, fr->nri_version);
    message.registration_timeout = fr->registration_timeout;
    message.request_timeout = fr->request_timeout;
    return fake_runtime_call(fr, "Configure", &message.base);
}

void fake_runtime_start(struct fake_runtime *fr)
{
    fake_require(fake_runtime_connect(fr) == 0);
    const struct rpc_outcome *outcome = fake_runtime_configure(fr);
    fake_require(outcome->count == 1 && outcome->code == 0);
    fake_require(nri_core_state(fr->core) == NRI_PLUGIN_READY);
}

/* ---- calls ---- */

char *fake_text(struct fake_runtime *fr, const char *text)
{
    char *copy = nri_arena_text(&fr->arena, text, strlen(text));
    fake_require(copy != NULL);
    return copy;
}

MESSAGE(PodSandbox) * fake_pod(struct fake_runtime *fr, const char *id, const char *name)
{
    MESSAGE(PodSandbox) *pod = take(fr, sizeof *pod);
    INIT(pod_sandbox)(pod);
    pod->id = fake_text(fr, id);
    pod->name = fake_text(fr, name);
    return pod;
}

MESSAGE(Container) *
    fake_container(struct fake_runtime *fr, const char *id, const char *pod, const char *name)
{
    MESSAGE(Container) *container = take(fr, sizeof *container);
    INIT(container)(container);
    container->id = fake_text(fr, id);
    container->pod_sandbox_id = fake_text(fr, pod);
    container->name = fake_text(fr, name);
    return container;
}

static unsigned method_index(const char *name)
{
    const ProtobufCServiceDescriptor *service = &nri__pkg__api__v1alpha1__plugin__descriptor;
    for (unsigned i = 0; i < service->n_methods; i++) {
        if (strcmp(service->methods[i].name, name) == 0)
            return i;
    }
    fake_broken(__FILE__, __LINE__, name);
    return 0;
}

struct rpc_outcome *fake_runtime_call(struct fake_runtime *fr, const char *method,
                                      const ProtobufCMessage *message)
{
    struct rpc_outcome *outcome = take(fr, sizeof *outcome);
    outcome->arena = &fr->arena;
    const int code = nri_rpc_invoke(fr->peer.rpc, method_index(method), message, fr->now,
                                    (uint64_t)fr->call_timeout, fr->metadata, fr->metadata_count,
                                    rpc_outcome_done, outcome, &fr->error);
    fake_require(code == 0);
    fake_runtime_run(fr);
    return outcome;
}

/* Puts a message into its field by name, if the message has one. */
static void set_field(ProtobufCMessage *message, const char *name, void *value)
{
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(message->descriptor, name);
    if (field != NULL)
        memcpy((char *)message + field->offset, &value, sizeof value);
}

static struct rpc_outcome *call_with_objects(struct fake_runtime *fr, const char *method,
                                             ProtobufCMessage *message)
{
    set_field(message, "pod", fake_pod(fr, "pod0", "pod-name"));
    set_field(message, "container", fake_container(fr, "ctr0", "pod0", "ctr-name"));
    return fake_runtime_call(fr, method, message);
}

struct rpc_outcome *fake_runtime_event(struct fake_runtime *fr, enum nri_event event)
{
    const char *method = nri_event_name(event);
    const ProtobufCMessageDescriptor *type =
        nri__pkg__api__v1alpha1__plugin__descriptor.methods[method_index(method)].input;
    ProtobufCMessage *message = take(fr, type->sizeof_message);
    protobuf_c_message_init(type, message);
    return call_with_objects(fr, method, message);
}

struct rpc_outcome *fake_runtime_state_change(struct fake_runtime *fr, int event)
{
    MESSAGE(StateChangeEvent) message;
    INIT(state_change_event)(&message);
    message.event = (MESSAGE(Event))event;
    return call_with_objects(fr, "StateChange", &message.base);
}

static char *numbered(struct fake_runtime *fr, const char *what, size_t number)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%s%zu", what, number);
    return fake_text(fr, text);
}

struct rpc_outcome *fake_runtime_sync(struct fake_runtime *fr, size_t first_pod, size_t pods,
                                      size_t first_container, size_t containers, bool more)
{
    MESSAGE(SynchronizeRequest) message;
    INIT(synchronize_request)(&message);
    message.more = more;
    message.n_pods = pods;
    message.pods = take(fr, (pods + 1) * sizeof *message.pods);
    for (size_t i = 0; i < pods; i++)
        message.pods[i] = fake_pod(fr, numbered(fr, "pod", first_pod + i), "pod-name");
    message.n_containers = containers;
    message.containers = take(fr, (containers + 1) * sizeof *message.containers);
    for (size_t i = 0; i < containers; i++)
        message.containers[i] =
            fake_container(fr, numbered(fr, "ctr", first_container + i), "pod0", "ctr-name");
    return fake_runtime_call(fr, "Synchronize", &message.base);
}
