/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a suite has shown: as text while it runs, as JSON, JUnit or TAP at its end.
 */
#ifndef NRICTL_CHECK_REPORT_H
#define NRICTL_CHECK_REPORT_H

#include "check.h"

enum report_format { REPORT_TEXT, REPORT_JSON, REPORT_JUNIT, REPORT_TAP };

struct report {
    struct suite *suite;
    enum report_format format;
    struct run *runs; /* owned, with their outputs */
    size_t count, planned, passed, failed, failed_must, skipped;
    const char *group; /* of the check before, for text */
};

const char *report_group(const struct check *check, char *name, size_t size);
void report_progress(const struct report *report, const struct check *check);
/* A check has ended; the report takes what it has. */
void report_add(struct report *report, const struct run *run);
int report_end(struct report *report); /* one of enum nrictl_exit, for what could not be printed */
void report_free(struct report *report);
/* The table of checks, for --list. `wanted` says which. */
int report_list(struct nrictl *ctl, bool (*wanted)(const struct check *check, void *user),
                void *user);

#endif
