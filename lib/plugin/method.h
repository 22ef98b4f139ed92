/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The methods of the service Plugin as one table: which event a method is, which handler is
 * called, where its message keeps pod and container, and what its reply carries.
 */
#ifndef NRI_PLUGIN_METHOD_H
#define NRI_PLUGIN_METHOD_H

#include <nri/event.h>
#include <nri/plugin.h>

#include "proto/nri.pb-c.h"

/* Places in nri_methods, which are those of the service's descriptor. */
#define NRI_METHOD_CONFIGURE    0u
#define NRI_METHOD_SYNCHRONIZE  1u
#define NRI_METHOD_STATE_CHANGE 16u
#define NRI_METHOD_COUNT        18u

/* What the response message of a method carries. */
enum nri_reply_kind {
    NRI_REPLY_EMPTY,
    NRI_REPLY_CONFIGURE,
    NRI_REPLY_SYNCHRONIZE, /* updates */
    NRI_REPLY_CREATE,      /* adjustment, updates, evictions */
    NRI_REPLY_UPDATE,      /* updates, evictions */
    NRI_REPLY_STOP,        /* updates */
    NRI_REPLY_VALIDATE     /* rejected or not */
};

struct nri_method {
    const char *name;
    enum nri_event event;
    enum nri_reply_kind reply;
    bool state_change; /* runtimes before NRI 0.12 send it through StateChange */
    size_t handler;    /* offset in struct nri_plugin_ops; 0: no handler of its own */
    size_t pod;        /* offsets in the request message; 0: it has none */
    size_t container;
    size_t resources;
    size_t overhead;
};

extern const struct nri_method nri_methods[NRI_METHOD_COUNT];

/* The method that a StateChange of this event stands for; NULL when that is not sent so. */
const struct nri_method *nri_method_of_state_change(int event);
/* NULL when the plugin has none. */
nri_handler nri_method_handler(const struct nri_method *method, const struct nri_plugin_ops *ops);
/* The events that a callback table has handlers for. */
uint32_t nri_method_derive_events(const struct nri_plugin_ops *ops);

/* The pointer at an offset of a message, or NULL for offset 0. */
const void *nri_method_part(const ProtobufCMessage *message, size_t offset);

#endif
