/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens on a simulated node, as a timeline: each event with the plugins that it went through
 * inside, and a row of its own for each plugin. To be called from the node's watch.
 */
#ifndef NRICTL_TRACE_NODE_H
#define NRICTL_TRACE_NODE_H

#include <nri/nri.h>

#include "trace.h"

struct trace_node;

/* `runtime`: what it is like, for people. NULL: no memory. It writes to `trace`, which outlives it.
 */
struct trace_node *trace_node_new(struct trace *trace, const char *runtime);
void trace_node_free(struct trace_node *node); /* NULL is ignored */

/* NULL for `node` is ignored by all of these. */
void trace_node_ready(struct trace_node *node);
void trace_node_connected(struct trace_node *node, const char *plugin);
/* code 0: the node dropped it. */
void trace_node_lost(struct trace_node *node, const char *plugin, int code, const char *text);
/* An event that ended now, and how long it took. */
void trace_node_outcome(struct trace_node *node, const nri_outcome *outcome, uint64_t nanoseconds);
void trace_node_updated(struct trace_node *node, const char *plugin, const nri_updates *list,
                        const char *const *failed, size_t failed_count, bool sync);
void trace_node_evicted(struct trace_node *node, const char *container, const char *plugin,
                        const char *reason);
void trace_node_child_ended(struct trace_node *node, const char *program, int status);
/* A step of a scenario that ended now; it began at that uv_hrtime(). */
void trace_node_step(struct trace_node *node, const char *title, uint64_t began, int code,
                     const char *text);

#endif
