/* SPDX-License-Identifier: Apache-2.0 */
#include "inject.h"

#include <nri/app.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* The annotations of the Go plugin of the same name, under their keys and their deprecated ones.
 * The narrowest annotation counts; of two that are equally narrow, the one with the new key. */
static const struct {
    const char *keys[2];
    void (*inject)(struct injection *injection);
} kinds[] = {
    {{"devices.noderesource.dev", "devices.nri.io"}, inject_devices},
    {{"cdi-devices.noderesource.dev", "cdi-devices.nri.io"}, inject_cdi_devices},
    {{"mounts.noderesource.dev", "mounts.nri.io"}, inject_mounts},
    {{"io-priority.noderesource.dev", "io-priority.nri.io"}, inject_io_priority},
    {{"scheduling-policy.noderesource.dev", "scheduling-policy.nri.io"}, inject_scheduling_policy},
    {{"network-devices.noderesource.dev", "network-devices.nri.io"}, inject_net_devices},
    {{"sysctl.noderesource.dev"}, inject_sysctls},
    {{"memory-policy.noderesource.dev", "memory-policy.nri.io"}, inject_memory_policy},
};

static void log_line(const struct injection *injection, enum nri_log_level level,
                     const char *format, va_list args)
{
    char text[1024], line[1536];
    vsnprintf(text, sizeof text, format, args);
    snprintf(line, sizeof line, "%s/%s: %s", nri_pod_name(nri_request_pod(injection->request)),
             nri_container_name(nri_request_container(injection->request)), text);
    nri_app_log(level, line);
}

void inject_warn(const struct injection *injection, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    log_line(injection, NRI_LOG_WARN, format, args);
    va_end(args);
}

void inject_say(const struct injection *injection, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    log_line(injection, NRI_LOG_INFO, format, args);
    va_end(args);
}

bool inject_built(struct injection *injection, int code, const value *at)
{
    const char *text = nri_adjustment_error_text(injection->adjustment);
    if (code != 0)
        values_fail(&injection->values, at, "%s", text[0] == '\0' ? nri_strerror(code) : text);
    return code == 0;
}

/* An element of a list, by the member that tells it from the others. */
struct element {
    const char *name;
    const value *item;
    size_t index;
    bool repeated;
};

static int by_index(const void *first, const void *second)
{
    const struct element *a = first, *b = second;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Those of the same name in their order. Aliases share a text, so that it need not be read. */
static int by_name(const void *first, const void *second)
{
    const struct element *a = first, *b = second;
    const int order = a->name == b->name ? 0 : strcmp(a->name, b->name);
    return order != 0 ? order : by_index(first, second);
}

/* Reads all elements before any is compared with another: what is not checked may be of any size.
 * Returns their number. */
static size_t read_elements(struct injection *injection, const char *const *members, size_t count,
                            const char *key, struct element elements[VALUES_MAX_ITEMS])
{
    struct values *values = &injection->values;
    const value *list = values_root(values);
    const size_t length = values_count(values, list);
    for (size_t i = 0; i < length; i++) {
        const value *item = values_at(values, list, i);
        if (item == NULL)
            values_fail(values, list, "entry %zu is empty: must be a mapping", i + 1);
        values_check_members(values, item, members, count);
        const char *name = values_text(values, values_member(values, item, key));
        elements[i] = (struct element){.name = name, .item = item, .index = i};
    }
    return values->error[0] == '\0' ? length : 0;
}

/* Of elements of the same name the last one counts. A runtime would take two for a conflict. */
static void mark_repeated(struct element *elements, size_t count, const char *key,
                          const struct injection *injection)
{
    qsort(elements, count, sizeof elements[0], by_name);
    for (size_t i = 0; i + 1 < count; i++) {
        const struct element *later = &elements[i + 1];
        elements[i].repeated = strcmp(elements[i].name, later->name) == 0;
        if (elements[i].repeated)
            inject_warn(injection,
                        "annotation %s:%zu:%zu: %s \"%s\" stands again in line %zu, which counts",
                        injection->values.annotation, elements[i].item->start_mark.line + 1,
                        elements[i].item->start_mark.column + 1, key, elements[i].name,
                        later->item->start_mark.line + 1);
    }
    qsort(elements, count, sizeof elements[0], by_index);
}

void inject_each(struct injection *injection, const char *const *members, size_t count,
                 const char *key, void (*inject)(struct injection *, const value *))
{
    struct element elements[VALUES_MAX_ITEMS];
    const size_t length = read_elements(injection, members, count, key, elements);
    mark_repeated(elements, length, key, injection);
    for (size_t i = 0; i < length && injection->values.error[0] == '\0'; i++)
        if (!elements[i].repeated)
            inject(injection, elements[i].item);
}

static int refuse(nri_request *request, const char *text)
{
    char whole[1280];
    const nri_plugin *plugin = nri_request_plugin(request);
    snprintf(whole, sizeof whole, "%s-%s: %s", nri_plugin_index(plugin), nri_plugin_name(plugin),
             text);
    return nri_request_fail(request, NRI_E_REJECTED, whole);
}

/* A runtime takes what its NRI does not know for nothing at all. */
static void warn_of_ignored(const struct injection *injection)
{
    enum nri_feature features[16];
    const nri_plugin *plugin = nri_request_plugin(injection->request);
    const char *name = nri_plugin_runtime_name(plugin),
               *version = nri_plugin_runtime_version(plugin);
    const size_t count =
        nri_adjustment_ignored(injection->adjustment, name, version,
                               nri_plugin_runtime_nri_version(plugin), features, COUNT(features));
    for (size_t i = 0; i < count && i < COUNT(features); i++)
        inject_warn(injection, "%s %s ignores %s: it is not injected", name, version,
                    nri_feature_name(features[i]));
}

int inject_all(nri_request *request)
{
    struct injection injection = {.request = request,
                                  .adjustment = nri_request_adjustment(request)};
    const char *name = nri_container_name(nri_request_container(request));
    for (size_t i = 0; i < COUNT(kinds); i++) {
        const char *text, *found;
        if (!nri_annotation_find_any(nri_request_pod(request), name, kinds[i].keys,
                                     COUNT(kinds[i].keys), NRI_ANNOTATION_SCOPED, &text, &found))
            continue;
        struct values *values = &injection.values;
        if (values_load(values, found, text, nri_text_length(text)))
            kinds[i].inject(&injection);
        values_unload(values);
        if (values->error[0] != '\0')
            return refuse(request, values->error);
    }
    warn_of_ignored(&injection);
    return 0;
}
