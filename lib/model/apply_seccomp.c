/* SPDX-License-Identifier: Apache-2.0 */
/* LinuxSeccomp. */
#include "model/apply.h"
#include "model/reader.h"

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type

static const char *text(const char *of_message)
{
    return nri_reader_text(of_message);
}

static int apply_syscall(nri_seccomp *seccomp, const MESSAGE(LinuxSyscall) * syscall,
                         struct nri_json_subject *at)
{
    const uint32_t *errno_ret = syscall->errno_ret != NULL ? &syscall->errno_ret->value : NULL;
    int code = nri_seccomp_add_syscall(seccomp, text(syscall->action), errno_ret,
                                       (const char *const *)syscall->names, syscall->n_names);
    for (size_t i = 0; code == 0 && i < syscall->n_args; i++) {
        const MESSAGE(LinuxSeccompArg) *arg = syscall->args[i];
        nri_apply_at(at, &syscall->base, "args", i);
        code = nri_seccomp_add_syscall_arg(seccomp, arg->index, arg->value, arg->value_two,
                                           text(arg->op));
    }
    return code;
}

static int apply_lists(nri_seccomp *seccomp, const MESSAGE(LinuxSeccomp) * message,
                       struct nri_json_subject *at)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < message->n_architectures; i++) {
        nri_apply_at(at, &message->base, "architectures", i);
        code = nri_seccomp_add_architecture(seccomp, text(message->architectures[i]));
    }
    for (size_t i = 0; code == 0 && i < message->n_flags; i++) {
        nri_apply_at(at, &message->base, "flags", i);
        code = nri_seccomp_add_flag(seccomp, text(message->flags[i]));
    }
    for (size_t i = 0; code == 0 && i < message->n_syscalls; i++) {
        nri_apply_at(at, &message->base, "syscalls", i);
        code = apply_syscall(seccomp, message->syscalls[i], at);
    }
    return code;
}

int nri_apply_seccomp(nri_seccomp *seccomp, const MESSAGE(LinuxSeccomp) * message,
                      struct nri_json_subject *at)
{
    int code = 0;
    if (text(message->default_action)[0] != '\0') {
        nri_apply_at(at, &message->base, "default_action", NRI_JSON_WHOLE);
        code = nri_seccomp_set_default_action(seccomp, message->default_action);
    }
    if (code == 0 && message->default_errno != NULL) {
        nri_apply_at(at, &message->base, "default_errno", NRI_JSON_WHOLE);
        code = nri_seccomp_set_default_errno(seccomp, message->default_errno->value);
    }
    if (code == 0 && text(message->listener_path)[0] != '\0') {
        nri_apply_at(at, &message->base, "listener_path", NRI_JSON_WHOLE);
        code = nri_seccomp_set_listener_path(seccomp, message->listener_path);
    }
    if (code == 0 && text(message->listener_metadata)[0] != '\0') {
        nri_apply_at(at, &message->base, "listener_metadata", NRI_JSON_WHOLE);
        code = nri_seccomp_set_listener_metadata(seccomp, message->listener_metadata);
    }
    return code == 0 ? apply_lists(seccomp, message, at) : code;
}
