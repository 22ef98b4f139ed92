/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/reconnect.h"

#include <stdio.h>

#include <nri/error.h>

void nri_reconnect_begin(struct nri_reconnect *reconnect, const struct nri_reconnect_config *config,
                         const struct nri_host *host, uint64_t now)
{
    *reconnect =
        (struct nri_reconnect){.config = *config, .host = host, .base = config->min, .since = now};
}

/* Another attempt would end the same way: what is wrong is the plugin's. */
static bool is_final(int code)
{
    return code == 0 || code == NRI_E_INVALID || code == NRI_E_ABI || code == NRI_E_PATH_TOO_LONG;
}

/* Plugins that lost the same runtime at the same time must not come back in step. Without random
 * numbers they do; that is no reason not to come back. */
static uint64_t draw(const struct nri_reconnect *reconnect)
{
    const uint64_t base = reconnect->base, half = base / 2;
    uint64_t random = 0;

    if (reconnect->host->random(reconnect->host->context, &random, sizeof random) != 0)
        return base;
    return base - half + random % (half + 1);
}

static void lengthen(struct nri_reconnect *reconnect)
{
    const uint64_t max = reconnect->config.max;

    reconnect->base = reconnect->base > max / 2 ? max : 2 * reconnect->base;
}

static void note_end(struct nri_reconnect *reconnect, uint64_t ready_since, uint64_t now)
{
    if (ready_since == 0) {
        reconnect->failed++;
        return;
    }
    reconnect->failed = 0;
    reconnect->since = now;
    if (now - ready_since >= reconnect->config.reset)
        reconnect->base = reconnect->config.min;
}

static uint64_t give_up(struct nri_error *why, unsigned long long number, const char *unit)
{
    char text[64];

    (void)snprintf(text, sizeof text, "given up after %llu %s", number, unit);
    /* In front, where a long reason cannot push it out. */
    (void)nri_error_prefix(why, "%s", text);
    return NRI_NEVER;
}

uint64_t nri_reconnect_next(struct nri_reconnect *reconnect, uint64_t ready_since, uint64_t now,
                            struct nri_error *why)
{
    const struct nri_reconnect_config *config = &reconnect->config;

    note_end(reconnect, ready_since, now);
    if (is_final(why->code))
        return NRI_NEVER;
    if (config->attempts != 0 && reconnect->failed >= config->attempts)
        return give_up(why, reconnect->failed,
                       reconnect->failed == 1 ? "attempt" : "attempts in a row");
    const uint64_t tried = now - reconnect->since;
    if (config->give_up != 0 && tried >= config->give_up)
        return give_up(why, config->give_up / NRI_MSEC, "ms of trying");
    uint64_t delay = draw(reconnect);
    lengthen(reconnect);
    /* The last attempt is made when the time is up, not past it. */
    if (config->give_up != 0 && delay > config->give_up - tried)
        delay = config->give_up - tried;
    return delay;
}
