/* SPDX-License-Identifier: Apache-2.0 */
#include "signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "last_resort.h"

static const int numbers[APP_SIGNALS] = {SIGTERM, SIGINT, SIGHUP, SIGUSR2};
#define ENDING 2 /* the first two of them */

static void ignore(int number)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
}

/* libuv's own handler, behind ours. */
static void (*_Atomic behind)(int number);
static atomic_uint time_to_end;

/* Runs at once, also when the loop is stuck: libuv's handler only writes into a pipe that the loop
 * would have to read. */
static void on_ending_signal(int number)
{
    app_last_resort_arm(atomic_load(&time_to_end), 0);
    void (*next)(int) = atomic_load(&behind);
    if (next != NULL)
        next(number);
}

static void put_before(int number)
{
    struct sigaction action;
    if (sigaction(number, NULL, &action) != 0 || (action.sa_flags & SA_SIGINFO) != 0)
        return;
    atomic_store(&behind, action.sa_handler);
    action.sa_handler = on_ending_signal;
    (void)sigaction(number, &action, NULL);
}

/* A parent may have left them blocked: then none would ever come, SIGTERM neither. */
static void unblock(void)
{
    sigset_t all;
    (void)sigemptyset(&all);
    for (unsigned i = 0; i < APP_SIGNALS; i++)
        (void)sigaddset(&all, numbers[i]);
    (void)pthread_sigmask(SIG_UNBLOCK, &all, NULL);
}

static void do_nothing(int number)
{
    (void)number;
}

static void end_at_once(int number)
{
    (void)number;
    _exit(0);
}

void app_signals_begin(void)
{
    struct sigaction action = {.sa_handler = end_at_once};
    (void)sigemptyset(&action.sa_mask);
    for (unsigned i = 0; i < ENDING; i++)
        (void)sigaction(numbers[i], &action, NULL);
    /* What is asked for before there is anything to ask must not end the process. Not ignored,
     * which a program that on_prepare starts would inherit. */
    action.sa_handler = do_nothing;
    action.sa_flags = SA_RESTART;
    for (unsigned i = ENDING; i < APP_SIGNALS; i++)
        (void)sigaction(numbers[i], &action, NULL);
    unblock();
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct app_signals *signals = handle->data;
    signals->received(signals->user, number);
}

int app_signals_open(struct app_signals *signals, uv_loop_t *loop, uint32_t ms,
                     void (*received)(void *user, int number), void *user)
{
    *signals = (struct app_signals){.received = received, .user = user};
    atomic_store(&time_to_end, ms);
    for (unsigned i = 0; i < APP_SIGNALS; i++) {
        int status = uv_signal_init(loop, &signals->handles[i]);
        if (status != 0)
            return status;
        signals->handles[i].data = signals;
        signals->open++;
        status = uv_signal_start(&signals->handles[i], on_signal, numbers[i]);
        if (status != 0)
            return status;
        if (i < ENDING)
            put_before(numbers[i]);
    }
    return 0;
}

void app_signals_close(struct app_signals *signals)
{
    /* libuv sets the default back, which would end the process in between: hence blocked first. */
    sigset_t all;
    (void)sigemptyset(&all);
    for (unsigned i = 0; i < APP_SIGNALS; i++)
        (void)sigaddset(&all, numbers[i]);
    (void)pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (unsigned i = 0; i < signals->open; i++) {
        (void)uv_signal_stop(&signals->handles[i]);
        uv_close((uv_handle_t *)&signals->handles[i], NULL);
    }
    signals->open = 0;
    for (unsigned i = 0; i < APP_SIGNALS; i++)
        ignore(numbers[i]);
}
