/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A history of a recording: what the first plugin was told of a container is what the runtime made,
 * the answers of all plugins follow in the order of time. A plugin that is asked again begins a new
 * event. Whether the runtime did it all the same is not in a recording, but for what plugins
 * refused and what contradicts itself.
 */
#include "source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "recording.h"
#include "session.h"
#include "wire/message.h"

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type

/* Of the questions of one event: more plugins than a node has. */
#define MOST_QUESTIONS      4096u
#define MOST_MESSAGE_MEMORY ((size_t)512 << 20)

bool source_is_recording(const char *path)
{
    uint8_t wanted[RECORDING_HEADER], found[8];
    FILE *file = strcmp(path, "-") == 0 ? NULL : fopen(path, "re");
    if (file == NULL)
        return false;
    const size_t count = fread(found, 1, sizeof found, file);
    (void)fclose(file);
    recording_put_header(wanted);
    return count == sizeof found && memcmp(found, wanted, sizeof found) == 0;
}

/* A plugin was asked. */
struct question {
    uint32_t connection;
    uint64_t request; /* the message's number */
    enum nri_event event;
    bool answered;
};

struct reading {
    struct nrictl *ctl;
    struct source *source;
    struct nri_arena message; /* of the message that is looked at */
    const char **plugins;     /* by connection */
    size_t plugin_room;
    const char *container;       /* the id that was chosen; NULL: none yet */
    struct history_event *event; /* that is under way; NULL: none */
    struct question questions[MOST_QUESTIONS];
    size_t question_count;
    uint64_t garbage; /* messages that are none */
    bool configured;
};

static void fail(struct reading *reading, int code)
{
    if (reading->source->failure == 0 && code != 0)
        reading->source->failure = code;
}

/* ---- plugins ---- */

static void name_plugin(struct reading *reading, uint32_t connection,
                        const MESSAGE(RegisterPluginRequest) * request)
{
    struct nri_arena *arena = &reading->source->history.arena;
    char name[300];
    if (connection >= reading->plugin_room) {
        const size_t room = 2 * ((size_t)connection + 8);
        const char **grown = nri_arena_zero(arena, room * sizeof *grown);
        if (grown == NULL) {
            fail(reading, NRI_E_NOMEM);
            return;
        }
        if (reading->plugin_room > 0)
            memcpy(grown, reading->plugins, reading->plugin_room * sizeof *grown);
        reading->plugins = grown;
        reading->plugin_room = room;
    }
    (void)snprintf(name, sizeof name, "%.2s-%.255s", request->plugin_idx, request->plugin_name);
    reading->plugins[connection] = nri_arena_text(arena, name, strlen(name));
}

static const char *plugin_of(const struct reading *reading, uint32_t connection, char room[40])
{
    const bool known = connection < reading->plugin_room && reading->plugins[connection] != NULL;
    (void)snprintf(room, 40, "connection %lu", (unsigned long)connection);
    return known ? reading->plugins[connection] : room;
}

/* NRI's own runtime side is in these. */
static bool is_go(const char *runtime)
{
    return strcmp(runtime, "containerd") == 0 || strcmp(runtime, "cri-o") == 0 ||
           strcmp(runtime, "docker") == 0 || strcmp(runtime, "dockerd") == 0;
}

/* ---- questions ---- */

static bool is_chosen(struct reading *reading, const MESSAGE(Container) * container)
{
    const char *wanted = reading->source->container;
    if (wanted == NULL && reading->container == NULL)
        reading->container = nri_arena_text(&reading->source->history.arena, container->id,
                                            nri_message_text_length(container->id));
    if (wanted == NULL)
        return reading->container != NULL && strcmp(container->id, reading->container) == 0;
    return strcmp(container->name, wanted) == 0 ||
           strncmp(container->id, wanted, strlen(wanted)) == 0;
}

/* An event is over: who has not answered never did. */
static void end_event(struct reading *reading)
{
    char room[40];
    if (reading->event == NULL)
        return;
    for (size_t i = 0; i < reading->question_count; i++) {
        const struct question *at = &reading->questions[i];
        const struct history_answer answer = {.plugin = plugin_of(reading, at->connection, room),
                                              .event = at->event,
                                              .result = NRI_STEP_SKIPPED,
                                              .code = NRI_E_TIMEOUT,
                                              .text = "its answer is not in the recording"};
        if (!at->answered)
            fail(reading, history_answer(&reading->source->history, reading->event, &answer));
    }
    fail(reading, history_conclude(&reading->source->history, reading->event, 0, NULL, NULL));
    reading->event = NULL;
    reading->question_count = 0;
}

static bool was_asked(const struct reading *reading, uint32_t connection, enum nri_event event)
{
    for (size_t i = 0; i < reading->question_count; i++) {
        if (reading->questions[i].connection == connection && reading->questions[i].event == event)
            return true;
    }
    return false;
}

/* What a question is about, whichever of the three it is. */
struct subject {
    enum nri_event event;
    const MESSAGE(PodSandbox) * pod;
    const MESSAGE(Container) * container;
    const MESSAGE(LinuxResources) * resources;
};

static void ask(struct reading *reading, const struct session_message *message,
                const struct subject *subject)
{
    const bool validates = subject->event == NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT;
    struct history_event *event = reading->event;
    if (subject->container == NULL || !is_chosen(reading, subject->container))
        return;
    const bool same = event != NULL && strcmp(event->id, subject->container->id) == 0;
    if (validates && !same)
        return;
    if (!validates && (!same || event->event != subject->event ||
                       was_asked(reading, message->connection, subject->event))) {
        end_event(reading);
        fail(reading, history_begin(&reading->source->history, subject->event, subject->pod,
                                    subject->container, subject->resources, &reading->event));
    }
    if (reading->question_count == MOST_QUESTIONS) {
        nri_error_set(&reading->source->history.error, NRI_E_LIMIT,
                      "more than %u plugins were asked about one container", MOST_QUESTIONS);
        fail(reading, NRI_E_LIMIT);
        return;
    }
    reading->questions[reading->question_count++] = (struct question){
        .connection = message->connection, .request = message->number, .event = subject->event};
}

/* ---- answers ---- */

static void take_answer(struct reading *reading, const struct session_message *message,
                        const struct question *question, const ProtobufCMessage *reply)
{
    struct history *history = &reading->source->history;
    const bool validates = question->event == NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT;
    char room[40], text[1024];
    struct history_answer answer = {.plugin = plugin_of(reading, message->connection, room),
                                    .event = question->event,
                                    .reply = validates ? NULL : reply,
                                    .timed = message->time >= message->request_time,
                                    .latency = message->time - message->request_time};
    const MESSAGE(ValidateContainerAdjustmentResponse) *verdict =
        validates && reply != NULL ? (const void *)reply : NULL;
    if (message->status != 0)
        (void)snprintf(
            text, sizeof text, "%.*s",
            (int)(message->status_text.length < 1000 ? message->status_text.length : 1000),
            message->status_text.text);
    else if (verdict != NULL && verdict->reject)
        (void)snprintf(text, sizeof text, "%.1000s", verdict->reason);
    else
        text[0] = '\0';
    if (message->status != 0 || (verdict != NULL && verdict->reject)) {
        answer.code = NRI_E_REJECTED;
        answer.result = NRI_STEP_FAILED;
        answer.text = text;
        answer.reply = NULL;
    }
    fail(reading, history_answer(history, reading->event, &answer));
    if (answer.code != 0)
        fail(reading,
             history_conclude(history, reading->event, NRI_E_REJECTED, text, answer.plugin));
}

/* ---- messages ---- */

/* What a message is goes by its type, so that nothing is taken for what it is not. */
#define IS(decoded, name) ((decoded)->descriptor == &nri__pkg__api__v1alpha1__##name##__descriptor)

static void take_question(struct reading *reading, const struct session_message *message,
                          const ProtobufCMessage *decoded)
{
    struct subject subject;
    if (IS(decoded, create_container_request)) {
        const MESSAGE(CreateContainerRequest) *create = (const void *)decoded;
        subject =
            (struct subject){NRI_EVENT_CREATE_CONTAINER, create->pod, create->container, NULL};
    } else if (IS(decoded, update_container_request)) {
        const MESSAGE(UpdateContainerRequest) *update = (const void *)decoded;
        subject = (struct subject){NRI_EVENT_UPDATE_CONTAINER, update->pod, update->container,
                                   update->linux_resources};
    } else if (IS(decoded, validate_container_adjustment_request)) {
        const MESSAGE(ValidateContainerAdjustmentRequest) *validate = (const void *)decoded;
        subject = (struct subject){NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT, validate->pod,
                                   validate->container, NULL};
    } else {
        return;
    }
    ask(reading, message, &subject);
}

static void take_request(struct reading *reading, const struct session_message *message,
                         const ProtobufCMessage *decoded)
{
    if (IS(decoded, register_plugin_request)) {
        name_plugin(reading, message->connection, (const void *)decoded);
    } else if (IS(decoded, configure_request)) {
        const MESSAGE(ConfigureRequest) *configure = (const void *)decoded;
        if (!reading->configured)
            reading->source->history.view.go_compatible = is_go(configure->runtime_name);
        reading->configured = true;
    } else {
        take_question(reading, message, decoded);
    }
}

/* What else there is need not be decoded. */
static bool is_of_interest(const struct session_message *message)
{
    static const ProtobufCMessageDescriptor *const types[] = {
        &nri__pkg__api__v1alpha1__register_plugin_request__descriptor,
        &nri__pkg__api__v1alpha1__configure_request__descriptor,
        &nri__pkg__api__v1alpha1__create_container_request__descriptor,
        &nri__pkg__api__v1alpha1__create_container_response__descriptor,
        &nri__pkg__api__v1alpha1__update_container_request__descriptor,
        &nri__pkg__api__v1alpha1__update_container_response__descriptor,
        &nri__pkg__api__v1alpha1__validate_container_adjustment_request__descriptor,
        &nri__pkg__api__v1alpha1__validate_container_adjustment_response__descriptor,
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (message->type == types[i])
            return true;
    }
    return false;
}

/* Whether a reply is one to that question. */
static bool is_reply(const ProtobufCMessage *reply, enum nri_event event)
{
    if (event == NRI_EVENT_CREATE_CONTAINER)
        return IS(reply, create_container_response);
    if (event == NRI_EVENT_UPDATE_CONTAINER)
        return IS(reply, update_container_response);
    return IS(reply, validate_container_adjustment_response);
}

static void answer(struct reading *reading, const struct session_message *message,
                   const ProtobufCMessage *reply)
{
    for (size_t i = 0; reading->event != NULL && i < reading->question_count; i++) {
        struct question *at = &reading->questions[i];
        if (at->connection != message->connection || at->request != message->request ||
            at->answered || (reply != NULL && !is_reply(reply, at->event)))
            continue;
        at->answered = true;
        take_answer(reading, message, at, reply);
        return;
    }
}

static void on_message(void *user, const struct session_message *message)
{
    struct reading *reading = user;
    struct nri_error error;
    ProtobufCMessage *decoded = NULL;
    if (reading->source->failure != 0 || !is_of_interest(message))
        return;
    nri_arena_reset(&reading->message);
    const bool readable = !message->response || message->status == 0;
    if (readable &&
        nri_message_decode(message->type, message->payload, message->size, &reading->message,
                           reading->source->history.view.seed, &decoded, &error) != 0) {
        reading->garbage++;
        return;
    }
    if (!message->response && decoded != NULL)
        take_request(reading, message, decoded);
    else if (message->response && message->matched)
        answer(reading, message, decoded);
}

static void on_garbage(void *user, const struct session_garbage *garbage)
{
    struct reading *reading = user;
    (void)garbage;
    reading->garbage++;
}

/* ---- the file ---- */

static int take_records(struct reading *reading, struct recording_reader *reader,
                        struct session *session, const char *path)
{
    struct recording_record record;
    struct recording_damage damage;
    struct nri_error error;
    enum recording_read got = RECORDING_RECORD;
    while (got != RECORDING_MORE) {
        const int code = recording_next(reader, &got, &record, &damage, &error);
        if (code != 0)
            return nrictl_fail(reading->ctl, NRICTL_USAGE, "%s: %s", path, error.text);
        if (got == RECORDING_DAMAGED)
            (void)nrictl_fail(reading->ctl, 0, "%s: %llu bytes at %llu are left out: %s", path,
                              (unsigned long long)damage.size, (unsigned long long)damage.offset,
                              damage.what);
        if (got == RECORDING_RECORD && session_take(session, &record) != 0)
            return nrictl_fail(reading->ctl, NRICTL_ENVIRONMENT, "%s: no memory", path);
    }
    return NRICTL_OK;
}

static int read_file(struct reading *reading, struct session *session, FILE *file, const char *path)
{
    struct recording_reader reader;
    uint8_t bytes[65536];
    size_t count;
    int code = NRICTL_OK;
    recording_reader_init(&reader);
    while (code == NRICTL_OK && reading->source->failure == 0 &&
           (count = fread(bytes, 1, sizeof bytes, file)) > 0) {
        if (recording_feed(&reader, bytes, count) != 0)
            code = nrictl_fail(reading->ctl, NRICTL_ENVIRONMENT, "%s: no memory", path);
        else
            code = take_records(reading, &reader, session, path);
    }
    if (code == NRICTL_OK && ferror(file) != 0)
        code = nrictl_fail(reading->ctl, NRICTL_ENVIRONMENT, "%s: %s", path, strerror(errno));
    recording_finish(&reader);
    if (code == NRICTL_OK)
        code = take_records(reading, &reader, session, path);
    recording_reader_fini(&reader);
    session_finish(session);
    return code;
}

static int read_session(struct reading *reading, const char *path)
{
    static const struct session_watch watch = {.message = on_message, .garbage = on_garbage};
    struct session *session = NULL;
    FILE *file = fopen(path, "re");
    int code;
    if (file == NULL)
        return nrictl_fail(reading->ctl, NRICTL_ENVIRONMENT, "%s: %s", path, strerror(errno));
    if (session_new(&session, &watch, reading) != 0)
        code = nrictl_fail(reading->ctl, NRICTL_ENVIRONMENT, "no memory");
    else
        code = read_file(reading, session, file, path);
    end_event(reading);
    if (reading->garbage > 0)
        (void)nrictl_fail(reading->ctl, 0, "%s: %llu messages cannot be read", path,
                          (unsigned long long)reading->garbage);
    session_free(session);
    (void)fclose(file);
    return code;
}

int source_recording(struct nrictl *ctl, struct source *source, const char *path)
{
    struct reading *reading = calloc(1, sizeof *reading);
    const int failure = history_open(&source->history, true, NULL);
    int code;
    if (failure != 0)
        code = source_fail(ctl, source, failure);
    else if (reading == NULL)
        code = nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no memory");
    else {
        reading->ctl = ctl;
        reading->source = source;
        memory_arena(&reading->message, MOST_MESSAGE_MEMORY);
        code = read_session(reading, path);
        nri_arena_fini(&reading->message);
    }
    free(reading);
    return code;
}
