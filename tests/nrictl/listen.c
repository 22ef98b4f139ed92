/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen SOCKET: a runtime that listens there until its standard input ends. Prints "ready", and at
 * the end how many plugins it ever synchronised, which is how many asked for pods and containers.
 */
#include <nri/nri.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

struct node {
    unsigned synchronised;
    bool done;
};

static int enumerate(nri_runtime *runtime, nri_enumeration *list, void *user)
{
    struct node *node = user;
    (void)runtime;
    (void)list;
    node->synchronised++;
    return 0;
}

static void ready(nri_runtime *runtime, void *user)
{
    (void)runtime;
    (void)user;
    (void)puts("ready");
    (void)fflush(stdout);
}

static void turn(nri_runtime *runtime)
{
    struct pollfd fds[] = {{.fd = nri_runtime_fd(runtime), .events = POLLIN},
                           {.fd = STDIN_FILENO, .events = POLLIN}};
    (void)poll(fds, 2, nri_runtime_timeout(runtime));
    (void)nri_runtime_dispatch(runtime);
    if (fds[1].revents != 0)
        nri_runtime_stop(runtime);
}

static void ended(nri_runtime *runtime, int code, void *user)
{
    (void)runtime;
    (void)code;
    ((struct node *)user)->done = true;
}

int main(int argc, char **argv)
{
    struct node node = {0, false};
    struct nri_runtime_ops ops;
    struct nri_runtime_options options;
    nri_runtime *runtime;
    if (argc != 2)
        return 2;
    nri_runtime_ops_init(&ops, sizeof ops);
    ops.ready = ready;
    ops.enumerate = enumerate;
    nri_runtime_options_init(&options, sizeof options);
    options.name = "containerd";
    options.version = "2.3.0";
    options.socket_path = argv[1];
    options.no_launch = 1;
    if (nri_runtime_new(&runtime, &ops, &options, &node, NULL) != 0 ||
        nri_runtime_start(runtime, NULL, ended, &node) != 0)
        return 1;
    while (!node.done)
        turn(runtime);
    nri_runtime_close(runtime, NULL, NULL);
    (void)printf("%u synchronised\n", node.synchronised);
    return 0;
}
