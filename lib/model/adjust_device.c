/* SPDX-License-Identifier: Apache-2.0 */
/* ContainerAdjustment.linux.devices */
#include "model/adjustment_builder.h"
#include "model/make.h"

typedef NRI_MESSAGE(LinuxDevice) device_message;

static device_message *make_removal(struct nri_builder *builder, const char *path)
{
    device_message *message =
        nri_make_empty(builder, &nri__pkg__api__v1alpha1__linux_device__descriptor);
    if (message != NULL)
        message->path = nri_builder_marker(builder, path);
    return message != NULL && message->path != NULL ? message : NULL;
}

/* After all checks. `entry` NULL: there is to be none. */
static int change(nri_adjustment *adjustment, const char *path, bool removes, device_message *entry)
{
    struct nri_builder *builder = &adjustment->builder;
    struct nri_adjustment_rare *rare = nri_adjustment_need_rare(adjustment);
    device_message *removal = NULL;
    char *key = entry != NULL ? entry->path : nri_builder_text(builder, path);
    bool done = rare != NULL && key != NULL;
    if (done && removes) {
        removal = make_removal(builder, path);
        done = removal != NULL;
    }
    if (done)
        done = nri_keyed_set(&rare->devices, builder, key, removal != NULL ? &removal->base : NULL,
                             entry != NULL ? &entry->base : NULL) == 0;
    if (done)
        return 0;
    const struct nri_where field = {.within = "device", .key = path, .name = "entry"};
    return nri_builder_refuse_memory(builder, &field);
}

int nri_adjustment_put_device(nri_adjustment *adjustment, bool replace, device_message *device)
{
    return change(adjustment, device->path, replace, device);
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
    return code == 0 ? nri_adjustment_put_device(adjustment, false, entry) : code;
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
    return code == 0 ? nri_adjustment_put_device(adjustment, true, entry) : code;
}

int nri_adjustment_remove_device(nri_adjustment *adjustment, const char *path)
{
    int code = nri_adjustment_enter(adjustment);
    if (code == 0)
        code = nri_check_device_path(&adjustment->builder, path);
    return code == 0 ? change(adjustment, path, true, NULL) : code;
}
