/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's end of a benchmark: blocking sockets, messages written as Go writes them. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct peer {
    int fd;
    pid_t child;
    uint32_t stream; /* of the next request */
    uint8_t *create; /* a CreateContainer call as recorded: mux header, ttRPC header, data */
    size_t create_size;
    size_t reply_size; /* of the last reply, headers included */
};

/* A call as it goes out: mux header, ttRPC header, data. */
struct frame {
    uint8_t *bytes; /* malloc() */
    size_t size;
};

/* Takes the first CreateContainer of a recorded stream (runtime to plugin). Exits with a message
 * when there is none. */
void peer_load(struct peer *peer, const char *path);
/* Takes all events of a recorded stream, in order; how many. */
size_t peer_load_events(const char *path, struct frame *frames, size_t room);
/* Writes the NRI message inside it, without envelope, to a file. */
void peer_save_payload(const struct peer *peer, const char *path);
/* Starts a program with the other end of a socket pair as NRI_PLUGIN_SOCKET. */
void peer_spawn(struct peer *peer, char *const argv[]);
/* The first half of the handshake: takes RegisterPlugin, answers it, configures. */
void peer_register(struct peer *peer);
/* All of it, with an empty Synchronize. */
void peer_handshake(struct peer *peer);
/* Makes a call of any size. */
void peer_frame(struct frame *frame, const char *method, const void *payload, size_t size);
/* Makes it, and takes the reply; exits with a message when it is a refusal. */
void peer_call(struct peer *peer, const struct frame *frame);
/* One CreateContainer and its reply. */
void peer_round_trip(struct peer *peer);
/* Closes and waits; exits with a message when the child failed. */
void peer_finish(struct peer *peer);
/* Closes and waits, whatever the child's status. */
void peer_wait(struct peer *peer, int *status, struct rusage *usage);
/* A line of /proc/PID/status in kB: "VmRSS", or "VmHWM", the peak since exec(); ru_maxrss would
 * have that of the parent at fork() in it. */
long process_memory(pid_t pid, const char *name);
uint64_t now_ns(void);
void die(const char *what) __attribute__((noreturn));

#endif
