/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What block I/O and RDT classes mean, from a file: a JSON object, class to what it stands for.
 */
#ifndef NRICTL_CLASSES_H
#define NRICTL_CLASSES_H

#include <nri/oci.h>

#include "base/arena.h"
#include "nrictl.h"
#include "json/json.h"

struct classes {
    struct nri_arena arena;
    struct nri_json *table;
    const char *path;
    bool made;
    const char *option; /* which gives the file, for who forgot it */
};

int classes_read(struct nrictl *ctl, struct classes *classes, const char *path);
int classes_answer(const struct classes *classes, const char *name, nri_oci_answer *answer);
void classes_free(struct classes *classes);

/* The text of linux.resources of a ContainerUpdate, or of the whole where it has no such member. */
int classes_update_resources(struct nrictl *ctl, const char *name, const char *text, size_t length,
                             char **inner, size_t *inner_length);

#endif
