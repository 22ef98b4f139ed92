/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NRICTL_DIFF_H
#define NRICTL_DIFF_H

#include "nrictl.h"

extern const struct nrictl_command nrictl_diff;

#endif
