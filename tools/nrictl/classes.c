/* SPDX-License-Identifier: Apache-2.0 */
#include "classes.h"

#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "memory.h"

#define MOST_BYTES ((size_t)4 << 20)

static int parse(struct nrictl *ctl, struct nri_arena *arena, const char *name, const char *text,
                 size_t length, struct nri_json **document)
{
    struct nri_error error;
    memset(&error, 0, sizeof error);
    const int rc = nri_json_parse(arena, text, length, NULL, name, document, &error);
    if (rc == NRI_E_NOMEM)
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "%s: no memory", name);
    if (rc != 0)
        return nrictl_fail(ctl, NRICTL_USAGE, "%s", nri_error_get_text(&error));
    if (nri_json_type(*document) != NRI_JSON_OBJECT)
        return nrictl_fail(ctl, NRICTL_USAGE, "%s: it is an object that is wanted, not %s", name,
                           nri_json_type_name(nri_json_type(*document)));
    return NRICTL_OK;
}

int classes_read(struct nrictl *ctl, struct classes *classes, const char *path)
{
    char *text;
    size_t length;
    int code = file_read(ctl, path, MOST_BYTES, &text, &length);
    if (code != NRICTL_OK)
        return code;
    memory_arena(&classes->arena, 64 * MOST_BYTES);
    classes->made = true;
    classes->path = path;
    code = parse(ctl, &classes->arena, path, text, length, &classes->table);
    free(text);
    return code;
}

/* The text of a value, which the caller frees with the buffer. */
static int write_value(const struct nri_json *value, struct nri_buf *buf)
{
    memory_buf(buf, 64 * MOST_BYTES);
    return nri_json_write(value, 0, buf);
}

int classes_answer(const struct classes *classes, const char *name, nri_oci_answer *answer)
{
    const struct nri_json *value = nri_json_get(classes->table, name);
    struct nri_buf buf;
    if (value == NULL) {
        char text[512];
        if (!classes->made)
            (void)snprintf(text, sizeof text,
                           "what class %s means here is to be given with %s FILE", name,
                           classes->option);
        else
            (void)snprintf(text, sizeof text, "%s has no class %s", classes->path, name);
        return nri_oci_answer_fail(answer, NRI_E_NOT_FOUND, text);
    }
    int rc = write_value(value, &buf);
    if (rc == 0)
        rc = nri_oci_answer_json(answer, memory_text(&buf), nri_buf_size(&buf));
    nri_buf_fini(&buf);
    return rc;
}

void classes_free(struct classes *classes)
{
    if (classes->made)
        nri_arena_fini(&classes->arena);
    classes->made = false;
}

int classes_update_resources(struct nrictl *ctl, const char *name, const char *text, size_t length,
                             char **inner, size_t *inner_length)
{
    struct nri_arena arena;
    struct nri_json *document;
    struct nri_buf buf;
    memory_arena(&arena, 64 * MOST_BYTES);
    memory_buf(&buf, 64 * MOST_BYTES);
    int code = parse(ctl, &arena, name, text, length, &document);
    if (code == NRICTL_OK) {
        const struct nri_json *resources =
            nri_json_get(nri_json_get(document, "linux"), "resources");
        if (nri_json_write(resources != NULL ? resources : document, 0, &buf) != 0 ||
            (*inner = malloc(nri_buf_size(&buf) + 1)) == NULL) {
            code = nrictl_fail(ctl, NRICTL_ENVIRONMENT, "%s: no memory", name);
        } else {
            *inner_length = nri_buf_size(&buf);
            memcpy(*inner, memory_text(&buf), *inner_length);
            (*inner)[*inner_length] = '\0';
        }
    }
    nri_buf_fini(&buf);
    nri_arena_fini(&arena);
    return code;
}
