/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NRICTL_DECODE_H
#define NRICTL_DECODE_H

#include "nrictl.h"

extern const struct nrictl_command nrictl_decode;

#endif
