/* SPDX-License-Identifier: Apache-2.0 */
#include "model/adjustment_builder.h"

nri_adjustment *nri_adjustment_make(struct nri_arena *arena, const uint64_t seed[2], int blocked,
                                    const char *blocked_text)
{
    struct nri_adjustment *adjustment = nri_arena_alloc(arena, sizeof *adjustment);
    struct nri_adjustment_frame *frame = nri_arena_alloc(arena, sizeof *frame);
    if (adjustment == NULL || frame == NULL)
        return NULL;
    nri__pkg__api__v1alpha1__container_adjustment__init(&frame->message);
    nri__pkg__api__v1alpha1__linux_container_adjustment__init(&frame->linux_part);
    nri_builder_init(&adjustment->builder, arena, seed, blocked, blocked_text);
    adjustment->annotations = (struct nri_keyed){0};
    adjustment->mounts = (struct nri_keyed){0};
    adjustment->env = (struct nri_keyed){0};
    adjustment->args = NULL;
    adjustment->arg_count = 0;
    adjustment->resources = (struct nri_resources_builder){.builder = &adjustment->builder};
    adjustment->frame = frame;
    frame->changes = 0;
    frame->used = false;
    adjustment->fixed = NULL;
    return adjustment;
}

nri_adjustment *nri_adjustment_view(struct nri_arena *arena,
                                    const Nri__Pkg__Api__V1alpha1__ContainerAdjustment *message,
                                    int blocked, const char *blocked_text)
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

void nri_adjustment_seal(nri_adjustment *adjustment)
{
    if (adjustment != NULL)
        adjustment->builder.sealed = true;
}

static void *list_messages(const struct nri_keyed *list, size_t *count)
{
    ProtobufCMessage **messages;
    *count = nri_keyed_messages(list, &messages);
    return messages;
}

/* Whether there is anything. */
static bool assemble(const nri_adjustment *adjustment)
{
    Nri__Pkg__Api__V1alpha1__ContainerAdjustment *message = &adjustment->frame->message;
    Nri__Pkg__Api__V1alpha1__LinuxContainerAdjustment *linux_part = &adjustment->frame->linux_part;
    message->annotations = list_messages(&adjustment->annotations, &message->n_annotations);
    message->mounts = list_messages(&adjustment->mounts, &message->n_mounts);
    message->env = list_messages(&adjustment->env, &message->n_env);
    message->args = adjustment->args;
    message->n_args = adjustment->arg_count;
    linux_part->resources = nri_resources_builder_message(&adjustment->resources);
    message->linux = linux_part->resources != NULL ? linux_part : NULL;
    return message->n_annotations > 0 || message->n_mounts > 0 || message->n_env > 0 ||
           message->n_args > 0 || message->linux != NULL;
}

const Nri__Pkg__Api__V1alpha1__ContainerAdjustment *
nri_adjustment_message(const nri_adjustment *adjustment)
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

uint64_t nri_adjustment_features(const nri_adjustment *adjustment)
{
    uint64_t features = 0;
    if (adjustment != NULL && adjustment->arg_count > 0)
        features |= UINT64_C(1) << NRI_FEATURE_ARGS;
    return features;
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
