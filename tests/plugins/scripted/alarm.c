/* SPDX-License-Identifier: Apache-2.0 */
#include "alarm.h"

#include <time.h>

#include "report.h"

int alarms_init(struct alarms *alarms)
{
    pthread_condattr_t attributes;
    *alarms = (struct alarms){0};
    int rc = pthread_condattr_init(&attributes);
    if (rc != 0)
        return rc;
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    rc = pthread_cond_init(&alarms->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    if (rc == 0)
        (void)pthread_mutex_init(&alarms->lock, NULL);
    return rc;
}

static bool is_due(const struct alarms *alarms)
{
    return alarms->first != NULL && (alarms->ending || alarms->first->at <= report_now());
}

static void wait_for_change(struct alarms *alarms)
{
    if (alarms->first == NULL) {
        (void)pthread_cond_wait(&alarms->changed, &alarms->lock);
        return;
    }
    const struct timespec until = {.tv_sec = (time_t)(alarms->first->at / 1000000000),
                                   .tv_nsec = (long)(alarms->first->at % 1000000000)};
    (void)pthread_cond_timedwait(&alarms->changed, &alarms->lock, &until);
}

static void *ring(void *arg)
{
    struct alarms *alarms = arg;
    (void)pthread_mutex_lock(&alarms->lock);
    while (!alarms->ending || alarms->first != NULL) {
        if (!is_due(alarms)) {
            wait_for_change(alarms);
            continue;
        }
        struct alarm *due = alarms->first;
        alarms->first = due->next;
        (void)pthread_mutex_unlock(&alarms->lock);
        due->fn(due);
        (void)pthread_mutex_lock(&alarms->lock);
    }
    (void)pthread_mutex_unlock(&alarms->lock);
    return NULL;
}

/* In the order of their times; those of the same time as they were set. */
static void insert(struct alarms *alarms, struct alarm *alarm)
{
    struct alarm **place = &alarms->first;
    while (*place != NULL && (*place)->at <= alarm->at)
        place = &(*place)->next;
    alarm->next = *place;
    *place = alarm;
}

int alarms_set(struct alarms *alarms, struct alarm *alarm, uint64_t delay_ms)
{
    int rc = 0;
    (void)pthread_mutex_lock(&alarms->lock);
    if (!alarms->started) {
        rc = pthread_create(&alarms->thread, NULL, ring, alarms);
        alarms->started = rc == 0;
    }
    if (rc == 0) {
        alarm->at = report_now() + delay_ms * 1000000;
        insert(alarms, alarm);
        (void)pthread_cond_signal(&alarms->changed);
    }
    (void)pthread_mutex_unlock(&alarms->lock);
    return rc;
}

void alarms_fini(struct alarms *alarms)
{
    (void)pthread_mutex_lock(&alarms->lock);
    alarms->ending = true;
    (void)pthread_cond_signal(&alarms->changed);
    (void)pthread_mutex_unlock(&alarms->lock);
    if (alarms->started)
        (void)pthread_join(alarms->thread, NULL);
    (void)pthread_mutex_destroy(&alarms->lock);
    (void)pthread_cond_destroy(&alarms->changed);
}
