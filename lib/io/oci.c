/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of nri/oci.h: with the mounts of the system this runs on, and for files. */
#include <nri/oci.h>

#include <string.h>

#include "io/file.h"
#include "io/mountinfo.h"
#include "oci/apply.h"
#include "oci/settings.h"

/* ---- texts ---- */

/* Memory for the table of mounts comes from where the document's does. */
static int apply(const char *json, size_t length, const struct nri_oci_input *input,
                 const struct nri_oci_options *options, char **out, size_t *out_length,
                 nri_error **error)
{
    struct nri_oci_settings settings;
    (void)nri_oci_settings_take(options, &settings, NULL);
    const struct nri_oci_mounts mounts = {nri_mountinfo_look, &settings.text.alloc};
    return nri_oci_apply(json, length, input, options, &mounts, out, out_length, error);
}

int nri_oci_apply_adjustment(const char *json, size_t length, const nri_adjustment *adjustment,
                             const struct nri_oci_options *options, char **out, size_t *out_length,
                             nri_error **error)
{
    const struct nri_oci_input input = {.adjustment = adjustment};
    return apply(json, length, &input, options, out, out_length, error);
}

int nri_oci_apply_update(const char *json, size_t length, const nri_resources *resources,
                         const struct nri_oci_options *options, char **out, size_t *out_length,
                         nri_error **error)
{
    const struct nri_oci_input input = {.resources = resources, .update = true};
    return apply(json, length, &input, options, out, out_length, error);
}

/* ---- files ---- */

struct files {
    struct nri_oci_settings settings;
    struct nri_file in, out;
    char *room;
    struct stat status;
    struct nri_buf content;
    struct nri_error error;
};

static int check_path(struct files *files, const char *argument, const char *path, size_t *room)
{
    if (path == NULL)
        return nri_error_set(&files->error, NRI_E_INVALID, "%s: must not be NULL", argument);
    *room = nri_file_room(path);
    if (*room == 0)
        return nri_error_set(&files->error, NRI_E_INVALID, "%s \"%s\": must be the path of a file",
                             argument, path);
    return 0;
}

/* The arguments' names are for errors. */
static int begin(struct files *files, const char *in_path, const char *in_name,
                 const char *out_path, const char *out_name, const struct nri_oci_options *options)
{
    int code = nri_oci_settings_take(options, &files->settings, &files->error);
    nri_buf_init(&files->content, &files->settings.text.alloc, files->settings.text.max_bytes);
    if (code != 0)
        return code;
    size_t in_room = 0, out_room = 0;
    if ((code = check_path(files, in_name, in_path, &in_room)) != 0 ||
        (code = check_path(files, out_name, out_path, &out_room)) != 0)
        return code;
    files->room = nri_alloc_raw(&files->settings.text.alloc, in_room + out_room);
    if (files->room == NULL)
        return nri_error_set(&files->error, NRI_E_NOMEM, "%s: out of memory", in_path);
    nri_file_init(&files->in, "the configuration", in_path, files->room);
    nri_file_init(&files->out, "the configuration", out_path, files->room + in_room);
    return 0;
}

static int read_in(struct files *files)
{
    bool found;
    int code = nri_file_read(&files->in, &files->content, &files->status, "max_bytes", &found,
                             &files->error);
    if (code == NRI_E_LIMIT)
        return nri_error_prefix(&files->error, "%s", files->in.path);
    if (code == 0 && !found)
        return nri_error_set(&files->error, NRI_E_NOT_FOUND, "there is no configuration %s",
                             files->in.path);
    return code;
}

/* The file's name stands in errors, unless the caller has another. */
static struct nri_json_options named(const struct files *files)
{
    const struct nri_json_options *given = files->settings.options.json;
    struct nri_json_options json;
    nri_json_options_init(&json, sizeof json);
    if (given != NULL)
        memcpy(&json, given, given->size < sizeof json ? given->size : sizeof json);
    json.size = sizeof json;
    if (json.name == NULL)
        json.name = files->in.path;
    return json;
}

static const char *text_of(const struct files *files)
{
    return (const char *)files->content.data + files->content.start;
}

static int convert(struct files *files, const struct nri_oci_input *input, nri_error **error)
{
    const struct nri_json_options json = named(files);
    struct nri_oci_options options = files->settings.options;
    char *text = NULL;
    size_t length;
    options.json = &json;
    int code = apply(text_of(files), nri_buf_size(&files->content), input, &options, &text, &length,
                     error);
    if (code == 0)
        code = nri_file_replace(&files->out, (const uint8_t *)text, length, &files->status,
                                &files->error);
    nri_json_free(text);
    return code;
}

/* `of_text`, which may be NULL, is the error of what was read, and stands before the files' own. */
static void end(struct files *files, nri_error *of_text, nri_error **error)
{
    if (of_text != NULL)
        *error = of_text;
    else
        nri_error_export(&files->error, &files->settings.text.alloc, error);
    nri_buf_fini(&files->content);
    nri_alloc_release(&files->settings.text.alloc, files->room);
}

static int apply_file(const char *in_path, const char *out_path, const struct nri_oci_input *input,
                      const struct nri_oci_options *options, nri_error **error)
{
    struct files files = {0};
    nri_error *of_text = NULL;
    int code = begin(&files, in_path, "in_path", out_path, "out_path", options);
    if (code == 0)
        code = read_in(&files);
    if (code == 0)
        code = convert(&files, input, error != NULL ? &of_text : NULL);
    end(&files, of_text, error);
    return code;
}

int nri_container_from_oci_file(const char *path, const struct nri_json_options *options,
                                nri_container **container, nri_error **error)
{
    const struct nri_oci_options oci = {.size = sizeof oci, .json = options};
    struct files files = {0};
    nri_error *of_text = NULL;
    if (container != NULL)
        *container = NULL;
    int code = begin(&files, path, "path", path, "path", &oci);
    if (code == 0)
        code = read_in(&files);
    if (code == 0) {
        const struct nri_json_options json = named(&files);
        code = nri_container_from_oci(text_of(&files), nri_buf_size(&files.content), &json,
                                      container, error != NULL ? &of_text : NULL);
    }
    end(&files, of_text, error);
    return code;
}

int nri_oci_apply_adjustment_file(const char *in_path, const char *out_path,
                                  const nri_adjustment *adjustment,
                                  const struct nri_oci_options *options, nri_error **error)
{
    const struct nri_oci_input input = {.adjustment = adjustment};
    return apply_file(in_path, out_path, &input, options, error);
}

int nri_oci_apply_update_file(const char *in_path, const char *out_path,
                              const nri_resources *resources, const struct nri_oci_options *options,
                              nri_error **error)
{
    const struct nri_oci_input input = {.resources = resources, .update = true};
    return apply_file(in_path, out_path, &input, options, error);
}
