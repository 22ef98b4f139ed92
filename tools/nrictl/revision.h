/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The next version of a container: what it becomes with an adjustment, or an update's resources,
 * by the rules that plugins see (lib/runtime's merging).
 */
#ifndef NRICTL_REVISION_H
#define NRICTL_REVISION_H

#include <nri/nri.h>

#include "base/error.h"
#include "imitate.h"

/* *next is a copy that may be changed further. NRI_E_NOMEM, NRI_E_LIMIT, NRI_E_CONFLICT. NULL
 * changes nothing. What `imitate` (NULL: nobody) ignores is left out. */
int revision_adjust(const nri_container *container, const nri_adjustment *adjustment,
                    const struct imitate *imitate, nri_container **next, struct nri_error *error);
int revision_update(const nri_container *container, const nri_resources *resources,
                    nri_container **next, struct nri_error *error);

/* What is set of `from` is set in `to`: 0, or what the setter says. */
int revision_resources(nri_resources *to, const nri_resources *from, struct nri_error *error);

#endif
