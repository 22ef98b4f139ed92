/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin that writes down what it is told, and answers as the test says.
 */
#ifndef NRI_TESTS_RECORDER_H
#define NRI_TESTS_RECORDER_H

#include <nri/nri.h>

#define RECORDER_ROOM 512

struct recorder_entry {
    enum nri_event event;
    char pod[64], container[64]; /* ids */
};

struct recorder {
    size_t count;
    struct recorder_entry entries[RECORDER_ROOM]; /* the first ones */
    int result;                       /* of each handler; NRI_PENDING keeps the request */
    nri_request *held[RECORDER_ROOM]; /* with NRI_PENDING */
    size_t held_count;
    /* Called in each handler of NRI's and of Configure, Synchronize, Shutdown; its result counts if
     * this is set. */
    int (*act)(struct recorder *recorder, nri_request *request);
    int reason; /* of the last DISCONNECTED */
    char reason_text[1024];
    void *data; /* of the test */
};

/* The handler of everything, to be put into single members; `user` is the recorder. */
int recorder_handler(nri_request *request, void *user);
/* Sets on_connected and on_disconnected. */
void recorder_own(struct nri_plugin_ops *ops);
/* Sets every handler but on_synchronize_part. */
void recorder_all(struct nri_plugin_ops *ops);
/* How often an event came. */
size_t recorder_seen(const struct recorder *recorder, enum nri_event event);
/* Where an event came first; SIZE_MAX: it did not. */
size_t recorder_place(const struct recorder *recorder, enum nri_event event);

#endif
