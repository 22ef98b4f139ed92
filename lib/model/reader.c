/* SPDX-License-Identifier: Apache-2.0 */
#include "model/reader.h"

#include <string.h>

#include "model/model.h"

#define ENTRY(type)  Nri__Pkg__Api__V1alpha1__##type
#define KEY_OFFSET   offsetof(Nri__Pkg__Api__V1alpha1__KeyValue, key)
#define VALUE_OFFSET offsetof(Nri__Pkg__Api__V1alpha1__KeyValue, value)
#define ASSERT_LAYOUT(type)                                                                        \
    _Static_assert(offsetof(ENTRY(type), key) == KEY_OFFSET &&                                     \
                       offsetof(ENTRY(type), value) == VALUE_OFFSET,                               \
                   #type ": not laid out like KeyValue")

ASSERT_LAYOUT(PodSandbox__LabelsEntry);
ASSERT_LAYOUT(PodSandbox__AnnotationsEntry);
ASSERT_LAYOUT(Container__LabelsEntry);
ASSERT_LAYOUT(Container__AnnotationsEntry);
ASSERT_LAYOUT(LinuxContainer__SysctlEntry);
ASSERT_LAYOUT(LinuxResources__UnifiedEntry);
ASSERT_LAYOUT(ContainerAdjustment__AnnotationsEntry);
ASSERT_LAYOUT(LinuxContainerAdjustment__SysctlEntry);

bool nri_reader_text_is(const char *text, const char *wanted, size_t wanted_length)
{
    text = nri_reader_text(text);
    return nri_text_length(text) == wanted_length && memcmp(text, wanted, wanted_length) == 0;
}

const char *nri_reader_text_at(char *const *texts, size_t count, size_t index)
{
    return nri_reader_text(index < count ? texts[index] : NULL);
}

static const char *entry_text(const void *entry, size_t offset)
{
    char *text = NULL;
    if (entry != NULL)
        memcpy(&text, (const char *)entry + offset, sizeof text);
    return nri_reader_text(text);
}

static const void *entry_at(struct nri_reader_map map, size_t index)
{
    const void *entry;
    memcpy(&entry, (const char *)map.entries + index * sizeof entry, sizeof entry);
    return entry;
}

bool nri_reader_map_at(struct nri_reader_map map, size_t index, const char **key,
                       const char **value)
{
    bool found = index < map.count;
    const void *entry = found ? entry_at(map, index) : NULL;
    if (key != NULL)
        *key = entry_text(entry, KEY_OFFSET);
    if (value != NULL)
        *value = entry_text(entry, VALUE_OFFSET);
    return found;
}

bool nri_reader_map_get(struct nri_reader_map map, const char *key, const char **value)
{
    size_t length = key != NULL ? strlen(key) : 0;
    for (size_t i = map.count; key != NULL && i-- > 0;) {
        const void *entry = entry_at(map, i);
        if (!nri_reader_text_is(entry_text(entry, KEY_OFFSET), key, length))
            continue;
        if (value != NULL)
            *value = entry_text(entry, VALUE_OFFSET);
        return true;
    }
    if (value != NULL)
        *value = nri_reader_text(NULL);
    return false;
}

const char *nri_reader_key(const char *text, bool *removed)
{
    text = nri_reader_text(text);
    const bool marked = text[0] == '-';
    if (removed != NULL)
        *removed = marked;
    return marked ? text + 1 : text;
}

void nri_reader_give_change(const char *text, const char **key, const char **value, bool *removed)
{
    bool is_removal;
    text = nri_reader_key(text, &is_removal);
    if (key != NULL)
        *key = text;
    if (is_removal)
        nri_reader_give(NULL, value); /* whatever came with the marker means nothing */
    if (removed != NULL)
        *removed = is_removal;
}

bool nri_reader_change_at(struct nri_reader_map map, size_t index, const char **key,
                          const char **value, bool *removed)
{
    const char *text;
    const bool found = nri_reader_map_at(map, index, &text, value);
    nri_reader_give_change(text, key, value, removed);
    return found;
}

bool nri_reader_change_get(struct nri_reader_map map, const char *key, const char **value)
{
    /* What starts with "-" is a marker, and no key that could have a value. */
    return nri_reader_map_get(map, key != NULL && key[0] == '-' ? NULL : key, value);
}
