/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the runtime handle share: a directory with a socket path, a plugin directory
 * and a configuration directory, a runtime whose operations report, libnri plugins beside it on the
 * same loop, and waiting for events, never for time.
 */
#ifndef NRI_TESTS_IO_NODE_H
#define NRI_TESTS_IO_NODE_H

#include <uv.h>

#include <nri/nri.h>

#include "fail_alloc.h"

#define NODE_PATIENCE_MS 60000 /* for what must happen: a slow machine is no failure */
#define NODE_LINES       128

struct node {
    struct fail_alloc heap;
    struct nri_allocator allocator;
    char directory[64];
    char socket[96], plugins[96], config[96];
    int fds; /* open before all this */
    uv_loop_t loop;
    struct nri_runtime_options
        options; /* for node_start(); the paths above, the heap, no colours */
    nri_runtime *runtime;
    /* what the operations told */
    int ready, ended, closed, connected, lost, enumerated, called, audited, posted;
    int end_code, lost_code, call_code;
    char lost_text[512], call_text[512], order[512]; /* order: the ids of connected plugins */
    int updates; /* of plugins' own; the last is `update`, and pending */
    nri_runtime_update *update;
    int early;   /* launched plugins that were connected after the socket was there */
    int64_t pid; /* of the last connected one */
    enum nri_plugin_origin origin;
    char lines[NODE_LINES][256]; /* of the log */
    int line_count;
    int strangers; /* records that begin with "plugin NN-NAME" and are said to be of no such one */
    void (*on_ready)(struct node *node); /* called there, may be NULL */
    void (*on_lost)(struct node *node);
    void (*on_enumerate)(struct node *node);
    int (*on_update)(struct node *node); /* the operation; NULL: node->update is left pending */
};

/* cmocka's setup and teardown. At the end nothing is left: no descriptor, no block of the heap, no
 * child process, no socket. */
int node_setup(void **state);
int node_teardown(void **state);

/* Makes and starts node->runtime on node->loop; fails the test when it is not possible. */
void node_start(struct node *node);
int node_new(struct node *node);   /* only makes it; 0 or a code */
int node_begin(struct node *node); /* nri_runtime_start() with node->loop */
/* Turns the loop until *counter is at least `count`. */
void node_wait(struct node *node, const int *counter, int count);
/* With a statement behind it: that is done before each turn. */
#define node_wait_for(node, condition)                                                             \
    for (uint64_t node_since = node_now_ms(); !(condition);                                        \
         node_turn((node), node_since, #condition))
void node_turn(struct node *node, uint64_t since, const char *what);
void node_stop(struct node *node);  /* and waits for the end */
void node_close(struct node *node); /* and waits for that */
uint64_t node_now_ms(void);
/* Whether a line of the log has the text. */
bool node_logged(const struct node *node, const char *text);

/* Files below the directory. */
void node_write(const char *directory, const char *name, const void *text, size_t size,
                unsigned mode);
void node_write_text(const char *directory, const char *name, const char *text, unsigned mode);
void node_link(const char *directory, const char *name, const char *target);
void node_remove(const char *directory, const char *name);

/* An event of one pod sandbox and one container; tells node->called, call_code and call_text. */
int node_call(struct node *node, enum nri_event event);

/* ---- plugins beside it ---- */

struct guest {
    nri_plugin *plugin;
    int configured, synchronized, created, shut_down, ended, closed;
    int end_code, pods, containers;
    char config[256];
};
void guest_start(struct guest *guest, struct node *node, const char *index, const char *name);
/* On one end of a socketpair; returns the other. */
int guest_start_fd(struct guest *guest, struct node *node, const char *index, const char *name);
void guest_close(struct guest *guest, struct node *node);
struct nri_plugin_ops guest_ops(void);
/* A connected descriptor that says nothing, non-blocking. */
int node_connect(const struct node *node);

#endif
