/* SPDX-License-Identifier: Apache-2.0 */
/* The whole: a document is read, changed noun by noun, and written. */
#include "oci/apply.h"

#include "oci/nouns.h"
#include "oci/settings.h"

static void apply_linux(struct nri_oci_edit *edit, const nri_oci_linux_part *linux_part)
{
    nri_oci_apply_devices(edit, linux_part);
    nri_oci_apply_cgroups_path(edit, linux_part);
    nri_oci_apply_oom_score_adj(edit, linux_part);
    nri_oci_apply_io_priority(edit, linux_part);
    nri_oci_apply_scheduler(edit, linux_part);
    nri_oci_apply_seccomp(edit, linux_part);
    nri_oci_apply_namespaces(edit, linux_part);
    nri_oci_apply_sysctl(edit, linux_part);
    nri_oci_apply_net_devices(edit, linux_part);
    nri_oci_apply_memory_policy(edit, linux_part);
    if (linux_part->resources != NULL)
        nri_oci_apply_resources(edit, linux_part->resources);
    nri_oci_apply_rdt(edit, linux_part);
}

/* In the order of Go's generator, which says what overrides what: CDI's devices, mounts and
 * variables are there before the adjustment's own devices and mounts, and what a class stands for
 * before what RDT is told outright. */
static void apply_adjustment(struct nri_oci_edit *edit, const nri_oci_adjustment *adjustment)
{
    nri_oci_apply_annotations(edit, adjustment);
    nri_oci_apply_env(edit, adjustment);
    nri_oci_apply_args(edit, adjustment);
    nri_oci_apply_hooks(edit, adjustment);
    nri_oci_apply_cdi_devices(edit, adjustment);
    if (adjustment->linux != NULL)
        apply_linux(edit, adjustment->linux);
    nri_oci_apply_mounts(edit, adjustment);
    nri_oci_apply_rlimits(edit, adjustment);
}

static void apply_input(struct nri_oci_edit *edit, const struct nri_oci_input *input)
{
    const nri_oci_adjustment *adjustment = nri_adjustment_message(input->adjustment);
    if (input->update && input->resources != NULL)
        nri_oci_apply_resources(edit, (const void *)input->resources);
    else if (adjustment != NULL)
        apply_adjustment(edit, adjustment);
}

static int change(struct nri_oci_edit *edit, const char *json, size_t length,
                  const struct nri_oci_input *input)
{
    const char *name = edit->source.name;
    edit->failure = nri_json_parse(edit->source.arena, json, length, &edit->settings->limits, name,
                                   &edit->root, edit->source.error);
    if (edit->failure == 0 && nri_json_type(edit->root) != NRI_JSON_OBJECT)
        edit->failure =
            nri_error_set_at(edit->source.error, NRI_E_SYNTAX, name, nri_json_line(edit->root),
                             nri_json_column(edit->root), "must be an object, found %s",
                             nri_json_type_name(nri_json_type(edit->root)));
    if (edit->failure == 0)
        apply_input(edit, input);
    return edit->failure;
}

static int write_result(struct nri_oci_edit *edit, char **made, size_t *length)
{
    struct nri_buf buf;
    const struct nri_json_settings *text = &edit->settings->text;
    int code = nri_json_result_begin(text, &buf);
    if (code == 0)
        code = nri_json_write(edit->root, text->indent, &buf);
    if (code == 0) {
        *made = nri_json_result_end(&buf, length);
        code = *made != NULL ? 0 : NRI_E_NOMEM;
    }
    nri_buf_fini(&buf);
    if (code == NRI_E_LIMIT)
        return nri_error_set(edit->source.error, code,
                             "%s: the changed document is longer than the limit of %zu bytes",
                             edit->source.name, text->max_bytes);
    return code == 0 ? 0
                     : nri_error_set(edit->source.error, code, "%s: %s", edit->source.name,
                                     nri_strerror(code));
}

static int apply(const struct nri_oci_settings *settings, const char *json, size_t length,
                 const struct nri_oci_input *input, char **made, size_t *made_length,
                 struct nri_error *error)
{
    struct nri_arena arena;
    const size_t memory = nri_json_settings_memory(&settings->text);
    /* The document, what is made for it, and CDI's. */
    nri_arena_init(&arena, &settings->text.alloc, 0, memory > SIZE_MAX / 3 ? SIZE_MAX : 3 * memory);
    struct nri_oci_edit edit = {
        .source = {.arena = &arena, .name = settings->text.name, .error = error},
        .settings = settings,
        .message = input->update ? "ContainerUpdate" : "ContainerAdjustment",
    };
    int code = change(&edit, json, length, input);
    if (code == 0)
        code = write_result(&edit, made, made_length);
    nri_arena_fini(&arena);
    return code;
}

int nri_oci_apply(const char *json, size_t length, const struct nri_oci_input *input,
                  const struct nri_oci_options *options, const struct nri_oci_mounts *mounts,
                  char **out, size_t *out_length, nri_error **error)
{
    struct nri_oci_settings settings;
    struct nri_error failure = {0};
    char *made = NULL;
    if (out != NULL)
        *out = NULL;
    if (out_length != NULL)
        *out_length = 0;
    int code = nri_oci_settings_take(options, &settings, &failure);
    if (code == 0 && (out == NULL || (json == NULL && length > 0)))
        code = nri_error_set(&failure, NRI_E_INVALID, "%s: must not be NULL",
                             out == NULL ? "out" : "json");
    if (code == 0) {
        settings.limits = nri_json_settings_limits(&settings.text);
        settings.look = mounts->look;
        settings.look_context = mounts->context;
        code = apply(&settings, json, length, input, &made, out_length, &failure);
    }
    if (code == 0 && out != NULL)
        *out = made;
    nri_error_export(&failure, &settings.text.alloc, error);
    return code;
}
