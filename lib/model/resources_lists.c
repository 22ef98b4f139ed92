/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of the resources to be changed: hugepage limits, cgroup v2 values, rules of the device
 * cgroup. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "model/keyed.h"
#include "model/quote.h"
#include "model/resources_store.h"
#include "wire/message.h"

typedef Nri__Pkg__Api__V1alpha1__HugepageLimit hugepage_message;
typedef Nri__Pkg__Api__V1alpha1__LinuxResources__UnifiedEntry unified_message;
typedef Nri__Pkg__Api__V1alpha1__LinuxDeviceCgroup rule_message;

/* ---- hugepage limits ---- */

/* A size of a kernel's huge pages as it names the files of the cgroup, which runtimes look for
 * under just this name: in the largest unit of which it is a whole number. */
static bool is_page_size(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    const char *unit = text + digits;
    unsigned number = 0;
    if (digits > 3 || text[0] == '0') /* more digits are never below 1024 and a power of two */
        return false;
    for (size_t i = 0; i < digits; i++)
        number = number * 10 + (unsigned)(text[i] - '0');
    return number > 0 && (number & (number - 1)) == 0 && unit[0] != '\0' &&
           strchr("KMG", unit[0]) != NULL && strcmp(unit + 1, "B") == 0;
}

static int check_page_size(struct nri_resources_store *store, const char *page_size)
{
    struct nri_where where = nri_resources_where(store, "hugepage size");
    int code = nri_builder_check_filled(store->builder, &where, page_size);
    if (code != 0 || is_page_size(page_size))
        return code;
    return nri_builder_refuse(
        store->builder, NRI_E_INVALID, &where, page_size,
        "must be a power of two below 1024 and \"KB\", \"MB\" or \"GB\", as the "
        "kernel writes it, such as \"2MB\"");
}

static hugepage_message *make_hugepage_limit(struct nri_builder *builder, const char *page_size,
                                             uint64_t bytes)
{
    char *text = nri_builder_text(builder, page_size);
    hugepage_message *message = NULL;
    if (text != NULL)
        message = nri_arena_alloc(builder->arena, sizeof *message);
    if (message == NULL)
        return NULL;
    nri__pkg__api__v1alpha1__hugepage_limit__init(message);
    message->page_size = text;
    message->limit = bytes;
    return message;
}

int nri_resources_set_hugepage_limit(nri_resources *resources, const char *page_size,
                                     uint64_t bytes)
{
    int code = nri_resources_enter(resources);
    if (code != 0)
        return code;
    struct nri_resources_store *store = nri_resources_store_of(resources);
    code = check_page_size(store, page_size);
    if (code != 0)
        return code;
    hugepage_message *message = make_hugepage_limit(store->builder, page_size, bytes);
    if (message == NULL ||
        nri_unique_set(&store->hugepage_limits, store->builder, &store->resources.n_hugepage_limits,
                       &store->resources.hugepage_limits, &message->base) != 0)
        return nri_resources_refuse_memory(store, "hugepage limit");
    store->used = true;
    return 0;
}

/* ---- cgroup v2 values ---- */

static int check_unified_key(struct nri_resources_store *store, const char *key)
{
    struct nri_where where = nri_resources_where(store, "unified key");
    int code = nri_builder_check_filled(store->builder, &where, key);
    if (code != 0 || strchr(key, '/') == NULL)
        return code;
    return nri_builder_refuse(store->builder, NRI_E_INVALID, &where, key,
                              "must be the name of a cgroup file, without \"/\"");
}

static int check_unified_value(struct nri_resources_store *store, const char *key,
                               const char *value)
{
    char name[sizeof(struct nri_quote) + 16];
    struct nri_quote quote;
    if (value != NULL && nri_utf8_valid(value, strlen(value), NULL))
        return 0;
    snprintf(name, sizeof name, "unified %s value", nri_quote(&quote, key));
    struct nri_where where = nri_resources_where(store, name);
    return nri_builder_check_text(store->builder, &where, value);
}

static unified_message *make_unified(struct nri_builder *builder, const char *key,
                                     const char *value)
{
    char *key_text = nri_builder_text(builder, key);
    char *value_text = nri_builder_text(builder, value);
    unified_message *message = NULL;
    if (key_text != NULL && value_text != NULL)
        message = nri_arena_alloc(builder->arena, sizeof *message);
    if (message == NULL)
        return NULL;
    nri__pkg__api__v1alpha1__linux_resources__unified_entry__init(message);
    message->key = key_text;
    message->value = value_text;
    return message;
}

int nri_resources_set_unified(nri_resources *resources, const char *key, const char *value)
{
    int code = nri_resources_enter(resources);
    if (code != 0)
        return code;
    struct nri_resources_store *store = nri_resources_store_of(resources);
    code = check_unified_key(store, key);
    if (code == 0)
        code = check_unified_value(store, key, value);
    if (code != 0)
        return code;
    unified_message *message = make_unified(store->builder, key, value);
    if (message == NULL ||
        nri_unique_set(&store->unified, store->builder, &store->resources.n_unified,
                       &store->resources.unified, &message->base) != 0)
        return nri_resources_refuse_memory(store, "unified");
    store->used = true;
    return 0;
}

/* ---- rules of the device cgroup ---- */

/* What makes two rules the same one, as a key of the hash over a long list: no padding, what is not
 * there is 0. */
struct rule_key {
    int64_t major, minor;
    char type;
    char access[4];
    uint8_t allow, has_major, has_minor;
};

/* A rule that was made here, in one piece. It is there while it is wanted for its own sake or
 * somebody holds it. */
struct rule {
    rule_message message;
    Nri__Pkg__Api__V1alpha1__OptionalInt64 major, minor;
    bool wanted;
    size_t holders;
};

/* What the hash says of a rule: its last copy counts. */
struct nri_rule_entry {
    struct rule_key key;
    struct rule *made; /* NULL for a rule that was adopted: none of those ever goes */
    size_t serial;     /* grows along the list, and is not given again */
};

/* False for a rule that no setter could make; one from a runtime may hold anything. */
static bool rule_key(const rule_message *rule, struct rule_key *key)
{
    size_t access_length = nri_message_text_length(rule->access);
    if (nri_message_text_length(rule->type) != 1 || access_length > 3)
        return false;
    *key = (struct rule_key){
        .major = rule->major != NULL ? rule->major->value : 0,
        .minor = rule->minor != NULL ? rule->minor->value : 0,
        .type = rule->type[0],
        .allow = rule->allow != 0,
        .has_major = rule->major != NULL,
        .has_minor = rule->minor != NULL,
    };
    memcpy(key->access, rule->access, access_length);
    return true;
}

/* ---- whether a rule would change anything ---- */

/* A later rule overrides an earlier one, so that a rule is needless only where the same one is
 * there and none behind it does the opposite. Those are few: what is between is not compared
 * further. */
struct same {
    bool found;
    struct rule *made; /* NULL when it was adopted */
};

static struct same find_in_list(const struct nri_resources_store *store,
                                const struct rule_key *wanted)
{
    struct rule_key key;
    const size_t adopted = store->resources.n_devices - store->made_rules;
    for (size_t i = store->resources.n_devices; i-- > 0;) {
        rule_message *rule = store->resources.devices[i];
        if ((rule->allow != 0) != wanted->allow)
            break;
        if (rule_key(rule, &key) && memcmp(&key, wanted, sizeof key) == 0)
            return (struct same){true, i >= adopted ? (struct rule *)(void *)rule : NULL};
    }
    return (struct same){false, NULL};
}

static struct same find_rule(const struct nri_resources_store *store, const struct rule_key *wanted)
{
    if (store->device_rules == NULL)
        return find_in_list(store, wanted);
    const struct nri_rule_entry *entry = nri_map_get(store->device_rules, wanted, sizeof *wanted);
    if (entry == NULL || entry->serial < store->last_rules[!wanted->allow])
        return (struct same){false, NULL};
    return (struct same){true, entry->made};
}

/* The hash over the rules that are there, before the list grows long. */
static int index_rules(struct nri_resources_store *store)
{
    struct nri_arena *arena = store->builder->arena;
    const size_t count = store->resources.n_devices, adopted = count - store->made_rules;
    if (store->device_rules != NULL || count < NRI_KEYED_LINEAR)
        return 0;
    struct nri_alloc alloc;
    struct nri_map *map = nri_arena_alloc(arena, sizeof *map);
    struct nri_rule_entry *entries = nri_arena_array(arena, count, sizeof *entries);
    if (map == NULL || entries == NULL)
        return arena->failure;
    nri_arena_allocator(arena, &alloc);
    nri_map_init(map, &alloc, store->builder->seed);
    int code = 0;
    for (size_t i = 0; code == 0 && i < count; i++) {
        rule_message *rule = store->resources.devices[i];
        store->last_rules[rule->allow != 0] = i + 1;
        entries[i].made = i >= adopted ? (struct rule *)(void *)rule : NULL;
        entries[i].serial = i + 1;
        if (rule_key(rule, &entries[i].key))
            code = nri_map_set(map, &entries[i].key, sizeof entries[i].key, &entries[i], NULL);
    }
    if (code != 0)
        return code;
    store->rule_serial = count;
    store->device_rules = map;
    return 0;
}

static int check_rule_number(struct nri_resources_store *store, const char *name,
                             const int64_t *number)
{
    char text[24];
    if (number == NULL || *number >= 0)
        return 0;
    struct nri_where where = nri_resources_where(store, name);
    snprintf(text, sizeof text, "%" PRId64, *number);
    return nri_builder_refuse_number(store->builder, NRI_E_RANGE, &where, text,
                                     "must be 0 or more; NULL is for all");
}

static int check_rule_type(struct nri_resources_store *store, const char *type)
{
    struct nri_where where = nri_resources_where(store, "device rule type");
    int code = nri_builder_check_filled(store->builder, &where, type);
    if (code != 0 || (strchr("acb", type[0]) != NULL && type[1] == '\0'))
        return code;
    return nri_builder_refuse(store->builder, NRI_E_INVALID, &where, type,
                              "must be \"a\" (all), \"c\" or \"b\"");
}

static int check_rule_access(struct nri_resources_store *store, const char *access)
{
    struct nri_where where = nri_resources_where(store, "device rule access");
    int code = nri_builder_check_filled(store->builder, &where, access);
    if (code != 0)
        return code;
    bool right = true;
    for (const char *letter = access; right && *letter != '\0'; letter++)
        right = strchr("rwm", *letter) != NULL && strchr(letter + 1, *letter) == NULL;
    if (right)
        return 0;
    return nri_builder_refuse(store->builder, NRI_E_INVALID, &where, access,
                              "must be letters of \"rwm\", each once");
}

static void init_number(Nri__Pkg__Api__V1alpha1__OptionalInt64 *place, int64_t value,
                        Nri__Pkg__Api__V1alpha1__OptionalInt64 **field)
{
    nri__pkg__api__v1alpha1__optional_int64__init(place);
    place->value = value;
    *field = place;
}

static struct rule *make_rule(struct nri_builder *builder, bool allow, const char *type,
                              const int64_t *major, const int64_t *minor, const char *access)
{
    char *type_text = nri_builder_text(builder, type);
    char *access_text = nri_builder_text(builder, access);
    struct rule *rule = NULL;
    if (type_text != NULL && access_text != NULL)
        rule = nri_arena_alloc(builder->arena, sizeof *rule);
    if (rule == NULL)
        return NULL;
    nri__pkg__api__v1alpha1__linux_device_cgroup__init(&rule->message);
    rule->message.allow = allow;
    rule->message.type = type_text;
    rule->message.access = access_text;
    if (major != NULL)
        init_number(&rule->major, *major, &rule->message.major);
    if (minor != NULL)
        init_number(&rule->minor, *minor, &rule->message.minor);
    rule->wanted = false;
    rule->holders = 0;
    return rule;
}

/* Makes a rule known to the hash of a long list. */
static int enter_rule(struct nri_resources_store *store, const struct rule_key *key,
                      struct rule *rule)
{
    if (store->device_rules == NULL)
        return 0;
    struct nri_rule_entry *entry = nri_arena_alloc(store->builder->arena, sizeof *entry);
    if (entry == NULL)
        return store->builder->arena->failure;
    *entry = (struct nri_rule_entry){*key, rule, store->rule_serial + 1};
    int code = nri_map_set(store->device_rules, &entry->key, sizeof entry->key, entry, NULL);
    if (code == 0)
        store->last_rules[key->allow] = ++store->rule_serial;
    return code;
}

static int append_rule(struct nri_resources_store *store, const struct rule_key *key,
                       struct rule *rule)
{
    int code = nri_list_append_again(store->builder, &store->resources.n_devices,
                                     &store->most_rules, &store->resources.devices, &rule->message);
    if (code != 0)
        return code;
    code = enter_rule(store, key, rule);
    if (code != 0)
        store->resources.n_devices--;
    else
        store->made_rules++;
    return code;
}

/* Appends unless it would change nothing: *rule is then the one that is there, NULL when that was
 * adopted. */
static int add_rule(struct nri_resources_store *store, struct rule **rule)
{
    struct rule_key key = {0};
    int code = index_rules(store);
    if (code != 0)
        return code;
    (void)rule_key(&(*rule)->message, &key); /* a setter's rule has one */
    const struct same same = find_rule(store, &key);
    if (!same.found)
        return append_rule(store, &key, *rule);
    *rule = same.made;
    return 0;
}

/* A rule that is there already, or a new one; *rule as from add_rule(). */
static int need_rule(nri_resources *resources, bool allow, const char *type, const int64_t *major,
                     const int64_t *minor, const char *access, struct rule **rule)
{
    int code = nri_resources_enter(resources);
    if (code != 0)
        return code;
    struct nri_resources_store *store = nri_resources_store_of(resources);
    code = check_rule_type(store, type);
    if (code == 0)
        code = check_rule_number(store, "device rule major", major);
    if (code == 0)
        code = check_rule_number(store, "device rule minor", minor);
    if (code == 0)
        code = check_rule_access(store, access);
    if (code != 0)
        return code;
    *rule = make_rule(store->builder, allow, type, major, minor, access);
    if (*rule == NULL || add_rule(store, rule) != 0)
        return nri_resources_refuse_memory(store, "device rule");
    store->used = true;
    return 0;
}

int nri_resources_add_device_rule(nri_resources *resources, bool allow, const char *type,
                                  const int64_t *major, const int64_t *minor, const char *access)
{
    struct rule *rule;
    int code = need_rule(resources, allow, type, major, minor, access, &rule);
    if (code == 0 && rule != NULL)
        rule->wanted = true;
    return code;
}

/* ---- rules that are held ---- */

int nri_resources_hold_device_rule(nri_resources *resources, const char *type, int64_t major,
                                   int64_t minor, const char *access,
                                   Nri__Pkg__Api__V1alpha1__LinuxDeviceCgroup **held)
{
    struct rule *rule;
    int code = need_rule(resources, true, type, &major, &minor, access, &rule);
    if (code != 0)
        return code;
    if (rule != NULL)
        rule->holders++;
    *held = rule != NULL ? &rule->message : NULL;
    return 0;
}

static bool sets_something(const Nri__Pkg__Api__V1alpha1__LinuxResources *resources)
{
    return resources->memory != NULL || resources->cpu != NULL ||
           resources->n_hugepage_limits > 0 || resources->blockio_class != NULL ||
           resources->rdt_class != NULL || resources->n_unified > 0 || resources->n_devices > 0 ||
           resources->pids != NULL;
}

/* A copy of the rule further back may be the one that the hash knows. */
static void forget_rule(struct nri_resources_store *store, const struct rule *rule)
{
    struct rule_key key;
    (void)rule_key(&rule->message, &key);
    const struct nri_rule_entry *entry = nri_map_get(store->device_rules, &key, sizeof key);
    if (entry != NULL && entry->made == rule)
        (void)nri_map_remove(store->device_rules, &key, sizeof key);
}

/* The order of the others stays, because later rules override earlier ones. From the end: what is
 * injected again was mostly injected last. */
static void take_out(struct nri_resources_store *store, struct rule *rule)
{
    rule_message **list = store->resources.devices;
    size_t count = store->resources.n_devices, place = count - 1;
    while (list[place] != &rule->message)
        place--;
    memmove(&list[place], &list[place + 1], (count - 1 - place) * sizeof list[0]);
    store->resources.n_devices--;
    store->made_rules--;
    if (store->device_rules != NULL)
        forget_rule(store, rule);
}

void nri_resources_release_device_rule(nri_resources *resources,
                                       Nri__Pkg__Api__V1alpha1__LinuxDeviceCgroup *held)
{
    struct rule *rule = (struct rule *)(void *)held;
    if (rule == NULL || --rule->holders > 0 || rule->wanted)
        return;
    struct nri_resources_store *store = nri_resources_store_of(resources);
    take_out(store, rule);
    store->used = sets_something(&store->resources);
}
