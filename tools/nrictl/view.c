/* SPDX-License-Identifier: Apache-2.0 */
#include "view.h"

#include <stdlib.h>
#include <string.h>

#include "base/host.h"
#include "memory.h"
#include "model/model.h"
#include "model/oci_write.h"
#include "oci/apply.h"
#include "wire/message.h"

/* Of a document that is applied to; what a recording holds is far smaller. */
#define MOST_BYTES    ((size_t)64 << 20)
#define MOST_VALUES   ((size_t)4 << 20)

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type

static int no_memory(const struct view *view, struct nri_error *error)
{
    const int code = view->arena->failure != 0 ? view->arena->failure : NRI_E_NOMEM;
    return nri_error_set(error, code, "no memory for a container's view");
}

/* ---- what OCI has no form for ---- */

/* The member "nri", made where it is not there; NULL: no memory. */
static struct nri_json *extras_of(const struct view *view, struct nri_json *root)
{
    struct nri_json *there = nri_json_get(root, "nri");
    if (there != NULL)
        return there;
    there = nri_json_new(view->arena, NRI_JSON_OBJECT);
    return there != NULL && nri_json_set(view->arena, root, "nri", there) == 0 ? there : NULL;
}

static int set_extra(const struct view *view, struct nri_json *root, const char *key,
                     struct nri_json *value)
{
    struct nri_json *extras = value != NULL ? extras_of(view, root) : NULL;
    return extras != NULL && nri_json_set(view->arena, extras, key, value) == 0 ? 0 : NRI_E_NOMEM;
}

static int set_class(const struct view *view, struct nri_json *root, const char *key,
                     const MESSAGE(OptionalString) * class)
{
    if (class == NULL)
        return 0;
    const char *text = class->value;
    return set_extra(view, root, key,
                     nri_json_new_string(view->arena, text, nri_message_text_length(text)));
}

static int set_classes(const struct view *view, struct nri_json *root,
                       const MESSAGE(LinuxResources) * resources)
{
    if (resources == NULL)
        return 0;
    const int code = set_class(view, root, "blockio_class", resources->blockio_class);
    return code != 0 ? code : set_class(view, root, "rdt_class", resources->rdt_class);
}

static int add_cdi_devices(const struct view *view, struct nri_json *root,
                           MESSAGE(CDIDevice) *const *devices, size_t count)
{
    if (count == 0)
        return 0;
    struct nri_json *list = nri_json_get(nri_json_get(root, "nri"), "CDI_devices");
    int code = list == NULL ? set_extra(view, root, "CDI_devices",
                                        list = nri_json_new(view->arena, NRI_JSON_ARRAY))
                            : 0;
    for (size_t i = 0; code == 0 && i < count; i++) {
        const char *name = devices[i]->name;
        struct nri_json *text =
            nri_json_new_string(view->arena, name, nri_message_text_length(name));
        code = text != NULL ? nri_json_append(view->arena, list, text) : NRI_E_NOMEM;
    }
    return code;
}

/* Members of a container in JSON that its OCI form has. */
static bool has_form(const char *key)
{
    static const char *const members[] = {"annotations", "args",    "env",  "mounts",     "hooks",
                                          "linux",       "rlimits", "user", "CDI_devices"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (strcmp(key, members[i]) == 0)
            return true;
    }
    return false;
}

static int add_rest(const struct view *view, const nri_container *container, struct nri_json *root,
                    struct nri_error *error)
{
    char *text = NULL;
    size_t length = 0;
    struct nri_json *document = NULL;
    const struct nri_json_options options = {.size = sizeof options, .max_bytes = MOST_BYTES};
    const struct nri_json_limits limits = {.max_bytes = MOST_BYTES, .max_values = MOST_VALUES};
    int code = nri_container_to_json(container, &options, &text, &length, NULL);
    if (code == 0)
        code = nri_json_parse(view->arena, text, length, &limits, "container", &document, error);
    nri_json_free(text);
    for (size_t i = 0; code == 0 && i < nri_json_count(document); i++) {
        const char *key;
        struct nri_json *value = nri_json_member_at(document, i, &key, NULL);
        if (!has_form(key))
            code = set_extra(view, root, key, value);
    }
    struct nri_json *profile = nri_json_get(nri_json_get(document, "linux"), "seccomp_profile");
    return code == 0 && profile != NULL ? set_extra(view, root, "seccomp_profile", profile) : code;
}

/* ---- a container ---- */

int view_container(const struct view *view, const nri_container *container, bool whole,
                   struct view_document *document, struct nri_error *error)
{
    const MESSAGE(Container) *message = (const void *)container;
    *document = (struct view_document){.root = nri_json_new(view->arena, NRI_JSON_OBJECT)};
    if (document->root == NULL)
        return no_memory(view, error);
    if (message == NULL)
        return 0;
    int code = nri_oci_write(view->arena, &nri_oci_config, &message->base, document->root);
    if (code == 0)
        code = set_classes(view, document->root,
                           message->linux != NULL ? message->linux->resources : NULL);
    if (code == 0)
        code = add_cdi_devices(view, document->root, message->cdi_devices, message->n_cdi_devices);
    if (code == 0 && whole)
        code = add_rest(view, container, document->root, error);
    return code != 0 ? nri_error_set(error, code, "a container's view: %s", nri_strerror(code)) : 0;
}

/* ---- changes ---- */

/* Applies what OCI has a form for: lib/oci works on texts. */
static int apply(const struct view *view, const struct view_document *before,
                 const struct nri_oci_input *input, struct view_document *after,
                 struct nri_error *error)
{
    const struct nri_json_limits limits = {
        .max_bytes = MOST_BYTES, .max_values = MOST_VALUES, .seed = {view->seed[0], view->seed[1]}};
    struct nri_json_options json = {.size = sizeof json, .name = "container"};
    struct nri_oci_options options = {.size = sizeof options, .json = &json};
    const struct nri_oci_mounts unseen = {NULL, NULL}; /* those of the host do not count here */
    struct nri_buf text;
    char *out = NULL;
    size_t length = 0;
    nri_error *failure = NULL;
    json.max_bytes = MOST_BYTES;
    json.max_values = MOST_VALUES;
    options.no_propagation_check = 1;
    options.go_compatible = view->go_compatible;
    memory_buf(&text, SIZE_MAX);
    int code = nri_json_write(before->root, 0, &text);
    if (code == 0)
        code = nri_oci_apply(memory_text(&text), nri_buf_size(&text), input, &options, &unseen,
                             &out, &length, &failure);
    if (code != 0)
        nri_error_set(error, code, "%s",
                      failure != NULL ? nri_error_get_text(failure) : nri_strerror(code));
    else
        code = nri_json_parse(view->arena, out, length, &limits, "container", &after->root, error);
    nri_error_free(failure);
    nri_json_free(out);
    nri_buf_fini(&text);
    return code;
}

/* The resources without what has no form in OCI. */
static MESSAGE(LinuxResources) without_classes(const MESSAGE(LinuxResources) * resources)
{
    MESSAGE(LinuxResources) rest = *resources;
    rest.blockio_class = NULL;
    rest.rdt_class = NULL;
    return rest;
}

int view_adjusted(const struct view *view, const struct view_document *before,
                  const MESSAGE(ContainerAdjustment) * adjust, struct view_document *after,
                  struct nri_error *error)
{
    *after = (struct view_document){.root = before->root};
    if (adjust == NULL)
        return 0;
    MESSAGE(ContainerAdjustment) rest = *adjust;
    MESSAGE(LinuxContainerAdjustment) linux_part;
    MESSAGE(LinuxResources) resources;
    const MESSAGE(LinuxResources) *given = NULL;
    rest.n_cdi_devices = 0;
    rest.cdi_devices = NULL;
    if (adjust->linux != NULL) {
        linux_part = *adjust->linux;
        given = linux_part.resources;
        if (given != NULL) {
            resources = without_classes(given);
            linux_part.resources = &resources;
        }
        rest.linux = &linux_part;
    }
    const struct nri_oci_input input = {
        .adjustment = nri_adjustment_view(view->arena, &rest, NRI_E_STATE, "it can only be read")};
    if (input.adjustment == NULL)
        return no_memory(view, error);
    int code = apply(view, before, &input, after, error);
    if (code == 0 &&
        (set_classes(view, after->root, given) != 0 ||
         add_cdi_devices(view, after->root, adjust->cdi_devices, adjust->n_cdi_devices) != 0))
        code = no_memory(view, error);
    return code;
}

int view_updated(const struct view *view, const struct view_document *before,
                 const MESSAGE(LinuxResources) * given, struct view_document *after,
                 struct nri_error *error)
{
    *after = (struct view_document){.root = before->root};
    if (given == NULL)
        return 0;
    const MESSAGE(LinuxResources) resources = without_classes(given);
    const struct nri_oci_input input = {.resources = nri_resources_view(&resources),
                                        .update = true};
    int code = apply(view, before, &input, after, error);
    if (code == 0 && set_classes(view, after->root, given) != 0)
        code = no_memory(view, error);
    return code;
}
