/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the metrics of a plugin that has been through something: events of most kinds, answered,
 * refused, late and passed by; a runtime whose name must be escaped, and whose version must be cut.
 * In the user's locale, as a program may have it. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake_runtime.h"
#include "plugin/openmetrics.h"

static uint64_t *clock_of_test;
static nri_request *held[8];
static size_t held_count;

#define LONG_VERSION 200 /* characters of three bytes, behind one of one */
#define EURO         "\xe2\x82\xac"
static char version[1 + LONG_VERSION * 3 + 1] = "v";

/* CreateContainer takes 3 ms, UpdateContainer is refused, StopContainer stays pending. */
static int handle(nri_request *request, void *user)
{
    (void)user;
    switch (nri_request_event(request)) {
    case NRI_EVENT_CREATE_CONTAINER:
        *clock_of_test += 3 * NRI_MSEC;
        return 0;
    case NRI_EVENT_UPDATE_CONTAINER:
        return NRI_E_REJECTED;
    case NRI_EVENT_STOP_CONTAINER:
        held[held_count++] = request;
        return NRI_PENDING;
    default:
        return 0;
    }
}

int main(void)
{
    struct fake_runtime fr;
    struct nri_buf out;
    (void)setlocale(LC_ALL, "");
    for (size_t i = 0; i < LONG_VERSION; i++)
        (void)snprintf(version + 1 + 3 * i, sizeof version - 1 - 3 * i, "%s", EURO);
    fake_runtime_init(&fr, NULL);
    fr.version = version;
    clock_of_test = &fr.now;
    fr.config.deadlines = (struct nri_deadline_settings){
        .guard = true, .margin_percent = 10, .margin = 1, .slow_percent = 50};
    fr.name = "run\"time\\with\nall";
    nri_plugin_ops_init(&fr.ops, sizeof fr.ops);
    fr.ops.on_create_container = fr.ops.on_update_container = fr.ops.on_stop_container = handle;
    fake_runtime_start(&fr);
    for (int i = 0; i < 5; i++)
        (void)fake_runtime_event(&fr, NRI_EVENT_CREATE_CONTAINER);
    (void)fake_runtime_event(&fr, NRI_EVENT_UPDATE_CONTAINER);
    (void)fake_runtime_event(&fr, NRI_EVENT_STOP_CONTAINER);
    for (int i = 0; i < 190; i++) /* in steps, so that the runtime's side waits */
        fake_runtime_advance(&fr, 10 * NRI_MSEC);
    fr.call_timeout = 0;
    (void)fake_runtime_sync(&fr, 0, 2, 0, 3, false);
    (void)fake_runtime_event(&fr, NRI_EVENT_STOP_CONTAINER);
    const struct nri_openmetrics_place place = {nri_core_state(fr.core), false};
    nri_buf_init(&out, &fr.config.alloc, SIZE_MAX);
    if (nri_openmetrics_write(fr.core, &place, &out) != 0)
        return EXIT_FAILURE;
    (void)fwrite(out.data + out.start, 1, nri_buf_size(&out), stdout);
    nri_buf_fini(&out);
    for (size_t i = 0; i < held_count; i++) {
        (void)nri_request_complete(held[i], 0);
        (void)nri_request_unref(held[i]);
    }
    fake_runtime_fini(&fr);
    return EXIT_SUCCESS;
}
