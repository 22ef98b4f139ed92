/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nrictl decode: a recording, or a session that is live, as text or JSON lines.
 */
#include "decode.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "event_name.h"
#include "import.h"
#include "proxy.h"
#include "transcript.h"

#define FOLLOW_MS 100
#define PIECE     65536

enum {
    EVENT = NRICTL_LONG,
    POD,
    CONTAINER,
    PLUGIN,
    FOLLOW,
    LIVE,
    IMPORT,
    SHOW_ENV,
    FULL,
    TRACE,
    TRACE_SIZE
};

static const struct nrictl_option options[] = {
    {EVENT, "event", "NAME",
     "Only this method or event, such as CreateContainer or "
     "START_CONTAINER; may be given again"},
    {POD, "pod", "POD",
     "Only what is about a pod sandbox: its name, namespace/name, or the "
     "beginning of its id"},
    {CONTAINER, "container", "CONTAINER",
     "Only what is about a container: its name, or the "
     "beginning of its id"},
    {PLUGIN, "plugin", "PLUGIN", "Only a plugin's: its name, or with its index, as 10-logger"},
    {FULL, "full", NULL, "Text with the payloads, as JSON, which JSON lines always have"},
    {SHOW_ENV, "show-env", NULL,
     "Values of environment variables, which are hidden (***): they "
     "hold secrets"},
    {FOLLOW, "follow", NULL, "Wait for more at the end of the file, until Ctrl-C"},
    {LIVE, "live", "LISTEN:CONNECT",
     "No file: a proxy between plugins, which connect to the socket "
     "LISTEN, and the runtime's socket CONNECT"},
    {IMPORT, "import", NULL,
     "The file is the index of a capture, NAME.jsonl, with NAME.p2r.bin "
     "and NAME.r2p.bin beside it"},
    {TRACE, "trace", "FILE",
     "In place of lines a timeline, in the Chrome trace event format, which Perfetto opens"},
    {TRACE_SIZE, "trace-size", "MIB", "How large that may be, 1 to 1048576 MiB (1024)"},
    {0, NULL, NULL, NULL},
};

static const struct nrictl_example examples[] = {
    {"nrictl decode session.rec", "All messages, a line each."},
    {"nrictl decode --full --event CreateContainer session.rec",
     "Creations and what the plugins answered, with all that is in them."},
    {"nrictl decode --output json session.rec | grep -c '\"method\":\"CreateContainer\"'",
     "JSON lines for other tools."},
    {"nrictl decode --import simple.jsonl", "A capture of another tool."},
    {"nrictl decode --trace timeline.json session.rec && python3 -m json.tool timeline.json",
     "A timeline for ui.perfetto.dev."},
    {NULL, NULL},
};

struct decode {
    struct nrictl *ctl;
    const char *path, *live, *trace;
    uint64_t trace_mib;
    bool follow, import;
    const char **events; /* ends with NULL */
    size_t event_count;
    struct transcript_options options;
    struct transcript *transcript;
    int code;

    int fd;
    struct recording_reader reader;

    uv_loop_t loop;
    uv_signal_t signals[2];
    uv_timer_t timer;
    struct proxy *proxy;
    uint64_t epoch, begin; /* ns: since 1970, and of uv_hrtime(), of the same moment */
};

static int take(struct nrictl *ctl, int value, const char *argument, void *user)
{
    struct decode *decode = user;
    const char **list;
    switch (value) {
    case EVENT:
        list = reallocarray(decode->events, decode->event_count + 2, sizeof *list);
        if (list == NULL)
            return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no memory");
        list[decode->event_count++] = argument;
        list[decode->event_count] = NULL;
        decode->events = list;
        break;
    case POD:
        decode->options.pod = argument;
        break;
    case CONTAINER:
        decode->options.container = argument;
        break;
    case PLUGIN:
        decode->options.plugin = argument;
        break;
    case FOLLOW:
        decode->follow = true;
        break;
    case LIVE:
        decode->live = argument;
        break;
    case IMPORT:
        decode->import = true;
        break;
    case TRACE:
        decode->trace = argument;
        break;
    case TRACE_SIZE:
        return nrictl_number(ctl, "--trace-size", argument, 1, TRACE_MOST_MIB, &decode->trace_mib)
                   ? 0
                   : NRICTL_USAGE;
    case SHOW_ENV:
        decode->options.show_env = true;
        break;
    default:
        decode->options.full = true;
        break;
    }
    return 0;
}

/* ---- a recording ---- */

static int take_records(struct decode *decode)
{
    struct recording_record record;
    struct recording_damage damage;
    struct nri_error error;
    enum recording_read got;
    for (;;) {
        if (recording_next(&decode->reader, &got, &record, &damage, &error) != 0)
            return nrictl_fail(decode->ctl, NRICTL_USAGE, "%s: %s", decode->path, error.text);
        if (got == RECORDING_MORE)
            return NRICTL_OK;
        if (got == RECORDING_DAMAGED)
            transcript_damage(decode->transcript, &damage);
        else if (!transcript_take(decode->transcript, &record))
            return NRICTL_ENVIRONMENT;
    }
}

/* What is in the file now. */
static int read_all(struct decode *decode)
{
    static const char no_memory[] = "no memory";
    uint8_t *bytes = malloc(PIECE);
    int code =
        bytes != NULL ? NRICTL_OK : nrictl_fail(decode->ctl, NRICTL_ENVIRONMENT, "%s", no_memory);
    while (code == NRICTL_OK) {
        const ssize_t n = read(decode->fd, bytes, PIECE);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            code = nrictl_fail(decode->ctl, NRICTL_ENVIRONMENT, "%s: %s", decode->path,
                               strerror(errno));
        else if (n > 0 && recording_feed(&decode->reader, bytes, (size_t)n) != 0)
            code = nrictl_fail(decode->ctl, NRICTL_ENVIRONMENT, "%s", no_memory);
        else
            code = take_records(decode);
        if (n <= 0)
            break;
    }
    free(bytes);
    return code;
}

static int open_file(struct decode *decode)
{
    struct stat status;
    if (strcmp(decode->path, "-") == 0) {
        decode->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
        decode->path = "standard input";
    } else {
        decode->fd = open(decode->path, O_RDONLY | O_CLOEXEC);
    }
    if (decode->fd < 0)
        return nrictl_fail(decode->ctl, errno == ENOENT ? NRICTL_USAGE : NRICTL_ENVIRONMENT,
                           "%s: %s", decode->path, strerror(errno));
    if (fstat(decode->fd, &status) == 0 && S_ISDIR(status.st_mode))
        return nrictl_fail(decode->ctl, NRICTL_USAGE, "%s is a directory, not a recording",
                           decode->path);
    return NRICTL_OK;
}

/* ---- a loop, for what goes on until it is ended ---- */

static void close_handle(uv_handle_t *handle, void *user)
{
    (void)user;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static void proxy_closed(void *user)
{
    struct decode *decode = user;
    uv_walk(&decode->loop, close_handle, NULL);
}

static void end(struct decode *decode)
{
    struct proxy *proxy = decode->proxy;
    decode->proxy = NULL;
    if (proxy != NULL)
        proxy_close(proxy, proxy_closed, decode);
    else if (decode->live == NULL)
        proxy_closed(decode);
}

static void interrupted(uv_signal_t *handle, int number)
{
    (void)number;
    end(handle->data);
}

static void show(struct decode *decode)
{
    if (fflush(decode->ctl->out) != 0 && decode->code == NRICTL_OK) {
        decode->code = NRICTL_ENVIRONMENT; /* who reads the result is gone */
        end(decode);
    }
}

static int begin_loop(struct decode *decode)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    if (uv_loop_init(&decode->loop) != 0)
        return nrictl_fail(decode->ctl, NRICTL_ENVIRONMENT, "no loop");
    for (size_t i = 0; i < 2; i++) {
        (void)uv_signal_init(&decode->loop, &decode->signals[i]);
        decode->signals[i].data = decode;
        (void)uv_signal_start(&decode->signals[i], interrupted, numbers[i]);
    }
    (void)uv_timer_init(&decode->loop, &decode->timer);
    decode->timer.data = decode;
    return NRICTL_OK;
}

static void run_to_end(struct decode *decode)
{
    (void)uv_run(&decode->loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&decode->loop);
}

/* ---- a file that grows ---- */

static void look(uv_timer_t *timer)
{
    struct decode *decode = timer->data;
    if (decode->code == NRICTL_OK)
        decode->code = read_all(decode);
    if (decode->code != NRICTL_OK)
        end(decode);
    else
        show(decode);
}

static int follow(struct decode *decode)
{
    const int code = begin_loop(decode);
    if (code != NRICTL_OK)
        return code;
    (void)uv_timer_start(&decode->timer, look, 0, FOLLOW_MS);
    run_to_end(decode);
    return decode->code;
}

static int decode_file(struct decode *decode)
{
    int code = open_file(decode);
    recording_reader_init(&decode->reader);
    if (code == NRICTL_OK)
        code = decode->follow ? follow(decode) : read_all(decode);
    if (code == NRICTL_OK) {
        recording_finish(&decode->reader);
        code = take_records(decode);
    }
    recording_reader_fini(&decode->reader);
    if (decode->fd >= 0)
        (void)close(decode->fd);
    return code;
}

/* ---- live ---- */

static void put(struct decode *decode, struct recording_record record)
{
    record.time = decode->epoch + (uv_hrtime() - decode->begin);
    if (decode->code == NRICTL_OK && !transcript_take(decode->transcript, &record)) {
        decode->code = NRICTL_ENVIRONMENT;
        end(decode);
    }
    show(decode);
}

static void opened(void *user, const struct proxy_connection *connection)
{
    put(user, (struct recording_record){.kind = RECORDING_OPEN, .connection = connection->number});
}

static void bytes(void *user, uint32_t connection, enum recording_direction direction,
                  const uint8_t *data, size_t count)
{
    put(user, (struct recording_record){.kind = RECORDING_BYTES,
                                        .direction = direction,
                                        .connection = connection,
                                        .data = data,
                                        .size = (uint32_t)count});
}

static void closed(void *user, uint32_t connection, enum recording_direction direction)
{
    put(user, (struct recording_record){
                  .kind = RECORDING_CLOSED, .direction = direction, .connection = connection});
}

static void ended(void *user, uint32_t connection, const char *why)
{
    put(user, (struct recording_record){.kind = RECORDING_END,
                                        .connection = connection,
                                        .data = (const uint8_t *)why,
                                        .size = (uint32_t)strlen(why)});
}

static void refused(void *user, const char *why)
{
    const struct decode *decode = user;
    (void)nrictl_fail(decode->ctl, 0, "a plugin came and was sent away: %s", why);
}

static int start_proxy(struct decode *decode, const struct proxy_options *proxy)
{
    static const struct proxy_watch watch = {opened, bytes, closed, ended, refused};
    struct timespec now;
    struct nri_error error;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    decode->epoch = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    decode->begin = uv_hrtime();
    int code = proxy_new(&decode->proxy, &decode->loop, proxy, &watch, decode, &error);
    if (code == 0)
        return NRICTL_OK;
    return nrictl_fail(decode->ctl,
                       code == NRI_E_PATH_TOO_LONG || code == NRI_E_NOT_SOCKET ? NRICTL_USAGE
                                                                               : NRICTL_ENVIRONMENT,
                       "%s", error.text);
}

static int decode_live(struct decode *decode)
{
    const char *colon = strchr(decode->live, ':');
    if (colon == NULL || colon == decode->live || colon[1] == '\0')
        return nrictl_fail(decode->ctl, NRICTL_USAGE,
                           "--live is two sockets' paths with a colon between them, not '%s'",
                           decode->live);
    char *listen = strndup(decode->live, (size_t)(colon - decode->live));
    if (listen == NULL)
        return nrictl_fail(decode->ctl, NRICTL_ENVIRONMENT, "no memory");
    const struct proxy_options proxy = {.listen = listen, .connect = colon + 1};
    int code = begin_loop(decode);
    if (code == NRICTL_OK) {
        code = start_proxy(decode, &proxy);
        if (code != NRICTL_OK)
            proxy_closed(decode);
        run_to_end(decode);
    }
    free(listen);
    return code != NRICTL_OK ? code : decode->code;
}

/* ---- the command ---- */

static int put_imported(void *user, const struct recording_record *record)
{
    const struct decode *decode = user;
    return transcript_take(decode->transcript, record) ? NRICTL_OK : NRICTL_ENVIRONMENT;
}

static int check(struct nrictl *ctl, const struct decode *decode, int arguments)
{
    if (decode->live != NULL && (arguments != 0 || decode->follow || decode->import))
        return nrictl_fail(ctl, NRICTL_USAGE, "--live has no file, no --follow and no --import");
    if (decode->live == NULL && arguments != 1)
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "one recording is needed, not %d; see nrictl decode "
                           "--help",
                           arguments);
    if (decode->follow && decode->import)
        return nrictl_fail(ctl, NRICTL_USAGE, "--follow is for recordings, not for --import");
    if (decode->trace != NULL && decode->options.full)
        return nrictl_fail(ctl, NRICTL_USAGE, "--full is for lines, not for --trace");
    for (size_t i = 0; i < decode->event_count; i++) {
        if (event_name_check(ctl, "--event", decode->events[i]) != NRICTL_OK)
            return NRICTL_USAGE;
    }
    return NRICTL_OK;
}

static int decode_all(struct decode *decode)
{
    int code = transcript_new(&decode->transcript, decode->ctl, &decode->options);
    if (code != NRICTL_OK)
        return code;
    if (decode->live != NULL)
        code = decode_live(decode);
    else if (decode->import)
        code = import_capture(decode->ctl, decode->path, 1, put_imported, decode);
    else
        code = decode_file(decode);
    if (code == NRICTL_OK)
        return transcript_end(decode->transcript);
    transcript_free(decode->transcript);
    return code;
}

static int run(struct nrictl *ctl, const struct nrictl_command *self, int argc, char **argv)
{
    int first;
    struct decode decode = {.ctl = ctl, .fd = -1, .trace_mib = TRACE_DEFAULT_MIB};
    int code = nrictl_parse(ctl, self, argc, argv, false, take, &decode, &first);
    if (code < 0)
        code = check(ctl, &decode, argc - first);
    else
        goto out;
    decode.options.events = decode.events;
    if (code == NRICTL_OK && decode.trace != NULL)
        code = trace_open(ctl, &decode.options.trace, decode.trace, decode.trace_mib);
    if (code != NRICTL_OK)
        goto out;
    decode.path = decode.live == NULL ? argv[first] : NULL;
    code = decode_all(&decode);
    const int closed = trace_close(decode.options.trace);
    if (code == NRICTL_OK || closed != NRICTL_OK)
        code = closed;
out:
    free(decode.events);
    return code;
}

const struct nrictl_command nrictl_decode = {
    .name = "decode",
    .summary = "show the messages of a recording, or of a session that is live",
    .arguments = "RECORDING",
    .description =
        "Shows what plugins and a runtime said to each other, a line for each message, with what "
        "it is about and how long the answer took; --full and JSON lines have all that is in it. "
        "RECORDING is a file of nrictl record, or - for standard input.\n\n"
        "What is damaged, cut off or no message of NRI's is told with its place, and the rest is "
        "decoded; the exit status is 1 then, and 0 when every byte was decoded. Values of "
        "environment variables are hidden.",
    .options = options,
    .examples = examples,
    .run = run,
};
