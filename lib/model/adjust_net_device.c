/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ContainerAdjustment.linux.net_devices: a map from the name on the host. A removal's value is an
 * empty message, because a map entry without one does not survive every protobuf implementation.
 */
#include "model/adjustment_builder.h"
#include "model/make.h"

typedef NRI_MESSAGE(LinuxContainerAdjustment__NetDevicesEntry) entry_message;

static int check(nri_adjustment *adjustment, const char *host_name, const char *name)
{
    int code = nri_adjustment_enter(adjustment);
    if (code == 0)
        code = nri_check_net_device(&adjustment->builder, "net device", host_name);
    if (code == 0 && name != NULL && name[0] != '\0')
        code = nri_check_net_device(&adjustment->builder, "net device name", name);
    return code;
}

static entry_message *make(struct nri_builder *builder, char *key, const char *name)
{
    entry_message *entry = nri_make_empty(
        builder,
        &nri__pkg__api__v1alpha1__linux_container_adjustment__net_devices_entry__descriptor);
    if (entry == NULL || key == NULL)
        return NULL;
    entry->key = key;
    entry->value = nri_make_empty(builder, &nri__pkg__api__v1alpha1__linux_net_device__descriptor);
    if (entry->value == NULL)
        return NULL;
    entry->value->name = nri_builder_text(builder, name);
    return entry->value->name != NULL ? entry : NULL;
}

/* After all checks. */
static int change(nri_adjustment *adjustment, const char *host_name, bool removes, bool adds,
                  const char *name)
{
    struct nri_builder *builder = &adjustment->builder;
    struct nri_adjustment_rare *rare = nri_adjustment_need_rare(adjustment);
    char *key = nri_builder_text(builder, host_name);
    entry_message *removal = NULL, *entry = NULL;
    bool done = rare != NULL && key != NULL;
    if (done && removes) {
        removal = make(builder, nri_builder_marker(builder, host_name), NULL);
        done = removal != NULL;
    }
    if (done && adds) {
        entry = make(builder, key, name);
        done = entry != NULL;
    }
    if (done)
        done =
            nri_keyed_set(&rare->net_devices, builder, key, removal != NULL ? &removal->base : NULL,
                          entry != NULL ? &entry->base : NULL) == 0;
    if (done)
        return 0;
    const struct nri_where field = {.within = "net device", .key = host_name, .name = "entry"};
    return nri_builder_refuse_memory(builder, &field);
}

int nri_adjustment_add_net_device(nri_adjustment *adjustment, const char *host_name,
                                  const char *name)
{
    int code = check(adjustment, host_name, name);
    return code == 0 ? change(adjustment, host_name, false, true, name) : code;
}

int nri_adjustment_replace_net_device(nri_adjustment *adjustment, const char *host_name,
                                      const char *name)
{
    int code = check(adjustment, host_name, name);
    return code == 0 ? change(adjustment, host_name, true, true, name) : code;
}

int nri_adjustment_remove_net_device(nri_adjustment *adjustment, const char *host_name)
{
    int code = check(adjustment, host_name, NULL);
    return code == 0 ? change(adjustment, host_name, true, false, NULL) : code;
}
