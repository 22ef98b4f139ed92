/* SPDX-License-Identifier: Apache-2.0 */
/* The CPUs that the kernel has for a container: its cgroup, in either version of the file system.
 */
#ifndef PINNER_CGROUP_H
#define PINNER_CGROUP_H

#include <nri/cpuset.h>
#include <stddef.h>

#define CGROUP_DEFAULT_ROOT "/sys/fs/cgroup"

/*
 * The path below the cgroup file system of what an OCI cgroups path names: "/kubepods/pod1/c1", or
 * "kubepods-pod1.slice:cri-containerd:c1" where systemd makes the cgroups. 0, or -1 when it is
 * empty, leaves the file system, or has no room.
 */
int cgroup_path(const char *cgroups_path, char *path, size_t size);

/*
 * Reads the cpuset of a cgroup path. `root` is where the cgroup file systems are. Sets `cpus`,
 * empty when none is set. 0, 1 when there is no such cgroup, or -1.
 */
int cgroup_read_cpus(const char *root, const char *cgroups_path, nri_cpuset *cpus);

#endif
