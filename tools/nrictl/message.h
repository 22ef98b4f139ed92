/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages as runtimes of some NRI version send them: made field by field, or of JSON.
 *
 * Buffers keep the first failure by staying as they are; memory that is refused shows as a message
 * that is not whole, which no limit of the suite allows for: the functions end in message_failed().
 */
#ifndef NRICTL_MESSAGE_H
#define NRICTL_MESSAGE_H

#include <stdbool.h>

#include <protobuf-c/protobuf-c.h>

#include "base/buf.h"

/* What the releases are called by: their minor number. */
enum {
    MESSAGE_0_6 = 6,
    MESSAGE_0_7,
    MESSAGE_0_8,
    MESSAGE_0_9,
    MESSAGE_0_10,
    MESSAGE_0_11,
    MESSAGE_0_12,
    MESSAGE_NEWER
};

struct message_release {
    const char *nri;               /* "v0.12.2", as it is told from 0.12 on */
    const char *runtime, *version; /* "containerd", "2.3.0" */
};
const struct message_release *message_release(unsigned release);
/* The events that a runtime of that version knows. */
uint32_t message_events(unsigned release);

/* Protobuf fields. */
bool message_number(struct nri_buf *out, unsigned field, uint64_t value);
bool message_bytes(struct nri_buf *out, unsigned field, const void *bytes, size_t length);
bool message_text(struct nri_buf *out, unsigned field, const char *text);
bool message_inner(struct nri_buf *out, unsigned field, const struct nri_buf *inner);
/* Fields of every wire type that no version of NRI has. */
bool message_unknown(struct nri_buf *out);
/* An annotation of so many bytes, in a pod sandbox or a container (both have them as field 6). */
bool message_padding(struct nri_buf *out, const char *key, size_t length);

/* A pod sandbox and a container as a runtime of that version tells them. */
bool message_pod(struct nri_buf *out, unsigned release, unsigned number);
bool message_container(struct nri_buf *out, unsigned release, unsigned number, unsigned event);
bool message_configure(struct nri_buf *out, unsigned release, const char *config);
/* What an event's own call carries. */
bool message_event(struct nri_buf *out, unsigned release, unsigned event, unsigned container);

/* ---- events ---- */

struct message_call {
    const char *method; /* its own call */
    unsigned event;     /* 1 to 14 */
    unsigned since;     /* the release that has the event */
    unsigned own_since; /* the release that has a call of its own for it */
    bool of_container;
};
const struct message_call *message_call(unsigned event); /* NULL for no event */
/* In the order of a life. */
extern const unsigned message_life[14];
#define MESSAGE_LIFE (sizeof message_life / sizeof *message_life)

#endif
