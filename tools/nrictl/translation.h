/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recorded plugin said of containers, with the ids that these have now.
 */
#ifndef NRICTL_TRANSLATION_H
#define NRICTL_TRANSLATION_H

#include "base/arena.h"
#include "roster.h"
#include "tape.h"

struct translation {
    struct nri_arena arena;
    ProtobufCMessage *message; /* NULL: it names no container: its bytes can stay */
    size_t lost;               /* updates and evictions that are left out */
    const char *missing;       /* the first container that is not there now; NULL: none */
};

/* 0; NRI_E_NOMEM, or what is wrong with the payload. To be ended in any case. */
int translation_make(struct translation *translation, const struct tape_message *said,
                     const struct roster *recorded, const struct roster *live,
                     struct nri_error *error);
void translation_fini(struct translation *translation);

#endif
