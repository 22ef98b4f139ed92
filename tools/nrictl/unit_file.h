/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A unit of systemd with its drop-ins: the assignments of its [Service] section in their order.
 */
#ifndef NRICTL_UNIT_FILE_H
#define NRICTL_UNIT_FILE_H

#include "doctor_root.h"

struct unit_setting {
    const char *key, *value;
    const char *file;
    size_t line;
};

struct unit_file {
    const char *name; /* "my-plugin.service" */
    const char *path;
    struct unit_setting *settings;
    size_t count, room;
};

/* Directories of units, the first of which counts for a unit that is in several; ends with NULL. */
extern const char *const unit_directories[];

/* False: it cannot be read. Continued lines are joined; an empty assignment stays in the list. */
bool unit_read(const struct doctor_root *root, const char *path, struct unit_file *unit);
/* The last one; NULL. */
const struct unit_setting *unit_last(const struct unit_file *unit, const char *key);

#endif
