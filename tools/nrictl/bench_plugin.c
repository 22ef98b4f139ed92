/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin of the benchmark, from its start to its first event, and its end.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "bench.h"
#include "memory.h"
#include "message.h"
#include "model/model.h"
#include "process.h"
#include "proto/nri.pb-c.h"
#include "wire/message.h"

/* Go runtimes of this version are those that most nodes have; all plugins know it. */
enum { RELEASE = MESSAGE_0_8, END_MS = 2000, SLICE_US = 50000 };

/* ---- its process ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static bool listen_for(struct bench *bench, struct bench_plugin *plugin)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(plugin->socket, sizeof plugin->socket, "%s/%zu.sock", bench->directory,
                   (size_t)(plugin - bench->plugins));
    memcpy(address.sun_path, plugin->socket, sizeof plugin->socket);
    plugin->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (plugin->listener < 0 ||
        bind(plugin->listener, (const struct sockaddr *)&address, sizeof address) != 0 ||
        listen(plugin->listener, 4) != 0)
        return bench_fail(bench, NRICTL_ENVIRONMENT, "no socket %s: %s", plugin->socket,
                          strerror(errno));
    plugin->output = memfd_create("nrictl-bench-output", MFD_CLOEXEC);
    if (plugin->output < 0 || fcntl(plugin->output, F_SETFL, O_APPEND) != 0)
        return bench_fail(bench, NRICTL_ENVIRONMENT, "no file for a plugin's output: %s",
                          strerror(errno));
    return true;
}

static bool launch(struct bench *bench, struct bench_plugin *plugin)
{
    const struct child_options options = {
        .argv = plugin->of.argv,
        .way = plugin->of.connects ? CHILD_CONNECTS : CHILD_CONNECTED,
        .output = plugin->output,
    };
    struct nri_error error;
    const char *program = base_name(plugin->of.argv[0]), *name;
    char index[3];
    pid_t pid = 0;
    /* As runtimes do with a plugin's file. */
    if (!nri_identity_from_program(program, index, &name)) {
        memcpy(index, "10", sizeof index);
        name = program;
    }
    const int code = process_start(&options, plugin->of.name != NULL ? plugin->of.name : name,
                                   plugin->of.index != NULL ? plugin->of.index : index,
                                   plugin->socket, &pid, &error);
    if (code != 0)
        return bench_fail(bench, NRICTL_ENVIRONMENT, "cannot start the plugin: %s", error.text);
    plugin->pid = pid;
    return true;
}

/* ---- its handshake ---- */

/* Whether its process is gone before it connected; children of others are not looked at. */
static bool has_ended(struct bench *bench, struct bench_plugin *plugin)
{
    int status;
    if (waitpid(plugin->pid, &status, WNOHANG) != plugin->pid)
        return false;
    plugin->pid = 0;
    (void)bench_fail(bench, NRICTL_FINDING, "%s: %s %d before it connected", plugin->title,
                     WIFEXITED(status) ? "ended with status" : "was killed by signal",
                     WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    return true;
}

static bool accept_it(struct bench *bench, struct bench_plugin *plugin)
{
    const uint64_t deadline = bench_deadline(bench);
    for (;;) {
        const int fd = accept4(plugin->listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0) {
            /* What blocks in a write looks for signals and for its end between two of these. */
            const struct timeval slice = {.tv_usec = SLICE_US};
            (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &slice, sizeof slice);
            bench_link_open(&plugin->link, fd, plugin->title);
            return true;
        }
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
            return bench_fail(bench, NRICTL_ENVIRONMENT, "accepting: %s", strerror(errno));
        const enum bench_wait seen = bench_wait(bench, plugin->listener, deadline);
        if (seen == BENCH_STOPPED || (seen == BENCH_CHILD && has_ended(bench, plugin)))
            return false;
        if (seen == BENCH_LATE)
            return bench_fail(bench, NRICTL_FINDING,
                              "%s: does not connect within %llu ms (--timeout); does it need "
                              "{socket} in its command line?",
                              plugin->title, (unsigned long long)bench->timeout_ms);
    }
}

/* Of a text, at most so many bytes, and no character in part. */
static int piece(const char *text, size_t most)
{
    const size_t length = strlen(text);
    return (int)(length > most ? nri_utf8_cut(text, most) : length);
}

/* Terminals and pages get it: one line. */
static void take_title(struct bench_plugin *plugin, const char *index, const char *name)
{
    enum { INDEX = 16, NAME = 100 };
    (void)snprintf(plugin->title, sizeof plugin->title, "%.*s-%.*s", piece(index, INDEX), index,
                   piece(name, NAME), name);
    for (char *at = plugin->title; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    }
}

static bool take_registration(struct bench *bench, struct bench_plugin *plugin)
{
    static const uint64_t seed[2] = {1, 2};
    struct bench_message message;
    struct nri_rpc_bytes payload;
    struct nri_arena arena;
    struct nri_error error;
    ProtobufCMessage *decoded = NULL;
    if (!bench_link_next(bench, &plugin->link, bench_deadline(bench), &message) ||
        !bench_link_take_call(bench, &plugin->link, &message, "RegisterPlugin", &payload))
        return false;
    memory_arena(&arena, BENCH_REPLY_LIMIT);
    bool good =
        nri_message_decode(&nri__pkg__api__v1alpha1__register_plugin_request__descriptor,
                           payload.bytes, payload.length, &arena, seed, &decoded, &error) == 0;
    if (good) {
        const Nri__Pkg__Api__V1alpha1__RegisterPluginRequest *told =
            (const Nri__Pkg__Api__V1alpha1__RegisterPluginRequest *)decoded;
        take_title(plugin, told->plugin_idx, told->plugin_name);
    } else {
        (void)bench_fail(bench, NRICTL_FINDING, "%s: its RegisterPlugin: %s", plugin->title,
                         error.text);
    }
    nri_arena_fini(&arena);
    return good;
}

static bool call(struct bench *bench, struct bench_plugin *plugin, const char *method,
                 const struct nri_buf *payload, struct bench_message *reply)
{
    struct bench_frame frame;
    const bool good = bench_frame_make(bench, &frame, method, payload) &&
                      bench_link_send(bench, &plugin->link, &frame) &&
                      bench_link_reply(bench, &plugin->link, method, reply);
    nri_buf_fini(&frame.bytes);
    return good;
}

static bool configure(struct bench *bench, struct bench_plugin *plugin)
{
    struct nri_buf payload;
    struct bench_message reply;
    memory_buf(&payload, SIZE_MAX);
    bool good = message_configure(&payload, RELEASE, "");
    if (!good)
        (void)bench_fail(bench, NRICTL_ENVIRONMENT, "no memory for Configure");
    good = good && call(bench, plugin, "Configure", &payload, &reply);
    nri_buf_fini(&payload);
    if (!good)
        return false;
    Nri__Pkg__Api__V1alpha1__ConfigureResponse *told =
        nri__pkg__api__v1alpha1__configure_response__unpack(NULL, reply.length, reply.data);
    if (told == NULL)
        return bench_fail(bench, NRICTL_FINDING, "%s: its reply to Configure is no message of NRI",
                          plugin->title);
    plugin->events = told->events != 0 ? (uint32_t)told->events : message_events(RELEASE);
    nri__pkg__api__v1alpha1__configure_response__free_unpacked(told, NULL);
    return true;
}

bool bench_plugin_start(struct bench *bench, struct bench_plugin *plugin, bool measure)
{
    struct nri_buf nothing;
    struct bench_message reply;
    memory_buf(&nothing, SIZE_MAX);
    if (plugin->title[0] == '\0')
        (void)snprintf(plugin->title, sizeof plugin->title, "%.100s",
                       base_name(plugin->of.argv[0]));
    bench_link_init(&plugin->link);
    if (!listen_for(bench, plugin))
        return false;
    const uint64_t began = bench_now();
    if (!launch(bench, plugin) || !accept_it(bench, plugin) || !take_registration(bench, plugin))
        return false;
    const uint64_t registered = bench_now();
    if (!configure(bench, plugin) || !call(bench, plugin, "Synchronize", &nothing, &reply))
        return false;
    return !measure || (bench_sample(bench, &plugin->registered, registered - began) &&
                        bench_sample(bench, &plugin->synchronised, bench_now() - began));
}

/* ---- its end ---- */

static bool reap(struct bench *bench, pid_t pid, int *status)
{
    const uint64_t deadline = bench_now() + (uint64_t)END_MS * 1000000;
    for (;;) {
        const pid_t got = waitpid(pid, status, WNOHANG);
        if (got == pid || (got < 0 && errno != EINTR))
            return true;
        const enum bench_wait seen = bench_wait(bench, -1, deadline);
        if (seen == BENCH_LATE || seen == BENCH_STOPPED)
            return false;
    }
}

/* It closed its connection, most likely by ending: how goes with the failure. */
static void await_end(struct bench *bench, struct bench_plugin *plugin)
{
    const size_t used = strlen(bench->why);
    int status;
    if (!reap(bench, plugin->pid, &status))
        return;
    plugin->pid = 0;
    (void)snprintf(bench->why + used, sizeof bench->why - used, "; it %s %d",
                   WIFEXITED(status) ? "ended with status" : "was killed by signal",
                   WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

static void end_process(struct bench *bench, pid_t pid)
{
    int status;
    (void)kill(-pid, SIGTERM);
    (void)kill(-pid, SIGCONT);
    if (!reap(bench, pid, &status)) {
        (void)kill(-pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    (void)kill(-pid, SIGKILL); /* what it has started itself */
}

/* The end of what it printed goes with a failure: it may say why. */
static void tell_output(struct bench *bench, const struct bench_plugin *plugin)
{
    char text[240];
    const size_t used = strlen(bench->why);
    const off_t end = lseek(plugin->output, 0, SEEK_END);
    const off_t from = end > (off_t)sizeof text ? end - (off_t)sizeof text : 0;
    const ssize_t got = pread(plugin->output, text, sizeof text, from);
    if (got <= 0 || used + 40 > sizeof bench->why ||
        strncmp(bench->why, plugin->title, strlen(plugin->title)) != 0)
        return;
    size_t length = (size_t)got;
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' '))
        length--;
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < ' ')
            text[i] = ' ';
    }
    (void)snprintf(bench->why + used, sizeof bench->why - used, "; it printed: %.*s", (int)length,
                   text);
}

void bench_plugin_stop(struct bench *bench, struct bench_plugin *plugin)
{
    if (plugin->listener >= 0) {
        (void)close(plugin->listener);
        (void)unlink(plugin->socket);
    }
    bench_link_close(&plugin->link);
    if (plugin->pid > 0 && plugin->link.over)
        await_end(bench, plugin);
    if (plugin->pid > 0)
        end_process(bench, plugin->pid);
    if (plugin->output >= 0) {
        if (bench->why[0] != '\0')
            tell_output(bench, plugin);
        (void)close(plugin->output);
    }
    plugin->pid = 0;
    plugin->listener = plugin->output = -1;
}

bool bench_plugin_memory(struct bench *bench, const struct bench_plugin *plugin,
                         struct bench_memory *memory)
{
    return bench_memory_of(bench, plugin->link.pid, memory);
}
