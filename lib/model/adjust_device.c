/* SPDX-License-Identifier: Apache-2.0 */
/* ContainerAdjustment.linux.devices */
#include <string.h>

#include "model/adjustment_builder.h"
#include "model/make.h"

typedef NRI_MESSAGE(LinuxDevice) device_message;
typedef NRI_MESSAGE(LinuxDeviceCgroup) rule_message;

static device_message *make_removal(struct nri_builder *builder, const char *path)
{
    device_message *message =
        nri_make_empty(builder, &nri__pkg__api__v1alpha1__linux_device__descriptor);
    if (message != NULL)
        message->path = nri_builder_marker(builder, path);
    return message != NULL && message->path != NULL ? message : NULL;
}

static rule_message *held_rule(const struct nri_adjustment_rare *rare, const char *path)
{
    const struct nri_keyed_item *item = nri_keyed_find(&rare->injected, path, strlen(path));
    return item != NULL ? (rule_message *)(void *)item->entry : NULL;
}

static bool is_of(const rule_message *rule, const device_message *device)
{
    const char *type = strcmp(device->type, "u") == 0 ? "c" : device->type;
    return rule->major->value == device->major && rule->minor->value == device->minor &&
           strcmp(rule->type, type) == 0;
}

/* Which rule the device at a path holds from now on: its own, or the one that is there if the node
 * is of that device still. The other one is released. Cannot fail: the path has an item if there
 * is a rule. */
static void settle_rule(nri_adjustment *adjustment, const char *path, const device_message *entry,
                        rule_message *before, rule_message *rule)
{
    struct nri_adjustment_rare *rare = adjustment->rare;
    if (rule == NULL && before != NULL && entry != NULL && is_of(before, entry))
        return;
    if (rule != NULL || before != NULL)
        (void)nri_keyed_set(&rare->injected, &adjustment->builder, path, NULL,
                            rule != NULL ? &rule->base : NULL);
    if (before != NULL)
        nri_resources_release_device_rule(nri_resources_builder_edit(&adjustment->resources),
                                          before);
}

/* After all checks. `entry` NULL: there is to be none. */
static int change(nri_adjustment *adjustment, const char *path, bool removes, device_message *entry,
                  rule_message *rule)
{
    struct nri_builder *builder = &adjustment->builder;
    struct nri_adjustment_rare *rare = nri_adjustment_need_rare(adjustment);
    device_message *removal = NULL;
    char *key = entry != NULL ? entry->path : nri_builder_text(builder, path);
    bool done = rare != NULL && key != NULL;
    rule_message *before = done ? held_rule(rare, key) : NULL;
    if (done && removes) {
        removal = make_removal(builder, path);
        done = removal != NULL;
    }
    if (done && rule != NULL) /* room for the rule, so that the device cannot come without it */
        done = nri_keyed_set(&rare->injected, builder, key, NULL,
                             before != NULL ? &before->base : NULL) == 0;
    if (done)
        done = nri_keyed_set(&rare->devices, builder, key, removal != NULL ? &removal->base : NULL,
                             entry != NULL ? &entry->base : NULL) == 0;
    if (done) {
        settle_rule(adjustment, key, entry, before, rule);
        return 0;
    }
    const struct nri_where field = {.within = "device", .key = path, .name = "entry"};
    return nri_builder_refuse_memory(builder, &field);
}

int nri_adjustment_put_device(nri_adjustment *adjustment, bool replace, device_message *device,
                              rule_message *rule)
{
    return change(adjustment, device->path, replace, device, rule);
}

int nri_adjustment_add_device(nri_adjustment *adjustment, const char *path, const char *type,
                              int64_t major, int64_t minor, const uint32_t *file_mode,
                              const uint32_t *uid, const uint32_t *gid)
{
    device_message *entry;
    int code = nri_adjustment_enter(adjustment);
    if (code == 0)
        code = nri_make_device(&adjustment->builder, path, type, major, minor, file_mode, uid, gid,
                               &entry);
    return code == 0 ? nri_adjustment_put_device(adjustment, false, entry, NULL) : code;
}

int nri_adjustment_replace_device(nri_adjustment *adjustment, const char *path, const char *type,
                                  int64_t major, int64_t minor, const uint32_t *file_mode,
                                  const uint32_t *uid, const uint32_t *gid)
{
    device_message *entry;
    int code = nri_adjustment_enter(adjustment);
    if (code == 0)
        code = nri_make_device(&adjustment->builder, path, type, major, minor, file_mode, uid, gid,
                               &entry);
    return code == 0 ? nri_adjustment_put_device(adjustment, true, entry, NULL) : code;
}

int nri_adjustment_remove_device(nri_adjustment *adjustment, const char *path)
{
    int code = nri_adjustment_enter(adjustment);
    if (code == 0)
        code = nri_check_device_path(&adjustment->builder, path);
    return code == 0 ? change(adjustment, path, true, NULL, NULL) : code;
}
