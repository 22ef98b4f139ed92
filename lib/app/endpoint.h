/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a plugin answers over HTTP: /metrics, /healthz, /readyz.
 */
#ifndef NRI_APP_ENDPOINT_H
#define NRI_APP_ENDPOINT_H

#include <nri/app.h>

#include "http.h"
#include "log.h"

/* How long a plugin must have been NRI_PLUGIN_READY to count as ready without a Synchronize: Docker
 * never sends one, and those that do send it at once. */
#define APP_READY_AFTER_MS 5000

/* What it needs to know. All of it is read on the loop's thread. */
struct app_endpoint {
    const struct nri_app_options *options;
    nri_plugin *plugin;
    const struct app_log *log;
    const struct app_http *http;
    bool ending;          /* SIGTERM came */
    bool is_ready;        /* the plugin is NRI_PLUGIN_READY... */
    uint64_t ready_since; /* ...since then, in ms of the loop */
    uint64_t now;         /* in ms of the loop */
    _Atomic uint64_t reloads, refused_reloads;
};

/* An app_http_answer; `user` is the endpoint. */
void app_endpoint_answer(void *user, const char *path, struct app_answer *answer);

#endif
