/* SPDX-License-Identifier: Apache-2.0 */
/* linux.namespaces: one of a type. Without a path a new one is made. */
#include <string.h>

#include "oci/changes.h"
#include "oci/nouns.h"

NRI_OCI_PLACE(namespaces, linux, "namespaces");

#define FIELD "linux.namespaces"

static struct nri_json *make(struct nri_oci_edit *edit, const void *context, size_t index,
                             struct nri_json *old)
{
    const nri_oci_linux_part *linux_part = context;
    const NRI_OCI_MESSAGE(LinuxNamespace) *namespace = linux_part->namespaces[index];
    struct nri_json *value = old != NULL ? old : nri_oci_new(edit, NRI_JSON_OBJECT);
    if (edit->failure != 0)
        return NULL;
    nri_oci_set(edit, value, "type",
                nri_oci_text(edit, NRI_OCI_ELEMENT(FIELD, index, "type"), namespace->type));
    (void)(nri_text_length(namespace->path) == 0 && nri_json_remove(value, "path"));
    nri_oci_set_text(edit, value, "path", NRI_OCI_ELEMENT(FIELD, index, "path"), namespace->path);
    return value;
}

static bool is_type(const char *type)
{
    static const char types[][8] = {"pid", "network", "mount",  "ipc",
                                    "uts", "user",    "cgroup", "time"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(type, types[i]) == 0)
            return true;
    }
    return false;
}

void nri_oci_apply_namespaces(struct nri_oci_edit *edit, const nri_oci_linux_part *linux_part)
{
    struct nri_oci_changes changes;
    const struct nri_oci_list list = {
        .place = &namespaces_place, .key = "type", .make = make, .context = linux_part};
    if (linux_part->n_namespaces == 0)
        return;
    nri_oci_changes_init(&changes, edit, linux_part->n_namespaces);
    for (size_t i = 0; i < linux_part->n_namespaces && edit->failure == 0; i++) {
        const struct nri_oci_where where = {FIELD, i, "type"};
        const char *type = linux_part->namespaces[i]->type;
        if (nri_oci_is_key(edit, &where, type) && !is_type(type + (type[0] == '-')))
            nri_oci_fail(edit, NRI_E_INVALID, &where,
                         "must be \"pid\", \"network\", \"mount\", \"ipc\", \"uts\", \"user\", "
                         "\"cgroup\" or \"time\", or one of them behind a \"-\"");
        nri_oci_changes_add_marked(&changes, &where, type);
    }
    nri_oci_changes_apply(&changes, &list);
}
