/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugins of a recording against a runtime.
 *
 * Happy path: each recorded plugin connects and registers as it did -> each request of the runtime
 * is answered as the recorded one that is like it (part.h), with the ids that containers have now;
 * what a plugin asked for by itself it asks for again once all came that came before it then -> the
 * runtime closes the connections, or Ctrl-C. Failure modes: requests that were not recorded are
 * answered with nothing, and are differences, as those are that never came.
 */
#include "replay.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "comparison.h"
#include "interrupt.h"
#include "memory.h"
#include "part.h"
#include "proto/nri.pb-c.h"
#include "translation.h"
#include "voice.h"
#include "wire/message.h"

#define UNIMPLEMENTED 12 /* of gRPC */
#define TRIES         100u
#define TRY_MS        10

struct play {
    struct nrictl *ctl;
    const struct replay_options *options;
    struct part *parts;
    struct voice *voices; /* of each part: connection i + 1 of `session` */
    size_t count;
    struct roster recorded, live;
    struct session *session;
    struct interrupt interrupt;
    struct findings findings;
    uint64_t requests, answered;
    int code;
};

static void fail(struct play *play, int code, const char *what)
{
    if (code != 0 && play->code == NRICTL_OK)
        play->code = nrictl_fail(play->ctl, NRICTL_ENVIRONMENT, "%s: %s", what, nri_strerror(code));
}

static void tell(struct play *play, const struct part *part, bool runtimes, const char *method,
                 const char *about, const char *what)
{
    const struct finding finding = {.plugin = part->plugin,
                                    .kind = runtimes ? "request" : "response",
                                    .whose = runtimes ? NULL : "the answer to its",
                                    .method = method,
                                    .about = about,
                                    .what = what};
    findings_tell(&play->findings, &finding);
}

/* ---- what a plugin says ---- */

static struct voice *voice_of(const struct play *play, const struct part *part)
{
    return &play->voices[part - play->parts];
}

/* As it was recorded, but for the ids of containers. */
static void say_again(struct play *play, struct part *part, const struct tape_message *said,
                      uint32_t stream)
{
    struct voice *voice = voice_of(play, part);
    struct translation translation;
    struct nri_error error;
    char text[160];
    int code = translation_make(&translation, said, &play->recorded, &play->live, &error);
    if (code == NRI_E_NOMEM)
        fail(play, code, part->plugin);
    else if (code != 0 || translation.message == NULL)
        code = voice_say(voice, said->response, stream, said->envelope, said->envelope_size);
    else if (said->response)
        code = voice_say_message(voice, stream, translation.message);
    else
        code = voice_say_call(voice, stream, said->method, translation.message);
    fail(play, code, part->plugin);
    if (translation.lost > 0) {
        (void)snprintf(text, sizeof text,
                       "leaves out %zu of its containers, the first of them %.64s: nothing like it "
                       "is there",
                       translation.lost, translation.missing);
        tell(play, part, !said->response, said->method, NULL, text);
    }
    translation_fini(&translation);
}

static void register_plugin(struct play *play, struct part *part, const struct tape_message *said)
{
    struct nri_arena arena;
    struct nri_error error;
    ProtobufCMessage *message = NULL;
    static const uint64_t seed[2] = {0x706c6179, 1};
    const struct replay_options *options = play->options;
    memory_arena(&arena, 1 << 20);
    int code =
        nri_message_decode(said->type, said->payload, said->size, &arena, seed, &message, &error);
    if (code == 0) {
        Nri__Pkg__Api__V1alpha1__RegisterPluginRequest *request = (void *)message;
        if (options->name != NULL)
            request->plugin_name = nri_arena_text(&arena, options->name, strlen(options->name));
        if (options->index != NULL)
            request->plugin_idx = nri_arena_text(&arena, options->index, strlen(options->index));
        code = request->plugin_name == NULL || request->plugin_idx == NULL
                   ? NRI_E_NOMEM
                   : voice_say_call(voice_of(play, part), said->stream, said->method, message);
    }
    fail(play, code, part->plugin);
    nri_arena_fini(&arena);
}

static void make_calls(struct play *play, struct part *part)
{
    const bool renamed = play->options->name != NULL || play->options->index != NULL;
    const struct tape_message *call;
    while ((call = part_next_call(part)) != NULL) {
        if (renamed && strcmp(call->method, "RegisterPlugin") == 0 && call->type != NULL)
            register_plugin(play, part, call);
        else
            say_again(play, part, call, call->stream);
    }
}

/* ---- what a runtime says ---- */

static void answer_unknown(struct play *play, struct part *part,
                           const struct session_message *message, const char *method,
                           const char *about)
{
    struct voice *voice = voice_of(play, part);
    tell(play, part, true, method, about, "is not in the recording");
    fail(play,
         message->known == NULL
             ? voice_say_status(voice, message->stream, UNIMPLEMENTED, "not in the recording")
             : voice_say(voice, true, message->stream, NULL, 0),
         part->plugin);
}

static void answer_part(struct play *play, struct part *part, uint32_t stream)
{
    Nri__Pkg__Api__V1alpha1__SynchronizeResponse more;
    nri__pkg__api__v1alpha1__synchronize_response__init(&more);
    more.more = 1;
    fail(play, voice_say_message(voice_of(play, part), stream, &more.base), part->plugin);
}

static void answer(struct play *play, struct part *part, const struct session_message *message,
                   const struct payload *payload)
{
    char about[200], method[64];
    const size_t length =
        message->method.length < sizeof method - 1 ? message->method.length : sizeof method - 1;
    memcpy(method, message->method.text, length);
    method[length] = '\0';
    payload_subject(payload, about, sizeof about);
    if (message->more) {
        answer_part(play, part, message->stream);
        return;
    }
    char *like = part_like(&play->live, method, payload);
    if (like == NULL) {
        fail(play, NRI_E_NOMEM, part->plugin);
        return;
    }
    play->requests++;
    const struct tape_message *request = part_take(part, like);
    const struct tape_message *said = request != NULL ? part_answer(part, request) : NULL;
    free(like);
    if (request == NULL)
        answer_unknown(play, part, message, method, about);
    else if (said != NULL) /* one that was never answered is not answered again */
        say_again(play, part, said, message->stream);
    play->answered += said != NULL;
}

static void take_request(struct play *play, struct part *part,
                         const struct session_message *message)
{
    struct payload payload;
    payload_init(&payload);
    if (payload_decode(&payload, message) != 0 || !roster_note(&play->live, payload.json))
        fail(play, NRI_E_NOMEM, part->plugin);
    else
        answer(play, part, message, &payload);
    payload_fini(&payload);
}

static void take_answer(struct play *play, struct part *part, const struct session_message *message)
{
    const struct tape_message *call = part_made(part, message->stream);
    struct tape_message *was = call != NULL ? part_answer(part, call) : NULL;
    char now[TAPE_STATUS_TEXT], text[2 * TAPE_STATUS_TEXT + 64];
    if (call == NULL || was == NULL) {
        tell(play, part, false, call != NULL ? call->method : "call", NULL,
             "is not in the recording");
        return;
    }
    was->seen = true;
    (void)snprintf(now, sizeof now, "%.*s", (int)message->status_text.length,
                   message->status_text.text);
    if (!comparison_status(was->status, was->status_text, message->status, now, text, sizeof text))
        tell(play, part, false, call->method, NULL, text);
}

static void take_message(void *user, const struct session_message *message)
{
    struct play *play = user;
    struct part *part = &play->parts[message->connection - 1];
    if (message->direction != RECORDING_TO_PLUGIN)
        return;
    if (message->response)
        take_answer(play, part, message);
    else
        take_request(play, part, message);
    make_calls(play, part);
}

static void take_garbage(void *user, const struct session_garbage *garbage)
{
    struct play *play = user;
    if (garbage->connection != 0 && garbage->direction == RECORDING_TO_PLUGIN)
        tell(play, &play->parts[garbage->connection - 1], true, "bytes", NULL, garbage->what);
}

/* ---- the run ---- */

/* A runtime that starts has its socket before it listens, and one that has much to do a full queue.
 */
static int connect_one(struct play *play, size_t index, struct nri_error *error)
{
    struct pollfd look = {.fd = play->interrupt.fd, .events = POLLIN};
    int code = NRI_E_REFUSED;
    for (unsigned tries = 0; tries < TRIES; tries++) {
        code = voice_open(&play->voices[index], play->options->socket, (uint32_t)index + 1,
                          play->session, error);
        if ((code != NRI_E_REFUSED && code != NRI_E_BUSY) || poll(&look, 1, TRY_MS) > 0)
            break;
    }
    return code;
}

static int connect_all(struct play *play)
{
    struct nri_error error;
    for (size_t i = 0; i < play->count; i++) {
        struct part *part = &play->parts[i];
        const int code = connect_one(play, i, &error);
        if (code != 0)
            return nrictl_fail(play->ctl,
                               code == NRI_E_PATH_TOO_LONG || code == NRI_E_NOT_SOCKET
                                   ? NRICTL_USAGE
                                   : NRICTL_ENVIRONMENT,
                               "%s: %s", part->plugin, error.text);
        make_calls(play, part);
    }
    return play->code;
}

/* The descriptors that are open; how many parts that are. */
static size_t look_for(const struct play *play, struct pollfd *looks)
{
    size_t open = 0;
    for (size_t i = 0; i < play->count; i++) {
        const struct voice *voice = &play->voices[i];
        looks[i] = (struct pollfd){.fd = voice->fd, .events = POLLIN};
        if (nri_buf_size(&voice->out) > 0)
            looks[i].events |= POLLOUT;
        open += voice->fd >= 0;
    }
    looks[play->count] = (struct pollfd){.fd = play->interrupt.fd, .events = POLLIN};
    return open;
}

static void serve(struct play *play, size_t index, const struct pollfd *look)
{
    struct voice *voice = &play->voices[index];
    const char *plugin = play->parts[index].plugin;
    if (voice->fd < 0)
        return;
    if ((look->revents & (POLLIN | POLLHUP | POLLERR)) != 0)
        fail(play, voice_receive(voice, play->session), plugin);
    if (voice->fd >= 0)
        fail(play, voice_send(voice, play->session), plugin);
    else
        (void)nrictl_fail(play->ctl, 0, "%s: the runtime has closed the connection", plugin);
}

static void serve_all(struct play *play)
{
    struct pollfd *looks = calloc(play->count + 1, sizeof *looks);
    bool interrupted = false;
    if (looks == NULL) {
        fail(play, NRI_E_NOMEM, "connections");
        return;
    }
    while (play->code == NRICTL_OK && !interrupted && look_for(play, looks) > 0) {
        if (poll(looks, (nfds_t)play->count + 1, -1) < 0)
            continue;
        for (size_t i = 0; i < play->count; i++)
            serve(play, i, &looks[i]);
        interrupted = looks[play->count].revents != 0 && interrupt_came(&play->interrupt);
    }
    free(looks);
}

/* ---- the end ---- */

static void tell_missing(struct play *play, const struct part *part)
{
    for (size_t i = 0; i < part->tape.count; i++) {
        const struct tape_message *message = &part->tape.messages[i];
        if (message->seen || (message->response && message->direction == RECORDING_TO_RUNTIME))
            continue;
        if (part->likes[i] != NULL)
            tell(play, part, true, message->method, part->about[i], "did not come");
        else if (!message->response)
            tell(play, part, true, message->method, NULL,
                 "was not made: what came before it did not come");
        else if (message->matched)
            tell(play, part, false, message->method, NULL, "did not come");
    }
}

static int report(struct play *play)
{
    struct nrictl *ctl = play->ctl;
    struct print_json *json = &play->findings.json;
    int code = NRICTL_OK;
    findings_end(&play->findings);
    if (ctl->json) {
        print_json_number(json, "plugins", play->count);
        print_json_number(json, "requests", play->requests);
        print_json_number(json, "answered", play->answered);
        print_json_number(json, "count", play->findings.count);
        nri_json_end_object(&json->writer);
        code = print_json_end(ctl, json);
    } else {
        (void)fprintf(ctl->out,
                      "%zu plugins, %" PRIu64 " requests, %" PRIu64
                      " answered as recorded, %" PRIu64 " differences\n",
                      play->count, play->requests, play->answered, play->findings.count);
    }
    if (play->code != NRICTL_OK)
        return play->code;
    return code == NRICTL_OK && play->findings.count > 0 ? NRICTL_FINDING : code;
}

static int run(struct play *play)
{
    static const struct session_watch watch = {.message = take_message, .garbage = take_garbage};
    const int number = interrupt_open(&play->interrupt);
    if (number != 0)
        return nrictl_fail(play->ctl, NRICTL_ENVIRONMENT, "signals: %s", strerror(number));
    findings_begin(&play->findings, play->ctl);
    int code = session_new(&play->session, &watch, play) == 0
                   ? connect_all(play)
                   : nrictl_fail(play->ctl, NRICTL_ENVIRONMENT, "no memory");
    if (code == NRICTL_OK) {
        serve_all(play);
        for (size_t i = 0; i < play->count; i++)
            tell_missing(play, &play->parts[i]);
        code = report(play);
    } else if (play->ctl->json) {
        nri_buf_fini(&play->findings.json.buf);
    }
    for (size_t i = 0; i < play->count; i++)
        voice_close(&play->voices[i]);
    session_free(play->session);
    interrupt_close(&play->interrupt);
    return code;
}

static int make_parts(struct play *play, struct tape_list *list)
{
    if (list->count > 1 && (play->options->name != NULL || play->options->index != NULL))
        return nrictl_fail(play->ctl, NRICTL_USAGE,
                           "--name and --idx are for one plugin, and the recording has %zu: choose "
                           "with --connection",
                           list->count);
    play->parts = calloc(list->count, sizeof *play->parts);
    play->voices = calloc(list->count, sizeof *play->voices);
    bool good = play->parts != NULL && play->voices != NULL;
    while (good && play->count < list->count) {
        play->voices[play->count].fd = -1;
        good = part_init(&play->parts[play->count], &list->tapes[play->count], &play->recorded);
        play->count++;
    }
    return good ? NRICTL_OK : nrictl_fail(play->ctl, NRICTL_ENVIRONMENT, "no memory");
}

int replay_plugins(struct nrictl *ctl, const struct replay_options *options, const char *path)
{
    struct tape_list list = {.connection = (uint32_t)options->connection};
    struct play play = {.ctl = ctl,
                        .options = options,
                        .recorded.any_pod = options->any_pod,
                        .live.any_pod = options->any_pod};
    int code = tape_read_all(ctl, &list, path);
    if (code == NRICTL_OK)
        code = make_parts(&play, &list);
    if (code == NRICTL_OK)
        code = run(&play);
    for (size_t i = 0; i < play.count; i++)
        part_fini(&play.parts[i]);
    free(play.parts);
    free(play.voices);
    roster_free(&play.recorded);
    roster_free(&play.live);
    tape_list_free(&list);
    return code;
}
