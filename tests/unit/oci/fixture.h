/* SPDX-License-Identifier: Apache-2.0 */
/* A change in NRI's JSON, applied to a document: as it comes from the wire, so that no builder has
 * looked at it. */
#ifndef NRI_TESTS_UNIT_OCI_FIXTURE_H
#define NRI_TESTS_UNIT_OCI_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <nri/nri.h>

#include "oci/apply.h"

/* What one path is on, for documents with shared mounts. */
struct fixture_mounts {
    const char *path;
    uint32_t propagation;
    int code;
    unsigned looks;
};

int fixture_look(void *context, const char *path, uint32_t *propagation);

struct fixture_run {
    const char *change; /* JSON of a ContainerAdjustment, or with `update` of LinuxResources */
    const char *before;
    bool update;
    struct nri_oci_options *options; /* may be NULL */
    struct fixture_mounts *mounts;   /* may be NULL: mounts are not looked at */
};

/* The code; *after is the new document, which nri_json_free() frees. */
int fixture_apply(const struct fixture_run *run, char **after, nri_error **error);

/* One row of a table: `after` is the new document, or behind a "!" the error's text. */
struct fixture_row {
    const char *change, *before, *after;
};
void fixture_rows(const struct fixture_row *rows, size_t count, bool update,
                  struct nri_oci_options *options);

#endif
