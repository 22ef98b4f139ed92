/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session said, as text or as JSON lines: the form of `nrictl decode`.
 */
#ifndef NRICTL_TRANSCRIPT_H
#define NRICTL_TRANSCRIPT_H

#include "nrictl.h"
#include "recording.h"
#include "trace.h"

struct transcript_options {
    /* Each may be NULL: all. A message is shown when it fits every one of them; a response when its
     * request does. */
    const char *const *events; /* ends with NULL: methods and events; one of them is enough */
    const char *pod, *container, *plugin;
    bool full;     /* text: payloads, too */
    bool show_env; /* values of environment variables */
    struct trace
        *trace; /* what is shown goes there as a timeline, in place of lines; NULL: lines */
};

struct transcript;

/* NRICTL_OK, or NRICTL_ENVIRONMENT after a message. */
int transcript_new(struct transcript **out, struct nrictl *ctl,
                   const struct transcript_options *options);
/* False after a message: no memory. */
bool transcript_take(struct transcript *transcript, const struct recording_record *record);
void transcript_damage(struct transcript *transcript, const struct recording_damage *damage);
/* Tells what is unfinished, and a summary; frees. NRICTL_OK, NRICTL_FINDING when something was not
 * decoded, NRICTL_ENVIRONMENT. */
int transcript_end(struct transcript *transcript);
/* Frees, and tells nothing. */
void transcript_free(struct transcript *transcript);

#endif
