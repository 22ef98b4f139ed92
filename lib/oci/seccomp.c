/* SPDX-License-Identifier: Apache-2.0 */
/* linux.seccomp: all of it. Go's generator loses default_errno. */
#include "oci/nouns.h"

NRI_OCI_PLACE(seccomp, linux, "seccomp");

#define SYSCALLS "linux.seccomp_policy.syscalls"

typedef NRI_OCI_MESSAGE(LinuxSeccomp) seccomp_message;
typedef NRI_OCI_MESSAGE(LinuxSyscall) syscall_message;

static struct nri_json *args_of(struct nri_oci_edit *edit, size_t index,
                                const syscall_message *syscall)
{
    struct nri_json *args = nri_oci_new(edit, NRI_JSON_ARRAY);
    for (size_t i = 0; i < syscall->n_args && edit->failure == 0; i++) {
        const NRI_OCI_MESSAGE(LinuxSeccompArg) *arg = syscall->args[i];
        struct nri_json *value = nri_oci_new(edit, NRI_JSON_OBJECT);
        nri_oci_set(edit, value, "index", nri_oci_uint64(edit, arg->index));
        nri_oci_set(edit, value, "value", nri_oci_uint64(edit, arg->value));
        if (arg->value_two != 0)
            nri_oci_set(edit, value, "valueTwo", nri_oci_uint64(edit, arg->value_two));
        nri_oci_set(edit, value, "op",
                    nri_oci_text(edit, NRI_OCI_ELEMENT(SYSCALLS, index, "args.op"), arg->op));
        nri_oci_append(edit, args, value);
    }
    return args;
}

static struct nri_json *syscall_of(struct nri_oci_edit *edit, size_t index,
                                   const syscall_message *syscall)
{
    struct nri_json *value = nri_oci_new(edit, NRI_JSON_OBJECT);
    nri_oci_set(edit, value, "names",
                nri_oci_texts(edit, NRI_OCI_ELEMENT(SYSCALLS, index, "names"), syscall->names,
                              syscall->n_names));
    nri_oci_set(edit, value, "action",
                nri_oci_text(edit, NRI_OCI_ELEMENT(SYSCALLS, index, "action"), syscall->action));
    if (syscall->errno_ret != NULL)
        nri_oci_set(edit, value, "errnoRet", nri_oci_uint64(edit, syscall->errno_ret->value));
    if (syscall->n_args > 0)
        nri_oci_set(edit, value, "args", args_of(edit, index, syscall));
    return value;
}

static void set_texts(struct nri_oci_edit *edit, struct nri_json *object, const char *key,
                      const struct nri_oci_where *where, char *const *texts, size_t count)
{
    if (count > 0)
        nri_oci_set(edit, object, key, nri_oci_texts(edit, where, texts, count));
}

static struct nri_json *policy_of(struct nri_oci_edit *edit, const seccomp_message *policy)
{
    struct nri_json *value = nri_oci_new(edit, NRI_JSON_OBJECT);
    nri_oci_set(edit, value, "defaultAction",
                nri_oci_text(edit, NRI_OCI_WHOLE("linux.seccomp_policy.default_action"),
                             policy->default_action));
    if (policy->default_errno != NULL && !nri_oci_go(edit))
        nri_oci_set(edit, value, "defaultErrnoRet",
                    nri_oci_uint64(edit, policy->default_errno->value));
    set_texts(edit, value, "architectures", NRI_OCI_WHOLE("linux.seccomp_policy.architectures"),
              policy->architectures, policy->n_architectures);
    set_texts(edit, value, "flags", NRI_OCI_WHOLE("linux.seccomp_policy.flags"), policy->flags,
              policy->n_flags);
    nri_oci_set_text(edit, value, "listenerPath",
                     NRI_OCI_WHOLE("linux.seccomp_policy.listener_path"), policy->listener_path);
    nri_oci_set_text(edit, value, "listenerMetadata",
                     NRI_OCI_WHOLE("linux.seccomp_policy.listener_metadata"),
                     policy->listener_metadata);
    if (policy->n_syscalls == 0)
        return value;
    struct nri_json *syscalls = nri_oci_new(edit, NRI_JSON_ARRAY);
    for (size_t i = 0; i < policy->n_syscalls && edit->failure == 0; i++)
        nri_oci_append(edit, syscalls, syscall_of(edit, i, policy->syscalls[i]));
    nri_oci_set(edit, value, "syscalls", syscalls);
    return value;
}

void nri_oci_apply_seccomp(struct nri_oci_edit *edit, const nri_oci_linux_part *linux_part)
{
    if (linux_part->seccomp_policy != NULL)
        nri_oci_put(edit, &seccomp_place, policy_of(edit, linux_part->seccomp_policy));
}
