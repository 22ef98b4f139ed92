/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When to connect again: the policy, without a clock or a socket. The driver tells it how each
 * attempt ended and is told how long to wait.
 *
 * Happy path: nri_reconnect_begin() with a run -> an attempt fails, or a connection ends ->
 * nri_reconnect_next() gives the delay: drawn between half and the whole of a base that doubles
 * with each call, up to a limit, and begins anew after a connection that was READY for long enough.
 * Failure modes, each of which ends the run with the last reason: a reason that another attempt
 * cannot change; as many failures in a row as are allowed; the time to give up.
 */
#ifndef NRI_PLUGIN_RECONNECT_H
#define NRI_PLUGIN_RECONNECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/host.h"

struct nri_reconnect_config {
    uint64_t min, max; /* ns: the first base, and the largest */
    uint64_t reset;    /* ns of READY after which the base begins anew */
    uint64_t give_up;  /* ns without READY; 0: never */
    uint64_t attempts; /* failures in a row; 0: no limit */
};

struct nri_reconnect {
    struct nri_reconnect_config config;
    const struct nri_host *host;
    uint64_t base;   /* of the next delay */
    uint64_t since;  /* since when nothing was READY */
    uint64_t failed; /* attempts in a row that were never READY */
};

void nri_reconnect_begin(struct nri_reconnect *reconnect, const struct nri_reconnect_config *config,
                         const struct nri_host *host, uint64_t now);
/*
 * An attempt, or the connection it made, ended for *why at `now`; it had been READY since
 * `ready_since`, 0 for never. Returns the delay until the next attempt in ns, or NRI_NEVER when
 * there is none: then why->text says so, if that is not the reason's own doing.
 */
uint64_t nri_reconnect_next(struct nri_reconnect *reconnect, uint64_t ready_since, uint64_t now,
                            struct nri_error *why);

#endif
