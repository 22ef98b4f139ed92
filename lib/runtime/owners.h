/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who owns what of one container in one request, and the conflicts that come of it. The rules are
 * Go's: whatever is owned cannot be set again, by its owner neither; what a plugin took away that
 * was set before, only that plugin may set again.
 */
#ifndef NRI_RUNTIME_OWNERS_H
#define NRI_RUNTIME_OWNERS_H

#include <nri/field.h>

#include "base/error.h"
#include "runtime/keys.h"

struct nri_merge;

#define NRI_KEYED_FIELDS 11 /* fields whose keys have an owner each */
#define NRI_FIELDS       (NRI_FIELD_MEMORY_POLICY + 1)

/* The owner of a field without keys. */
struct nri_holder {
    uint8_t field;
    bool cleared; /* `plugin` took it away */
    const char *plugin;
    const void *value;
};

struct nri_owners {
    const char *id;
    uint64_t held; /* bits by field: those in `holders` */
    struct nri_holder *holders;
    size_t holder_count, holder_room;
    struct nri_keys *keyed[NRI_KEYED_FIELDS]; /* NULL: none yet */
    const char **hooks;                       /* the plugins that added hooks, in order */
    size_t hook_count, hook_room;
};

/* Whether two values are the same, for NRI_MERGE_DEDUP. */
typedef bool nri_same_value(struct nri_merge *merge, const void *a, const void *b);
nri_same_value nri_same_message, nri_same_text, nri_same_args;

/* What a claim says; anything below 0 is an error. */
enum nri_claim {
    NRI_CLAIM_NEW = 0,  /* set it */
    NRI_CLAIM_KEPT = 1, /* the same value is set already (NRI_MERGE_DEDUP) */
    NRI_CLAIM_AGAIN = 2 /* set it instead of what is set (NRI_MERGE_LAST_WINS) */
};

/* NRI_E_UNSUPPORTED when the runtime does not support the field. Before anything of it is claimed
 * or cleared; the key may be marked for removal, or empty. */
int nri_refuse_field(struct nri_merge *merge, enum nri_field field, struct nri_key key,
                     struct nri_error *error);

/* The plugin whose reply is merged claims a field, or a key of one, that it sets to a value. */
int nri_claim_field(struct nri_merge *merge, struct nri_owners *owners, enum nri_field field,
                    const void *value, nri_same_value *same, struct nri_error *error);
/* *item (valid until the next claim) has still the slot that the key had. */
int nri_claim_key(struct nri_merge *merge, struct nri_owners *owners, enum nri_field field,
                  struct nri_key key, const void *value, struct nri_keys_item **item,
                  struct nri_error *error);
/* It clears a field, whoever owned it, and it is the one who may set it then. False, here and
 * below, with the arena's failure set. */
bool nri_clear_field(struct nri_merge *merge, struct nri_owners *owners, enum nri_field field);
/* The same for a key; *slot is where its value stood, or NRI_NO_SLOT. */
bool nri_clear_key(struct nri_merge *merge, struct nri_owners *owners, enum nri_field field,
                   struct nri_key key, size_t *slot);
/* The owner of a key; NULL when there is none. */
struct nri_keys_item *nri_owner_of_key(const struct nri_owners *owners, enum nri_field field,
                                       struct nri_key key);
/* It adds OCI hooks, which have all who added some as owners. */
bool nri_claim_hooks(struct nri_merge *merge, struct nri_owners *owners);

/* Whether anything of the container has an owner. */
bool nri_owners_any(const struct nri_owners *owners);
/* Where the keys of a field stand in `keyed`; -1 for a field without keys. */
int nri_keyed_index(enum nri_field field);

#endif
