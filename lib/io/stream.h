/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver: one connection of a plugin, from connecting to the last handle closed, on a libuv
 * loop.
 */
#ifndef NRI_IO_STREAM_H
#define NRI_IO_STREAM_H

#include "io/handle.h"

/*
 * Connects and opens the handles on a loop. The work itself is for the loop's turns. On an error
 * the phase is IDLE, or CLOSING when libuv has yet to close what had been opened.
 */
int nri_stream_begin(nri_plugin *plugin, uv_loop_t *loop, struct nri_error *error);
/* Looks for work of every kind. Not in a call of the user's functions. */
void nri_stream_service(nri_plugin *plugin);
/*
 * Ends the connection: reason 0 writes what is queued as far as the peer takes it at once. Runs
 * on_disconnected. The phase is CLOSING then.
 */
void nri_stream_end(nri_plugin *plugin, int reason, const char *text);
/* For what ends a run before the core, which logs the end of a connection, has one. */
void nri_stream_log_failure(nri_plugin *plugin, const char *text);
/* When the next nri_stream_service() is due, in ns; NRI_NEVER. */
uint64_t nri_stream_deadline(const nri_plugin *plugin);
/* Whether the user's functions have not asked for the end: else nothing more is handed to handlers.
 */
bool nri_stream_is_wanted(const nri_plugin *plugin);
static inline bool nri_stream_is_live(const struct nri_stream *stream)
{
    return stream->phase != NRI_PHASE_IDLE && stream->phase != NRI_PHASE_CLOSING;
}

#endif
