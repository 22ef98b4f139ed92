/* SPDX-License-Identifier: Apache-2.0 */
#include "roster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const struct nri_json *object, const char *key)
{
    return nri_json_string(nri_json_get(object, key), NULL);
}

char *roster_pod(const struct roster *roster, const struct nri_json *pod)
{
    char *text;
    if (pod == NULL || roster->any_pod)
        return strdup("");
    return asprintf(&text, "%s/%s", text_of(pod, "namespace"), text_of(pod, "name")) >= 0 ? text
                                                                                          : NULL;
}

/* From the end: most of what is asked for was there lately. */
static const struct roster_entry *find(const struct roster *roster, const char *id)
{
    for (size_t i = roster->count; i > 0; i--) {
        if (strcmp(roster->entries[i - 1].id, id) == 0)
            return &roster->entries[i - 1];
    }
    return NULL;
}

static size_t count_like(const struct roster *roster, const struct roster_entry *entry)
{
    for (size_t i = roster->count; i > 0; i--) {
        const struct roster_entry *other = &roster->entries[i - 1];
        if (strcmp(other->name, entry->name) == 0 && strcmp(other->pod, entry->pod) == 0)
            return other->turn + 1;
    }
    return 0;
}

static void forget(struct roster_entry *entry)
{
    free(entry->pod);
    free(entry->name);
    free(entry->id);
}

static bool has_room(struct roster *roster)
{
    if (roster->count < roster->capacity)
        return true;
    const size_t capacity = roster->capacity == 0 ? 16 : 2 * roster->capacity;
    struct roster_entry *list = reallocarray(roster->entries, capacity, sizeof *list);
    if (list == NULL)
        return false;
    roster->entries = list;
    roster->capacity = capacity;
    return true;
}

static bool add(struct roster *roster, const struct nri_json *pod, const struct nri_json *container)
{
    const char *id = text_of(container, "id");
    if (id[0] == '\0' || find(roster, id) != NULL)
        return true;
    struct roster_entry entry = {.pod = roster_pod(roster, pod),
                                 .name = strdup(text_of(container, "name")),
                                 .id = strdup(id)};
    if (entry.pod == NULL || entry.name == NULL || entry.id == NULL || !has_room(roster)) {
        forget(&entry);
        return false;
    }
    entry.turn = count_like(roster, &entry);
    roster->entries[roster->count++] = entry;
    return true;
}

static const struct nri_json *pod_of(const struct nri_json *pods, const struct nri_json *container)
{
    const char *id = text_of(container, "pod_sandbox_id");
    for (size_t i = 0; i < nri_json_count(pods); i++) {
        if (strcmp(text_of(nri_json_at(pods, i), "id"), id) == 0)
            return nri_json_at(pods, i);
    }
    return NULL;
}

bool roster_note(struct roster *roster, const struct nri_json *request)
{
    const struct nri_json *container = nri_json_get(request, "container");
    const struct nri_json *list = nri_json_get(request, "containers");
    const struct nri_json *pods = nri_json_get(request, "pods");
    bool good = container == NULL || add(roster, nri_json_get(request, "pod"), container);
    for (size_t i = 0; i < nri_json_count(list) && good; i++)
        good = add(roster, pod_of(pods, nri_json_at(list, i)), nri_json_at(list, i));
    return good;
}

const char *roster_counterpart(const struct roster *from, const struct roster *to, const char *id)
{
    const struct roster_entry *wanted = find(from, id);
    for (size_t i = to->count; i > 0 && wanted != NULL; i--) {
        const struct roster_entry *entry = &to->entries[i - 1];
        if (entry->turn == wanted->turn && strcmp(entry->name, wanted->name) == 0 &&
            strcmp(entry->pod, wanted->pod) == 0)
            return entry->id;
    }
    return NULL;
}

void roster_free(struct roster *roster)
{
    for (size_t i = 0; i < roster->count; i++)
        forget(&roster->entries[i]);
    free(roster->entries);
    *roster = (struct roster){.any_pod = roster->any_pod};
}
