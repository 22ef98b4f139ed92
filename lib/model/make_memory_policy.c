/* SPDX-License-Identifier: Apache-2.0 */
/* LinuxMemoryPolicy: the rules are those of set_mempolicy(2). */
#include <nri/memory_policy.h>
#include <stdio.h>

#include "model/cpu_list.h"
#include "model/make.h"

static const struct nri_where nodes_field = {.name = "memory policy nodes"};
static const struct nri_where flags_field = {.name = "memory policy flags"};

static int check_list(struct nri_builder *builder, const char *nodes)
{
    const char *rule;
    char text[128];
    size_t offset;
    int code = nri_builder_check_text(builder, &nodes_field, nodes);
    if (code != 0)
        return code;
    code = nri_cpu_list_check(nodes, &rule, &offset);
    if (code == 0)
        return 0;
    snprintf(text, sizeof text, "wrong at offset %zu: %s", offset, rule);
    return nri_builder_refuse(builder, code, &nodes_field, nodes, text);
}

static int check_nodes(struct nri_builder *builder, int mode, const char *nodes)
{
    bool takes_none = mode == NRI_MPOL_DEFAULT || mode == NRI_MPOL_LOCAL;
    if (nodes == NULL || nodes[0] == '\0') {
        if (takes_none || mode == NRI_MPOL_PREFERRED)
            return 0;
        return nri_builder_refuse(builder, NRI_E_INVALID, &nodes_field, nodes,
                                  "must be memory nodes, such as \"0-1\", with this mode");
    }
    if (takes_none)
        return nri_builder_refuse(builder, NRI_E_INVALID, &nodes_field, nodes,
                                  "must be empty with MPOL_DEFAULT and MPOL_LOCAL");
    return check_list(builder, nodes);
}

/* NULL, or the rule that the flag breaks. What only some kernels refuse is no fault:
 * MPOL_F_NUMA_BALANCING came after the other flags, first for MPOL_BIND alone. MPOL_DEFAULT takes
 * the flags about nodes and makes nothing of them. */
static const char *flag_fault(int flag, int mode, bool has_nodes, bool has_node_flag)
{
    if (flag == NRI_MPOL_F_NUMA_BALANCING) {
        if (mode == NRI_MPOL_BIND || mode == NRI_MPOL_PREFERRED_MANY)
            return NULL;
        return "must not be set unless the mode is MPOL_BIND or MPOL_PREFERRED_MANY";
    }
    if (has_node_flag)
        return "MPOL_F_STATIC_NODES and MPOL_F_RELATIVE_NODES exclude each other";
    if (!has_nodes && mode != NRI_MPOL_DEFAULT)
        return "must not be set without memory nodes";
    return NULL;
}

static int check_flags(struct nri_builder *builder, int mode, const char *nodes, const int *flags,
                       size_t count)
{
    struct nri_where one = flags_field;
    bool has_nodes = nodes != NULL && nodes[0] != '\0', has_node_flag = false;
    int code = nri_check_numbers(builder, &flags_field, flags, count, NRI_MPOL_F_NUMA_BALANCING);
    one.indexed = true;
    for (; code == 0 && one.index < count; one.index++) {
        int flag = flags[one.index];
        const char *fault = flag_fault(flag, mode, has_nodes, has_node_flag);
        char number[16];
        if (fault != NULL) {
            snprintf(number, sizeof number, "%d", flag);
            code = nri_builder_refuse_number(builder, NRI_E_INVALID, &one, number, fault);
        }
        has_node_flag = has_node_flag || flag != NRI_MPOL_F_NUMA_BALANCING;
    }
    return code;
}

static bool fill(struct nri_builder *builder, NRI_MESSAGE(LinuxMemoryPolicy) * policy,
                 const char *nodes, const int *flags, size_t flag_count)
{
    policy->nodes = nri_builder_text(builder, nodes);
    if (policy->nodes == NULL || flag_count == 0)
        return policy->nodes != NULL;
    policy->flags = nri_arena_array(builder->arena, flag_count, sizeof policy->flags[0]);
    if (policy->flags == NULL)
        return false;
    for (size_t i = 0; i < flag_count; i++)
        policy->flags[i] = (NRI_MESSAGE(MpolFlag))flags[i];
    policy->n_flags = flag_count;
    return true;
}

int nri_make_memory_policy(struct nri_builder *builder, int mode, const char *nodes,
                           const int *flags, size_t flag_count,
                           NRI_MESSAGE(LinuxMemoryPolicy) * *message)
{
    const struct nri_where mode_field = {.name = "memory policy mode"};
    int code = nri_check_signed(builder, &mode_field, mode,
                                mode >= NRI_MPOL_DEFAULT && mode <= NRI_MPOL_WEIGHTED_INTERLEAVE,
                                "must be 0 to 6");
    if (code == 0)
        code = check_nodes(builder, mode, nodes);
    if (code == 0)
        code = check_flags(builder, mode, nodes, flags, flag_count);
    if (code != 0)
        return code;
    NRI_MESSAGE(LinuxMemoryPolicy) *made =
        nri_make_empty(builder, &nri__pkg__api__v1alpha1__linux_memory_policy__descriptor);
    if (made == NULL || !fill(builder, made, nodes, flags, flag_count)) {
        const struct nri_where field = {.name = "memory policy"};
        return nri_builder_refuse_memory(builder, &field);
    }
    made->mode = (NRI_MESSAGE(MpolMode))mode;
    *message = made;
    return 0;
}
