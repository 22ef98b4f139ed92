/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of an nri_seccomp that may be changed: the message, which readers see, and its
 * builder. It lives in the builder's arena.
 */
#ifndef NRI_MODEL_SECCOMP_BUILDER_H
#define NRI_MODEL_SECCOMP_BUILDER_H

#include "model/builder.h"
#include "model/model.h"

/*
 * Makes one, a shallow copy of `from` (whose arrays are nri_message_copy()'s or a builder's) or,
 * for NULL, an empty one. NULL on no memory, with the failed call kept. The message that it changes
 * is the nri_seccomp itself.
 */
nri_seccomp *nri_seccomp_make(struct nri_builder *builder,
                              const Nri__Pkg__Api__V1alpha1__LinuxSeccomp *from);
/* What only the whole can tell: that there is a default action, that an errno fits it, that
 * metadata has a listener. 0, or a failed call of the builder. */
int nri_seccomp_check(struct nri_builder *builder,
                      const Nri__Pkg__Api__V1alpha1__LinuxSeccomp *message);

#endif
