/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Containers by the names of their pod sandbox and their own, so that one of a recording is found
 * again in a runtime that has other ids.
 */
#ifndef NRICTL_ROSTER_H
#define NRICTL_ROSTER_H

#include <stdbool.h>
#include <stddef.h>

#include "json/json.h"

struct roster_entry {
    char *pod, *name, *id; /* owned; "default/web", "nginx" */
    size_t turn;           /* how many of the same names came before */
};

struct roster {
    bool any_pod; /* names of pod sandboxes do not count */
    struct roster_entry *entries;
    size_t count, capacity;
};

/* "default/web", or "" with any_pod; NULL: no memory. */
char *roster_pod(const struct roster *roster, const struct nri_json *pod);
/* The containers that a request tells of. False: no memory. */
bool roster_note(struct roster *roster, const struct nri_json *request);
/* The id in `to` of what has that id in `from`; NULL: there is none. */
const char *roster_counterpart(const struct roster *from, const struct roster *to, const char *id);
void roster_free(struct roster *roster);

#endif
