/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/failure.h"

#include <string.h>

#include "base/abi.h"
#include "model/model.h"

struct nri_failure_entry {
    struct nri_failure_entry *next;
    struct nri_failure_policy policy;
    char plugin[];
};

NRI_ABI_ASSERT(struct nri_failure_policy);

void nri_failure_policy_init(struct nri_failure_policy *policy, size_t size)
{
    nri_abi_init(policy, size);
}

/* ---- one policy ---- */

static int check_choice(const char *name, int value, struct nri_error *error)
{
    if (value >= 0 && value <= 2)
        return 0;
    return nri_error_set(error, NRI_E_INVALID, "failure policy: %s is %d: must be from 0 to 2",
                         name, value);
}

int nri_failure_take(struct nri_failure_policy *known, const struct nri_failure_policy *from,
                     struct nri_error *error)
{
    int code =
        nri_abi_take(known, sizeof *known, sizeof *known, from, "struct nri_failure_policy", error);
    if (code == 0 && (known->reserved_pointer != NULL ||
                      !nri_abi_is_zero(known->reserved, sizeof known->reserved)))
        code = nri_error_set(error, NRI_E_ABI, "struct nri_failure_policy: reserved must be 0");
    if (code == 0)
        code = check_choice("on_timeout", known->on_timeout, error);
    if (code == 0)
        code = check_choice("on_loss", known->on_loss, error);
    if (code == 0)
        code = check_choice("on_error", known->on_error, error);
    if (code == 0)
        code = check_choice("after_timeout", known->after_timeout, error);
    if (code == 0)
        code = check_choice("after_error", known->after_error, error);
    return code;
}

int nri_failure_check_general(const struct nri_failure_policy *policy, struct nri_error *error)
{
    if (policy->required == 0)
        return 0;
    return nri_error_set(error, NRI_E_INVALID,
                         "failure policy: required is for one plugin, set by its name: must be 0 "
                         "in that of all");
}

/* What NRI's own runtime does stands in for what is not set. */
static void resolve(struct nri_failure_policy *policy)
{
    if (policy->on_timeout == NRI_FAILURE_DEFAULT)
        policy->on_timeout = NRI_FAILURE_SKIP;
    if (policy->on_loss == NRI_FAILURE_DEFAULT)
        policy->on_loss = NRI_FAILURE_SKIP;
    if (policy->on_error == NRI_FAILURE_DEFAULT)
        policy->on_error = NRI_FAILURE_FAIL;
    if (policy->after_timeout == NRI_FATE_DEFAULT)
        policy->after_timeout = NRI_FATE_DROP;
    if (policy->after_error == NRI_FATE_DEFAULT)
        policy->after_error = NRI_FATE_KEEP;
}

int nri_failure_policy_preset(struct nri_failure_policy *policy, enum nri_failure_preset preset)
{
    struct nri_failure_policy known;

    if (policy == NULL || (int)preset < 0 || preset > NRI_FAILURE_PRESET_STRICT)
        return NRI_E_INVALID;
    const int code = nri_failure_take(&known, policy, NULL);
    if (code != 0)
        return code;
    const int action = preset == NRI_FAILURE_PRESET_STRICT ? NRI_FAILURE_FAIL : NRI_FAILURE_SKIP;
    const bool go = preset == NRI_FAILURE_PRESET_GO;
    policy->on_timeout = go ? NRI_FAILURE_DEFAULT : action;
    policy->on_loss = go ? NRI_FAILURE_DEFAULT : action;
    policy->on_error = go ? NRI_FAILURE_DEFAULT : action;
    policy->after_timeout = go ? NRI_FATE_DEFAULT : NRI_FATE_KEEP;
    policy->after_error = go ? NRI_FATE_DEFAULT : NRI_FATE_KEEP;
    return 0;
}

bool nri_failure_fails(const struct nri_failure_policy *policy, enum nri_failure what,
                       bool creation)
{
    int action = policy->on_error;

    if (creation && policy->required != 0)
        return true;
    if (what == NRI_FAILURE_TIMEOUT)
        action = policy->on_timeout;
    else if (what == NRI_FAILURE_LOSS)
        action = policy->on_loss;
    return action == NRI_FAILURE_FAIL;
}

bool nri_failure_drops(const struct nri_failure_policy *policy, enum nri_failure what)
{
    if (what == NRI_FAILURE_LOSS)
        return true;
    return (what == NRI_FAILURE_TIMEOUT ? policy->after_timeout : policy->after_error) ==
           NRI_FATE_DROP;
}

/* ---- those of a runtime ---- */

void nri_failures_init(struct nri_failures *failures, const struct nri_alloc *alloc,
                       const struct nri_failure_policy *general)
{
    *failures = (struct nri_failures){.alloc = *alloc, .general = *general};
    resolve(&failures->general);
}

void nri_failures_fini(struct nri_failures *failures)
{
    while (failures->entries != NULL) {
        struct nri_failure_entry *entry = failures->entries;
        failures->entries = entry->next;
        nri_alloc_release(&failures->alloc, entry);
    }
}

static struct nri_failure_entry **find(struct nri_failures *failures, const char *plugin)
{
    struct nri_failure_entry **at = &failures->entries;

    while (*at != NULL && strcmp((*at)->plugin, plugin) != 0)
        at = &(*at)->next;
    return at;
}

static struct nri_failure_entry *add(struct nri_failures *failures, const char *plugin)
{
    const size_t length = strlen(plugin);
    struct nri_failure_entry *entry = nri_alloc_zero(&failures->alloc, sizeof *entry + length + 1);

    if (entry != NULL) {
        memcpy(entry->plugin, plugin, length + 1);
        entry->next = failures->entries;
        failures->entries = entry;
    }
    return entry;
}

int nri_failures_set(struct nri_failures *failures, const char *plugin,
                     const struct nri_failure_policy *policy, struct nri_error *error)
{
    struct nri_failure_policy known = {.size = sizeof known};
    struct nri_failure_entry **at = plugin == NULL ? NULL : find(failures, plugin);
    int code = policy == NULL ? 0 : nri_failure_take(&known, policy, error);

    if (code == 0 && plugin == NULL)
        code = nri_failure_check_general(&known, error);
    else if (code == 0)
        code = nri_identity_check_name(plugin, error);
    if (code != 0)
        return code;
    resolve(&known);
    if (plugin == NULL) {
        failures->general = known;
        return 0;
    }
    if (policy == NULL) {
        struct nri_failure_entry *entry = *at;
        if (entry != NULL)
            *at = entry->next;
        nri_alloc_release(&failures->alloc, entry);
        return 0;
    }
    struct nri_failure_entry *entry = *at != NULL ? *at : add(failures, plugin);
    if (entry == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "out of memory for a failure policy");
    entry->policy = known;
    return 0;
}

static const struct nri_failure_entry *look(const struct nri_failures *failures, const char *plugin)
{
    const struct nri_failure_entry *entry = failures->entries;

    while (entry != NULL && strcmp(entry->plugin, plugin) != 0)
        entry = entry->next;
    return entry;
}

const struct nri_failure_policy *nri_failures_of(const struct nri_failures *failures,
                                                 const char *name, const char *id)
{
    const struct nri_failure_entry *entry = look(failures, id);

    if (entry == NULL)
        entry = look(failures, name);
    return entry != NULL ? &entry->policy : &failures->general;
}

const char *nri_failures_missing(const struct nri_failures *failures,
                                 bool (*is_there)(void *user, const char *plugin), void *user)
{
    for (const struct nri_failure_entry *entry = failures->entries; entry != NULL;
         entry = entry->next) {
        if (entry->policy.required != 0 && !is_there(user, entry->plugin))
            return entry->plugin;
    }
    return NULL;
}
