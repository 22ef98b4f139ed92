/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <dirent.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

/* ---- surroundings ---- */

int fixture_count_fds(void)
{
    DIR *directory = opendir("/proc/self/fd");
    int count = 0;
    if (directory == NULL)
        return -1;
    while (readdir(directory) != NULL)
        count++;
    (void)closedir(directory);
    return count;
}

uint64_t fixture_now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* One bell for all counters: few threads wait, and each looks again. */
static pthread_mutex_t bell_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t bell = PTHREAD_COND_INITIALIZER;

void count_up(atomic_int *count)
{
    (void)pthread_mutex_lock(&bell_lock);
    atomic_fetch_add(count, 1);
    (void)pthread_cond_broadcast(&bell);
    (void)pthread_mutex_unlock(&bell_lock);
}

bool count_reaches(atomic_int *count, int number)
{
    struct timespec end;
    int rc = 0;
    (void)clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += PEER_PATIENCE;
    (void)pthread_mutex_lock(&bell_lock);
    while (atomic_load(count) < number && rc == 0)
        rc = pthread_cond_timedwait(&bell, &bell_lock, &end);
    const bool reached = atomic_load(count) >= number;
    (void)pthread_mutex_unlock(&bell_lock);
    return reached;
}

int fixture_listen(const char *path, int backlog)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
        listen(fd, backlog) == 0)
        return fd;
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

int fixture_fill_backlog(struct fixture *fixture, int *fds, int room)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)close(fixture->listener);
    (void)unlink(fixture->path);
    fixture->listener = fixture_listen(fixture->path, 1);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", fixture->path);
    for (int i = 0; i < room; i++) {
        fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (connect(fds[i], (struct sockaddr *)&address, sizeof address) != 0)
            return i + 1;
    }
    fail_msg("the backlog takes more than %d connections", room);
    return room;
}

int fixture_setup(void **state)
{
    uv_loop_t loop;
    /* libuv opens a pipe for the whole process at the first loop. */
    if (uv_loop_init(&loop) != 0 || uv_loop_close(&loop) != 0)
        return -1;
    struct fixture *fixture = calloc(1, sizeof *fixture);
    if (fixture == NULL)
        return -1;
    fail_alloc_init(&fixture->heap, &fixture->allocator);
    fixture->fds = fixture_count_fds();
    (void)snprintf(fixture->directory, sizeof fixture->directory, "/tmp/nri-io-XXXXXX");
    if (mkdtemp(fixture->directory) == NULL) {
        free(fixture);
        return -1;
    }
    (void)snprintf(fixture->path, sizeof fixture->path, "%s/nri.sock", fixture->directory);
    fixture->listener = fixture_listen(fixture->path, 16);
    *state = fixture;
    return fixture->listener >= 0 ? 0 : -1;
}

int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;
    if (fixture->listener >= 0)
        (void)close(fixture->listener);
    (void)unlink(fixture->path);
    (void)rmdir(fixture->directory);
    int fds = fixture_count_fds();
    bool clean = fds == fixture->fds && fixture->heap.live_blocks == 0;
    if (!clean)
        print_error("%d descriptors open, %d before; %zu blocks of the plugin live\n", fds,
                    fixture->fds, (size_t)fixture->heap.live_blocks);
    free(fixture);
    return clean && peer_refusals() == 0 ? 0 : -1;
}

/* ---- the plugin ---- */

static int on_event(nri_request *request, void *user)
{
    struct witness *witness = user;
    enum nri_event event = nri_request_event(request);
    atomic_fetch_add(&witness->count[event], 1);
    if (event == NRI_EVENT_DISCONNECTED) {
        witness->reason = nri_request_reason(request);
        (void)snprintf(witness->reason_text, sizeof witness->reason_text, "%s",
                       nri_request_reason_text(request));
    }
    return witness->act != NULL && witness->act_in == event ? witness->act(request, witness) : 0;
}

struct nri_plugin_ops witness_ops(void)
{
    struct nri_plugin_ops ops;
    nri_plugin_ops_init(&ops, sizeof ops);
    ops.on_configure = on_event;
    ops.on_synchronize = on_event;
    ops.on_create_container = on_event;
    ops.on_run_pod_sandbox = on_event;
    ops.on_shutdown = on_event;
    ops.on_connected = on_event;
    ops.on_disconnected = on_event;
    return ops;
}

struct nri_plugin_options fixture_options(struct fixture *fixture)
{
    struct nri_plugin_options options;
    nri_plugin_options_init(&options, sizeof options);
    options.name = "test";
    options.index = "10";
    options.socket_path = fixture->path;
    options.allocator = &fixture->allocator;
    options.ignore_environment = 1;
    return options;
}

int fixture_pair(struct nri_plugin_options *options)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    options->fd = pair[0];
    options->use_fd = 1;
    return pair[1];
}

nri_plugin *witness_plugin(struct witness *witness, const struct nri_plugin_options *options)
{
    struct nri_plugin_ops ops = witness_ops();
    nri_plugin *plugin = NULL;
    nri_error *error = NULL;
    if (nri_plugin_new(&plugin, &ops, options, witness, &error) != 0)
        fail_msg("nri_plugin_new: %s", nri_error_get_text(error));
    witness->plugin = plugin;
    return plugin;
}

void witness_ended(nri_plugin *plugin, int code, void *user)
{
    struct witness *witness = user;
    (void)plugin;
    witness->result = code;
    atomic_fetch_add(&witness->ended, 1);
}

void witness_closed(void *user)
{
    struct witness *witness = user;
    atomic_fetch_add(&witness->closed, 1);
}

void witness_posted(nri_plugin *plugin, void *user)
{
    struct witness *witness = user;
    if (strcmp(nri_plugin_name(plugin), "test") == 0) /* the plugin is still whole */
        count_up(&witness->posted);
}

void witness_updated(nri_plugin *plugin, const nri_update_result *result, void *user)
{
    struct witness *witness = user;
    (void)plugin;
    const int number = atomic_load(&witness->updated); /* callbacks come one after another */
    if (number < 64)
        witness->update_codes[number] = nri_update_result_code(result);
    count_up(&witness->updated);
}

int witness_update(struct witness *witness, nri_plugin *plugin)
{
    nri_updates *updates;
    int rc = nri_updates_new(&updates, NULL);
    if (rc != 0)
        return rc;
    (void)nri_update_set_cpu_shares(nri_updates_container(updates, "ctr1"), 512);
    rc = nri_plugin_update_containers(plugin, updates, NULL, witness_updated, witness);
    nri_updates_free(updates);
    return rc;
}

/* ---- the log ---- */

void log_book_write(void *user, const nri_log_record *record)
{
    struct log_book *book = user;
    book->records++;
    book->errors += nri_log_record_level(record) == NRI_LOG_ERROR;
    if (book->records == 1)
        (void)snprintf(book->plugin, sizeof book->plugin, "%s", nri_log_record_plugin(record));
    book->strangers += strcmp(book->plugin, nri_log_record_plugin(record)) != 0;
    (void)snprintf(book->text, sizeof book->text, "%s", nri_log_record_text(record));
}

/* ---- the runtime ---- */

static bool answer_updates(struct peer *peer, const struct runtime *runtime)
{
    for (;;) {
        struct peer_message message;
        struct peer_bytes bytes = {0};
        int rc = peer_receive(peer, &message);
        if (rc != 1)
            return rc == 0;
        if (runtime->answers_updates && message.type == PEER_REQUEST)
            peer_bytes_answer(&bytes, message.stream, NULL);
        peer_message_free(&message);
        if (!peer_send(peer, &bytes))
            return true;
    }
}

static bool send_create(struct peer *peer)
{
    struct peer_bytes bytes = {0};
    peer_bytes_call(&bytes, peer->next_stream, "CreateContainer", NULL);
    return peer_send(peer, &bytes);
}

static bool follow_script(struct peer *peer, const struct runtime *runtime)
{
    for (int step = RUNTIME_REGISTER; step <= (int)runtime->last; step++) {
        bool good = true;
        switch ((enum runtime_step)step) {
        case RUNTIME_ACCEPT:
            break;
        case RUNTIME_REGISTER:
            good = peer_take_register(peer);
            break;
        case RUNTIME_ANSWER:
            good = peer_answer_register(peer);
            break;
        case RUNTIME_CONFIGURE:
            good = peer_configure(peer);
            break;
        case RUNTIME_SYNCHRONIZE:
            good = peer_synchronize(peer);
            break;
        case RUNTIME_CREATE:
            good = runtime->no_answer ? send_create(peer) : peer_create(peer, "ctr2");
            break;
        }
        /* A plugin that closes itself in the last step's handler gives no answer. */
        if (!good)
            return runtime->no_answer && step == (int)runtime->last;
    }
    return runtime->hang_up || answer_updates(peer, runtime);
}

static void *runtime_main(void *context)
{
    struct runtime *runtime = context;
    struct peer peer;
    int fd = runtime->fd >= 0 ? runtime->fd : accept4(runtime->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return NULL;
    peer_init(&peer, fd);
    runtime->good = follow_script(&peer, runtime);
    peer_close(&peer);
    return NULL;
}

void runtime_start(struct runtime *runtime)
{
    runtime->good = false;
    assert_int_equal(pthread_create(&runtime->thread, NULL, runtime_main, runtime), 0);
}

bool runtime_join(struct runtime *runtime)
{
    (void)pthread_join(runtime->thread, NULL);
    return runtime->good;
}

const struct fixture_stage fixture_stages[FIXTURE_STAGES] = {
    {NRI_EVENT_CONNECTED, RUNTIME_REGISTER},
    {NRI_EVENT_CONFIGURE, RUNTIME_CONFIGURE},
    {NRI_EVENT_SYNCHRONIZE, RUNTIME_SYNCHRONIZE},
    {NRI_EVENT_CREATE_CONTAINER, RUNTIME_CREATE},
    {NRI_EVENT_DISCONNECTED, RUNTIME_SYNCHRONIZE}};

/* ---- driving ---- */

int drive_turn(nri_plugin *plugin)
{
    struct pollfd poll_fd = {.fd = nri_plugin_fd(plugin), .events = POLLIN};
    assert_true(poll_fd.fd >= 0);
    (void)poll(&poll_fd, 1, nri_plugin_timeout(plugin));
    return nri_plugin_dispatch(plugin);
}

static int drive_loop(nri_plugin *plugin, struct witness *witness)
{
    uv_loop_t loop;
    assert_int_equal(uv_loop_init(&loop), 0);
    int rc = nri_plugin_start(plugin, &loop, witness_ended, witness);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    return rc != 0 ? rc : witness->result;
}

static int drive_dispatch(nri_plugin *plugin, struct witness *witness)
{
    int rc = nri_plugin_start(plugin, NULL, witness_ended, witness);
    if (rc != 0)
        return rc;
    while ((rc = drive_turn(plugin)) == 1)
        continue;
    return rc != 0 ? rc : witness->result;
}

int drive_to_end(enum drive drive, nri_plugin *plugin, struct witness *witness)
{
    if (drive == DRIVE_LOOP)
        return drive_loop(plugin, witness);
    if (drive == DRIVE_DISPATCH)
        return drive_dispatch(plugin, witness);
    return nri_plugin_run(plugin);
}
