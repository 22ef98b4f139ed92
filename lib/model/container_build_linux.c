/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nri/container_build.h: the setters of LinuxContainer's members. Each makes its own message first;
 * the linux part becomes a part of the container with the first value in it.
 */
#include <nri/container_build.h>

#include <stdio.h>

#include "model/make.h"
#include "model/member.h"
#include "model/object.h"
#include "model/seccomp_builder.h"

typedef Nri__Pkg__Api__V1alpha1__LinuxContainer linux_message;

static const struct nri_member_pair sysctl = {
    .type = &nri__pkg__api__v1alpha1__linux_container__sysctl_entry__descriptor,
    .noun = "sysctl",
    .key_name = "sysctl",
};

/* Enters a setter of a member that errors call `name`. */
static int enter(nri_container *container, const char *name, struct nri_container_parts **parts)
{
    const struct nri_where field = {.name = name};
    int code = nri_container_enter(container, parts);
    return code == 0 ? nri_container_need_linux(*parts, &field) : code;
}

/* ---- lists ---- */

int nri_container_set_namespace(nri_container *container, const char *type, const char *path)
{
    const struct nri_where field = {.within = "namespace", .key = type, .name = "entry"};
    Nri__Pkg__Api__V1alpha1__LinuxNamespace *entry;
    struct nri_container_parts *parts;
    int code = enter(container, "namespace", &parts);
    if (code == 0)
        code = nri_make_namespace(&parts->builder, type, path, &entry);
    if (code != 0)
        return code;
    linux_message *linux_part = parts->linux_part;
    if (nri_unique_set(&parts->namespaces, &parts->builder, &linux_part->n_namespaces,
                       &linux_part->namespaces, &entry->base) != 0)
        return nri_builder_refuse_memory(&parts->builder, &field);
    nri_container_attach_linux(parts);
    return 0;
}

int nri_container_set_device(nri_container *container, const char *path, const char *type,
                             int64_t major, int64_t minor, const uint32_t *file_mode,
                             const uint32_t *uid, const uint32_t *gid)
{
    const struct nri_where field = {.within = "device", .key = path, .name = "entry"};
    Nri__Pkg__Api__V1alpha1__LinuxDevice *entry;
    struct nri_container_parts *parts;
    int code = enter(container, "device", &parts);
    if (code == 0)
        code =
            nri_make_device(&parts->builder, path, type, major, minor, file_mode, uid, gid, &entry);
    if (code != 0)
        return code;
    linux_message *linux_part = parts->linux_part;
    if (nri_unique_set(&parts->devices, &parts->builder, &linux_part->n_devices,
                       &linux_part->devices, &entry->base) != 0)
        return nri_builder_refuse_memory(&parts->builder, &field);
    nri_container_attach_linux(parts);
    return 0;
}

int nri_container_set_sysctl(nri_container *container, const char *key, const char *value)
{
    struct nri_container_parts *parts;
    int code = enter(container, "sysctl", &parts);
    if (code == 0)
        code = nri_check_sysctl(&parts->builder, key);
    if (code == 0)
        code = nri_member_set_pair(&parts->builder, &sysctl, &parts->sysctl,
                                   &parts->linux_part->n_sysctl, &parts->linux_part->sysctl, key,
                                   value);
    if (code == 0)
        nri_container_attach_linux(parts);
    return code;
}

/* An entry of the map and the device that it holds. NULL on no memory. */
static Nri__Pkg__Api__V1alpha1__LinuxContainer__NetDevicesEntry *
make_net_device(struct nri_builder *builder, const char *host_name, const char *name)
{
    Nri__Pkg__Api__V1alpha1__LinuxContainer__NetDevicesEntry *entry = nri_make_empty(
        builder, &nri__pkg__api__v1alpha1__linux_container__net_devices_entry__descriptor);
    Nri__Pkg__Api__V1alpha1__LinuxNetDevice *device =
        nri_make_empty(builder, &nri__pkg__api__v1alpha1__linux_net_device__descriptor);
    if (entry == NULL || device == NULL)
        return NULL;
    entry->key = nri_builder_text(builder, host_name);
    entry->value = device;
    device->name = nri_builder_text(builder, name);
    return entry->key != NULL && device->name != NULL ? entry : NULL;
}

int nri_container_set_net_device(nri_container *container, const char *host_name, const char *name)
{
    const struct nri_where field = {.within = "net device", .key = host_name, .name = "entry"};
    struct nri_container_parts *parts;
    int code = enter(container, "net device", &parts);
    if (code == 0)
        code = nri_check_net_device(&parts->builder, "net device", host_name);
    if (code == 0 && name != NULL && name[0] != '\0')
        code = nri_check_net_device(&parts->builder, "net device name", name);
    if (code != 0)
        return code;
    linux_message *linux_part = parts->linux_part;
    Nri__Pkg__Api__V1alpha1__LinuxContainer__NetDevicesEntry *entry =
        make_net_device(&parts->builder, host_name, name);
    if (entry == NULL ||
        nri_unique_set(&parts->net_devices, &parts->builder, &linux_part->n_net_devices,
                       &linux_part->net_devices, &entry->base) != 0)
        return nri_builder_refuse_memory(&parts->builder, &field);
    nri_container_attach_linux(parts);
    return 0;
}

/* ---- objects of their own ---- */

nri_resources *nri_container_edit_resources(nri_container *container)
{
    struct nri_container_parts *parts;
    if (enter(container, "resources", &parts) != 0)
        return NULL;
    nri_resources *made =
        nri_resources_builder_adopt(&parts->resources, parts->linux_part->resources);
    if (made == NULL)
        return NULL;
    parts->linux_part->resources = (void *)made;
    nri_container_attach_linux(parts);
    return made;
}

nri_seccomp *nri_container_edit_seccomp_policy(nri_container *container)
{
    struct nri_container_parts *parts;
    if (enter(container, "seccomp policy", &parts) != 0)
        return NULL;
    if (parts->seccomp == NULL)
        parts->seccomp = nri_seccomp_make(&parts->builder, parts->linux_part->seccomp_policy);
    if (parts->seccomp == NULL)
        return NULL;
    parts->linux_part->seccomp_policy = (void *)parts->seccomp;
    nri_container_attach_linux(parts);
    return parts->seccomp;
}

/* ---- one value each ---- */

int nri_container_set_cgroups_path(nri_container *container, const char *path)
{
    const struct nri_where field = {.name = "cgroups_path"};
    struct nri_container_parts *parts;
    int code = enter(container, "cgroups_path", &parts);
    if (code == 0)
        code =
            nri_member_text(&parts->builder, &field, path, false, &parts->linux_part->cgroups_path);
    if (code == 0)
        nri_container_attach_linux(parts);
    return code;
}

int nri_container_set_oom_score_adj(nri_container *container, int64_t score)
{
    struct nri_container_parts *parts;
    int code = enter(container, "oom_score_adj", &parts);
    if (code == 0)
        code = nri_make_oom_score_adj(&parts->builder, score, &parts->linux_part->oom_score_adj);
    if (code == 0)
        nri_container_attach_linux(parts);
    return code;
}

int nri_container_set_io_priority(nri_container *container, enum nri_ioprio_class ioprio_class,
                                  int32_t priority)
{
    struct nri_container_parts *parts;
    int code = enter(container, "I/O priority", &parts);
    if (code == 0)
        code = nri_make_io_priority(&parts->builder, (int)ioprio_class, priority,
                                    &parts->linux_part->io_priority);
    if (code == 0)
        nri_container_attach_linux(parts);
    return code;
}

int nri_container_set_scheduler(nri_container *container, enum nri_scheduler_policy policy,
                                int32_t nice, int32_t priority, const int *flags, size_t flag_count,
                                uint64_t runtime, uint64_t deadline, uint64_t period)
{
    struct nri_container_parts *parts;
    int code = enter(container, "scheduler", &parts);
    if (code == 0)
        code = nri_make_scheduler(&parts->builder, (int)policy, nice, priority, flags, flag_count,
                                  runtime, deadline, period, &parts->linux_part->scheduler);
    if (code == 0)
        nri_container_attach_linux(parts);
    return code;
}

/* ---- the seccomp profile ---- */

static int check_profile(struct nri_builder *builder, int type, const char *localhost_ref)
{
    const struct nri_where type_field = {.name = "seccomp profile type"};
    const struct nri_where field = {.name = "seccomp profile localhost_ref"};
    char number[16];
    bool filled = localhost_ref != NULL && localhost_ref[0] != '\0';
    snprintf(number, sizeof number, "%d", type);
    if (type < NRI_SECCOMP_RUNTIME_DEFAULT || type > NRI_SECCOMP_LOCALHOST)
        return nri_builder_refuse_number(builder, NRI_E_RANGE, &type_field, number,
                                         "must be one of enum nri_seccomp_profile_type, 0 to 2");
    if (type == NRI_SECCOMP_LOCALHOST)
        return nri_builder_check_filled(builder, &field, localhost_ref);
    if (!filled)
        return 0;
    return nri_builder_refuse(builder, NRI_E_INVALID, &field, localhost_ref,
                              "must be NULL or empty unless the type is NRI_SECCOMP_LOCALHOST");
}

int nri_container_set_seccomp_profile(nri_container *container, enum nri_seccomp_profile_type type,
                                      const char *localhost_ref)
{
    const struct nri_where field = {.name = "seccomp profile"};
    struct nri_container_parts *parts;
    int code = enter(container, "seccomp profile", &parts);
    if (code == 0)
        code = check_profile(&parts->builder, (int)type, localhost_ref);
    if (code != 0)
        return code;
    Nri__Pkg__Api__V1alpha1__SecurityProfile *profile =
        nri_make_empty(&parts->builder, &nri__pkg__api__v1alpha1__security_profile__descriptor);
    char *text = nri_builder_text(&parts->builder, localhost_ref);
    if (profile == NULL || text == NULL)
        return nri_builder_refuse_memory(&parts->builder, &field);
    profile->profile_type = (Nri__Pkg__Api__V1alpha1__SecurityProfile__ProfileType)type;
    profile->localhost_ref = text;
    parts->linux_part->seccomp_profile = profile;
    nri_container_attach_linux(parts);
    return 0;
}

/* ---- RDT: what readers have of it keeps its old value, so that each change makes a new one ----
 */

static Nri__Pkg__Api__V1alpha1__LinuxRdt *copy_rdt(struct nri_container_parts *parts,
                                                   const struct nri_where *field, int *code)
{
    const Nri__Pkg__Api__V1alpha1__LinuxRdt *old = parts->linux_part->rdt;
    Nri__Pkg__Api__V1alpha1__LinuxRdt *rdt =
        nri_make_empty(&parts->builder, &nri__pkg__api__v1alpha1__linux_rdt__descriptor);
    if (rdt == NULL)
        *code = nri_builder_refuse_memory(&parts->builder, field);
    else if (old != NULL)
        *rdt = *old;
    return rdt;
}

static void attach_rdt(struct nri_container_parts *parts, Nri__Pkg__Api__V1alpha1__LinuxRdt *rdt)
{
    parts->linux_part->rdt = rdt;
    nri_container_attach_linux(parts);
}

int nri_container_set_rdt_clos_id(nri_container *container, const char *clos_id)
{
    const struct nri_where field = {.name = "RDT clos_id"};
    struct nri_container_parts *parts;
    int code = enter(container, "RDT clos_id", &parts);
    if (code != 0)
        return code;
    Nri__Pkg__Api__V1alpha1__LinuxRdt *rdt = copy_rdt(parts, &field, &code);
    if (rdt == NULL)
        return code;
    code = nri_make_rdt_clos_id(&parts->builder, clos_id, &rdt->clos_id);
    if (code == 0)
        attach_rdt(parts, rdt);
    return code;
}

int nri_container_set_rdt_schemata(nri_container *container, const char *const *schemata,
                                   size_t count)
{
    const struct nri_where field = {.name = "RDT schemata"};
    struct nri_container_parts *parts;
    int code = enter(container, "RDT schemata", &parts);
    if (code != 0)
        return code;
    Nri__Pkg__Api__V1alpha1__LinuxRdt *rdt = copy_rdt(parts, &field, &code);
    if (rdt == NULL)
        return code;
    code = nri_make_rdt_schemata(&parts->builder, schemata, count, &rdt->schemata);
    if (code == 0)
        attach_rdt(parts, rdt);
    return code;
}

int nri_container_set_rdt_enable_monitoring(nri_container *container, bool enable)
{
    const struct nri_where field = {.name = "RDT enable_monitoring"};
    struct nri_container_parts *parts;
    int code = enter(container, "RDT enable_monitoring", &parts);
    if (code != 0)
        return code;
    Nri__Pkg__Api__V1alpha1__LinuxRdt *rdt = copy_rdt(parts, &field, &code);
    if (rdt == NULL)
        return code;
    Nri__Pkg__Api__V1alpha1__OptionalBool *value =
        nri_make_empty(&parts->builder, &nri__pkg__api__v1alpha1__optional_bool__descriptor);
    if (value == NULL)
        return nri_builder_refuse_memory(&parts->builder, &field);
    value->value = enable;
    rdt->enable_monitoring = value;
    attach_rdt(parts, rdt);
    return 0;
}
