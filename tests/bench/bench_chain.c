/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_chain nri|floor REQUEST COUNT PLUGINS PROGRAM: what a CreateContainer costs with so many
 * plugins, each a process of PROGRAM: on nri_runtime, or on a loop that packs the request with
 * protobuf-c, writes it, reads the reply and unpacks it, and merges nothing. REQUEST is a file with
 * a CreateContainerRequest, which is played COUNT times for warmth and then in BATCHES of COUNT.
 * Prints "ns" and what one takes in the best batch, the one that others disturbed least; then, of
 * nri_runtime, "allocations" and how often libnri asked its allocator in all batches together.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nri/nri.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "bench_peer.h"
#include "model/model.h"
#include "proto/nri.pb-c.h"
#include "proto/ttrpc.pb-c.h"
#include "wire/message.h"

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type
#define BATCHES       20
#define MOST          16
#define HEADERS       18
#define ROOM          ((size_t)1 << 20)

struct bench {
    uint8_t request[1 << 16];
    size_t size;
    unsigned long count, made;
    size_t plugins;
    struct peer peers[MOST];
    uint64_t began, took;
    unsigned long long asked, asked_before; /* of the allocator; by the end of the warmth */
    struct nri_arena arena;                 /* of the pod sandbox and the container */
    nri_runtime *runtime;
    struct nri_runtime_event event;
    size_t connected;
};

static void load(struct bench *bench, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        die(path);
    bench->size = fread(bench->request, 1, sizeof bench->request, file);
    fclose(file);
}

static void spawn(struct bench *bench, char *program)
{
    char *argv[] = {program, NULL}, name[32], index[32];
    for (size_t i = 0; i < bench->plugins; i++) {
        snprintf(name, sizeof name, "b%zu", i);
        snprintf(index, sizeof index, "%02zu", i);
        if (setenv("NRI_PLUGIN_NAME", name, 1) != 0 || setenv("NRI_PLUGIN_IDX", index, 1) != 0)
            die("setenv");
        peer_spawn(&bench->peers[i], argv);
    }
}

/* Whether there is another one to be made. */
static bool again(struct bench *bench)
{
    if (bench->made++ % bench->count != 0)
        return true;
    const uint64_t now = now_ns(), took = (now - bench->began) / bench->count;
    const uint64_t batches = bench->made / bench->count; /* that are over */
    if (batches == 1)
        bench->asked_before = bench->asked;
    if (batches > 1 && (bench->took == 0 || took < bench->took))
        bench->took = took;
    bench->began = now;
    return batches <= BATCHES;
}

/* ---- the floor ---- */

static _Alignas(16) uint8_t room[ROOM];
static size_t used;

static void *bump(void *user, size_t size)
{
    uint8_t *piece = room + used;
    (void)user;
    used += (size + 15) & ~(size_t)15;
    return used <= ROOM ? piece : NULL;
}

static void keep(void *user, void *piece)
{
    (void)user;
    (void)piece;
}

static ProtobufCAllocator pieces = {bump, keep, NULL};

static void put32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static void ask(struct peer *peer, const MESSAGE(CreateContainerRequest) * message)
{
    static char service[] = "nri.pkg.api.v1alpha1.Plugin", method[] = "CreateContainer";
    static uint8_t payload[1 << 16], out[1 << 16];
    Ttrpc__Request request = TTRPC__REQUEST__INIT;
    request.service = service;
    request.method = method;
    request.timeout_nano = 2000000000;
    request.payload.data = payload;
    request.payload.len = protobuf_c_message_pack(&message->base, payload);
    const size_t size = protobuf_c_message_pack(&request.base, out + HEADERS);
    put32(out, 1);
    put32(out + 4, (uint32_t)size + 10);
    put32(out + 8, (uint32_t)size);
    put32(out + 12, peer->stream);
    out[16] = 1;
    out[17] = 0;
    peer->stream += 2;
    if (send(peer->fd, out, HEADERS + size, MSG_NOSIGNAL) != (ssize_t)(HEADERS + size))
        die("cannot write to a plugin");
    size_t have = 0, whole = HEADERS;
    while (have < whole) {
        const ssize_t n = read(peer->fd, out + have, sizeof out - have);
        if (n <= 0)
            die("cannot read from a plugin");
        have += (size_t)n;
        if (have >= HEADERS)
            whole = HEADERS +
                    ((size_t)out[8] << 24 | (size_t)out[9] << 16 | (size_t)out[10] << 8 | out[11]);
    }
    used = 0;
    const Ttrpc__Response *response = (void *)protobuf_c_message_unpack(
        &ttrpc__response__descriptor, &pieces, have - HEADERS, out + HEADERS);
    const MESSAGE(CreateContainerResponse) *reply =
        response == NULL ? NULL
                         : (void *)protobuf_c_message_unpack(
                               &nri__pkg__api__v1alpha1__create_container_response__descriptor,
                               &pieces, response->payload.len, response->payload.data);
    if (reply == NULL || reply->adjust == NULL || reply->adjust->n_env != 1)
        die("a plugin does not adjust");
}

static void floor_run(struct bench *bench)
{
    MESSAGE(CreateContainerRequest) *request = (void *)protobuf_c_message_unpack(
        &nri__pkg__api__v1alpha1__create_container_request__descriptor, NULL, bench->size,
        bench->request);
    if (request == NULL)
        die("the request is none");
    for (size_t i = 0; i < bench->plugins; i++)
        peer_handshake(&bench->peers[i]);
    while (again(bench)) {
        for (size_t i = 0; i < bench->plugins; i++)
            ask(&bench->peers[i], request);
    }
    protobuf_c_message_free_unpacked(&request->base, NULL);
    for (size_t i = 0; i < bench->plugins; i++)
        peer_finish(&bench->peers[i]);
}

/* ---- nri_runtime ---- */

static void *counted_allocate(size_t bytes, void *user)
{
    ((struct bench *)user)->asked++;
    return malloc(bytes);
}

static void *counted_resize(void *block, size_t bytes, void *user)
{
    ((struct bench *)user)->asked++;
    return realloc(block, bytes);
}

static void counted_release(void *block, void *user)
{
    (void)user;
    free(block);
}

static void created(nri_runtime *runtime, nri_outcome *outcome, void *user)
{
    struct bench *bench = user;
    if (outcome != NULL &&
        (nri_outcome_code(outcome) != 0 || nri_outcome_step_count(outcome) != bench->plugins ||
         nri_outcome_step_result(outcome, bench->plugins - 1) != NRI_STEP_ANSWERED))
        die(nri_outcome_text(outcome));
    if (!again(bench))
        nri_runtime_stop(runtime);
    else if (nri_runtime_call(runtime, &bench->event, created, bench) != 0)
        die("nri_runtime_call");
}

static void connected(nri_runtime *runtime, nri_runtime_plugin *plugin, void *user)
{
    struct bench *bench = user;
    (void)plugin;
    if (++bench->connected == bench->plugins)
        created(runtime, NULL, bench);
}

static void ready(nri_runtime *runtime, void *user)
{
    struct bench *bench = user;
    for (size_t i = 0; i < bench->plugins; i++) {
        if (nri_runtime_attach_fd(runtime, bench->peers[i].fd) != 0)
            die("nri_runtime_attach_fd");
    }
}

static void nri_run(struct bench *bench)
{
    static const uint64_t seed[2] = {1, 2};
    struct nri_runtime_ops ops = {
        .size = sizeof ops, .plugin_connected = connected, .ready = ready};
    const struct nri_allocator counted = {.size = sizeof counted,
                                          .user = bench,
                                          .allocate = counted_allocate,
                                          .resize = counted_resize,
                                          .release = counted_release};
    /* Time-outs that a busy machine, under valgrind, does not reach. */
    struct nri_runtime_options options = {.size = sizeof options,
                                          .no_external = 1,
                                          .no_launch = 1,
                                          .registration_timeout_ms = 600000,
                                          .request_timeout_ms = 600000,
                                          .allocator = &counted};
    struct nri_alloc alloc;
    ProtobufCMessage *message;
    if (nri_alloc_resolve(&alloc, NULL) != 0)
        die("the allocator");
    nri_arena_init(&bench->arena, &alloc, 0, ROOM);
    if (nri_message_decode(&nri__pkg__api__v1alpha1__create_container_request__descriptor,
                           bench->request, bench->size, &bench->arena, seed, &message, NULL) != 0)
        die("the request is none");
    const MESSAGE(CreateContainerRequest) *request = (const void *)message;
    nri_runtime_event_init(&bench->event, sizeof bench->event);
    bench->event.event = NRI_EVENT_CREATE_CONTAINER;
    bench->event.pod = nri_pod_view(request->pod);
    bench->event.container = nri_container_view(request->container);
    if (nri_runtime_new(&bench->runtime, &ops, &options, bench, NULL) != 0 ||
        nri_runtime_run(bench->runtime) != 0)
        die("nri_runtime");
    nri_runtime_close(bench->runtime, NULL, NULL);
    nri_arena_fini(&bench->arena);
    for (size_t i = 0; i < bench->plugins; i++)
        (void)waitpid(bench->peers[i].child, NULL, 0);
}

int main(int argc, char **argv)
{
    static struct bench bench;
    if (argc != 6) {
        fputs("usage: bench_chain nri|floor REQUEST COUNT PLUGINS PROGRAM\n", stderr);
        return 2;
    }
    load(&bench, argv[2]);
    bench.count = strtoul(argv[3], NULL, 10);
    bench.plugins = strtoul(argv[4], NULL, 10);
    if (bench.count == 0 || bench.plugins == 0 || bench.plugins > MOST)
        die("numbers");
    spawn(&bench, argv[5]);
    if (strcmp(argv[1], "nri") == 0)
        nri_run(&bench);
    else
        floor_run(&bench);
    printf("ns %llu\n", (unsigned long long)bench.took);
    if (bench.runtime != NULL)
        printf("allocations %llu\n", bench.asked - bench.asked_before);
    return 0;
}
