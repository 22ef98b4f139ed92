/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.*: the orders in which the handshake arrives from real runtimes.
 */
#include "check_group.h"
#include "check_step.h"

static void configure_first(struct run *run, int argument)
{
    struct step_registration registration;
    (void)argument;
    (void)(step_start(run) && step_registration(run, &registration) && step_configure(run) &&
           peer_answer(run, registration.stream, 0, "") && step_synchronize(run) &&
           step_alive(run));
}

static void synchronize_first(struct run *run, int argument)
{
    struct step_registration registration;
    (void)argument;
    (void)(step_start(run) && step_registration(run, &registration) && step_configure(run) &&
           step_synchronize(run) && peer_answer(run, registration.stream, 0, "") &&
           step_alive(run));
}

static void no_synchronize(struct run *run, int argument)
{
    struct step_registration registration;
    (void)argument;
    (void)(step_start(run) && step_registration(run, &registration) &&
           peer_answer(run, registration.stream, 0, "") && step_configure(run) && step_life(run));
}

/* The reply to RegisterPlugin and Configure are on two connections of the mux: nothing orders
 * them. */
static const struct check checks[] = {
    {.id = "order.configure",
     .title = "configure it before RegisterPlugin is answered",
     .expected = "Configure is answered while that call is pending",
     .why = "2 of 150 connections to containerd 2.1.9 come so: who waits for the reply first "
            "waits for ever (nri #78)",
     .run = configure_first},
    {.id = "order.synchronize",
     .title = "configure and synchronise it before RegisterPlugin is answered",
     .expected = "both are answered while that call is pending",
     .why = "the reply travels on another connection of the mux; nothing orders the two",
     .severity = CHECK_SHOULD,
     .run = synchronize_first},
    {.id = "order.no-synchronize",
     .title = "send events without a Synchronize",
     .expected = "they are answered",
     .why = "containerd 1.7.24 never synchronises plugins that it launched (nri #43)",
     .run = no_synchronize},
};
const struct check_group check_order = CHECK_GROUP("order", checks);
