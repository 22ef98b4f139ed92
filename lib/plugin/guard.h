/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deadlines: what the library answers in the plugin's place before a runtime gives up, and what it
 * calls slow.
 */
#ifndef NRI_PLUGIN_GUARD_H
#define NRI_PLUGIN_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include <nri/log.h>

struct nri_core;
struct nri_request;

struct nri_deadline_settings {
    bool guard;
    uint32_t margin_percent; /* of a request's time */
    uint64_t margin;         /* ns, at least */
    uint32_t refused;        /* events that are refused when they are late; others pass */
    uint32_t slow_percent;   /* 0: nothing is slow */
};

/* Sets when a request is answered in the plugin's place; the request is not yet in core->open. */
void nri_guard_arm(struct nri_core *core, struct nri_request *request);
/* Answers one in the plugin's place, if nobody has yet. `why` completes "EVENT (pod, container)".
 */
void nri_guard_answer(struct nri_core *core, struct nri_request *request, enum nri_log_level level,
                      const char *why);
/* Whether the plugin holds so many requests that are over for the runtime that it is to see no
 * more: says so, once while that lasts. */
bool nri_guard_is_full(struct nri_core *core, const struct nri_request *request);
/* Answers what is due. */
void nri_guard_tick(struct nri_core *core);

#endif
