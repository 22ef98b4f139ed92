/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/propagation.h"

#include <string.h>

#include "oci/answer.h"

NRI_OCI_PLACE(rootfs, linux, "rootfsPropagation");

static bool is(const char *text, const char *one, const char *other)
{
    return strcmp(text, one) == 0 || strcmp(text, other) == 0;
}

/* The mount's own option; the last one counts. */
static const char *option_of(const struct nri_oci_edit *edit, const NRI_OCI_MESSAGE(Mount) * mount)
{
    const char *found = NULL;
    for (size_t i = 0; i < mount->n_options; i++) {
        const char *option = mount->options[i] != NULL ? mount->options[i] : "";
        const bool recursive = strcmp(option, "rprivate") == 0 || strcmp(option, "rshared") == 0 ||
                               strcmp(option, "rslave") == 0;
        if (recursive || (!nri_oci_go(edit) &&
                          (is(option, "shared", "slave") || strcmp(option, "private") == 0)))
            found = option;
    }
    return found;
}

/* ---- the source ---- */

static const char *name_of(uint32_t propagation)
{
    if (propagation == NRI_PROPAGATION_SHARED)
        return "shared";
    return propagation == NRI_PROPAGATION_SLAVE ? "slave" : "private";
}

static uint32_t look(struct nri_oci_edit *edit, const struct nri_oci_where *where,
                     const char *source)
{
    const struct nri_oci_settings *settings = edit->settings;
    uint32_t propagation = NRI_PROPAGATION_PRIVATE;
    int code;
    if (settings->options.mount_propagation != NULL) {
        struct nri_oci_answer answer;
        nri_oci_answer_begin(&answer, edit);
        code = settings->options.mount_propagation(source, &propagation, &answer,
                                                   settings->options.user);
        nri_oci_answer_end(&answer, edit, where, code);
        return propagation;
    }
    code = settings->look(settings->look_context, source, &propagation);
    if (code != 0)
        nri_oci_fail(edit, code, where, "%s: it cannot be told on which mount it is: %s", source,
                     nri_strerror(code));
    return propagation;
}

static void check_source(struct nri_oci_edit *edit, const NRI_OCI_MESSAGE(Mount) * mount,
                         size_t index, bool shared)
{
    const struct nri_oci_where where = {"mounts", index, "source"};
    const char *source = mount->source != NULL ? mount->source : "";
    const struct nri_oci_settings *settings = edit->settings;
    if (settings->options.no_propagation_check != 0 ||
        (settings->look == NULL && settings->options.mount_propagation == NULL))
        return;
    /* What is not bound has no source on the host. */
    if (source[0] != '/' && !nri_oci_go(edit))
        return;
    if (!nri_oci_is_key(edit, &where, source))
        return;
    const uint32_t found = look(edit, &where, source);
    if (found == NRI_PROPAGATION_SHARED || (found == NRI_PROPAGATION_SLAVE && !shared))
        return;
    nri_oci_fail(edit, NRI_E_INVALID, &where,
                 "%s: is on a mount that is %s, and must be on one that is %s", source,
                 name_of(found), shared ? "shared" : "shared or a slave");
}

/* ---- the container's root ---- */

static void set_root(struct nri_oci_edit *edit, bool shared)
{
    const struct nri_json *there = nri_oci_find(edit, &rootfs_place, NRI_JSON_STRING);
    const char *is_set = nri_json_string(there, NULL);
    const char *wanted = shared ? "rshared" : "rslave";
    const bool go = nri_oci_go(edit);
    if (strcmp(is_set, "rshared") == 0 || (!go && strcmp(is_set, "shared") == 0))
        return;
    if (!shared && (strcmp(is_set, "rslave") == 0 || (!go && strcmp(is_set, "slave") == 0)))
        return;
    nri_oci_put(edit, &rootfs_place,
                nri_oci_bytes(edit, NRI_OCI_WHOLE("mounts"), wanted, strlen(wanted)));
}

void nri_oci_propagation_apply(struct nri_oci_edit *edit, struct nri_oci_propagation *propagation,
                               const NRI_OCI_MESSAGE(Mount) * mount, size_t index)
{
    const char *option = option_of(edit, mount);
    if (option != NULL || !nri_oci_go(edit))
        propagation->option = option;
    option = propagation->option != NULL ? propagation->option : "";
    const bool shared = is(option, "rshared", "shared");
    if (!shared && !is(option, "rslave", "slave"))
        return;
    check_source(edit, mount, index, shared);
    if (edit->failure == 0)
        set_root(edit, shared);
}
