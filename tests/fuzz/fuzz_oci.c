/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An adjustment of any kind applied to a document of any kind: the text up to the first NUL is the
 * adjustment in NRI's JSON, as it may come from a plugin that no builder checks, and what is behind
 * it the document. What it says of the resources is applied by itself too, as an update would be.
 * It is refused with a reason and gives nothing, or gives a document that is one, that can be read
 * as a container wherever the old one could, and that the same adjustment leaves as it is, hooks,
 * CDI devices and rules of devices that deny left out. So it is with Go's results too, which need
 * not stay.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nri/nri.h>

#include "base/text.h"
#include "model/json_message.h"
#include "model/model.h"
#include "oci/apply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}
#define CHECK(condition) check((condition), #condition)

static int look(void *context, const char *path, uint32_t *propagation)
{
    (void)context;
    *propagation = (uint32_t)strlen(path) % 3;
    return path[0] == 'x' ? NRI_E_NOT_FOUND : 0;
}

static int answer(const char *class_name, nri_oci_answer *to, void *user)
{
    (void)user;
    return nri_oci_answer_json(to, class_name, strlen(class_name));
}

static int inject(const char *json, size_t length, const char *const *names, size_t count,
                  nri_oci_answer *to, void *user)
{
    (void)user;
    return count == 1 ? nri_oci_answer_json(to, names[0], strlen(names[0]))
                      : nri_oci_answer_json(to, json, length);
}

static bool is_container(const char *json, size_t length)
{
    nri_container *container = NULL;
    const int code = nri_container_from_oci(json, length, NULL, &container, NULL);
    nri_container_free(container);
    return code == 0;
}

/* Returns the new document, or NULL. */
static char *apply(const struct nri_oci_input *input, const char *json, size_t length, bool go,
                   size_t *out_length)
{
    const struct nri_oci_mounts mounts = {look, NULL};
    struct nri_oci_options options;
    char *out;
    nri_error *error = NULL;
    nri_oci_options_init(&options, sizeof options);
    options.go_compatible = go;
    options.resolve_blockio = answer;
    options.resolve_rdt = answer;
    options.inject_cdi = inject;
    const int code =
        nri_oci_apply(json, length, input, &options, &mounts, &out, out_length, &error);
    if (code == 0) {
        CHECK(error == NULL && strlen(out) == *out_length);
        return out;
    }
    const char *text = nri_error_get_text(error);
    CHECK(out == NULL && *out_length == 0 && nri_error_get_code(error) == code);
    CHECK(*text != '\0' && nri_utf8_valid(text, strlen(text), NULL));
    nri_error_free(error);
    return NULL;
}

/* A rule that denies is put behind those that allow, and they behind it. */
static bool denies(const Nri__Pkg__Api__V1alpha1__LinuxResources *resources)
{
    for (size_t i = 0; resources != NULL && i < resources->n_devices; i++) {
        if (!resources->devices[i]->allow)
            return true;
    }
    return false;
}

static bool adds_up(const Nri__Pkg__Api__V1alpha1__ContainerAdjustment *message)
{
    const Nri__Pkg__Api__V1alpha1__LinuxContainerAdjustment *part = message->linux;
    if (message->hooks != NULL || message->n_cdi_devices > 0 ||
        (part != NULL && denies(part->resources)))
        return true;
    /* With a rule of its own all others go that allow a device which is there already. */
    return part != NULL && part->resources != NULL && part->resources->n_devices > 0 &&
           part->n_devices > 0;
}

static void try_once(const struct nri_oci_input *input, bool stays, const char *json, size_t length,
                     bool go)
{
    size_t first_length, second_length;
    char *first = apply(input, json, length, go, &first_length);
    if (first == NULL)
        return;
    nri_document *document;
    CHECK(nri_document_parse(first, first_length, NULL, &document, NULL) == 0);
    nri_document_free(document);
    char *second = apply(input, first, first_length, go, &second_length);
    if (stays && !go) {
        CHECK(second != NULL && second_length == first_length);
        CHECK(memcmp(first, second, first_length) == 0);
        if (is_container(json, length))
            CHECK(is_container(first, first_length));
    }
    nri_json_free(first);
    nri_json_free(second);
}

static void try_both(const struct nri_oci_input *input, bool stays, const char *json, size_t length)
{
    try_once(input, stays, json, length, false);
    try_once(input, stays, json, length, true);
}

static void try_message(struct nri_arena *arena, const void *message, const char *json,
                        size_t length)
{
    const Nri__Pkg__Api__V1alpha1__ContainerAdjustment *adjustment = message;
    const Nri__Pkg__Api__V1alpha1__LinuxResources *resources =
        adjustment->linux != NULL ? adjustment->linux->resources : NULL;
    const struct nri_oci_input whole = {.adjustment =
                                            nri_adjustment_view(arena, message, NRI_E_STATE, "")};
    try_both(&whole, !adds_up(adjustment), json, length);
    if (resources != NULL) {
        const struct nri_oci_input update = {.resources = nri_resources_view(resources),
                                             .update = true};
        try_both(&update, !denies(resources), json, length);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nri_json_settings settings;
    struct nri_arena arena;
    struct nri_error error = {0};
    ProtobufCMessage *message;
    const uint8_t *end = size > 0 ? memchr(data, '\0', size) : NULL;
    if (end == NULL)
        return 0;
    const size_t change = (size_t)(end - data), length = size - change - 1;
    CHECK(nri_json_options_resolve(NULL, &settings) == 0);
    nri_arena_init(&arena, &settings.alloc, 0, SIZE_MAX);
    const struct nri_json_source source = {.arena = &arena, .name = "change", .error = &error};
    if (nri_json_read_text(&source, &settings,
                           &nri__pkg__api__v1alpha1__container_adjustment__descriptor,
                           (const char *)data, change, NULL, &message) == 0)
        try_message(&arena, message, (const char *)end + 1, length);
    nri_arena_fini(&arena);
    return 0;
}
