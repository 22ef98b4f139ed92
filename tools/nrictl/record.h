/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NRICTL_RECORD_H
#define NRICTL_RECORD_H

#include "nrictl.h"

extern const struct nrictl_command nrictl_record;

#endif
