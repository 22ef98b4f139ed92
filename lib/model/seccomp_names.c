/* SPDX-License-Identifier: Apache-2.0 */
#include "model/seccomp_names.h"

#include <string.h>

struct names {
    const char *const *list;
    size_t count;
    const char *rule;
};

#define NAMES(list, rule)                                                                          \
    {                                                                                              \
        (list), sizeof(list) / sizeof((list)[0]), (rule)                                           \
    }

static const char *const action_list[] = {
    "SCMP_ACT_KILL",  "SCMP_ACT_KILL_PROCESS", "SCMP_ACT_KILL_THREAD",
    "SCMP_ACT_TRAP",  "SCMP_ACT_ERRNO",        "SCMP_ACT_TRACE",
    "SCMP_ACT_ALLOW", "SCMP_ACT_LOG",          "SCMP_ACT_NOTIFY",
};
static const struct names actions =
    NAMES(action_list, "must be SCMP_ACT_ and one of ALLOW, ERRNO, KILL, KILL_PROCESS, "
                       "KILL_THREAD, LOG, NOTIFY, TRACE, TRAP");

static const char *const operator_list[] = {
    "SCMP_CMP_NE", "SCMP_CMP_LT", "SCMP_CMP_LE",        "SCMP_CMP_EQ",
    "SCMP_CMP_GE", "SCMP_CMP_GT", "SCMP_CMP_MASKED_EQ",
};
static const struct names operators =
    NAMES(operator_list, "must be SCMP_CMP_ and one of NE, LT, LE, EQ, GE, GT, MASKED_EQ");

static const char *const architecture_list[] = {
    "SCMP_ARCH_X86",     "SCMP_ARCH_X86_64",   "SCMP_ARCH_X32",         "SCMP_ARCH_ARM",
    "SCMP_ARCH_AARCH64", "SCMP_ARCH_MIPS",     "SCMP_ARCH_MIPS64",      "SCMP_ARCH_MIPS64N32",
    "SCMP_ARCH_MIPSEL",  "SCMP_ARCH_MIPSEL64", "SCMP_ARCH_MIPSEL64N32", "SCMP_ARCH_PPC",
    "SCMP_ARCH_PPC64",   "SCMP_ARCH_PPC64LE",  "SCMP_ARCH_S390",        "SCMP_ARCH_S390X",
    "SCMP_ARCH_PARISC",  "SCMP_ARCH_PARISC64", "SCMP_ARCH_RISCV64",     "SCMP_ARCH_LOONGARCH64",
    "SCMP_ARCH_M68K",    "SCMP_ARCH_SH",       "SCMP_ARCH_SHEB",
};
static const struct names architectures =
    NAMES(architecture_list, "must be an architecture of the OCI runtime spec, such as "
                             "SCMP_ARCH_X86_64, SCMP_ARCH_AARCH64 or SCMP_ARCH_RISCV64");

static const char *const flag_list[] = {
    "SECCOMP_FILTER_FLAG_TSYNC",
    "SECCOMP_FILTER_FLAG_LOG",
    "SECCOMP_FILTER_FLAG_SPEC_ALLOW",
    "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV",
};
static const struct names flags =
    NAMES(flag_list, "must be SECCOMP_FILTER_FLAG_ and one of TSYNC, LOG, SPEC_ALLOW, "
                     "WAIT_KILLABLE_RECV");

static int check(struct nri_builder *builder, const struct nri_where *field, const char *name,
                 const struct names *names)
{
    int code = nri_builder_check_text(builder, field, name);
    if (code != 0)
        return code;
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->list[i], name) == 0)
            return 0;
    }
    return nri_builder_refuse(builder, NRI_E_INVALID, field, name, names->rule);
}

int nri_check_seccomp_action(struct nri_builder *builder, const struct nri_where *field,
                             const char *name)
{
    return check(builder, field, name, &actions);
}

int nri_check_seccomp_operator(struct nri_builder *builder, const struct nri_where *field,
                               const char *name)
{
    return check(builder, field, name, &operators);
}

int nri_check_seccomp_architecture(struct nri_builder *builder, const struct nri_where *field,
                                   const char *name)
{
    return check(builder, field, name, &architectures);
}

int nri_check_seccomp_flag(struct nri_builder *builder, const struct nri_where *field,
                           const char *name)
{
    return check(builder, field, name, &flags);
}

bool nri_seccomp_action_takes_errno(const char *action)
{
    return strcmp(action, "SCMP_ACT_ERRNO") == 0 || strcmp(action, "SCMP_ACT_TRACE") == 0;
}

bool nri_seccomp_operator_takes_two(const char *op)
{
    return strcmp(op, "SCMP_CMP_MASKED_EQ") == 0;
}
