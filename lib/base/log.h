/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log sink of a handle, with a rate limit: a token bucket a level, so that a hostile peer
 * cannot flood a log.
 */
#ifndef NRI_BASE_LOG_H
#define NRI_BASE_LOG_H

#include <stdatomic.h>

#include <nri/log.h>

struct nri_log_record {
    enum nri_log_level level;
    const char *text;
    const char *event, *pod, *container, *plugin; /* never NULL */
    uint64_t suppressed;
};

#define NRI_LOG_BURST      64 /* records of one level in a burst */
#define NRI_LOG_PER_SECOND 16 /* and then each second; DEBUG is not limited */

struct nri_log {
    nri_log_fn fn; /* NULL: silent */
    void *user;
    enum nri_log_level level;
    const char *plugin; /* "NN-name"; lives as long as the log */
    /* Atomic: requests may be completed on several threads, and each may log. */
    struct {
        _Atomic uint64_t spent; /* in ns: the time up to which tokens are spent */
        _Atomic uint64_t suppressed;
    } rate[NRI_LOG_DEBUG + 1];
};

/* What a record is about; NULL members count as "". */
struct nri_log_about {
    const char *event, *pod, *container;
    const char *plugin; /* where it is not the log's own */
};

void nri_log_init(struct nri_log *log, nri_log_fn fn, void *user, int level);
/* From any thread. `now` in ns on the monotonic clock. `about` may be NULL. Text over 1023 bytes is
 * cut at a UTF-8 boundary. */
void nri_log_write(struct nri_log *log, uint64_t now, enum nri_log_level level,
                   const struct nri_log_about *about, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Whether a record of this level would be made: to spare the work of formatting. */
static inline bool nri_log_wants(const struct nri_log *log, enum nri_log_level level)
{
    return log->fn != NULL && level <= log->level;
}

#endif
