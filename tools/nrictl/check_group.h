/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The groups of checks, each a file of its own.
 */
#ifndef NRICTL_CHECK_GROUP_H
#define NRICTL_CHECK_GROUP_H

#include "check.h"

#define CHECK_GROUP(group, list)                                                                   \
    {                                                                                              \
        .name = (group), .checks = (list), .count = sizeof(list) / sizeof *(list)                  \
    }

extern const struct check_group check_registration, check_order, check_cuts, check_sync,
    check_events, check_versions, check_unknown, check_streams, check_deadline, check_end,
    check_reconnect, check_large, check_hostile, check_growth;

#endif
