/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linux.devices, by path, and the rule of the device cgroup that each needs: what its permissions
 * allow, and mknod. Where the adjustment has a rule of its own that allows exactly the device, that
 * one counts. With a device that goes or is replaced the rules go that allow it and no other
 * device, unless it is left at another path. One that is set as it was there keeps them, so that
 * doing so again changes nothing.
 *
 * Go's generator removes no rule, and always allows to read and write; to make nodes for block
 * devices alone.
 */
#include <stdio.h>
#include <string.h>

#include "oci/changes.h"
#include "oci/nouns.h"
#include "oci/rules.h"

NRI_OCI_PLACE(devices, linux, "devices");

#define FIELD "linux.devices"

typedef NRI_OCI_MESSAGE(LinuxDevice) device_message;

static const char *text(const char *of_message)
{
    return of_message != NULL ? of_message : "";
}

static struct nri_json *make(struct nri_oci_edit *edit, const void *context, size_t index,
                             struct nri_json *old)
{
    const nri_oci_linux_part *linux_part = context;
    const device_message *device = linux_part->devices[index];
    struct nri_json *value = nri_oci_new(edit, NRI_JSON_OBJECT);
    (void)old;
    nri_oci_set(edit, value, "path",
                nri_oci_text(edit, NRI_OCI_ELEMENT(FIELD, index, "path"), device->path));
    nri_oci_set(edit, value, "type",
                nri_oci_text(edit, NRI_OCI_ELEMENT(FIELD, index, "type"), device->type));
    nri_oci_set(edit, value, "major", nri_oci_int64(edit, device->major));
    nri_oci_set(edit, value, "minor", nri_oci_int64(edit, device->minor));
    if (device->file_mode != NULL)
        nri_oci_set(edit, value, "fileMode", nri_oci_uint64(edit, device->file_mode->value));
    if (device->uid != NULL)
        nri_oci_set(edit, value, "uid", nri_oci_uint64(edit, device->uid->value));
    if (device->gid != NULL)
        nri_oci_set(edit, value, "gid", nri_oci_uint64(edit, device->gid->value));
    return value;
}

/* ---- sets of devices, by type and numbers ---- */

static void add_device(struct nri_oci_edit *edit, struct nri_map *devices, const char *type,
                       int64_t major, int64_t minor)
{
    char shown[NRI_OCI_RULE_SHOWN];
    if (edit->failure != 0 ||
        (strcmp(type, "b") != 0 && strcmp(type, "c") != 0 && strcmp(type, "u") != 0))
        return;
    nri_oci_rule_show_device(shown, type[0] == 'b' ? 'b' : 'c', major, minor);
    const char *key = nri_arena_text(edit->source.arena, shown, strlen(shown));
    if (key == NULL || nri_map_set(devices, key, strlen(key), devices, NULL) != 0)
        nri_oci_no_memory(edit);
}

static bool has_device(const struct nri_map *devices, const char *type, int64_t major,
                       int64_t minor)
{
    char shown[NRI_OCI_RULE_SHOWN];
    nri_oci_rule_show_device(shown, type[0] == 'b' ? 'b' : 'c', major, minor);
    return nri_map_get(devices, shown, strlen(shown)) != NULL;
}

/* A device of the document; false when it is none that is known here. */
static bool read_device(const struct nri_json *element, const char **type, int64_t *major,
                        int64_t *minor)
{
    *type = nri_json_string(nri_json_get(element, "type"), NULL);
    return nri_json_int64(nri_json_get(element, "major"), major) == 0 &&
           nri_json_int64(nri_json_get(element, "minor"), minor) == 0;
}

/* ---- what is set ---- */

struct setting {
    const nri_oci_linux_part *linux_part;
    struct nri_oci_changes changes;
    struct nri_map own;  /* devices that the adjustment has a rule of its own for */
    struct nri_map gone; /* those that were at a path where something is changed */
};

static void find_own(struct nri_oci_edit *edit, struct setting *setting)
{
    const nri_oci_resources_part *resources = setting->linux_part->resources;
    for (size_t i = 0; resources != NULL && i < resources->n_devices; i++) {
        const NRI_OCI_MESSAGE(LinuxDeviceCgroup) *rule = resources->devices[i];
        if (rule->allow && rule->major != NULL && rule->minor != NULL)
            add_device(edit, &setting->own, text(rule->type), rule->major->value,
                       rule->minor->value);
    }
}

/* What the permissions allow, both without any. Go's generator asks for none. */
static void show_access(const struct nri_oci_edit *edit, uint32_t mode, const char *type,
                        char access[4])
{
    const bool go = nri_oci_go(edit);
    const bool reads = go || (mode & 0444u) != 0, writes = go || (mode & 0222u) != 0;
    (void)snprintf(access, 4, "%s%s%s", reads ? "r" : "", writes ? "w" : "",
                   !go || strcmp(type, "b") == 0 ? "m" : "");
}

static uint32_t mode_of(const device_message *device)
{
    return device->file_mode != NULL ? device->file_mode->value : 0666u;
}

/* A device of the document that is set again as it is, with the same rule. */
static bool is_same(const struct nri_oci_edit *edit, const struct setting *setting,
                    const struct nri_json *element, const char *type, int64_t major, int64_t minor)
{
    size_t length;
    int64_t mode = 0666;
    char old_access[4], new_access[4];
    const char *path = nri_json_string(nri_json_get(element, "path"), &length);
    const struct nri_oci_change *change = nri_oci_changes_find(&setting->changes, path, length);
    if (change == NULL || !change->set || has_device(&setting->own, type, major, minor))
        return false;
    const device_message *device = setting->linux_part->devices[change->index];
    if (nri_json_type(nri_json_get(element, "fileMode")) != NRI_JSON_NULL &&
        nri_json_int64(nri_json_get(element, "fileMode"), &mode) != 0)
        return false;
    show_access(edit, (uint32_t)mode, type, old_access);
    show_access(edit, mode_of(device), text(device->type), new_access);
    return strcmp(text(device->type), type) == 0 && device->major == major &&
           device->minor == minor && strcmp(old_access, new_access) == 0;
}

static void note_gone(struct nri_oci_edit *edit, void *state, const struct nri_json *element)
{
    struct setting *setting = state;
    const char *type;
    int64_t major, minor;
    if (read_device(element, &type, &major, &minor) &&
        !is_same(edit, setting, element, type, major, minor))
        add_device(edit, &setting->gone, type, major, minor);
}

/* What is left at a path that nothing is set at keeps its rules. What is set gets its own anew. */
static void revoke(struct nri_oci_edit *edit, struct setting *setting)
{
    const struct nri_json *array = nri_oci_find(edit, &devices_place, NRI_JSON_ARRAY);
    const char *type;
    int64_t major, minor;
    for (size_t i = 0; i < nri_json_count(array); i++) {
        char shown[NRI_OCI_RULE_SHOWN];
        size_t length;
        const struct nri_json *element = nri_json_at(array, i);
        const char *path = nri_json_string(nri_json_get(element, "path"), &length);
        if (nri_oci_changes_find(&setting->changes, path, length) != NULL ||
            !read_device(element, &type, &major, &minor))
            continue;
        nri_oci_rule_show_device(shown, type[0] == 'b' ? 'b' : 'c', major, minor);
        (void)nri_map_remove(&setting->gone, shown, strlen(shown));
    }
    if (nri_map_count(&setting->gone) > 0)
        nri_oci_rules_revoke(edit, &setting->gone);
}

/* ---- the rules of what is set ---- */

static void add_rule(struct nri_oci_edit *edit, struct nri_oci_rules *rules,
                     const struct setting *setting, size_t index)
{
    const device_message *device = setting->linux_part->devices[index];
    const char *type = text(device->type);
    const bool go = nri_oci_go(edit), block = strcmp(type, "b") == 0;
    char access[4];
    show_access(edit, mode_of(device), type, access);
    if (!go && (!(block || strcmp(type, "c") == 0 || strcmp(type, "u") == 0) ||
                has_device(&setting->own, type, device->major, device->minor)))
        return;
    const struct nri_oci_rule rule = {
        .allow = true,
        .type = go ? type : (block ? "b" : "c"),
        .access = access,
        .major = &device->major,
        .minor = &device->minor,
    };
    nri_oci_rules_add(rules, edit, NRI_OCI_ELEMENT(FIELD, index, "type"), &rule);
}

static void add_rules(struct nri_oci_edit *edit, const struct setting *setting)
{
    const struct nri_oci_changes *changes = &setting->changes;
    struct nri_oci_rules rules;
    if (edit->failure != 0 || changes->sets == 0)
        return;
    nri_oci_rules_begin(&rules, edit);
    for (size_t i = 0; i < changes->count && edit->failure == 0; i++) {
        if (changes->list[i].set)
            add_rule(edit, &rules, setting, changes->list[i].index);
    }
}

void nri_oci_apply_devices(struct nri_oci_edit *edit, const nri_oci_linux_part *linux_part)
{
    struct setting setting = {.linux_part = linux_part};
    struct nri_oci_changes *changes = &setting.changes;
    const bool go = nri_oci_go(edit);
    if (linux_part->n_devices == 0)
        return;
    nri_oci_changes_init(changes, edit, linux_part->n_devices);
    nri_map_init(&setting.own, &changes->map.alloc, edit->settings->limits.seed);
    nri_map_init(&setting.gone, &changes->map.alloc, edit->settings->limits.seed);
    const struct nri_oci_list list = {
        .place = &devices_place,
        .key = "path",
        .at_end = go,
        .make = make,
        .gone = go ? NULL : note_gone,
        .context = linux_part,
        .state = &setting,
    };
    for (size_t i = 0; i < linux_part->n_devices && edit->failure == 0; i++)
        nri_oci_changes_add_marked(changes, NRI_OCI_ELEMENT(FIELD, i, "path"),
                                   linux_part->devices[i]->path);
    find_own(edit, &setting);
    nri_oci_changes_apply(changes, &list);
    if (edit->failure == 0 && nri_map_count(&setting.gone) > 0)
        revoke(edit, &setting);
    add_rules(edit, &setting);
}
