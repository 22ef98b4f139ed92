/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Reading a device node and a rule of the device cgroup, of a container or of an adjustment. The
 * rules of nri/pod.h hold; a getter that returns bool tells whether the value was sent, sets its
 * out parameter to 0 when it was not, and takes NULL for it.
 */
#ifndef NRI_DEVICE_H
#define NRI_DEVICE_H

#include <nri/api.h>

NRI_BEGIN_DECLS

/** The path in the container (LinuxDevice.path). Since 0.1.0. */
NRI_API const char *nri_device_path(const nri_device *device);
/** "c" and "u" for a character device, "b" for a block device, "p" for a FIFO (LinuxDevice.type).
 * Since 0.1.0. */
NRI_API const char *nri_device_type(const nri_device *device);
/** The major number (LinuxDevice.major). Since 0.1.0. */
NRI_API int64_t nri_device_major(const nri_device *device);
/** The minor number (LinuxDevice.minor). Since 0.1.0. */
NRI_API int64_t nri_device_minor(const nri_device *device);
/** The permission bits (LinuxDevice.file_mode). Since 0.1.0. */
NRI_API bool nri_device_file_mode(const nri_device *device, uint32_t *mode);
/** The owning user (LinuxDevice.uid). Since 0.1.0. */
NRI_API bool nri_device_uid(const nri_device *device, uint32_t *uid);
/** The owning group (LinuxDevice.gid). Since 0.1.0. */
NRI_API bool nri_device_gid(const nri_device *device, uint32_t *gid);

/** Whether the rule allows (LinuxDeviceCgroup.allow). Since 0.1.0. */
NRI_API bool nri_device_rule_allow(const nri_device_rule *rule);
/** "a" for all, "c" or "b" (LinuxDeviceCgroup.type). Since 0.1.0. */
NRI_API const char *nri_device_rule_type(const nri_device_rule *rule);
/** The major number; absent means all (LinuxDeviceCgroup.major). Since 0.1.0. */
NRI_API bool nri_device_rule_major(const nri_device_rule *rule, int64_t *major);
/** The minor number; absent means all (LinuxDeviceCgroup.minor). Since 0.1.0. */
NRI_API bool nri_device_rule_minor(const nri_device_rule *rule, int64_t *minor);
/** What may be done: letters of "rwm" (LinuxDeviceCgroup.access). Since 0.1.0. */
NRI_API const char *nri_device_rule_access(const nri_device_rule *rule);

NRI_END_DECLS

#endif
