/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NRICTL_SIM_H
#define NRICTL_SIM_H

#include "nrictl.h"

extern const struct nrictl_command nrictl_sim;

#endif
