/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_sync PROGRAM [ARG...]: the Synchronize of a node with 1000 pods and 5000 containers for one
 * plugin: the time from the first byte to the last reply, and the plugin's peak of memory.
 *
 * Results are lines "name value".
 */
#include <stdio.h>

#include "bench_node.h"

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
    static struct node node;
    struct peer peer = {0};
    struct rusage usage;
    int status;
    if (argc < 2) {
        fputs("usage: bench_sync PROGRAM [ARG...]\n", stderr);
        return 2;
    }
    node_build(&node);
    peer_spawn(&peer, argv + 1);
    peer_register(&peer);
    const long before = process_memory(peer.child, "VmRSS");
    const uint64_t start = now_ns();
    for (size_t i = 0; i < node.count; i++)
        peer_call(&peer, &node.parts[i]);
    const uint64_t taken = now_ns() - start;
    printf("parts %zu\nbytes %zu\ntaken_ns %llu\nbefore_kb %ld\npeak_kb %ld\nafter_kb %ld\n",
           node.count, node.bytes, (unsigned long long)taken, before,
           process_memory(peer.child, "VmHWM"), process_memory(peer.child, "VmRSS"));
    /* A plugin with the Go stub calls the end of its connection a failure. */
    peer_wait(&peer, &status, &usage);
    printf("cpu_ns %.0f\n", (seconds(usage.ru_utime) + seconds(usage.ru_stime)) * 1e9);
    return 0;
}
