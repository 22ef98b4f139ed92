/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session as a timeline: a process for each connection, in it a row for what the plugin is asked
 * and one for what it asks the runtime; each request is a slice from its last byte to the last byte
 * of its answer. Arrows lead from one plugin that was asked about an event to the next.
 */
#ifndef NRICTL_TRACE_SESSION_H
#define NRICTL_TRACE_SESSION_H

#include "payload.h"
#include "session.h"
#include "trace.h"

struct trace_session;

/* NULL: no memory. It writes to `trace`, which outlives it. */
struct trace_session *trace_session_new(struct trace *trace);
/* What waits for an answer gets none; frees. NULL is ignored. */
void trace_session_free(struct trace_session *session);

/* NULL for `session` is ignored by all of these. `plugin`: who is at the connection, "" until that
 * is known. */
void trace_session_opened(struct trace_session *session, const struct session_connection *about);
/* A message with its payload. */
void trace_session_message(struct trace_session *session, const struct session_message *message,
                           const struct payload *payload, const char *plugin);
void trace_session_ended(struct trace_session *session, const struct session_connection *about);
void trace_session_garbage(struct trace_session *session, const struct session_garbage *garbage);
bool trace_session_failed(const struct trace_session *session); /* no memory */

#endif
