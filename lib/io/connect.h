/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From no connection to one: attempts, the delays between them, and the watch for the socket. Of
 * the phase CONNECTING; stream.c has the phases.
 */
#ifndef NRI_IO_CONNECT_H
#define NRI_IO_CONNECT_H

#include "io/handle.h"

/* Whether the end of a connection, or there being none, is not the run's end. */
bool nri_connect_is_repeated(const nri_plugin *plugin);
/* What is there when the run begins: a given descriptor, checked, or the first attempt. With
 * repeated attempts nothing yet, since none ends the run. */
int nri_connect_begin(nri_plugin *plugin, struct nri_error *error);
/* On the loop's first turn. */
void nri_connect_first_turn(nri_plugin *plugin, uint64_t now);
/*
 * An attempt, if one is due and there is no descriptor yet. 0: stream.fd is one then, or none was
 * due, or another follows. Else why the run's attempts are over, or the policy is to be asked.
 */
int nri_connect_turn(nri_plugin *plugin, uint64_t now, struct nri_error *error);
/*
 * The connection, or the attempt at one, ended for *why. Returns the delay until the next in ns,
 * and has the socket watched; NRI_NEVER when none follows, and why->text may have got longer.
 */
uint64_t nri_connect_plan(nri_plugin *plugin, uint64_t now, struct nri_error *why);
/* When the next nri_connect_turn() is due, in ns; NRI_NEVER. */
uint64_t nri_connect_deadline(const struct nri_stream *stream);

#endif
