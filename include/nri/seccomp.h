/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * A seccomp policy: reading one (nri_container_seccomp_policy(), nri_adjustment_seccomp_policy()),
 * and building one (nri_adjustment_edit_seccomp_policy(), nri_container_edit_seccomp_policy()).
 *
 * Readers follow the rules of nri/pod.h, builders those of nri/adjustment.h: a failed call sticks
 * to the adjustment or container that the policy belongs to. Actions, operators, flags and
 * architectures are the names of the OCI runtime spec, such as "SCMP_ACT_ERRNO".
 */
#ifndef NRI_SECCOMP_H
#define NRI_SECCOMP_H

#include <nri/api.h>

NRI_BEGIN_DECLS

/** Which seccomp profile the pod asked for (NRI SecurityProfile.ProfileType). Since 0.1.0. */
enum nri_seccomp_profile_type {
    NRI_SECCOMP_RUNTIME_DEFAULT = 0,
    NRI_SECCOMP_UNCONFINED = 1,
    NRI_SECCOMP_LOCALHOST = 2
};

/** What happens to other calls (LinuxSeccomp.default_action). Since 0.1.0. */
NRI_API const char *nri_seccomp_default_action(const nri_seccomp *seccomp);
/** The errno of the default action (LinuxSeccomp.default_errno); whether there is one. Since 0.1.0.
 */
NRI_API bool nri_seccomp_default_errno(const nri_seccomp *seccomp, uint32_t *number);
/** How many architectures (LinuxSeccomp.architectures). Since 0.1.0. */
NRI_API size_t nri_seccomp_architecture_count(const nri_seccomp *seccomp);
/** One architecture; "" past the end. Since 0.1.0. */
NRI_API const char *nri_seccomp_architecture(const nri_seccomp *seccomp, size_t index);
/** How many flags (LinuxSeccomp.flags). Since 0.1.0. */
NRI_API size_t nri_seccomp_flag_count(const nri_seccomp *seccomp);
/** One flag; "" past the end. Since 0.1.0. */
NRI_API const char *nri_seccomp_flag(const nri_seccomp *seccomp, size_t index);
/** The socket of the seccomp agent (LinuxSeccomp.listener_path). Since 0.1.0. */
NRI_API const char *nri_seccomp_listener_path(const nri_seccomp *seccomp);
/** What the agent is told (LinuxSeccomp.listener_metadata). Since 0.1.0. */
NRI_API const char *nri_seccomp_listener_metadata(const nri_seccomp *seccomp);
/** How many rules (LinuxSeccomp.syscalls). Since 0.1.0. */
NRI_API size_t nri_seccomp_syscall_count(const nri_seccomp *seccomp);
/** One rule, in order; an empty one past the end; never NULL. Since 0.1.0. */
NRI_API const nri_syscall *nri_seccomp_syscall_at(const nri_seccomp *seccomp, size_t index);

/** How many system calls a rule names (LinuxSyscall.names). Since 0.1.0. */
NRI_API size_t nri_syscall_name_count(const nri_syscall *syscall);
/** One name; "" past the end. Since 0.1.0. */
NRI_API const char *nri_syscall_name(const nri_syscall *syscall, size_t index);
/** What happens to them (LinuxSyscall.action). Since 0.1.0. */
NRI_API const char *nri_syscall_action(const nri_syscall *syscall);
/** The errno of the action (LinuxSyscall.errno_ret); whether there is one. Since 0.1.0. */
NRI_API bool nri_syscall_errno(const nri_syscall *syscall, uint32_t *number);
/** How many conditions on arguments (LinuxSyscall.args). Since 0.1.0. */
NRI_API size_t nri_syscall_arg_count(const nri_syscall *syscall);
/**
 * One condition on an argument (LinuxSeccompArg).
 * @param syscall the rule
 * @param index 0 to nri_syscall_arg_count() - 1
 * @param argument set to the argument's number, 0 to 5 (LinuxSeccompArg.index); may be NULL
 * @param value set to the value; may be NULL
 * @param value_two set to the second value; may be NULL
 * @param op set to the operator, such as "SCMP_CMP_EQ", "" past the end; may be NULL
 * @return whether there is such a condition. Since 0.1.0.
 */
NRI_API bool nri_syscall_arg_at(const nri_syscall *syscall, size_t index, uint32_t *argument,
                                uint64_t *value, uint64_t *value_two, const char **op);

/** Sets what happens to other calls: an SCMP_ACT_ name. Since 0.1.0. */
NRI_API int nri_seccomp_set_default_action(nri_seccomp *seccomp, const char *action);
/** Sets the errno of the default action, 0 to 4095. As the OCI runtime spec wants it, a policy
 * whose default action is then neither SCMP_ACT_ERRNO nor SCMP_ACT_TRACE refuses the reply. Since
 * 0.1.0.
 */
NRI_API int nri_seccomp_set_default_errno(nri_seccomp *seccomp, uint32_t number);
/** Adds an architecture: an SCMP_ARCH_ name; one that is there already changes nothing. Since
 * 0.1.0. */
NRI_API int nri_seccomp_add_architecture(nri_seccomp *seccomp, const char *architecture);
/** Adds a flag: a SECCOMP_FILTER_FLAG_ name; one that is there already changes nothing. Since
 * 0.1.0. */
NRI_API int nri_seccomp_add_flag(nri_seccomp *seccomp, const char *flag);
/** Sets the socket of the seccomp agent, an absolute path. Since 0.1.0. */
NRI_API int nri_seccomp_set_listener_path(nri_seccomp *seccomp, const char *path);
/** Sets what the agent is told. A policy with this and without a listener path refuses the reply.
 * Since 0.1.0. */
NRI_API int nri_seccomp_set_listener_metadata(nri_seccomp *seccomp, const char *metadata);
/**
 * Adds a rule at the end.
 * @param seccomp the policy
 * @param action an SCMP_ACT_ name
 * @param errno_ret the errno of the action, 0 to 4095; NULL for none; only with SCMP_ACT_ERRNO and
 * SCMP_ACT_TRACE
 * @param names the system calls, none of them empty
 * @param name_count how many, at least 1
 * @return 0 or an error. Since 0.1.0.
 */
NRI_API int nri_seccomp_add_syscall(nri_seccomp *seccomp, const char *action,
                                    const uint32_t *errno_ret, const char *const *names,
                                    size_t name_count);
/**
 * Adds a condition to the rule that the last call of nri_seccomp_add_syscall() added.
 * @param seccomp the policy
 * @param argument the argument's number, 0 to 5
 * @param value the value
 * @param value_two the second value with SCMP_CMP_MASKED_EQ, else 0
 * @param op an SCMP_CMP_ name
 * @return 0 or an error (NRI_E_STATE when no rule was added yet or the last one failed, so that the
 * condition never falls to another rule). Since 0.1.0.
 */
NRI_API int nri_seccomp_add_syscall_arg(nri_seccomp *seccomp, uint32_t argument, uint64_t value,
                                        uint64_t value_two, const char *op);

NRI_END_DECLS

#endif
