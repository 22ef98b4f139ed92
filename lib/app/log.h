/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's log on standard error: text for people, JSON lines for collectors. A line is one
 * write, and a reader that does not read costs lines, never a handler its time: what would block is
 * dropped and counted.
 */
#ifndef NRI_APP_LOG_H
#define NRI_APP_LOG_H

#include <pthread.h>
#include <stdatomic.h>

#include <nri/log.h>

struct app_log {
    pthread_mutex_t lock; /* between looking whether a line fits and writing it */
    int fd;
    bool socket; /* fd is one: journald's, mostly */
    bool json;
    bool priority; /* journald reads fd: lines begin with <N> and need no time */
    int32_t level; /* records up to this one are written */
    const char *program;
    uint64_t waiting;      /* lines lost since the last that was written; under the lock */
    _Atomic uint64_t lost; /* altogether */
};

/* What a line says; texts may be NULL. */
struct app_record {
    enum nri_log_level level;
    const char *text, *event, *pod, *container, *plugin;
    uint64_t suppressed;
};

/* On standard error. Texts must outlive the log. */
void app_log_init(struct app_log *log, const char *program, bool json, int32_t level);
void app_log_fini(struct app_log *log);
/* Any thread. */
void app_log_write(struct app_log *log, const struct app_record *record);
void app_log_say(struct app_log *log, enum nri_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* An nri_log_fn; `user` is the log. */
void app_log_sink(void *user, const nri_log_record *record);
/* A level by its name; NRI_LOG_DEFAULT for none. */
enum nri_log_level app_log_level(const char *name);

#endif
