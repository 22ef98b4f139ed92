/* SPDX-License-Identifier: Apache-2.0 */
#include "model/model.h"
#include "model/optional.h"
#include "model/reader.h"

typedef Nri__Pkg__Api__V1alpha1__LinuxDevice device_message;

static const device_message empty_device = NRI__PKG__API__V1ALPHA1__LINUX_DEVICE__INIT;

static const device_message *message_of(const nri_device *device)
{
    return device != NULL ? (const void *)device : &empty_device;
}

const nri_device *nri_device_view(const device_message *message)
{
    return (const void *)(message != NULL ? message : &empty_device);
}

const char *nri_device_path(const nri_device *device)
{
    return nri_reader_text(message_of(device)->path);
}

const char *nri_device_type(const nri_device *device)
{
    return nri_reader_text(message_of(device)->type);
}

int64_t nri_device_major(const nri_device *device)
{
    return message_of(device)->major;
}

int64_t nri_device_minor(const nri_device *device)
{
    return message_of(device)->minor;
}

bool nri_device_file_mode(const nri_device *device, uint32_t *mode)
{
    return nri_optional_file_mode(message_of(device)->file_mode, mode);
}

bool nri_device_uid(const nri_device *device, uint32_t *uid)
{
    return nri_optional_uint32(message_of(device)->uid, uid);
}

bool nri_device_gid(const nri_device *device, uint32_t *gid)
{
    return nri_optional_uint32(message_of(device)->gid, gid);
}
