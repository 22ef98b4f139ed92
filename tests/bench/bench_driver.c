/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One of:
 * - bench_driver feed RECORDING N PROGRAM [ARG...]: handshake and N CreateContainer calls; for
 * callgrind and memcheck
 * - bench_driver payload RECORDING FILE: writes the CreateContainerRequest alone
 * - bench_driver trip RECORDING PLUGIN PLAIN: round trips of two plugins against a bare socket, in
 * turn, pinned to one CPU; memory
 * - bench_driver start RECORDING PLUGIN FLOOR: start to the first byte on the socket
 *
 * Results are lines "name value".
 */
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_peer.h"

#define ROUNDS 21
#define TRIPS  2000

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

/* The floor: a process that reads a request's bytes and writes a reply's, and nothing else. */
static int bare_peer(pid_t *child, size_t request, size_t reply)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        die("socketpair");
    *child = fork();
    if (*child == 0) {
        static char room[1 << 16];
        close(pair[0]);
        for (;;) {
            for (size_t have = 0; have < request;) {
                ssize_t n = read(pair[1], room, request - have);
                if (n <= 0)
                    _exit(0);
                have += (size_t)n;
            }
            if (write(pair[1], room, reply) != (ssize_t)reply)
                _exit(0);
        }
    }
    close(pair[1]);
    return pair[0];
}

static void bare_trip(int fd, const uint8_t *request, size_t size, size_t reply)
{
    static char room[1 << 16];
    if (write(fd, request, size) != (ssize_t)size)
        die("bare write");
    /* As the plugin's driver does: the header, then the rest. */
    for (size_t have = 0, want = 8; have < reply; want = reply - have) {
        ssize_t n = read(fd, room, want);
        if (n <= 0)
            die("bare read");
        have += (size_t)n;
    }
}

static void print_memory(const char *prefix, pid_t pid)
{
    printf("%srss_kb %ld\n", prefix, process_memory(pid, "VmRSS"));
    printf("%srss_anonymous_kb %ld\n", prefix, process_memory(pid, "RssAnon"));
}

static void start_peer(struct peer *peer, const char *recording, char *program)
{
    char *argv[] = {program, NULL};
    peer_load(peer, recording);
    peer_spawn(peer, argv);
    peer_handshake(peer);
    for (int i = 0; i < TRIPS; i++)
        peer_round_trip(peer);
}

static double trips(struct peer *peer)
{
    const uint64_t start = now_ns();
    for (int i = 0; i < TRIPS; i++)
        peer_round_trip(peer);
    return (double)(now_ns() - start) / TRIPS;
}

static double bare_trips(int fd, const struct peer *peer)
{
    const uint64_t start = now_ns();
    for (int i = 0; i < TRIPS; i++)
        bare_trip(fd, peer->create, peer->create_size, peer->reply_size);
    return (double)(now_ns() - start) / TRIPS;
}

static void pin(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((unsigned)sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) /* children inherit it */
        die("sched_setaffinity");
}

static void trip(const char *recording, char *plugin, char *plain)
{
    static double bare[ROUNDS], full[ROUNDS], bases[ROUNDS], ratio[ROUNDS], plain_ratio[ROUNDS];
    struct peer peer, base;
    pid_t floor_pid;
    pin();
    start_peer(&peer, recording, plugin);
    start_peer(&base, recording, plain);
    int fd = bare_peer(&floor_pid, peer.create_size, peer.reply_size);
    for (int round = 0; round < ROUNDS; round++) {
        bare[round] = bare_trips(fd, &peer);
        full[round] = trips(&peer);
        bases[round] = trips(&base);
        ratio[round] = full[round] / bare[round];
        plain_ratio[round] = bases[round] / bare[round];
    }
    printf("request_bytes %zu\nreply_bytes %zu\n", peer.create_size, peer.reply_size);
    printf("bare_ns %.0f\nplugin_ns %.0f\nplain_ns %.0f\n", median(bare, ROUNDS),
           median(full, ROUNDS), median(bases, ROUNDS));
    printf("ratio %.3f\nplain_ratio %.3f\n", median(ratio, ROUNDS), median(plain_ratio, ROUNDS));
    print_memory("", peer.child);
    print_memory("plain_", base.child);
    close(fd);
    waitpid(floor_pid, NULL, 0);
    peer_finish(&peer);
    peer_finish(&base);
}

/* The memory of the last floor is the least that a process takes. */
static double start_of(char *program, bool last)
{
    char *argv[] = {program, NULL};
    struct peer peer = {0};
    char byte;
    uint64_t start = now_ns();
    peer_spawn(&peer, argv);
    if (read(peer.fd, &byte, 1) != 1)
        die(program);
    double taken = (double)(now_ns() - start);
    if (last)
        print_memory("start_floor_", peer.child);
    kill(peer.child, SIGKILL);
    close(peer.fd);
    waitpid(peer.child, NULL, 0);
    return taken;
}

static void start(char *plugin, char *floor_program)
{
    static double ratios[ROUNDS], plugins[ROUNDS], floors[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        floors[i] = start_of(floor_program, i == ROUNDS - 1);
        plugins[i] = start_of(plugin, false);
        ratios[i] = plugins[i] / floors[i];
    }
    printf("start_floor_ns %.0f\nstart_ns %.0f\nstart_ratio %.3f\n", median(floors, ROUNDS),
           median(plugins, ROUNDS), median(ratios, ROUNDS));
}

static void feed(const char *recording, long count, char **argv)
{
    struct peer peer;
    peer_load(&peer, recording);
    peer_spawn(&peer, argv);
    peer_handshake(&peer);
    for (long i = 0; i < count; i++)
        peer_round_trip(&peer);
    peer_finish(&peer);
}

int main(int argc, char **argv)
{
    struct peer peer;
    if (argc >= 5 && strcmp(argv[1], "feed") == 0) {
        feed(argv[2], strtol(argv[3], NULL, 10), argv + 4);
    } else if (argc == 4 && strcmp(argv[1], "payload") == 0) {
        peer_load(&peer, argv[2]);
        peer_save_payload(&peer, argv[3]);
    } else if (argc == 5 && strcmp(argv[1], "trip") == 0) {
        trip(argv[2], argv[3], argv[4]);
    } else if (argc == 5 && strcmp(argv[1], "start") == 0) {
        start(argv[3], argv[4]);
    } else {
        fputs("usage: see the top of bench_driver.c\n", stderr);
        return 2;
    }
    return 0;
}
