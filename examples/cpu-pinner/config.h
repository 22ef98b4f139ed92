/* SPDX-License-Identifier: Apache-2.0 */
/* What can be set: a file, and the options of the command line that are about this machine. */
#ifndef PINNER_CONFIG_H
#define PINNER_CONFIG_H

#include <nri/app.h>

enum unsatisfied { UNSATISFIED_REFUSE = 0, UNSATISFIED_SHARE = 1 };

/* The file. */
struct config {
    const char *reserved; /* a list of CPUs */
    int64_t minimum_shared;
    int64_t confirm_timeout, audit_interval; /* nanoseconds */
    int32_t unsatisfied;                     /* enum unsatisfied */
    bool by_limit, pin_memory;
};

/* The command line. */
struct flags {
    const char *sysfs, *cgroup_root, *checkpoint;
    bool dry_run;
};

extern const struct nri_app_field config_fields[];
extern const size_t config_field_count;
/* `user` of nri-app must be a struct keeper. */
extern const struct nri_app_flag config_flags[];
extern const size_t config_flag_count;

#endif
