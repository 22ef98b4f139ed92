/* SPDX-License-Identifier: Apache-2.0 */
/* Devices of the system this runs on, for nri_adjustment_inject_device(). */
#include <errno.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <nri/error.h>

#include "model/model.h"

static int stat_failure(int number)
{
    switch (number) {
    case ENOENT:
    case ENOTDIR:
        return NRI_E_NOT_FOUND;
    case EACCES:
    case EPERM:
        return NRI_E_PERMISSION;
    default:
        return NRI_E_IO;
    }
}

static int look(void *context, const char *path, struct nri_host_device *device)
{
    struct stat status;
    (void)context;
    if (stat(path, &status) != 0)
        return stat_failure(errno);
    if (S_ISCHR(status.st_mode))
        device->type = 'c';
    else if (S_ISBLK(status.st_mode))
        device->type = 'b';
    else if (S_ISFIFO(status.st_mode))
        device->type = 'p';
    else
        return NRI_E_INVALID;
    /* A FIFO's number is that of no device. */
    device->major = device->type == 'p' ? 0 : (int64_t)major(status.st_rdev);
    device->minor = device->type == 'p' ? 0 : (int64_t)minor(status.st_rdev);
    device->mode = (uint32_t)status.st_mode & 07777u;
    device->uid = status.st_uid;
    device->gid = status.st_gid;
    return 0;
}

int nri_adjustment_inject_device(nri_adjustment *adjustment, const char *host_path,
                                 const char *path, const char *access)
{
    return nri_adjustment_inject_device_as(adjustment, host_path, path, access, NULL, NULL, NULL);
}

int nri_adjustment_inject_device_as(nri_adjustment *adjustment, const char *host_path,
                                    const char *path, const char *access, const uint32_t *file_mode,
                                    const uint32_t *uid, const uint32_t *gid)
{
    const struct nri_node_rights rights = {.file_mode = file_mode, .uid = uid, .gid = gid};
    return nri_adjustment_inject(adjustment, host_path, path, access, &rights, look, NULL);
}
