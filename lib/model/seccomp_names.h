/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the OCI runtime spec in a seccomp policy. Each check gives 0 or a failed call of the
 * builder: NRI_E_INVALID, NRI_E_UTF8. */
#ifndef NRI_MODEL_SECCOMP_NAMES_H
#define NRI_MODEL_SECCOMP_NAMES_H

#include "model/builder.h"

int nri_check_seccomp_action(struct nri_builder *builder, const struct nri_where *field,
                             const char *name);
int nri_check_seccomp_operator(struct nri_builder *builder, const struct nri_where *field,
                               const char *name);
int nri_check_seccomp_architecture(struct nri_builder *builder, const struct nri_where *field,
                                   const char *name);
int nri_check_seccomp_flag(struct nri_builder *builder, const struct nri_where *field,
                           const char *name);

/* Whether an errno may stand beside an action. */
bool nri_seccomp_action_takes_errno(const char *action);
/* The one operator with a second value. */
bool nri_seccomp_operator_takes_two(const char *op);

#endif
