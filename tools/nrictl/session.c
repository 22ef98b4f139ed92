/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Happy path: a record of bytes goes to the tap of its connection and direction; a complete message
 * comes back, is a request or a response by the mux connection and the direction, is taken out of
 * its envelope, and a response is put to its request. Failure modes: no memory (the session is of
 * no use any more); everything else is told as garbage.
 */
#include "session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/nri.pb-c.h"
#include "rpc/envelope.h"
#include "tap.h"
#include "wire/varint.h"

/* Of the names of a method that is not NRI's. */
#define MOST_NAME 128

struct call { /* a request without its response */
    uint32_t stream;
    const ProtobufCMethodDescriptor *known;
    char service[MOST_NAME], method[MOST_NAME];
    uint32_t part;
    uint64_t number, time;
};

struct calls {
    struct call *list; /* in the order of the requests */
    size_t count, capacity;
};

struct connection;
struct side { /* what one of the two sends */
    struct connection *connection;
    enum recording_direction direction;
    struct tap tap;
    struct calls calls; /* of its own requests */
};

struct connection {
    struct session *session;
    uint32_t recorded; /* its number in the recording, since the last start */
    uint32_t number;
    uint32_t parts; /* of a Synchronize under way */
    struct side sides[2];
};

struct session {
    struct session_watch watch;
    void *user;
    struct connection **connections;
    size_t count, capacity;
    uint32_t numbered;
    uint64_t messages;
    uint64_t time;     /* of the last record */
    size_t unfinished; /* bytes */
    bool full;         /* it was told that there are too many connections */
};

static struct session_text text_of(const char *text)
{
    return (struct session_text){text, strlen(text)};
}

static void tell(struct side *side, uint64_t time, uint64_t offset, uint64_t size, const char *what)
{
    const struct session *session = side->connection->session;
    const struct session_garbage garbage = {.time = time,
                                            .connection = side->connection->number,
                                            .direction = side->direction,
                                            .offset = offset,
                                            .size = size,
                                            .what = what};
    if (session->watch.garbage != NULL)
        session->watch.garbage(session->user, &garbage);
}

static void tap_garbage(void *user, uint64_t time, uint64_t offset, uint64_t size, const char *what)
{
    tell(user, time, offset, size, what);
}

/* ---- methods ---- */

static const struct {
    const char *name;
    const ProtobufCServiceDescriptor *service;
} services[] = {{"Plugin", &nri__pkg__api__v1alpha1__plugin__descriptor},
                {"Runtime", &nri__pkg__api__v1alpha1__runtime__descriptor}};

static bool is(struct nri_rpc_bytes bytes, const char *name)
{
    return bytes.length == strlen(name) && memcmp(bytes.bytes, name, bytes.length) == 0;
}

static void find_method(struct session_message *message, struct nri_rpc_bytes service,
                        struct nri_rpc_bytes method)
{
    message->service = (struct session_text){(const char *)service.bytes, service.length};
    message->method = (struct session_text){(const char *)method.bytes, method.length};
    for (size_t i = 0; i < 2; i++) {
        const ProtobufCServiceDescriptor *known = services[i].service;
        if (!is(service, known->name))
            continue;
        message->service = text_of(services[i].name);
        for (unsigned m = 0; m < known->n_methods; m++) {
            if (is(method, known->methods[m].name))
                message->known = &known->methods[m];
        }
    }
    message->type = message->known != NULL ? message->known->input : NULL;
}

/* Whether a message's bool of that name is set: the last one counts. What is malformed is told by
 * who decodes it whole. */
static bool has_flag(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t size,
                     const char *name)
{
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(type, name);
    const uint8_t *at = bytes, *const end = bytes + size;
    bool set = false;
    while (at < end) {
        struct nri_varint key = nri_varint_read(at, end), value = {0};
        if (key.next == NULL)
            return set;
        at = key.next;
        switch (key.value & 7) {
        case PROTOBUF_C_WIRE_TYPE_VARINT:
        case PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED:
            value = nri_varint_read(at, end);
            at = value.next;
            break;
        case PROTOBUF_C_WIRE_TYPE_64BIT:
            value.value = 8;
            break;
        case PROTOBUF_C_WIRE_TYPE_32BIT:
            value.value = 4;
            break;
        default:
            return set;
        }
        if (at == NULL)
            return set;
        if ((key.value & 7) == PROTOBUF_C_WIRE_TYPE_VARINT) {
            if (field != NULL && key.value >> 3 == field->id)
                set = value.value != 0;
        } else if (value.value > (size_t)(end - at)) {
            return set;
        } else {
            at += value.value;
        }
    }
    return set;
}

static bool is_synchronize(const ProtobufCMethodDescriptor *known)
{
    return known != NULL &&
           known->input == &nri__pkg__api__v1alpha1__synchronize_request__descriptor;
}

/* ---- calls ---- */

static void remember(char *name, struct session_text text)
{
    const size_t length = text.length < MOST_NAME - 1 ? text.length : MOST_NAME - 1;
    memcpy(name, text.text, length);
    name[length] = '\0';
}

static void forget(struct calls *calls, size_t index)
{
    calls->count--;
    memmove(calls->list + index, calls->list + index + 1,
            (calls->count - index) * sizeof *calls->list);
}

static int add_call(struct side *side, const struct session_message *message)
{
    struct calls *calls = &side->calls;
    if (calls->count == SESSION_MOST_CALLS) {
        tell(side, message->time, message->offset, 0,
             "too many calls wait for their response: the oldest is forgotten");
        forget(calls, 0);
    }
    if (calls->count == calls->capacity) {
        const size_t capacity = calls->capacity == 0 ? 8 : 2 * calls->capacity;
        struct call *list = reallocarray(calls->list, capacity, sizeof *list);
        if (list == NULL)
            return NRI_E_NOMEM;
        calls->list = list;
        calls->capacity = capacity;
    }
    struct call *call = &calls->list[calls->count++];
    *call = (struct call){.stream = message->stream,
                          .known = message->known,
                          .part = message->part,
                          .number = message->number,
                          .time = message->time};
    remember(call->service, message->service);
    remember(call->method, message->method);
    return 0;
}

static const struct call *find_call(const struct calls *calls, uint32_t stream, size_t *index)
{
    for (*index = 0; *index < calls->count; (*index)++) {
        if (calls->list[*index].stream == stream)
            return &calls->list[*index];
    }
    return NULL;
}

/* ---- messages ---- */

static void give(struct side *side, const struct session_message *message)
{
    const struct session *session = side->connection->session;
    if (session->watch.message != NULL)
        session->watch.message(session->user, message);
}

static int take_request(struct side *side, struct session_message *message)
{
    struct connection *connection = side->connection;
    struct nri_rpc_request request;
    struct nri_error error;
    if (nri_rpc_request_decode(message->envelope, message->envelope_size, &request, &error) != 0) {
        tell(side, message->time, message->offset, message->wire_size, error.text);
        return 0;
    }
    find_method(message, request.service, request.method);
    message->payload = request.payload.bytes;
    message->size = request.payload.length;
    message->timeout = request.timeout;
    message->metadata_count = request.metadata_count;
    if (is_synchronize(message->known)) {
        message->part = ++connection->parts;
        message->more = has_flag(message->type, message->payload, message->size, "more");
        if (!message->more)
            connection->parts = 0;
    }
    message->number = ++connection->session->messages;
    give(side, message);
    return add_call(side, message);
}

static int take_response(struct side *side, struct session_message *message)
{
    struct connection *connection = side->connection;
    struct calls *calls = &connection->sides[side->direction == RECORDING_TO_RUNTIME].calls;
    struct nri_rpc_response response;
    struct nri_error error;
    size_t index;
    if (nri_rpc_response_decode(message->envelope, message->envelope_size, &response, &error) !=
        0) {
        tell(side, message->time, message->offset, message->wire_size, error.text);
        return 0;
    }
    message->payload = response.payload.bytes;
    message->size = response.payload.length;
    message->status = response.grpc;
    message->status_text =
        (struct session_text){(const char *)response.text.bytes, response.text.length};
    message->number = ++connection->session->messages;
    const struct call *call = find_call(calls, message->stream, &index);
    if (call == NULL) {
        give(side, message);
        return 0;
    }
    message->matched = true;
    message->request = call->number;
    message->request_time = call->time;
    message->service = text_of(call->service);
    message->method = text_of(call->method);
    message->known = call->known;
    message->type = call->known != NULL ? call->known->output : NULL;
    message->part = call->part;
    message->more = is_synchronize(call->known) &&
                    has_flag(message->type, message->payload, message->size, "more");
    give(side, message);
    forget(calls, index);
    return 0;
}

static int tap_message(void *user, const struct tap_message *from)
{
    struct side *side = user;
    const bool response =
        (from->mux == NRI_MUX_PLUGIN_ID) == (side->direction == RECORDING_TO_RUNTIME);
    struct session_message message = {
        .time = from->time,
        .first = from->first,
        .connection = side->connection->number,
        .direction = side->direction,
        .offset = from->offset,
        .mux = from->mux,
        .stream = from->stream,
        .response = response,
        .service = {"", 0},
        .method = {"", 0},
        .status_text = {"", 0},
        .envelope = from->bytes,
        .envelope_size = from->size,
        .wire_size = from->size + NRI_TTRPC_HEADER,
    };
    if (from->type != (response ? NRI_TTRPC_RESPONSE : NRI_TTRPC_REQUEST)) {
        char text[96];
        (void)snprintf(text, sizeof text, "a ttRPC message of type %u on stream %" PRIu32,
                       from->type, from->stream);
        tell(side, from->time, from->offset, message.wire_size, text);
        return 0;
    }
    return response ? take_response(side, &message) : take_request(side, &message);
}

/* ---- connections ---- */

static void connection_free(struct connection *connection)
{
    for (size_t i = 0; i < 2; i++) {
        tap_fini(&connection->sides[i].tap);
        free(connection->sides[i].calls.list);
    }
    free(connection);
}

static void side_init(struct connection *connection, enum recording_direction direction)
{
    static const struct tap_watch watch = {tap_message, tap_garbage};
    struct side *side = &connection->sides[direction - 1];
    side->connection = connection;
    side->direction = direction;
    tap_init(&side->tap, &connection->session->unfinished, &watch, side);
}

static size_t index_of(const struct session *session, uint32_t recorded)
{
    size_t i = 0;
    while (i < session->count && session->connections[i]->recorded != recorded)
        i++;
    return i;
}

static int open_connection(struct session *session, uint32_t recorded, struct connection **made)
{
    if (session->count == session->capacity) {
        const size_t capacity = session->capacity == 0 ? 8 : 2 * session->capacity;
        struct connection **list =
            reallocarray(session->connections, capacity, sizeof(struct connection *));
        if (list == NULL)
            return NRI_E_NOMEM;
        session->connections = list;
        session->capacity = capacity;
    }
    struct connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL)
        return NRI_E_NOMEM;
    connection->session = session;
    connection->recorded = recorded;
    connection->number = ++session->numbered;
    side_init(connection, RECORDING_TO_RUNTIME);
    side_init(connection, RECORDING_TO_PLUGIN);
    session->connections[session->count++] = connection;
    *made = connection;
    return 0;
}

static void end_connection(struct session *session, size_t index, uint64_t time,
                           struct session_text note)
{
    struct connection *connection = session->connections[index];
    for (size_t i = 0; i < 2; i++)
        tap_finish(&connection->sides[i].tap, time);
    const struct session_connection ended = {
        .time = time,
        .connection = connection->number,
        .note = note,
        .unanswered = connection->sides[0].calls.count + connection->sides[1].calls.count,
    };
    if (session->watch.ended != NULL)
        session->watch.ended(session->user, &ended);
    connection_free(connection);
    session->count--;
    memmove(session->connections + index, session->connections + index + 1,
            (session->count - index) * sizeof(struct connection *));
}

/* The connection of a record; one whose opening is not there (it was damaged) is made. NULL: there
 * are too many, which is told once. */
static int connection_of(struct session *session, const struct recording_record *record,
                         struct connection **found)
{
    const size_t index = index_of(session, record->connection);
    *found = NULL;
    if (index < session->count) {
        *found = session->connections[index];
        return 0;
    }
    if (session->count < SESSION_MOST_CONNECTIONS)
        return open_connection(session, record->connection, found);
    const struct session_garbage garbage = {
        .time = record->time, .what = "too many connections are open: the others are left out"};
    if (!session->full && session->watch.garbage != NULL)
        session->watch.garbage(session->user, &garbage);
    session->full = true;
    return 0;
}

/* ---- records ---- */

static struct session_text note_of(const struct recording_record *record)
{
    return (struct session_text){record->size > 0 ? (const char *)record->data : "", record->size};
}

static void start(struct session *session, const struct recording_record *record)
{
    const struct session_connection started = {.time = record->time, .note = note_of(record)};
    while (session->count > 0)
        end_connection(session, 0, session->time, text_of(""));
    if (session->watch.started != NULL)
        session->watch.started(session->user, &started);
}

static int take_of_connection(struct session *session, struct connection *connection,
                              const struct recording_record *record)
{
    struct tap *tap = record->direction != RECORDING_NO_DIRECTION
                          ? &connection->sides[record->direction - 1].tap
                          : NULL;
    const struct session_connection about = {
        .time = record->time, .connection = connection->number, .note = note_of(record)};
    switch (record->kind) {
    case RECORDING_OPEN:
        if (session->watch.opened != NULL)
            session->watch.opened(session->user, &about);
        return 0;
    case RECORDING_BYTES:
        return tap_take(tap, record->time, record->data, record->size);
    case RECORDING_LOST:
        tap_skip(tap, record->time, record->lost);
        return 0;
    case RECORDING_CLOSED:
        tap_finish(tap, record->time);
        if (session->watch.closed != NULL)
            session->watch.closed(session->user, record->time, connection->number,
                                  record->direction);
        return 0;
    default:
        end_connection(session, index_of(session, record->connection), record->time,
                       note_of(record));
        return 0;
    }
}

int session_take(struct session *session, const struct recording_record *record)
{
    struct connection *connection;
    int code = 0;
    if (record->kind == RECORDING_START) {
        start(session, record);
    } else {
        code = connection_of(session, record, &connection);
        if (connection != NULL)
            code = take_of_connection(session, connection, record);
    }
    session->time = record->time;
    return code;
}

void session_finish(struct session *session)
{
    while (session->count > 0)
        end_connection(session, 0, session->time, text_of(""));
}

int session_new(struct session **out, const struct session_watch *watch, void *user)
{
    struct session *session = calloc(1, sizeof *session);
    *out = session;
    if (session == NULL)
        return NRI_E_NOMEM;
    session->watch = *watch;
    session->user = user;
    return 0;
}

void session_free(struct session *session)
{
    if (session == NULL)
        return;
    for (size_t i = 0; i < session->count; i++)
        connection_free(session->connections[i]);
    free(session->connections);
    free(session);
}
