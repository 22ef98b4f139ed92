/* SPDX-License-Identifier: Apache-2.0 */
#include "model/adjustment_builder.h"

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type

nri_adjustment *nri_adjustment_make(struct nri_arena *arena, const uint64_t seed[2], int blocked,
                                    const char *blocked_text)
{
    struct nri_adjustment *adjustment = nri_arena_zero(arena, sizeof *adjustment);
    struct nri_adjustment_frame *frame = nri_arena_alloc(arena, sizeof *frame);
    if (adjustment == NULL || frame == NULL)
        return NULL;
    nri__pkg__api__v1alpha1__container_adjustment__init(&frame->message);
    nri__pkg__api__v1alpha1__linux_container_adjustment__init(&frame->linux_part);
    nri_builder_init(&adjustment->builder, arena, seed, blocked, blocked_text);
    adjustment->resources.builder = &adjustment->builder;
    adjustment->frame = frame;
    frame->changes = 0;
    frame->used = false;
    return adjustment;
}

nri_adjustment *nri_adjustment_view(struct nri_arena *arena,
                                    const MESSAGE(ContainerAdjustment) * message, int blocked,
                                    const char *blocked_text)
{
    const uint64_t no_seed[2] = {0, 0}; /* nothing is ever added that could be hashed */
    nri_adjustment *adjustment = nri_adjustment_make(arena, no_seed, blocked, blocked_text);
    if (adjustment != NULL)
        adjustment->fixed = message;
    return adjustment;
}

int nri_adjustment_enter(nri_adjustment *adjustment)
{
    return nri_builder_enter(adjustment != NULL ? &adjustment->builder : NULL);
}

static void *list_messages(const struct nri_keyed *list, size_t *count)
{
    ProtobufCMessage **messages;
    *count = nri_keyed_messages(list, &messages);
    return messages;
}

static void assemble_rare(const struct nri_adjustment_rare *rare,
                          MESSAGE(LinuxContainerAdjustment) * linux_part)
{
    linux_part->devices = list_messages(&rare->devices, &linux_part->n_devices);
    linux_part->namespaces = list_messages(&rare->namespaces, &linux_part->n_namespaces);
    linux_part->sysctl = list_messages(&rare->sysctl, &linux_part->n_sysctl);
    linux_part->net_devices = list_messages(&rare->net_devices, &linux_part->n_net_devices);
}

struct nri_adjustment_rare *nri_adjustment_need_rare(nri_adjustment *adjustment)
{
    if (adjustment->rare != NULL)
        return adjustment->rare;
    struct nri_adjustment_rare *rare = nri_arena_zero(adjustment->builder.arena, sizeof *rare);
    if (rare == NULL)
        return NULL;
    nri__pkg__api__v1alpha1__hooks__init(&rare->hooks);
    nri__pkg__api__v1alpha1__linux_rdt__init(&rare->rdt);
    rare->assemble = assemble_rare;
    nri_adjustment_uses_feature(adjustment, NRI_FEATURES_ANY);
    adjustment->rare = rare;
    return rare;
}

nri_feature_check nri_adjustment_feature_check(const nri_adjustment *adjustment, uint64_t settled)
{
    if (adjustment == NULL || (adjustment->may_use & ~settled) == 0)
        return NULL;
    return adjustment->check_features;
}

int nri_adjustment_check(nri_adjustment *adjustment)
{
    if (adjustment == NULL || adjustment->rare == NULL || adjustment->rare->check_seccomp == NULL)
        return 0;
    return adjustment->rare->check_seccomp(&adjustment->builder,
                                           adjustment->frame->linux_part.seccomp_policy);
}

void nri_adjustment_seal(nri_adjustment *adjustment)
{
    if (adjustment != NULL)
        adjustment->builder.sealed = true;
}

static bool linux_part_used(const MESSAGE(LinuxContainerAdjustment) * linux_part)
{
    return linux_part->n_devices > 0 || linux_part->resources != NULL ||
           linux_part->cgroups_path[0] != '\0' || linux_part->oom_score_adj != NULL ||
           linux_part->io_priority != NULL || linux_part->seccomp_policy != NULL ||
           linux_part->n_namespaces > 0 || linux_part->n_sysctl > 0 ||
           linux_part->n_net_devices > 0 || linux_part->scheduler != NULL ||
           linux_part->rdt != NULL || linux_part->memory_policy != NULL;
}

/* Whether there is anything. */
static bool assemble(const nri_adjustment *adjustment)
{
    MESSAGE(ContainerAdjustment) *message = &adjustment->frame->message;
    MESSAGE(LinuxContainerAdjustment) *linux_part = &adjustment->frame->linux_part;
    message->annotations = list_messages(&adjustment->annotations, &message->n_annotations);
    message->mounts = list_messages(&adjustment->mounts, &message->n_mounts);
    message->env = list_messages(&adjustment->env, &message->n_env);
    message->args = adjustment->args;
    message->n_args = adjustment->arg_count;
    linux_part->resources = nri_resources_builder_message(&adjustment->resources);
    if (adjustment->rare != NULL)
        adjustment->rare->assemble(adjustment->rare, linux_part);
    message->linux = linux_part_used(linux_part) ? linux_part : NULL;
    return message->n_annotations > 0 || message->n_mounts > 0 || message->n_env > 0 ||
           message->hooks != NULL || message->linux != NULL || message->n_rlimits > 0 ||
           message->n_cdi_devices > 0 || message->n_args > 0;
}

const MESSAGE(ContainerAdjustment) * nri_adjustment_message(const nri_adjustment *adjustment)
{
    if (adjustment == NULL)
        return NULL;
    if (adjustment->fixed != NULL)
        return adjustment->fixed;
    struct nri_adjustment_frame *frame = adjustment->frame;
    if (frame->changes != adjustment->builder.changes) {
        frame->used = assemble(adjustment);
        frame->changes = adjustment->builder.changes;
    }
    return frame->used ? &frame->message : NULL;
}

int nri_adjustment_error(const nri_adjustment *adjustment)
{
    return adjustment != NULL ? adjustment->builder.error.code : 0;
}

const char *nri_adjustment_error_text(const nri_adjustment *adjustment)
{
    return adjustment != NULL ? adjustment->builder.error.text : "";
}

void nri_adjustment_clear_error(nri_adjustment *adjustment)
{
    if (adjustment != NULL)
        nri_error_clear(&adjustment->builder.error);
}
