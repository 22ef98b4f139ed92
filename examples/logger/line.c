/* SPDX-License-Identifier: Apache-2.0 */
#include "line.h"

#include <string.h>

static void text(yajl_gen gen, const char *value, size_t length)
{
    yajl_gen_string(gen, (const unsigned char *)value, length);
}

/* A key, or a value that is a plain C string. */
static void word(yajl_gen gen, const char *name)
{
    text(gen, name, strlen(name));
}

/* What is empty is left out, as the runtime did. */
static void member(yajl_gen gen, const char *name, const char *value)
{
    if (nri_text_length(value) == 0)
        return;
    word(gen, name);
    text(gen, value, nri_text_length(value));
}

static void number(yajl_gen gen, const char *name, long long value)
{
    word(gen, name);
    yajl_gen_integer(gen, value);
}

static void pod_pairs(yajl_gen gen, const char *name, const nri_pod *pod, size_t count,
                      bool (*at)(const nri_pod *, size_t, const char **, const char **))
{
    const char *k, *v;
    if (count == 0)
        return;
    word(gen, name);
    yajl_gen_map_open(gen);
    for (size_t i = 0; i < count && at(pod, i, &k, &v); i++) {
        text(gen, k, nri_text_length(k));
        text(gen, v, nri_text_length(v));
    }
    yajl_gen_map_close(gen);
}

static void container_pairs(yajl_gen gen, const char *name, const nri_container *container,
                            size_t count,
                            bool (*at)(const nri_container *, size_t, const char **, const char **))
{
    const char *k, *v;
    if (count == 0)
        return;
    word(gen, name);
    yajl_gen_map_open(gen);
    for (size_t i = 0; i < count && at(container, i, &k, &v); i++) {
        text(gen, k, nri_text_length(k));
        text(gen, v, nri_text_length(v));
    }
    yajl_gen_map_close(gen);
}

static void container_list(yajl_gen gen, const char *name, const nri_container *container,
                           size_t count, const char *(*at)(const nri_container *, size_t))
{
    if (count == 0)
        return;
    word(gen, name);
    yajl_gen_array_open(gen);
    for (size_t i = 0; i < count; i++)
        text(gen, at(container, i), nri_text_length(at(container, i)));
    yajl_gen_array_close(gen);
}

static void pod_object(yajl_gen gen, const nri_pod *pod)
{
    yajl_gen_map_open(gen);
    member(gen, "id", nri_pod_id(pod));
    member(gen, "name", nri_pod_name(pod));
    member(gen, "namespace", nri_pod_namespace(pod));
    member(gen, "uid", nri_pod_uid(pod));
    member(gen, "runtime_handler", nri_pod_runtime_handler(pod));
    if (nri_pod_pid(pod) != 0)
        number(gen, "pid", nri_pod_pid(pod));
    pod_pairs(gen, "labels", pod, nri_pod_label_count(pod), nri_pod_label_at);
    pod_pairs(gen, "annotations", pod, nri_pod_annotation_count(pod), nri_pod_annotation_at);
    yajl_gen_map_close(gen);
}

static void mounts(yajl_gen gen, const nri_container *container)
{
    if (nri_container_mount_count(container) == 0)
        return;
    word(gen, "mounts");
    yajl_gen_array_open(gen);
    for (size_t i = 0; i < nri_container_mount_count(container); i++) {
        const nri_mount *mount = nri_container_mount_at(container, i);
        yajl_gen_map_open(gen);
        member(gen, "destination", nri_mount_destination(mount));
        member(gen, "type", nri_mount_type(mount));
        member(gen, "source", nri_mount_source(mount));
        word(gen, "options");
        yajl_gen_array_open(gen);
        for (size_t o = 0; o < nri_mount_option_count(mount); o++)
            text(gen, nri_mount_option(mount, o), nri_text_length(nri_mount_option(mount, o)));
        yajl_gen_array_close(gen);
        yajl_gen_map_close(gen);
    }
    yajl_gen_array_close(gen);
}

static void container_object(yajl_gen gen, const nri_container *container)
{
    yajl_gen_map_open(gen);
    member(gen, "id", nri_container_id(container));
    member(gen, "pod_sandbox_id", nri_container_pod_sandbox_id(container));
    member(gen, "name", nri_container_name(container));
    word(gen, "state");
    word(gen, nri_container_state_name(nri_container_get_state(container)));
    if (nri_container_pid(container) != 0)
        number(gen, "pid", nri_container_pid(container));
    container_list(gen, "args", container, nri_container_arg_count(container), nri_container_arg);
    container_list(gen, "env", container, nri_container_env_count(container), nri_container_env_at);
    mounts(gen, container);
    container_pairs(gen, "labels", container, nri_container_label_count(container),
                    nri_container_label_at);
    container_pairs(gen, "annotations", container, nri_container_annotation_count(container),
                    nri_container_annotation_at);
    yajl_gen_map_close(gen);
}

static void synchronized(yajl_gen gen, const nri_request *request)
{
    word(gen, "pods");
    yajl_gen_array_open(gen);
    for (size_t i = 0; i < nri_request_pod_count(request); i++)
        pod_object(gen, nri_request_pod_at(request, i));
    yajl_gen_array_close(gen);
    word(gen, "containers");
    yajl_gen_array_open(gen);
    for (size_t i = 0; i < nri_request_container_count(request); i++)
        container_object(gen, nri_request_container_at(request, i));
    yajl_gen_array_close(gen);
}

static void configured(yajl_gen gen, const nri_request *request)
{
    const nri_plugin *plugin = nri_request_plugin(request);
    member(gen, "config", nri_request_config(request));
    word(gen, "runtime");
    word(gen, nri_plugin_runtime_name(plugin));
    word(gen, "version");
    word(gen, nri_plugin_runtime_version(plugin));
    word(gen, "nri_version");
    word(gen, nri_plugin_runtime_nri_version(plugin));
}

static void event_object(yajl_gen gen, const nri_request *request)
{
    enum nri_event event = nri_request_event(request);
    const nri_pod *pod = nri_request_pod(request);
    const nri_container *container = nri_request_container(request);
    yajl_gen_map_open(gen);
    word(gen, "event");
    word(gen, nri_event_name(event));
    if (event == NRI_EVENT_CONFIGURE)
        configured(gen, request);
    if (event == NRI_EVENT_SYNCHRONIZE)
        synchronized(gen, request);
    if (nri_text_length(nri_pod_id(pod)) != 0) {
        word(gen, "pod");
        pod_object(gen, pod);
    }
    if (nri_text_length(nri_container_id(container)) != 0) {
        word(gen, "container");
        container_object(gen, container);
    }
    yajl_gen_map_close(gen);
}

yajl_gen line_make(const nri_request *request)
{
    yajl_gen gen = yajl_gen_alloc(NULL);
    if (gen != NULL)
        event_object(gen, request);
    return gen;
}
