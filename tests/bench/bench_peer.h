/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's end of a benchmark: blocking sockets, messages written as Go writes them. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct peer {
    int fd;
    pid_t child;
    uint32_t stream; /* of the next request */
    uint8_t *create; /* a CreateContainer call as recorded: mux header, ttRPC header, data */
    size_t create_size;
    size_t reply_size; /* of the last reply, headers included */
};

/* Takes the first CreateContainer of a recorded stream (runtime to plugin). Exits with a message
 * when there is none. */
void peer_load(struct peer *peer, const char *recording);
/* Writes the NRI message inside it, without envelope, to a file. */
void peer_save_payload(const struct peer *peer, const char *path);
/* Starts a program with the other end of a socket pair as NRI_PLUGIN_SOCKET. */
void peer_spawn(struct peer *peer, char *const argv[]);
/* The handshake: takes RegisterPlugin, answers it, configures, synchronises. */
void peer_handshake(struct peer *peer);
/* One CreateContainer and its reply. */
void peer_round_trip(struct peer *peer);
/* Closes and waits; exits with a message when the child failed. */
void peer_finish(struct peer *peer);
uint64_t now_ns(void);
void die(const char *what) __attribute__((noreturn));

#endif
