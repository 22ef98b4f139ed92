/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every builder has: the arena it builds in, whether it may be used, and the first failed
 * call.
 *
 * The order in a builder's function, which makes sure that a failed call changes nothing:
 * nri_builder_enter(), then all checks, then all allocations, then the change itself, which cannot
 * fail.
 */
#ifndef NRI_MODEL_BUILDER_H
#define NRI_MODEL_BUILDER_H

#include "base/arena.h"
#include "base/error.h"

struct nri_builder {
    struct nri_arena *arena;
    uint64_t seed[2];         /* of the hash over keys */
    int blocked;              /* 0, or the code that every call fails with */
    const char *blocked_text; /* static */
    bool sealed;              /* the reply is made: nothing may change any more */
    uint64_t changes;         /* grows with every call that may change something */
    struct nri_error error;   /* of the first failed call */
};

/* What an error is about: `WITHIN "KEY": NAME[INDEX]`. Only `name` is needed. */
struct nri_where {
    const char *within, *key;
    const char *name;
    bool indexed;
    size_t index;
};

void nri_builder_init(struct nri_builder *builder, struct nri_arena *arena, const uint64_t seed[2],
                      int blocked, const char *blocked_text);
/* 0, or the code that the call must fail with. NULL is NRI_E_INVALID. Every change comes through
 * here, those of the resources and of the seccomp policy that belong to the builder too, so that
 * `changes` tells whether what was put together of it still stands. */
int nri_builder_enter(struct nri_builder *builder);

/* Each of these makes a call fail: it keeps code and text if it is the first one, and returns the
 * code. */
int nri_builder_fail(struct nri_builder *builder, int code, const char *text);
/* `FIELD "VALUE": RULE`. */
int nri_builder_refuse(struct nri_builder *builder, int code, const struct nri_where *field,
                       const char *value, const char *rule);
/* `FIELD VALUE: RULE`. */
int nri_builder_refuse_number(struct nri_builder *builder, int code, const struct nri_where *field,
                              const char *number, const char *rule);
/* The arena has just failed: NRI_E_NOMEM or NRI_E_LIMIT. */
int nri_builder_refuse_memory(struct nri_builder *builder, const struct nri_where *field);

/* NULL is NRI_E_INVALID, anything but UTF-8 NRI_E_UTF8. */
int nri_builder_check_text(struct nri_builder *builder, const struct nri_where *field,
                           const char *text);
/* The same, and empty is NRI_E_INVALID. */
int nri_builder_check_filled(struct nri_builder *builder, const struct nri_where *field,
                             const char *text);
/* A key that a removal marker can be made of: not empty, not starting with "-". `remover` is the
 * call that removes. */
int nri_builder_check_key(struct nri_builder *builder, const struct nri_where *field,
                          const char *key, const char *remover);

/* A text for a message; NULL when the arena failed. NULL and "" give protobuf-c's empty string. */
char *nri_builder_text(struct nri_builder *builder, const char *text);
/* The key of a removal: "-" and the key. */
char *nri_builder_marker(struct nri_builder *builder, const char *key);

#endif
