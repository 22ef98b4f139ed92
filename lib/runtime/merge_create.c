/* SPDX-License-Identifier: Apache-2.0 */
/* The adjustment in a reply to CreateContainer, rule by rule. */
#include "runtime/merging.h"

const uint16_t nri_hook_members[NRI_HOOK_STAGES] = {
    offsetof(hooks_message, prestart),         offsetof(hooks_message, create_runtime),
    offsetof(hooks_message, create_container), offsetof(hooks_message, start_container),
    offsetof(hooks_message, poststart),        offsetof(hooks_message, poststop)};
const uint16_t nri_hook_counts[NRI_HOOK_STAGES] = {
    offsetof(hooks_message, n_prestart),         offsetof(hooks_message, n_create_runtime),
    offsetof(hooks_message, n_create_container), offsetof(hooks_message, n_start_container),
    offsetof(hooks_message, n_poststart),        offsetof(hooks_message, n_poststop)};

static const struct nri_key no_key;

static int merge_value(struct nri_merge *merge, const struct nri_rule *rule, const void *value,
                       nri_same_value *same, struct nri_error *error)
{
    int verdict = nri_claim_field(merge, &merge->target.owners, rule->field, value, same, error);
    if (verdict < 0)
        return verdict;
    if (verdict != NRI_CLAIM_KEPT)
        nri_rule_set_pointer(merge->target.parts[rule->part], rule->member, value);
    return 0;
}

/* All arguments are replaced. An empty first one says that this plugin may do so whoever did
 * before, and is no argument itself. */
static int merge_args(struct nri_merge *merge, const adjustment_message *adjust,
                      struct nri_error *error)
{
    size_t skip = nri_message_text_length(adjust->args[0]) == 0;
    int code = nri_refuse_field(merge, NRI_FIELD_ARGS, no_key, error);
    if (code != 0)
        return code;
    if (skip > 0 && !nri_clear_field(merge, &merge->target.owners, NRI_FIELD_ARGS))
        return nri_merge_no_memory(merge, error);
    int verdict =
        nri_claim_field(merge, &merge->target.owners, NRI_FIELD_ARGS, adjust, nri_same_args, error);
    if (verdict < 0)
        return verdict;
    if (verdict != NRI_CLAIM_KEPT) {
        merge->adjust.args = adjust->args + skip;
        merge->adjust.n_args = adjust->n_args - skip;
    }
    return 0;
}

/* Hooks of all plugins are kept, one after the other. */
static int merge_hooks(struct nri_merge *merge, const hooks_message *hooks, struct nri_error *error)
{
    bool any = false;
    for (size_t stage = 0; stage < NRI_HOOK_STAGES; stage++) {
        void *const *items = nri_rule_pointer(hooks, nri_hook_members[stage]);
        const size_t count = nri_rule_number(hooks, nri_hook_counts[stage]);
        for (size_t i = 0; i < count; i++) {
            int code = any ? 0 : nri_refuse_field(merge, NRI_FIELD_OCI_HOOKS, no_key, error);
            if (code != 0)
                return code;
            any = true;
            if (!nri_slots_add(&merge->hooks[stage], merge->arena, items[i], NULL))
                return nri_merge_no_memory(merge, error);
        }
    }
    if (any && !nri_claim_hooks(merge, &merge->target.owners))
        return nri_merge_no_memory(merge, error);
    return 0;
}

static const struct {
    uint8_t field;
    uint16_t member;
} rdt_members[] = {
    {NRI_FIELD_RDT_CLOS_ID, offsetof(rdt_message, clos_id)},
    {NRI_FIELD_RDT_SCHEMATA, offsetof(rdt_message, schemata)},
    {NRI_FIELD_RDT_ENABLE_MONITORING, offsetof(rdt_message, enable_monitoring)},
};
#define RDT_MEMBERS (sizeof rdt_members / sizeof rdt_members[0])

static int refuse_rdt_removal(struct nri_merge *merge, struct nri_error *error)
{
    const struct nri_key removal = {"-", 1};
    int code = 0;
    for (size_t i = 0; code == 0 && i < RDT_MEMBERS; i++)
        code = nri_refuse_field(merge, rdt_members[i].field, removal, error);
    return code;
}

static bool remove_rdt(struct nri_merge *merge)
{
    for (size_t i = 0; i < RDT_MEMBERS; i++) {
        if (!nri_clear_field(merge, &merge->target.owners, rdt_members[i].field))
            return false;
    }
    merge->rdt = NRI_MESSAGE_NEW(rdt_message, LINUX_RDT);
    merge->rdt.remove = true;
    return true;
}

/*
 * Removal first, then what is set. Go's result has an empty message for any adjustment with a linux
 * part (its check for nil is one of the wrong variable), and forgets the removal when anything is
 * set after it, so that what the container had before stays.
 */
static int merge_rdt(struct nri_merge *merge, const rdt_message *rdt, struct nri_error *error)
{
    merge->rdt_set = merge->rdt_set || merge->settings.go_compatible || rdt != NULL;
    if (rdt == NULL)
        return 0;
    int code = rdt->remove ? refuse_rdt_removal(merge, error) : 0;
    if (code != 0)
        return code;
    if (rdt->remove && !remove_rdt(merge))
        return nri_merge_no_memory(merge, error);
    for (size_t i = 0; i < RDT_MEMBERS; i++) {
        const void *value = nri_rule_pointer(rdt, rdt_members[i].member);
        if (value == NULL)
            continue;
        int verdict = nri_claim_field(merge, &merge->target.owners, rdt_members[i].field, value,
                                      nri_same_message, error);
        if (verdict < 0)
            return verdict;
        if (verdict != NRI_CLAIM_KEPT)
            nri_rule_set_pointer(&merge->rdt, rdt_members[i].member, value);
        if (merge->settings.go_compatible)
            merge->rdt.remove = false;
    }
    return 0;
}

static int merge_rule(struct nri_merge *merge, const struct nri_rule *rule, const void *part,
                      bool *effect, struct nri_error *error)
{
    const void *value = nri_rule_pointer(part, rule->member);
    if (rule->kind == NRI_RULE_RDT) {
        *effect |= value != NULL;
        return merge_rdt(merge, value, error);
    }
    if (value == NULL)
        return 0;
    switch (rule->kind) {
    case NRI_RULE_MESSAGE:
        *effect = true;
        return merge_value(merge, rule, value, nri_same_message, error);
    case NRI_RULE_TEXT:
        if (nri_message_text_length(value) == 0)
            return 0;
        *effect = true;
        return merge_value(merge, rule, value, nri_same_text, error);
    case NRI_RULE_HOOKS:
        *effect = true;
        return merge_hooks(merge, value, error);
    default:
        break;
    }
    const size_t count = nri_rule_number(part, rule->count);
    if (count == 0)
        return 0;
    *effect = true;
    return rule->kind == NRI_RULE_ARGS ? merge_args(merge, part, error)
                                       : nri_merge_list(merge, rule, value, count, error);
}

int nri_merge_adjust(struct nri_merge *merge, const adjustment_message *adjust, bool *effect,
                     struct nri_error *error)
{
    const void *parts[NRI_PARTS];
    int code = 0;
    nri_parts_of(parts, adjust);
    for (size_t i = 0; code == 0 && i < nri_rule_count; i++) {
        const struct nri_rule *rule = &nri_rules[i];
        if (parts[rule->part] != NULL)
            code = merge_rule(merge, rule, parts[rule->part], effect, error);
    }
    return code;
}
