/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists with keys in a reply to CreateContainer. In each of them removals are looked at first, so
 * that a reply that removes and sets the same key replaces it.
 */
#include "runtime/merging.h"

static struct nri_slots *list_of(struct nri_merge *merge, const struct nri_rule *rule)
{
    return &merge->target.lists[rule->list];
}

static struct nri_keys_item *owner_of(const struct nri_merge *merge, const struct nri_rule *rule,
                                      struct nri_key key)
{
    return nri_owner_of_key(&merge->target.owners, rule->field, key);
}

/* A removal that is collected: its slot and, as its value, the reply that it came in last. */
static struct nri_keys_item *marked_item(struct nri_merge *merge, const struct nri_rule *rule,
                                         struct nri_key key)
{
    if (merge->marked == NULL)
        merge->marked = nri_arena_zero(merge->arena, NRI_LISTS * sizeof *merge->marked);
    if (merge->marked == NULL)
        return NULL;
    return nri_keys_get(&merge->marked[rule->list], merge->arena, merge->seed, key);
}

static bool note_removal(struct nri_merge *merge, const struct nri_rule *rule, struct nri_key key)
{
    return nri_merge_note(merge, &merge->target.owners, NRI_MERGE_REMOVED, rule->field, &key, NULL);
}

/* Takes away what is collected for a key: then it is the plugin's own to set. */
static bool clear(struct nri_merge *merge, const struct nri_rule *rule, struct nri_key key)
{
    size_t slot;
    if (!nri_clear_key(merge, &merge->target.owners, rule->field, key, &slot))
        return false;
    if (slot != NRI_NO_SLOT)
        nri_slots_drop(list_of(merge, rule), slot);
    return true;
}

static bool clear_if_set(struct nri_merge *merge, const struct nri_rule *rule, struct nri_key key)
{
    const struct nri_keys_item *owner = owner_of(merge, rule, key);
    return owner == NULL || owner->value == NULL || clear(merge, rule, key);
}

/* A message that sets a key, or that removes one and owns it for that. */
static int set(struct nri_merge *merge, const struct nri_rule *rule, struct nri_key key, void *item,
               struct nri_error *error)
{
    struct nri_keys_item *owner = NULL;
    int verdict =
        nri_claim_key(merge, &merge->target.owners, rule->field, key, item, &owner, error);
    if (verdict < 0)
        return verdict;
    if (verdict == NRI_CLAIM_KEPT)
        return 0;
    if (owner->slot != NRI_NO_SLOT)
        nri_slots_drop(list_of(merge, rule), owner->slot);
    if (!nri_slots_add(list_of(merge, rule), merge->arena, item, &owner->slot))
        return nri_merge_no_memory(merge, error);
    return 0;
}

/* A removal goes into the result once; a removal of a mount in Go's once a reply. */
static bool forward(struct nri_merge *merge, const struct nri_rule *rule, struct nri_key key,
                    void *item, size_t start)
{
    struct nri_keys_item *mark = marked_item(merge, rule, key);
    if (mark == NULL)
        return false;
    if (mark->slot != NRI_NO_SLOT && (!merge->settings.go_compatible || mark->slot >= start))
        return true;
    list_of(merge, rule)->marks++;
    return nri_slots_add(list_of(merge, rule), merge->arena, item, &mark->slot);
}

/* The first pass over a list: removals take away what is collected. *marks is whether there are
 * any. */
static bool clear_marked(struct nri_merge *merge, const struct nri_rule *rule, void *const *items,
                         size_t count, bool *marks)
{
    for (size_t i = 0; i < count; i++) {
        struct nri_key key = nri_key_of(items[i]);
        if (!nri_key_unmark(&key))
            continue;
        *marks = true;
        if (!note_removal(merge, rule, key) || !clear_if_set(merge, rule, key))
            return false;
    }
    return true;
}

/* Mounts, environment, devices. In Go's result only a mount's removal is forwarded: a variable or a
 * device of the container's own cannot be removed there. */
static int merge_entries(struct nri_merge *merge, const struct nri_rule *rule, void *const *items,
                         size_t count, struct nri_error *error)
{
    const size_t start = list_of(merge, rule)->count;
    const bool forwarded = rule->field == NRI_FIELD_MOUNTS || !merge->settings.go_compatible;
    bool marks = false;
    if (!clear_marked(merge, rule, items, count, &marks))
        return nri_merge_no_memory(merge, error);
    for (size_t i = 0; i < count; i++) {
        struct nri_key key = nri_key_of(items[i]);
        int code = nri_key_unmark(&key) ? 0 : set(merge, rule, key, items[i], error);
        if (code != 0)
            return code;
    }
    for (size_t i = 0; marks && forwarded && i < count; i++) {
        struct nri_key key = nri_key_of(items[i]);
        if (!nri_key_unmark(&key))
            continue;
        const struct nri_keys_item *owner = owner_of(merge, rule, key);
        bool instead = owner != NULL && owner->slot != NRI_NO_SLOT && owner->slot >= start;
        if (!instead && !forward(merge, rule, key, items[i], start))
            return nri_merge_no_memory(merge, error);
    }
    return 0;
}

/* The entry of a map that removes a key, as it is forwarded: without a value. The layout is that of
 * all entries: base, key, then a pointer to text or message. */
static void *blank(struct nri_merge *merge, void *item)
{
    const ProtobufCFieldDescriptor *value = &((ProtobufCMessage *)item)->descriptor->fields[1];
    const void *had = nri_rule_pointer(item, (uint16_t)value->offset);
    const void *none = protobuf_c_empty_string;
    if (value->type == PROTOBUF_C_TYPE_STRING) {
        if (had == NULL || nri_message_text_length(had) == 0)
            return item;
    } else {
        const ProtobufCMessageDescriptor *type = value->descriptor;
        void *empty = nri_arena_alloc(merge->arena, type->sizeof_message);
        if (empty == NULL)
            return NULL;
        type->message_init(empty);
        none = empty;
    }
    const size_t size = ((ProtobufCMessage *)item)->descriptor->sizeof_message;
    void *copy = nri_arena_alloc(merge->arena, size);
    if (copy != NULL) {
        memcpy(copy, item, size);
        nri_rule_set_pointer(copy, (uint16_t)value->offset, none);
    }
    return copy;
}

/* A removal in a map. In Go's result one that comes alone is forwarded, and takes nothing away of
 * what was set before: both reach the runtime, in any order. */
static bool remove_from_map(struct nri_merge *merge, const struct nri_rule *rule,
                            struct nri_key key, void *const *items, void *item)
{
    struct nri_keys_item *mark = marked_item(merge, rule, key);
    if (mark == NULL || !note_removal(merge, rule, key))
        return false;
    mark->value = items;
    if (mark->slot == NRI_NO_SLOT) {
        item = blank(merge, item);
        if (item == NULL || !nri_slots_add(list_of(merge, rule), merge->arena, item, &mark->slot))
            return false;
        list_of(merge, rule)->marks++;
    }
    return merge->settings.go_compatible || clear_if_set(merge, rule, key);
}

/* Whether the same reply removes the key. */
static bool removed_in(const struct nri_merge *merge, const struct nri_rule *rule,
                       struct nri_key key, void *const *items)
{
    const struct nri_keys_item *mark =
        merge->marked == NULL ? NULL : nri_keys_find(&merge->marked[rule->list], key);
    return mark != NULL && mark->value == items;
}

/* Annotations, sysctls, network devices. */
static int merge_map(struct nri_merge *merge, const struct nri_rule *rule, void *const *items,
                     size_t count, struct nri_error *error)
{
    for (size_t i = 0; i < count; i++) {
        struct nri_key key = nri_key_of(items[i]);
        if (nri_key_unmark(&key) && !remove_from_map(merge, rule, key, items, items[i]))
            return nri_merge_no_memory(merge, error);
    }
    for (size_t i = 0; i < count; i++) {
        struct nri_key key = nri_key_of(items[i]);
        if (nri_key_unmark(&key))
            continue;
        if (removed_in(merge, rule, key, items) && !clear(merge, rule, key))
            return nri_merge_no_memory(merge, error);
        int code = set(merge, rule, key, items[i], error);
        if (code != 0)
            return code;
    }
    return 0;
}

/* Lists from which nothing is taken away; of namespaces a removal is owned as a set is. */
static int merge_added(struct nri_merge *merge, const struct nri_rule *rule, void *const *items,
                       size_t count, struct nri_error *error)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < count; i++) {
        struct nri_key key = nri_key_of(items[i]);
        merge->removes = rule->kind == NRI_RULE_CLAIMED && nri_key_unmark(&key);
        list_of(merge, rule)->marks += merge->removes;
        code = set(merge, rule, key, items[i], error);
        merge->removes = false;
    }
    return code;
}

static int merge_unowned(struct nri_merge *merge, const struct nri_rule *rule, void *const *items,
                         size_t count, struct nri_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (!nri_slots_add(list_of(merge, rule), merge->arena, items[i], NULL) ||
            !nri_merge_note(merge, &merge->target.owners, NRI_MERGE_SET, rule->field, NULL, NULL))
            return nri_merge_no_memory(merge, error);
    }
    return 0;
}

int nri_merge_list(struct nri_merge *merge, const struct nri_rule *rule, void *const *items,
                   size_t count, struct nri_error *error)
{
    /* Here, because a removal is no claim. */
    const bool rules = rule->kind == NRI_RULE_UNOWNED;
    int code = nri_refuse_field(merge, rules ? NRI_FIELD_DEVICES : rule->field,
                                rules ? (struct nri_key){0} : nri_key_of(items[0]), error);
    if (code != 0)
        return code;
    switch (rule->kind) {
    case NRI_RULE_ENTRIES:
        return merge_entries(merge, rule, items, count, error);
    case NRI_RULE_MAP:
        return merge_map(merge, rule, items, count, error);
    case NRI_RULE_UNOWNED:
        return merge_unowned(merge, rule, items, count, error);
    default:
        return merge_added(merge, rule, items, count, error);
    }
}
