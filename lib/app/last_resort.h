/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end that nothing can hold up: once armed, the process ends after a time, whatever its threads
 * are doing then. A handler that never returns, an on_stop that blocks, a loop that is stuck: the
 * kernel's timer asks none of them.
 *
 * Its state is the process's, because a signal handler has no other way to reach it.
 */
#ifndef NRI_APP_LAST_RESORT_H
#define NRI_APP_LAST_RESORT_H

#include <stdbool.h>
#include <stdint.h>

/* Makes the timer, which raises SIGALRM. False when the system has none left. */
bool app_last_resort_init(void);
/* In `ms` the process ends with a status, unless armed before. Any thread, and signal handlers. */
void app_last_resort_arm(uint32_t ms, int status);
/* Disarms it for good. */
void app_last_resort_fini(void);

#endif
