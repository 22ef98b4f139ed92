/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NRICTL_EXPLAIN_H
#define NRICTL_EXPLAIN_H

#include "nrictl.h"

extern const struct nrictl_command nrictl_explain;

#endif
