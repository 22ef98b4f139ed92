/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One GET of an HTTP endpoint on a loop. Its address has the form that nri-app's --http takes:
 * HOST:PORT, [IPV6]:PORT, :PORT (this machine), unix:PATH.
 */
#ifndef NRICTL_SCRAPE_H
#define NRICTL_SCRAPE_H

#include <uv.h>

#include <stdbool.h>

#include "response.h"

struct scrape;

/* Called once: `text` is the body of a 200, or NULL, and then `why` says why, a phrase without the
 * address. Both live during the call. */
typedef void (*scrape_done)(void *user, const char *text, size_t length, const char *why);

/* Whether an address can be one. */
bool scrape_check(const char *address);
/* `address` must live until `done`; NULL: no memory, and it is not called. */
struct scrape *scrape_start(uv_loop_t *loop, const char *address, const char *path,
                            uint64_t timeout_ms, scrape_done done, void *user);
/* Before `done`: it is not called any more. The loop has to run on for a few turns. */
void scrape_cancel(struct scrape *scrape);

#endif
