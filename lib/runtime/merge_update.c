/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Updates of containers, in any reply. Everything an update sets is claimed before anything of it
 * is done: so an update that may fail leaves nothing behind, but the claims that it made before.
 */
#include "runtime/merging.h"

#include "model/quote.h"

static const char *id_of(const struct nri_merge *merge)
{
    return merge->container->id;
}

static bool is_requested(const struct nri_merge *merge, struct nri_key id)
{
    return nri_key_same(id, nri_key_from(id_of(merge)));
}

static void init_update(struct nri_merge_update *update, const char *id,
                        const resources_message *base)
{
    update->base = base;
    update->resources = NRI_MESSAGE_NEW(resources_message, LINUX_RESOURCES);
    update->memory = NRI_MESSAGE_NEW(memory_message, LINUX_MEMORY);
    update->cpu = NRI_MESSAGE_NEW(cpu_message, LINUX_CPU);
    if (base != NULL)
        update->resources = *base;
    if (base != NULL && base->memory != NULL)
        update->memory = *base->memory;
    if (base != NULL && base->cpu != NULL)
        update->cpu = *base->cpu;
    update->target.owners.id = id;
    update->target.lists = update->lists;
    update->target.parts[NRI_PART_RESOURCES] = &update->resources;
    update->target.parts[NRI_PART_MEMORY] = &update->memory;
    update->target.parts[NRI_PART_CPU] = &update->cpu;
}

/* The one update of a container in the result. */
static int find_update(struct nri_merge *merge, const update_message *message,
                       struct nri_merge_update **found, struct nri_error *error)
{
    const struct nri_key id = nri_key_from(message->container_id);
    struct nri_quote shown;
    if (merge->event == NRI_EVENT_CREATE_CONTAINER && is_requested(merge, id))
        return nri_error_set(error, NRI_E_INVALID,
                             "plugin \"%s\" asked update of %s during creation", merge->plugin,
                             nri_quote(&shown, message->container_id));
    struct nri_keys_item *item = nri_keys_get(&merge->updates, merge->arena, merge->seed, id);
    if (item == NULL)
        return nri_merge_no_memory(merge, error);
    if (item->value == NULL) {
        const bool own = merge->event == NRI_EVENT_UPDATE_CONTAINER && is_requested(merge, id);
        struct nri_merge_update *update = nri_arena_zero(merge->arena, sizeof *update);
        if (update == NULL)
            return nri_merge_no_memory(merge, error);
        init_update(update, message->container_id, own ? merge->asked : NULL);
        update->ignore_failure = true;
        item->value = update;
        if (own)
            merge->own = update;
    }
    /* The table's values are those that were put there a few lines up. */
    memcpy(found, &item->value, sizeof *found);
    (*found)->ignore_failure = (*found)->ignore_failure && message->ignore_failure;
    return 0;
}

/* What a rule finds in an update: a value or a list's items, and how many. Go takes the limit of
 * processes not from the update but from what is being updated, and claims it for the plugin. */
static size_t find_value(const struct nri_merge *merge, const struct nri_merge_update *update,
                         const struct nri_rule *rule, const void *const parts[NRI_PARTS],
                         void **value)
{
    const void *part = parts[rule->part];
    *value = NULL;
    if (rule->field == NRI_FIELD_PIDS_LIMIT && merge->settings.go_compatible)
        part = &update->resources;
    if (part == NULL || rule->kind == NRI_RULE_UNOWNED)
        return 0;
    *value = nri_rule_pointer(part, rule->member);
    if (*value == NULL)
        return 0;
    if (rule->kind == NRI_RULE_ADDED)
        return nri_rule_number(part, rule->count);
    return rule->kind == NRI_RULE_MESSAGE || nri_message_text_length(*value) > 0;
}

static int claim_rule(struct nri_merge *merge, struct nri_owners *owners,
                      const struct nri_rule *rule, void *value, size_t count,
                      struct nri_error *error)
{
    if (count == 0)
        return 0;
    if (rule->kind != NRI_RULE_ADDED) {
        nri_same_value *same = rule->kind == NRI_RULE_TEXT ? nri_same_text : nri_same_message;
        int verdict = nri_claim_field(merge, owners, rule->field, value, same, error);
        return verdict < 0 ? verdict : 0;
    }
    void *const *items = value;
    for (size_t i = 0; i < count; i++) {
        struct nri_keys_item *owner = NULL;
        int verdict = nri_claim_key(merge, owners, rule->field, nri_key_of(items[i]), items[i],
                                    &owner, error);
        if (verdict < 0)
            return verdict;
    }
    return 0;
}

static bool put_rule(struct nri_merge *merge, struct nri_merge_update *update,
                     const struct nri_rule *rule, void *value, size_t count)
{
    if (count == 0)
        return true;
    if (rule->kind != NRI_RULE_ADDED) {
        nri_rule_set_pointer(update->target.parts[rule->part], rule->member, value);
        return true;
    }
    struct nri_slots *list = &update->target.lists[rule->list];
    void *const *items = value;
    for (size_t i = 0; i < count; i++) {
        struct nri_keys_item *owner =
            nri_owner_of_key(&update->target.owners, rule->field, nri_key_of(items[i]));
        if (owner->slot != NRI_NO_SLOT)
            nri_slots_drop(list, owner->slot);
        if (!nri_slots_add(list, merge->arena, items[i], &owner->slot))
            return false;
    }
    return true;
}

static int update_resources(struct nri_merge *merge, struct nri_merge_update *update,
                            const resources_message *resources, struct nri_error *error)
{
    const void *parts[NRI_PARTS];
    void *value;
    int code = 0;
    nri_parts_of_resources(parts, resources);
    for (size_t i = 0; code == 0 && i < nri_rule_count; i++) {
        const struct nri_rule *rule = &nri_rules[i];
        if (rule->part < NRI_PART_RESOURCES)
            continue;
        const size_t count = find_value(merge, update, rule, parts, &value);
        code = claim_rule(merge, &update->target.owners, rule, value, count, error);
    }
    if (code != 0)
        return code;
    for (size_t i = 0; i < nri_rule_count; i++) {
        const struct nri_rule *rule = &nri_rules[i];
        if (rule->part < NRI_PART_RESOURCES)
            continue;
        const size_t count = find_value(merge, update, rule, parts, &value);
        if (!put_rule(merge, update, rule, value, count))
            return nri_merge_no_memory(merge, error);
    }
    update->resolved = true;
    merge->resources_changed = merge->resources_changed || update == merge->own;
    return 0;
}

int nri_merge_updates(struct nri_merge *merge, update_message *const *updates, size_t count,
                      struct nri_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const update_message *message = updates[i];
        struct nri_merge_update *update = NULL;
        int code = find_update(merge, message, &update, error);
        if (update == NULL)
            return code;
        if (message->linux != NULL && message->linux->resources != NULL)
            code = update_resources(merge, update, message->linux->resources, error);
        if ((code == NRI_E_CONFLICT || code == NRI_E_UNSUPPORTED) && message->ignore_failure) {
            nri_error_clear(error);
            code = 0;
        }
        if (code != 0)
            return code;
    }
    return 0;
}

/* A list of what was asked for, without what plugins set instead, and then what they set. Go adds a
 * limit of huge pages that a plugin sets to the one that is there. */
static bool list_out(struct nri_merge *merge, struct nri_merge_update *update,
                     const struct nri_rule *rule)
{
    const struct nri_slots *slots = &update->target.lists[rule->list];
    const bool all = merge->settings.go_compatible && rule->list == NRI_LIST_HUGEPAGES;
    const size_t had = update->base == NULL ? 0 : nri_rule_number(update->base, rule->count);
    size_t count = 0;
    if (nri_slots_count(slots) == 0)
        return true;
    void *const *base = had > 0 ? nri_rule_pointer(update->base, rule->member) : NULL;
    void **set = nri_slots_list(slots, merge->arena, false);
    void **list = nri_arena_array(merge->arena, had + nri_slots_count(slots), sizeof *list);
    if (set == NULL || list == NULL)
        return false;
    for (size_t i = 0; i < had; i++) {
        const struct nri_keys_item *owner =
            nri_owner_of_key(&update->target.owners, rule->field, nri_key_of(base[i]));
        if (all || owner == NULL || owner->slot == NRI_NO_SLOT)
            list[count++] = base[i];
    }
    memcpy(list + count, set, nri_slots_count(slots) * sizeof *list);
    nri_rule_set_pointer(&update->resources, rule->member, list);
    nri_rule_set_number(&update->resources, rule->count, count + nri_slots_count(slots));
    return true;
}

const resources_message *nri_merge_update_resources(struct nri_merge *merge,
                                                    struct nri_merge_update *update)
{
    bool filled[NRI_PARTS];
    const bool go = merge->settings.go_compatible;
    for (size_t i = 0; i < nri_rule_count; i++) {
        const struct nri_rule *rule = &nri_rules[i];
        if (rule->part == NRI_PART_RESOURCES && rule->kind == NRI_RULE_ADDED &&
            !list_out(merge, update, rule))
            return NULL;
    }
    nri_parts_filled(update->target.parts, filled);
    update->resources.memory = filled[NRI_PART_MEMORY] || go ? &update->memory : NULL;
    update->resources.cpu = filled[NRI_PART_CPU] || go ? &update->cpu : NULL;
    return &update->resources;
}
