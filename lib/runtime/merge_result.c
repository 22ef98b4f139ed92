/* SPDX-License-Identifier: Apache-2.0 */
/* What was collected of all replies, put together. */
#include "runtime/merging.h"

static bool is_list(const struct nri_rule *rule)
{
    return rule->kind >= NRI_RULE_ENTRIES && rule->kind <= NRI_RULE_UNOWNED;
}

static bool filled_by(const struct nri_rule *rule, const void *part)
{
    const void *value = nri_rule_pointer(part, rule->member);
    if (rule->kind == NRI_RULE_TEXT)
        return value != NULL && nri_message_text_length(value) > 0;
    if (is_list(rule) || rule->kind == NRI_RULE_ARGS)
        return nri_rule_number(part, rule->count) > 0;
    return value != NULL;
}

void nri_parts_filled(void *const parts[NRI_PARTS], bool filled[NRI_PARTS])
{
    for (size_t i = 0; i < NRI_PARTS; i++)
        filled[i] = false;
    for (size_t i = 0; i < nri_rule_count; i++) {
        const struct nri_rule *rule = &nri_rules[i];
        if (!filled[rule->part] && parts[rule->part] != NULL)
            filled[rule->part] = filled_by(rule, parts[rule->part]);
    }
    filled[NRI_PART_RESOURCES] |= filled[NRI_PART_MEMORY] || filled[NRI_PART_CPU];
    filled[NRI_PART_LINUX] |= filled[NRI_PART_RESOURCES];
    filled[NRI_PART_ADJUST] |= filled[NRI_PART_LINUX];
}

/* Collected messages in an array of a message. */
static bool slots_out(struct nri_merge *merge, const struct nri_slots *slots, void *part,
                      uint16_t member, uint16_t count)
{
    void **list = NULL;
    if (nri_slots_count(slots) > 0) {
        list = nri_slots_list(slots, merge->arena, !merge->settings.go_compatible);
        if (list == NULL)
            return false;
    }
    nri_rule_set_pointer(part, member, list);
    nri_rule_set_number(part, count, nri_slots_count(slots));
    return true;
}

static bool hooks_out(struct nri_merge *merge)
{
    bool any = merge->settings.go_compatible;
    hooks_message *hooks = nri_arena_alloc(merge->arena, sizeof *hooks);
    if (hooks == NULL)
        return false;
    *hooks = NRI_MESSAGE_NEW(hooks_message, HOOKS);
    for (size_t i = 0; i < NRI_HOOK_STAGES; i++) {
        any = any || merge->hooks[i].count > 0;
        if (!slots_out(merge, &merge->hooks[i], hooks, nri_hook_members[i], nri_hook_counts[i]))
            return false;
    }
    merge->adjust.hooks = any ? hooks : NULL;
    return true;
}

static bool rdt_any(const rdt_message *rdt)
{
    return rdt->remove || rdt->clos_id != NULL || rdt->schemata != NULL ||
           rdt->enable_monitoring != NULL;
}

/* Go's result has every message, empty or not. */
static bool assemble_adjust(struct nri_merge *merge)
{
    const bool go = merge->settings.go_compatible;
    bool filled[NRI_PARTS];
    for (size_t i = 0; i < nri_rule_count; i++) {
        const struct nri_rule *rule = &nri_rules[i];
        if (is_list(rule) && !slots_out(merge, &merge->lists[rule->list],
                                        merge->target.parts[rule->part], rule->member, rule->count))
            return false;
    }
    if ((go || merge->target.owners.hook_count > 0) && !hooks_out(merge))
        return false;
    merge->linux_part.rdt = merge->rdt_set && (go || rdt_any(&merge->rdt)) ? &merge->rdt : NULL;
    nri_parts_filled(merge->target.parts, filled);
    merge->resources.memory = filled[NRI_PART_MEMORY] || go ? &merge->memory : NULL;
    merge->resources.cpu = filled[NRI_PART_CPU] || go ? &merge->cpu : NULL;
    merge->linux_part.resources = filled[NRI_PART_RESOURCES] || go ? &merge->resources : NULL;
    merge->adjust.linux = filled[NRI_PART_LINUX] || go ? &merge->linux_part : NULL;
    merge->create_result.adjust = filled[NRI_PART_ADJUST] || go ? &merge->adjust : NULL;
    return true;
}

static const resources_message *empty_resources(struct nri_merge *merge)
{
    struct {
        resources_message resources;
        memory_message memory;
        cpu_message cpu;
    } *empty = nri_arena_alloc(merge->arena, sizeof *empty);
    if (empty == NULL)
        return NULL;
    empty->resources = NRI_MESSAGE_NEW(resources_message, LINUX_RESOURCES);
    empty->memory = NRI_MESSAGE_NEW(memory_message, LINUX_MEMORY);
    empty->cpu = NRI_MESSAGE_NEW(cpu_message, LINUX_CPU);
    empty->resources.memory = &empty->memory;
    empty->resources.cpu = &empty->cpu;
    return &empty->resources;
}

/* An update's message. In Go's result the resources of an update that had none are empty, also
 * those of the requested container: what was asked for is lost. */
static bool assemble_update(struct nri_merge *merge, struct nri_merge_update *update)
{
    const resources_message *resources = update->base;
    update->linux_part = NRI_MESSAGE_NEW(linux_update_message, LINUX_CONTAINER_UPDATE);
    update->message = NRI_MESSAGE_NEW(update_message, CONTAINER_UPDATE);
    if (update->resolved)
        resources = nri_merge_update_resources(merge, update);
    else if (merge->settings.go_compatible)
        resources = empty_resources(merge);
    if (resources == NULL && merge->arena->failure != 0)
        return false;
    /* A message has no pointer to const, and nothing is changed through it. */
    memcpy(&update->linux_part.resources, &resources, sizeof resources);
    memcpy(&update->message.container_id, &update->target.owners.id, sizeof(char *));
    update->message.linux = resources != NULL ? &update->linux_part : NULL;
    update->message.ignore_failure = update->ignore_failure;
    return true;
}

/* All updates in the order in which the containers were first named, that of the requested one
 * last. */
static bool assemble_updates(struct nri_merge *merge, update_message ***list, size_t *count)
{
    const size_t all = merge->updates.count;
    *count = 0;
    *list = NULL;
    if (all == 0)
        return true;
    *list = nri_arena_array(merge->arena, all, sizeof **list);
    if (*list == NULL)
        return false;
    for (size_t i = 0; i < all; i++) {
        struct nri_merge_update *update;
        memcpy(&update, &merge->updates.items[i].value, sizeof update);
        if (!assemble_update(merge, update))
            return false;
        if (update != merge->own)
            (*list)[(*count)++] = &update->message;
    }
    if (merge->own != NULL)
        (*list)[(*count)++] = &merge->own->message;
    return true;
}

bool nri_merge_assemble(struct nri_merge *merge)
{
    update_message **updates;
    size_t count;
    if (merge->assembled)
        return true;
    if (!assemble_updates(merge, &updates, &count))
        return false;
    if (merge->event == NRI_EVENT_CREATE_CONTAINER && !assemble_adjust(merge))
        return false;
    void *evictions = merge->evictions.items;
    merge->create_result.update = updates;
    merge->create_result.n_update = count;
    memcpy(&merge->create_result.evict, &evictions, sizeof evictions);
    merge->create_result.n_evict = merge->evictions.count;
    merge->update_result.update = updates;
    merge->update_result.n_update = count;
    memcpy(&merge->update_result.evict, &evictions, sizeof evictions);
    merge->update_result.n_evict = merge->evictions.count;
    merge->stop_result.update = updates;
    merge->stop_result.n_update = count;
    merge->assembled = true;
    return true;
}
