/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Reading a NUMA memory policy (NRI LinuxMemoryPolicy, set_mempolicy(2), since NRI 0.12), which an
 * adjustment can carry. The rules of nri/pod.h hold.
 */
#ifndef NRI_MEMORY_POLICY_H
#define NRI_MEMORY_POLICY_H

#include <nri/api.h>

NRI_BEGIN_DECLS

/** Modes (NRI enum MpolMode). Since 0.1.0. */
enum nri_mpol_mode {
    NRI_MPOL_DEFAULT = 0,
    NRI_MPOL_PREFERRED = 1,
    NRI_MPOL_BIND = 2,
    NRI_MPOL_INTERLEAVE = 3,
    NRI_MPOL_LOCAL = 4,
    NRI_MPOL_PREFERRED_MANY = 5,
    NRI_MPOL_WEIGHTED_INTERLEAVE = 6
};

/** Flags (NRI enum MpolFlag). Since 0.1.0. */
enum nri_mpol_flag {
    NRI_MPOL_F_STATIC_NODES = 0,
    NRI_MPOL_F_RELATIVE_NODES = 1,
    NRI_MPOL_F_NUMA_BALANCING = 2
};

/** The name of a mode, such as "MPOL_BIND"; "?" for none such. Thread-safe. Since 0.1.0. */
NRI_API const char *nri_mpol_mode_name(int mode);
/** The mode of a name; -1 for none such. Thread-safe. Since 0.1.0. */
NRI_API int nri_mpol_mode_from_name(const char *name);
/** The name of a flag, such as "MPOL_F_STATIC_NODES"; "?" for none such. Thread-safe. Since 0.1.0.
 */
NRI_API const char *nri_mpol_flag_name(int flag);
/** The flag of a name; -1 for none such. Thread-safe. Since 0.1.0. */
NRI_API int nri_mpol_flag_from_name(const char *name);

/** The mode (LinuxMemoryPolicy.mode): enum nri_mpol_mode or a newer number. Since 0.1.0. */
NRI_API int nri_memory_policy_mode(const nri_memory_policy *policy);
/** The memory nodes as a list such as "0-1" (LinuxMemoryPolicy.nodes). Since 0.1.0. */
NRI_API const char *nri_memory_policy_nodes(const nri_memory_policy *policy);
/** How many flags (LinuxMemoryPolicy.flags). Since 0.1.0. */
NRI_API size_t nri_memory_policy_flag_count(const nri_memory_policy *policy);
/** One flag: enum nri_mpol_flag or a newer number; -1 past the end. Since 0.1.0. */
NRI_API int nri_memory_policy_flag_at(const nri_memory_policy *policy, size_t index);

NRI_END_DECLS

#endif
