/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

NRI_OCI_PLACE(rules, resources, "devices");

/* ---- as a text ---- */

static void show_number(char shown[24], const int64_t *number)
{
    if (number != NULL)
        (void)snprintf(shown, 24, "%" PRId64, *number);
    else
        (void)snprintf(shown, 24, "*");
}

const char *nri_oci_rule_show(struct nri_oci_edit *edit, const struct nri_oci_rule *rule)
{
    const char *type = rule->type[0] != '\0' ? rule->type : "a";
    const size_t room = strlen(type) + strlen(rule->access) + NRI_OCI_RULE_SHOWN;
    char major[24], minor[24], *shown = nri_oci_alloc(edit, room, 1);
    if (shown == NULL)
        return NULL;
    show_number(major, rule->major);
    show_number(minor, rule->minor);
    /* With its length, as a type may be any text. */
    (void)snprintf(shown, room, "%d %zu %s %s:%s %s", rule->allow, strlen(type), type, major, minor,
                   rule->access);
    return shown;
}

void nri_oci_rule_show_device(char shown[NRI_OCI_RULE_SHOWN], char type, int64_t major,
                              int64_t minor)
{
    (void)snprintf(shown, NRI_OCI_RULE_SHOWN, "%c %" PRId64 ":%" PRId64, type, major, minor);
}

/* ---- of the document ---- */

struct read_rule {
    struct nri_oci_rule rule;
    int64_t major, minor;
};

static const int64_t *number_of(const struct nri_json *element, const char *key, int64_t *number,
                                bool *known)
{
    const struct nri_json *value = nri_json_get(element, key);
    if (nri_json_type(value) == NRI_JSON_NULL)
        return NULL;
    if (nri_json_int64(value, number) != 0)
        *known = false;
    return number;
}

/* False when it has a form that is not known here: such a rule is left alone. */
static bool read_rule(const struct nri_json *element, struct read_rule *read)
{
    bool known = nri_json_type(nri_json_get(element, "allow")) == NRI_JSON_BOOL;
    read->rule.allow = nri_json_bool(nri_json_get(element, "allow"));
    read->rule.type = nri_json_string(nri_json_get(element, "type"), NULL);
    read->rule.access = nri_json_string(nri_json_get(element, "access"), NULL);
    read->rule.major = number_of(element, "major", &read->major, &known);
    read->rule.minor = number_of(element, "minor", &read->minor, &known);
    return known;
}

static void note(struct nri_oci_rules *rules, struct nri_oci_edit *edit,
                 const struct nri_oci_rule *rule, size_t position)
{
    const char *key = nri_oci_rule_show(edit, rule);
    rules->latest_other[rule->allow] = position + 1;
    if (key != NULL &&
        nri_map_set(&rules->latest, key, strlen(key), (void *)(uintptr_t)(position + 1), NULL) != 0)
        nri_oci_no_memory(edit);
}

void nri_oci_rules_begin(struct nri_oci_rules *rules, struct nri_oci_edit *edit)
{
    struct nri_alloc alloc;
    nri_arena_allocator(edit->source.arena, &alloc);
    *rules = (struct nri_oci_rules){.array = nri_oci_find(edit, &rules_place, NRI_JSON_ARRAY)};
    nri_map_init(&rules->latest, &alloc, edit->settings->limits.seed);
    const size_t count = nri_json_count(rules->array);
    for (size_t i = 0; i < count && edit->failure == 0; i++) {
        const struct nri_json_place place = {.parent = &rules_place, .index = i};
        struct read_rule read;
        const struct nri_json *element = nri_json_at(rules->array, i);
        if (!nri_oci_expect(edit, &place, element, NRI_JSON_OBJECT))
            return;
        if (read_rule(element, &read))
            note(rules, edit, &read.rule, i);
        else /* whatever it does, nothing in front of it is sure to count */
            rules->latest_other[0] = rules->latest_other[1] = i + 1;
    }
}

/* It is there, with none behind it that does the opposite. */
static bool counts(const struct nri_oci_rules *rules, struct nri_oci_edit *edit,
                   const struct nri_oci_rule *rule)
{
    const char *shown = nri_oci_rule_show(edit, rule);
    return shown != NULL && (uintptr_t)nri_map_get(&rules->latest, shown, strlen(shown)) >
                                rules->latest_other[!rule->allow];
}

void nri_oci_rules_add(struct nri_oci_rules *rules, struct nri_oci_edit *edit,
                       const struct nri_oci_where *where, const struct nri_oci_rule *rule)
{
    if (edit->failure != 0 || (!nri_oci_go(edit) && counts(rules, edit, rule)))
        return;
    struct nri_json *value = nri_oci_new(edit, NRI_JSON_OBJECT);
    nri_oci_set(edit, value, "allow", nri_oci_bool(edit, rule->allow));
    if (rule->type[0] != '\0')
        nri_oci_set(edit, value, "type",
                    nri_oci_bytes(edit, where, rule->type, strlen(rule->type)));
    if (rule->major != NULL)
        nri_oci_set(edit, value, "major", nri_oci_int64(edit, *rule->major));
    if (rule->minor != NULL)
        nri_oci_set(edit, value, "minor", nri_oci_int64(edit, *rule->minor));
    if (rule->access[0] != '\0')
        nri_oci_set(edit, value, "access",
                    nri_oci_bytes(edit, where, rule->access, strlen(rule->access)));
    if (rules->array == NULL)
        rules->array = nri_oci_make(edit, &rules_place, NRI_JSON_ARRAY);
    const size_t position = nri_json_count(rules->array);
    nri_oci_append(edit, rules->array, value);
    if (edit->failure == 0)
        note(rules, edit, rule, position);
}

void nri_oci_rules_revoke(struct nri_oci_edit *edit, const struct nri_map *devices)
{
    struct nri_json *array = nri_oci_find(edit, &rules_place, NRI_JSON_ARRAY);
    const size_t count = nri_json_count(array);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        char shown[NRI_OCI_RULE_SHOWN];
        struct read_rule read;
        struct nri_json *element = nri_json_at(array, i);
        if (read_rule(element, &read) && read.rule.allow && read.rule.major != NULL &&
            read.rule.minor != NULL && strlen(read.rule.type) == 1) {
            nri_oci_rule_show_device(shown, read.rule.type[0], read.major, read.minor);
            if (nri_map_get(devices, shown, strlen(shown)) != NULL)
                continue;
        }
        (void)nri_json_put(array, kept++, element);
    }
    nri_json_truncate(array, kept);
}
