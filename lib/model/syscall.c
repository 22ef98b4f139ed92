/* SPDX-License-Identifier: Apache-2.0 */
/* One rule of a seccomp policy. */
#include "model/model.h"
#include "model/optional.h"
#include "model/reader.h"

typedef Nri__Pkg__Api__V1alpha1__LinuxSyscall syscall_message;

static const syscall_message empty_syscall = NRI__PKG__API__V1ALPHA1__LINUX_SYSCALL__INIT;

static const syscall_message *message_of(const nri_syscall *syscall)
{
    return syscall != NULL ? (const void *)syscall : &empty_syscall;
}

const nri_syscall *nri_syscall_view(const syscall_message *message)
{
    return (const void *)(message != NULL ? message : &empty_syscall);
}

size_t nri_syscall_name_count(const nri_syscall *syscall)
{
    return message_of(syscall)->n_names;
}

const char *nri_syscall_name(const nri_syscall *syscall, size_t index)
{
    const syscall_message *message = message_of(syscall);
    return nri_reader_text_at(message->names, message->n_names, index);
}

const char *nri_syscall_action(const nri_syscall *syscall)
{
    return nri_reader_text(message_of(syscall)->action);
}

bool nri_syscall_errno(const nri_syscall *syscall, uint32_t *number)
{
    return nri_optional_uint32(message_of(syscall)->errno_ret, number);
}

size_t nri_syscall_arg_count(const nri_syscall *syscall)
{
    return message_of(syscall)->n_args;
}

bool nri_syscall_arg_at(const nri_syscall *syscall, size_t index, uint32_t *argument,
                        uint64_t *value, uint64_t *value_two, const char **op)
{
    static const Nri__Pkg__Api__V1alpha1__LinuxSeccompArg none =
        NRI__PKG__API__V1ALPHA1__LINUX_SECCOMP_ARG__INIT;
    const syscall_message *message = message_of(syscall);
    const bool found = index < message->n_args;
    const Nri__Pkg__Api__V1alpha1__LinuxSeccompArg *arg = found ? message->args[index] : NULL;
    if (arg == NULL)
        arg = &none;
    if (argument != NULL)
        *argument = arg->index;
    if (value != NULL)
        *value = arg->value;
    if (value_two != NULL)
        *value_two = arg->value_two;
    nri_reader_give(arg->op, op);
    return found;
}
