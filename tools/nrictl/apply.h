/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NRICTL_APPLY_H
#define NRICTL_APPLY_H

#include "nrictl.h"

extern const struct nrictl_command nrictl_apply;

#endif
