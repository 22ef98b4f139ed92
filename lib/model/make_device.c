/* SPDX-License-Identifier: Apache-2.0 */
/* LinuxDevice */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/make.h"

#define MODE_MOST 07777u

typedef NRI_MESSAGE(LinuxDevice) device_message;

int nri_check_device_path(struct nri_builder *builder, const char *path)
{
    const struct nri_where field = {.name = "device path"};
    return nri_check_absolute(builder, &field, path);
}

static int check_type(struct nri_builder *builder, const char *path, const char *type)
{
    const struct nri_where field = {.within = "device", .key = path, .name = "type"};
    int code = nri_builder_check_filled(builder, &field, type);
    if (code != 0 || (type[1] == '\0' && strchr("cubp", type[0]) != NULL))
        return code;
    return nri_builder_refuse(builder, NRI_E_INVALID, &field, type,
                              "must be \"c\", \"u\", \"b\" or \"p\"");
}

static int check_number(struct nri_builder *builder, const char *path, const char *name,
                        int64_t number)
{
    const struct nri_where field = {.within = "device", .key = path, .name = name};
    return nri_check_signed(builder, &field, number, number >= 0, "must be 0 or more");
}

/* In octal, as everybody writes it. */
static int check_mode(struct nri_builder *builder, const char *path, const uint32_t *mode)
{
    const struct nri_where field = {.within = "device", .key = path, .name = "file mode"};
    char number[16];
    if (mode == NULL || *mode <= MODE_MOST)
        return 0;
    snprintf(number, sizeof number, "0%" PRIo32, *mode);
    return nri_builder_refuse_number(builder, NRI_E_RANGE, &field, number,
                                     "must be permission bits, at most 07777");
}

static bool fill_owner(struct nri_builder *builder, const uint32_t *id,
                       NRI_MESSAGE(OptionalUInt32) * *owner)
{
    if (id == NULL)
        return true;
    *owner = nri_make_empty(builder, &nri__pkg__api__v1alpha1__optional_uint32__descriptor);
    if (*owner != NULL)
        (*owner)->value = *id;
    return *owner != NULL;
}

static bool fill(struct nri_builder *builder, device_message *device, const uint32_t *file_mode,
                 const uint32_t *uid, const uint32_t *gid)
{
    if (file_mode != NULL) {
        device->file_mode =
            nri_make_empty(builder, &nri__pkg__api__v1alpha1__optional_file_mode__descriptor);
        if (device->file_mode == NULL)
            return false;
        device->file_mode->value = *file_mode;
    }
    return fill_owner(builder, uid, &device->uid) && fill_owner(builder, gid, &device->gid);
}

int nri_make_device(struct nri_builder *builder, const char *path, const char *type, int64_t major,
                    int64_t minor, const uint32_t *file_mode, const uint32_t *uid,
                    const uint32_t *gid, device_message **message)
{
    int code = nri_check_device_path(builder, path);
    if (code == 0)
        code = check_type(builder, path, type);
    if (code == 0)
        code = check_number(builder, path, "major", major);
    if (code == 0)
        code = check_number(builder, path, "minor", minor);
    if (code == 0)
        code = check_mode(builder, path, file_mode);
    if (code != 0)
        return code;
    const struct nri_where field = {.within = "device", .key = path, .name = "entry"};
    device_message *made =
        nri_make_empty(builder, &nri__pkg__api__v1alpha1__linux_device__descriptor);
    if (made == NULL)
        return nri_builder_refuse_memory(builder, &field);
    made->path = nri_builder_text(builder, path);
    made->type = nri_builder_text(builder, type);
    made->major = major;
    made->minor = minor;
    if (made->path == NULL || made->type == NULL || !fill(builder, made, file_mode, uid, gid))
        return nri_builder_refuse_memory(builder, &field);
    *message = made;
    return 0;
}
