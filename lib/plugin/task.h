/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A piece of work for the thread that the plugin's functions run on. It is part of what it is
 * about, so that queueing one cannot fail.
 */
#ifndef NRI_PLUGIN_TASK_H
#define NRI_PLUGIN_TASK_H

struct nri_task {
    struct nri_task *next; /* the queue's */
    void (*run)(struct nri_task *task);
};

#endif
