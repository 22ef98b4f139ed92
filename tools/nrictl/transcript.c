/* SPDX-License-Identifier: Apache-2.0 */
#include "transcript.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "event_name.h"
#include "memory.h"
#include "payload.h"
#include "print.h"
#include "session.h"
#include "trace_session.h"

/* Requests that were shown and wait for their response, in the order of their numbers. */
#define MOST_SHOWN 65536

struct plugin { /* of a connection that is open */
    uint32_t connection;
    char name[160]; /* "10-logger" */
};

struct transcript {
    struct nrictl *ctl;
    struct transcript_options options;
    struct session *session;
    struct trace_session *timeline; /* NULL: lines */
    struct payload payload;
    struct plugin *plugins;
    size_t plugin_count, plugin_capacity;
    uint64_t *shown;
    size_t shown_count, shown_capacity;
    uint64_t messages, shown_messages, connections, unanswered;
    uint64_t garbage, damage, undecoded, unknown_fields; /* counts of places */
    int code;                                            /* what a failure ends with */
};

static void fail(struct transcript *transcript)
{
    if (transcript->code == NRICTL_OK)
        transcript->code = nrictl_fail(transcript->ctl, NRICTL_ENVIRONMENT, "no memory");
}

static bool grow(struct transcript *transcript, void **list, size_t size, size_t count,
                 size_t *capacity)
{
    if (count < *capacity)
        return true;
    const size_t wanted = *capacity == 0 ? 16 : 2 * *capacity;
    void *larger = reallocarray(*list, wanted, size);
    if (larger == NULL) {
        fail(transcript);
        return false;
    }
    *list = larger;
    *capacity = wanted;
    return true;
}

/* ---- plugins ---- */

static const char *plugin_of(const struct transcript *transcript, uint32_t connection)
{
    for (size_t i = 0; i < transcript->plugin_count; i++) {
        if (transcript->plugins[i].connection == connection)
            return transcript->plugins[i].name;
    }
    return "";
}

static void forget_plugin(struct transcript *transcript, uint32_t connection)
{
    for (size_t i = 0; i < transcript->plugin_count; i++) {
        if (transcript->plugins[i].connection == connection)
            transcript->plugins[i] = transcript->plugins[--transcript->plugin_count];
    }
}

static void note_plugin(struct transcript *transcript, const struct session_message *message)
{
    static const char method[] = "RegisterPlugin";
    if (message->response || message->known == NULL || strcmp(message->known->name, method) != 0 ||
        transcript->payload.json == NULL)
        return;
    forget_plugin(transcript, message->connection);
    if (!grow(transcript, (void **)&transcript->plugins, sizeof *transcript->plugins,
              transcript->plugin_count, &transcript->plugin_capacity))
        return;
    struct plugin *plugin = &transcript->plugins[transcript->plugin_count++];
    plugin->connection = message->connection;
    payload_subject(&transcript->payload, plugin->name, sizeof plugin->name);
}

static bool is_plugin(const char *name, const char *wanted)
{
    const char *dash = strchr(name, '-');
    return strcmp(name, wanted) == 0 || (dash != NULL && strcmp(dash + 1, wanted) == 0);
}

/* ---- which messages are shown ---- */

static bool is_wanted_event(const struct transcript *transcript,
                            const struct session_message *message)
{
    const char *event = transcript->payload.event;
    if (transcript->options.events == NULL)
        return true;
    for (const char *const *at = transcript->options.events; *at != NULL; at++) {
        if (event_name_equal(message->method.text, message->method.length, *at) ||
            event_name_equal(event, strlen(event), *at))
            return true;
    }
    return false;
}

static bool is_wanted(const struct transcript *transcript, const struct session_message *message)
{
    const struct transcript_options *wanted = &transcript->options;
    const struct payload *payload = &transcript->payload;
    return is_wanted_event(transcript, message) &&
           (wanted->plugin == NULL ||
            is_plugin(plugin_of(transcript, message->connection), wanted->plugin)) &&
           (wanted->pod == NULL || payload_has_pod(payload, wanted->pod)) &&
           (wanted->container == NULL || payload_has_container(payload, wanted->container));
}

/* A response is shown when its request was; one without a request when nothing is filtered by what
 * only the request has. */
static bool was_shown(struct transcript *transcript, uint64_t request)
{
    for (size_t i = 0; i < transcript->shown_count; i++) {
        if (transcript->shown[i] != request)
            continue;
        transcript->shown_count--;
        memmove(transcript->shown + i, transcript->shown + i + 1,
                (transcript->shown_count - i) * sizeof *transcript->shown);
        return true;
    }
    return false;
}

static bool is_shown(struct transcript *transcript, const struct session_message *message)
{
    if (message->matched)
        return was_shown(transcript, message->request);
    if (!is_wanted(transcript, message))
        return false;
    if (message->response)
        return true;
    if (transcript->shown_count == MOST_SHOWN)
        (void)was_shown(transcript, transcript->shown[0]);
    if (grow(transcript, (void **)&transcript->shown, sizeof *transcript->shown,
             transcript->shown_count, &transcript->shown_capacity))
        transcript->shown[transcript->shown_count++] = message->number;
    return true;
}

/* ---- text ---- */

static void format_time(uint64_t nanoseconds, char text[40], bool date)
{
    const time_t seconds = (time_t)(nanoseconds / 1000000000);
    struct tm parts;
    char first[24] = "?";
    if (gmtime_r(&seconds, &parts) != NULL)
        (void)strftime(first, sizeof first, date ? "%Y-%m-%dT%H:%M:%S" : "%H:%M:%S", &parts);
    (void)snprintf(text, 40, "%s.%06u%s", first, (unsigned)(nanoseconds / 1000 % 1000000),
                   date ? "Z" : "");
}

static void begin_line(const struct transcript *transcript, uint64_t time, uint32_t connection)
{
    FILE *out = transcript->ctl->out;
    const char *plugin = plugin_of(transcript, connection);
    char when[40];
    format_time(time, when, false);
    (void)fprintf(out, "%s%s%s  ", print_colour(transcript->ctl, PRINT_DIM), when,
                  print_colour(transcript->ctl, PRINT_PLAIN));
    if (connection != 0)
        (void)fprintf(out, "%" PRIu32 "  ", connection);
    if (plugin[0] != '\0') {
        print_text(out, plugin, strlen(plugin));
        (void)fputs("  ", out);
    }
}

static void print_piece(const struct transcript *transcript, enum print_colour colour,
                        const char *text, size_t length)
{
    FILE *out = transcript->ctl->out;
    (void)fputs(print_colour(transcript->ctl, colour), out);
    print_text(out, text, length);
    (void)fputs(print_colour(transcript->ctl, PRINT_PLAIN), out);
}

static void print_word(const struct transcript *transcript, enum print_colour colour,
                       const char *text)
{
    print_piece(transcript, colour, text, strlen(text));
}

static void print_status(const struct transcript *transcript, const struct session_message *message)
{
    FILE *out = transcript->ctl->out;
    char text[64];
    (void)snprintf(text, sizeof text, "status %" PRId32, message->status);
    print_word(transcript, message->status == 0 ? PRINT_GREEN : PRINT_RED,
               message->status == 0 ? "OK" : text);
    if (message->matched) {
        const uint64_t took =
            message->time > message->request_time ? message->time - message->request_time : 0;
        (void)fprintf(out, " in %.3f ms", (double)took / 1e6);
    }
    if (message->status_text.length > 0) {
        (void)fputs(": ", out);
        print_text(out, message->status_text.text, message->status_text.length);
    }
}

/* Each line of the JSON is of texts that were checked, but what a terminal obeys may be in them. */
static void print_payload(struct transcript *transcript)
{
    struct nri_buf out;
    memory_buf(&out, SIZE_MAX);
    if (nri_json_write(transcript->payload.json, 2, &out) != 0)
        fail(transcript);
    const char *at = memory_text(&out), *const end = at + nri_buf_size(&out);
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t length = (size_t)((stop != NULL ? stop : end) - at);
        (void)fputs("    ", transcript->ctl->out);
        print_text(transcript->ctl->out, at, length);
        (void)fputc('\n', transcript->ctl->out);
        at += length + 1;
    }
    nri_buf_fini(&out);
}

static void print_trouble(const struct transcript *transcript)
{
    const struct payload *payload = &transcript->payload;
    FILE *out = transcript->ctl->out;
    if (payload->json == NULL) {
        (void)fputs("    ", out);
        print_word(transcript, PRINT_RED, "payload not decoded: ");
        print_text(out, payload->why, strlen(payload->why));
        (void)fputc('\n', out);
    } else if (payload->unknown_fields > 0) {
        (void)fputs("    ", out);
        print_word(transcript, PRINT_YELLOW, "fields that NRI 0.12 has not: ");
        (void)fprintf(out, "%zu\n", payload->unknown_fields);
    }
}

static void print_message(struct transcript *transcript, const struct session_message *message)
{
    const bool to_runtime = message->direction == RECORDING_TO_RUNTIME;
    FILE *out = transcript->ctl->out;
    char subject[320];
    begin_line(transcript, message->time, message->connection);
    (void)fputs(to_runtime ? "plugin -> runtime  " : "runtime -> plugin  ", out);
    print_piece(transcript, PRINT_BOLD, message->method.length > 0 ? message->method.text : "?",
                message->method.length > 0 ? message->method.length : 1);
    if (transcript->payload.event[0] != '\0') {
        (void)fputc(' ', out);
        print_word(transcript, PRINT_BOLD, transcript->payload.event);
    }
    if (message->part > 1 || message->more)
        (void)fprintf(out, " part %" PRIu32 "%s", message->part, message->more ? "" : ", the last");
    (void)fputs("  ", out);
    if (message->response) {
        print_status(transcript, message);
        (void)fputs("  ", out);
    }
    payload_subject(&transcript->payload, subject, sizeof subject);
    if (subject[0] != '\0') {
        print_text(out, subject, strlen(subject));
        (void)fputs("  ", out);
    }
    (void)fprintf(out, "%zu bytes\n", message->wire_size);
    print_trouble(transcript);
    if (transcript->options.full && nri_json_count(transcript->payload.json) > 0)
        print_payload(transcript);
}

/* ---- JSON lines ---- */

static void write_text(struct print_json *json, const char *key, struct session_text text)
{
    print_json_key(json, key);
    if (nri_utf8_valid(text.text, text.length, NULL))
        nri_json_write_string(&json->writer, text.text, text.length);
    else
        nri_json_write_null(&json->writer);
}

static void begin_json(const struct transcript *transcript, struct print_json *json,
                       const char *type, uint64_t time, uint32_t connection)
{
    const char *plugin = plugin_of(transcript, connection);
    char when[40];
    format_time(time, when, true);
    print_json_begin(json, 0);
    nri_json_begin_object(&json->writer);
    print_json_text(json, "type", type);
    print_json_text(json, "time", when);
    print_json_number(json, "time_ns", time);
    if (connection != 0)
        print_json_number(json, "connection", connection);
    if (plugin[0] != '\0')
        write_text(json, "plugin", (struct session_text){plugin, strlen(plugin)});
}

static void end_json(struct transcript *transcript, struct print_json *json)
{
    nri_json_end_object(&json->writer);
    const int code = print_json_end(transcript->ctl, json);
    if (transcript->code == NRICTL_OK)
        transcript->code = code;
}

static void write_response(struct print_json *json, const struct session_message *message)
{
    print_json_key(json, "status");
    nri_json_write_int64(&json->writer, message->status);
    if (message->status_text.length > 0)
        write_text(json, "status_text", message->status_text);
    if (!message->matched)
        return;
    print_json_number(json, "request", message->request);
    print_json_number(json, "took_ns",
                      message->time > message->request_time ? message->time - message->request_time
                                                            : 0);
}

static void write_message(struct transcript *transcript, const struct session_message *message)
{
    const struct payload *payload = &transcript->payload;
    struct print_json json;
    begin_json(transcript, &json, message->response ? "response" : "request", message->time,
               message->connection);
    print_json_text(&json, "from", recording_sender(message->direction));
    print_json_number(&json, "number", message->number);
    print_json_number(&json, "stream", message->stream);
    write_text(&json, "service", message->service);
    write_text(&json, "method", message->method);
    if (payload->event[0] != '\0')
        print_json_text(&json, "event", payload->event);
    if (message->part > 0) {
        print_json_number(&json, "part", message->part);
        print_json_bool(&json, "more", message->more);
    }
    if (message->response)
        write_response(&json, message);
    else if (message->timeout > 0)
        print_json_number(&json, "timeout_ns", (uint64_t)message->timeout);
    print_json_number(&json, "size", message->wire_size);
    if (payload->unknown_fields > 0)
        print_json_number(&json, "unknown_fields", payload->unknown_fields);
    if (payload->json == NULL)
        write_text(&json, "not_decoded", (struct session_text){payload->why, strlen(payload->why)});
    print_json_key(&json, "payload");
    payload_write(payload, &json.writer);
    end_json(transcript, &json);
}

/* ---- what a session tells ---- */

static void message(void *user, const struct session_message *message)
{
    struct transcript *transcript = user;
    struct payload *payload = &transcript->payload;
    transcript->messages++;
    if (payload_decode(payload, message) != 0 ||
        (!transcript->options.show_env && payload_hide(payload) != 0)) {
        fail(transcript);
        return;
    }
    note_plugin(transcript, message);
    transcript->undecoded += payload->json == NULL;
    transcript->unknown_fields += payload->unknown_fields;
    if (!is_shown(transcript, message))
        return;
    transcript->shown_messages++;
    if (transcript->timeline != NULL)
        trace_session_message(transcript->timeline, message, payload,
                              plugin_of(transcript, message->connection));
    else if (transcript->ctl->json)
        write_message(transcript, message);
    else
        print_message(transcript, message);
}

/* What is said of a recorder or a connection: its JSON goes to people as it is. */
static void tell(struct transcript *transcript, const char *type, const char *from,
                 const struct session_connection *about)
{
    struct print_json json;
    if (transcript->timeline != NULL)
        return;
    if (transcript->ctl->json) {
        begin_json(transcript, &json, type, about->time, about->connection);
        if (from != NULL)
            print_json_text(&json, "from", from);
        if (about->note.length > 0)
            write_text(&json, "note", about->note);
        end_json(transcript, &json);
        return;
    }
    begin_line(transcript, about->time, about->connection);
    print_word(transcript, PRINT_DIM, type);
    if (from != NULL)
        (void)fprintf(transcript->ctl->out, " by the %s", from);
    if (about->note.length > 2) { /* {} */
        (void)fputc(' ', transcript->ctl->out);
        print_piece(transcript, PRINT_DIM, about->note.text, about->note.length);
    }
    if (about->unanswered > 0)
        (void)fprintf(transcript->ctl->out, ", %zu calls without a response", about->unanswered);
    (void)fputc('\n', transcript->ctl->out);
}

/* Of a plugin that is not wanted nothing is told; before it has registered that is not known. */
static bool is_told(const struct transcript *transcript, uint32_t connection)
{
    const struct transcript_options *wanted = &transcript->options;
    return wanted->events == NULL && wanted->pod == NULL && wanted->container == NULL &&
           (wanted->plugin == NULL || is_plugin(plugin_of(transcript, connection), wanted->plugin));
}

static void started(void *user, const struct session_connection *recorder)
{
    struct transcript *transcript = user;
    if (is_told(transcript, 0))
        tell(transcript, "start", NULL, recorder);
}

static void opened(void *user, const struct session_connection *connection)
{
    struct transcript *transcript = user;
    transcript->connections++;
    trace_session_opened(transcript->timeline, connection);
    if (is_told(transcript, connection->connection))
        tell(transcript, "open", NULL, connection);
}

static void closed(void *user, uint64_t time, uint32_t connection,
                   enum recording_direction direction)
{
    struct transcript *transcript = user;
    const struct session_connection about = {.time = time, .connection = connection};
    if (!is_told(transcript, connection))
        return;
    tell(transcript, "closed", recording_sender(direction), &about);
}

static void ended(void *user, const struct session_connection *connection)
{
    struct transcript *transcript = user;
    transcript->unanswered += connection->unanswered;
    trace_session_ended(transcript->timeline, connection);
    if (is_told(transcript, connection->connection))
        tell(transcript, "end", NULL, connection);
    forget_plugin(transcript, connection->connection);
}

static void garbage(void *user, const struct session_garbage *garbage)
{
    struct transcript *transcript = user;
    struct print_json json;
    transcript->garbage++;
    trace_session_garbage(transcript->timeline, garbage);
    if (transcript->timeline != NULL)
        return;
    if (!transcript->ctl->json) {
        begin_line(transcript, garbage->time, garbage->connection);
        print_word(transcript, PRINT_RED, "garbage");
        (void)fprintf(transcript->ctl->out, " from the %s, %" PRIu64 " bytes at byte %" PRIu64 ": ",
                      recording_sender(garbage->direction), garbage->size, garbage->offset);
        print_text(transcript->ctl->out, garbage->what, strlen(garbage->what));
        (void)fputc('\n', transcript->ctl->out);
        return;
    }
    begin_json(transcript, &json, "garbage", garbage->time, garbage->connection);
    print_json_text(&json, "from", recording_sender(garbage->direction));
    print_json_number(&json, "offset", garbage->offset);
    print_json_number(&json, "size", garbage->size);
    write_text(&json, "what", (struct session_text){garbage->what, strlen(garbage->what)});
    end_json(transcript, &json);
}

/* ---- its life ---- */

int transcript_new(struct transcript **out, struct nrictl *ctl,
                   const struct transcript_options *options)
{
    static const struct session_watch watch = {started, opened, message, closed, ended, garbage};
    struct transcript *transcript = calloc(1, sizeof *transcript);
    *out = transcript;
    if (transcript != NULL) {
        transcript->ctl = ctl;
        transcript->options = *options;
        payload_init(&transcript->payload);
        transcript->timeline = options->trace == NULL ? NULL : trace_session_new(options->trace);
        if ((options->trace == NULL || transcript->timeline != NULL) &&
            session_new(&transcript->session, &watch, transcript) == 0)
            return NRICTL_OK;
        trace_session_free(transcript->timeline);
    }
    free(transcript);
    return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no memory");
}

bool transcript_take(struct transcript *transcript, const struct recording_record *record)
{
    if (session_take(transcript->session, record) != 0 ||
        trace_session_failed(transcript->timeline))
        fail(transcript);
    return transcript->code == NRICTL_OK;
}

void transcript_damage(struct transcript *transcript, const struct recording_damage *damage)
{
    transcript->damage++;
    (void)nrictl_fail(transcript->ctl, 0, "%" PRIu64 " bytes at byte %" PRIu64 " of the file%s: %s",
                      damage->size, damage->offset, damage->torn ? ", its end" : "", damage->what);
}

static void summarise(struct transcript *transcript)
{
    const struct transcript *t = transcript;
    struct print_json json;
    if (!t->ctl->json) {
        (void)fprintf(t->ctl->out,
                      "%" PRIu64 " messages, %" PRIu64 " shown; %" PRIu64 " connections; %" PRIu64
                      " calls without a response; not decoded: %" PRIu64 " payloads, %" PRIu64
                      " fields, %" PRIu64 " pieces of garbage, %" PRIu64 " of the file\n",
                      t->messages, t->shown_messages, t->connections, t->unanswered, t->undecoded,
                      t->unknown_fields, t->garbage, t->damage);
        return;
    }
    print_json_begin(&json, 0);
    nri_json_begin_object(&json.writer);
    print_json_text(&json, "type", "summary");
    print_json_number(&json, "messages", t->messages);
    print_json_number(&json, "shown", t->shown_messages);
    print_json_number(&json, "connections", t->connections);
    print_json_number(&json, "unanswered", t->unanswered);
    print_json_number(&json, "payloads_not_decoded", t->undecoded);
    print_json_number(&json, "unknown_fields", t->unknown_fields);
    print_json_number(&json, "garbage", t->garbage);
    print_json_number(&json, "damage", t->damage);
    end_json(transcript, &json);
}

void transcript_free(struct transcript *transcript)
{
    session_free(transcript->session);
    trace_session_free(transcript->timeline);
    payload_fini(&transcript->payload);
    free(transcript->plugins);
    free(transcript->shown);
    free(transcript);
}

int transcript_end(struct transcript *transcript)
{
    session_finish(transcript->session);
    summarise(transcript);
    const bool whole = transcript->undecoded == 0 && transcript->unknown_fields == 0 &&
                       transcript->garbage == 0 && transcript->damage == 0;
    const int code = transcript->code != NRICTL_OK ? transcript->code
                     : whole                       ? NRICTL_OK
                                                   : NRICTL_FINDING;
    transcript_free(transcript);
    return code;
}
