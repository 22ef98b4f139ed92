/* SPDX-License-Identifier: Apache-2.0 */
#include "model/json_schema.h"

#include <string.h>

#include "proto/nri.pb-c.h"
#include "wire/field.h"

/* ---- messages ---- */

/* Every message of nri.proto, in its order: X(name in C). */
#define MESSAGES(X)                                                                                \
    X(register_plugin_request)                                                                     \
    X(update_containers_request)                                                                   \
    X(update_containers_response)                                                                  \
    X(log_request)                                                                                 \
    X(configure_request)                                                                           \
    X(configure_response)                                                                          \
    X(synchronize_request)                                                                         \
    X(synchronize_response)                                                                        \
    X(run_pod_sandbox_request)                                                                     \
    X(run_pod_sandbox_response)                                                                    \
    X(update_pod_sandbox_request)                                                                  \
    X(update_pod_sandbox_response)                                                                 \
    X(post_update_pod_sandbox_request)                                                             \
    X(post_update_pod_sandbox_response)                                                            \
    X(stop_pod_sandbox_request)                                                                    \
    X(stop_pod_sandbox_response)                                                                   \
    X(remove_pod_sandbox_request)                                                                  \
    X(remove_pod_sandbox_response)                                                                 \
    X(create_container_request)                                                                    \
    X(create_container_response)                                                                   \
    X(post_create_container_request)                                                               \
    X(post_create_container_response)                                                              \
    X(start_container_request)                                                                     \
    X(start_container_response)                                                                    \
    X(post_start_container_request)                                                                \
    X(post_start_container_response)                                                               \
    X(update_container_request)                                                                    \
    X(update_container_response)                                                                   \
    X(post_update_container_request)                                                               \
    X(post_update_container_response)                                                              \
    X(stop_container_request)                                                                      \
    X(stop_container_response)                                                                     \
    X(remove_container_request)                                                                    \
    X(remove_container_response)                                                                   \
    X(state_change_event)                                                                          \
    X(validate_container_adjustment_request)                                                       \
    X(plugin_instance)                                                                             \
    X(validate_container_adjustment_response)                                                      \
    X(empty)                                                                                       \
    X(pod_sandbox)                                                                                 \
    X(linux_pod_sandbox)                                                                           \
    X(container)                                                                                   \
    X(image)                                                                                       \
    X(mount)                                                                                       \
    X(hooks)                                                                                       \
    X(hook)                                                                                        \
    X(linux_container)                                                                             \
    X(linux_namespace)                                                                             \
    X(linux_device)                                                                                \
    X(linux_device_cgroup)                                                                         \
    X(cdidevice)                                                                                   \
    X(user)                                                                                        \
    X(linux_resources)                                                                             \
    X(linux_memory)                                                                                \
    X(linux_cpu)                                                                                   \
    X(hugepage_limit)                                                                              \
    X(security_profile)                                                                            \
    X(posixrlimit)                                                                                 \
    X(linux_pids)                                                                                  \
    X(linux_iopriority)                                                                            \
    X(linux_net_device)                                                                            \
    X(linux_scheduler)                                                                             \
    X(container_adjustment)                                                                        \
    X(linux_container_adjustment)                                                                  \
    X(linux_seccomp)                                                                               \
    X(linux_syscall)                                                                               \
    X(linux_seccomp_arg)                                                                           \
    X(linux_memory_policy)                                                                         \
    X(container_update)                                                                            \
    X(linux_container_update)                                                                      \
    X(container_eviction)                                                                          \
    X(linux_rdt)                                                                                   \
    X(key_value)                                                                                   \
    X(optional_string)                                                                             \
    X(optional_repeated_string)                                                                    \
    X(optional_int)                                                                                \
    X(optional_int32)                                                                              \
    X(optional_uint32)                                                                             \
    X(optional_int64)                                                                              \
    X(optional_uint64)                                                                             \
    X(optional_bool)                                                                               \
    X(optional_file_mode)                                                                          \
    X(compound_field_owners)                                                                       \
    X(field_owners)                                                                                \
    X(owning_plugins)

static const ProtobufCMessageDescriptor *const messages[] = {
#define ROW(name) &nri__pkg__api__v1alpha1__##name##__descriptor,
    MESSAGES(ROW)
#undef ROW
};

#define MESSAGE_COUNT (sizeof messages / sizeof messages[0])

size_t nri_json_type_count(void)
{
    return MESSAGE_COUNT;
}

const ProtobufCMessageDescriptor *nri_json_type_at(size_t index)
{
    return index < MESSAGE_COUNT ? messages[index] : NULL;
}

const ProtobufCMessageDescriptor *nri_json_type_find(const char *name)
{
    for (size_t i = 0; i < MESSAGE_COUNT; i++) {
        if (strcmp(messages[i]->short_name, name) == 0)
            return messages[i];
    }
    return NULL;
}

bool nri_json_is_wrapper(const ProtobufCMessageDescriptor *type)
{
    static const char optional[] = "Optional";
    return type->n_fields == 1 && strncmp(type->short_name, optional, sizeof optional - 1) == 0 &&
           strcmp(type->fields[0].name, "value") == 0;
}

bool nri_json_is_env(const ProtobufCFieldDescriptor *field)
{
    return nri_field_repeated(field) && strcmp(field->name, "env") == 0;
}

/* ---- names ---- */

/* These are for ASCII alone, and must not follow the program's locale. */
static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Whether a name is what a field's name becomes in lower case. */
static bool is_lower_case(const char *name, const char *field)
{
    while (*field != '\0' && *name == lower(*field)) {
        name++;
        field++;
    }
    return *field == '\0' && *name == '\0';
}

/* Whether it is what it becomes in camelCase, the field's own capitals kept, or not. */
static bool is_camel_case(const char *name, const char *field, bool keep)
{
    bool raise = false;
    for (; *field != '\0'; field++) {
        if (*field == '_') {
            raise = true;
            continue;
        }
        char expected = keep ? *field : lower(*field);
        if (*name != (raise ? upper(expected) : expected))
            return false;
        raise = false;
        name++;
    }
    return *name == '\0';
}

static bool means(const char *name, const char *field)
{
    if (lower(*name) != lower(*field))
        return false;
    return strcmp(name, field) == 0 || is_lower_case(name, field) ||
           is_camel_case(name, field, true) || is_camel_case(name, field, false);
}

const ProtobufCFieldDescriptor *nri_json_field_find(const ProtobufCMessageDescriptor *type,
                                                    const char *name)
{
    for (unsigned i = 0; i < type->n_fields; i++) {
        if (means(name, type->fields[i].name))
            return &type->fields[i];
    }
    return NULL;
}
