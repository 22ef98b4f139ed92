/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nrictl replay: the runtime of a recording against a plugin.
 *
 * Happy path: the recorded messages are gone through in their order. What the runtime said is sent,
 * with the same bytes; what the plugin said is waited for, and compared with what the plugin says
 * now. So the plugin sees a runtime that waits for it where the recorded one did. Failure modes: an
 * answer does not come in time, the plugin asks for what it did not ask for then (it gets an empty
 * answer), it ends too early: all of them are differences.
 */
#include "replay.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "difference.h"
#include "io/socket.h"
#include "memory.h"
#include "payload.h"
#include "print.h"
#include "surroundings.h"
#include "tape.h"
#include "wire/writer.h"

enum { REAL_TIME = NRICTL_LONG, TIMEOUT, CONNECTION };

static const struct nrictl_option options[] = {
    {REAL_TIME, "real-time", NULL, "Wait between messages as the recorded runtime did"},
    {TIMEOUT, "timeout", "TIME", "How long an answer may take, 10ms to 1h (10s)"},
    {CONNECTION, "connection", "NUMBER",
     "Which connection of the recording (the first on which a plugin registered)"},
    {0, NULL, NULL, NULL},
};

static const struct nrictl_example examples[] = {
    {"nrictl replay session.rec -- nri-logger --add-env GREETING=hello --add-annotation "
     "colour=blue",
     "Whether a plugin still answers as it did when it was recorded."},
    {"nrictl replay session.rec -- nri-logger; test $? = 1",
     "One that answers otherwise: the differences are shown."},
    {NULL, NULL},
};

struct replay {
    struct nrictl *ctl;
    bool real_time;
    uint64_t timeout_ms, connection;
    struct tape tape; /* what was recorded */
    struct tape live; /* what the plugin says now: connection 1 of `session` */
    struct session *session;
    int fd;
    pid_t pid;
    bool ended; /* the plugin's side of the connection */
    uint64_t compared, differences;
    struct print_json json; /* an array of differences, with ctl->json */
    int code;
};

static int take(struct nrictl *ctl, int value, const char *argument, void *user)
{
    struct replay *replay = user;
    switch (value) {
    case REAL_TIME:
        replay->real_time = true;
        return 0;
    case TIMEOUT:
        return nrictl_milliseconds(ctl, "--timeout", argument, 10, 3600000, &replay->timeout_ms)
                   ? 0
                   : NRICTL_USAGE;
    default:
        return nrictl_number(ctl, "--connection", argument, 1, UINT32_MAX, &replay->connection)
                   ? 0
                   : NRICTL_USAGE;
    }
}

static uint64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void fail(struct replay *replay, const char *what)
{
    if (replay->code == NRICTL_OK)
        replay->code = nrictl_fail(replay->ctl, NRICTL_ENVIRONMENT, "%s", what);
}

/* ---- the plugin ---- */

static bool is_ours(const char *variable)
{
    return strncmp(variable, "NRI_PLUGIN_", 11) == 0;
}

/* This program's environment, with what a runtime sets for a plugin; three texts that are freed. */
static char **make_environment(const struct tape *tape, char *own[3])
{
    extern char **environ;
    size_t count = 0, used = 0;
    while (environ[count] != NULL)
        count++;
    char **list = calloc(count + 4, sizeof *list);
    own[0] = own[1] = own[2] = NULL;
    if (list == NULL || asprintf(&own[0], "NRI_PLUGIN_NAME=%s", tape->name) < 0 ||
        asprintf(&own[1], "NRI_PLUGIN_IDX=%s", tape->index) < 0 ||
        asprintf(&own[2], "NRI_PLUGIN_SOCKET=3") < 0) {
        free(list);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_ours(environ[i]))
            list[used++] = environ[i];
    }
    for (size_t i = 0; i < 3; i++)
        list[used++] = own[i];
    return list;
}

/* What it prints is no result of this program's. */
static int spawn(struct replay *replay, char **argv, int fd)
{
    posix_spawn_file_actions_t actions;
    char *own[3];
    char **environment = make_environment(&replay->tape, own);
    int number = environment != NULL ? posix_spawn_file_actions_init(&actions) : ENOMEM;
    if (number == 0) {
        number = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        if (number == 0)
            number = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
        if (number == 0)
            number = posix_spawn_file_actions_adddup2(&actions, fd, 3);
        if (number == 0)
            number = surroundings_spawn(&replay->pid, argv[0], &actions, argv, environment);
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    for (size_t i = 0; i < 3 && environment != NULL; i++)
        free(own[i]);
    free(environment);
    return number;
}

static int start(struct replay *replay, char **argv)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
        return nrictl_fail(replay->ctl, NRICTL_ENVIRONMENT, "socketpair: %s", strerror(errno));
    /* Not 3 itself: that would stay close-on-exec. The plugin's end blocks, as a runtime's does. */
    const int plugin = fcntl(pair[1], F_DUPFD_CLOEXEC, 16);
    (void)fcntl(pair[1], F_SETFL, 0);
    const int number = plugin >= 0 ? spawn(replay, argv, plugin) : errno;
    (void)close(pair[1]);
    if (plugin >= 0)
        (void)close(plugin);
    replay->fd = pair[0];
    if (number == 0)
        return NRICTL_OK;
    return nrictl_fail(replay->ctl, number == ENOENT ? NRICTL_USAGE : NRICTL_ENVIRONMENT, "%s: %s",
                       argv[0], strerror(number));
}

/* It ends by itself once the connection has ended, or is ended. */
static void stop(struct replay *replay)
{
    const uint64_t limit = now_ms() + replay->timeout_ms;
    if (replay->fd >= 0)
        (void)close(replay->fd);
    replay->fd = -1;
    if (replay->pid <= 0)
        return;
    while (waitpid(replay->pid, NULL, WNOHANG) == 0) {
        if (now_ms() > limit)
            (void)kill(replay->pid, SIGKILL);
        (void)poll(NULL, 0, 5);
    }
    replay->pid = 0;
}

/* ---- bytes ---- */

static void live_message(void *user, const struct session_message *message)
{
    struct replay *replay = user;
    if (message->direction == RECORDING_TO_RUNTIME)
        tape_add(&replay->live, message);
}

static void live_garbage(void *user, const struct session_garbage *garbage)
{
    struct replay *replay = user;
    replay->differences++;
    (void)nrictl_fail(replay->ctl, 0, "the plugin sent what is no message: %s", garbage->what);
}

static void note(struct replay *replay, enum recording_direction direction, const uint8_t *bytes,
                 size_t count)
{
    const struct recording_record record = {.time = now_ms() * 1000000,
                                            .kind = RECORDING_BYTES,
                                            .direction = direction,
                                            .connection = 1,
                                            .data = bytes,
                                            .size = (uint32_t)count};
    if (session_take(replay->session, &record) != 0 || replay->live.failed)
        fail(replay, "no memory");
}

static void receive(struct replay *replay)
{
    uint8_t bytes[65536];
    struct nri_error error;
    size_t moved;
    for (;;) {
        switch (nri_socket_receive(replay->fd, bytes, sizeof bytes, &moved, &error)) {
        case NRI_SOCKET_MOVED:
            note(replay, RECORDING_TO_RUNTIME, bytes, moved);
            break;
        case NRI_SOCKET_AGAIN:
            return;
        default:
            replay->ended = true;
            return;
        }
    }
}

static void turn(struct replay *replay, short events, uint64_t limit)
{
    const uint64_t now = now_ms();
    struct pollfd look = {.fd = replay->fd, .events = events};
    if (poll(&look, 1, limit > now ? (int)(limit - now) : 0) > 0 &&
        (look.revents & (POLLIN | POLLHUP)) != 0)
        receive(replay);
}

/* A message as libnri and Go cut it; what the plugin sends meanwhile is read. */
static void send_message(struct replay *replay, uint32_t mux, uint32_t stream, uint8_t type,
                         const uint8_t *bytes, size_t size)
{
    const uint64_t limit = now_ms() + replay->timeout_ms;
    struct nri_buf out;
    struct nri_error error;
    uint8_t *data;
    memory_buf(&out, SIZE_MAX);
    if (nri_wire_begin(&out, mux, stream, type, 0, (uint32_t)size, &data) != 0) {
        fail(replay, "no memory");
        return;
    }
    if (size > 0)
        memcpy(data, bytes, size);
    nri_wire_commit(&out, (uint32_t)size);
    note(replay, RECORDING_TO_PLUGIN, out.data + out.start, nri_buf_size(&out));
    while (nri_buf_size(&out) > 0 && !replay->ended && now_ms() < limit) {
        size_t moved = 0;
        if (nri_socket_send(replay->fd, out.data + out.start, nri_buf_size(&out), &moved, &error) ==
            NRI_SOCKET_MOVED)
            nri_buf_consume(&out, moved);
        else
            turn(replay, POLLIN | POLLOUT, limit);
    }
    nri_buf_fini(&out);
}

/* ---- differences ---- */

static int level(struct nri_arena *arena, struct nri_json *value);

static int level_text(struct nri_arena *arena, const struct nri_json *text, struct nri_json **made)
{
    size_t length;
    const char *bytes = nri_json_string(text, &length);
    char *copy = nri_arena_alloc(arena, length + 1);
    if (copy == NULL)
        return NRI_E_NOMEM;
    memcpy(copy, bytes, length + 1);
    *made = nri_json_new_string(arena, copy, tape_level(copy, length));
    return *made != NULL ? 0 : NRI_E_NOMEM;
}

/* Texts of a document without what differs by nature. */
static int level(struct nri_arena *arena, struct nri_json *value)
{
    const size_t count = nri_json_count(value);
    const bool object = nri_json_type(value) == NRI_JSON_OBJECT;
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        const char *key = NULL;
        struct nri_json *made = NULL, *member = object ? nri_json_member_at(value, i, &key, NULL)
                                                       : nri_json_at(value, i);
        if (nri_json_type(member) != NRI_JSON_STRING) {
            code = level(arena, member);
            continue;
        }
        code = level_text(arena, member, &made);
        if (code == 0 && object)
            code = nri_json_set(arena, value, key, made);
        else if (code == 0)
            (void)nri_json_put(value, i, made);
    }
    return code;
}

static const char *words(const struct tape_message *message)
{
    return message->response ? "the answer to" : "the plugin's";
}

static void begin_difference(struct replay *replay, const struct tape_message *message,
                             const char *what)
{
    struct nrictl *ctl = replay->ctl;
    replay->differences++;
    if (ctl->json) {
        nri_json_begin_object(&replay->json.writer);
        print_json_number(&replay->json, "number", message->number);
        print_json_text(&replay->json, "kind", message->response ? "response" : "request");
        print_json_text(&replay->json, "method", message->method);
        print_json_text(&replay->json, "what", what);
        return;
    }
    (void)fprintf(ctl->out, "message %" PRIu64 ", %s ", message->number, words(message));
    print_text(ctl->out, message->method, strlen(message->method));
    (void)fputs(": ", ctl->out);
    print_text_line(ctl->out, what);
}

static void end_difference(struct replay *replay)
{
    if (replay->ctl->json)
        nri_json_end_object(&replay->json.writer);
}

static void tell(struct replay *replay, const struct tape_message *message, const char *what)
{
    begin_difference(replay, message, what);
    end_difference(replay);
}

static void print_difference(struct replay *replay, struct nri_arena *arena,
                             const struct difference_list *list)
{
    struct payload holder = {.json = NULL};
    if (!replay->ctl->json) {
        if (difference_print(replay->ctl, list, "recorded", "now") != NRICTL_OK)
            replay->code = NRICTL_ENVIRONMENT;
        return;
    }
    holder.json = difference_document(arena, list, NULL);
    print_json_key(&replay->json, "differences");
    payload_write(&holder, &replay->json.writer);
}

static void compare_payloads(struct replay *replay, const struct tape_message *was,
                             const struct tape_message *is)
{
    static const uint64_t seed[2] = {0x7265706c6179, 1};
    struct payload before, after;
    struct difference_list list = {NULL, 0, 0};
    payload_init(&before);
    payload_init(&after);
    int code = payload_decode_bytes(&before, was->type, was->payload, was->size);
    if (code == 0)
        code = payload_decode_bytes(&after, was->type, is->payload, is->size);
    if (code == 0 && (before.json == NULL || after.json == NULL)) {
        if (was->size != is->size || memcmp(was->payload, is->payload, was->size) != 0)
            tell(replay, was, before.json == NULL ? before.why : after.why);
    } else if (code == 0) {
        code = level(&before.arena, before.json);
        if (code == 0)
            code = level(&after.arena, after.json);
        if (code == 0)
            code = difference_make(&after.arena, seed, before.json, after.json, &list);
        if (code == 0 && list.count > 0) {
            begin_difference(replay, was, "differs");
            print_difference(replay, &after.arena, &list);
            end_difference(replay);
        }
    }
    if (code != 0)
        fail(replay, "no memory");
    payload_fini(&before);
    payload_fini(&after);
}

static void compare(struct replay *replay, const struct tape_message *was,
                    const struct tape_message *is)
{
    char before[sizeof was->status_text], after[sizeof is->status_text], text[640];
    replay->compared++;
    (void)snprintf(before, sizeof before, "%s", was->status_text);
    (void)snprintf(after, sizeof after, "%s", is->status_text);
    before[tape_level(before, strlen(before))] = '\0';
    after[tape_level(after, strlen(after))] = '\0';
    if (was->status != is->status || strcmp(before, after) != 0) {
        (void)snprintf(text, sizeof text, "was status %d \"%s\", is %d \"%s\"", was->status, before,
                       is->status, after);
        for (char *at = text; *at != '\0'; at++) /* of another party, and for a terminal */
            *at = (unsigned char)*at < 0x20 || (unsigned char)*at >= 0x7f ? '?' : *at;
        tell(replay, was, text);
    } else if (was->type != NULL) {
        compare_payloads(replay, was, is);
    }
}

/* ---- the replay ---- */

static size_t count_requests(const struct tape *tape, size_t end, const char *method)
{
    size_t count = 0;
    for (size_t i = 0; i < end; i++)
        count += !tape->messages[i].response &&
                 tape->messages[i].direction == RECORDING_TO_RUNTIME &&
                 strcmp(tape->messages[i].method, method) == 0;
    return count;
}

/* A request that the recorded plugin did not make is answered with nothing, and told. */
static void answer_extra(struct replay *replay)
{
    for (size_t i = 0; i < replay->live.count; i++) {
        struct tape_message *live = &replay->live.messages[i];
        if (live->response || live->seen ||
            count_requests(&replay->live, i + 1, live->method) <=
                count_requests(&replay->tape, replay->tape.count, live->method))
            continue;
        live->seen = true;
        tell(replay, live, "is not in the recording");
        send_message(replay, NRI_MUX_RUNTIME_ID, live->stream, NRI_TTRPC_RESPONSE, NULL, 0);
    }
}

static struct tape_message *find(struct replay *replay, const struct tape_message *was)
{
    for (size_t i = 0; i < replay->live.count; i++) {
        struct tape_message *live = &replay->live.messages[i];
        if (!live->seen && live->response == was->response &&
            (was->response ? live->stream == was->stream : strcmp(live->method, was->method) == 0))
            return live;
    }
    return NULL;
}

static void expect(struct replay *replay, struct tape_message *was)
{
    const uint64_t limit = now_ms() + replay->timeout_ms;
    struct tape_message *live;
    while ((live = find(replay, was)) == NULL && !replay->ended && now_ms() < limit &&
           replay->code == NRICTL_OK) {
        answer_extra(replay);
        turn(replay, POLLIN, limit);
    }
    if (live == NULL) {
        tell(replay, was, replay->ended ? "did not come: the plugin has ended" : "did not come");
        return;
    }
    live->seen = true;
    was->seen = true;
    was->live = live->stream;
    compare(replay, was, live);
}

/* The stream on which the new plugin made the request that a recorded answer is for; 0: it did not.
 */
static uint32_t stream_of(const struct replay *replay, const struct tape_message *answer)
{
    for (size_t i = 0; i < replay->tape.count; i++) {
        const struct tape_message *request = &replay->tape.messages[i];
        if (answer->matched && request->number == answer->request)
            return request->seen ? request->live : 0;
    }
    return 0;
}

static void say(struct replay *replay, const struct tape_message *message)
{
    const uint32_t stream = message->response ? stream_of(replay, message) : message->stream;
    if (stream != 0)
        send_message(replay, message->mux, stream,
                     message->response ? NRI_TTRPC_RESPONSE : NRI_TTRPC_REQUEST, message->envelope,
                     message->envelope_size);
}

static void go_through(struct replay *replay)
{
    const struct tape *tape = &replay->tape;
    const uint64_t begin = now_ms(), first = tape->messages[0].time;
    for (size_t i = 0; i < tape->count && replay->code == NRICTL_OK; i++) {
        struct tape_message *message = &tape->messages[i];
        if (message->direction == RECORDING_TO_RUNTIME) {
            expect(replay, message);
            continue;
        }
        const uint64_t at = message->time > first ? begin + (message->time - first) / 1000000 : 0;
        while (replay->real_time && now_ms() < at && !replay->ended)
            turn(replay, POLLIN, at);
        say(replay, message);
    }
    answer_extra(replay);
}

static int report(struct replay *replay)
{
    struct nrictl *ctl = replay->ctl;
    const struct tape *tape = &replay->tape;
    int code = NRICTL_OK;
    if (ctl->json) {
        nri_json_end_array(&replay->json.writer);
        print_json_number(&replay->json, "messages", tape->count);
        print_json_number(&replay->json, "compared", replay->compared);
        print_json_number(&replay->json, "count", replay->differences);
        nri_json_end_object(&replay->json.writer);
        code = print_json_end(ctl, &replay->json);
    } else {
        (void)fprintf(ctl->out,
                      "%zu messages, %" PRIu64 " of the plugin's compared, %" PRIu64
                      " differences\n",
                      tape->count, replay->compared, replay->differences);
    }
    if (replay->code != NRICTL_OK)
        return replay->code;
    return code == NRICTL_OK && replay->differences > 0 ? NRICTL_FINDING : code;
}

static int run_replay(struct replay *replay, char **argv)
{
    static const struct session_watch watch = {.message = live_message, .garbage = live_garbage};
    replay->live.connection = 1;
    if (session_new(&replay->session, &watch, replay) != 0)
        return nrictl_fail(replay->ctl, NRICTL_ENVIRONMENT, "no memory");
    int code = start(replay, argv);
    if (code == NRICTL_OK) {
        if (replay->ctl->json) {
            print_json_begin(&replay->json, 2);
            nri_json_begin_object(&replay->json.writer);
            print_json_key(&replay->json, "differences");
            nri_json_begin_array(&replay->json.writer);
        }
        go_through(replay);
        code = report(replay);
    }
    stop(replay);
    session_free(replay->session);
    return code;
}

static int run(struct nrictl *ctl, const struct nrictl_command *self, int argc, char **argv)
{
    int first;
    struct replay replay = {.ctl = ctl, .timeout_ms = 10000, .fd = -1};
    int code = nrictl_parse(ctl, self, argc, argv, false, take, &replay, &first);
    if (code >= 0)
        return code;
    if (argc - first < 2)
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "a recording and a plugin are needed: nrictl replay FILE -- PLUGIN");
    replay.tape.connection = (uint32_t)replay.connection;
    code = tape_read(ctl, &replay.tape, argv[first]);
    if (code == NRICTL_OK)
        code = run_replay(&replay, argv + first + 1);
    tape_free(&replay.tape);
    tape_free(&replay.live);
    return code;
}

const struct nrictl_command nrictl_replay = {
    .name = "replay",
    .summary = "a recorded runtime against a plugin, and whether it still answers the same",
    .arguments = "RECORDING -- PLUGIN [ARGUMENTS]",
    .description =
        "Starts the plugin as a runtime does, with the recorded one's name and index, sends it "
        "what the recorded runtime sent, and compares what it says with what was recorded. Each "
        "message of the runtime is sent once the plugin has said what it had said before it then; "
        "so the plugin's own speed counts, unless --real-time keeps to the recorded times.\n\n"
        "Left out of the comparison: times, cuts and streams of messages, the order of keys, and "
        "in "
        "texts RFC 3339 times and the digits of process ids (behind \"pid\" or \"/proc/\"). The "
        "exit status is 1 when there are differences. They are shown as they are, values of "
        "environment variables with them.",
    .options = options,
    .examples = examples,
    .run = run,
};
