/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_peer.h"

#include <errno.h>
#include <stdbool.h>
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

struct recording {
    uint8_t bytes[1 << 20];
    size_t count;
};

static const struct recording *read_recording(const char *path)
{
    static struct recording recording;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        die(path);
    recording.count = fread(recording.bytes, 1, sizeof recording.bytes, file);
    fclose(file);
    return &recording;
}

/* The next call at or behind *at, which moves behind it; false at the end. The recorded small
 * messages are whole in one frame; what is not is stepped over. */
static bool next_call(const struct recording *r, size_t *at, struct frame *frame, char method[64])
{
    while (*at + MUX + TTRPC <= r->count) {
        const uint8_t *message = r->bytes + *at;
        const size_t size = MUX + get32(message + 4);
        *at += size;
        if (get32(message) != 1 || *at > r->count || message[16] != 1)
            continue;
        size_t length;
        const uint8_t *name = field(message + MUX + TTRPC, message + size, 2, &length);
        if (length == 0 || length >= 64)
            continue;
        memcpy(method, name, length);
        method[length] = '\0';
        frame->size = size;
        frame->bytes = malloc(size);
        if (frame->bytes == NULL)
            die("no memory");
        memcpy(frame->bytes, message, size);
        return true;
    }
    return false;
}

void peer_load(struct peer *peer, const char *path)
{
    const struct recording *recording = read_recording(path);
    struct frame frame;
    char method[64];
    memset(peer, 0, sizeof *peer);
    for (size_t at = 0; next_call(recording, &at, &frame, method);) {
        if (strcmp(method, "CreateContainer") == 0) {
            peer->create = frame.bytes;
            peer->create_size = frame.size;
            return;
        }
        free(frame.bytes);
    }
    die("no CreateContainer in the recording");
}

size_t peer_load_events(const char *path, struct frame *frames, size_t room)
{
    const struct recording *recording = read_recording(path);
    struct frame frame;
    char method[64];
    size_t count = 0;
    for (size_t at = 0; count < room && next_call(recording, &at, &frame, method);) {
        if (strcmp(method, "Configure") == 0 || strcmp(method, "Synchronize") == 0)
            free(frame.bytes);
        else
            frames[count++] = frame;
    }
    if (count == 0)
        die("no event in the recording");
    return count;
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

static uint8_t *put_length(uint8_t *p, size_t length)
{
    for (; length >= 0x80; length >>= 7)
        *p++ = (uint8_t)(length | 0x80);
    *p++ = (uint8_t)length;
    return p;
}

static uint8_t *put_field(uint8_t *p, uint8_t tag, const void *bytes, size_t size)
{
    *p++ = tag;
    p = put_length(p, size);
    return (uint8_t *)memcpy(p, bytes, size) + size;
}

/* Go's ttRPC writes through a buffer: what is larger begins with a mux frame of this size, and a
 * plugin with the Go stub ends its connection over another cut. */
#define GO_BUFFER 4096u

static void cut_frame(struct frame *frame)
{
    uint8_t *rest = frame->bytes + MUX + GO_BUFFER;
    const size_t left = frame->size - MUX - GO_BUFFER;
    memmove(rest + MUX, rest, left);
    put32(frame->bytes + 4, GO_BUFFER);
    put32(rest, 1);
    put32(rest + 4, (uint32_t)left);
    frame->size += MUX;
}

void peer_frame(struct frame *frame, const char *method, const void *payload, size_t size)
{
    static const char service[] = "nri.pkg.api.v1alpha1.Plugin";
    uint8_t *message = malloc(2 * MUX + TTRPC + sizeof service + strlen(method) + size + 32);
    if (message == NULL)
        die("no memory");
    uint8_t *p = put_field(message + MUX + TTRPC, 0x0a, service, sizeof service - 1);
    p = put_field(p, 0x12, method, strlen(method));
    p = put_field(p, 0x1a, payload, size);
    frame->bytes = message;
    frame->size = (size_t)(p - message);
    put32(message, 1);
    put32(message + 4, (uint32_t)(frame->size - MUX));
    put32(message + 8, (uint32_t)(frame->size - MUX - TTRPC));
    message[16] = 1;
    message[17] = 0;
    if (frame->size > MUX + GO_BUFFER)
        cut_frame(frame);
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

void peer_call(struct peer *peer, const struct frame *frame)
{
    uint8_t reply[4096 + MUX];
    put32(frame->bytes + 12, peer->stream);
    peer->stream += 2;
    write_all(peer->fd, frame->bytes, frame->size);
    receive(peer, reply, sizeof reply);
    /* A response that begins with a status is a refusal. */
    if (reply[16] != 2 || (peer->reply_size > MUX + TTRPC && reply[MUX + TTRPC] == 0x0a))
        die("the plugin refused a call");
}

static void call(struct peer *peer, const char *method, const void *payload, size_t size)
{
    struct frame frame;
    peer_frame(&frame, method, payload, size);
    peer_call(peer, &frame);
    free(frame.bytes);
}

void peer_register(struct peer *peer)
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
    call(peer, "Configure", configure, sizeof configure - 1);
}

void peer_handshake(struct peer *peer)
{
    peer_register(peer);
    call(peer, "Synchronize", "", 0);
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

void peer_wait(struct peer *peer, int *status, struct rusage *usage)
{
    close(peer->fd);
    if (wait4(peer->child, status, 0, usage) != peer->child)
        die("wait4");
}

void peer_finish(struct peer *peer)
{
    int status;
    struct rusage usage;
    peer_wait(peer, &status, &usage);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        die("the plugin failed");
}

long process_memory(pid_t pid, const char *name)
{
    char path[64], line[256];
    const size_t length = strlen(name);
    long kb = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        die(path);
    while (kb < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, length) == 0 && line[length] == ':')
            kb = strtol(line + length + 1, NULL, 10);
    fclose(file);
    if (kb < 0)
        die(name);
    return kb;
}
