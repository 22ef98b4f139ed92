/* SPDX-License-Identifier: Apache-2.0 */
#include "model/model.h"
#include "model/namespace.h"
#include "model/reader.h"

typedef Nri__Pkg__Api__V1alpha1__PodSandbox pod_message;

static const pod_message empty_pod = NRI__PKG__API__V1ALPHA1__POD_SANDBOX__INIT;
static const Nri__Pkg__Api__V1alpha1__LinuxPodSandbox empty_linux =
    NRI__PKG__API__V1ALPHA1__LINUX_POD_SANDBOX__INIT;

static const pod_message *message_of(const nri_pod *pod)
{
    return pod != NULL ? (const void *)pod : &empty_pod;
}

static const Nri__Pkg__Api__V1alpha1__LinuxPodSandbox *linux_of(const nri_pod *pod)
{
    const pod_message *message = message_of(pod);
    return message->linux != NULL ? message->linux : &empty_linux;
}

const nri_pod *nri_pod_view(const Nri__Pkg__Api__V1alpha1__PodSandbox *message)
{
    return (const void *)(message != NULL ? message : &empty_pod);
}

const char *nri_pod_id(const nri_pod *pod)
{
    return nri_reader_text(message_of(pod)->id);
}

const char *nri_pod_name(const nri_pod *pod)
{
    return nri_reader_text(message_of(pod)->name);
}

const char *nri_pod_uid(const nri_pod *pod)
{
    return nri_reader_text(message_of(pod)->uid);
}

const char *nri_pod_namespace(const nri_pod *pod)
{
    return nri_reader_text(message_of(pod)->namespace_);
}

const char *nri_pod_runtime_handler(const nri_pod *pod)
{
    return nri_reader_text(message_of(pod)->runtime_handler);
}

uint32_t nri_pod_pid(const nri_pod *pod)
{
    return message_of(pod)->pid;
}

const char *nri_pod_cgroup_parent(const nri_pod *pod)
{
    return nri_reader_text(linux_of(pod)->cgroup_parent);
}

const char *nri_pod_cgroups_path(const nri_pod *pod)
{
    return nri_reader_text(linux_of(pod)->cgroups_path);
}

const nri_resources *nri_pod_overhead(const nri_pod *pod)
{
    return nri_resources_view(linux_of(pod)->pod_overhead);
}

const nri_resources *nri_pod_pod_resources(const nri_pod *pod)
{
    return nri_resources_view(linux_of(pod)->pod_resources);
}

const nri_resources *nri_pod_resources(const nri_pod *pod)
{
    return nri_resources_view(linux_of(pod)->resources);
}

static struct nri_namespaces namespaces_of(const nri_pod *pod)
{
    return (struct nri_namespaces){linux_of(pod)->namespaces, linux_of(pod)->n_namespaces};
}

size_t nri_pod_namespace_count(const nri_pod *pod)
{
    return namespaces_of(pod).count;
}

bool nri_pod_namespace_at(const nri_pod *pod, size_t index, const char **type, const char **path)
{
    return nri_namespaces_at(namespaces_of(pod), index, type, path);
}

bool nri_pod_namespace_path(const nri_pod *pod, const char *type, const char **path)
{
    return nri_namespaces_path(namespaces_of(pod), type, path);
}

static struct nri_reader_map labels_of(const nri_pod *pod)
{
    const pod_message *message = message_of(pod);
    return (struct nri_reader_map){message->labels, message->n_labels};
}

static struct nri_reader_map annotations_of(const nri_pod *pod)
{
    const pod_message *message = message_of(pod);
    return (struct nri_reader_map){message->annotations, message->n_annotations};
}

size_t nri_pod_label_count(const nri_pod *pod)
{
    return labels_of(pod).count;
}

bool nri_pod_label_at(const nri_pod *pod, size_t index, const char **key, const char **value)
{
    return nri_reader_map_at(labels_of(pod), index, key, value);
}

bool nri_pod_label(const nri_pod *pod, const char *key, const char **value)
{
    return nri_reader_map_get(labels_of(pod), key, value);
}

size_t nri_pod_annotation_count(const nri_pod *pod)
{
    return annotations_of(pod).count;
}

bool nri_pod_annotation_at(const nri_pod *pod, size_t index, const char **key, const char **value)
{
    return nri_reader_map_at(annotations_of(pod), index, key, value);
}

bool nri_pod_annotation(const nri_pod *pod, const char *key, const char **value)
{
    return nri_reader_map_get(annotations_of(pod), key, value);
}

size_t nri_pod_ip_count(const nri_pod *pod)
{
    return message_of(pod)->n_ips;
}

const char *nri_pod_ip(const nri_pod *pod, size_t index)
{
    return nri_reader_text_at(message_of(pod)->ips, message_of(pod)->n_ips, index);
}
