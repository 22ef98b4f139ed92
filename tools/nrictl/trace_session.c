/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Happy path: a request is kept -> its response comes -> a slice, what it asks for as instants, an
 * arrow from the plugin before. Failure modes: a request without a response is a slice up to the
 * end of its connection; a response without a request, and what is no message, are instants. How
 * much is kept is bounded by the session: connections, and requests that wait.
 */
#include "trace_session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <nri/event.h>

#include "event_name.h"

/* Events whose last plugin is remembered, and plugins of one event. */
#define MOST_CHAINS     256
#define MOST_ASKED      64

#define MOST_UNANSWERED (2 * SESSION_MOST_CALLS)
#define SUBJECT_SIZE    320

/* What a request was, for when its answer is there. */
struct asked {
    struct asked *next;
    uint64_t number, time;
    int64_t timeout; /* ns; 0: none */
    uint32_t mux, part;
    char name[64]; /* the method, or the event */
    char subject[SUBJECT_SIZE];
    char pod[80], container[80]; /* ids; "" for none */
    char pod_name[128], container_name[128];
};

struct connection {
    struct connection *next;
    uint32_t number;
    uint64_t process;
    char plugin[160];
    struct trace_row to_plugin, to_runtime;
    struct asked *asked; /* the oldest is the last */
    size_t asked_count;
};

struct chain {
    char name[64], pod[80], container[80];
    uint32_t asked[MOST_ASKED]; /* connections */
    size_t count;
    struct trace_place last;
    uint64_t used; /* 0: never */
};

struct trace_session {
    struct trace *trace;
    uint64_t began, last; /* ns since 1970: of the first thing, and the last */
    struct connection *connections;
    struct chain chains[MOST_CHAINS];
    uint64_t uses;
    bool failed;
};

/* ---- connections ---- */

static uint64_t since(struct trace_session *session, uint64_t time)
{
    if (session->began == 0)
        session->began = time;
    if (time > session->last)
        session->last = time;
    return time > session->began ? time - session->began : 0;
}

static void name_connection(const struct trace_session *session, struct connection *connection)
{
    char name[200];
    const char *plugin = connection->plugin;
    (void)snprintf(name, sizeof name, "connection %" PRIu32 "%s%s", connection->number,
                   plugin[0] == '\0' ? "" : ": ", plugin);
    trace_name_process(session->trace, connection->process, name, connection->number);
}

/* It may be unknown: a recording that begins in the middle. NULL: no memory. */
static struct connection *find(struct trace_session *session, uint32_t number)
{
    struct connection *connection = session->connections;
    while (connection != NULL && connection->number != number)
        connection = connection->next;
    if (connection != NULL)
        return connection;
    if ((connection = calloc(1, sizeof *connection)) == NULL) {
        session->failed = true;
        return NULL;
    }
    connection->number = number;
    connection->process = trace_id(session->trace);
    trace_row_init(&connection->to_plugin, connection->process, "plugin", 0);
    trace_row_init(&connection->to_runtime, connection->process, "calls of the runtime", 1);
    name_connection(session, connection);
    connection->next = session->connections;
    session->connections = connection;
    return connection;
}

static void take_name(const struct trace_session *session, struct connection *connection,
                      const char *plugin)
{
    char name[200];
    if (plugin[0] == '\0' || strcmp(plugin, connection->plugin) == 0)
        return;
    (void)snprintf(connection->plugin, sizeof connection->plugin, "%s", plugin);
    name_connection(session, connection);
    trace_row_rename(session->trace, &connection->to_plugin, plugin);
    (void)snprintf(name, sizeof name, "%s calls", plugin);
    trace_row_rename(session->trace, &connection->to_runtime, name);
}

/* An instant; the caller ends it. NULL: no memory. */
static struct nri_json_writer *tell(struct trace_session *session, struct connection *connection,
                                    uint64_t time, const char *category, const char *name)
{
    const uint64_t at = since(session, time);
    const uint64_t thread = trace_row_first(session->trace, &connection->to_plugin);
    const struct trace_place place = {connection->process, thread, at, at};
    return thread == 0 ? NULL : trace_instant(session->trace, &place, category, name);
}

/* ---- chains ---- */

/* The chain of an event; NULL: there is none. */
static struct chain *find_chain(struct trace_session *session, const char *name,
                                const struct asked *asked)
{
    for (size_t i = 0; i < MOST_CHAINS; i++) {
        struct chain *chain = &session->chains[i];
        if (chain->used > 0 && strcmp(chain->name, name) == 0 &&
            strcmp(chain->pod, asked->pod) == 0 && strcmp(chain->container, asked->container) == 0)
            return chain;
    }
    return NULL;
}

/* In place of the one that was not used for the longest time. */
static struct chain *make_chain(struct trace_session *session, const struct asked *asked)
{
    struct chain *oldest = &session->chains[0];
    for (size_t i = 1; i < MOST_CHAINS; i++) {
        if (session->chains[i].used < oldest->used)
            oldest = &session->chains[i];
    }
    *oldest = (struct chain){.used = 0};
    memcpy(oldest->name, asked->name, sizeof oldest->name);
    memcpy(oldest->pod, asked->pod, sizeof oldest->pod);
    memcpy(oldest->container, asked->container, sizeof oldest->container);
    return oldest;
}

static bool has_been_asked(const struct chain *chain, uint32_t connection)
{
    for (size_t i = 0; i < chain->count; i++) {
        if (chain->asked[i] == connection)
            return true;
    }
    return chain->count == MOST_ASKED;
}

/* Validators are asked side by side, after the last plugin of the creation. */
static void link_validator(struct trace_session *session, const struct asked *asked,
                           const struct trace_place *place)
{
    const struct chain *chain =
        find_chain(session, nri_event_name(NRI_EVENT_CREATE_CONTAINER), asked);
    if (chain != NULL && chain->last.end <= place->begin)
        trace_flow(session->trace, &chain->last, place, asked->name);
}

/* A plugin that is asked again begins a new event; so does one that is asked before the one before
 * it has answered. */
static void link_up(struct trace_session *session, const struct connection *connection,
                    const struct asked *asked, const struct trace_place *place)
{
    if (asked->pod[0] == '\0')
        return; /* no event */
    if (strcmp(asked->name, nri_event_name(NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT)) == 0) {
        link_validator(session, asked, place);
        return;
    }
    struct chain *chain = find_chain(session, asked->name, asked);
    if (chain == NULL)
        chain = make_chain(session, asked);
    if (has_been_asked(chain, connection->number) || chain->last.end > place->begin)
        chain->count = 0;
    if (chain->count > 0)
        trace_flow(session->trace, &chain->last, place, asked->name);
    chain->asked[chain->count++] = connection->number;
    chain->last = *place;
    chain->used = ++session->uses;
}

/* ---- requests ---- */

static const char *text_of(const struct nri_json *object, const char *key)
{
    return nri_json_string(nri_json_get(object, key), NULL);
}

static void copy(char *to, size_t room, const char *text)
{
    (void)snprintf(to, room, "%s", text);
}

/* "StartContainer" for the StateChange that is START_CONTAINER. */
static void name_request(struct asked *asked, const struct session_message *message,
                         const char *event)
{
    (void)snprintf(asked->name, sizeof asked->name, "%.*s",
                   message->method.length < 63 ? (int)message->method.length : 63,
                   message->method.length > 0 ? message->method.text : "?");
    for (int i = 1; event[0] != '\0' && i <= NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT; i++) {
        const char *name = nri_event_name((enum nri_event)i);
        if (event_name_equal(event, strlen(event), name))
            copy(asked->name, sizeof asked->name, name);
    }
}

static void note_request(struct trace_session *session, struct connection *connection,
                         const struct session_message *message, const struct payload *payload)
{
    const struct nri_json *pod = nri_json_get(payload->json, "pod");
    const struct nri_json *container = nri_json_get(payload->json, "container");
    struct asked *asked = calloc(1, sizeof *asked);
    if (asked == NULL) {
        session->failed = true;
        return;
    }
    asked->number = message->number;
    asked->time = message->time;
    asked->timeout = message->timeout;
    asked->mux = message->mux;
    asked->part = message->part;
    name_request(asked, message, payload->event);
    payload_subject(payload, asked->subject, sizeof asked->subject);
    copy(asked->pod, sizeof asked->pod, text_of(pod, "id"));
    copy(asked->pod_name, sizeof asked->pod_name, text_of(pod, "name"));
    copy(asked->container, sizeof asked->container, text_of(container, "id"));
    copy(asked->container_name, sizeof asked->container_name, text_of(container, "name"));
    asked->next = connection->asked;
    connection->asked = asked;
    connection->asked_count++;
}

static struct asked *take_asked(struct connection *connection, uint64_t number)
{
    struct asked **at = &connection->asked;
    while (*at != NULL && (*at)->number != number)
        at = &(*at)->next;
    struct asked *asked = *at;
    if (asked != NULL) {
        *at = asked->next;
        connection->asked_count--;
    }
    return asked;
}

static void put_member(struct nri_json_writer *writer, const char *key, const char *text)
{
    if (text[0] != '\0')
        trace_text(writer, key, text);
}

static void put_request(struct nri_json_writer *writer, const struct asked *asked)
{
    trace_number(writer, "number", asked->number);
    put_member(writer, "pod", asked->pod);
    put_member(writer, "pod_name", asked->pod_name);
    put_member(writer, "container", asked->container);
    put_member(writer, "container_name", asked->container_name);
    put_member(writer, "about", asked->subject);
    if (asked->part > 0)
        trace_number(writer, "part", asked->part);
    if (asked->timeout > 0)
        trace_number(writer, "timeout_ns", (uint64_t)asked->timeout);
}

/* What the plugin sets: who set what. Of other answers their members. */
static void put_response(struct nri_json_writer *writer, const struct session_message *message,
                         const struct payload *payload)
{
    trace_text(writer, "outcome", message->status == 0 ? "answered" : "refused");
    if (message->status != 0)
        trace_number(writer, "status", (uint64_t)(uint32_t)message->status);
    if (message->status_text.length > 0)
        trace_bytes(writer, "text", message->status_text.text, message->status_text.length);
    if (nri_json_count(payload->json) == 0)
        return;
    nri_json_write_key(writer, "answer", strlen("answer"));
    payload_write(payload, writer);
}

static void place_slice(struct trace_session *session, struct connection *connection,
                        const struct asked *asked, uint64_t end, struct trace_place *place)
{
    struct trace_row *row = asked->mux == 1 ? &connection->to_plugin : &connection->to_runtime;
    *place = (struct trace_place){.process = connection->process,
                                  .begin = since(session, asked->time),
                                  .end = since(session, end)};
    if (place->end < place->begin)
        place->end = place->begin;
    place->thread = trace_row_thread(session->trace, row, place->begin, place->end);
}

static void name_slice(const struct asked *asked, char *name, size_t room)
{
    const char *about = asked->container_name[0] != '\0' ? asked->container_name
                        : asked->container[0] != '\0'    ? asked->container
                        : asked->pod_name[0] != '\0'     ? asked->pod_name
                                                         : asked->pod;
    (void)snprintf(name, room, "%s%s%s", asked->name, about[0] == '\0' ? "" : " ", about);
}

/* ---- what plugins ask for, as instants ---- */

static void tell_updates(struct trace_session *session, struct connection *connection,
                         uint64_t time, const struct nri_json *updates)
{
    if (nri_json_count(updates) == 0)
        return;
    struct nri_json_writer *writer = tell(session, connection, time, "update", "updates");
    if (writer == NULL)
        return;
    nri_json_write_key(writer, "containers", strlen("containers"));
    nri_json_begin_array(writer);
    for (size_t i = 0; i < nri_json_count(updates); i++) {
        const char *id = text_of(nri_json_at(updates, i), "container_id");
        nri_json_write_string(writer, id, strlen(id));
    }
    nri_json_end_array(writer);
    trace_end(session->trace);
}

static void tell_evictions(struct trace_session *session, struct connection *connection,
                           uint64_t time, const struct nri_json *evictions)
{
    for (size_t i = 0; i < nri_json_count(evictions); i++) {
        const struct nri_json *eviction = nri_json_at(evictions, i);
        struct nri_json_writer *writer = tell(session, connection, time, "eviction", "evicts");
        if (writer == NULL)
            return;
        trace_text(writer, "container", text_of(eviction, "container_id"));
        trace_text(writer, "reason", text_of(eviction, "reason"));
        trace_end(session->trace);
    }
}

static void tell_wishes(struct trace_session *session, struct connection *connection,
                        const struct session_message *message, const struct payload *payload)
{
    if (message->direction != RECORDING_TO_RUNTIME)
        return;
    tell_updates(session, connection, message->time, nri_json_get(payload->json, "update"));
    tell_evictions(session, connection, message->time, nri_json_get(payload->json, "evict"));
}

static void tell_late(struct trace_session *session, struct connection *connection,
                      const struct asked *asked, uint64_t end)
{
    if (asked->timeout <= 0 || end <= asked->time || end - asked->time < (uint64_t)asked->timeout)
        return;
    struct nri_json_writer *writer =
        tell(session, connection, asked->time + (uint64_t)asked->timeout, "time-out", "time-out");
    if (writer == NULL)
        return;
    put_request(writer, asked);
    trace_end(session->trace);
}

static void put_unanswered(struct trace_session *session, struct connection *connection,
                           const struct asked *asked, uint64_t time)
{
    struct trace_place place;
    char name[256];
    place_slice(session, connection, asked, time, &place);
    name_slice(asked, name, sizeof name);
    if (place.thread != 0) {
        struct nri_json_writer *writer =
            trace_slice(session->trace, &place, asked->mux == 1 ? "request" : "call", name);
        put_request(writer, asked);
        trace_text(writer, "outcome", "no answer");
        trace_end(session->trace);
    }
    tell_late(session, connection, asked, time);
}

/* The session gives up the oldest ones when there are too many; so does this. */
static void give_up_oldest(struct trace_session *session, struct connection *connection,
                           uint64_t time)
{
    struct asked **at = &connection->asked;
    while (*at != NULL && (*at)->next != NULL)
        at = &(*at)->next;
    struct asked *oldest = *at;
    if (oldest == NULL)
        return;
    *at = NULL;
    connection->asked_count--;
    put_unanswered(session, connection, oldest, time);
    free(oldest);
}

static void end_unanswered(struct trace_session *session, struct connection *connection,
                           uint64_t time)
{
    while (connection->asked != NULL)
        give_up_oldest(session, connection, time);
}

/* ---- messages ---- */

static void tell_stray(struct trace_session *session, struct connection *connection,
                       const struct session_message *message, const struct payload *payload)
{
    struct nri_json_writer *writer =
        tell(session, connection, message->time, "response", "response without its request");
    if (writer == NULL)
        return;
    trace_number(writer, "number", message->number);
    put_response(writer, message, payload);
    trace_end(session->trace);
}

static void on_response(struct trace_session *session, struct connection *connection,
                        const struct session_message *message, const struct payload *payload)
{
    struct asked *asked = message->matched ? take_asked(connection, message->request) : NULL;
    struct trace_place place;
    char name[256];
    if (asked == NULL) {
        tell_stray(session, connection, message, payload);
        return;
    }
    place_slice(session, connection, asked, message->time, &place);
    name_slice(asked, name, sizeof name);
    if (place.thread != 0) {
        struct nri_json_writer *writer =
            trace_slice(session->trace, &place, asked->mux == 1 ? "request" : "call", name);
        put_request(writer, asked);
        put_response(writer, message, payload);
        trace_end(session->trace);
        if (asked->mux == 1)
            link_up(session, connection, asked, &place);
    }
    tell_late(session, connection, asked, message->time);
    free(asked);
}

void trace_session_message(struct trace_session *session, const struct session_message *message,
                           const struct payload *payload, const char *plugin)
{
    struct connection *connection = session == NULL ? NULL : find(session, message->connection);
    if (connection == NULL)
        return;
    take_name(session, connection, plugin);
    if (message->response)
        on_response(session, connection, message, payload);
    else
        note_request(session, connection, message, payload);
    if (connection->asked_count > MOST_UNANSWERED)
        give_up_oldest(session, connection, message->time);
    tell_wishes(session, connection, message, payload);
}

/* ---- ends ---- */

static void forget(struct trace_session *session, const struct connection *connection)
{
    struct connection **at = &session->connections;
    while (*at != connection)
        at = &(*at)->next;
    struct connection *gone = *at;
    *at = gone->next;
    trace_row_fini(&gone->to_plugin);
    trace_row_fini(&gone->to_runtime);
    free(gone);
}

void trace_session_opened(struct trace_session *session, const struct session_connection *about)
{
    struct connection *connection = session == NULL ? NULL : find(session, about->connection);
    struct nri_json_writer *writer =
        connection == NULL ? NULL
                           : tell(session, connection, about->time, "connection", "connected");
    if (writer == NULL)
        return;
    trace_bytes(writer, "note", about->note.text, about->note.length);
    trace_end(session->trace);
}

void trace_session_ended(struct trace_session *session, const struct session_connection *about)
{
    struct connection *connection = session == NULL ? NULL : find(session, about->connection);
    if (connection == NULL)
        return;
    end_unanswered(session, connection, about->time);
    struct nri_json_writer *writer = tell(session, connection, about->time, "connection", "lost");
    if (writer != NULL) {
        trace_bytes(writer, "note", about->note.text, about->note.length);
        trace_number(writer, "unanswered", about->unanswered);
        trace_end(session->trace);
    }
    forget(session, connection);
}

void trace_session_garbage(struct trace_session *session, const struct session_garbage *garbage)
{
    struct connection *connection = session == NULL ? NULL : find(session, garbage->connection);
    struct nri_json_writer *writer =
        connection == NULL ? NULL : tell(session, connection, garbage->time, "garbage", "garbage");
    if (writer == NULL)
        return;
    trace_text(writer, "what", garbage->what);
    trace_text(writer, "from", recording_sender(garbage->direction));
    trace_number(writer, "offset", garbage->offset);
    trace_number(writer, "size", garbage->size);
    trace_end(session->trace);
}

bool trace_session_failed(const struct trace_session *session)
{
    return session != NULL && session->failed;
}

/* ---- its life ---- */

struct trace_session *trace_session_new(struct trace *trace)
{
    struct trace_session *session = calloc(1, sizeof *session);
    if (session != NULL)
        session->trace = trace;
    return session;
}

void trace_session_free(struct trace_session *session)
{
    if (session == NULL)
        return;
    while (session->connections != NULL) {
        end_unanswered(session, session->connections, session->last);
        forget(session, session->connections);
    }
    free(session);
}
