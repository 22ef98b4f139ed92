/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classes of block I/O and RDT, which the runtime's own configuration turns into
 * linux.resources.blockIO and linux.intelRdt; "" clears these. Go's generator ignores both, "" too,
 * when the runtime has no such configuration.
 */
#include "oci/answer.h"
#include "oci/nouns.h"

NRI_OCI_PLACE(blockio, resources, "blockIO");
NRI_OCI_PLACE(rdt, linux, "intelRdt");

struct class {
    const char *field, *callback;
    const struct nri_json_place *place;
    int (*resolve)(const char *class_name, nri_oci_answer *answer, void *user);
};

static void resolve(struct nri_oci_edit *edit, const struct class *class, const char *name)
{
    const struct nri_oci_where *where = NRI_OCI_WHOLE(class->field);
    struct nri_oci_answer answer;
    if (class->resolve == NULL) {
        nri_oci_fail(edit, NRI_E_UNSUPPORTED, where,
                     "this runtime has no classes (nri_oci_options.%s)", class->callback);
        return;
    }
    nri_oci_answer_begin(&answer, edit);
    const int code = class->resolve(name, &answer, edit->settings->options.user);
    nri_oci_answer_end(&answer, edit, where, code);
    if (edit->failure == 0 && answer.json == NULL)
        nri_oci_fail(edit, NRI_E_INTERNAL, where, "%s answered nothing", class->callback);
    struct nri_json *value =
        edit->failure == 0 ? nri_oci_answer_parse(&answer, edit, class->callback) : NULL;
    nri_oci_put(edit, class->place, value);
}

static void apply(struct nri_oci_edit *edit, const struct class *class,
                  const NRI_OCI_MESSAGE(OptionalString) * name)
{
    if (edit->failure != 0 || name == NULL || (class->resolve == NULL && nri_oci_go(edit)))
        return;
    if (nri_text_length(name->value) == 0)
        nri_oci_drop(edit, class->place);
    else if (nri_oci_is_key(edit, NRI_OCI_WHOLE(class->field), name->value))
        resolve(edit, class, name->value);
}

void nri_oci_apply_classes(struct nri_oci_edit *edit, const nri_oci_resources_part *resources)
{
    const struct nri_oci_options *options = &edit->settings->options;
    const struct class blockio = {"linux.resources.blockio_class", "resolve_blockio",
                                  &blockio_place, options->resolve_blockio};
    const struct class rdt = {"linux.resources.rdt_class", "resolve_rdt", &rdt_place,
                              options->resolve_rdt};
    apply(edit, &blockio, resources->blockio_class);
    apply(edit, &rdt, resources->rdt_class);
}
