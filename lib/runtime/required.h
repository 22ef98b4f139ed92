/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of plugins that an annotation requires: a YAML sequence of names, as people write it,
 * which is `[a, b]` or a line `- a` each. Names are NRI's, so that no more of YAML is needed.
 */
#ifndef NRI_RUNTIME_REQUIRED_H
#define NRI_RUNTIME_REQUIRED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Calls `each` for each name, which is not NUL-terminated; it may end the reading with a code other
 * than 0, which is returned. NRI_E_SYNTAX with the place and what would be right. */
int nri_required_read(const char *text, size_t length,
                      int (*each)(void *user, const char *name, size_t length), void *user,
                      struct nri_error *error);

#endif
