/* SPDX-License-Identifier: Apache-2.0 */
/* Names that stand in tables, and names of the kernel's. */
#include <string.h>

#include "model/make.h"

#define NET_DEVICE_LONGEST 15 /* IFNAMSIZ without the NUL */

/* getrlimit(2) */
static const char rlimit_types[][20] = {
    "RLIMIT_AS",     "RLIMIT_CORE",   "RLIMIT_CPU",        "RLIMIT_DATA",
    "RLIMIT_FSIZE",  "RLIMIT_LOCKS",  "RLIMIT_MEMLOCK",    "RLIMIT_MSGQUEUE",
    "RLIMIT_NICE",   "RLIMIT_NOFILE", "RLIMIT_NPROC",      "RLIMIT_RSS",
    "RLIMIT_RTPRIO", "RLIMIT_RTTIME", "RLIMIT_SIGPENDING", "RLIMIT_STACK",
};

/* As the OCI runtime spec spells them. */
static const char namespace_types[][20] = {
    "pid", "network", "mount", "ipc", "uts", "user", "cgroup", "time",
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static int check_in(struct nri_builder *builder, const struct nri_where *field, const char *name,
                    const char (*table)[20], size_t count, const char *rule)
{
    int code = nri_builder_check_filled(builder, field, name);
    for (size_t i = 0; code == 0 && i < count; i++) {
        if (strcmp(name, table[i]) == 0)
            return 0;
    }
    return code != 0 ? code : nri_builder_refuse(builder, NRI_E_INVALID, field, name, rule);
}

int nri_check_rlimit_type(struct nri_builder *builder, const char *type)
{
    const struct nri_where field = {.name = "rlimit type"};
    return check_in(builder, &field, type, rlimit_types, COUNT(rlimit_types),
                    "must be a name of getrlimit(2), such as \"RLIMIT_NOFILE\"");
}

int nri_check_namespace_type(struct nri_builder *builder, const char *type)
{
    const struct nri_where field = {.name = "namespace type"};
    return check_in(builder, &field, type, namespace_types, COUNT(namespace_types),
                    "must be \"pid\", \"network\", \"mount\", \"ipc\", \"uts\", \"user\", "
                    "\"cgroup\" or \"time\"");
}

/* As the kernel has it; and "-" in front, which it allows, would be a removal. */
static const char *net_device_rule_broken(const char *name)
{
    if (name[0] == '-')
        return "must not start with \"-\"";
    if (strlen(name) > NET_DEVICE_LONGEST)
        return "must be 1 to 15 bytes";
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return "must not be \".\" or \"..\"";
    if (strpbrk(name, "/: \t\n\v\f\r") != NULL)
        return "must not contain \"/\", \":\" and blanks";
    return NULL;
}

int nri_check_net_device(struct nri_builder *builder, const char *what, const char *name)
{
    const struct nri_where field = {.name = what};
    int code = nri_builder_check_filled(builder, &field, name);
    if (code != 0)
        return code;
    const char *rule = net_device_rule_broken(name);
    return rule == NULL ? 0 : nri_builder_refuse(builder, NRI_E_INVALID, &field, name, rule);
}

int nri_check_sysctl(struct nri_builder *builder, const char *key)
{
    const struct nri_where field = {.name = "sysctl"};
    int code = nri_builder_check_filled(builder, &field, key);
    if (code == 0 && key[0] == '-')
        code = nri_builder_refuse(builder, NRI_E_INVALID, &field, key, "must not start with \"-\"");
    if (code == 0 && strchr(key, '/') != NULL)
        code = nri_builder_refuse(builder, NRI_E_INVALID, &field, key,
                                  "must not contain \"/\"; its name has dots, such as "
                                  "\"net.core.somaxconn\"");
    return code;
}
