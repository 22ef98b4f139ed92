/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request through a merge, all messages in JSON: what the runtime has, what each plugin
 * replies, and what must come of it. Plugins are called "10-a", "20-b" and so on.
 */
#ifndef NRI_TESTS_MERGE_CASE_H
#define NRI_TESTS_MERGE_CASE_H

#include "fail_alloc.h"
#include "runtime/merge.h"

#define MERGE_REPLIES 4

struct merge_case {
    const char *name;
    enum nri_event event;               /* 0: CreateContainer */
    const char *container;              /* Container; NULL: one with the id "c0" */
    const char *resources;              /* of UpdateContainer */
    const char *replies[MERGE_REPLIES]; /* the event's responses; the first NULL ends */
    /* What is expected; NULL: not looked at. */
    const char *result;   /* the event's response */
    const char *visible;  /* the Container, or LinuxResources, that a plugin after all would see */
    const char *owners;   /* OwningPlugins */
    const char *changes;  /* of the last reply, each "WHAT CONTAINER FIELD [KEY] [from PLUGIN];" */
    const char *error;    /* the text: some reply must fail with it */
    bool go;              /* go_compatible */
    enum nri_field field; /* that has the policy */
    enum nri_merge_policy policy;
    uint64_t seed; /* of the tables of keys; 0: the same in each run */
};

/* Runs a case and fails the test with its name where something is not as expected. */
void merge_case_check(const struct merge_case *one);
/*
 * Runs a case with a memory limit and an allocation that fails (0: none): 0, or the code of what
 * failed first, with nothing of it live. *text (may be NULL) is set to the result and all that was
 * seen on the way as JSON, which the caller frees. *used (may be NULL) is how much memory it took.
 */
int merge_case_run(const struct merge_case *one, size_t limit, size_t fail_at, char **text,
                   size_t *used);

#endif
