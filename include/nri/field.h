/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The fields of a container that plugins can set, and that have owners.
 */
#ifndef NRI_FIELD_H
#define NRI_FIELD_H

#include <nri/api.h>

NRI_BEGIN_DECLS

/**
 * The fields (NRI enum Field). Where a key is named, each key has an owner of its own
 * (nri_request_key_owner()); the others have one owner (nri_request_owner()). Since 0.1.0.
 */
enum nri_field {
    NRI_FIELD_NONE = 0,
    NRI_FIELD_ANNOTATIONS = 1, /**< owned by key */
    NRI_FIELD_MOUNTS = 2,      /**< owned by destination */
    NRI_FIELD_OCI_HOOKS = 3,
    NRI_FIELD_DEVICES = 4,     /**< owned by path */
    NRI_FIELD_CDI_DEVICES = 5, /**< owned by name */
    NRI_FIELD_ENV = 6,         /**< owned by name */
    NRI_FIELD_ARGS = 7,
    NRI_FIELD_MEM_LIMIT = 8,
    NRI_FIELD_MEM_RESERVATION = 9,
    NRI_FIELD_MEM_SWAP_LIMIT = 10,
    NRI_FIELD_MEM_KERNEL_LIMIT = 11,
    NRI_FIELD_MEM_TCP_LIMIT = 12,
    NRI_FIELD_MEM_SWAPPINESS = 13,
    NRI_FIELD_MEM_DISABLE_OOM_KILLER = 14,
    NRI_FIELD_MEM_USE_HIERARCHY = 15,
    NRI_FIELD_CPU_SHARES = 16,
    NRI_FIELD_CPU_QUOTA = 17,
    NRI_FIELD_CPU_PERIOD = 18,
    NRI_FIELD_CPU_REALTIME_RUNTIME = 19,
    NRI_FIELD_CPU_REALTIME_PERIOD = 20,
    NRI_FIELD_CPUSET_CPUS = 21,
    NRI_FIELD_CPUSET_MEMS = 22,
    NRI_FIELD_PIDS_LIMIT = 23,
    NRI_FIELD_HUGEPAGE_LIMITS = 24, /**< owned by page size */
    NRI_FIELD_BLOCKIO_CLASS = 25,
    NRI_FIELD_RDT_CLASS = 26,
    NRI_FIELD_CGROUPS_UNIFIED = 27, /**< owned by key */
    NRI_FIELD_CGROUPS_PATH = 28,
    NRI_FIELD_OOM_SCORE_ADJ = 29,
    NRI_FIELD_RLIMITS = 30, /**< owned by type */
    NRI_FIELD_IO_PRIORITY = 31,
    NRI_FIELD_SECCOMP_POLICY = 32,
    NRI_FIELD_NAMESPACE = 33,         /**< owned by type */
    NRI_FIELD_SYSCTL = 34,            /**< owned by key */
    NRI_FIELD_LINUX_NET_DEVICES = 35, /**< owned by interface on the host */
    NRI_FIELD_LINUX_SCHED = 36,
    NRI_FIELD_RDT_CLOS_ID = 37,
    NRI_FIELD_RDT_SCHEMATA = 38,
    NRI_FIELD_RDT_ENABLE_MONITORING = 39,
    NRI_FIELD_MEMORY_POLICY = 40
};

/**
 * The name of a field as NRI spells it, such as "CPUShares"; "?" for a number that is none.
 * Static text. Thread-safe. Since 0.1.0.
 */
NRI_API const char *nri_field_name(int field);

NRI_END_DECLS

#endif
