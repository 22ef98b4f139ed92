/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "model/json_message.h"
#include "model/model.h"

int fixture_look(void *context, const char *path, uint32_t *propagation)
{
    struct fixture_mounts *mounts = context;
    mounts->looks++;
    assert_string_equal(path, mounts->path);
    *propagation = mounts->propagation;
    return mounts->code;
}

/* The message, in an arena of the test's own: what is under test has the options' allocator. */
static void *read_message(struct nri_arena *arena, const char *json, bool update)
{
    struct nri_error error = {0};
    struct nri_json_settings settings;
    ProtobufCMessage *message = NULL;
    assert_int_equal(nri_json_options_resolve(NULL, &settings), 0);
    const struct nri_json_source source = {.arena = arena, .name = "change", .error = &error};
    const ProtobufCMessageDescriptor *type =
        update ? &nri__pkg__api__v1alpha1__linux_resources__descriptor
               : &nri__pkg__api__v1alpha1__container_adjustment__descriptor;
    int code = nri_json_read_text(&source, &settings, type, json, strlen(json), NULL, &message);
    if (code != 0)
        fail_msg("%s: %s", json, error.text);
    return message;
}

int fixture_apply(const struct fixture_run *run, char **after, nri_error **error)
{
    struct nri_alloc alloc;
    struct nri_arena arena;
    size_t length = 0;
    const struct nri_oci_mounts mounts = {run->mounts != NULL ? fixture_look : NULL, run->mounts};
    assert_int_equal(nri_alloc_resolve(&alloc, NULL), 0);
    nri_arena_init(&arena, &alloc, 0, SIZE_MAX);
    struct nri_oci_input input = {.update = run->update};
    void *message = read_message(&arena, run->change, run->update);
    if (run->update)
        input.resources = nri_resources_view(message);
    else
        input.adjustment = nri_adjustment_view(&arena, message, NRI_E_STATE, "read only");
    *after = (char *)&arena;
    const int code = nri_oci_apply(run->before, strlen(run->before), &input, run->options, &mounts,
                                   after, &length, error);
    if (code == 0) {
        assert_int_equal(strlen(*after), length);
    } else {
        assert_null(*after);
        assert_int_equal(length, 0);
    }
    nri_arena_fini(&arena);
    return code;
}

static void check_row(const struct fixture_row *row, int code, const char *after, nri_error *error)
{
    if (row->after[0] == '!') {
        if (code == 0)
            fail_msg("%s is applied to %s: %s", row->change, row->before, after);
        assert_string_equal(nri_error_get_text(error), row->after + 1);
        assert_int_equal(nri_error_get_code(error), code);
        return;
    }
    if (code != 0)
        fail_msg("%s on %s: %s", row->change, row->before, nri_error_get_text(error));
    if (strcmp(after, row->after) != 0)
        fail_msg("%s on %s\n     is %s\n not as %s", row->change, row->before, after, row->after);
}

void fixture_rows(const struct fixture_row *rows, size_t count, bool update,
                  struct nri_oci_options *options)
{
    for (size_t i = 0; i < count; i++) {
        const struct fixture_run run = {rows[i].change, rows[i].before, update, options, NULL};
        char *after;
        nri_error *error = NULL;
        const int code = fixture_apply(&run, &after, &error);
        check_row(&rows[i], code, after, error);
        nri_json_free(after);
        nri_error_free(error);
    }
}
