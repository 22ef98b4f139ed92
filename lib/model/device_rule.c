/* SPDX-License-Identifier: Apache-2.0 */
#include "model/model.h"
#include "model/optional.h"
#include "model/reader.h"

typedef Nri__Pkg__Api__V1alpha1__LinuxDeviceCgroup rule_message;

static const rule_message empty_rule = NRI__PKG__API__V1ALPHA1__LINUX_DEVICE_CGROUP__INIT;

static const rule_message *message_of(const nri_device_rule *rule)
{
    return rule != NULL ? (const void *)rule : &empty_rule;
}

const nri_device_rule *nri_device_rule_view(const rule_message *message)
{
    return (const void *)(message != NULL ? message : &empty_rule);
}

bool nri_device_rule_allow(const nri_device_rule *rule)
{
    return message_of(rule)->allow != 0;
}

const char *nri_device_rule_type(const nri_device_rule *rule)
{
    return nri_reader_text(message_of(rule)->type);
}

bool nri_device_rule_major(const nri_device_rule *rule, int64_t *major)
{
    return nri_optional_int64(message_of(rule)->major, major);
}

bool nri_device_rule_minor(const nri_device_rule *rule, int64_t *minor)
{
    return nri_optional_int64(message_of(rule)->minor, minor);
}

const char *nri_device_rule_access(const nri_device_rule *rule)
{
    return nri_reader_text(message_of(rule)->access);
}
