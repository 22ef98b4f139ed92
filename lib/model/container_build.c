/* SPDX-License-Identifier: Apache-2.0 */
/* nri/container_build.h: the setters of Container's own members. */
#include <nri/container_build.h>

#include <stdio.h>
#include <string.h>

#include "model/make.h"
#include "model/member.h"
#include "model/object.h"

typedef Nri__Pkg__Api__V1alpha1__Container container_message;

static const struct nri_member_pair label = {
    .type = &nri__pkg__api__v1alpha1__container__labels_entry__descriptor,
    .noun = "label",
    .key_name = "label key",
};
static const struct nri_member_pair annotation = {
    .type = &nri__pkg__api__v1alpha1__container__annotations_entry__descriptor,
    .noun = "annotation",
    .key_name = "annotation key",
};

/* ---- texts ---- */

int nri_container_set_id(nri_container *container, const char *id)
{
    const struct nri_where field = {.name = "id"};
    struct nri_container_parts *parts;
    int code = nri_container_enter(container, &parts);
    if (code != 0)
        return code;
    return nri_member_text(&parts->builder, &field, id, true, &parts->message->id);
}

int nri_container_set_pod_sandbox_id(nri_container *container, const char *id)
{
    const struct nri_where field = {.name = "pod sandbox id"};
    struct nri_container_parts *parts;
    int code = nri_container_enter(container, &parts);
    if (code != 0)
        return code;
    return nri_member_text(&parts->builder, &field, id, true, &parts->message->pod_sandbox_id);
}

int nri_container_set_name(nri_container *container, const char *name)
{
    const struct nri_where field = {.name = "name"};
    struct nri_container_parts *parts;
    int code = nri_container_enter(container, &parts);
    if (code != 0)
        return code;
    return nri_member_text(&parts->builder, &field, name, false, &parts->message->name);
}

int nri_container_set_status_reason(nri_container *container, const char *reason)
{
    const struct nri_where field = {.name = "status reason"};
    struct nri_container_parts *parts;
    int code = nri_container_enter(container, &parts);
    if (code != 0)
        return code;
    return nri_member_text(&parts->builder, &field, reason, false, &parts->message->status_reason);
}

int nri_container_set_status_message(nri_container *container, const char *message)
{
    const struct nri_where field = {.name = "status message"};
    struct nri_container_parts *parts;
    int code = nri_container_enter(container, &parts);
    if (code != 0)
        return code;
    return nri_member_text(&parts->builder, &field, message, false,
                           &parts->message->status_message);
}

int nri_container_set_label(nri_container *container, const char *key, const char *value)
{
    struct nri_container_parts *parts;
    int code = nri_container_enter(container, &parts);
    if (code != 0)
        return code;
    return nri_member_set_pair(&parts->builder, &label, &parts->labels, &parts->message->n_labels,
                               &parts->message->labels, key, value);
}

int nri_container_set_annotation(nri_container *container, const char *key, const char *value)
{
    struct nri_container_parts *parts;
    int code = nri_container_enter(container, &parts);
    if (code != 0)
        return code;
    return nri_member_set_pair(&parts->builder, &annotation, &parts->annotations,
                               &parts->message->n_annotations, &parts->message->annotations, key,
                               value);
}

/* ---- numbers: where any is right nothing can fail, and no builder is needed ---- */

static container_message *message_of(nri_container *container)
{
    return (void *)container;
}

int nri_container_set_pid(nri_container *container, uint32_t pid)
{
    if (container == NULL)
        return NRI_E_INVALID;
    message_of(container)->pid = pid;
    return 0;
}

int nri_container_set_created_at(nri_container *container, int64_t nanoseconds)
{
    if (container == NULL)
        return NRI_E_INVALID;
    message_of(container)->created_at = nanoseconds;
    return 0;
}

int nri_container_set_started_at(nri_container *container, int64_t nanoseconds)
{
    if (container == NULL)
        return NRI_E_INVALID;
    message_of(container)->started_at = nanoseconds;
    return 0;
}

int nri_container_set_finished_at(nri_container *container, int64_t nanoseconds)
{
    if (container == NULL)
        return NRI_E_INVALID;
    message_of(container)->finished_at = nanoseconds;
    return 0;
}

int nri_container_set_exit_code(nri_container *container, int32_t code)
{
    if (container == NULL)
        return NRI_E_INVALID;
    message_of(container)->exit_code = code;
    return 0;
}

int nri_container_set_state(nri_container *container, enum nri_container_state state)
{
    const struct nri_where field = {.name = "state"};
    struct nri_container_parts *parts;
    char number[16];
    int value = (int)state;
    if (container != NULL && value >= NRI_CONTAINER_UNKNOWN && value <= NRI_CONTAINER_STOPPED) {
        message_of(container)->state = (Nri__Pkg__Api__V1alpha1__ContainerState)value;
        return 0;
    }
    int code = nri_container_enter(container, &parts);
    if (code != 0)
        return code;
    snprintf(number, sizeof number, "%d", value);
    return nri_builder_refuse_number(&parts->builder, NRI_E_RANGE, &field, number,
                                     "must be one of enum nri_container_state, 0 to 4");
}

/* ---- lists ---- */

int nri_container_set_args(nri_container *container, const char *const *args, size_t count)
{
    const struct nri_where field = {.name = "args"};
    struct nri_container_parts *parts;
    char **copies = NULL;
    int code = nri_container_enter(container, &parts);
    if (code == 0 && count > 0)
        code = nri_make_texts(&parts->builder, &field, args, count, false, &copies);
    if (code != 0)
        return code;
    parts->message->args = copies;
    parts->message->n_args = count;
    return 0;
}

static int check_env(struct nri_builder *builder, const char *name, const char *value)
{
    const struct nri_where name_field = {.name = "env name"};
    const struct nri_where field = {.within = "env", .key = name, .name = "value"};
    int code = nri_builder_check_filled(builder, &name_field, name);
    if (code == 0 && strchr(name, '=') != NULL)
        code =
            nri_builder_refuse(builder, NRI_E_INVALID, &name_field, name, "must not contain \"=\"");
    return code == 0 ? nri_builder_check_text(builder, &field, value) : code;
}

/* "NAME=value" as an arena text, in two steps, because two pieces are the most that join at once.
 */
static char *join_env(struct nri_builder *builder, const char *name, const char *value)
{
    size_t length = strlen(name);
    char *front = nri_arena_text2(builder->arena, name, length, "=", 1);
    if (front == NULL)
        return NULL;
    return nri_arena_text2(builder->arena, front, length + 1, value, strlen(value));
}

int nri_container_set_env(nri_container *container, const char *name, const char *value)
{
    const struct nri_where field = {.within = "env", .key = name, .name = "value"};
    struct nri_container_parts *parts;
    int code = nri_container_enter(container, &parts);
    if (code == 0)
        code = check_env(&parts->builder, name, value);
    if (code != 0)
        return code;
    char *text = join_env(&parts->builder, name, value);
    if (text == NULL || nri_text_list_set(&parts->env, &parts->builder, &parts->message->n_env,
                                          &parts->message->env, '=', text) != 0)
        return nri_builder_refuse_memory(&parts->builder, &field);
    return 0;
}

int nri_container_set_mount(nri_container *container, const char *destination, const char *type,
                            const char *source, const char *const *options, size_t option_count)
{
    const struct nri_where field = {.within = "mount", .key = destination, .name = "entry"};
    Nri__Pkg__Api__V1alpha1__Mount *entry;
    struct nri_container_parts *parts;
    int code = nri_container_enter(container, &parts);
    if (code == 0)
        code = nri_make_mount(&parts->builder, destination, type, source, options, option_count,
                              &entry);
    if (code != 0)
        return code;
    if (nri_unique_set(&parts->mounts, &parts->builder, &parts->message->n_mounts,
                       &parts->message->mounts, &entry->base) != 0)
        return nri_builder_refuse_memory(&parts->builder, &field);
    return 0;
}

int nri_container_set_rlimit(nri_container *container, const char *type, uint64_t hard,
                             uint64_t soft)
{
    const struct nri_where field = {.within = "rlimit", .key = type, .name = "entry"};
    Nri__Pkg__Api__V1alpha1__POSIXRlimit *entry;
    struct nri_container_parts *parts;
    int code = nri_container_enter(container, &parts);
    if (code == 0)
        code = nri_make_rlimit(&parts->builder, type, hard, soft, &entry);
    if (code != 0)
        return code;
    if (nri_unique_set(&parts->rlimits, &parts->builder, &parts->message->n_rlimits,
                       &parts->message->rlimits, &entry->base) != 0)
        return nri_builder_refuse_memory(&parts->builder, &field);
    return 0;
}

int nri_container_add_cdi_device(nri_container *container, const char *name)
{
    const struct nri_where field = {.name = "CDI device"};
    Nri__Pkg__Api__V1alpha1__CDIDevice *entry;
    struct nri_container_parts *parts;
    int code = nri_container_enter(container, &parts);
    if (code == 0)
        code = nri_make_cdi_device(&parts->builder, name, &entry);
    if (code != 0)
        return code;
    if (nri_unique_set(&parts->cdi_devices, &parts->builder, &parts->message->n_cdi_devices,
                       &parts->message->cdi_devices, &entry->base) != 0)
        return nri_builder_refuse_memory(&parts->builder, &field);
    return 0;
}

/* ---- hooks ---- */

/* One list of Hooks: its offsets. */
struct hook_list {
    size_t count, array;
};

#define HOOK_LIST(member)                                                                          \
    {                                                                                              \
        offsetof(Nri__Pkg__Api__V1alpha1__Hooks, n_##member),                                      \
            offsetof(Nri__Pkg__Api__V1alpha1__Hooks, member)                                       \
    }

static const struct hook_list hook_lists[] = {
    [NRI_HOOK_PRESTART] = HOOK_LIST(prestart),
    [NRI_HOOK_CREATE_RUNTIME] = HOOK_LIST(create_runtime),
    [NRI_HOOK_CREATE_CONTAINER] = HOOK_LIST(create_container),
    [NRI_HOOK_START_CONTAINER] = HOOK_LIST(start_container),
    [NRI_HOOK_POSTSTART] = HOOK_LIST(poststart),
    [NRI_HOOK_POSTSTOP] = HOOK_LIST(poststop),
};

/* The message's hooks, or new ones that are not part of it yet; NULL on no memory. */
static Nri__Pkg__Api__V1alpha1__Hooks *hooks_of(struct nri_container_parts *parts)
{
    Nri__Pkg__Api__V1alpha1__Hooks *hooks = parts->message->hooks;
    if (hooks != NULL)
        return hooks;
    return nri_make_empty(&parts->builder, &nri__pkg__api__v1alpha1__hooks__descriptor);
}

/* `stage` was checked by nri_make_hook(). */
static int append_hook(struct nri_container_parts *parts, int stage,
                       Nri__Pkg__Api__V1alpha1__Hook *hook)
{
    const struct nri_where field = {.within = "hook", .key = hook->path, .name = "entry"};
    const struct hook_list *list = &hook_lists[stage];
    Nri__Pkg__Api__V1alpha1__Hooks *hooks = hooks_of(parts);
    if (hooks == NULL || nri_list_append(&parts->builder, (void *)((char *)hooks + list->count),
                                         (char *)hooks + list->array, hook) != 0)
        return nri_builder_refuse_memory(&parts->builder, &field);
    parts->message->hooks = hooks;
    return 0;
}

int nri_container_add_hook(nri_container *container, enum nri_hook_stage stage, const char *path,
                           const char *const *args, size_t arg_count, const char *const *env,
                           size_t env_count, const int64_t *timeout)
{
    Nri__Pkg__Api__V1alpha1__Hook *hook;
    struct nri_container_parts *parts;
    int code = nri_container_enter(container, &parts);
    if (code == 0)
        code = nri_make_hook(&parts->builder, (int)stage, path, args, arg_count, env, env_count,
                             timeout, &hook);
    return code == 0 ? append_hook(parts, (int)stage, hook) : code;
}

/* ---- user and image: each a message of its own, replaced as a whole ---- */

int nri_container_set_user(nri_container *container, uint32_t uid, uint32_t gid,
                           const uint32_t *additional_gids, size_t count)
{
    const struct nri_where field = {.name = "user"};
    const struct nri_where list = {.name = "user additional gids"};
    struct nri_container_parts *parts;
    int code = nri_container_enter(container, &parts);
    if (code != 0)
        return code;
    struct nri_builder *builder = &parts->builder;
    if (additional_gids == NULL && count > 0)
        return nri_builder_refuse(builder, NRI_E_INVALID, &list, NULL,
                                  "must be as many numbers as count says");
    Nri__Pkg__Api__V1alpha1__User *user =
        nri_make_empty(builder, &nri__pkg__api__v1alpha1__user__descriptor);
    uint32_t *gids = NULL;
    if (user != NULL && count > 0)
        gids = nri_arena_array(builder->arena, count, sizeof *gids);
    if (user == NULL || (gids == NULL && count > 0))
        return nri_builder_refuse_memory(builder, &field);
    if (count > 0)
        memcpy(gids, additional_gids, count * sizeof *gids);
    user->uid = uid;
    user->gid = gid;
    user->additional_gids = gids;
    user->n_additional_gids = count;
    parts->message->user = user;
    return 0;
}

static int make_image(struct nri_builder *builder, const char *name, const char *digest,
                      const char *config_digest, Nri__Pkg__Api__V1alpha1__Image **message)
{
    const struct nri_where name_field = {.name = "image name"};
    const struct nri_where digest_field = {.name = "image digest"};
    const struct nri_where config_field = {.name = "image config digest"};
    Nri__Pkg__Api__V1alpha1__Image *image =
        nri_make_empty(builder, &nri__pkg__api__v1alpha1__image__descriptor);
    if (image == NULL)
        return nri_builder_refuse_memory(builder, &name_field);
    int code = nri_member_text(builder, &name_field, name != NULL ? name : "", false, &image->name);
    if (code == 0)
        code = nri_member_text(builder, &digest_field, digest != NULL ? digest : "", false,
                               &image->digest);
    if (code == 0)
        code = nri_member_text(builder, &config_field, config_digest != NULL ? config_digest : "",
                               false, &image->config_digest);
    if (code == 0)
        *message = image;
    return code;
}

int nri_container_set_image(nri_container *container, const char *name, const char *digest,
                            const char *config_digest)
{
    struct nri_container_parts *parts;
    int code = nri_container_enter(container, &parts);
    if (code != 0)
        return code;
    return make_image(&parts->builder, name, digest, config_digest, &parts->message->image);
}
