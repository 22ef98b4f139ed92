/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recorded message of a plugin and the one that came in its place: status, text and payload,
 * without what differs by nature (tape_level()).
 */
#ifndef NRICTL_COMPARISON_H
#define NRICTL_COMPARISON_H

#include "findings.h"
#include "tape.h"

/* What a finding says of a plugin's message. */
void comparison_finding(const struct tape_message *message, const char *what,
                        struct finding *finding);
/* Differences are told. NRICTL_OK, or NRICTL_ENVIRONMENT: no memory, or the result takes nothing.
 */
int comparison_make(struct findings *findings, const struct tape_message *was,
                    const struct tape_message *is);
/* The status and its text alone: whether they are the same, else `text`: "was status 2 ..., is 0".
 */
bool comparison_status(int was, const char *was_text, int is, const char *is_text, char *text,
                       size_t room);

#endif
