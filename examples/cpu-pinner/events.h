/* SPDX-License-Identifier: Apache-2.0 */
/* The callback table: what the runtime tells goes to the ledger, and what that says goes back. */
#ifndef PINNER_EVENTS_H
#define PINNER_EVENTS_H

#include <nri/plugin.h>

/* The annotation of a container that says that its cpuset is this plugin's: pinner_mark(). */
#define EVENTS_MARK "given.cpu-pinner.nri.io"

/* `user` of the plugin must be a struct keeper. */
extern const struct nri_plugin_ops events_ops;

#endif
