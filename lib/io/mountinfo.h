/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mounts of this process, as proc_pid_mountinfo(5) has them.
 */
#ifndef NRI_IO_MOUNTINFO_H
#define NRI_IO_MOUNTINFO_H

#include <nri/oci.h>

#include "base/alloc.h"

/* Of a table's text, the mount that a path is on: the last of the longest mount points that enclose
 * it. `path` is absolute, without links. False: none. */
bool nri_mountinfo_find(const char *table, size_t length, const char *path, uint32_t *propagation);

/* An nri_host_propagation; the context is a struct nri_alloc, where memory comes from. */
int nri_mountinfo_look(void *alloc, const char *path, uint32_t *propagation);

#endif
