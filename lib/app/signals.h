/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals, on the loop: SIGTERM and SIGINT end, SIGHUP reloads, SIGUSR2 switches the bypass.
 */
#ifndef NRI_APP_SIGNALS_H
#define NRI_APP_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#define APP_SIGNALS 4

struct app_signals {
    uv_signal_t handles[APP_SIGNALS];
    unsigned open; /* how many of them */
    void (*received)(void *user, int number);
    void *user;
};

/* Until app_signals_open() SIGTERM and SIGINT end the process at once with 0, since there is
 * nothing to finish, and the others do nothing. */
void app_signals_begin(void);
/* From SIGTERM or SIGINT on the process has `ms` to end, whatever the loop does. 0 or an error of
 * libuv. */
int app_signals_open(struct app_signals *signals, uv_loop_t *loop, uint32_t ms,
                     void (*received)(void *user, int number), void *user);
/* They are all ignored from then on: the end has begun, and its status is decided. */
void app_signals_close(struct app_signals *signals);

#endif
