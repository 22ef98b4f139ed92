/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What somebody would write without a library: one epoll loop, protobuf-c, one bump allocator, no
 * checks. It answers CreateContainer as bench_plugin does, and stands beside it in the same run. It
 * expects each message whole in one read, as the driver sends them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/nri.pb-c.h"
#include "proto/ttrpc.pb-c.h"

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type
#define INIT(type)    NRI__PKG__API__V1ALPHA1__##type##__INIT
#define HEADERS       18

static _Alignas(16) uint8_t room[1 << 20];
static size_t used;

static void *bump(void *user, size_t size)
{
    (void)user;
    uint8_t *piece = room + used;
    used += (size + 15) & ~(size_t)15;
    return used <= sizeof room ? piece : NULL;
}

static void keep(void *user, void *piece)
{
    (void)user;
    (void)piece;
}

static ProtobufCAllocator arena = {bump, keep, NULL};

static void put32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static int send_message(int fd, uint32_t id, const uint8_t stream[4], uint8_t type,
                        const ProtobufCMessage *data)
{
    static uint8_t out[8192];
    const size_t size = protobuf_c_message_pack(data, out + HEADERS);
    put32(out, id);
    put32(out + 4, (uint32_t)size + 10);
    put32(out + 8, (uint32_t)size);
    memcpy(out + 12, stream, 4);
    out[16] = type;
    out[17] = 0;
    return send(fd, out, HEADERS + size, MSG_NOSIGNAL) == (ssize_t)(HEADERS + size) ? 0 : -1;
}

static size_t answer_create(const ProtobufCBinaryData *payload, uint8_t *out)
{
    static char env_key[] = "BENCH", annotation_key[] = "bench.example/container";
    MESSAGE(CreateContainerRequest) *request =
        (MESSAGE(CreateContainerRequest) *)protobuf_c_message_unpack(
            &nri__pkg__api__v1alpha1__create_container_request__descriptor, &arena, payload->len,
            payload->data);
    if (request == NULL)
        return 0;
    MESSAGE(KeyValue) env = INIT(KEY_VALUE), *envs[] = {&env};
    MESSAGE(ContainerAdjustment__AnnotationsEntry)
    annotation = INIT(CONTAINER_ADJUSTMENT__ANNOTATIONS_ENTRY), *annotations[] = {&annotation};
    MESSAGE(OptionalUInt64) shares = INIT(OPTIONAL_UINT64);
    MESSAGE(LinuxCPU) cpu = INIT(LINUX_CPU);
    MESSAGE(LinuxResources) resources = INIT(LINUX_RESOURCES);
    MESSAGE(LinuxContainerAdjustment) adjust_linux = INIT(LINUX_CONTAINER_ADJUSTMENT);
    MESSAGE(ContainerAdjustment) adjust = INIT(CONTAINER_ADJUSTMENT);
    MESSAGE(CreateContainerResponse) response = INIT(CREATE_CONTAINER_RESPONSE);
    env.key = env_key;
    env.value = request->pod->name;
    annotation.key = annotation_key;
    annotation.value = request->container->name;
    shares.value = 512;
    cpu.shares = &shares;
    resources.cpu = &cpu;
    adjust_linux.resources = &resources;
    adjust.n_env = 1;
    adjust.env = envs;
    adjust.n_annotations = 1;
    adjust.annotations = annotations;
    adjust.linux = &adjust_linux;
    response.adjust = &adjust;
    return protobuf_c_message_pack(&response.base, out);
}

static size_t answer(const Ttrpc__Request *request, uint8_t *out)
{
    static const uint8_t mask[] = {0x10, 0x08}; /* CreateContainer */
    if (strcmp(request->method, "CreateContainer") == 0)
        return answer_create(&request->payload, out);
    if (strcmp(request->method, "Configure") != 0)
        return 0;
    memcpy(out, mask, sizeof mask);
    return sizeof mask;
}

static int serve(int fd, const uint8_t *message, size_t size)
{
    static uint8_t payload[4096];
    if (size < HEADERS || message[16] != 1)
        return 0; /* the reply to RegisterPlugin */
    used = 0;
    Ttrpc__Request *request = (Ttrpc__Request *)protobuf_c_message_unpack(
        &ttrpc__request__descriptor, &arena, size - HEADERS, message + HEADERS);
    if (request == NULL)
        return -1;
    Ttrpc__Response response = TTRPC__RESPONSE__INIT;
    response.payload.data = payload;
    response.payload.len = answer(request, payload);
    return send_message(fd, 1, message + 12, 2, &response.base);
}

static int register_plugin(int fd)
{
    static char service[] = "nri.pkg.api.v1alpha1.Runtime", method[] = "RegisterPlugin";
    static uint8_t payload[] = "\x0a\x05plain\x12\x02"
                               "10";
    static const uint8_t stream[4] = {0, 0, 0, 1};
    Ttrpc__Request request = TTRPC__REQUEST__INIT;
    request.service = service;
    request.method = method;
    request.payload.data = payload;
    request.payload.len = sizeof payload - 1;
    return send_message(fd, 2, stream, 1, &request.base);
}

int main(void)
{
    static uint8_t in[1 << 16];
    const char *text = getenv("NRI_PLUGIN_SOCKET");
    const int fd = text == NULL ? -1 : atoi(text), poll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    if (poll < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) != 0 || register_plugin(fd) != 0)
        return 1;
    while (epoll_wait(poll, &event, 1, -1) == 1) {
        const ssize_t size = recv(fd, in, sizeof in, 0);
        if (size <= 0)
            return size == 0 ? 0 : 1;
        /* Configure comes behind the reply to RegisterPlugin: in one read, now and then. */
        for (size_t at = 0; at + HEADERS <= (size_t)size;) {
            const size_t whole = 8 + ((size_t)in[at + 6] << 8 | in[at + 7]);
            if (serve(fd, in + at, whole) != 0)
                return 1;
            at += whole;
        }
    }
    return 1;
}
