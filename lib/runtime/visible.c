/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/visible.h"

#include "base/text.h"
#include "runtime/merging.h"

/* The messages that are copied of the container, all at once. Lists become ours when they change.
 */
struct nri_visible_copy {
    container_message container;
    linux_container_message linux_part;
    resources_message resources;
    memory_message memory;
    cpu_message cpu;
    hooks_message hooks;
    void *parts[NRI_PARTS];
    size_t room[NRI_LISTS]; /* of a list that is ours; 0: it is not */
    size_t hook_room[NRI_HOOK_STAGES];
};

/* One list under change. */
struct editing {
    struct nri_merge *merge;
    struct nri_visible_copy *copy;
    const struct nri_rule *rule;
    void *const *items; /* of the reply */
    size_t count;
    struct nri_keys changed; /* the keys that are taken away or set */
};

/* Links a part into the one around it, once something is in it. */
static void open_part(struct nri_visible_copy *copy, unsigned part)
{
    if (part >= NRI_PART_LINUX)
        copy->container.linux = &copy->linux_part;
    if (part >= NRI_PART_RESOURCES)
        copy->linux_part.resources = &copy->resources;
    if (part == NRI_PART_MEMORY)
        copy->resources.memory = &copy->memory;
    if (part == NRI_PART_CPU)
        copy->resources.cpu = &copy->cpu;
}

static void copy_resources(struct nri_visible_copy *copy, const resources_message *given)
{
    copy->resources = *given;
    open_part(copy, NRI_PART_RESOURCES);
    if (given->memory != NULL) {
        copy->memory = *given->memory;
        open_part(copy, NRI_PART_MEMORY);
    }
    if (given->cpu != NULL) {
        copy->cpu = *given->cpu;
        open_part(copy, NRI_PART_CPU);
    }
}

static void copy_parts(struct nri_visible_copy *copy, const container_message *given)
{
    copy->container = *given;
    copy->linux_part = NRI_MESSAGE_NEW(linux_container_message, LINUX_CONTAINER);
    copy->resources = NRI_MESSAGE_NEW(resources_message, LINUX_RESOURCES);
    copy->memory = NRI_MESSAGE_NEW(memory_message, LINUX_MEMORY);
    copy->cpu = NRI_MESSAGE_NEW(cpu_message, LINUX_CPU);
    copy->hooks = NRI_MESSAGE_NEW(hooks_message, HOOKS);
    if (given->linux != NULL) {
        copy->linux_part = *given->linux;
        open_part(copy, NRI_PART_LINUX);
        if (given->linux->resources != NULL)
            copy_resources(copy, given->linux->resources);
    }
    if (given->hooks != NULL) {
        copy->hooks = *given->hooks;
        copy->container.hooks = &copy->hooks;
    }
}

static struct nri_visible_copy *make_copy(struct nri_merge *merge)
{
    struct nri_visible_copy *copy = nri_arena_zero(merge->arena, sizeof *copy);
    if (copy == NULL)
        return NULL;
    copy_parts(copy, merge->visible.given);
    copy->parts[NRI_PART_ADJUST] = &copy->container;
    copy->parts[NRI_PART_LINUX] = &copy->linux_part;
    copy->parts[NRI_PART_RESOURCES] = &copy->resources;
    copy->parts[NRI_PART_MEMORY] = &copy->memory;
    copy->parts[NRI_PART_CPU] = &copy->cpu;
    if (merge->settings.go_compatible) { /* Go shows all of these, empty or not */
        open_part(copy, NRI_PART_MEMORY);
        open_part(copy, NRI_PART_CPU);
        copy->container.hooks = &copy->hooks;
    }
    merge->visible.copy = copy;
    return copy;
}

/* The key of what a container has in a list: a variable of its environment is one text. */
static struct nri_key seen_key(const struct nri_rule *rule, const void *item)
{
    if (rule->list != NRI_LIST_ENV)
        return nri_key_of(item);
    struct nri_key key = nri_key_from(item);
    const char *end = key.length == 0 ? NULL : memchr(key.text, '=', key.length);
    if (end != NULL)
        key.length = (size_t)(end - key.text);
    return key;
}

/* "NAME=VALUE" of a KeyValue. */
static char *variable(struct nri_arena *arena, const void *item)
{
    const Nri__Pkg__Api__V1alpha1__KeyValue *pair = item;
    const struct nri_key name = nri_key_from(pair->key), value = nri_key_from(pair->value);
    uint32_t *header = nri_arena_alloc(arena, NRI_TEXT_HEADER + name.length + 1 + value.length + 1);
    if (header == NULL)
        return NULL;
    char *text = (char *)(header + 1);
    *header = (uint32_t)(name.length + 1 + value.length);
    memcpy(text, name.text, name.length);
    text[name.length] = '=';
    memcpy(text + name.length + 1, value.text, value.length);
    text[*header] = '\0';
    return text;
}

static bool removable(const struct nri_rule *rule)
{
    return rule->kind <= NRI_RULE_CLAIMED;
}

/* Whether what a reply sets is still what counts: a later reply, or a policy, may have changed
 * that. */
static bool counts(const struct editing *edit, struct nri_key key, const void *item)
{
    const struct nri_keys_item *owner =
        nri_owner_of_key(&edit->merge->target.owners, edit->rule->field, key);
    return owner != NULL && owner->value == item;
}

/* Whether an item of a reply is to be seen. Rules of the device cgroup have no key, and all are. */
static bool shows(const struct editing *edit, const void *item)
{
    if (edit->rule->kind == NRI_RULE_UNOWNED)
        return true;
    struct nri_key key = nri_key_of(item);
    return !(removable(edit->rule) && nri_key_unmark(&key)) && counts(edit, key, item);
}

/* Whether an item of the reply takes something away of what is seen. In Go a removal in a map takes
 * nothing away, and limits stand beside those that the container has. */
static bool takes_away(const struct editing *edit, struct nri_key key, bool mark, const void *item)
{
    const struct nri_rule *rule = edit->rule;
    if (edit->merge->settings.go_compatible) {
        if (mark && rule->kind == NRI_RULE_MAP)
            return false;
        if (rule->kind == NRI_RULE_ADDED && rule->list != NRI_LIST_UNIFIED &&
            edit->merge->settings.policy[rule->field] == NRI_MERGE_REJECT)
            return false;
    }
    return mark || counts(edit, key, item);
}

static bool find_changed(struct editing *edit)
{
    for (size_t i = 0; edit->rule->kind != NRI_RULE_UNOWNED && i < edit->count; i++) {
        struct nri_key key = nri_key_of(edit->items[i]);
        const bool mark = removable(edit->rule) && nri_key_unmark(&key);
        if (takes_away(edit, key, mark, edit->items[i]) &&
            nri_keys_get(&edit->changed, edit->merge->arena, edit->merge->seed, key) == NULL)
            return false;
    }
    return true;
}

/* Room for all that a list has and gets; what it has and keeps moves there, or stays. The number
 * kept, or SIZE_MAX with the arena's failure set. */
static size_t keep(struct editing *edit, void ***list)
{
    void *part = edit->copy->parts[edit->rule->part];
    void **had = nri_rule_pointer(part, edit->rule->seen);
    const size_t count = nri_rule_number(part, edit->rule->seen_count);
    size_t *room = &edit->copy->room[edit->rule->list], kept = 0;
    *list = had;
    if (*room < count + edit->count) {
        size_t wanted = 2 * (count + edit->count);
        *list = nri_arena_array(edit->merge->arena, wanted, sizeof **list);
        if (*list == NULL)
            return SIZE_MAX;
        *room = wanted;
    }
    for (size_t i = 0; i < count; i++) {
        if (edit->changed.count == 0 ||
            nri_keys_find(&edit->changed, seen_key(edit->rule, had[i])) == NULL)
            (*list)[kept++] = had[i];
    }
    return kept;
}

static bool show_list(struct editing *edit)
{
    void *part = edit->copy->parts[edit->rule->part];
    void **list;
    if (!find_changed(edit))
        return false;
    size_t count = keep(edit, &list);
    if (count == SIZE_MAX)
        return false;
    for (size_t i = 0; i < edit->count; i++) {
        void *item = edit->items[i];
        if (!shows(edit, item))
            continue;
        if (edit->rule->list == NRI_LIST_ENV)
            item = variable(edit->merge->arena, item);
        if (item == NULL)
            return false;
        list[count++] = item;
    }
    nri_rule_set_pointer(part, edit->rule->seen, list);
    nri_rule_set_number(part, edit->rule->seen_count, count);
    return true;
}

/* In Go's container there are no arguments after a reply that only clears them, though the runtime
 * will use those that it had. */
static void show_args(struct nri_merge *merge, struct nri_visible_copy *copy,
                      const adjustment_message *adjust)
{
    const size_t skip = nri_message_text_length(adjust->args[0]) == 0;
    copy->container.args = adjust->args + skip;
    copy->container.n_args = adjust->n_args - skip;
    if (copy->container.n_args == 0 && !merge->settings.go_compatible) {
        copy->container.args = merge->visible.given->args;
        copy->container.n_args = merge->visible.given->n_args;
    }
}

static bool show_hooks(struct nri_merge *merge, struct nri_visible_copy *copy,
                       const hooks_message *hooks)
{
    copy->container.hooks = &copy->hooks;
    for (size_t stage = 0; stage < NRI_HOOK_STAGES; stage++) {
        void *const *items = nri_rule_pointer(hooks, nri_hook_members[stage]);
        const size_t more = nri_rule_number(hooks, nri_hook_counts[stage]);
        void **list = nri_rule_pointer(&copy->hooks, nri_hook_members[stage]);
        const size_t count = nri_rule_number(&copy->hooks, nri_hook_counts[stage]);
        if (more == 0)
            continue;
        if (copy->hook_room[stage] < count + more) {
            void **had = list;
            copy->hook_room[stage] = 2 * (count + more);
            list = nri_arena_array(merge->arena, copy->hook_room[stage], sizeof *list);
            if (list == NULL)
                return false;
            if (count > 0)
                memcpy(list, had, count * sizeof *list);
        }
        memcpy(list + count, items, more * sizeof *list);
        nri_rule_set_pointer(&copy->hooks, nri_hook_members[stage], list);
        nri_rule_set_number(&copy->hooks, nri_hook_counts[stage], count + more);
    }
    return true;
}

/* The member of the container that a rule is about. */
static size_t member_of(const struct nri_rule *rule)
{
    return rule->part == NRI_PART_ADJUST ? rule->seen : offsetof(container_message, linux);
}

static bool show_rule(struct nri_merge *merge, struct nri_visible_copy *copy,
                      const struct nri_rule *rule, const void *part)
{
    void *value = nri_rule_pointer(part, rule->member);
    if (value == NULL)
        return true;
    merge->visible.changed |= NRI_MEMBER(member_of(rule));
    switch (rule->kind) {
    case NRI_RULE_TEXT:
        if (nri_message_text_length(value) == 0)
            return true;
        /* fall through */
    case NRI_RULE_MESSAGE:
        open_part(copy, rule->part);
        nri_rule_set_pointer(copy->parts[rule->part], rule->seen, value);
        return true;
    case NRI_RULE_HOOKS:
        return show_hooks(merge, copy, value);
    default:
        break;
    }
    const size_t count = nri_rule_number(part, rule->count);
    if (count == 0)
        return true;
    if (rule->kind == NRI_RULE_ARGS) {
        show_args(merge, copy, part);
        return true;
    }
    open_part(copy, rule->part);
    struct editing edit = {merge, copy, rule, value, count, {0}};
    return show_list(&edit);
}

static bool show(struct nri_merge *merge, struct nri_visible_copy *copy,
                 const adjustment_message *adjust)
{
    const void *parts[NRI_PARTS];
    nri_parts_of(parts, adjust);
    for (size_t i = 0; i < nri_rule_count; i++) {
        const struct nri_rule *rule = &nri_rules[i];
        if (rule->seen != NRI_NOT_SEEN && parts[rule->part] != NULL &&
            !show_rule(merge, copy, rule, parts[rule->part]))
            return false;
    }
    return true;
}

bool nri_visible_add(struct nri_merge *merge, const adjustment_message *adjust)
{
    struct nri_visible *visible = &merge->visible;
    if (visible->todo_count == visible->todo_room) {
        size_t room = visible->todo_room == 0 ? 4 : visible->todo_room * 2;
        const adjustment_message **todo = nri_arena_array(merge->arena, room, sizeof *todo);
        if (todo == NULL)
            return false;
        if (visible->todo_count > 0)
            memcpy(todo, visible->todo, visible->todo_count * sizeof *todo);
        visible->todo = todo;
        visible->todo_room = room;
    }
    visible->todo[visible->todo_count++] = adjust;
    return true;
}

const container_message *nri_visible_get(struct nri_merge *merge, nri_members *changed)
{
    struct nri_visible *visible = &merge->visible;
    const bool create = merge->event == NRI_EVENT_CREATE_CONTAINER;
    if (!visible->asked)
        visible->changed = NRI_MEMBERS_ALL;
    visible->asked = true;
    if (visible->copy == NULL && create &&
        (visible->todo_count > 0 || merge->settings.go_compatible) && make_copy(merge) == NULL)
        return NULL;
    for (size_t i = 0; i < visible->todo_count && visible->copy != NULL; i++) {
        if (!show(merge, visible->copy, visible->todo[i]))
            return NULL;
    }
    if (changed != NULL) {
        *changed = visible->changed;
        visible->changed = 0;
    }
    if (visible->copy == NULL)
        return visible->given;
    visible->todo_count = 0;
    return &visible->copy->container;
}
