/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a replay finds otherwise than it was recorded, shown as it is found: lines, or an array of
 * JSON.
 */
#ifndef NRICTL_FINDINGS_H
#define NRICTL_FINDINGS_H

#include "nrictl.h"
#include "print.h"

struct findings {
    struct nrictl *ctl;
    uint64_t count;
    struct print_json json; /* the result, whose array is open; with ctl->json */
};

/* Which message it is about; what is 0 or NULL is not shown. All texts may be of another party. */
struct finding {
    uint64_t number;
    const char *plugin; /* "10-logger" */
    const char *kind;   /* "request" or "response" */
    const char *whose;  /* "the answer to": for lines only */
    const char *method, *about, *what;
};

void findings_begin(struct findings *findings, struct nrictl *ctl);
void findings_open(struct findings *findings, const struct finding *finding); /* and what follows */
void findings_shut(struct findings *findings);
void findings_tell(struct findings *findings, const struct finding *finding); /* both */
/* The array ends; members of the result may follow, until print_json_end(). */
void findings_end(struct findings *findings);

#endif
