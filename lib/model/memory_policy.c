/* SPDX-License-Identifier: Apache-2.0 */
#include "model/enum.h"
#include "model/model.h"
#include "model/reader.h"

typedef Nri__Pkg__Api__V1alpha1__LinuxMemoryPolicy policy_message;

static const policy_message empty_policy = NRI__PKG__API__V1ALPHA1__LINUX_MEMORY_POLICY__INIT;

static const policy_message *message_of(const nri_memory_policy *policy)
{
    return policy != NULL ? (const void *)policy : &empty_policy;
}

const nri_memory_policy *nri_memory_policy_view(const policy_message *message)
{
    return (const void *)(message != NULL ? message : &empty_policy);
}

const char *nri_mpol_mode_name(int mode)
{
    return nri_enum_name(&nri__pkg__api__v1alpha1__mpol_mode__descriptor, mode);
}

int nri_mpol_mode_from_name(const char *name)
{
    return nri_enum_number(&nri__pkg__api__v1alpha1__mpol_mode__descriptor, name);
}

const char *nri_mpol_flag_name(int flag)
{
    return nri_enum_name(&nri__pkg__api__v1alpha1__mpol_flag__descriptor, flag);
}

int nri_mpol_flag_from_name(const char *name)
{
    return nri_enum_number(&nri__pkg__api__v1alpha1__mpol_flag__descriptor, name);
}

int nri_memory_policy_mode(const nri_memory_policy *policy)
{
    return (int)message_of(policy)->mode;
}

const char *nri_memory_policy_nodes(const nri_memory_policy *policy)
{
    return nri_reader_text(message_of(policy)->nodes);
}

size_t nri_memory_policy_flag_count(const nri_memory_policy *policy)
{
    return message_of(policy)->n_flags;
}

int nri_memory_policy_flag_at(const nri_memory_policy *policy, size_t index)
{
    const policy_message *message = message_of(policy);
    return index < message->n_flags ? (int)message->flags[index] : -1;
}
