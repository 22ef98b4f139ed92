/* SPDX-License-Identifier: Apache-2.0 */
#include "model/model.h"
#include "model/optional.h"
#include "model/reader.h"

typedef Nri__Pkg__Api__V1alpha1__LinuxSeccomp seccomp_message;

static const seccomp_message empty_seccomp = NRI__PKG__API__V1ALPHA1__LINUX_SECCOMP__INIT;

static const seccomp_message *message_of(const nri_seccomp *seccomp)
{
    return seccomp != NULL ? (const void *)seccomp : &empty_seccomp;
}

const nri_seccomp *nri_seccomp_view(const seccomp_message *message)
{
    return (const void *)(message != NULL ? message : &empty_seccomp);
}

const char *nri_seccomp_default_action(const nri_seccomp *seccomp)
{
    return nri_reader_text(message_of(seccomp)->default_action);
}

bool nri_seccomp_default_errno(const nri_seccomp *seccomp, uint32_t *number)
{
    return nri_optional_uint32(message_of(seccomp)->default_errno, number);
}

size_t nri_seccomp_architecture_count(const nri_seccomp *seccomp)
{
    return message_of(seccomp)->n_architectures;
}

const char *nri_seccomp_architecture(const nri_seccomp *seccomp, size_t index)
{
    const seccomp_message *message = message_of(seccomp);
    return nri_reader_text_at(message->architectures, message->n_architectures, index);
}

size_t nri_seccomp_flag_count(const nri_seccomp *seccomp)
{
    return message_of(seccomp)->n_flags;
}

const char *nri_seccomp_flag(const nri_seccomp *seccomp, size_t index)
{
    const seccomp_message *message = message_of(seccomp);
    return nri_reader_text_at(message->flags, message->n_flags, index);
}

const char *nri_seccomp_listener_path(const nri_seccomp *seccomp)
{
    return nri_reader_text(message_of(seccomp)->listener_path);
}

const char *nri_seccomp_listener_metadata(const nri_seccomp *seccomp)
{
    return nri_reader_text(message_of(seccomp)->listener_metadata);
}

size_t nri_seccomp_syscall_count(const nri_seccomp *seccomp)
{
    return message_of(seccomp)->n_syscalls;
}

const nri_syscall *nri_seccomp_syscall_at(const nri_seccomp *seccomp, size_t index)
{
    const seccomp_message *message = message_of(seccomp);
    return nri_syscall_view(index < message->n_syscalls ? message->syscalls[index] : NULL);
}
