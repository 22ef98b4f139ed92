/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/owners.h"

#include <string.h>

#include "base/text.h"
#include "runtime/merging.h"

#define FIRST_ROOM 4

/* The longest part of a key in an error text. */
#define KEY_SHOWN 512

int nri_keyed_index(enum nri_field field)
{
    static const int8_t one_more[NRI_FIELDS] = {[NRI_FIELD_ANNOTATIONS] = 1,
                                                [NRI_FIELD_MOUNTS] = 2,
                                                [NRI_FIELD_DEVICES] = 3,
                                                [NRI_FIELD_CDI_DEVICES] = 4,
                                                [NRI_FIELD_ENV] = 5,
                                                [NRI_FIELD_HUGEPAGE_LIMITS] = 6,
                                                [NRI_FIELD_CGROUPS_UNIFIED] = 7,
                                                [NRI_FIELD_RLIMITS] = 8,
                                                [NRI_FIELD_NAMESPACE] = 9,
                                                [NRI_FIELD_SYSCTL] = 10,
                                                [NRI_FIELD_LINUX_NET_DEVICES] = 11};
    return one_more[field] - 1;
}

static bool dedup(const struct nri_merge *merge, enum nri_field field)
{
    return merge->settings.policy[field] == NRI_MERGE_DEDUP;
}

static int conflict(struct nri_merge *merge, struct nri_error *error, const char *other,
                    enum nri_field field, struct nri_key key)
{
    if (dedup(merge, field) && merge->arena->failure != 0)
        return nri_merge_no_memory(merge, error); /* the values could not be compared */
    int shown = (int)(key.length < KEY_SHOWN ? key.length : nri_utf8_cut(key.text, KEY_SHOWN));
    return nri_error_set(error, NRI_E_CONFLICT,
                         "plugins \"%s\" and \"%s\" both tried to set %s %.*s", merge->plugin,
                         other, nri_field_name((int)field), shown, key.length == 0 ? "" : key.text);
}

int nri_refuse_field(struct nri_merge *merge, enum nri_field field, struct nri_key key,
                     struct nri_error *error)
{
    const bool removes = nri_key_unmark(&key);
    if (merge->settings.policy[field] != NRI_MERGE_UNSUPPORTED)
        return 0;
    int shown = (int)(key.length < KEY_SHOWN ? key.length : nri_utf8_cut(key.text, KEY_SHOWN));
    return nri_error_set(error, NRI_E_UNSUPPORTED,
                         "plugin \"%s\" tried to %s %s%s%.*s, which the runtime does not support",
                         merge->plugin, removes ? "remove" : "set", nri_field_name((int)field),
                         key.length == 0 ? "" : " ", shown, key.length == 0 ? "" : key.text);
}

bool nri_same_text(struct nri_merge *merge, const void *a, const void *b)
{
    (void)merge;
    return a != NULL && nri_key_same(nri_key_from(a), nri_key_from(b));
}

bool nri_same_args(struct nri_merge *merge, const void *a, const void *b)
{
    const adjustment_message *one = a, *other = b;
    /* An empty first one is a mark. */
    const size_t skip = one != NULL && nri_message_text_length(one->args[0]) == 0;
    if (one == NULL || one->n_args - skip != other->n_args)
        return false;
    for (size_t i = 0; i < other->n_args; i++) {
        if (!nri_same_text(merge, one->args[i + skip], other->args[i]))
            return false;
    }
    return true;
}

/* By their bytes. Where these cannot be had, for want of memory, the arena's failure says so. */
bool nri_same_message(struct nri_merge *merge, const void *a, const void *b)
{
    size_t size, other;
    if (a == NULL || nri_message_size(a, &size, NULL) != 0 ||
        nri_message_size(b, &other, NULL) != 0 || size != other)
        return false;
    uint8_t *bytes = nri_arena_array(merge->arena, 2, size + 1);
    if (bytes == NULL)
        return false;
    nri_message_encode(a, bytes);
    nri_message_encode(b, bytes + size);
    return memcmp(bytes, bytes + size, size) == 0;
}

/* What a claim comes to when somebody has, or had, what is claimed. */
static int claim(struct nri_merge *merge, enum nri_field field, const char *owner, bool cleared,
                 bool same)
{
    if (cleared && strcmp(owner, merge->plugin) == 0)
        return NRI_CLAIM_NEW;
    switch (merge->settings.policy[field]) {
    case NRI_MERGE_LAST_WINS:
        return cleared ? NRI_CLAIM_NEW : NRI_CLAIM_AGAIN;
    case NRI_MERGE_DEDUP:
        return !cleared && same ? NRI_CLAIM_KEPT : NRI_E_CONFLICT;
    default:
        return NRI_E_CONFLICT;
    }
}

static bool note_claim(struct nri_merge *merge, const struct nri_owners *owners, int verdict,
                       enum nri_field field, const struct nri_key *key, const char *from)
{
    const enum nri_merge_what first = merge->removes ? NRI_MERGE_REMOVED : NRI_MERGE_SET;
    const enum nri_merge_what what[] = {[NRI_CLAIM_NEW] = first,
                                        [NRI_CLAIM_KEPT] = NRI_MERGE_KEPT,
                                        [NRI_CLAIM_AGAIN] = NRI_MERGE_REPLACED};
    return nri_merge_note(merge, owners, what[verdict], field, key,
                          verdict == NRI_CLAIM_NEW ? NULL : from);
}

static struct nri_holder *find_holder(const struct nri_owners *owners, enum nri_field field)
{
    struct nri_holder *holder = owners->holders;
    if ((owners->held & UINT64_C(1) << field) == 0)
        return NULL;
    while (holder->field != field)
        holder++;
    return holder;
}

static struct nri_holder *get_holder(struct nri_merge *merge, struct nri_owners *owners,
                                     enum nri_field field)
{
    struct nri_holder *holder = find_holder(owners, field);
    if (holder != NULL)
        return holder;
    if (owners->holder_count == owners->holder_room) {
        size_t room = owners->holder_room == 0 ? FIRST_ROOM : owners->holder_room * 2;
        holder = nri_arena_array(merge->arena, room, sizeof *holder);
        if (holder == NULL)
            return NULL;
        if (owners->holder_count > 0)
            memcpy(holder, owners->holders, owners->holder_count * sizeof *holder);
        owners->holders = holder;
        owners->holder_room = room;
    }
    holder = owners->holders + owners->holder_count++;
    *holder = (struct nri_holder){.field = (uint8_t)field};
    owners->held |= UINT64_C(1) << field;
    return holder;
}

int nri_claim_field(struct nri_merge *merge, struct nri_owners *owners, enum nri_field field,
                    const void *value, nri_same_value *same, struct nri_error *error)
{
    int verdict = nri_refuse_field(merge, field, (struct nri_key){0}, error);
    if (verdict != 0)
        return verdict;
    struct nri_holder *holder = get_holder(merge, owners, field);
    verdict = NRI_CLAIM_NEW;
    if (holder == NULL)
        return nri_merge_no_memory(merge, error);
    const char *from = holder->plugin;
    if (from != NULL)
        verdict = claim(merge, field, from, holder->cleared,
                        dedup(merge, field) && same(merge, holder->value, value));
    if (verdict < 0)
        return conflict(merge, error, from, field, (struct nri_key){0});
    if (verdict != NRI_CLAIM_KEPT)
        *holder = (struct nri_holder){(uint8_t)field, false, merge->plugin, value};
    return note_claim(merge, owners, verdict, field, NULL, from)
               ? verdict
               : nri_merge_no_memory(merge, error);
}

bool nri_clear_field(struct nri_merge *merge, struct nri_owners *owners, enum nri_field field)
{
    struct nri_holder *holder = get_holder(merge, owners, field);
    if (holder == NULL)
        return false;
    const char *from = holder->cleared ? NULL : holder->plugin;
    *holder = (struct nri_holder){(uint8_t)field, true, merge->plugin, NULL};
    return nri_merge_note(merge, owners, NRI_MERGE_REMOVED, field, NULL, NULL) &&
           (from == NULL || nri_merge_note(merge, owners, NRI_MERGE_DROPPED, field, NULL, from));
}

struct nri_keys_item *nri_owner_of_key(const struct nri_owners *owners, enum nri_field field,
                                       struct nri_key key)
{
    const struct nri_keys *keys = owners->keyed[nri_keyed_index(field)];
    return keys == NULL ? NULL : nri_keys_find(keys, key);
}

static struct nri_keys_item *get_key(struct nri_merge *merge, struct nri_owners *owners,
                                     enum nri_field field, struct nri_key key)
{
    struct nri_keys **keys = &owners->keyed[nri_keyed_index(field)];
    if (*keys == NULL)
        *keys = nri_arena_zero(merge->arena, sizeof **keys);
    return *keys == NULL ? NULL : nri_keys_get(*keys, merge->arena, merge->seed, key);
}

int nri_claim_key(struct nri_merge *merge, struct nri_owners *owners, enum nri_field field,
                  struct nri_key key, const void *value, struct nri_keys_item **item,
                  struct nri_error *error)
{
    int verdict = nri_refuse_field(merge, field, key, error);
    if (verdict != 0)
        return verdict;
    struct nri_keys_item *held = get_key(merge, owners, field, key);
    verdict = NRI_CLAIM_NEW;
    if (held == NULL)
        return nri_merge_no_memory(merge, error);
    const char *from = held->plugin;
    if (from != NULL)
        verdict = claim(merge, field, from, held->cleared,
                        dedup(merge, field) && nri_same_message(merge, held->value, value));
    if (verdict < 0)
        return conflict(merge, error, from, field, key);
    if (verdict != NRI_CLAIM_KEPT) {
        held->plugin = merge->plugin;
        held->cleared = false;
        held->value = value;
    }
    *item = held;
    return note_claim(merge, owners, verdict, field, &key, from)
               ? verdict
               : nri_merge_no_memory(merge, error);
}

bool nri_clear_key(struct nri_merge *merge, struct nri_owners *owners, enum nri_field field,
                   struct nri_key key, size_t *slot)
{
    struct nri_keys_item *held = get_key(merge, owners, field, key);
    if (held == NULL)
        return false;
    const char *from = held->cleared ? NULL : held->plugin;
    *slot = held->slot;
    held->plugin = merge->plugin;
    held->cleared = true;
    held->value = NULL;
    held->slot = NRI_NO_SLOT;
    return from == NULL || nri_merge_note(merge, owners, NRI_MERGE_DROPPED, field, &key, from);
}

bool nri_claim_hooks(struct nri_merge *merge, struct nri_owners *owners)
{
    if (owners->hook_count == owners->hook_room) {
        size_t room = owners->hook_room == 0 ? FIRST_ROOM : owners->hook_room * 2;
        const char **hooks = nri_arena_array(merge->arena, room, sizeof *hooks);
        if (hooks == NULL)
            return false;
        if (owners->hook_count > 0)
            memcpy(hooks, owners->hooks, owners->hook_count * sizeof *hooks);
        owners->hooks = hooks;
        owners->hook_room = room;
    }
    owners->hooks[owners->hook_count++] = merge->plugin;
    return nri_merge_note(merge, owners, NRI_MERGE_SET, NRI_FIELD_OCI_HOOKS, NULL, NULL);
}

bool nri_owners_any(const struct nri_owners *owners)
{
    bool any = owners->held != 0 || owners->hook_count > 0;
    for (size_t i = 0; !any && i < NRI_KEYED_FIELDS; i++)
        any = owners->keyed[i] != NULL;
    return any;
}
