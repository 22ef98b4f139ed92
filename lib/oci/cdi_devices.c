/* SPDX-License-Identifier: Apache-2.0 */
/* CDI devices: whoever knows CDI is given the document and gives it back. Go's generator ignores
 * them when there is nobody. */
#include "oci/answer.h"
#include "oci/nouns.h"

#define FIELD "CDI_devices"

static const char **names_of(struct nri_oci_edit *edit, const nri_oci_adjustment *adjustment)
{
    const char **names = nri_oci_alloc(edit, adjustment->n_cdi_devices, sizeof *names);
    for (size_t i = 0; i < adjustment->n_cdi_devices && edit->failure == 0; i++) {
        const struct nri_oci_where where = {FIELD, i, "name"};
        names[i] = adjustment->cdi_devices[i]->name;
        (void)nri_oci_is_key(edit, &where, names[i]);
    }
    return edit->failure == 0 ? names : NULL;
}

static void inject(struct nri_oci_edit *edit, const char *const *names, size_t count,
                   struct nri_buf *text)
{
    const struct nri_oci_settings *settings = edit->settings;
    struct nri_oci_answer answer;
    int code = nri_json_write(edit->root, settings->text.indent, text);
    if (code != 0) {
        edit->failure =
            nri_error_set(edit->source.error, code, "%s: the document for inject_cdi: %s",
                          edit->source.name, nri_strerror(code));
        return;
    }
    nri_oci_answer_begin(&answer, edit);
    code = settings->options.inject_cdi((const char *)text->data + text->start, nri_buf_size(text),
                                        names, count, &answer, settings->options.user);
    nri_oci_answer_end(&answer, edit, NRI_OCI_WHOLE(FIELD), code);
    if (edit->failure != 0 || answer.json == NULL)
        return;
    /* From here on it is the document; places in errors are in it. */
    struct nri_json *root = nri_oci_answer_parse(&answer, edit, "inject_cdi");
    if (root == NULL)
        return;
    edit->root = root;
    edit->source.name = "inject_cdi";
}

void nri_oci_apply_cdi_devices(struct nri_oci_edit *edit, const nri_oci_adjustment *adjustment)
{
    const struct nri_oci_settings *settings = edit->settings;
    struct nri_buf text;
    if (adjustment->n_cdi_devices == 0 || edit->failure != 0)
        return;
    if (settings->options.inject_cdi == NULL) {
        if (!nri_oci_go(edit))
            nri_oci_fail(edit, NRI_E_UNSUPPORTED, NRI_OCI_WHOLE(FIELD),
                         "this runtime has no CDI (nri_oci_options.inject_cdi)");
        return;
    }
    const char **names = names_of(edit, adjustment);
    if (names == NULL)
        return;
    nri_buf_init(&text, &settings->text.alloc, settings->text.max_bytes);
    inject(edit, names, adjustment->n_cdi_devices, &text);
    nri_buf_fini(&text);
}
