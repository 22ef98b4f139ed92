/* SPDX-License-Identifier: Apache-2.0 */
/* A request's own message as JSON. */
#include "model/json_message.h"
#include "plugin/request.h"

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type

/* The lists of all parts of a Synchronize, as one message whose items are the parts' own. */
static int collect(const nri_request *request, struct nri_arena *arena,
                   MESSAGE(SynchronizeRequest) * whole)
{
    const MESSAGE(SynchronizeRequest) empty = NRI__PKG__API__V1ALPHA1__SYNCHRONIZE_REQUEST__INIT;
    *whole = empty;
    whole->more = request->more;
    /* One more, so that there is an array also of none. */
    whole->pods = nri_arena_array(arena, request->pods + 1, sizeof(void *));
    whole->containers = nri_arena_array(arena, request->containers + 1, sizeof(void *));
    if (whole->pods == NULL || whole->containers == NULL)
        return arena->failure;
    for (const struct nri_sync_part *part = request->parts; part != NULL; part = part->next) {
        for (size_t i = 0; i < part->message->n_pods; i++)
            whole->pods[whole->n_pods++] = part->message->pods[i];
        for (size_t i = 0; i < part->message->n_containers; i++)
            whole->containers[whole->n_containers++] = part->message->containers[i];
    }
    return 0;
}

static int write_sync(const nri_request *request, const struct nri_json_settings *settings,
                      char **text, size_t *length, struct nri_error *error)
{
    struct nri_arena arena;
    MESSAGE(SynchronizeRequest) whole;
    nri_arena_init(&arena, &settings->alloc, 0, SIZE_MAX);
    int code = collect(request, &arena, &whole);
    if (code == 0)
        code = nri_json_message_make(&whole.base, settings, text, length, error);
    else
        nri_error_set(error, code, "%s: %s", settings->name, nri_strerror(code));
    nri_arena_fini(&arena);
    return code;
}

int nri_request_to_json(const nri_request *request, const struct nri_json_options *options,
                        char **text, size_t *length, nri_error **error)
{
    if (request == NULL || request->parts == NULL)
        return nri_json_message_text(request != NULL ? request->message : NULL, options, text,
                                     length, error);
    struct nri_json_settings settings;
    struct nri_error failure = {0};
    int code = nri_json_options_take(options, &settings, &failure);
    if (text != NULL)
        *text = NULL;
    if (length != NULL)
        *length = 0;
    if (code == 0 && text == NULL)
        code = nri_error_set(&failure, NRI_E_INVALID, "text: must not be NULL");
    if (code == 0)
        code = write_sync(request, &settings, text, length, &failure);
    nri_error_export(&failure, &settings.alloc, error);
    return code;
}
