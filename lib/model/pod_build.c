/* SPDX-License-Identifier: Apache-2.0 */
/* nri/pod_build.h: the setters. */
#include <nri/pod_build.h>

#include <arpa/inet.h>

#include "model/make.h"
#include "model/member.h"
#include "model/object.h"

static const struct nri_member_pair label = {
    .type = &nri__pkg__api__v1alpha1__pod_sandbox__labels_entry__descriptor,
    .noun = "label",
    .key_name = "label key",
};
static const struct nri_member_pair annotation = {
    .type = &nri__pkg__api__v1alpha1__pod_sandbox__annotations_entry__descriptor,
    .noun = "annotation",
    .key_name = "annotation key",
};

/* ---- PodSandbox ---- */

int nri_pod_set_id(nri_pod *pod, const char *id)
{
    const struct nri_where field = {.name = "id"};
    struct nri_pod_parts *parts;
    int code = nri_pod_enter(pod, &parts);
    if (code != 0)
        return code;
    return nri_member_text(&parts->builder, &field, id, true, &parts->message->id);
}

int nri_pod_set_name(nri_pod *pod, const char *name)
{
    const struct nri_where field = {.name = "name"};
    struct nri_pod_parts *parts;
    int code = nri_pod_enter(pod, &parts);
    if (code != 0)
        return code;
    return nri_member_text(&parts->builder, &field, name, false, &parts->message->name);
}

int nri_pod_set_uid(nri_pod *pod, const char *uid)
{
    const struct nri_where field = {.name = "uid"};
    struct nri_pod_parts *parts;
    int code = nri_pod_enter(pod, &parts);
    if (code != 0)
        return code;
    return nri_member_text(&parts->builder, &field, uid, false, &parts->message->uid);
}

int nri_pod_set_namespace(nri_pod *pod, const char *name)
{
    const struct nri_where field = {.name = "namespace"};
    struct nri_pod_parts *parts;
    int code = nri_pod_enter(pod, &parts);
    if (code != 0)
        return code;
    return nri_member_text(&parts->builder, &field, name, false, &parts->message->namespace_);
}

int nri_pod_set_runtime_handler(nri_pod *pod, const char *handler)
{
    const struct nri_where field = {.name = "runtime handler"};
    struct nri_pod_parts *parts;
    int code = nri_pod_enter(pod, &parts);
    if (code != 0)
        return code;
    return nri_member_text(&parts->builder, &field, handler, false,
                           &parts->message->runtime_handler);
}

int nri_pod_set_label(nri_pod *pod, const char *key, const char *value)
{
    struct nri_pod_parts *parts;
    int code = nri_pod_enter(pod, &parts);
    if (code != 0)
        return code;
    return nri_member_set_pair(&parts->builder, &label, &parts->labels, &parts->message->n_labels,
                               &parts->message->labels, key, value);
}

int nri_pod_set_annotation(nri_pod *pod, const char *key, const char *value)
{
    struct nri_pod_parts *parts;
    int code = nri_pod_enter(pod, &parts);
    if (code != 0)
        return code;
    return nri_member_set_pair(&parts->builder, &annotation, &parts->annotations,
                               &parts->message->n_annotations, &parts->message->annotations, key,
                               value);
}

/* Any pid is right, so that nothing can fail and no builder is needed. */
int nri_pod_set_pid(nri_pod *pod, uint32_t pid)
{
    if (pod == NULL)
        return NRI_E_INVALID;
    ((Nri__Pkg__Api__V1alpha1__PodSandbox *)(void *)pod)->pid = pid;
    return 0;
}

static int add_ip(struct nri_pod_parts *parts, const char *address)
{
    const struct nri_where field = {.name = "ip"};
    struct in6_addr bytes; /* either family's address fits */
    char *text;
    int code = nri_builder_check_text(&parts->builder, &field, address);
    if (code != 0)
        return code;
    if (inet_pton(AF_INET, address, &bytes) != 1 && inet_pton(AF_INET6, address, &bytes) != 1)
        return nri_builder_refuse(&parts->builder, NRI_E_INVALID, &field, address,
                                  "must be an IPv4 or IPv6 address");
    code = nri_member_text(&parts->builder, &field, address, true, &text);
    if (code != 0)
        return code;
    code = nri_text_list_set(&parts->ips, &parts->builder, &parts->message->n_ips,
                             &parts->message->ips, '\0', text);
    return code == 0 ? 0 : nri_builder_refuse_memory(&parts->builder, &field);
}

int nri_pod_add_ip(nri_pod *pod, const char *address)
{
    struct nri_pod_parts *parts;
    int code = nri_pod_enter(pod, &parts);
    return code == 0 ? add_ip(parts, address) : code;
}

/* ---- LinuxPodSandbox ---- */

int nri_pod_set_cgroup_parent(nri_pod *pod, const char *path)
{
    const struct nri_where field = {.name = "cgroup_parent"};
    struct nri_pod_parts *parts;
    int code = nri_pod_enter(pod, &parts);
    if (code == 0)
        code = nri_pod_need_linux(parts, &field);
    if (code == 0)
        code = nri_member_text(&parts->builder, &field, path, false,
                               &parts->linux_part->cgroup_parent);
    if (code == 0)
        nri_pod_attach_linux(parts);
    return code;
}

int nri_pod_set_cgroups_path(nri_pod *pod, const char *path)
{
    const struct nri_where field = {.name = "cgroups_path"};
    struct nri_pod_parts *parts;
    int code = nri_pod_enter(pod, &parts);
    if (code == 0)
        code = nri_pod_need_linux(parts, &field);
    if (code == 0)
        code =
            nri_member_text(&parts->builder, &field, path, false, &parts->linux_part->cgroups_path);
    if (code == 0)
        nri_pod_attach_linux(parts);
    return code;
}

static int set_namespace(struct nri_pod_parts *parts, const char *type, const char *path)
{
    const struct nri_where field = {.within = "namespace", .key = type, .name = "entry"};
    Nri__Pkg__Api__V1alpha1__LinuxNamespace *entry;
    int code = nri_make_namespace(&parts->builder, type, path, &entry);
    if (code == 0)
        code = nri_pod_need_linux(parts, &field);
    if (code != 0)
        return code;
    Nri__Pkg__Api__V1alpha1__LinuxPodSandbox *linux_part = parts->linux_part;
    if (nri_unique_set(&parts->namespaces, &parts->builder, &linux_part->n_namespaces,
                       &linux_part->namespaces, &entry->base) != 0)
        return nri_builder_refuse_memory(&parts->builder, &field);
    nri_pod_attach_linux(parts);
    return 0;
}

int nri_pod_set_namespace_path(nri_pod *pod, const char *type, const char *path)
{
    struct nri_pod_parts *parts;
    int code = nri_pod_enter(pod, &parts);
    return code == 0 ? set_namespace(parts, type, path) : code;
}

/* Makes `place` in the linux part the message that is changed from now on. Also empty resources are
 * present ones. */
static nri_resources *edit(nri_pod *pod, size_t builder_offset, size_t place, const char *name)
{
    const struct nri_where field = {.name = name};
    struct nri_pod_parts *parts;
    if (nri_pod_enter(pod, &parts) != 0 || nri_pod_need_linux(parts, &field) != 0)
        return NULL;
    struct nri_resources_builder *builder = (void *)((char *)parts + builder_offset);
    Nri__Pkg__Api__V1alpha1__LinuxResources **member = (void *)((char *)parts->linux_part + place);
    nri_resources *made = nri_resources_builder_adopt(builder, *member);
    if (made == NULL)
        return NULL;
    *member = (void *)made;
    nri_pod_attach_linux(parts);
    return made;
}

nri_resources *nri_pod_edit_overhead(nri_pod *pod)
{
    return edit(pod, offsetof(struct nri_pod_parts, overhead),
                offsetof(Nri__Pkg__Api__V1alpha1__LinuxPodSandbox, pod_overhead), "overhead");
}

nri_resources *nri_pod_edit_pod_resources(nri_pod *pod)
{
    return edit(pod, offsetof(struct nri_pod_parts, pod_resources),
                offsetof(Nri__Pkg__Api__V1alpha1__LinuxPodSandbox, pod_resources), "pod resources");
}

nri_resources *nri_pod_edit_resources(nri_pod *pod)
{
    return edit(pod, offsetof(struct nri_pod_parts, resources),
                offsetof(Nri__Pkg__Api__V1alpha1__LinuxPodSandbox, resources), "resources");
}
