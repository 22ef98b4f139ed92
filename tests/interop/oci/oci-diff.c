/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oci-diff: for each line "DOCUMENT<tab>ADJUSTMENT" of its input, both in JSON, a line
 * "DOCUMENT<tab>PROTOBUF<tab>RESULT": the adjustment in hexadecimal, as Go takes it, and what
 * libnri, go_compatible, makes of the document, or behind a "!" why it does not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nri/nri.h>

#include "io/mountinfo.h"
#include "model/json_message.h"
#include "model/model.h"
#include "oci/apply.h"
#include "wire/message.h"

static void die(const char *what)
{
    fprintf(stderr, "oci-diff: %s\n", what);
    exit(2);
}

static void put_bytes(const ProtobufCMessage *message)
{
    size_t size;
    if (nri_message_size(message, &size, NULL) != 0)
        die("the adjustment has no size");
    uint8_t *bytes = malloc(size + 1);
    if (bytes == NULL)
        die("out of memory");
    nri_message_encode(message, bytes);
    for (size_t i = 0; i < size; i++)
        printf("%02x", bytes[i]);
    free(bytes);
}

static void take_line(const char *document, const char *change, bool own)
{
    struct nri_json_settings settings;
    struct nri_arena arena;
    struct nri_error error = {0};
    struct nri_oci_options options;
    ProtobufCMessage *message;
    nri_error *failure = NULL;
    char *out;
    if (nri_json_options_resolve(NULL, &settings) != 0)
        die("options");
    nri_arena_init(&arena, &settings.alloc, 0, SIZE_MAX);
    const struct nri_json_source source = {.arena = &arena, .name = "adjustment", .error = &error};
    if (nri_json_read_text(&source, &settings,
                           &nri__pkg__api__v1alpha1__container_adjustment__descriptor, change,
                           strlen(change), NULL, &message) != 0)
        die(error.text);
    nri_oci_options_init(&options, sizeof options);
    options.go_compatible = !own;
    const struct nri_oci_input input = {
        .adjustment = nri_adjustment_view(&arena, (const void *)message, NRI_E_STATE, "")};
    const struct nri_oci_mounts mounts = {nri_mountinfo_look, &settings.alloc};
    const int code =
        nri_oci_apply(document, strlen(document), &input, &options, &mounts, &out, NULL, &failure);
    printf("%s\t", document);
    put_bytes(message);
    printf("\t%s%s\n", code != 0 ? "!" : "", code != 0 ? nri_error_get_text(failure) : out);
    nri_json_free(out);
    nri_error_free(failure);
    nri_arena_fini(&arena);
}

int main(int argc, char **argv)
{
    const bool own = argc == 2 && strcmp(argv[1], "own") == 0;
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    while ((length = getline(&line, &room, stdin)) > 0) {
        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        char *tab = strchr(line, '\t');
        if (tab == NULL)
            die("a line without a tab");
        *tab = '\0';
        take_line(line, tab + 1, own);
    }
    free(line);
    return 0;
}
