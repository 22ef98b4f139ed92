/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are called later, on one thread of their own. Any thread may set one. */
#ifndef SCRIPTED_ALARM_H
#define SCRIPTED_ALARM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* What is called later: part of the caller's own structure. */
struct alarm {
    struct alarm *next;
    uint64_t at; /* report_now() */
    void (*fn)(struct alarm *alarm);
};

struct alarms {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool started, ending;
    struct alarm *first; /* the earliest */
};

/* 0 or an errno. */
int alarms_init(struct alarms *alarms);
/* Calls what is still there at once, and ends the thread. */
void alarms_fini(struct alarms *alarms);
/* 0 or an errno: there is no thread, and nothing will be called. */
int alarms_set(struct alarms *alarms, struct alarm *alarm, uint64_t delay_ms);

#endif
