/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_peer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MUX   8
#define TTRPC 10

void die(const char *what)
{
    fprintf(stderr, "bench: %s (%s)\n", what, strerror(errno));
    exit(1);
}

uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static void read_all(int fd, void *to, size_t count)
{
    for (size_t have = 0; have < count;) {
        ssize_t n = read(fd, (char *)to + have, count - have);
        if (n <= 0)
            die("the plugin closed the connection");
        have += (size_t)n;
    }
}

static void write_all(int fd, const void *from, size_t count)
{
    for (size_t done = 0; done < count;) {
        ssize_t n = send(fd, (const char *)from + done, count - done, MSG_NOSIGNAL);
        if (n <= 0)
            die("cannot write to the plugin");
        done += (size_t)n;
    }
}

static uint64_t varint(const uint8_t **p)
{
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        value |= (uint64_t)(**p & 0x7f) << shift;
        if ((*(*p)++ & 0x80) == 0)
            return value;
    }
}

/* The bytes of a length-delimited field of a ttrpc.Request. */
static const uint8_t *field(const uint8_t *p, const uint8_t *end, unsigned number, size_t *size)
{
    while (p < end) {
        uint64_t tag = varint(&p);
        if ((tag & 7) == 0) {
            varint(&p);
            continue;
        }
        *size = (size_t)varint(&p);
        if (tag >> 3 == number)
            return p;
        p += *size;
    }
    *size = 0;
    return end;
}

void peer_load(struct peer *peer, const char *recording)
{
    static uint8_t bytes[1 << 20];
    memset(peer, 0, sizeof *peer);
    FILE *file = fopen(recording, "rb");
    if (file == NULL)
        die(recording);
    size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    /* The recorded small messages are whole in one frame; what is not is stepped over. */
    for (size_t at = 0; at + MUX + TTRPC <= count; at += MUX + get32(bytes + at + 4)) {
        const uint8_t *data = bytes + at + MUX + TTRPC,
                      *end = bytes + at + MUX + get32(bytes + at + 4);
        size_t size;
        if (get32(bytes + at) != 1 || end > bytes + count || data[-2] != 1)
            continue;
        const uint8_t *method = field(data, end, 2, &size);
        if (size != strlen("CreateContainer") || memcmp(method, "CreateContainer", size) != 0)
            continue;
        peer->create_size = (size_t)(end - (bytes + at));
        peer->create = malloc(peer->create_size);
        if (peer->create == NULL)
            die("no memory");
        memcpy(peer->create, bytes + at, peer->create_size);
        return;
    }
    die("no CreateContainer in the recording");
}

void peer_save_payload(const struct peer *peer, const char *path)
{
    size_t size;
    const uint8_t *payload =
        field(peer->create + MUX + TTRPC, peer->create + peer->create_size, 3, &size);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(payload, 1, size, file) != size || fclose(file) != 0)
        die(path);
}

void peer_spawn(struct peer *peer, char *const argv[])
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        die("socketpair");
    peer->child = fork();
    if (peer->child < 0)
        die("fork");
    if (peer->child == 0) {
        if (dup2(pair[1], 3) != 3)
            _exit(127);
        setenv("NRI_PLUGIN_SOCKET", "3", 1);
        execv(argv[0], argv);
        _exit(127);
    }
    close(pair[1]);
    peer->fd = pair[0];
    peer->stream = 1;
}

static void send_call(struct peer *peer, const char *method, const void *payload, size_t size)
{
    static const char service[] = "nri.pkg.api.v1alpha1.Plugin";
    uint8_t message[512], *p = message + MUX + TTRPC;
    *p++ = 0x0a;
    *p++ = sizeof service - 1;
    p = (uint8_t *)memcpy(p, service, sizeof service - 1) + sizeof service - 1;
    *p++ = 0x12;
    *p++ = (uint8_t)strlen(method);
    p = (uint8_t *)memcpy(p, method, strlen(method)) + strlen(method);
    *p++ = 0x1a;
    *p++ = (uint8_t)size;
    p = (uint8_t *)memcpy(p, payload, size) + size;
    size_t total = (size_t)(p - message);
    put32(message, 1);
    put32(message + 4, (uint32_t)(total - MUX));
    put32(message + 8, (uint32_t)(total - MUX - TTRPC));
    put32(message + 12, peer->stream);
    message[16] = 1;
    message[17] = 0;
    peer->stream += 2;
    write_all(peer->fd, message, total);
}

/* One message of the plugin, in one frame. */
static void receive(struct peer *peer, uint8_t *message, size_t room)
{
    read_all(peer->fd, message, MUX);
    size_t size = get32(message + 4);
    if (MUX + size > room)
        die("an answer larger than expected");
    read_all(peer->fd, message + MUX, size);
    peer->reply_size = MUX + size;
}

void peer_handshake(struct peer *peer)
{
    static const uint8_t registered[] = {0, 0, 0, 2, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0};
    static const char configure[] = "\x12\x0a"
                                    "containerd"
                                    "\x1a\x05"
                                    "2.1.9";
    uint8_t message[4096 + MUX];
    receive(peer, message, sizeof message);
    if (get32(message) != 2 || message[16] != 1)
        die("the plugin does not begin with RegisterPlugin");
    write_all(peer->fd, registered, sizeof registered);
    send_call(peer, "Configure", configure, sizeof configure - 1);
    receive(peer, message, sizeof message);
    send_call(peer, "Synchronize", "", 0);
    receive(peer, message, sizeof message);
}

void peer_round_trip(struct peer *peer)
{
    uint8_t message[4096 + MUX];
    put32(peer->create + 12, peer->stream);
    peer->stream += 2;
    write_all(peer->fd, peer->create, peer->create_size);
    receive(peer, message, sizeof message);
    if (message[16] != 2 || peer->reply_size < 64)
        die("the plugin did not adjust the container");
}

void peer_finish(struct peer *peer)
{
    int status;
    close(peer->fd);
    if (waitpid(peer->child, &status, 0) != peer->child)
        die("waitpid");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        die("the plugin failed");
}
