/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages in JSON. Any text is refused with a reason, or is a message that is the same after being
 * written as JSON and read again; as an adjustment it is refused and changes nothing, or what it
 * adds, written down, adds the same to a fresh one. The first byte chooses the message.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nri/nri.h>

#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}
#define CHECK(condition) check((condition), #condition)

static const char *const messages[] = {
    "ContainerAdjustment",
    "Container",
    "PodSandbox",
    "LinuxResources",
    "UpdateContainersRequest",
    "CreateContainerRequest",
    "ValidateContainerAdjustmentRequest",
    "SynchronizeRequest",
    "ConfigureRequest",
    "StateChangeEvent",
    "LogRequest",
    "CreateContainerResponse",
};

static void check_refusal(int code, nri_error *error)
{
    CHECK(code < 0);
    CHECK(error != NULL && nri_error_get_code(error) == code);
    const char *text = nri_error_get_text(error);
    CHECK(*text != '\0' && nri_utf8_valid(text, strlen(text), NULL));
    nri_error_free(error);
}

/* JSON -> protobuf -> JSON -> protobuf: the same bytes. */
static void try_message(const char *message, const char *json, size_t length)
{
    char *bytes, *again_bytes, *text;
    size_t size, again_size, text_length;
    nri_error *error = NULL;
    const int code = nri_json_to_protobuf(message, json, length, NULL, &bytes, &size, &error);
    if (code != 0) {
        CHECK(bytes == NULL);
        check_refusal(code, error);
        return;
    }
    CHECK(error == NULL);
    CHECK(nri_json_from_protobuf(message, (const uint8_t *)bytes, size, NULL, &text, &text_length,
                                 NULL) == 0);
    CHECK(strlen(text) == text_length);
    CHECK(nri_json_to_protobuf(message, text, text_length, NULL, &again_bytes, &again_size, NULL) ==
          0);
    CHECK(size == again_size && memcmp(bytes, again_bytes, size) == 0);
    nri_json_free(bytes);
    nri_json_free(again_bytes);
    nri_json_free(text);
}

static char *adjustment_text(const nri_adjustment *adjustment, size_t *length)
{
    char *text;
    CHECK(nri_adjustment_to_json(adjustment, NULL, &text, length, NULL) == 0);
    return text;
}

static void try_adjustment(const char *json, size_t length)
{
    nri_adjustment *adjustment = NULL, *again = NULL;
    nri_error *error = NULL;
    size_t text_length, again_length;
    CHECK(nri_adjustment_new(&adjustment, NULL) == 0 && nri_adjustment_new(&again, NULL) == 0);
    const int code = nri_adjustment_merge_json(adjustment, json, length, NULL, &error);
    CHECK(nri_adjustment_error(adjustment) == code);
    char *text = adjustment_text(adjustment, &text_length);
    if (code != 0) {
        check_refusal(code, error);
        CHECK(strcmp(text, "{}") == 0);
    } else {
        CHECK(nri_adjustment_merge_json(again, text, text_length, NULL, NULL) == 0);
        char *again_text = adjustment_text(again, &again_length);
        CHECK(text_length == again_length && memcmp(text, again_text, text_length) == 0);
        nri_json_free(again_text);
    }
    nri_json_free(text);
    nri_adjustment_free(adjustment);
    nri_adjustment_free(again);
}

static void try_updates(const char *json, size_t length)
{
    nri_updates *updates = NULL, *again = NULL;
    nri_error *error = NULL;
    char *text, *again_text;
    size_t text_length, again_length;
    CHECK(nri_updates_new(&updates, NULL) == 0 && nri_updates_new(&again, NULL) == 0);
    const int code = nri_updates_merge_json(updates, json, length, NULL, &error);
    CHECK(nri_updates_error(updates) == code);
    CHECK(nri_updates_to_json(updates, NULL, &text, &text_length, NULL) == 0);
    if (code != 0) {
        check_refusal(code, error);
        CHECK(strcmp(text, "{}") == 0);
    } else {
        CHECK(nri_updates_merge_json(again, text, text_length, NULL, NULL) == 0);
        CHECK(nri_updates_to_json(again, NULL, &again_text, &again_length, NULL) == 0);
        CHECK(text_length == again_length && memcmp(text, again_text, text_length) == 0);
        nri_json_free(again_text);
    }
    nri_json_free(text);
    nri_updates_free(updates);
    nri_updates_free(again);
}

/* Whole objects are taken as the message is, with the builders' rules or without. */
static void try_objects(const char *json, size_t length)
{
    nri_pod *pod;
    nri_container *container;
    nri_error *error = NULL;
    char *text;
    int code = nri_pod_from_json(json, length, NULL, &pod, &error);
    if (code != 0) {
        check_refusal(code, error);
    } else {
        CHECK(nri_pod_to_json(pod, NULL, &text, NULL, NULL) == 0);
        nri_json_free(text);
        nri_pod_free(pod);
    }
    error = NULL;
    code = nri_container_from_json(json, length, NULL, &container, &error);
    if (code != 0) {
        check_refusal(code, error);
    } else {
        CHECK(nri_container_to_json(container, NULL, &text, NULL, NULL) == 0);
        nri_json_free(text);
        nri_container_free(container);
    }
    error = NULL;
    code = nri_container_from_oci(json, length, NULL, &container, &error);
    if (code != 0)
        check_refusal(code, error);
    else
        nri_container_free(container);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const char *message = messages[data[0] % (sizeof messages / sizeof messages[0])];
    const char *json = (const char *)data + 1;
    const size_t length = size - 1;
    try_message(message, json, length);
    try_adjustment(json, length);
    try_updates(json, length);
    try_objects(json, length);
    return 0;
}
