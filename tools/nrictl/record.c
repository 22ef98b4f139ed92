/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nrictl record: a proxy between a runtime and its plugins whose bytes go into a recording.
 */
#include "record.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "import.h"
#include "io/socket.h"
#include "print.h"
#include "recorder.h"

#define DEFAULT_SOCKET "/var/run/nri/nri.sock"
#define PROGRESS_MS    500

enum { CONNECT = NRICTL_LONG, LISTEN, IMPORT, CONNECTIONS, QUEUE };

static const struct nrictl_option options[] = {
    {'f', "output-file", "FILE", "The recording; one that is there is appended to"},
    {LISTEN, "listen", "SOCKET", "The new socket, that plugins are to connect to"},
    {CONNECT, "connect", "SOCKET", "The runtime's socket (" DEFAULT_SOCKET ")"},
    {CONNECTIONS, "connections", "NUMBER",
     "At most so many plugins at a time, 1 to 4096; others wait (256)"},
    {QUEUE, "queue", "MIB",
     "What may wait to be written, 1 to 4096 MiB; beyond it bytes are left "
     "out of the recording, never out of the session (64)"},
    {IMPORT, "import", "NAME.jsonl",
     "Make a recording of a capture: NAME.jsonl, NAME.p2r.bin and "
     "NAME.r2p.bin; may be given again"},
    {0, NULL, NULL, NULL},
};

static const struct nrictl_example examples[] = {
    {"nrictl record -f new.rec --listen ./nri.sock & until test -S nri.sock; do sleep 0.1; done; "
     "kill $!; wait $!",
     "Between plugins, which are started with --socket ./nri.sock, and the runtime."},
    {"printf '#!/bin/sh\\nexec %s record -f %s -- %s\\n' $(type -p nrictl) $PWD/new.rec "
     "$(type -p nri-logger) > plugins/10-logger && mini-runtime -r true -p plugins . && "
     "nrictl decode new.rec",
     "A script in the runtime's plugin directory that records the plugin that it stands for."},
    {"nrictl record -f new.rec --import simple.jsonl && nrictl decode new.rec",
     "A capture of another tool as a recording."},
    {NULL, NULL},
};

struct record {
    struct nrictl *ctl;
    const char *path;
    struct proxy_options proxy;
    struct recording_file_options file;
    const char **imports;
    size_t import_count;
    char **argv; /* of a plugin that is wrapped; NULL: none */

    uv_loop_t loop;
    uv_signal_t signals[2];
    uv_timer_t progress;
    uv_process_t process;
    bool running, ending; /* the plugin; all */
    bool drawn;           /* a progress line */
    int asked;            /* how often a signal came */
    int code;
    uint64_t lost;
    struct recorder recorder;
};

static int take(struct nrictl *ctl, int value, const char *argument, void *user)
{
    struct record *record = user;
    uint64_t number;
    switch (value) {
    case 'f':
        record->path = argument;
        return 0;
    case LISTEN:
        record->proxy.listen = argument;
        return 0;
    case CONNECT:
        record->proxy.connect = argument;
        return 0;
    case CONNECTIONS:
        if (!nrictl_number(ctl, "--connections", argument, 1, 4096, &number))
            return NRICTL_USAGE;
        record->proxy.most = (uint32_t)number;
        return 0;
    case QUEUE:
        if (!nrictl_number(ctl, "--queue", argument, 1, 4096, &number))
            return NRICTL_USAGE;
        record->file.most_waiting = (size_t)number << 20;
        return 0;
    default:
        break;
    }
    const char **list = reallocarray(record->imports, record->import_count + 1, sizeof *list);
    if (list == NULL)
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no memory");
    record->imports = list;
    list[record->import_count++] = argument;
    return 0;
}

/* ---- the end ---- */

static void forget_progress(struct record *record)
{
    if (record->drawn)
        (void)fputs("\r\033[K", record->ctl->err);
    record->drawn = false;
}

static void close_handle(uv_handle_t *handle, void *user)
{
    (void)user;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static void all_closed(void *user)
{
    struct record *record = user;
    uv_walk(&record->loop, close_handle, NULL);
}

static void end(struct record *record)
{
    if (record->ending)
        return;
    record->ending = true;
    record->lost = recording_file_lost(record->recorder.file);
    forget_progress(record);
    recorder_close(&record->recorder, all_closed, record);
}

/* A wrapped plugin is over when both it and its connection are. */
static void look_for_end(void *user)
{
    struct record *record = user;
    if (record->argv != NULL && !record->running && proxy_open(record->recorder.proxy) == 0)
        end(record);
}

static void interrupted(uv_signal_t *handle, int number)
{
    struct record *record = handle->data;
    if (record->running && record->asked++ < 8)
        (void)uv_process_kill(&record->process, record->asked == 1 ? number : SIGKILL);
    else if (record->argv == NULL)
        end(record);
}

static void draw(uv_timer_t *timer)
{
    struct record *record = timer->data;
    const struct recorder *recorder = &record->recorder;
    (void)fprintf(record->ctl->err,
                  "\r\033[K%" PRIu32 " connections (%zu open), %" PRIu64 " bytes to the runtime, "
                  "%" PRIu64 " to plugins",
                  recorder->connections, proxy_open(recorder->proxy), recorder->to_runtime,
                  recorder->to_plugin);
    (void)fflush(record->ctl->err);
    record->drawn = true;
}

static void trouble(void *user, const char *what)
{
    struct record *record = user;
    forget_progress(record);
    (void)nrictl_fail(record->ctl, 0, "%s", what);
    record->code = NRICTL_ENVIRONMENT;
}

/* ---- a plugin that the runtime launched ---- */

static void plugin_ended(uv_process_t *process, int64_t status, int number)
{
    struct record *record = process->data;
    record->running = false;
    record->code = number != 0 ? 128 + number : (int)status;
    uv_close((uv_handle_t *)process, NULL);
    /* Its end of the socket is closed, so the connection ends by itself. */
    if (proxy_open(record->recorder.proxy) == 0)
        end(record);
}

/* The environment with the descriptor's number replaced. */
static char **make_environment(void)
{
    extern char **environ;
    static char socket_variable[] = "NRI_PLUGIN_SOCKET=3";
    size_t count = 0;
    while (environ[count] != NULL)
        count++;
    char **list = calloc(count + 1, sizeof *list);
    for (size_t i = 0; list != NULL && i < count; i++)
        list[i] = strncmp(environ[i], "NRI_PLUGIN_SOCKET=", 18) == 0 ? socket_variable : environ[i];
    return list;
}

static int spawn(struct record *record, int fd)
{
    uv_stdio_container_t stdio[4];
    char **environment = make_environment();
    if (environment == NULL)
        return UV_ENOMEM;
    for (int i = 0; i < 4; i++)
        stdio[i] = (uv_stdio_container_t){.flags = UV_INHERIT_FD, .data.fd = i < 3 ? i : fd};
    const uv_process_options_t what = {.exit_cb = plugin_ended,
                                       .file = record->argv[0],
                                       .args = record->argv,
                                       .env = environment,
                                       .stdio_count = 4,
                                       .stdio = stdio};
    record->process.data = record;
    const int code = uv_spawn(&record->loop, &record->process, &what);
    free(environment);
    return code;
}

/* The runtime's socket, by its variable; checked before anything is started. */
static int given_socket(struct nrictl *ctl, int *fd)
{
    const char *text = getenv("NRI_PLUGIN_SOCKET");
    struct nri_error error;
    uint64_t number;
    if (text == NULL)
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "a plugin to be recorded is started by a runtime, which sets "
                           "NRI_PLUGIN_SOCKET; for others use --listen");
    if (!nrictl_number(ctl, "NRI_PLUGIN_SOCKET", text, 3, 1 << 20, &number))
        return NRICTL_USAGE;
    *fd = (int)number;
    /* Closed in the plugin, whatever its number. */
    if (nri_socket_check(*fd, &error) != 0 || nri_socket_adopt(*fd, &error) != 0)
        return nrictl_fail(ctl, NRICTL_USAGE, "NRI_PLUGIN_SOCKET=%s: %s", text, error.text);
    return NRICTL_OK;
}

static int launch(struct record *record, int runtime)
{
    struct nri_error error;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return nrictl_fail(record->ctl, NRICTL_ENVIRONMENT, "socketpair: %s", strerror(errno));
    const int code = spawn(record, pair[1]);
    (void)close(pair[1]);
    if (code != 0) {
        (void)close(pair[0]);
        return nrictl_fail(record->ctl, code == UV_ENOENT ? NRICTL_USAGE : NRICTL_ENVIRONMENT,
                           "%s: %s", record->argv[0], uv_strerror(code));
    }
    record->running = true;
    if (proxy_join(record->recorder.proxy, pair[0], runtime, uv_process_get_pid(&record->process),
                   &error) != 0) {
        (void)close(pair[0]);
        return nrictl_fail(record->ctl, NRICTL_ENVIRONMENT, "%s", error.text);
    }
    return NRICTL_OK;
}

/* ---- the run ---- */

static void watch_signals(struct record *record)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < 2; i++) {
        (void)uv_signal_init(&record->loop, &record->signals[i]);
        record->signals[i].data = record;
        (void)uv_signal_start(&record->signals[i], interrupted, numbers[i]);
    }
    (void)uv_timer_init(&record->loop, &record->progress);
    record->progress.data = record;
    if (record->ctl->progress && record->argv == NULL)
        (void)uv_timer_start(&record->progress, draw, PROGRESS_MS, PROGRESS_MS);
}

/* A plugin's standard output is its own: nothing is added to it. */
static int report(struct record *record)
{
    const struct recorder *recorder = &record->recorder;
    struct print_json json;
    if (record->argv != NULL)
        return record->code;
    if (!record->ctl->json) {
        (void)fprintf(record->ctl->out,
                      "%" PRIu32 " connections, %" PRIu64 " bytes to the runtime, %" PRIu64
                      " to plugins, %" PRIu64 " not recorded\n",
                      recorder->connections, recorder->to_runtime, recorder->to_plugin,
                      record->lost);
        return record->code;
    }
    print_json_begin(&json, 2);
    nri_json_begin_object(&json.writer);
    print_json_number(&json, "connections", recorder->connections);
    print_json_number(&json, "refused", recorder->refused);
    print_json_number(&json, "bytes_to_runtime", recorder->to_runtime);
    print_json_number(&json, "bytes_to_plugin", recorder->to_plugin);
    print_json_number(&json, "bytes_not_recorded", record->lost);
    nri_json_end_object(&json.writer);
    const int code = print_json_end(record->ctl, &json);
    return record->code != NRICTL_OK ? record->code : code;
}

static int run_loop(struct record *record)
{
    int runtime = -1;
    int code = record->argv != NULL ? given_socket(record->ctl, &runtime) : NRICTL_OK;
    if (code != NRICTL_OK)
        return code;
    if (uv_loop_init(&record->loop) != 0)
        return nrictl_fail(record->ctl, NRICTL_ENVIRONMENT, "no loop: %s", strerror(errno));
    record->recorder = (struct recorder){
        .ctl = record->ctl, .loop = &record->loop, .ended = look_for_end, .user = record};
    /* Before there is a socket: who sees it may end this at once. */
    watch_signals(record);
    code = recorder_open(&record->recorder, &record->proxy, &record->file);
    if (code != NRICTL_OK)
        all_closed(record);
    else if (record->argv != NULL && (code = launch(record, runtime)) != NRICTL_OK)
        end(record);
    (void)uv_run(&record->loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&record->loop);
    return code != NRICTL_OK ? code : report(record);
}

static int check(struct nrictl *ctl, const struct record *record)
{
    const bool listens = record->proxy.listen != NULL;
    const int modes = (record->argv != NULL) + listens + (record->import_count > 0);
    if (record->path == NULL)
        return nrictl_fail(ctl, NRICTL_USAGE, "where is the recording to go? --output-file FILE");
    if (modes != 1)
        return nrictl_fail(ctl, NRICTL_USAGE,
                           "one of --listen SOCKET, --import NAME.jsonl and -- PLUGIN is needed; "
                           "see nrictl record --help");
    return NRICTL_OK;
}

static int run(struct nrictl *ctl, const struct nrictl_command *self, int argc, char **argv)
{
    int first;
    struct record record = {.ctl = ctl, .proxy.connect = DEFAULT_SOCKET};
    int code = nrictl_parse(ctl, self, argc, argv, true, take, &record, &first);
    if (code < 0) {
        record.argv = first < argc ? argv + first : NULL;
        if (record.proxy.listen == NULL)
            record.proxy.connect = NULL;
        record.file = (struct recording_file_options){record.path, record.file.most_waiting,
                                                      trouble, &record};
        code = check(ctl, &record);
        if (code == NRICTL_OK)
            code = record.import_count > 0
                       ? import_to_file(ctl, record.imports, record.import_count, record.path)
                       : run_loop(&record);
    }
    free(record.imports);
    return code;
}

const struct nrictl_command nrictl_record = {
    .name = "record",
    .summary = "record the sessions of plugins with a runtime",
    .arguments = "[-- PLUGIN [ARGUMENTS]]",
    .description =
        "With --listen a proxy: plugins connect to the new socket, each is connected to the "
        "runtime's, and what both send goes through unchanged, and into the recording with its "
        "time. What one side does not take is not read of the other. Ctrl-C and SIGTERM end it.\n\n"
        "With a plugin's command line it stands in for a plugin that the runtime starts: a script "
        "of the plugin's name in the plugin directory runs it with the plugin's own path. The "
        "plugin gets a socket of its own, the runtime's environment, and every signal; its exit "
        "status is nrictl's.\n\n"
        "A disk that is full or too slow never holds up a session: it is told once, the session "
        "goes on without being recorded, and the exit status is 3. Recordings hold what plugins "
        "are told, environment variables with them: the file is readable for its owner alone.",
    .options = options,
    .examples = examples,
    .run = run,
};
