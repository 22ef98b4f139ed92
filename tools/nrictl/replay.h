/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NRICTL_REPLAY_H
#define NRICTL_REPLAY_H

#include "nrictl.h"

extern const struct nrictl_command nrictl_replay;

#endif
