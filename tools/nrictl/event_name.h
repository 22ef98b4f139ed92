/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of events and methods as people write them: CreateContainer, create_container.
 */
#ifndef NRICTL_EVENT_NAME_H
#define NRICTL_EVENT_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "nrictl.h"

/* Case and _ do not count. `a` has a length and no end. */
bool event_name_equal(const char *a, size_t length, const char *b);
/* NRICTL_OK for an event or a method of NRI; else it is said that `option` has none. */
int event_name_check(struct nrictl *ctl, const char *option, const char *name);

#endif
