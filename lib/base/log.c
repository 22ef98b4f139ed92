/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/host.h"
#include "base/text.h"

#define TEXT_SIZE 1024
#define INTERVAL  (NRI_SEC / NRI_LOG_PER_SECOND)

void nri_log_init(struct nri_log *log, nri_log_fn fn, void *user, int level)
{
    if (level <= NRI_LOG_DEFAULT)
        level = NRI_LOG_INFO;
    if (level > NRI_LOG_DEBUG)
        level = NRI_LOG_DEBUG;
    log->fn = fn;
    log->user = user;
    log->level = (enum nri_log_level)level;
    log->plugin = NULL;
    for (int i = 0; i <= NRI_LOG_DEBUG; i++) {
        atomic_init(&log->rate[i].spent, 0);
        atomic_init(&log->rate[i].suppressed, 0);
    }
}

/*
 * The token bucket as one number, the time up to which tokens are spent: each record moves it one
 * interval on, and it may be a burst ahead of the clock. One compare-and-swap, so that threads need
 * no lock around a user's sink. Relaxed: nothing else is published by it.
 */
static bool take_token(_Atomic uint64_t *spent, uint64_t now)
{
    uint64_t old = atomic_load_explicit(spent, memory_order_relaxed);
    uint64_t base;
    do {
        base = old > now ? old : now;
        if (base - now > (NRI_LOG_BURST - 1) * INTERVAL)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(spent, &old, base + INTERVAL,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

static const char *or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

void nri_log_write(struct nri_log *log, uint64_t now, enum nri_log_level level,
                   const struct nri_log_about *about, const char *format, ...)
{
    if (!nri_log_wants(log, level) || level <= NRI_LOG_DEFAULT)
        return;
    if (level != NRI_LOG_DEBUG && !take_token(&log->rate[level].spent, now)) {
        atomic_fetch_add_explicit(&log->rate[level].suppressed, 1, memory_order_relaxed);
        return;
    }
    char text[TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    int wanted = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t length = wanted < 0 ? 0 : (size_t)wanted;
    if (length >= sizeof text)
        length = nri_utf8_cut(text, sizeof text - 1);
    text[length] = '\0';
    nri_text_make_line(text, length);
    struct nri_log_record record = {
        .level = level,
        .text = text,
        .event = or_empty(about == NULL ? NULL : about->event),
        .pod = or_empty(about == NULL ? NULL : about->pod),
        .container = or_empty(about == NULL ? NULL : about->container),
        .plugin = or_empty(about != NULL && about->plugin != NULL ? about->plugin : log->plugin),
        .suppressed =
            atomic_exchange_explicit(&log->rate[level].suppressed, 0, memory_order_relaxed),
    };
    log->fn(log->user, &record);
}

enum nri_log_level nri_log_record_level(const nri_log_record *record)
{
    return record == NULL ? NRI_LOG_DEFAULT : record->level;
}

const char *nri_log_record_text(const nri_log_record *record)
{
    return record == NULL ? "" : record->text;
}

const char *nri_log_record_event(const nri_log_record *record)
{
    return record == NULL ? "" : record->event;
}

const char *nri_log_record_pod(const nri_log_record *record)
{
    return record == NULL ? "" : record->pod;
}

const char *nri_log_record_container(const nri_log_record *record)
{
    return record == NULL ? "" : record->container;
}

const char *nri_log_record_plugin(const nri_log_record *record)
{
    return record == NULL ? "" : record->plugin;
}

uint64_t nri_log_record_suppressed(const nri_log_record *record)
{
    return record == NULL ? 0 : record->suppressed;
}

const char *nri_log_level_name(enum nri_log_level level)
{
    switch (level) {
    case NRI_LOG_ERROR:
        return "error";
    case NRI_LOG_WARN:
        return "warn";
    case NRI_LOG_DEBUG:
        return "debug";
    case NRI_LOG_DEFAULT:
    case NRI_LOG_INFO:
        return "info";
    }
    return "?";
}
