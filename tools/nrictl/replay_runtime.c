/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime of a recording against a plugin.
 *
 * Happy path: the recorded messages are gone through in their order. What the runtime said is sent,
 * with the same bytes; what the plugin said is waited for, and compared with what the plugin says
 * now. So the plugin sees a runtime that waits for it where the recorded one did. Failure modes: an
 * answer does not come in time, the plugin asks for what it did not ask for then (it gets an empty
 * answer), it ends too early: all of them are differences. Ctrl-C and SIGTERM end it with what was
 * found until then.
 */
#include "replay.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "comparison.h"
#include "interrupt.h"
#include "io/socket.h"
#include "memory.h"
#include "surroundings.h"
#include "tape.h"
#include "wire/writer.h"

struct replay {
    struct nrictl *ctl;
    const struct replay_options *options;
    struct tape tape; /* what was recorded */
    struct tape live; /* what the plugin says now: connection 1 of `session` */
    struct session *session;
    struct interrupt interrupt;
    int fd;
    pid_t pid;
    bool ended;       /* the plugin's side of the connection */
    bool interrupted; /* by Ctrl-C or SIGTERM */
    size_t done;      /* messages of the recording */
    uint64_t compared;
    struct findings findings;
    int code;
};

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

/* It stays a zombie meanwhile, so that nobody else gets the number of its group. */
static bool has_ended(pid_t pid)
{
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid;
}

/* It ends by itself once the connection has ended, or is ended; a signal more ends it at once. What
 * it started and left behind is ended, too. */
static void stop(struct replay *replay)
{
    uint64_t limit = now_ms() + replay->options->timeout_ms;
    struct pollfd look = {.fd = replay->interrupt.fd, .events = POLLIN};
    if (replay->fd >= 0)
        (void)close(replay->fd);
    replay->fd = -1;
    if (replay->pid <= 0)
        return;
    if (replay->interrupted)
        (void)kill(-replay->pid, SIGTERM);
    while (!has_ended(replay->pid)) {
        if (now_ms() > limit)
            (void)kill(-replay->pid, SIGKILL);
        if (poll(&look, 1, 5) > 0 && interrupt_came(&replay->interrupt))
            limit = 0;
    }
    (void)kill(-replay->pid, SIGKILL);
    while (waitpid(replay->pid, NULL, 0) < 0 && errno == EINTR)
        ;
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
    replay->findings.count++;
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
    struct pollfd look[2] = {{.fd = replay->fd, .events = events},
                             {.fd = replay->interrupt.fd, .events = POLLIN}};
    if (poll(look, 2, limit > now ? (int)(limit - now) : 0) <= 0)
        return;
    if ((look[0].revents & (POLLIN | POLLHUP)) != 0)
        receive(replay);
    if (look[1].revents != 0)
        replay->interrupted = interrupt_came(&replay->interrupt) || replay->interrupted;
}

/* Whether nothing more is to be waited for. */
static bool is_over(const struct replay *replay)
{
    return replay->ended || replay->interrupted || replay->code != NRICTL_OK;
}

/* A message as libnri and Go cut it; what the plugin sends meanwhile is read. */
static void send_message(struct replay *replay, uint32_t mux, uint32_t stream, uint8_t type,
                         const uint8_t *bytes, size_t size)
{
    const uint64_t limit = now_ms() + replay->options->timeout_ms;
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
    while (nri_buf_size(&out) > 0 && !is_over(replay) && now_ms() < limit) {
        size_t moved = 0;
        if (nri_socket_send(replay->fd, out.data + out.start, nri_buf_size(&out), &moved, &error) ==
            NRI_SOCKET_MOVED)
            nri_buf_consume(&out, moved);
        else
            turn(replay, POLLIN | POLLOUT, limit);
    }
    nri_buf_fini(&out);
}
/* ---- the replay ---- */

static void tell(struct replay *replay, const struct tape_message *message, const char *what)
{
    struct finding finding;
    comparison_finding(message, what, &finding);
    findings_tell(&replay->findings, &finding);
}

static void compare(struct replay *replay, const struct tape_message *was,
                    const struct tape_message *is)
{
    const int code = comparison_make(&replay->findings, was, is);
    replay->compared++;
    if (replay->code == NRICTL_OK)
        replay->code = code;
}

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
    const uint64_t limit = now_ms() + replay->options->timeout_ms;
    struct tape_message *live;
    while ((live = find(replay, was)) == NULL && !is_over(replay) && now_ms() < limit) {
        answer_extra(replay);
        turn(replay, POLLIN, limit);
    }
    if (live == NULL && replay->interrupted)
        return;
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

/* With --real-time: until a recorded message is due. */
static void wait_until_due(struct replay *replay, const struct tape_message *message,
                           uint64_t begin)
{
    const uint64_t first = replay->tape.messages[0].time;
    const uint64_t at = message->time > first ? begin + (message->time - first) / 1000000 : 0;
    while (replay->options->real_time && now_ms() < at && !is_over(replay))
        turn(replay, POLLIN, at);
}

static void go_through(struct replay *replay)
{
    const struct tape *tape = &replay->tape;
    const uint64_t begin = now_ms();
    for (size_t i = 0; i < tape->count && replay->code == NRICTL_OK; i++) {
        struct tape_message *message = &tape->messages[i];
        if (message->direction == RECORDING_TO_RUNTIME) {
            expect(replay, message);
        } else {
            wait_until_due(replay, message, begin);
            if (!replay->interrupted)
                say(replay, message);
        }
        if (replay->interrupted)
            return;
        replay->done = i + 1;
    }
    answer_extra(replay);
}

static int report(struct replay *replay)
{
    struct nrictl *ctl = replay->ctl;
    struct print_json *json = &replay->findings.json;
    const struct tape *tape = &replay->tape;
    int code = NRICTL_OK;
    findings_end(&replay->findings);
    if (replay->interrupted)
        (void)nrictl_fail(ctl, 0, "ended by a signal at message %zu of %zu", replay->done,
                          tape->count);
    if (ctl->json) {
        print_json_number(json, "messages", tape->count);
        if (replay->interrupted)
            print_json_number(json, "done", replay->done);
        print_json_number(json, "compared", replay->compared);
        print_json_number(json, "count", replay->findings.count);
        nri_json_end_object(&json->writer);
        code = print_json_end(ctl, json);
    } else {
        (void)fprintf(ctl->out,
                      "%zu messages, %" PRIu64 " of the plugin's compared, %" PRIu64
                      " differences\n",
                      tape->count, replay->compared, replay->findings.count);
    }
    if (replay->code != NRICTL_OK)
        return replay->code;
    /* Of what did not come there is no answer but "no". */
    return code == NRICTL_OK && (replay->findings.count > 0 || replay->interrupted) ? NRICTL_FINDING
                                                                                    : code;
}

static int run_replay(struct replay *replay, char **argv)
{
    static const struct session_watch watch = {.message = live_message, .garbage = live_garbage};
    replay->live.connection = 1;
    const int number = interrupt_open(&replay->interrupt);
    if (number != 0)
        return nrictl_fail(replay->ctl, NRICTL_ENVIRONMENT, "signals: %s", strerror(number));
    int code = session_new(&replay->session, &watch, replay) == 0
                   ? start(replay, argv)
                   : nrictl_fail(replay->ctl, NRICTL_ENVIRONMENT, "no memory");
    if (code == NRICTL_OK) {
        findings_begin(&replay->findings, replay->ctl);
        go_through(replay);
        code = report(replay);
    }
    stop(replay);
    session_free(replay->session);
    interrupt_close(&replay->interrupt);
    return code;
}

int replay_runtime(struct nrictl *ctl, const struct replay_options *options, const char *path,
                   char **argv)
{
    struct replay replay = {.ctl = ctl, .options = options, .fd = -1};
    replay.tape.connection = (uint32_t)options->connection;
    int code = tape_read(ctl, &replay.tape, path);
    if (code == NRICTL_OK)
        code = run_replay(&replay, argv);
    tape_free(&replay.tape);
    tape_free(&replay.live);
    return code;
}
