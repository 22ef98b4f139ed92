/* SPDX-License-Identifier: Apache-2.0 */
/* The pods and containers of a large node, as a runtime tells them in Synchronize. */
#ifndef BENCH_NODE_H
#define BENCH_NODE_H

#include "bench_peer.h"

#define NODE_PODS       1000u
#define NODE_CONTAINERS 5u     /* of each pod */
#define NODE_SIZE       10240u /* of each container, encoded */
#define NODE_PARTS      64u

struct node {
    struct frame parts[NODE_PARTS]; /* Synchronize calls, each below 4 MiB, ttRPC's limit */
    size_t count, bytes;
};

/* Exits with a message when it cannot. */
void node_build(struct node *node);

#endif
