/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps that checks are made of: what a runtime does with a plugin, one thing after another.
 *
 * Each returns false when it has failed, and has said so then (run_fail()); so that steps are put
 * one behind the other with &&.
 */
#ifndef NRICTL_CHECK_STEP_H
#define NRICTL_CHECK_STEP_H

#include "check.h"
#include "message.h"

enum step_after { STEP_STAYS, STEP_ENDED, STEP_BACK };

#define STEP_UNIMPLEMENTED    12
#define STEP_INVALID_ARGUMENT 3

struct step_registration {
    char name[128], index[16], version[64];
    uint32_t stream;
};

/* ---- the handshake ---- */

/* Starts the plugin in the form that all checks use: external where its command line has a
 * {socket}, else launched; and takes its connection. */
bool step_start(struct run *run);
bool step_start_as(struct run *run, enum subject_form form);
/* Waits for a connection; once more after the first one. */
bool step_accept(struct run *run);
bool step_registration(struct run *run, struct step_registration *registration);
bool step_configure(struct run *run);
/* Sends Configure; its reply is awaited by step_configured(). */
bool step_send_configure(struct run *run, uint32_t *stream);
bool step_configured(struct run *run, uint32_t stream);
/* So many pod sandboxes and containers, numbered from `first`. */
bool step_send_synchronize(struct run *run, unsigned first, unsigned pods, unsigned containers,
                           bool more, uint32_t *stream);
bool step_synchronized(struct run *run, uint32_t stream, bool more);
bool step_synchronize(struct run *run);
/* RegisterPlugin is awaited and answered, Configure, Synchronize. */
bool step_handshake(struct run *run);
/* step_start() and step_handshake(). */
bool step_join(struct run *run);

/* ---- events ---- */

/* As a runtime of run->release tells it: by a call of its own, or by StateChange. */
bool step_send_event(struct run *run, unsigned event, uint32_t *stream);
bool step_event(struct run *run, unsigned event);
/* The other way to tell it, whatever the release. */
bool step_state_change(struct run *run, unsigned event);
/* The reply is OK, or the refusal that this plugin gave before. `event` 0 has none. */
bool step_answered(struct run *run, const struct peer_reply *reply, const char *method,
                   unsigned event);
bool step_replied(struct run *run, uint32_t stream, const char *method, unsigned event);
/* All that the release has and the plugin wants, from the pod sandbox's run to its removal. */
bool step_life(struct run *run);
/* It still answers: an event that it wants. */
bool step_alive(struct run *run);
bool step_wants(const struct run *run, unsigned event);
/* An event that the plugin wants, best CreateContainer. */
unsigned step_any_event(const struct run *run);

/* ---- the end ---- */

/* One more event where nothing is awaited: what the plugin still sends on account of those before,
 * such as a reply that comes twice, comes in front of its reply. */
void step_fence(struct run *run);
/* The runtime closes; the plugin has to end, or to come back where it can. *back: it came. */
bool step_closed(struct run *run, bool *back);
/* The same with no failure for a plugin that just stays. */
enum step_after step_after_close(struct run *run);

#endif
