/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NRICTL_TOP_H
#define NRICTL_TOP_H

#include "nrictl.h"

extern const struct nrictl_command nrictl_top;

#endif
